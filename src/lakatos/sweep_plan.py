"""The cells of a sweep: which there are, their keys and seeds, and which are computed together.

The key of a cell is a hash of what determines its result: theorem or experiment, all fields, seed, device, and the version of
the code behind it. Cells and batches depend on the description of the sweep alone, never on who computes them or on what is
finished already, so every number is the same however the work is divided.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import islice, product
from typing import Any, NamedTuple

import numpy as np

from .conversion import build_instance
from .core import InputError
from .sweep_subject import Axes, Subject
from .sweep_task import Job

__all__ = ["Cell", "Plan"]

_TRIED = 1000
_KEY = 32  # hexadecimal digits


class Cell(NamedTuple):
    """One cell: its key, the positions of its subject and choices, and the hash of its settings, which gives its seed."""

    key: str
    subject: int
    choice: tuple[int, ...]
    device: str
    replicate: int
    settings: bytes


@dataclass(frozen=True, eq=False)
class Plan:
    """All cells of a sweep.

    Parameters
    ----------
    subjects : tuple of Subject
        What is swept: one experiment or theorem, or each of a list of instance files.
    axes : sequence
        Their product is the grid.
    devices : tuple of str
        Where every cell is computed.
    seed, seeds, paired : int, int or tuple of int, bool
        A tuple lists the seeds themselves. A number of seeds is spawned from `seed` for every setting, or, if `paired`, once
        for all settings.
    batch : int or None
        How many cells are computed together, at most; the experiment's own number if None, and 1 if that is 1.
    """

    subjects: tuple[Subject, ...]
    axes: Axes
    devices: tuple[str, ...]
    seed: int
    seeds: int | tuple[int, ...]
    paired: bool
    batch: int | None

    @cached_property
    def replicates(self) -> int:
        """Number of runs of each setting on each device."""
        return self.seeds if isinstance(self.seeds, int) else len(self.seeds)

    @property
    def setting_count(self) -> int:
        """Number of settings."""
        return len(self.subjects) * math.prod(len(choices) for choices in self.axes)

    @property
    def cell_count(self) -> int:
        """Number of cells."""
        return self.setting_count * len(self.devices) * self.replicates

    def cells(self) -> Iterator[Cell]:
        """Yield all cells; those that can be computed together follow each other."""
        for position, subject in enumerate(self.subjects):
            # Axes that separate batches come first, so that no batch has to be kept open.
            separating = [a for a in range(len(self.axes)) if subject.separates(a)]
            order = separating + [a for a in range(len(self.axes)) if a not in separating]
            outer = len(separating)
            sizes = [range(len(self.axes[a])) for a in order]
            back = [order.index(a) for a in range(len(order))]
            in_order = order == sorted(order)
            ends = [(device, f"\0{device}".encode()) for device in self.devices]
            tails = [self._tail(subject, replicate) for replicate in range(self.replicates)]
            text = subject.text_of()
            for fixed in product(*sizes[:outer]):
                for device, end in ends:
                    for free in product(*sizes[outer:]):
                        indices = fixed + free
                        choice = indices if in_order else tuple([indices[b] for b in back])
                        settings = sha256(text(choice).encode()).digest()
                        head = settings + end
                        for replicate, tail in enumerate(tails):
                            key = sha256(head + tail).hexdigest()[:_KEY]
                            yield Cell(key, position, choice, device, replicate, settings)

    def _tail(self, subject: Subject, replicate: int) -> bytes:
        if isinstance(self.seeds, int):
            seed = f"spawned\0{self.seed}\0{self.paired}\0{replicate}"
        else:
            seed = f"given\0{self.seeds[replicate]}"
        return f"\0{subject.variant or ''}\0{subject.code}\0{seed}".encode()

    def batches(self) -> Iterator[list[Cell]]:
        """Yield the cells in batches: each is one call of the experiment."""

        def together(cell: Cell) -> tuple[Any, ...]:
            return cell.subject, tuple([cell.choice[a] for a in separating[cell.subject]]), cell.device

        separating = [[a for a in range(len(self.axes)) if s.separates(a)] for s in self.subjects]
        batch: list[Cell] = []
        last = None
        for cell in self.cells():
            if batch and (len(batch) >= self._size(batch[0]) or together(cell) != last):
                yield batch
                batch = []
            last = last if batch else together(cell)
            batch.append(cell)
        if batch:
            yield batch

    def _size(self, cell: Cell) -> int:
        own = self.subjects[cell.subject].batch
        return own if self.batch is None or own == 1 else self.batch

    def job(self, cells: Sequence[Cell]) -> Job:
        """Return the work of one batch, which carries everything that a worker needs."""
        subject = self.subjects[cells[0].subject]
        return Job(
            kind=subject.kind,
            name=subject.name,
            variant=subject.variant,
            expect=subject.expect,
            code=subject.code,
            device=cells[0].device,
            fields=tuple(subject.fields(cell.choice) for cell in cells),
            seeds=tuple(self.seed_of(cell) for cell in cells),
        )

    def seed_of(self, cell: Cell) -> int:
        """Return the seed of a cell, between 0 and 2⁶³ − 1."""
        if not isinstance(self.seeds, int):
            return self.seeds[cell.replicate]
        words = () if self.paired else tuple(np.frombuffer(cell.settings[:16], "<u4").tolist())
        state = np.random.SeedSequence(self.seed, spawn_key=(*words, cell.replicate)).generate_state(1, np.uint64)
        return int(state[0]) >> 1

    def columns(self, cell: Cell) -> dict[str, Any]:
        """Return what identifies a cell, by column of the result: its subject, fields, seed and device."""
        subject = self.subjects[cell.subject]
        return {
            **({"theorem": subject.name} if subject.kind == "theorem" else {}),
            **({"instance": subject.file} if subject.file else {}),
            **subject.columns(cell.choice),
            "replicate": cell.replicate,
            "seed": self.seed_of(cell),
            "device": cell.device,
        }

    def require_valid(self) -> None:
        """Raise InputError if none of the first settings makes an instance; single ones that do not become failed cells."""
        first: InputError | None = None
        for cell in islice(self._one_per_setting(), _TRIED):
            subject = self.subjects[cell.subject]
            try:
                build_instance(subject.fieldset.cls, subject.fields(cell.choice))
                return
            except InputError as error:
                first = first or error
        raise InputError(f"none of the settings is valid: {first}")

    def _one_per_setting(self) -> Iterator[Cell]:
        one = Plan(self.subjects, self.axes, self.devices[:1], 0, 1, False, 1)
        return one.cells()
