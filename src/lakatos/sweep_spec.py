"""The file that describes a sweep: what is swept, over which values, with how many seeds."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, TypeAlias

from .arrays import read_bytes
from .conversion import Decimal, build_instance, short_text
from .core import InputError
from .exact import exact

__all__ = ["PlotRequest", "Spec", "axis_values", "parsed_spec", "read_spec", "require_device_name"]

_LARGEST_FILE = 16 << 20
_LARGEST_SEED = (1 << 63) - 1
_MOST_VALUES = 1_000_000
_DIGITS = 12  # significant ones of a value of a logarithmic range

_DEVICE = re.compile(r"cpu|cuda(:[0-9]{1,4})?")

PlotKind: TypeAlias = Literal["slope", "phase", "drift"]


@dataclass(frozen=True)
class PlotRequest:
    """A picture to draw from the result.

    Parameters
    ----------
    kind : str
        ``slope``: y against x on logarithmic axes with fitted slopes; ``phase``: a map of `value` over x and y; ``drift``:
        curves y against x, columns of lists.
    x, y : str
        Columns.
    value : str, optional
        Column of a phase map.
    series : str, optional
        Column whose values are drawn as lines of their own.
    theory : number or table, optional
        The slope that the theory predicts, for all series or by the value of the series.
    output : str, optional
        File name within the folder of the sweep, ending in .svg, .png or .pdf.
    """

    kind: PlotKind
    x: str
    y: str
    value: str | None = None
    series: str | None = None
    theory: float | Mapping[str, float] | None = None
    title: str = ""
    output: str | None = None

    def __post_init__(self) -> None:
        if self.kind == "phase" and self.value is None:
            raise InputError("value: missing; a phase map needs the column that is shown over x and y")
        if self.output is not None and (Path(self.output).name != self.output or self.output.startswith(".")):
            raise InputError(f"output={self.output!r}: a file name without folders is needed")


@dataclass(frozen=True)
class Spec:
    """A sweep as its file describes it; exactly one of `experiment`, `theorem` and `instances` says what is swept.

    ``docs/sweeps.md`` explains the fields.
    """

    experiment: str | None = None
    theorem: str | None = None
    instances: tuple[str, ...] = ()
    variant: str | None = None
    title: str = ""
    seed: int = 0
    seeds: int | tuple[int, ...] = 1
    paired: bool = False
    batch: int | None = None
    device: str | tuple[str, ...] = "cpu"
    settings: Mapping[str, Any] = field(default_factory=dict)
    instance: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Any] = field(default_factory=dict)
    cases: tuple[Mapping[str, Any], ...] = ()
    plots: tuple[PlotRequest, ...] = ()

    def __post_init__(self) -> None:
        subjects = [name for name in ("experiment", "theorem", "instances") if getattr(self, name)]
        if len(subjects) != 1:
            given = " and ".join(subjects) or "none of them"
            raise InputError(f"experiment, theorem, instances: one of them says what is swept, not {given}")
        if self.settings and not self.experiment:
            raise InputError("settings: those of an experiment; fields of a theorem's instance go into [instance]")
        if self.instance and not self.theorem:
            raise InputError("instance: needs theorem = …; settings of an experiment go into [settings]")
        if self.variant is not None and not self.theorem:
            raise InputError(f"variant={self.variant!r}: needs theorem = …")
        self._check_numbers()

    def _check_numbers(self) -> None:
        seeds = (self.seeds,) if isinstance(self.seeds, int) else self.seeds
        if not all(0 <= seed <= _LARGEST_SEED for seed in (self.seed, *seeds)):
            raise InputError("seed, seeds: between 0 and 2^63 - 1")
        if not seeds or self.seeds == 0 or len(set(seeds)) < len(seeds):
            raise InputError(f"seeds={short_text(self.seeds)}: a number of runs, or a list of different seeds")
        if self.batch is not None and self.batch < 1:
            raise InputError(f"batch={self.batch!r}: at least one cell per batch is needed")
        if not self.devices or len(set(self.devices)) < len(self.devices):
            raise InputError(f"device={self.device!r}: one device, or a list of different ones, is needed")
        for name in self.devices:
            require_device_name(name)

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices that the grid ranges over."""
        return (self.device,) if isinstance(self.device, str) else self.device


def require_device_name(name: str) -> None:
    """Raise InputError unless `name` is that of a device, which need not be there."""
    if not _DEVICE.fullmatch(name):
        raise InputError(f"device={name!r}: unknown; choose 'cpu', 'cuda' or 'cuda:N'")


def read_spec(path: Path) -> tuple[Spec, str]:
    """Return the sweep that the TOML file at `path` describes, and the text of the file.

    Raises
    ------
    InputError
        Naming the file and the field, what would be valid and what to do.
    """
    content = read_bytes(path, _LARGEST_FILE, str(path))
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not text: byte {error.start} is not UTF-8; a sweep is described in TOML") from None
    return parsed_spec(text, path), text


def parsed_spec(text: str, path: Path) -> Spec:
    """Return the sweep that `text` describes; messages name the file `path`.

    Raises
    ------
    InputError
        As `read_spec`.
    """
    try:
        return build_instance(Spec, tomllib.loads(text, parse_float=Decimal))
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except (RecursionError, ValueError) as error:  # also the limit on the digits of integers
        raise InputError(f"{path}: not TOML: {str(error).partition(';')[0]}") from None


def axis_values(name: str, given: Any) -> list[Any]:
    """Return the values of the axis `name` of a grid: a list, or a range ``{ start, stop, count, scale }``.

    Raises
    ------
    InputError
        Naming the axis.

    Examples
    --------
    >>> axis_values("width", {"start": 2, "stop": 16, "count": 4, "scale": "log"})
    [2, 4, 8, 16]
    >>> axis_values("rate", {"start": "0.1", "stop": "0.2", "count": 3})
    [Fraction(1, 10), Fraction(3, 20), Fraction(1, 5)]
    """
    where = f"grid.{name}"
    if isinstance(given, Mapping):
        try:
            return _range_values(build_instance(_Range, given))
        except InputError as error:
            raise InputError(f"{where}.{error}") from None
    if not isinstance(given, list) or not given:
        raise InputError(
            f"{where}={short_text(given)}: a list of values, or {{ start, stop, count, scale = 'linear' or 'log' }}"
        )
    return given


@dataclass(frozen=True)
class _Range:
    start: Fraction
    stop: Fraction
    count: int
    scale: Literal["linear", "log"] = "linear"

    def __post_init__(self) -> None:
        if not 2 <= self.count <= _MOST_VALUES:
            raise InputError(f"count={self.count!r}: 2 to {_MOST_VALUES} values are needed")
        if self.start == self.stop or (self.scale == "log" and min(self.start, self.stop) <= 0):
            raise InputError("start: two different ends are needed, positive ones for a logarithmic scale")


def _range_values(given: _Range) -> list[int | Fraction]:
    steps = range(given.count)
    if given.scale == "linear":
        values = [given.start + (given.stop - given.start) * i / (given.count - 1) for i in steps]
    else:
        ratio = math.log(given.stop / given.start) / (given.count - 1)
        inner = [exact(f"{float(given.start) * math.exp(ratio * i):.{_DIGITS}g}", "value") for i in steps]
        values = [given.start, *inner[1:-1], given.stop]
    return [int(value) if value.denominator == 1 else value for value in values]
