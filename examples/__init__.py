"""Networks to try the commands on: ``lakatos connectivity examples.breast_cancer:model``."""
