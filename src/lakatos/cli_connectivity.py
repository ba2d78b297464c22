"""``lakatos connectivity``: whether training can reach every sign of the weights of a network."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .certified import certified
from .cli import BUG, print_bug
from .cli_boundary import print_json, screen
from .core import InputError, Undecided
from .pool import Done, Failed, Lost, run
from .report_connectivity import connectivity_json, print_explanation
from .results import write_atomically

if TYPE_CHECKING:
    from .connectivity_geometry import Finding
    from .graphs.connectivity import Connectivity
    from .graphs.words import Explanation
    from .rescaling_of_networks import Rescaled

__all__ = ["command"]

CONNECTED, DISCONNECTED, EMPTY = 0, 1, 4


@dataclass(frozen=True)
class _Question:
    network: str
    balance: Path | None
    checkpoint: Path | None
    singular: bool = False
    betti: bool = False
    path: tuple[Path, Path] | None = None
    rescale: tuple[str, Path] | None = None
    certificate: bool = False
    picture: str | None = None
    html: bool = False


@dataclass(frozen=True)
class _Answer:
    status: int
    data: dict[str, Any]
    explanation: Explanation
    certificate_file: dict[str, Any] | None
    picture: bytes | None
    page: str | None


def command(
    network: Annotated[
        str,
        typer.Argument(metavar="NETWORK", help="A .json, .graphml, .npz or .onnx file, or package.module:factory."),
    ],
    balance: Annotated[
        Path | None, typer.Option(help="JSON or TOML file: the balance (incoming - outgoing) of every hidden node.")
    ] = None,
    checkpoint: Annotated[Path | None, typer.Option(help="State dict to load into what the factory returns.")] = None,
    singular: Annotated[bool, typer.Option("--singular", help="Also say whether there is a singular point.")] = False,
    betti: Annotated[
        bool, typer.Option("--betti", help="Also compute Betti numbers (at most 10 edges that hang together).")
    ] = False,
    path: Annotated[
        tuple[Path, Path] | None,
        typer.Option(metavar="A B", help="Also join the weights in two files by a path that stays in the set."),
    ] = None,
    rescale: Annotated[
        str | None,
        typer.Option(
            metavar="TARGET",
            help="First rescale the neurons, which keeps the function: to zero balances (balanced), to balances that lock "
            "no sign (unlocked), or to those in a JSON or TOML file. Needs --output.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Where the rescaled weights go: .safetensors, .json or .npz.")
    ] = None,
    certificate: Annotated[Path | None, typer.Option(help="Write the certificate, for `lakatos check`.")] = None,
    picture: Annotated[
        Path | None,
        typer.Option(
            help="Draw the network with its locked weights: .svg, .png or .pdf. Needs matplotlib (extra plot)."
        ),
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write a page for browsers: verdict, remedies, picture, certificate.")
    ] = None,
    time_limit: Annotated[float | None, typer.Option(min=0.001, help="Seconds; then the answer is undecided.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Decide whether the invariant set of a ReLU network is connected, i.e. whether gradient flow can change every sign.

    Gradient flow keeps, for each hidden neuron, the sum of its squared incoming weights minus that of its squared outgoing
    weights: its balance. The answer is exact, and its certificate is checked before it is printed.

    Example: `lakatos connectivity models:build --certificate proof.json; lakatos check proof.json`

    A model that is locked: `lakatos connectivity models:build --rescale unlocked --output free.safetensors`

    Where nothing is decided, standard output stays empty.

    Exit status: 0 connected, 1 disconnected, 2 bad input, 3 undecided, 4 the invariant set is empty, 5 a defect.
    """
    if (rescale is None) != (output is None):
        raise InputError("--rescale TARGET and --output FILE belong together: rescaled weights go to a new file")
    if rescale is not None and balance is not None:
        raise InputError("--balance: replaces the weights, which --rescale changes; give one of the two")
    if picture is not None:
        from .graphs.picture import require_format

        require_format(str(picture))
    question = _Question(
        network,
        balance,
        checkpoint,
        singular,
        betti,
        path,
        None if rescale is None or output is None else (rescale, output),
        certificate is not None,
        None if picture is None else picture.suffix.lower(),
        html is not None,
    )
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
            if picture is not None and answer.picture is not None:
                write_atomically(picture, answer.picture)
            if html is not None and answer.page is not None:
                write_atomically(html, answer.page)
            if as_json:
                print_json(answer.data)
            else:
                print_explanation(screen(), answer.explanation)
            return answer.status


def _answer(question: _Question) -> _Answer:
    from .graphs.connectivity import connectivity
    from .graphs.words import explain
    from .networks import read_network
    from .page_connectivity import LARGEST_EMBEDDED, connectivity_page

    began = time.perf_counter()
    change = None if question.rescale is None else _rescaled(question, *question.rescale)
    network = (
        read_network(question.network, balance=question.balance, checkpoint=question.checkpoint)
        if change is None
        else change.network
    )
    result = connectivity(network)
    embedded = question.html and network.edge_count <= LARGEST_EMBEDDED
    certificate_file = certified(result, write=question.certificate or embedded)
    findings = _findings(question, result)
    status = EMPTY if result.connected is None else CONNECTED if result.connected else DISCONNECTED
    data = connectivity_json(result, time.perf_counter() - began)
    data |= {finding.key: finding.value for finding in findings}
    explanation = explain(result)
    if change is not None:
        data["rescaled"] = change.to_json()
        explanation = replace(explanation, before=(change.sentence, *explanation.before))
    explanation = replace(explanation, after=(*explanation.after, *(finding.sentence for finding in findings)))
    page = None
    if question.html:
        given = certificate_file if embedded else None
        page = connectivity_page(result, explain(result), question.network, findings=findings, certificate_file=given)
    return _Answer(status, data, explanation, certificate_file, _picture(question, result), page)


def _picture(question: _Question, result: Connectivity) -> bytes | None:
    if question.picture is None:
        return None
    from .graphs.picture import picture_bytes

    return picture_bytes(result, question.picture)


def _rescaled(question: _Question, target: str, output: Path) -> Rescaled:
    from .rescaling_of_networks import rescaled

    return rescaled(question.network, target, output, checkpoint=question.checkpoint)


def _findings(question: _Question, result: Connectivity) -> list[Finding]:
    from .connectivity_geometry import betti_finding, path_finding, singular_finding

    findings = []
    if question.singular:
        findings.append(singular_finding(result.network))
    if question.betti:
        findings.append(betti_finding(result.network))
    if question.path is not None:
        findings.append(path_finding(result, question.network, question.path))
    return findings
