"""Settings of Hypothesis and threads: the everyday suite is reproducible; ``--hypothesis-profile explore`` looks for more."""

from __future__ import annotations

import os

from hypothesis import Phase, settings

# The matrices of the tests are small: more threads than one only wait for each other, the longer the busier the machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Exact arithmetic on a busy machine has no meaningful deadline per example.
settings.register_profile("everyday", derandomize=True, deadline=None)
settings.register_profile("explore", derandomize=False, deadline=None, max_examples=1000)
# For `tests/mutate.py`: that something fails is enough, the smallest example of it is not needed.
settings.register_profile("mutate", derandomize=True, deadline=None, phases=(Phase.explicit, Phase.generate))
settings.load_profile("everyday")
