"""From exceptions to exit statuses and messages; the console script itself; what is loaded at start-up."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import cli_fakes
import pytest

from lakatos import cli_list
from lakatos.cli import main
from lakatos.cli_app import COMMANDS
from lakatos.cli_boundary import first_of
from lakatos.core import InputError, InternalError, Reason, Undecided

SCRIPT = Path(sys.executable).with_name("lakatos")
POSIX = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], int]:
    """Return a function that runs a command which raises."""

    def run(error: BaseException) -> int:
        def screen() -> None:
            raise error

        monkeypatch.setattr(cli_list, "screen", screen)
        return main(["list"])

    cli_fakes.register(monkeypatch)
    monkeypatch.delenv("LAKATOS_TRACEBACK", raising=False)
    return run


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (InputError("seed=-1: not valid"), 2, "lakatos: error: seed=-1: not valid\n"),
        (Undecided(Reason.PRECISION, "too close"), 3, "lakatos: error: undecided (precision): too close\n"),
        (MemoryError(), 3, "lakatos: error: undecided (memory): memory ran out\n"),
        (KeyboardInterrupt(), 130, "lakatos: interrupted\n"),
        (KeyboardInterrupt("2 of 3"), 130, "lakatos: interrupted; 2 of 3\n"),
    ],
)
def test_each_exception_has_its_status_and_one_line(
    failing: Callable[[BaseException], int],
    error: BaseException,
    status: int,
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert failing(error) == status
    assert capsys.readouterr() == ("", message)


@pytest.mark.parametrize(
    "error", [InternalError("certificate"), ZeroDivisionError("division by zero"), OSError(5, "io")]
)
def test_a_bug_says_so_and_shows_its_traceback_on_request(
    failing: Callable[[BaseException], int],
    error: Exception,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert failing(error) == 5
    out, err = capsys.readouterr()
    assert out == ""
    assert type(error).__name__ in err
    assert "bug in lakatos" in err
    assert "Traceback" not in err
    monkeypatch.setenv("LAKATOS_TRACEBACK", "1")
    assert failing(error) == 5
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["nonsense"], ["list", "--nonsense"], ["verify"], ["verify", "x", "-j", "0"]])
def test_usage_errors_exit_with_2_and_leave_standard_output_empty(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Error" in err


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_with_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    out = capsys.readouterr().out
    assert name in out
    assert "Example" in out


@pytest.mark.parametrize(
    ("statuses", "first"),
    [([], 0), ([0, 0], 0), ([0, 4], 4), ([4, 3], 3), ([3, 1, 4], 1), ([1, 2, 3], 2), ([2, 5, 0], 5)],
)
def test_of_several_statuses_the_gravest_counts(statuses: list[int], first: int) -> None:
    assert first_of(statuses) == first


def test_console_script_loads_neither_torch_nor_sympy() -> None:
    script = (
        "import sys; from lakatos.cli import main\n"
        "status = main(['list', '--json'])\n"
        "heavy = sorted({'torch', 'sympy'} & set(sys.modules))\n"
        "sys.exit(f'loaded: {heavy}' if heavy else status)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["schema"] == "lakatos/list/1"


def test_console_script_is_installed_and_plain_when_piped(tmp_path: Path) -> None:
    plain = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "FORCE_COLOR")}
    done = subprocess.run([SCRIPT, "list"], capture_output=True, text=True, cwd=tmp_path, env=plain, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80  # the width that is assumed where there is no terminal


@POSIX
def test_a_reader_that_leaves_is_no_error() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([SCRIPT, "list", "--json"], stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert done.returncode == 141
    assert done.stderr == ""


@POSIX
def test_interrupt_says_how_far_it_came(tmp_path: Path) -> None:
    cli_fakes.write(tmp_path, "a", "proved")
    cli_fakes.write(tmp_path, "b", "sleep")
    script = (
        "import sys, cli_fakes, pytest; from lakatos.cli import main\n"
        "with pytest.MonkeyPatch.context() as patch:\n"
        "    cli_fakes.register(patch)\n"
        "    sys.exit(main(['verify', 'a.toml', 'b.toml', '--json']))"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell starts its background jobs with interrupts ignored, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "asleep").exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "lakatos: interrupted; 1 of 2 instances were finished\n")
