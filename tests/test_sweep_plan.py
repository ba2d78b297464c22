"""Which cells a description makes, their keys, seeds and batches; what is wrong with a description."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
import sweep_fakes
from hypothesis import given
from hypothesis import strategies as st

from lakatos.core import InputError
from lakatos.sweep_build import build_plan
from lakatos.sweep_plan import Cell, Plan
from lakatos.sweep_spec import Spec, axis_values, parsed_spec


@pytest.fixture(autouse=True, scope="module")
def plug_in(tmp_path_factory: pytest.TempPathFactory) -> object:
    with pytest.MonkeyPatch.context() as patch:
        for place in sweep_fakes.install(tmp_path_factory.mktemp("plug_in")):
            patch.syspath_prepend(place)
        yield


def plan(text: str, path: Path = Path("sweep.toml")) -> Plan:
    return build_plan(parsed_spec(text, path), path)


def keys(text: str) -> list[str]:
    return [cell.key for cell in plan(text).cells()]


GRID = 'experiment = "fake"\nseeds = 3\n[grid]\nk = [1, 2]\nx = [0.1, 0.2, 0.3]\n'


def test_cells_are_the_product_and_keys_are_distinct() -> None:
    made = plan(GRID)
    cells = list(made.cells())
    assert made.cell_count == len(cells) == len({cell.key for cell in cells}) == 18
    columns = [made.columns(cell) for cell in cells]
    found = {(row["k"], row["x"], row["replicate"]) for row in columns}
    assert found == set(itertools.product((1, 2), (0.1, 0.2, 0.3), range(3)))
    assert columns[0].keys() == {"x", "k", "behavior", "seconds", "replicate", "seed", "device"}


@pytest.mark.parametrize(
    "same",
    [
        'experiment = "fake"\nseeds = 3\n[grid]\nx = [0.10, "2/10", 3e-1]\nk = [1, 2]\n',
        'experiment = "fake"\nseeds = 3\n[settings]\nbehavior = "fine"\nseconds = 0\n[grid]\n'
        "x = [0.3, 0.2, 0.1]\nk = [2, 1]\n",
        'experiment = "fake"\nseeds = 3\ntitle = "other"\nbatch = 2\n[grid]\n'
        "k = [1, 2]\nx = { start = 0.1, stop = 0.3, count = 3 }\n",
        'experiment = "fake"\nseeds = 3\ncases = [{ k = 1, x = 0.1 }, { k = 1, x = 0.2 }, { k = 1, x = 0.3 },'
        " { k = 2, x = 0.1 }, { k = 2, x = 0.2 }, { k = 2, x = 0.3 }]\n",
    ],
)
def test_keys_tell_what_is_computed_not_how_it_is_written(same: str) -> None:
    assert sorted(keys(same)) == sorted(keys(GRID))


def test_a_larger_grid_keeps_the_cells_of_a_smaller_one() -> None:
    larger = GRID.replace("[1, 2]", "[1, 2, 5]").replace("seeds = 3", "seeds = 4")
    assert set(keys(GRID)) < set(keys(larger))
    moved = 'experiment = "fake"\nseeds = 3\n[settings]\nk = 2\n[grid]\nx = [0.1]\n'
    assert set(keys(moved)) < set(keys(GRID))


@pytest.mark.parametrize(
    "change",
    [
        ("seeds = 3", "seeds = 3\nseed = 1"),
        ("seeds = 3", "seeds = 3\npaired = true"),
        ("seeds = 3", "seeds = [0, 1, 2]"),
        ('"fake"', '"fake_alone"'),
        ("seeds = 3", 'seeds = 3\ndevice = "cuda"'),
        ("[grid]", "[settings]\nseconds = 1\n[grid]"),
    ],
)
def test_keys_differ_where_results_may(change: tuple[str, str]) -> None:
    assert not set(keys(GRID)) & set(keys(GRID.replace(*change)))


def test_keys_depend_on_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    before = keys(GRID)
    monkeypatch.setattr("lakatos.sweep_build.code_of", lambda kind, name: "another version")
    assert not set(keys(GRID)) & set(before)


def test_seeds_are_spawned_from_that_of_the_sweep() -> None:
    made = plan(GRID)
    seeds = [made.seed_of(cell) for cell in made.cells()]
    assert len(set(seeds)) == 18
    assert all(0 <= seed < 2**63 for seed in seeds)
    cell = next(iter(made.cells()))
    words = [int.from_bytes(cell.settings[i : i + 4], "little") for i in range(0, 16, 4)]
    (state,) = np.random.SeedSequence(0, spawn_key=(*words, 0)).generate_state(1, np.uint64)
    assert seeds[0] == int(state) // 2


def test_paired_settings_share_their_seeds_and_given_seeds_are_used() -> None:
    paired = plan(GRID.replace("seeds = 3", "seeds = 3\npaired = true"))
    seeds = {(cell.replicate, paired.seed_of(cell)) for cell in paired.cells()}
    assert len(seeds) == 3
    expected = [int(np.random.SeedSequence(0).spawn(3)[i].generate_state(1, np.uint64)[0]) >> 1 for i in range(3)]
    assert [seed for _, seed in sorted(seeds)] == expected
    given_seeds = plan(GRID.replace("seeds = 3", "seeds = [7, 5]"))
    assert [given_seeds.seed_of(cell) for cell in given_seeds.cells()][:2] == [7, 5]
    assert set(keys(GRID.replace("seeds = 3", "seeds = [5, 7]"))) == {cell.key for cell in given_seeds.cells()}
    assert not set(keys(GRID.replace("seeds = 3", "seeds = [0, 1]"))) & {cell.key for cell in given_seeds.cells()}


def test_devices_and_versions_of_the_code_have_the_same_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    made = plan(GRID.replace("seeds = 3", 'seeds = 3\ndevice = ["cpu", "cuda:1"]'))
    by_device = {device: [made.seed_of(c) for c in made.cells() if c.device == device] for device in made.devices}
    assert by_device["cpu"] == by_device["cuda:1"]
    monkeypatch.setattr("lakatos.sweep_build.code_of", lambda kind, name: "another version")
    other = plan(GRID)
    assert [other.seed_of(cell) for cell in other.cells()] == by_device["cpu"]


@given(
    st.integers(1, 9),
    st.integers(1, 3),
    st.integers(1, 4),
    st.integers(1, 12),
    st.booleans(),
    st.sampled_from([["cpu"], ["cpu", "cuda"]]),
)
def test_batches_hold_every_cell_once_and_only_cells_that_fit_together(
    seeds: int, ks: int, xs: int, size: int, x_first: bool, devices: list[str]
) -> None:
    grid = {"k": list(range(ks)), "x": list(range(xs))}
    if x_first:
        grid = dict(reversed(grid.items()))
    made = build_plan(
        Spec(experiment="fake", seeds=seeds, batch=size, grid=grid, device=tuple(devices)), Path("sweep.toml")
    )
    batches = list(made.batches())
    flat = [cell for batch in batches for cell in batch]
    assert flat == list(made.cells())
    assert len({cell.key for cell in flat}) == seeds * ks * xs * len(devices)

    def shape(cell: Cell) -> tuple[object, ...]:
        return made.columns(cell)["k"], cell.device

    for batch in batches:
        assert 1 <= len(batch) <= size
        assert len({shape(cell) for cell in batch}) == 1
    # As few batches as possible: cells of one shape fill all but one.
    assert len(batches) == ks * len(devices) * -(-seeds * xs // size)


def test_experiments_that_take_cells_one_by_one_have_no_larger_batches() -> None:
    made = plan(GRID.replace('"fake"', '"fake_alone"').replace("seeds = 3", "seeds = 3\nbatch = 9"))
    assert {len(batch) for batch in made.batches()} == {1}


def test_jobs_carry_settings_that_build() -> None:
    made = plan('experiment = "fake"\ncases = [{ x = 0.1, k = 3 }, { x = "1/3", k = 4 }]\n')
    (batch, other) = made.batches()
    job = made.job(batch)
    assert job.fields == ({"x": job.fields[0]["x"], "k": 3, "behavior": "fine", "seconds": "0"},)
    assert made.columns(other[0])["x"] == 1 / 3
    assert made.columns(batch[0])["x"] == 0.1


THEOREM = """theorem = "invariant_set_nonempty_iff_closed_sums_have_sign"
[instance]
edges = [["x", "h"], ["h", "y"]]
balance = { h = 0 }
"""


def test_fields_within_tables_and_lists_of_an_instance() -> None:
    made = plan(THEOREM + '[grid]\n"balance.h" = [-1, "1/2"]\n"edges.1.0" = ["h"]\n')
    columns = [made.columns(cell) for cell in made.cells()]
    assert [(row["balance.h"], row["edges.1.0"]) for row in columns] == [(-1.0, "h"), (0.5, "h")]
    job = made.job([*made.cells()][:1])
    assert job.fields[0]["balance"] == {"h": "-1"}


def test_instance_files_are_subjects(tmp_path: Path) -> None:
    (tmp_path / "instances").mkdir()
    for name, balance in (("one", 1), ("two", -1)):
        text = THEOREM.replace("[instance]", 'expect = "proved"\n[instance]').replace("h = 0", f"h = {balance}")
        (tmp_path / "instances" / f"{name}.toml").write_text(text)
    path = tmp_path / "sweep.toml"
    made = plan('instances = ["instances"]\nseeds = 2\n', path)
    assert [made.columns(cell)["instance"] for cell in made.cells()] == ["one.toml"] * 2 + ["two.toml"] * 2
    assert made.job([*made.cells()][:1]).expect == "proved"
    varied = plan('instances = ["instances/one.toml"]\n[grid]\n"balance.h" = [1, 2]\n', path)
    assert {varied.job([cell]).expect for cell in varied.cells()} == {None}


BAD = [
    ("seeds = 3", "experiment, theorem, instances: one of them"),
    ('experiment = "fake"\ntheorem = "x"', "not experiment and theorem"),
    ('experiment = "fakes"', "experiment='fakes': no such experiment; there are toy_obstruction"),
    ('theorem = "no"', "theorem='no': no such theorem"),
    ('experiment = "fake"\nseeds = 0', "seeds=0"),
    ('experiment = "fake"\nseeds = [1, 1]', r"seeds=\(1, 1\)"),
    ('experiment = "fake"\nseed = -1', "between 0 and 2"),
    ('experiment = "fake"\nbatch = 0', "batch=0"),
    ('experiment = "fake"\nsede = 1', "sede: unknown; did you mean 'seed'"),
    ('experiment = "fake"\ndevice = "gpu"', "device='gpu': unknown; choose 'cpu', 'cuda'"),
    ('experiment = "fake"\n[settings]\ny = 1', "settings.y: unknown|settings.'y': unknown"),
    ('experiment = "fake"\n[settings]\nk = 0.5', "settings.k=0.5: an integer is needed"),
    ('experiment = "fake"\n[settings]\nx = "a"', "settings.x='a': not a finite number"),
    ('experiment = "fake"\n[grid]\nz = [1]', "grid.'z': unknown"),
    ('experiment = "fake"\n[grid]\nk = [1, "a"]', "grid.k='a': an integer is needed"),
    ('experiment = "fake"\n[grid]\nk = []', r"grid.k=\[\]: a list of values"),
    ('experiment = "fake"\n[grid]\nk = 3', "grid.k=3: a list of values"),
    ('experiment = "fake"\n[grid]\nk = [1, 1]', "is given twice"),
    ('experiment = "fake"\n[grid]\nk = { start = 1, stop = 2 }', "grid.k.count: missing"),
    (
        'experiment = "fake"\n[grid]\nx = { start = 0, stop = 2, count = 3, scale = "log" }',
        "positive ones for a logarithmic",
    ),
    ('experiment = "fake"\n[grid]\n"x.y" = [1]', "grid.x.y: 'y' is neither a key"),
    ('experiment = "fake"\ncases = [{ x = 1 }]\n[grid]\nx = [2]', "two axes give this field"),
    ('experiment = "fake"\ncases = [{ x = 1 }, { k = 1 }]', "every case has to give the same fields"),
    ('experiment = "fake"\n[grid]\nk = [-1, -2]', "none of the settings is valid: k=-1: not negative"),
    ('experiment = "fake"\n[instance]\nx = 1', "instance: needs theorem"),
    ('experiment = "fake"\n[[plots]]\nkind = "phase"\nx = "x"\ny = "k"', "value: missing"),
    ('experiment = "fake"\n[[plots]]\nkind = "slope"\nx = "x"\ny = "k"\noutput = "../a.svg"', "without folders"),
    ('instances = ["nowhere"]', "no such file or folder"),
    ("experiment = ", "not TOML"),
    (THEOREM.replace("edges", "egdes"), "instance.'egdes': unknown; did you mean 'edges'"),
]


@pytest.mark.parametrize(("text", "message"), BAD)
def test_bad_descriptions_are_named(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message) as caught:
        plan(text, tmp_path / "sweep.toml")
    assert str(caught.value).startswith(f"{tmp_path / 'sweep.toml'}: ")


def test_ranges() -> None:
    assert axis_values("x", {"start": "0.001", "stop": "0.1", "count": 3, "scale": "log"})[1] * 100 == 1
    assert axis_values("k", {"start": 8, "stop": 2, "count": 4}) == [8, 6, 4, 2]
    ends = axis_values("x", {"start": "1/3", "stop": "1/7", "count": 5, "scale": "log"})
    assert (str(ends[0]), str(ends[-1]), len(ends)) == ("1/3", "1/7", 5)
