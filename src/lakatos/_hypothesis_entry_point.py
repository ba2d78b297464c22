"""What Hypothesis runs when it is imported: `hypothesis.strategies.from_type` then knows networks, groups and models.

It loads NumPy, the graphs and the fields of models, and no strategies yet: these import Hypothesis, which is not ready at
this moment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["register"]


def register() -> None:
    """Register strategies for `lakatos.Network`, groups, models, and the classes of `lakatos.graphs.fields`."""
    from hypothesis.strategies import register_type_strategy

    from .graphs.fields import LayeredFields, NetworkFields
    from .graphs.network import Network
    from .theory.model_fields import GroupFields, ModelFields

    for made in (Network, NetworkFields, LayeredFields, GroupFields, ModelFields):
        register_type_strategy(made, _strategy)


def _strategy(made: type[Any]) -> SearchStrategy[Any]:
    from . import testing
    from .conversion import build_instance
    from .graphs.fields import LayeredFields
    from .graphs.network import Network
    from .theory.model_fields import GroupFields, ModelFields

    if made is Network:
        return testing.balanced_multigraphs().map(lambda fields: Network.from_edges(**fields))
    if made is GroupFields:
        drawn = testing.group_representations()
    elif made is ModelFields:
        drawn = testing.tensorizable_models()
    else:
        drawn = testing.balanced_layers() if made is LayeredFields else testing.balanced_multigraphs()
    return drawn.map(lambda fields: build_instance(made, fields))
