"""What the documentation shows at a terminal is what happens there."""

from __future__ import annotations

from pathlib import Path

import pytest
from consoles import DOCS, Command, blocks, commands, is_as_expected, isolated_pip, run_page

PAGES = sorted(path for path in DOCS.glob("*.md") if "```console" in path.read_text("utf-8"))
TRAINING = ("practitioner",)  # they trace and train networks


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=[pytest.mark.slow] if path.stem in TRAINING else []) for path in PAGES],
)
def test_sessions(path: Path, tmp_path: Path) -> None:
    found = run_page(path.read_text("utf-8"), tmp_path / "page", isolated_pip(tmp_path / "site"))
    assert found
    for command, printed in found:
        assert is_as_expected(command, printed), (
            f"$ {command.text}\n{printed}\n-- but the page says\n{command.expected}"
        )


@pytest.mark.slow
def test_sessions_of_the_readme(tmp_path: Path) -> None:
    root = DOCS.parent
    (tmp_path / "root").mkdir()
    for folder in ("examples", "experiments", "instances"):
        (tmp_path / "root" / folder).symlink_to(root / folder)
    for command, printed in run_page((root / "README.md").read_text("utf-8"), tmp_path / "root"):
        assert is_as_expected(command, printed), (
            f"$ {command.text}\n{printed}\n-- but the README says\n{command.expected}"
        )


def test_a_session(tmp_path: Path) -> None:
    page = "```text\n# a.txt\none\n```\n\n```console\n$ cat a.txt; false\n# a.txt\none\n$ echo $?\n1\n```\n"
    (cat, echo) = run_page(page, tmp_path)
    assert [cat[1], echo[1]] == ["# a.txt\none", "1"]
    assert is_as_expected(*cat)
    assert is_as_expected(*echo)


@pytest.mark.parametrize(
    ("expected", "printed", "is_same"),
    [
        ("a … d", "a b c d", True),
        ("a … d", "a b\nc d", False),
        ("a\n…\nd", "a\nb\nc\nd", True),
        ("a\n…\nd", "a\nb\nc", False),
        ("found after 0.1 s", "found after 20.35 s", True),
        ("found 0.1 here", "found 0.2 here", False),
        ("", "", True),
        ("", "a", False),
    ],
)
def test_comparison(expected: str, printed: str, is_same: bool) -> None:
    assert is_as_expected(Command("", expected, 0, 0), printed) is is_same


def test_commands_go_on_over_lines() -> None:
    ((_, content, start),) = blocks("```console\n$ a \\\n> b\nout\n\nput\n$ c\n```\n")
    assert [(found.text, found.expected) for found in commands(content, start)] == [
        ("a \\\nb", "out\n\nput"),
        ("c", ""),
    ]
