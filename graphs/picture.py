"""Pictures of what was decided about an invariant set: neuron by neuron, or layer by layer for large networks.

Colors are those of Okabe and Ito, and every mark also differs in width, dash or fill, so that it survives in grey.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from .connectivity import Connectivity

__all__ = ["FORMATS", "LARGEST_DRAWN", "Style", "headline", "picture_bytes", "plot", "require_format"]

FORMATS = (".svg", ".png", ".pdf")
LARGEST_DRAWN = 60
"""Nodes, up to which each is drawn."""
_DOTS_PER_INCH = 200
_LEGEND_COLUMN = 2.7  # inches


class Style(NamedTuple):
    """Colors shared by all pictures."""

    locked: str = "#b8420c"
    regular: str = "#0a5a94"
    free: str = "#a3a3a3"
    ink: str = "#1c1c1c"
    faint: str = "#5f5f5f"
    witness: str = "#f6cf8d"
    terminal: str = "#e9e9e9"
    paper: str = "#ffffff"


def plot(result: Connectivity, ax: Axes | None = None) -> Axes:
    """Return the axes with the picture of `result`; see `lakatos.graphs.connectivity.Connectivity.plot`."""
    with _matplotlib():
        if ax is None:
            from matplotlib import pyplot

            ax = pyplot.figure(figsize=_size(result), layout="constrained").add_subplot()
        _draw(result, ax)
        return ax


def picture_bytes(result: Connectivity, suffix: str) -> bytes:
    """Return the picture as a file of the format that `suffix` names: .svg, .png or .pdf.

    The same result gives the same bytes.

    Raises
    ------
    InputError
        If matplotlib is not installed, or for other formats.
    """
    require_format(suffix)
    with _matplotlib():
        from matplotlib import rc_context
        from matplotlib.figure import Figure

        figure = Figure(figsize=_size(result), layout="constrained")
        _draw(result, figure.add_subplot())
        buffer = io.BytesIO()
        metadata = {
            ".svg": dict.fromkeys(("Date", "Creator", "Format", "Type")),
            ".pdf": dict.fromkeys(("CreationDate", "Creator", "Producer")),
            ".png": {"Software": None},
        }
        with rc_context({"svg.hashsalt": "lakatos", "svg.fonttype": "path", "pdf.fonttype": 42}):
            figure.savefig(
                buffer,
                format=suffix[1:],
                dpi=_DOTS_PER_INCH,
                metadata=metadata[suffix],
                bbox_inches="tight",
                pad_inches=0.12,
            )
        return buffer.getvalue()


def require_format(name: str) -> str:
    """Return the suffix of the file `name` if a picture can have it.

    Raises
    ------
    InputError
        If not.
    """
    suffix = name if name in FORMATS else PurePath(name).suffix.lower()
    if suffix not in FORMATS:
        raise InputError(f"picture={name!r}: a picture is written as {', '.join(FORMATS[:-1])} or {FORMATS[-1]}")
    return suffix


def headline(result: Connectivity) -> str:
    """Return in one line what was decided, and in a second one whether there may be laws beyond those examined."""
    return _decided(result) + ("\nby the laws that were found; see the notices" if result.network.notices else "")


def _decided(result: Connectivity) -> str:
    edges = result.network.edge_count
    if result.empty_witness is not None:
        return "No weights have these balances: the invariant set is empty"
    locked, regular = len(result.frozen_edges), len(result.regular_frozen_edges)
    if locked:
        more = f", {regular - locked:,} more to gradient flow" if regular > locked else ""
        return f"{locked:,} of {edges:,} weights cannot change sign: $2^{{{locked}}}$ components{more}"
    if regular:
        return f"Connected, but gradient flow cannot change the sign of {regular:,} of {edges:,} weights"
    return f"Connected: each of {edges:,} weights can change sign"


def legend(ax: Axes, entries: Sequence[tuple[Artist, str]]) -> None:
    """Put a legend below the axes, in as many columns as fit."""
    figure = ax.get_figure()
    assert figure is not None
    columns = legend_columns(figure.get_window_extent().width / figure.dpi)
    ax.legend(
        [artist for artist, _ in entries],
        [text for _, text in entries],
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        ncols=min(columns, len(entries)),
        frameon=False,
        fontsize=8,
        handlelength=2.4,
        labelspacing=0.5,
    )


def legend_columns(width: float) -> int:
    """Return how many columns a legend has in a figure of this width in inches."""
    return max(1, int(width / _LEGEND_COLUMN))


def _size(result: Connectivity) -> tuple[float, float]:
    return _drawer(result).size(result)  # type: ignore[no-any-return]


def _draw(result: Connectivity, ax: Axes) -> None:
    legend(ax, _drawer(result).draw(result, ax))
    ax.set_title(headline(result), fontsize=10, color=Style().ink)
    ax.set_axis_off()


def _drawer(result: Connectivity) -> Any:
    from . import picture_layers, picture_nodes

    return picture_nodes if result.network.node_count <= LARGEST_DRAWN else picture_layers


@contextmanager
def _matplotlib() -> Iterator[None]:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise InputError("picture: needs matplotlib; install it with `pip install 'lakatos[plot]'`") from None
    yield
