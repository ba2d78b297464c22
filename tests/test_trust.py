"""The page on trust says what is so: the table is that of the registry, and every kind of certificate has its line."""

from __future__ import annotations

import re

import trust

from lakatos.checker import CHECKS

PAGE = trust.PAGE.read_text("utf-8")


def test_the_table_is_up_to_date() -> None:
    assert trust.written(PAGE) == trust.table(), "run `python tests/trust.py`"


def test_every_kind_of_certificate_has_its_line() -> None:
    kinds = PAGE.partition("## Kind by kind")[2]
    lines = [line.split("|")[1] for line in kinds.splitlines() if line.startswith("| `")]
    assert {kind for line in lines for kind in re.findall(r"`(\w+)`", line)} == set(CHECKS)
