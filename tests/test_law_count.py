"""Numbers of laws against expected values, with certificates that the checker accepts."""

from __future__ import annotations

from typing import Any

import golden_laws as golden
import pytest
import sympy

from lakatos._checker_laws import PRIME, broken_by, components
from lakatos._checker_polynomials import along, gradient, value_and_gradient
from lakatos._checker_text import read_polynomial
from lakatos.checker import check_certificate
from lakatos.core import InputError
from lakatos.instance import build_instance
from lakatos.theorems import load
from lakatos.theory.law_count import LawCount, law_count
from lakatos.theory.lie_rank import lie_rank
from lakatos.theory.model_fields import GroupFields, ModelFields


def checked(**fields: Any) -> tuple[LawCount, dict[str, Any]]:
    """A count and what the checker makes of its certificate."""
    count = law_count(fields)
    facts = check_certificate(fields, count.certificate.to_json())
    assert facts["laws_at_most"] == count.main.at_most
    assert facts["laws_at_least"] == count.main.at_least
    return count, facts


@pytest.mark.parametrize("sizes", golden.LINEAR, ids=str)
def test_linear_nets(sizes: tuple[int, ...]) -> None:
    count, facts = checked(architecture="linear", sizes=sizes)
    assert (facts["parameters"], facts["laws"], count.plain.trace) == golden.LINEAR[sizes]


@pytest.mark.parametrize("sizes", golden.DEEP_LINEAR, ids=str)
def test_deep_linear_nets(sizes: tuple[int, ...]) -> None:
    _, facts = checked(architecture="linear", sizes=sizes)
    assert (facts["parameters"], facts["laws"]) == golden.DEEP_LINEAR[sizes]


SMALL_RELU = {case: value for case, value in golden.RELU.items() if value[0] < 130}


@pytest.mark.parametrize(("sizes", "bias"), SMALL_RELU, ids=str)
def test_relu_nets(sizes: tuple[int, ...], bias: bool) -> None:
    count, facts = checked(architecture="relu", sizes=sizes, bias=bias)
    assert (facts["parameters"], facts["laws"]) == SMALL_RELU[sizes, bias]
    assert count.plain.trace == facts["laws"]


@pytest.mark.slow
@pytest.mark.parametrize(("sizes", "bias"), golden.RELU.keys() - SMALL_RELU.keys(), ids=str)
def test_large_relu_nets(sizes: tuple[int, ...], bias: bool) -> None:
    count, facts = checked(architecture="relu", sizes=sizes, bias=bias)
    assert (facts["parameters"], facts["laws"]) == golden.RELU[sizes, bias]
    assert count.plain.trace == facts["laws"]


@pytest.mark.parametrize(("architecture", "sizes"), golden.OTHERS, ids=str)
def test_other_architectures(architecture: str, sizes: tuple[int, ...]) -> None:
    count, facts = checked(architecture=architecture, sizes=sizes)
    assert (facts["parameters"], count.plain.trace, facts["laws"]) == golden.OTHERS[architecture, sizes]


@pytest.mark.parametrize("sizes", golden.LOGITS, ids=str)
def test_linear_nets_on_logits(sizes: tuple[int, ...]) -> None:
    count, facts = checked(architecture="linear", sizes=sizes, loss="logits")
    assert (facts["parameters"], count.plain.trace, facts["laws"]) == golden.LOGITS[sizes]


@pytest.mark.parametrize("sizes", golden.MOMENTUM, ids=str)
def test_momentum(sizes: tuple[int, ...]) -> None:
    _, flow = checked(architecture="linear", sizes=sizes)
    _, facts = checked(architecture="linear", sizes=sizes, dynamics="momentum")
    assert (flow["laws"], facts["laws"]) == golden.MOMENTUM[sizes]


@pytest.mark.slow
@pytest.mark.parametrize("sizes", golden.MOMENTUM_SLOW, ids=str)
def test_momentum_with_deep_brackets(sizes: tuple[int, ...]) -> None:
    _, facts = checked(architecture="linear", sizes=sizes, dynamics="momentum")
    assert (law_count({"architecture": "linear", "sizes": sizes}).plain.count, facts["laws"]) == golden.MOMENTUM_SLOW[
        sizes
    ]


@pytest.mark.parametrize(("sizes", "bias"), [((2, 2, 2), False), ((1, 1, 1), False), ((2, 3, 1), False)], ids=str)
def test_momentum_leaves_relu_nothing(sizes: tuple[int, ...], bias: bool) -> None:
    count, facts = checked(architecture="relu", sizes=sizes, bias=bias, dynamics="momentum")
    assert count.plain.at_most == facts["laws"] == 0


@pytest.mark.parametrize("sizes", golden.MIRROR, ids=str)
def test_mirror_flow(sizes: tuple[int, ...]) -> None:
    _, facts = checked(architecture="linear", sizes=sizes, dynamics="mirror")
    assert facts["laws"] == golden.MIRROR[sizes]


def test_polynomials_of_the_user() -> None:
    _, facts = checked(parameters=["u", "v", "s", "t"], potentials=["u*v + s*t + u*v*s*t"])
    assert facts["laws"] == 3


def test_a_single_cubic_field_has_local_laws_but_no_polynomial_ones() -> None:
    """Three quarters of its laws cannot be written as polynomials; a search must not claim otherwise."""
    fields = {
        "parameters": ["a", "b", "c", "d", "e"],
        "potentials": ["3*a^4 - a^2*b*c + 7*b^3*d - 2*c^4 + d^2*e^2 + 5*a*b*c*e - e^4 + 11*a*d^3 - 4*b^2*c^2"],
    }
    count = law_count(fields, degree=4)
    assert count.plain.count == 4
    assert count.plain.laws == ()


@pytest.mark.parametrize(("architecture", "sizes", "group", "output_map", "plain", "laws"), golden.AVERAGED, ids=str)
def test_averaged_squared_loss(
    architecture: str, sizes: tuple[int, ...], group: dict[str, Any], output_map: bool, plain: int, laws: int
) -> None:
    _, facts = checked(architecture=architecture, sizes=sizes, group=group, output_map=output_map)
    assert (facts["plain_laws"], facts["laws"], facts["new_laws"]) == (plain, laws, laws - plain)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("architecture", "sizes", "group", "output_map", "plain", "laws"), golden.AVERAGED_SLOW, ids=str
)
def test_large_averages(
    architecture: str, sizes: tuple[int, ...], group: dict[str, Any], output_map: bool, plain: int, laws: int
) -> None:
    _, facts = checked(architecture=architecture, sizes=sizes, group=group, output_map=output_map)
    assert (facts["plain_laws"], facts["laws"]) == (plain, laws)


@pytest.mark.parametrize(("q", "inputs", "group", "laws"), golden.LINEAR_MODEL, ids=str)
def test_linear_model(q: int, inputs: int, group: dict[str, Any], laws: int) -> None:
    _, facts = checked(architecture="linear", sizes=(q, inputs), group=group)
    assert facts["laws"] == laws
    theorem = load("linear_model_law_count")
    model = {"architecture": "linear", "sizes": [q, inputs], "group": group}
    formula = theorem.predict(build_instance(theorem.instance_class, model)).claims[0]
    assert (formula.quantity, formula.value) == ("laws", laws)


@pytest.mark.slow
def test_a_net_of_three_hundred_weights() -> None:
    _, facts = checked(architecture="linear", sizes=(10, 10, 10, 10))
    assert (facts["parameters"], facts["laws"]) == (300, 110)


@pytest.mark.parametrize("sizes", [(5, 3, 2), (5, 5, 4, 4, 5), (2, 5, 4, 3), (3, 2, 5, 3, 3), (2, 1, 3)], ids=str)
def test_brackets_of_two_fields_suffice_but_once(sizes: tuple[int, ...]) -> None:
    words = law_count({"architecture": "linear", "sizes": sizes}).plain.lie.brackets
    assert max(map(len, words), default=1) == {(2, 5, 4, 3): 3, (2, 1, 3): 1}.get(sizes, 2)


def test_brackets_make_up_for_a_smaller_span() -> None:
    count = law_count({"architecture": "linear", "sizes": (1, 6), "group": {"name": "C3", "copies": 2}})
    assert count.averaged is not None
    assert (count.plain.lie.span_rank, count.averaged.lie.span_rank, count.averaged.lie.rank) == (6, 5, 6)


def test_values_on_one_orbit_under_two_losses() -> None:
    """θ_i = f(x_i), labels ±1 for all three: fields θ − 1 and θ + 1 keep a ratio; those of the logistic loss nothing.

    In s = σ(θ), ds = s(1 − s)dθ, these are (s − 1) and s; with their bracket −s(1 − s) they have determinant −1/32 at
    s = (1/4, 1/2, 3/4).
    """
    names = ["a", "b", "c"]
    squared = [{i: read_polynomial(f"{name} {sign} 1", names) for i, name in enumerate(names)} for sign in "+-"]
    law = (read_polynomial("a - b", names), read_polynomial("b - c", names))
    found = lie_rank(squared, 3)
    assert (found.span_rank, found.rank, broken_by(law, squared, components(squared))) == (2, 2, None)
    logistic = [
        {i: read_polynomial(f"{name}*(1 - {name})*({name} - {shift})", names) for i, name in enumerate(names)}
        for shift in (0, 1)
    ]
    found = lie_rank(logistic, 3)
    assert (found.span_rank, found.rank) == (2, 3)
    s = [sympy.Rational(i, 4) for i in (1, 2, 3)]
    assert sympy.Matrix([[x - 1 for x in s], s, [-x * (1 - x) for x in s]]).det() == sympy.Rational(-1, 32)


@pytest.mark.parametrize(
    ("names", "output", "law", "point", "rate"),
    [
        ("u v", "u*v", "u^2 + v^2", (1, 2), 8),
        # Two ReLU units at x = 1, the second of which is off.
        ("u w v t", "u*v", "u*w - v*t", (1, 1, 1, -1), 2),
        ("u v b", "u*(v + b)", "u^2 - v^2", (1, 1, 1), 2),
        ("q r k l", "q*l", "q^2 - k^2", (1, 0, 0, 1), 2),
    ],
)
def test_laws_that_are_none_move_at_a_known_rate(names: str, output: str, law: str, point: Any, rate: int) -> None:
    """⟨∇h, ∇f⟩: a wrong sign, an off-diagonal balance of ReLU units, a forgotten bias, a wrong transpose."""
    f, h = (read_polynomial(text, names.split()) for text in (output, law))
    assert value_and_gradient(along(gradient(f), h), point, PRIME)[0] == rate


def test_generators_given_as_matrices_mean_the_same_as_a_name() -> None:
    shift = [["0", "0", "1"], ["1", "0", "0"], ["0", "1", "0"]]
    _, by_name = checked(architecture="linear", sizes=(2, 3), group={"name": "C3"})
    count = law_count({"architecture": "linear", "sizes": (2, 3), "group": {"inputs": [shift]}})
    assert count.averaged is not None
    assert count.averaged.at_most == by_name["laws"]


def test_the_rank_does_not_depend_on_the_point() -> None:
    fields = {"architecture": "linear", "sizes": (2, 5, 4, 3)}
    assert {law_count(fields, seed=seed).plain.count for seed in range(3)} == {25}


def test_laws_are_written_in_the_names_of_the_parameters() -> None:
    assert law_count({"architecture": "linear", "sizes": (1, 1, 1)}).plain.formulas() == ["W1[0,0]^2 - W2[0,0]^2"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"architecture": "perceptron", "sizes": [1, 2]}, "choose one of"),
        ({"architecture": "linear", "sizes": [2, 0]}, "positive integers"),
        ({"architecture": "linear", "sizes": [900, 900]}, "at most"),
        ({"architecture": "attention", "sizes": [3, 2, 2]}, "shared by 2 heads"),
        ({"architecture": "linear", "sizes": [1, 2], "bias": True}, "only relu"),
        ({"architecture": "linear", "sizes": [1, 4], "group": {"name": "C3"}}, "dimensions 3 and 1"),
        ({"architecture": "linear", "sizes": [1, 3], "group": {"name": "D3"}}, "known are"),
        (
            {"architecture": "linear", "sizes": [1, 2], "group": {"inputs": [[["1", "1"], ["0", "1"]]]}},
            "not orthogonal",
        ),
        (
            {"architecture": "linear", "sizes": [1, 2], "group": {"inputs": [[["3/5", "-4/5"], ["4/5", "3/5"]]]}},
            "no finite group",
        ),
        ({"architecture": "relu", "sizes": [1, 2, 3], "group": {"name": "C3"}}, "averages are known"),
        ({"parameters": ["u", "u"], "potentials": ["u"]}, "distinct names"),
        ({"parameters": ["u"], "potentials": ["u*v"]}, "a parameter"),
        ({"architecture": "linear", "sizes": [1, 2], "dynamics": "langevin"}, "flow, momentum or mirror"),
    ],
    ids=str,
)
def test_bad_models_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        law_count(fields)


def test_a_group_needs_a_name_or_generators() -> None:
    with pytest.raises(InputError, match="either the name"):
        GroupFields()


def test_fields_without_defaults_are_left_out() -> None:
    assert ModelFields(architecture="linear", sizes=(1, 2), group=GroupFields(name="C2")).plain["group"]["name"] == "C2"


def test_a_search_that_is_too_large_says_how_large() -> None:
    with pytest.raises(InputError, match="MB"):
        law_count({"parameters": [f"x{i}" for i in range(60)], "potentials": ["x0*x1", "x2*x3"]}, degree=4)
