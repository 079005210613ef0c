"""How many random cases are tried: HYPOTHESIS_PROFILE=nightly for thousands, else some hundred.

The default profile draws the same cases in every run.
"""

import os

from hypothesis import HealthCheck, settings

COMMON = {
    "deadline": None,
    "suppress_health_check": list(HealthCheck),
    "database": None,
    "print_blob": True,
}
settings.register_profile("default", max_examples=1, derandomize=True, **COMMON)
settings.register_profile("nightly", max_examples=40, **COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def cases(number: int) -> settings:
    """`number` cases in the default profile, 40 times as many at night."""
    return settings(max_examples=number * settings.default.max_examples)
