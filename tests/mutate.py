"""Change the program in one place at a time and see whether a test fails: ``python tests/mutate.py --results FILE``.

Every mutant runs in a copy of the tree, in a forked process, against the tests that `SUITES` names for its module. A mutant
that no test notices *survives*: either a test is missing, or the change makes no difference. The results file has one JSON
object per mutant and is continued where it ends, so the run can be stopped at any time.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = {
    "src/lakatos": "lakatos",
    **{name: f"lakatos/{name}" for name in ("graphs", "theory", "numerics", "theorems")},
}
LARGEST = 8 << 30  # bytes of memory for one mutant; some loops without end collect what they find
SLOWEST = 400  # seconds for one mutant; a suite that takes longer than that is taken to hang

ENGINES = ("test_connectivity", "test_second_implementations")
CHECKER = ("test_checker", "test_checker_results", "test_connectivity", "test_checker_fuzz")
KINDS = ("test_checker_instances",)
SUITES = {
    "src/lakatos/judge.py": ("test_judge", "test_refute"),
    "src/lakatos/checker.py": ("test_checker", "test_checker_results", "test_checker_fuzz"),
    **{
        f"src/lakatos/_checker_{part}.py": CHECKER for part in ("sets", "degrees", "connectivity", "network", "reading")
    },
    "src/lakatos/_checker_files.py": ("test_checker_results",),
    "src/lakatos/_checker_rays.py": ("test_binary_labels", *KINDS),
    "src/lakatos/_checker_conservation.py": ("test_checker_conservation", "test_conservation", *KINDS),
    "graphs/network.py": ("test_networks", *ENGINES),
    "graphs/layered.py": ("test_networks", *ENGINES),
    "graphs/dyadic.py": ("test_dyadic",),
    "theory/conservation.py": ("test_conservation",),
}
"""The modules that are mutated by default, with their tests, those that kill most first."""


NEAREST = 4  # tests of a module that has no entry above


def suite_of(module: str) -> tuple[str, ...]:
    """Return the tests of `module`: its own entry; certificates for the checker; else of what uses it most directly.

    A name may be followed by an expression that selects tests of that file.
    """
    if module in SUITES:
        return SUITES[module]
    if "_checker_" in module:
        return KINDS
    users = users_of(module)
    tests = [path.stem for path in users if path.stem.startswith("test_")]
    theorems = [path.stem for path in users if path.parent.name == "theorems" and not path.stem.startswith("_")]
    return (*tests[:NEAREST], *map(contract_of, theorems[:NEAREST])) or ENGINES


def contract_of(theorem: str) -> str:
    """Return the test file of the contracts with an expression for those of `theorem` and its instances."""
    shipped = (ROOT / "instances").glob("*/*.toml")
    labels = [f"{path.parent.name}/{path.stem}" for path in shipped if f'"{theorem}"' in path.read_text("utf-8")]
    return f"test_theorem_contracts {' or '.join([theorem, *sorted(labels)])}"


def users_of(module: str) -> list[Path]:
    """Return the tests and theorems that use `module`, or a module that uses it, and so on; nearest first."""
    uses = {path: used(path) for folder in (*FOLDERS, "tests") for path in sorted((ROOT / folder).glob("*.py"))}
    reached, level, found = {ROOT / module}, [ROOT / module], []
    while level:
        names = {path.stem for path in level} - {"__init__"}
        level = [path for path, there in uses.items() if path not in reached and there & names]
        reached.update(level)
        found += level
    return found


def used(path: Path) -> set[str]:
    """Return the modules of the package that a module uses: what it imports, and attributes of the folders."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").startswith("lakatos")):
            found |= {name.name for name in node.names} | {(node.module or "").rpartition(".")[2]}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in FOLDERS:
            found.add(node.attr)
    return found


ORDER = {ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.GtE), ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt, ast.LtE)}
OTHER = {ast.Eq: ast.NotEq, ast.Is: ast.IsNot, ast.In: ast.NotIn}
COMPARISONS: dict[Any, tuple[Any, ...]] = {
    **ORDER,
    **{a: (b,) for a, b in OTHER.items()},
    **{b: (a,) for a, b in OTHER.items()},
}
ARITHMETIC: dict[Any, Any] = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Pow: ast.Mult}
ARITHMETIC |= {ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd}
ARITHMETIC |= {ast.LShift: ast.RShift, ast.RShift: ast.LShift}
# Directions: of edges, of sets of nodes, of inequalities.
PAIRS = [("tail", "head"), ("entering", "leaving"), ("in_degree", "out_degree"), ("min", "max"), ("any", "all")]
PAIRS += [("first_in", "first_out"), ("supply", "demand"), ("producers", "consumers"), ("source_side", "sink_side")]
OPPOSITE = {a: b for pair in PAIRS for a, b in (pair, pair[::-1])}
SIDES = {"out": "in", "in": "out"}


@dataclass(frozen=True)
class Mutant:
    """A module with the change called `change` made at `line`."""

    module: str
    line: int
    change: str
    source: str

    @property
    def key(self) -> str:
        """The same for the same mutant of the same source."""
        return hashlib.sha256(f"{self.module}\n{self.source}".encode()).hexdigest()[:16]


def mutants(module: str, text: str) -> Iterator[Mutant]:
    """Yield every mutant of the source `text`."""
    tree = ast.parse(text)
    original = ast.unparse(tree)
    skipped = _without_effect(tree)
    for i, node in enumerate(ast.walk(tree)):
        if id(node) in skipped:
            continue
        for k, (change, _) in enumerate(_changes(node)):
            mutated = ast.parse(text)
            twin = next(islice(ast.walk(mutated), i, None))
            _changes(twin)[k][1](mutated, twin)
            source = ast.unparse(ast.fix_missing_locations(mutated))
            if source != original:
                yield Mutant(module, getattr(node, "lineno", 0), change, source)


def _without_effect(tree: ast.AST) -> set[int]:
    """Return the nodes that say something to readers only: annotations, messages of errors, docstrings."""
    silent: set[int] = set()
    for node in ast.walk(tree):
        parts: list[Any] = []
        if isinstance(node, ast.Raise):
            parts = [node.exc, node.cause]
        elif isinstance(node, (ast.FunctionDef, ast.AnnAssign, ast.arg)):
            parts = [getattr(node, "returns", None), getattr(node, "annotation", None)]
        elif isinstance(node, (ast.JoinedStr, ast.Assert)) or _is_docstring(node):
            parts = [node]
        silent.update(id(inner) for part in parts if part is not None for inner in ast.walk(part))
    return silent


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


Edit = Callable[[ast.AST, Any], None]


def _changes(node: ast.AST) -> list[tuple[str, Edit]]:
    """Return what can be changed at `node`, each with the function that does it."""
    match node:
        case ast.Compare(ops=ops):
            return [
                (f"{type(op).__name__} -> {new.__name__}", _set_operator(k, new))
                for k, op in enumerate(ops)
                for new in COMPARISONS.get(type(op), ())
            ]
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in ARITHMETIC:
            new = ARITHMETIC[type(op)]
            return [(f"{type(op).__name__} -> {new.__name__}", lambda _, n: setattr(n, "op", new()))]
        case ast.BoolOp(op=op):
            other = ast.Or if isinstance(op, ast.And) else ast.And
            return [(f"{type(op).__name__} -> {other.__name__}", lambda _, n: setattr(n, "op", other()))]
        case ast.UnaryOp(op=op):
            return [(f"without {type(op).__name__}", lambda tree, n: _replace(tree, n, n.operand))]
        case ast.Constant(value=bool() as value):
            return [(f"{value} -> {not value}", lambda _, n: setattr(n, "value", not n.value))]
        case ast.Constant(value=int() as value):
            return [(f"{value} -> {value + 1}", lambda _, n: setattr(n, "value", n.value + 1))]
        case ast.Constant(value=str() as value) if value in SIDES:
            return [(f"{value!r} -> {SIDES[value]!r}", lambda _, n: setattr(n, "value", SIDES[n.value]))]
        case ast.Name(id=name, ctx=ast.Load()) if name in OPPOSITE:
            return [(f"{name} -> {OPPOSITE[name]}", lambda _, n: setattr(n, "id", OPPOSITE[n.id]))]
        case ast.Attribute(attr=name, ctx=ast.Load()) if name in OPPOSITE:
            return [(f".{name} -> .{OPPOSITE[name]}", lambda _, n: setattr(n, "attr", OPPOSITE[n.attr]))]
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) if not isinstance(test, ast.Compare):
            return [("condition negated", lambda _, n: setattr(n, "test", ast.UnaryOp(ast.Not(), n.test)))]
        case ast.Raise() | ast.Continue() | ast.Break():
            return [(f"without {type(node).__name__}", lambda tree, n: _replace(tree, n, ast.Pass()))]
        case ast.Expr(value=ast.Call()):
            return [("without the call", lambda tree, n: _replace(tree, n, ast.Pass()))]
    return []


def _set_operator(k: int, new: Any) -> Edit:
    def edit(_: ast.AST, node: Any) -> None:
        node.ops[k] = new()

    return edit


def _replace(tree: ast.AST, old: ast.AST, new: ast.AST) -> None:
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, new)
            elif isinstance(value, list) and any(item is old for item in value):
                setattr(parent, name, [new if item is old else item for item in value])


def copy_tree(target: Path) -> None:
    """Copy what the tests need to `target`, the package laid out as it is installed."""
    ignore = shutil.ignore_patterns("__pycache__", ".hypothesis")
    for source, place in FOLDERS.items():
        shutil.copytree(ROOT / source, target / place, ignore=ignore, dirs_exist_ok=True)
    for name in ("tests", "instances", "examples", "docs"):
        shutil.copytree(ROOT / name, target / name, ignore=ignore)
    shutil.copy(ROOT / "pyproject.toml", target)


def place_of(module: str) -> str:
    """Return where the copy of `module` is."""
    folder, _, name = module.rpartition("/")
    return f"{FOLDERS[folder]}/{name}"


def outcome(tree: Path, suite: tuple[str, ...], seconds: float) -> str:
    """Return what a forked test run ends in: killed, survived, timeout; a run that cannot even start counts as killed."""
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_AS, (LARGEST, LARGEST))
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        os.chdir(tree)
        import pytest

        status = 1
        try:
            for name in suite:  # one after the other, so that those that are not needed are not even loaded
                file, _, selected = name.partition(" ")
                arguments = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-profile", "mutate", f"tests/{file}.py"]
                arguments += ["-k", selected] if selected else []
                status = int(pytest.main(arguments))
                if status:
                    break
        finally:
            os._exit(status)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return "survived" if os.waitstatus_to_exitcode(status) == 0 else "killed"
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "timeout"


def prepare(tree: Path) -> None:
    """Import what every test run needs, once, before processes are forked; never the package that is mutated."""
    sys.path[:0] = [str(tree), str(tree / "tests")]
    sys.path.remove(str(Path(__file__).parent))
    os.environ |= {"PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1"}
    import networkx  # noqa: F401
    import numpy  # noqa: F401
    import scipy.sparse.csgraph  # noqa: F401


def run(modules: list[str], results: Path, every: int) -> None:
    """Run every `every`-th mutant of `modules` that `results` does not hold yet, and append what came of it."""
    known = {json.loads(line)["key"] for line in results.read_text().splitlines()} if results.exists() else set()
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        copy_tree(tree)
        prepare(tree)
        stamp = 0
        for module in modules:
            path, suite = tree / place_of(module), suite_of(module)
            text = path.read_text()
            new = [mutant for mutant in list(mutants(module, text))[::every] if mutant.key not in known]
            if not new:
                continue
            began = time.monotonic()
            if outcome(tree, suite, SLOWEST) != "survived":
                sys.stderr.write(f"{module}: its tests fail without any change, or take longer than {SLOWEST} s\n")
                continue
            limit = min(SLOWEST, 20 + 4 * (time.monotonic() - began))
            for mutant in new:
                path.write_text(mutant.source)
                # Compiled code is valid for a time stamp in seconds, and mutants follow one another faster than that.
                stamp += 1
                os.utime(path, (stamp, stamp))
                row = {"key": mutant.key, "module": module, "line": mutant.line, "change": mutant.change}
                row["outcome"] = outcome(tree, suite, limit)
                with results.open("a") as file:
                    file.write(json.dumps(row) + "\n")
            path.write_text(text)


def report(modules: list[str], results: Path) -> None:
    """Print the score of each module and its survivors, for the sources as they are now."""
    rows = {row["key"]: row for row in map(json.loads, results.read_text().splitlines())}
    print("| module | mutants run | of | killed | survived |\n|---|---|---|---|---|")  # noqa: T201
    survivors = []
    for module in modules:
        now = list(mutants(module, (ROOT / module).read_text()))
        run_now = [rows[mutant.key] for mutant in now if mutant.key in rows]
        count = Counter(row["outcome"] for row in run_now)
        survivors += [row for row in run_now if row["outcome"] == "survived"]
        killed = count["killed"] + count["timeout"]
        print(f"| `{module}` | {len(run_now)} | {len(now)} | {killed} | {count['survived']} |")  # noqa: T201
    for row in survivors:
        print(f"{row['module']}:{row['line']}: {row['change']}")  # noqa: T201


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", help="such as graphs/margins.py; default: those of `SUITES`")
    parser.add_argument("--results", type=Path, required=True, help="JSON lines; continued if it exists")
    parser.add_argument("--every", type=int, default=1, help="run only every so many mutants")
    parser.add_argument("--report", action="store_true", help="only print what the results say")
    given = parser.parse_args()
    modules = given.modules or list(SUITES)
    if not given.report:
        run(modules, given.results.resolve(), given.every)
    report(modules, given.results)


if __name__ == "__main__":
    main()
