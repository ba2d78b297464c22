"""``lakatos connectivity --html``: what was decided about a network, for the one who trains it, as a page for browsers."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

from .core import InputError, Undecided
from .html_page import download, figure, inline_svg, page
from .markup import (
    Html,
    element,
    heading,
    identifier,
    join,
    math,
    number,
    operator,
    row,
    squared,
    sub,
    table,
)

if TYPE_CHECKING:
    from .connectivity_geometry import Finding
    from .graphs.connectivity import Connectivity, EdgeMinimum
    from .graphs.words import Explanation

__all__ = ["LARGEST_EMBEDDED", "connectivity_page"]

LARGEST_EMBEDDED = 20_000
"""Weights, up to which the certificate is part of the page."""
_LARGEST_TRIED = 2_000  # weights, up to which the remedies are tried
_ROWS_SHOWN = 1_000
_NAMES_SHOWN = 8


def connectivity_page(
    result: Connectivity,
    explanation: Explanation,
    source: str,
    *,
    findings: Sequence[Finding] = (),
    certificate_file: Mapping[str, Any] | None = None,
) -> str:
    """Return the page about `result`, whose network was read from `source`.

    Parameters
    ----------
    explanation : Explanation
        As printed on a terminal.
    findings : sequence of Finding
        What was asked for beyond connectedness.
    certificate_file : mapping, optional
        Becomes a download.
    """
    parts = [
        *_verdict(result, explanation, source),
        *(element("p", finding.sentence) for finding in findings),
        *_meaning(result),
        *_picture(result),
        *_remedies(result, source),
        *_locked(result),
        *_layers(result),
        *_grounds(result, certificate_file),
    ]
    return page(f"lakatos: connectivity of {source}", parts)


def _verdict(result: Connectivity, explanation: Explanation, source: str) -> Iterator[Html]:
    if not result.feasible:
        kind, word = "empty", "Empty"
    elif result.connected and not result.regular_frozen_edges:
        kind, word = "connected", "Connected"
    else:
        kind, word = "disconnected", "Connected, but not to gradient flow" if result.connected else "Disconnected"
    yield heading(1, join(["Is training obstructed? ", element("code", source)]))
    yield element("p", word, class_=f"verdict {kind}")
    yield from (element("p", _prose(line)) for line in (explanation.verdict, *explanation.before))


def _prose(line: str) -> Html:
    """Return a line of the terminal as one reads it in print."""
    return Html(re.sub(r"2\^(\d+)", r"2<sup>\1</sup>", escape(line)).replace("&gt;=", "≥"))


def _meaning(result: Connectivity) -> Iterator[Html]:
    yield heading(2, "What it means for training")
    w, c, e = identifier("w"), sub(identifier("c"), identifier("v")), identifier("e")
    total = element("munder", join([operator("∑"), row(e, operator("→"), identifier("v"))]))
    away = element("munder", join([operator("∑"), row(identifier("v"), operator("→"), e)]))
    law = math(c, operator("="), total, squared(w, e), operator("−"), away, squared(w, e), block=True)
    yield element(
        "p",
        "At every hidden neuron v, gradient flow keeps the squared incoming minus the squared outgoing weights, its balance:",
    )
    yield element("div", law, class_="scroll", tabindex=0, role="region", aria_label="law of balance")
    locked = [item for item in result.edges if item.witness is not None]
    if not result.feasible:
        yield element(
            "p", "No weights at all have these balances, so nothing can be trained from them. Check the balances."
        )
    elif not locked:
        yield element(
            "p",
            "These laws keep no weight away from zero, so none stands in the way: from any weights with these balances, "
            "training can in principle reach all signs.",
        )
    else:
        yield from _bound(result, locked[0])
        yield element(
            "p",
            "So the sign that initialization drew for a locked weight is final. If a good solution needs the other one, the "
            "loss stays above its minimum, however long training goes on. Small steps of gradient descent keep the balances "
            "closely; Adam and large steps change them, and may free a weight or lock others. Weight decay shrinks all "
            "balances alike, which frees nothing.",
        )
    if result.network.notices:
        yield element("p", "How the model became a network:")
        yield element("ul", join(element("li", notice) for notice in result.network.notices))


def _bound(result: Connectivity, item: EdgeMinimum) -> Iterator[Html]:
    assert item.witness is not None
    w, e, f = identifier("w"), identifier("e"), identifier("f")
    network, side = result.network, item.witness.side
    across = "enters" if side == "out" else "leaves"
    under = row(f, element("mtext", f" {across} W"))
    others = element("munder", join([operator("∑"), under]))
    bound = item.minimum
    excess = [_number(bound), operator("+")] if bound else []
    end = [operator("≥"), _number(bound)] if bound else [operator(">"), number("0")]
    only = "leaves" if side == "out" else "enters"
    names = ", ".join(network.names[v] for v in item.witness.nodes[:_NAMES_SHOWN])
    more = ", …" if len(item.witness.nodes) > _NAMES_SHOWN else ""
    yield element(
        "p",
        join(
            [
                "A weight e is locked because it is the only one that ",
                f"{only} some set W of neurons. For e = ",
                element("code", network.describe_edge(item.edge)),
                f" and W = {{{names}{more}}}, the balances of W add up to",
            ]
        ),
    )
    formula = math(squared(w, e), operator("="), *excess, others, squared(w, f), *end, block=True)
    yield element("div", formula, class_="scroll", tabindex=0, role="region", aria_label="bound of a locked weight")


def _number(value: Fraction) -> Html:
    from .graphs.words import shown_number

    return number(shown_number(value))


def _picture(result: Connectivity) -> Iterator[Html]:
    from .graphs.picture import picture_bytes

    yield heading(2, "Picture")
    try:
        svg = inline_svg(picture_bytes(result, ".svg"))
    except InputError as error:
        yield element("p", str(error), class_="soft")
        return
    count = len(result.frozen_edges)
    caption = (
        "Thick lines are locked weights; shaded neurons are the sets that they alone leave or enter."
        if any(item.witness is not None for item in result.edges)
        else "No weight is locked."
    )
    label = f"The network with {result.network.node_count} nodes, {count} of its weights marked as locked"
    letters = any(item.witness is not None and len(item.witness.nodes) > 1 for item in result.edges)
    yield figure(
        svg, f"{caption} Letters mark sets of several neurons." if letters else caption, label=label, large=True
    )


def _remedies(result: Connectivity, source: str) -> Iterator[Html]:
    from .graphs.words import can_be_rescaled

    if not result.feasible or not any(item.witness is not None for item in result.edges):
        return
    network = result.network
    small = network.edge_count <= _LARGEST_TRIED
    yield heading(2, "What can be done")
    items = []
    if can_be_rescaled(result):
        rescaling = (
            "Rescale: multiply all incoming weights of a neuron by a > 0 and divide its outgoing ones by a. The function "
            "stays the same, the balances change. "
        )
        if network.weights is not None:
            output = "free.safetensors" if ":" in source else "free.json"
            command = f"lakatos connectivity {shlex.quote(source)} --rescale unlocked --output {output}"
            tried = _tried_rescaling(result) if small else ""
            items.append(join([rescaling, tried, element("pre", command, tabindex=0)]))
        else:
            items.append(join([rescaling, "With initial weights at hand, --rescale unlocked finds the factors."]))
    wide = "Widen the layer behind: one more neuron (or output) beside each one that a locked weight leads to"
    skip = (
        "Add a skip that starts inside the set, from the neuron of the locked weight past the one it leads to (a second, "
        "parallel branch where nothing lies behind). A skip that starts in front of the set does not help"
    )
    for words, change in ((wide, "widened"), (skip, "skipped")):
        items.append(join([words, ". ", _tried(result, change) if small else ""]))
    yield element("ul", join((element("li", item) for item in items), "\n"))


def _tried(result: Connectivity, change: str) -> str:
    from .graphs import remedies
    from .graphs.connectivity import connectivity

    changed = getattr(remedies, change)(result)
    after = connectivity(changed)
    added = changed.edge_count - result.network.edge_count
    weights = "1 weight" if added == 1 else f"{added} weights"
    return f"Tried here: with {weights} more, {_left(len(after.regular_frozen_edges))}."


def _tried_rescaling(result: Connectivity) -> str:
    from .graphs.connectivity import connectivity
    from .numerics.unlocked_balances import unlocked_balance

    network = result.network
    try:
        aim = unlocked_balance(network).tolist()
    except (InputError, Undecided) as error:
        return f"Tried here: {error}. "
    balances = {network.names[v]: Fraction(aim[v]) for v in network.hidden_nodes.tolist()}
    after = connectivity(network.with_balance(balances))
    return f"Tried here: after that, {_left(len(after.regular_frozen_edges))}. "


def _left(count: int) -> str:
    if count == 0:
        return "no sign is locked"
    return "1 sign is still locked" if count == 1 else f"{count} signs are still locked"


def _locked(result: Connectivity) -> Iterator[Html]:
    from .graphs.words import names_of, shown_number

    locked = [item for item in result.edges if item.witness is not None]
    if not locked:
        return
    network = result.network
    yield heading(2, "Locked weights, and what blocks them")
    if len(locked) > _ROWS_SHOWN:
        yield element("p", f"The first {_ROWS_SHOWN:,} of {len(locked):,}; --json lists all.")
    rows = []
    for item in locked[:_ROWS_SHOWN]:
        assert item.witness is not None
        bound = f"≥\u00a0{shown_number(item.minimum)}" if item.minimum else ">\u00a00"
        way = "exit" if item.witness.side == "out" else "entry"
        rows.append(
            (
                str(item.edge),
                element("code", network.describe_edge(item.edge)),
                bound,
                f"only {way} of {names_of(network, item.witness.nodes)}",
                shown_number(item.witness.sum).replace("-", "−"),
                "whole set" if item.minimum else "gradient flow",
            )
        )
    header = ("edge", "weight", "w²", "why", "sum of balances", "locked on")
    yield table(header, rows, label="locked weights", numbers={0, 4}, kind="sortable")


def _layers(result: Connectivity) -> Iterator[Html]:
    from .graphs.layers import layers_of
    from .graphs.picture import LARGEST_DRAWN

    if result.network.node_count <= LARGEST_DRAWN or not result.feasible:
        return
    yield heading(2, "Layers")
    rows = [
        (layer.name, *(f"{n:,}" for n in (layer.neurons, layer.terminals, layer.weights, layer.locked, layer.regular)))
        for layer in layers_of(result).layers
    ]
    header = ("layer", "neurons", "terminals", "weights in", "locked", "locked to gradient flow only")
    yield table(header, rows, label="layers", numbers=range(1, 6), kind="sortable")


def _grounds(result: Connectivity, certificate_file: Mapping[str, Any] | None) -> Iterator[Html]:
    network = result.network
    yield heading(2, "What this rests on")
    rounding = ""
    if result.margin is not None:
        robust = "stays the same" if result.margin.robust else "could change"
        rounding = f" for the weights as stored; within their rounding error the answer {robust}"
    size = f"{network.node_count:,} nodes, {len(network.hidden_nodes):,} of them hidden, and {network.edge_count:,} weights"
    yield element(
        "p",
        f"{size}; decided in exact arithmetic{rounding}. The certificate was checked by a second program before this page "
        "was written.",
    )
    if certificate_file is not None:
        text = json.dumps(certificate_file, ensure_ascii=False)
        link = download("certificate.json", text + "\n", f"certificate.json ({max(1, len(text) // 1000):,} kB)")
        yield element("p", join([link, " ", element("code", "lakatos check certificate.json")]))
    else:
        yield element(
            "p",
            f"The certificate is too large for this page (over {LARGEST_EMBEDDED:,} weights): --certificate writes it.",
        )
    theorem = [
        "Theorem: M. Nurisso, P. Leroy, G. Petri, F. Vaccarino, arXiv:2602.00693; ",
        element("code", "lakatos show invariant_set_connected_iff_no_weight_frozen"),
        " states it.",
    ]
    yield element("p", join(theorem), class_="soft")
