"""lakatos: proofs and refutations for deep-learning theory.

A published theorem and one concrete instance go in; the prediction is derived exactly, measured independently, and a verdict
comes out with evidence that another program can check.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .core import Certificate, Claim, Estimate, Hypothesis, InputError, Outcome, Theorem, Verdict
    from .graphs.connectivity import Connectivity, connectivity
    from .graphs.network import Network
    from .laws import LawsAnswer, laws_of
    from .networks import network_of, read_network
    from .numerics.nuclear import NuclearNorm
    from .numerics.pruning import prune
    from .verification import verify

__version__ = "0.1.0"

_HOME = {
    **dict.fromkeys(
        ["Certificate", "Claim", "Estimate", "Hypothesis", "InputError", "Outcome", "Theorem", "Verdict"],
        ".core",
    ),
    **dict.fromkeys(["Connectivity", "connectivity"], ".graphs.connectivity"),
    "Network": ".graphs.network",
    **dict.fromkeys(["LawsAnswer", "laws_of"], ".laws"),
    **dict.fromkeys(["network_of", "read_network"], ".networks"),
    "NuclearNorm": ".numerics.nuclear",
    "prune": ".numerics.pruning",
    "verify": ".verification",
}

__all__ = [
    "Certificate",
    "Claim",
    "Connectivity",
    "Estimate",
    "Hypothesis",
    "InputError",
    "LawsAnswer",
    "Network",
    "NuclearNorm",
    "Outcome",
    "Theorem",
    "Verdict",
    "__version__",
    "connectivity",
    "laws_of",
    "network_of",
    "prune",
    "read_network",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
