"""Settings of Hypothesis: the everyday suite is reproducible; ``--hypothesis-profile explore`` looks for new examples."""

from __future__ import annotations

from hypothesis import settings

# Exact arithmetic on a busy machine has no meaningful deadline per example.
settings.register_profile("everyday", derandomize=True, deadline=None)
settings.register_profile("explore", derandomize=False, deadline=None, max_examples=1000)
settings.load_profile("everyday")
