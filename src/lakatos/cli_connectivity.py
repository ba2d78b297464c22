"""``lakatos connectivity``: whether training can reach every sign of the weights of a network."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .cli import BUG, print_bug
from .cli_boundary import print_json, screen
from .core import Exact, InputError, InternalError, Undecided
from .pool import Done, Failed, Lost, run
from .report_connectivity import Explanation, connectivity_json, explain, print_explanation
from .results import value_to_json, write_atomically

if TYPE_CHECKING:
    from .graphs.connectivity import Connectivity

__all__ = ["command"]

CONNECTED, DISCONNECTED, EMPTY = 0, 1, 4


@dataclass(frozen=True)
class _Question:
    network: str
    balance: Path | None
    checkpoint: Path | None


@dataclass(frozen=True)
class _Answer:
    status: int
    data: dict[str, Any]
    explanation: Explanation
    certificate_file: dict[str, Any]


def command(
    network: Annotated[
        str, typer.Argument(metavar="NETWORK", help="A .json, .graphml or .npz file, or package.module:factory.")
    ],
    balance: Annotated[
        Path | None, typer.Option(help="JSON or TOML file: the balance (incoming - outgoing) of every hidden node.")
    ] = None,
    checkpoint: Annotated[Path | None, typer.Option(help="State dict to load into what the factory returns.")] = None,
    certificate: Annotated[Path | None, typer.Option(help="Write the certificate, for `lakatos check`.")] = None,
    time_limit: Annotated[float | None, typer.Option(min=0.001, help="Seconds; then the answer is undecided.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Decide whether the invariant set of a ReLU network is connected, i.e. whether gradient flow can change every sign.

    Gradient flow keeps, for each hidden neuron, the sum of its squared incoming weights minus that of its squared outgoing
    weights: its balance. The answer is exact, and its certificate is checked before it is printed.

    Example: `lakatos connectivity models:build --certificate proof.json; lakatos check proof.json`

    Where nothing is decided, standard output stays empty.

    Exit status: 0 connected, 1 disconnected, 2 bad input, 3 undecided, 4 the invariant set is empty, 5 a defect.
    """
    question = _Question(network, balance, checkpoint)
    (ending,) = run(_answer, [question], time_limit=time_limit)
    match ending:
        case Failed(message, is_bad_input, trace):
            if is_bad_input:
                raise InputError(message)
            print_bug(message, trace)
            return BUG
        case Lost(reason, why, _):
            raise Undecided(reason, f"{network}: {why}")
        case Done(answer):
            if certificate is not None:
                write_atomically(certificate, json.dumps(answer.certificate_file, ensure_ascii=False) + "\n")
            if as_json:
                print_json(answer.data)
            else:
                print_explanation(screen(), answer.explanation)
            return answer.status


def _answer(question: _Question) -> _Answer:
    from .graphs.connectivity import connectivity
    from .networks import read_network

    began = time.perf_counter()
    network = read_network(question.network, balance=question.balance, checkpoint=question.checkpoint)
    result = connectivity(network)
    certificate_file = _checked(result)
    status = EMPTY if result.connected is None else CONNECTED if result.connected else DISCONNECTED
    return _Answer(status, connectivity_json(result, time.perf_counter() - began), explain(result), certificate_file)


def _checked(result: Connectivity) -> dict[str, Any]:
    """Return the certificate file, after the independent checker came to the same answer.

    Raises
    ------
    InternalError
        If it did not.
    """
    from .checker import Invalid, check_certificate

    fields, certificate = result.network.to_fields(), result.certificate.to_json()
    claims: dict[str, Exact] = {
        "feasible": result.feasible,
        "connected": result.connected,
        "log2_components": result.log2_components,
        "frozen": result.frozen_edges,
        "regular_frozen": result.regular_frozen_edges,
        "regular_connected": result.regular_connected,
        "regular_log2_components": result.regular_log2_components,
        **{f"minimum[{item.edge}]": item.minimum for item in result.edges},
    }
    try:
        facts = check_certificate(fields, certificate)
    except Invalid as error:
        raise InternalError(f"the certificate is not valid: {error}") from error
    for quantity, value in claims.items():
        if facts.get(quantity, _ABSENT) != value:
            raise InternalError(f"{quantity}={value!r}, but the certificate establishes {facts.get(quantity)!r}")
    return {
        "schema": "lakatos/certificate/1",
        "network": fields,
        "certificate": certificate,
        "claims": {quantity: value_to_json(value) for quantity, value in claims.items()},
    }


_ABSENT = object()
