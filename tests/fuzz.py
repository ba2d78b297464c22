"""Give hostile files to every reader: ``python tests/fuzz.py --cases 1000000 --state FILE``.

What is allowed to come of a file: it is read, or it is refused by `InputError` (by status 1 or 2 for the checker). A
traceback, more than `SECONDS`, more than `MEBIBYTES` of memory, code that runs, a file that is opened outside the folder of
the case, a connection or a process is a *problem*. An audit hook sees these; it cannot be taken off, so cases run in
processes of their own, `CHUNK` of them in each. The state file is continued where it ends.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import faulthandler
import io
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import hostile
import hostile_archives as archives
import numpy as np
from hostile import READERS, SECRET, Hostile, hostile_file
from hostile_archives import CANARY

SECONDS = 20.0  # of the processor; a reader is done in milliseconds
WAIT = 120.0  # for a pipe or a lock, or for a busy machine
MEBIBYTES = 64  # far above what files of a few kilobytes need, far below what a bomb unpacks to
CHUNK = 20_000


class Hang(BaseException):
    """Not an `Exception`, so that no reader takes it for damage in its file."""


@dataclass(frozen=True)
class Matrix:
    """An instance class with an array, whose file is a path that a stranger wrote."""

    F: Any
    n: int = 0


def matrix_theorem(name: str) -> Any:
    """Return what `read_instance` needs to know of a theorem whose instances hold an array."""
    from lakatos.core import InputError
    from lakatos.theorems import load

    if name == "matrix":
        from lakatos.arrays import Array

        Matrix.__annotations__["F"] = Array
        return SimpleNamespace(instance_class=Matrix)
    if "." in name:  # installed plug-ins are the business of whoever installs them
        raise InputError(name)
    return load(name)


def read(case: Hostile, path: Path) -> str:
    """Give the file at `path` to its reader, use what it returns as far as the command line does, and say what it was."""
    from lakatos.core import InputError

    match case.reader:
        case "network.json" | "network.graphml" | "network.npz" | "network.onnx":
            from lakatos.networks import read_network

            network = read_network(path)
            json.dumps(network.to_fields(), ensure_ascii=False).encode()
        case "balance":
            from lakatos.network_files import read_balance

            read_balance(path)
        case "instance":
            from lakatos.instance import read_instance

            json.dumps(read_instance(path, matrix_theorem).fields, ensure_ascii=False).encode()
        case "array":
            from lakatos.arrays import ArrayFolder

            ArrayFolder(path.parent).read(path.name, "F", "instance.F").fractions()
        case "checkpoint":
            import torch

            from lakatos.numerics.checkpoints import load_checkpoint

            module = torch.nn.Linear(2, 1)
            module.register_parameter("F", torch.nn.Parameter(torch.eye(2)))
            load_checkpoint(module, path)
        case "images":
            from lakatos.numerics.image_files import read_images

            place = path.parent / archives.IMAGE_FILES[case.suffix]
            for name, content in archives.image_files().items():
                (path.parent / name).write_bytes(content)  # what the case before this one has left
            place.write_bytes(case.content)
            read_images(place.parent)
        case "result":
            from lakatos import checker
            from lakatos.results import results_from_json

            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                status = checker.main([str(path)])
            assert status in (0, 1, 2)
            if status < 2:
                with contextlib.suppress(InputError):
                    results_from_json(json.loads(path.read_bytes()))
            return ("valid", "invalid", "refused")[status]
    return "read"


def ending(case: Hostile, path: Path) -> str:
    """Return ``refused``, or what was read; whatever else comes of the file is raised."""
    from lakatos.core import InputError

    try:
        return read(case, path)
    except InputError as error:
        str(error).encode("utf-8", "backslashreplace")
        return "refused"


# The watch -------------------------------------------------------------------------------------------------------------

FORBIDDEN = ("os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "os.putenv", "os.remove")
FORBIDDEN += (
    "os.rename",
    "os.mkdir",
    "os.rmdir",
    "os.link",
    "os.symlink",
    "os.chmod",
    "os.kill",
    "pty.spawn",
    "shutil.",
)
FORBIDDEN += ("subprocess.Popen", "socket.", "urllib.", "http.", "ftplib.", "smtplib.", "ctypes.dlopen", "webbrowser.")
FORBIDDEN += ("pickle.find_class", "code.")


@dataclass
class Watch:
    """What the program does while a file is read: `seen` fills with what it must not do."""

    folder: str
    active: bool = False
    learning: bool = False
    known: set[Any] = field(default_factory=set)
    seen: list[str] = field(default_factory=list)

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.active:
            return
        self.active = False  # what the watch itself does is not watched
        try:
            if event == "open":
                self._opened(arguments[0])
            elif event == "exec":
                # Annotations of our own classes are evaluated; code that no valid file made run is not ours.
                code = arguments[0]
                if code.co_filename.startswith((sys.prefix, sys.base_prefix, "<frozen ")):
                    return  # a module of Python, such as a codec, loads when it is first needed
                if sys._getframe(1).f_code is collections.namedtuple.__code__:
                    return  # that module defines a named tuple
                self._note(
                    (code.co_code, code.co_names, str(code.co_consts)), f"runs {code.co_names}, {code.co_consts}"
                )
            elif event.startswith(FORBIDDEN):
                self._note((event, str(arguments)), f"{event} {arguments}")
        finally:
            self.active = True

    def _opened(self, path: Any) -> None:
        if isinstance(path, int):
            return
        real = os.path.realpath(os.fsdecode(path))
        if not (real.startswith(self.folder + os.sep) or real.startswith((sys.prefix, sys.base_prefix))):
            self._note(("open", real), f"opens {real}")

    def _note(self, key: Any, text: str) -> None:
        if self.learning:
            self.known.add(key)
        elif key not in self.known:
            self.seen.append(text)

    @contextlib.contextmanager
    def on(self) -> Iterator[None]:
        self.seen.clear()
        self.active = True
        try:
            yield
        finally:
            self.active = False


def make_folder(top: Path) -> Path:
    """Return the folder of the cases, with what they may try to reach around it."""
    folder = top / "case"
    (top / SECRET).mkdir()
    folder.mkdir()
    (top / SECRET / "weights.npz").write_bytes(archives.npz({"F": np.eye(2)}))
    (top / SECRET / "instance.toml").write_text('theorem = "x"\n[instance]\n')
    (folder / "weights.npz").write_bytes(archives.npz({"F": np.eye(2)}))
    (folder / "link.npz").symlink_to(top / SECRET / "weights.npz")
    os.mkfifo(folder / "fifo.npz")  # reading it would wait for ever
    for name, content in archives.image_files().items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def valid_files() -> list[Hostile]:
    """Return an undamaged file for each reader and format; what reading them does is known, and their readers are loaded."""
    archive = archives.npz({"F": np.eye(2)})
    return [
        *(
            Hostile("network.json", ".json", json.dumps(data).encode())
            for data in [*hostile.EDGE_LISTS, hostile.NODE_LINK]
        ),
        Hostile("network.graphml", ".graphml", hostile.GRAPHML.encode()),
        Hostile("network.npz", ".npz", archives.npz(hostile.NETWORK_ARRAYS)),
        *(Hostile("network.onnx", ".onnx", hostile.onnx_model()) for reader in READERS if reader == "network.onnx"),
        Hostile("balance", ".toml", hostile.BALANCE_TOML.encode()),
        Hostile("balance", ".json", b'{"a": 0.5}'),
        Hostile("array", ".npz", archive),
        Hostile("array", ".pt", archives.torch_file()),
        Hostile("array", ".safetensors", archives.safetensors_file()),
        Hostile("checkpoint", ".pt", archives.torch_file()),
        Hostile("checkpoint", ".safetensors", archives.safetensors_file()),
        *(Hostile("images", suffix, archives.image_files()[name]) for suffix, name in archives.IMAGE_FILES.items()),
        Hostile("instance", ".toml", hostile.MATRIX_TOML.format('{ file = "weights.npz", key = "F" }').encode()),
        *(Hostile("instance", ".toml", content) for content in hostile.instance_files()),
        *(Hostile("result", ".json", content) for content in hostile.results()),
    ]


def try_cases(numbers: range, top: Path, seed: int) -> dict[str, Any]:
    """Try the cases with these numbers; return how often each reader read and refused, and the problems."""
    folder = make_folder(top)
    watch = Watch(str(folder.resolve()), learning=True)
    sys.addaudithook(watch)
    os.chdir(folder)
    for case in valid_files():
        path = folder / f"case{case.suffix}"
        path.write_bytes(case.content)
        with watch.on():
            assert ending(case, path) in ("read", "valid"), case
    watch.learning = False
    for method in (8, 12, 14):
        archives.zeros(method)
    archives.zeros_gzip()
    counts: Counter[str] = Counter()
    problems: list[dict[str, Any]] = []
    peak = _peak()
    for number in numbers:
        (top / "now").write_text(str(number))
        case = hostile_file(random.Random(f"{seed}:{number}"), READERS[number % len(READERS)])
        path = folder / f"case{case.suffix}"
        path.write_bytes(case.content)
        faulthandler.dump_traceback_later(2 * WAIT, exit=True)  # for loops in C, which no signal interrupts
        try:
            with time_limit(), watch.on():
                result = ending(case, path)
            trouble = list(watch.seen)
        except (Exception, Hang) as error:
            result, trouble = "failed", [f"{type(error).__name__}: {str(error)[:200]}", *watch.seen]
        if (grown := _peak() - peak) > MEBIBYTES:
            trouble.append(f"{grown} MiB of memory")
        peak = max(peak, _peak())
        if (top / CANARY).exists():
            trouble.append("code in the file ran")
            (top / CANARY).unlink()
        counts[f"{case.reader} {result}"] += 1
        problems += [{"case": number, "reader": case.reader, "problem": text} for text in trouble]
    faulthandler.cancel_dump_traceback_later()
    return {"counts": counts, "problems": problems}


@contextlib.contextmanager
def time_limit() -> Iterator[None]:
    """Raise `Hang` in the main thread after `SECONDS` of processor time, or after `WAIT` seconds of waiting."""
    clocks = ((signal.SIGPROF, signal.ITIMER_PROF, SECONDS), (signal.SIGALRM, signal.ITIMER_REAL, WAIT))
    before = {number: signal.signal(number, _hang) for number, _, _ in clocks}
    for _, timer, seconds in clocks:
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for number, timer, _ in clocks:
            signal.setitimer(timer, 0)
            signal.signal(number, before[number])


def _hang(number: int, frame: FrameType | None) -> None:
    raise Hang(f"more than {SECONDS} s" if number == signal.SIGPROF else f"waits for {WAIT} s")


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def run_chunk(numbers: range, seed: int) -> dict[str, Any]:
    """Try cases in a process of their own; one that ends the process is a problem, and the others are tried without it."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            __file__,
            "--child",
            str(numbers.start),
            str(numbers.stop),
            folder,
            "--seed",
            str(seed),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            chunk: dict[str, Any] = json.loads(done.stdout)
            return chunk
        if done.returncode == 1 and "Timeout (" not in done.stderr:  # an exception, which is a mistake in this file
            raise RuntimeError(done.stderr)
        last = int(Path(folder, "now").read_text())
    parts = [run_chunk(part, seed) for part in (range(numbers.start, last), range(last + 1, numbers.stop)) if part]
    ended = {
        "case": last,
        "reader": READERS[last % len(READERS)],
        "problem": f"exit {done.returncode}: {done.stderr[-500:]}",
    }
    counts: Counter[str] = sum((Counter(part["counts"]) for part in parts), Counter())
    return {"counts": counts, "problems": [ended, *(problem for part in parts for problem in part["problems"])]}


def run(cases: int, state: Path, seed: int) -> dict[str, Any]:
    """Try all cases that `state` does not hold yet; return the sums."""
    total: dict[str, Any] = {"seed": seed, "done": 0, "counts": {}, "problems": []}
    if state.exists():
        total = json.loads(state.read_text())
    while total["done"] < cases:
        numbers = range(total["done"], min(cases, total["done"] + CHUNK))
        chunk = run_chunk(numbers, total["seed"])
        counts = dict(Counter(total["counts"]) + Counter(chunk["counts"]))
        total |= {"done": numbers.stop, "counts": counts, "problems": total["problems"] + chunk["problems"]}
        draft = state.with_suffix(".new")
        draft.write_text(json.dumps(total, indent=1))
        draft.replace(state)
    return total


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1_000_000)
    parser.add_argument("--state", type=Path, help="where the sums are kept; continued if it exists")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--child", nargs=3, metavar=("FIRST", "LAST", "FOLDER"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        first, last, folder = given.child
        print(json.dumps(try_cases(range(int(first), int(last)), Path(folder), given.seed)))  # noqa: T201
        return 0
    if given.state is None:
        parser.error("--state FILE is needed")
    total = run(given.cases, given.state, given.seed)
    print(json.dumps(total, indent=1))  # noqa: T201
    return 1 if total["problems"] else 0


if __name__ == "__main__":
    sys.exit(main())
