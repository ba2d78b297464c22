"""From the description of a sweep to its cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .arrays import ArrayFolder
from .core import InputError
from .sweep_fields import FieldSet, canonical
from .sweep_plan import Plan
from .sweep_spec import Spec, axis_values, require_device_name
from .sweep_subject import Axes, Subject
from .sweep_task import code_of

__all__ = ["build_plan"]


def build_plan(spec: Spec, path: Path, *, device: str | None = None) -> Plan:
    """Return the cells of the sweep that `spec`, read from `path`, describes.

    Parameters
    ----------
    device : str, optional
        Compute all cells there, whatever the description says.

    Raises
    ------
    InputError
        Naming the file and the field: an unknown experiment, theorem or field, a value that does not fit, a value given
        twice.
    """
    if device is not None:
        require_device_name(device)
    devices = spec.devices if device is None else (device,)
    try:
        axes = _axes(spec)
        plan = Plan(
            subjects=tuple(_subjects(spec, path, axes)),
            axes=axes,
            devices=devices,
            seed=spec.seed,
            seeds=spec.seeds,
            paired=spec.paired,
            batch=spec.batch,
        )
        plan.require_valid()
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return plan


def _axes(spec: Spec) -> Axes:
    axes: list[list[Mapping[str, Any]]] = [list(spec.cases)] if spec.cases else []
    axes += [[{name: value} for value in axis_values(name, given)] for name, given in spec.grid.items()]
    for choices in axes:
        texts = [canonical({path: str(value) for path, value in choice.items()}) for choice in choices]
        if len(set(texts)) < len(texts):
            twice = next(text for text in texts if texts.count(text) > 1)
            raise InputError(f"grid: {twice} is given twice")
    if spec.cases and len({frozenset(case) for case in spec.cases}) > 1:
        raise InputError("cases: every case has to give the same fields, so that each cell says what it is")
    taken = [path for choices in axes for path in choices[0]]
    for path in taken:
        if taken.count(path) > 1 or any(other.startswith(f"{path}.") for other in taken):
            raise InputError(f"grid.{path}: two axes give this field a value")
    return axes


def _subjects(spec: Spec, path: Path, axes: Axes) -> Iterator[Subject]:
    later = frozenset(name.partition(".")[0] for choices in axes for name in choices[0])
    arrays = ArrayFolder(path.parent)
    if spec.experiment is not None:
        from .numerics.registry import load_experiment

        experiment, _ = load_experiment(spec.experiment)
        fields = FieldSet(experiment.settings, arrays)
        yield Subject(
            kind="experiment",
            name=spec.experiment,
            fieldset=fields,
            base=fields.complete(spec.settings, later, "settings."),
            axes=axes,
            code=code_of("experiment", spec.experiment),
            varying=experiment.varying,
            batch=experiment.batch,
        )
    elif spec.theorem is not None:
        from .instance import require_variant
        from .theorems import load

        theorem = load(spec.theorem)
        require_variant(theorem, spec.variant)
        fields = FieldSet(theorem.instance_class, arrays)
        base = fields.complete(spec.instance, later, "instance.")
        yield Subject("theorem", spec.theorem, fields, base, axes, code_of("theorem", spec.theorem), spec.variant)
    else:
        yield from _from_files(spec, path, axes)


def _from_files(spec: Spec, path: Path, axes: Axes) -> Iterator[Subject]:
    from .conversion import plain_fields
    from .instance import find_instances, read_instance

    for found in find_instances([path.parent / name for name in spec.instances]):
        file = read_instance(found)
        fields = FieldSet(file.theorem.instance_class, ArrayFolder(found.parent))
        yield Subject(
            kind="theorem",
            name=file.theorem.name,
            fieldset=fields,
            base=fields.complete(plain_fields(file.instance), frozenset(), f"{found}: "),
            axes=axes,
            code=code_of("theorem", file.theorem.name),
            variant=file.variant,
            file=found.name,
            expect=None if file.expect is None or axes else file.expect.value,
        )
