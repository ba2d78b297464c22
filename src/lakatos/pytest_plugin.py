"""The pytest plug-in: ``pytest --lakatos DIR`` collects instance files, one test each.

A test passes if the verdict is what the file expects or, where it expects nothing, if the theorem holds. Nothing but pytest
is loaded until an instance is verified.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .core import Verdict

__all__ = ["InstanceItem", "InstanceModule"]

MARKER = "lakatos: a test that verifies an instance file; `-m lakatos` runs these alone"
FOLDERS = "lakatos_instances"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("lakatos", "verification of deep-learning theorems")
    group.addoption(
        "--lakatos",
        metavar="DIR",
        dest=FOLDERS,
        action="append",
        default=[],
        type=Path,
        help="also collect the instance files (*.toml) below DIR, or the file DIR; may be repeated",
    )
    group.addoption(
        "--lakatos-seed",
        metavar="N",
        dest="lakatos_seed",
        type=int,
        default=None,
        help="seed of the measurements, in place of the one in each file",
    )
    parser.addini(FOLDERS, type="paths", default=[], help="folders with instance files to collect in every run")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)
    given = [
        path if path.is_absolute() else config.invocation_params.dir / path for path in config.option.lakatos_instances
    ]
    if missing := [path for path in given if not path.exists()]:
        raise pytest.UsageError(f"--lakatos {missing[0]}: no such file or folder")
    # pytest collects below its arguments alone, and what two of them lead to once.
    config.stash[_FOLDERS] = folders = [path.resolve() for path in (*given, *config.getini(FOLDERS))]
    config.args += map(str, folders)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> InstanceModule | None:
    resolved = file_path.resolve()
    if file_path.suffix == ".toml" and any(resolved.is_relative_to(path) for path in parent.config.stash[_FOLDERS]):
        return InstanceModule.from_parent(parent, path=file_path)
    return None


_FOLDERS = pytest.StashKey[list[Path]]()


class InstanceModule(pytest.File):
    """An instance file, which holds one test."""

    def collect(self) -> Iterator[InstanceItem]:
        """Yield the test."""
        yield InstanceItem.from_parent(self, name="verdict")


class InstanceItem(pytest.Item):
    """The test of one instance: its verdict has to be as expected."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.add_marker("lakatos")

    def runtest(self) -> None:
        """Verify the instance.

        Raises
        ------
        UnexpectedVerdict
            If it does not end as it should.
        lakatos.InputError
            If the file cannot be read.
        """
        from .verification import verify_file

        verdict = verify_file(self.path, seed=self.config.option.lakatos_seed)
        self.user_properties += [("outcome", verdict.outcome.value), ("evidence", verdict.evidence.value)]
        if not verdict.as_expected:
            raise UnexpectedVerdict(verdict)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return what went wrong: claims with what was predicted and measured; a traceback only for a defect of lakatos."""
        from .core import InputError

        if isinstance(excinfo.value, UnexpectedVerdict):
            return _explanation(excinfo.value.verdict)
        if isinstance(excinfo.value, InputError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return where the test is and how it is called."""
        return self.path, None, f"[instance] {self.path.name}"


class UnexpectedVerdict(Exception):
    """A verdict that is not what the instance expects."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.outcome)
        self.verdict = verdict


def _explanation(verdict: Verdict) -> str:
    from .report import Entry, surprise, value_text

    lines = [surprise(Entry(str(verdict.instance), verdict)) or "", f"theorem: {verdict.theorem}"]
    if verdict.variant is not None:
        lines.append(f"false variant: {verdict.variant}")
    lines += [f"hypothesis not met: {item.name} ({item.how})" for item in verdict.hypotheses if not item.met]
    for row in verdict.claims:
        if row.established or row.agrees:
            continue
        lines += [f"claim {row.claim.quantity}:", f"    predicted {row.claim.relation} {value_text(row.claim.value)}"]
        if row.claim.resolution:
            lines[-1] += f", within {row.claim.resolution:.3g}"
        if row.estimate is not None:
            error = f" ± {row.estimate.error:.3g}" if row.estimate.error else ""
            how = f" ({row.estimate.how})" if row.estimate.how else ""
            lines.append(f"    measured  {value_text(row.estimate.value)}{error}{how}")
    return "\n".join(lines)
