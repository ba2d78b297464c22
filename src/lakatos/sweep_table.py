"""All cells of a sweep in one Parquet file, and reading such a file back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .arrays import nearest
from .core import InputError
from .results import write_atomically
from .sweep_plan import Plan
from .sweep_store import Store
from .sweep_task import row_from_json

if TYPE_CHECKING:
    import pyarrow

__all__ = ["SCHEMA", "Result", "read_result", "require_parquet", "write_result"]

SCHEMA = "lakatos/result/1"

_METADATA = b"lakatos"


@dataclass(frozen=True, eq=False)
class Result:
    """A result file: its columns, equally long lists with None where a cell has no value, and what it is the result of."""

    path: Path
    columns: Mapping[str, list[Any]]
    metadata: Mapping[str, Any]

    def column(self, name: str) -> list[Any]:
        """Return a column.

        Raises
        ------
        InputError
            If there is none of this name.
        """
        if name not in self.columns:
            raise InputError(f"{self.path}: no column {name!r}; {nearest(name, self.columns)}")
        return self.columns[name]


def require_parquet(why: str) -> None:
    """Raise InputError, starting with `why`, unless Parquet files can be written and read."""
    if find_spec("pyarrow") is None:
        raise InputError(f"{why}: needs pyarrow, which is not installed; pip install 'lakatos[cluster]'")


def write_result(plan: Plan, store: Store, metadata: Mapping[str, Any]) -> int:
    """Write the cells that have ended, in the order of the plan, to ``result.parquet``, and return their number.

    The file depends on the plan and its numbers alone, byte for byte: not on when, where or in how many pieces they came.

    Raises
    ------
    InputError
        If pyarrow is missing, a cell is damaged, or the file cannot be written.
    """
    require_parquet(str(store.result))
    import pyarrow
    import pyarrow.parquet

    columns: dict[str, list[Any]] = {}
    count = 0
    for row in _rows(plan, store):
        for name in row:  # columns in the order in which they first occur
            values = columns.setdefault(name, [])
            values += [None] * (count - len(values))
            values.append(row[name])
        count += 1
    for values in columns.values():
        values += [None] * (count - len(values))
    table = pyarrow.table({name: _array(values) for name, values in columns.items()})
    table = table.replace_schema_metadata({_METADATA: json.dumps({"schema": SCHEMA, **metadata})})
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(table, sink)
    write_atomically(store.result, sink.getvalue().to_pybytes())
    return count


def _rows(plan: Plan, store: Store) -> Iterator[dict[str, Any]]:
    done, failed = store.ended()
    for cell in plan.cells():
        if cell.key not in done and cell.key not in failed:
            continue
        record = store.read(cell.key, is_failed=cell.key in failed)
        names = plan.columns(cell)
        row = row_from_json(record.get("row", {}))
        yield {
            "key": cell.key,
            **names,
            "status": "failed" if "error" in record else "done",
            "error": record.get("error"),
            **{f"result.{name}" if name in names else name: value for name, value in row.items()},
        }


def _array(values: list[Any]) -> pyarrow.Array:
    """Return a column of the narrowest type that holds all its values; texts where they are of several kinds."""
    import pyarrow

    kinds = {type(value) for value in values if value is not None}
    lists = kinds == {list}
    if lists:
        kinds = {type(entry) for value in values if value is not None for entry in value}
    scalar: pyarrow.DataType
    change: Callable[[Any], Any]
    if kinds <= {bool}:
        scalar, change = pyarrow.bool_(), bool
    elif kinds <= {int} and not lists:
        scalar, change = pyarrow.int64(), int
    elif kinds <= {int, float}:
        scalar, change = pyarrow.float64(), float
    else:
        scalar, change = pyarrow.string(), str
    if lists:
        changed = [None if value is None else [change(entry) for entry in value] for value in values]
        return pyarrow.array(changed, pyarrow.list_(scalar))
    return pyarrow.array([None if value is None else change(value) for value in values], scalar)


def read_result(path: Path) -> Result:
    """Return a file that `write_result` has written.

    Raises
    ------
    InputError
        If it is none, or pyarrow is missing.
    """
    require_parquet(str(path))
    import pyarrow
    import pyarrow.parquet

    if not path.is_file():
        raise InputError(f"{path}: no such file; `lakatos sweep` writes result.parquet into its folder")
    try:
        table = pyarrow.parquet.read_table(path)
        metadata = json.loads((table.schema.metadata or {})[_METADATA])
        if metadata["schema"] != SCHEMA:
            raise ValueError
    except (pyarrow.ArrowException, OSError, ValueError, KeyError, TypeError):
        raise InputError(f"{path}: not a result that `lakatos sweep` has written") from None
    return Result(path, table.to_pydict(), metadata)
