"""Instance files: what is read from good ones, and what is said about bad ones."""

from __future__ import annotations

import hashlib
import json
import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from instance_fakes import Fields, Loss, Step, UnsupportedFields, fake_theorem, write

from lakatos.arrays import Array
from lakatos.core import InputError, InternalError, Outcome
from lakatos.graphs.fields import LayeredFields, NetworkFields
from lakatos.instance import build_instance, find_instances, plain_fields, read_instance

GOOD = """
theorem = "anything"
title = "a title"
expect = "refuted"
seed = 7
[instance]
name = "n"
width = 4
bias = true
rate = 0.1
loss = "logistic"
norm = "l1"
bound = "-7/3"
pair = ["b", 2]
rows = [[1, 0.25], [1e-3]]
balance = { h = -4, "a b" = 1_000.5 }
step = { size = 0.5, count = 2 }
steps = [{ size = 1 }, { size = 2 }]
edges = [["x", "h"], ["h", "y", 0.1]]
matrix = [["1/3", 0.1]]
"""


def test_every_kind_of_field_is_read_exactly(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)
    read = read_instance(path, fake_theorem)
    assert read.instance == Fields(
        name="n",
        width=4,
        bias=True,
        rate=Fraction(1, 10),
        loss=Loss.LOGISTIC,
        norm="l1",
        bound=Fraction(-7, 3),
        pair=("b", 2),
        rows=((Fraction(1), Fraction(1, 4)), (Fraction(1, 1000),)),
        balance={"h": Fraction(-4), "a b": Fraction(2001, 2)},
        step=Step(Fraction(1, 2), 2),
        steps=(Step(Fraction(1)), Step(Fraction(2))),
        edges=(("x", "h"), ("h", "y", Fraction(1, 10))),
        matrix=Array((1, 2), (Fraction(1, 3), Fraction(1, 10))),
    )
    assert (read.path, read.title, read.expect, read.seed) == (path, "a title", Outcome.REFUTED, 7)
    assert read.theorem.name == "anything"
    assert read.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (read.arrays, read.numbers) == ({}, "rational")


def test_what_is_left_out_has_its_default(tmp_path: Path) -> None:
    read = read_instance(write(tmp_path, 'theorem = "anything"\n[instance]\nname = "n"'), fake_theorem)
    assert read.instance == Fields(name="n")
    assert (read.title, read.expect, read.seed) == ("", None, 0)


def test_fields_are_json_that_builds_the_same_instance(tmp_path: Path) -> None:
    read = read_instance(write(tmp_path, GOOD), fake_theorem)
    assert read.fields["balance"] == {"h": "-4", "a b": "2001/2"}
    assert read.fields["matrix"] == [["1/3", "1/10"]]
    assert build_instance(Fields, json.loads(json.dumps(read.fields))) == read.instance


def test_array_files_are_read_hashed_and_recorded_as_dyadic(tmp_path: Path) -> None:
    np.savez(tmp_path / "w.npz", F=np.array([[0.1, 2.0]]))
    text = 'theorem = "anything"\n[instance]\nname = "n"\nmatrix = { file = "w.npz", key = "F" }'
    read = read_instance(write(tmp_path, text), fake_theorem)
    assert read.instance.matrix.fractions() == ((Fraction(0.1), Fraction(2)),)
    assert read.arrays == {"w.npz": hashlib.sha256((tmp_path / "w.npz").read_bytes()).hexdigest()}
    assert read.numbers == "dyadic"
    assert build_instance(Fields, read.fields) == read.instance


HEAD = 'theorem = "anything"\n[instance]\nname = "n"\n'
NUMBER = "a number (an integer, a decimal or a string 'p/q')"

BAD = {
    "no theorem": ("[instance]", "theorem: missing; a text is needed, the name of one that `lakatos list` prints"),
    "a file of another program": (
        "[build-system]\nrequires = []",
        "theorem: missing; a text is needed, the name of one that `lakatos list` prints",
    ),
    "a sweep": ('experiment = "balance_drift"', "describes a sweep, not an instance; run it with `lakatos sweep`"),
    "a sweep of a theorem": (
        'theorem = "anything"\n[grid]\nwidth = [1]',
        "describes a sweep, not an instance; run it with `lakatos sweep`",
    ),
    "no instance": ('theorem = "anything"', "instance: missing; a table of name = value is needed"),
    "theorem of another type": ("theorem = 3\n[instance]", "theorem=3: a text is needed"),
    "unknown theorem": ('theorem = "other"\n[instance]', "theorem='other': no such theorem"),
    "unknown variant": (
        'theorem = "anything"\nvariant = "x"\n[instance]',
        "variant='x': not registered; there are none",
    ),
    "unknown key at the top": (
        'theorm = "anything"\n[instance]',
        "theorm: unknown; did you mean 'theorem'? valid are 'theorem', 'instance', 'title', 'variant', 'expect', 'seed'",
    ),
    "unknown outcome": (
        'theorem = "anything"\nexpect = "proven"\n[instance]',
        "expect='proven': one of 'proved', 'supported', 'refuted', 'inconclusive', 'inapplicable' is needed",
    ),
    "negative seed": (
        'theorem = "anything"\nseed = -1\n[instance]\nname = "n"',
        "seed=-1: a seed is between 0 and 2^63 - 1",
    ),
    "decimal seed": ('theorem = "anything"\nseed = 1.5\n[instance]', "seed=1.5: an integer is needed"),
    "unknown key": (
        'theorem = "network"\n[instance]\nedges = [["x", "y"]]\nbalanse = {}',
        "instance.balanse: unknown; did you mean 'balance'? valid are 'edges', 'inputs', 'outputs', 'balance', 'nodes'",
    ),
    "missing field": ('theorem = "anything"\n[instance]', "instance.name: missing; a text is needed"),
    "text for an integer": (HEAD + 'width = "4"', "instance.width='4': an integer is needed"),
    "boolean for an integer": (HEAD + "width = true", "instance.width=True: an integer is needed"),
    "decimal for an integer": (HEAD + "width = 4.0", "instance.width=4.0: an integer is needed"),
    "integer for a boolean": (HEAD + "bias = 1", "instance.bias=1: true or false is needed"),
    "decimal for a text": ('theorem = "anything"\n[instance]\nname = 0.5', "instance.name=0.5: a text is needed"),
    "date for a number": (
        HEAD + "rate = 2020-01-01",
        f"instance.rate=datetime.date(2020, 1, 1): {NUMBER} is needed",
    ),
    "not a number": (
        HEAD + "balance = { h = nan }",
        "instance.balance.h=nan: not a finite number; write an integer, a decimal or 'p/q'",
    ),
    "infinity": (
        HEAD + "rows = [[1, inf]]",
        "instance.rows[0][1]=inf: not a finite number; write an integer, a decimal or 'p/q'",
    ),
    "division by zero": (
        HEAD + 'rate = "1/0"',
        "instance.rate='1/0': not a finite number; write an integer, a decimal or 'p/q'",
    ),
    "an expression": (
        HEAD + "rate = \"__import__('os')\"",
        "instance.rate=\"__import__('os')\": not a finite number; write an integer, a decimal or 'p/q'",
    ),
    "huge exponent": (
        HEAD + "rate = 0.1e-400000000",
        "instance.rate=0.1e-400000000: exponents beyond ±4000 are not read",
    ),
    "huge exponent with underscores": (
        HEAD + "rate = 1e1_000_000_000",
        "instance.rate=1e1_000_000_000: exponents beyond ±4000 are not read",
    ),
    "huge hexadecimal integer": (
        HEAD + "rate = 0x" + "f" * 5000,
        "instance.rate: a number of 20001 bits; at most 13000 are read",
    ),
    "huge integer for a text": (
        'theorem = "anything"\n[instance]\nname = 0x' + "f" * 5000,
        "instance.name=<an integer of 20000 bits>: a text is needed",
    ),
    "huge decimal integer": (
        HEAD + "rate = " + "9" * 5000,
        "an integer is too long: Exceeds the limit (4300 digits) for integer string conversion: value has 5000 digits",
    ),
    "literal": (
        HEAD + 'norm = "l3"',
        "instance.norm='l3': one of 'l1', 'l2' is needed; valid are 'l1', 'l2'",
    ),
    "wrong length": (HEAD + 'pair = ["a"]', "instance.pair=['a']: a list [a text, an integer] is needed"),
    "wrong entry": (HEAD + 'pair = ["a", "b"]', "instance.pair[1]='b': an integer is needed"),
    "table for a list": (
        HEAD + "rows = { a = 1 }",
        f"instance.rows={{'a': 1}}: a list [a list [{NUMBER}, …], …] is needed",
    ),
    "list for a table": (HEAD + "balance = [1]", "instance.balance=[1]: a table of name = value is needed"),
    "quoted key": (HEAD + 'balance = { "a b" = true }', f"instance.balance.'a b'=True: {NUMBER} is needed"),
    "edge of one node": (
        HEAD + 'edges = [["x", "h"], ["h"]]',
        f"instance.edges[1]=['h']: a list [a text, a text] or a list [a text, a text, {NUMBER}] is needed",
    ),
    "edge with a bad weight": (
        HEAD + 'edges = [["x", "h", []]]',
        f"instance.edges[0][2]=[]: {NUMBER} is needed",
    ),
    "unknown key of a table": (
        HEAD + "step = { siez = 1 }",
        "instance.step.siez: unknown; did you mean 'size'? valid are 'size', 'count'",
    ),
    "missing key of a table": (
        HEAD + "steps = [{ count = 1 }]",
        f"instance.steps[0].size: missing; {NUMBER} is needed",
    ),
    "text for a table": (
        HEAD + 'steps = ["one"]',
        "instance.steps[0]='one': a table with the keys size, count is needed",
    ),
    "ragged array": (
        HEAD + "matrix = [[1, 2], [3]]",
        "instance.matrix[1]: 1 entries where 2 are needed; the array has shape (2, 2)",
    ),
    "array without a key": (
        HEAD + 'matrix = { file = "w.npz" }',
        "instance.matrix.key: missing; a text is needed",
    ),
    "array that is a number": (
        HEAD + "matrix = 1",
        "instance.matrix=1: an array (nested lists of numbers, or { file = …, key = … }) is needed",
    ),
    "self-loop": (
        'theorem = "network"\n[instance]\nedges = [["h", "h"]]',
        "instance.edges[0]=['h', 'h']: self-loops are not allowed; a weight joins two nodes",
    ),
    "balance of no node": (
        'theorem = "network"\n[instance]\nedges = [["x", "y"]]\nbalance = { z = 1 }',
        "instance.balance['z']: no such node; known are 'x', 'y'",
    ),
    "more edges than memory": (
        'theorem = "layered"\n[instance]\nwidths = [1000000, 1000000]\nbalance = []',
        "instance.widths=[1000000, 1000000]: 1000000000000 edges; layered networks of at most 10000000 are read",
    ),
    "truncated": (HEAD + "rows = [[1, 2", "not TOML: Unclosed array (at end of document)"),
    "key given twice": (HEAD + 'name = "m"\n', "not TOML: Cannot overwrite a value (at line 4, column 11)"),
    "binary": (b"\x7fELF\xff\xfe\x00", "not text: byte 4 is not UTF-8; instance files are TOML"),
    "nul bytes": (b"\x00" * 100, "not TOML: Invalid statement (at line 1, column 1)"),
    "deep": (
        HEAD + "rows = " + "[" * 100_000,
        "lists or tables are nested too deeply to be read",
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_input_is_named(kind: str, tmp_path: Path) -> None:
    content, message = BAD[kind]
    path = write(tmp_path, content)
    with pytest.raises(InputError) as caught:
        read_instance(path, fake_theorem)
    assert str(caught.value) == f"{path}: {message}"


def test_large_files_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "zeros.toml"
    with path.open("wb") as stream:
        stream.truncate(1 << 30)
    with pytest.raises(InputError, match=r"zeros\.toml: 1073741824 bytes; at most 67108864 are read"):
        read_instance(path, fake_theorem)


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    for path in (tmp_path, tmp_path / "pipe.toml"):
        with pytest.raises(InputError, match="not a regular file"):
            read_instance(path, fake_theorem)
    with pytest.raises(InputError, match="No such file or directory"):
        read_instance(tmp_path / "missing.toml", fake_theorem)


def test_values_in_messages_are_short() -> None:
    with pytest.raises(InputError) as caught:
        build_instance(Fields, {"name": [[["x" * 10_000] * 100] * 100] * 100})
    # A line of a terminal or two: the value is shown by its first entries only.
    assert len(str(caught.value)) < 1000


def test_a_class_with_unreadable_fields_is_our_defect() -> None:
    with pytest.raises(InternalError, match="ratio: instance classes cannot have fields of type <class 'complex'>"):
        build_instance(UnsupportedFields, {"ratio": 1})


def test_python_values_are_accepted_and_floats_are_exact() -> None:
    built = build_instance(
        Fields,
        {
            "name": "n",
            "width": np.int64(2),
            "rate": 0.1,
            "balance": {1: np.float32(0.1)},
            "matrix": np.eye(2),
            "pair": ("a", 1),
        },
    )
    assert built.rate == Fraction(0.1) != Fraction(1, 10)
    assert type(built.width) is int
    assert built.balance == {"1": Fraction(float(np.float32(0.1)))}
    assert built.matrix == build_instance(Fields, {"name": "n", "matrix": [[1, 0], [0, 1]]}).matrix
    with pytest.raises(InputError, match=r"^rate=nan: not a finite number"):
        build_instance(Fields, {"name": "n", "rate": float("nan")})
    with pytest.raises(InputError, match="keys are distinct texts or integers"):
        build_instance(Fields, {"name": "n", "balance": {1: 0, "1": 0}})


def test_array_files_need_a_folder() -> None:
    with pytest.raises(InputError, match=r"^matrix\.file='w\.npz': there is no folder to read it from"):
        build_instance(Fields, {"name": "n", "matrix": {"file": "w.npz", "key": "F"}})


def test_network_fields_hold_names_as_text_and_exact_numbers() -> None:
    given_as = NetworkFields(edges=((0, 1, 0.5), (1, "y", Fraction(1, 2))), outputs=("y",), nodes=(7,))
    assert given_as.edges == (("0", "1", Fraction(1, 2)), ("1", "y", Fraction(1, 2)))
    assert given_as.nodes == ("7",)
    assert given_as.network.rounding is None
    assert given_as.network.balance("1") == 0
    assert hash(given_as) == hash(build_instance(NetworkFields, plain_fields(given_as)))
    with pytest.raises(InputError, match="not distinct as text"):
        NetworkFields(edges=(("x", 1), (1, "y")), balance={1: Fraction(0), "1": Fraction(0)})  # type: ignore[dict-item]


def test_the_network_is_built_once() -> None:
    layered = LayeredFields((2, 3, 1), ((Fraction(1), Fraction(0), Fraction(-1)),), bias=True)
    assert layered.network is layered.network
    assert (layered.network.edge_count, layered.network.balance("h1.2")) == (13, -1)


def test_folders_stand_for_the_instances_below_them(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "empty").mkdir()
    first, second = write(tmp_path, "", "z.toml"), write(tmp_path / "b", "", "a.toml")
    other = write(tmp_path, "", "notes.txt")
    (tmp_path / ".venv").mkdir()
    hidden = write(tmp_path / ".venv", "", "pyproject.toml")
    assert find_instances([hidden.parent]) == [hidden]
    assert find_instances([tmp_path]) == [second, first]
    assert find_instances([other, first, tmp_path]) == [other, first, second]
    with pytest.raises(InputError, match=r"empty: no \*\.toml in this folder"):
        find_instances([tmp_path / "empty"])
    with pytest.raises(InputError, match="nowhere: no such file or folder"):
        find_instances([tmp_path / "nowhere"])
