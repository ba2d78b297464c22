"""The pytest plug-in: what it collects, what it says, and that it costs nothing where it is not used."""

from __future__ import annotations

import sys
from pathlib import Path

import cli_fakes
import pytest

from lakatos.core import Measurement

pytest_plugins = ["pytester"]

CHAIN = """
theorem = "invariant_set_connected_iff_no_weight_frozen"
title = "a chain"
[instance]
edges = [["x", "v"], ["v", "y"]]
balance = { v = 1 }
"""
WRONG = CHAIN.replace("[instance]", 'expect = "inapplicable"\n[instance]')
VARIANT = CHAIN.replace("[instance]", 'variant = "free_if_it_can_vary"\n[instance]')


@pytest.fixture
def instances(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder beside a test module, with a theorem that ends in whatever its instance says."""
    cli_fakes.register(monkeypatch)
    pytester.makepyfile(test_own="def test_own(): pass")
    return pytester.mkdir("instances")


def test_one_test_for_each_instance_beside_those_of_python(pytester: pytest.Pytester, instances: Path) -> None:
    cli_fakes.write(instances, "a", "proved")
    cli_fakes.write(instances, "b", "supported")
    cli_fakes.write(instances, "c", "refuted", expect="refuted")
    run = pytester.runpytest_inprocess("-v", "--strict-markers", "--lakatos", "instances")
    run.assert_outcomes(passed=4)
    run.stdout.fnmatch_lines(["instances/a.toml::verdict PASSED*", "instances/b.toml::verdict PASSED*"])


@pytest.mark.parametrize(
    ("ending", "expect", "lines"),
    [
        (
            "refuted",
            {},
            [
                "*zero = 0 is predicted within 0.5, but 7 ± 0.25 is measured",
                "theorem: zero_is_zero",
                "claim zero:",
                "    predicted = 0, within 0.5",
                "    measured  7 ± 0.25",
            ],
        ),
        ("inapplicable", {}, ["hypothesis not met: it applies (by looking at the ending)"]),
        ("inconclusive", {}, ["*sampling: more samples are needed"]),
        ("proved", {"expect": "refuted"}, ["*expected refuted, found proved"]),
        ("prove", {}, ["*a.toml: instance.ending='prove': one of *"]),
        ("bug", {}, ["*KeyError: 'a bug'"]),
    ],
)
def test_failures_say_what_was_claimed_predicted_and_measured(
    pytester: pytest.Pytester, instances: Path, ending: str, expect: dict[str, str], lines: list[str]
) -> None:
    cli_fakes.write(instances, "a", ending, **expect)
    run = pytester.runpytest_inprocess("--lakatos", "instances")
    run.assert_outcomes(passed=1, failed=1)
    run.stdout.fnmatch_lines(lines)
    if ending != "bug":
        run.stdout.no_fnmatch_line("*Traceback*")
        run.stdout.no_fnmatch_line("*runtest*")


def test_a_false_variant_is_named(pytester: pytest.Pytester) -> None:
    pytester.mkdir("instances").joinpath("a.toml").write_text(VARIANT)
    run = pytester.runpytest_inprocess("--lakatos", "instances")
    run.assert_outcomes(failed=1)
    run.stdout.fnmatch_lines(["false variant: free_if_it_can_vary", "claim frozen:", "    predicted = ()"])


def test_nothing_is_collected_unasked(pytester: pytest.Pytester, instances: Path) -> None:
    cli_fakes.write(instances, "a", "proved")
    pytester.runpytest_inprocess(".").assert_outcomes(passed=1)
    assert pytester.runpytest_inprocess("instances/a.toml").ret != pytest.ExitCode.OK


def test_only_what_is_below_the_folder_is_collected_and_once(pytester: pytest.Pytester, instances: Path) -> None:
    cli_fakes.write(instances, "a", "proved")
    cli_fakes.write(pytester.mkdir("others"), "b", "refuted")
    pytester.runpytest_inprocess(".", "--lakatos", "instances").assert_outcomes(passed=2)
    pytester.runpytest_inprocess("test_own.py", "--lakatos", "instances/a.toml").assert_outcomes(passed=2)


def test_the_marker_selects(pytester: pytest.Pytester, instances: Path) -> None:
    cli_fakes.write(instances, "a", "proved")
    options = ("--lakatos", "instances")
    pytester.runpytest_inprocess(*options, "-m", "lakatos").assert_outcomes(passed=1, deselected=1)
    pytester.runpytest_inprocess(*options, "-m", "not lakatos").assert_outcomes(passed=1, deselected=1)
    pytester.runpytest_inprocess("--markers").stdout.fnmatch_lines(["@pytest.mark.lakatos: a test that verifies *"])


def test_folders_from_the_configuration(pytester: pytest.Pytester, instances: Path) -> None:
    cli_fakes.write(instances, "a", "proved")
    pytester.makeini("[pytest]\nlakatos_instances = instances\n")
    pytester.runpytest_inprocess("test_own.py").assert_outcomes(passed=2)


def test_a_missing_folder_is_named(pytester: pytest.Pytester) -> None:
    run = pytester.runpytest_inprocess("--lakatos", "instnaces")
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines(["*--lakatos *instnaces: no such file or folder*"])


def test_the_seed_replaces_that_of_the_file(
    pytester: pytest.Pytester, instances: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds = []

    def measure(instance: cli_fakes.Instance, seed: int, device: str) -> Measurement:
        seeds.append(seed)
        return cli_fakes.measure(instance, seed, device)

    monkeypatch.setattr(sys.modules[f"lakatos.theorems.{cli_fakes.NAME}"], "measure", measure)
    cli_fakes.write(instances, "a", "proved", seed=3)
    pytester.runpytest_inprocess("--lakatos", "instances").assert_outcomes(passed=2)
    pytester.runpytest_inprocess("--lakatos", "instances", "--lakatos-seed", "5").assert_outcomes(passed=2)
    assert seeds == [3, 5]


def test_outcomes_are_in_the_junit_file(pytester: pytest.Pytester, instances: Path) -> None:
    cli_fakes.write(instances, "a", "supported")
    pytester.runpytest_inprocess("--lakatos", "instances", "--junit-xml", "out.xml")
    text = (pytester.path / "out.xml").read_text()
    assert '<property name="outcome" value="supported"' in text
    assert '<property name="evidence" value="interval"' in text


def test_workers_of_xdist_share_the_instances(pytester: pytest.Pytester) -> None:
    folder = pytester.mkdir("instances")
    for name, content in {"a": CHAIN, "b": CHAIN, "wrong": WRONG}.items():
        folder.joinpath(f"{name}.toml").write_text(content)
    run = pytester.runpytest_subprocess("-n", "2", "--lakatos", "instances", timeout=120)
    run.assert_outcomes(passed=2, failed=1)
    run.stdout.fnmatch_lines(["*a chain: expected inapplicable, found proved"])


def test_pytest_starts_without_what_verification_needs(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "import sys\n"
        "def test_what_is_loaded():\n"
        "    assert 'lakatos.pytest_plugin' in sys.modules\n"
        "    assert not {'torch', 'sympy', 'scipy', 'numpy', 'lakatos.verification'} & sys.modules.keys()\n"
    )
    pytester.runpytest_subprocess("-p", "no:hypothesispytest", timeout=120).assert_outcomes(passed=1)
