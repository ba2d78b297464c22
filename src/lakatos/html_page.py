"""The frame that all pages for browsers share: one file without outside resources, in light and dark, for any width.

Without scripts everything can be read; scripts add filters and orders. The page itself forbids every connection.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable

from .markup import Html, element, join

__all__ = ["download", "figure", "inline_svg", "page"]

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"

_STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1c; --paper: #ffffff; --soft: #595959; --rule: #d0d0d0; --shade: #f4f4f4;
  --good: #116329; --bad: #b3261e; --open: #7a5200; --other: #0a5a94; --odd: #7a3fb0; --link: #0a5a94; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8e8; --paper: #161616; --soft: #a8a8a8; --rule: #444444;
  --shade: #232323; --good: #6fcf87; --bad: #ff8a80; --open: #e5b454; --other: #7cb8f2; --odd: #c9a3ff; --link: #7cb8f2; } }
* { box-sizing: border-box; }
body { font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; color: var(--ink); background: var(--paper);
  max-width: 72rem; margin: 0 auto; padding: 1rem clamp(.75rem, 3vw, 2rem) 3rem; overflow-wrap: break-word; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: .5rem 0; } h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 .3rem; } p { max-width: 46rem; margin: .5rem 0; } li { max-width: 44rem; }
a { color: var(--link); } code, pre { font-size: .9em; overflow-wrap: anywhere; }
pre { background: var(--shade); padding: .6rem .8rem; overflow-x: auto; border-radius: 4px; }
math[display=block] { width: fit-content; margin: .4rem 1.5rem; font-size: 1.1rem; }
.verdict { font-size: 1.15rem; font-weight: 600; } .soft { color: var(--soft); }
.proved, .supported, .connected, .yes { color: var(--good); } .refuted, .disconnected, .empty, .no { color: var(--bad); }
.inconclusive { color: var(--open); } .inapplicable { color: var(--other); } .missing { color: var(--odd); }
.wrong { font-weight: 700; }
.scroll { overflow-x: auto; margin: .5rem 0; } .scroll:focus-visible, summary:focus-visible, a:focus-visible,
button:focus-visible, input:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
table { border-collapse: collapse; font-size: .92rem; } .full table { width: 100%; }
th, td { text-align: left; padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--rule); vertical-align: top;
  min-width: 3rem; }
th { font-weight: 600; color: var(--soft); white-space: nowrap; }
th.number, td.number { text-align: right; font-variant-numeric: tabular-nums; }
th button { font: inherit; color: inherit; background: none; border: 0; padding: 0; cursor: pointer; }
th[aria-sort=ascending] button::after { content: " \\25B2"; } th[aria-sort=descending] button::after { content: " \\25BC"; }
.controls { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: .5rem 0; }
.controls button, .button { font: inherit; font-size: .9rem; color: var(--ink); background: var(--shade);
  border: 1px solid var(--rule); border-radius: 4px; padding: .2rem .6rem; cursor: pointer; text-decoration: none; }
.controls button[aria-pressed=true] { background: var(--ink); color: var(--paper); }
.controls input { font: inherit; font-size: .9rem; color: var(--ink); background: var(--paper);
  border: 1px solid var(--rule); border-radius: 4px; padding: .2rem .5rem; min-width: 0; width: 16rem; max-width: 100%; }
figure { margin: 1rem 0; } figcaption { font-size: .9rem; color: var(--soft); max-width: 46rem; }
.paper { background: #ffffff; color: #1c1c1c; border-radius: 4px; overflow-x: auto; padding: .25rem; max-width: 100%;
  box-sizing: border-box; width: fit-content; }
.paper svg { display: block; max-width: 100%; height: auto; margin: 0 auto; }
td code { overflow-wrap: normal; } .full td code { overflow-wrap: break-word; }
.plot text { font-size: 11px; fill: currentColor; } .plot { display: block; max-width: none; }
.figures { display: flex; flex-wrap: wrap; gap: 1rem 2rem; } .figures figure { flex: 0 1 22rem; min-width: 0; margin: 0; }
summary { cursor: pointer; } details { margin: .5rem 0; } details[open] > summary { margin-bottom: .3rem; }
details.item { border-bottom: 1px solid var(--rule); padding: .3rem 0; margin: 0; }
[hidden] { display: none !important; }
@media (max-width: 40rem) { .optional { display: none; } th, td { padding-right: .6rem; }
  .paper.large svg { max-width: none; width: 36rem; }
  td code { white-space: nowrap; } .full td code { white-space: normal; } }
@media print { .controls { display: none; } details > * { display: revert; } }
"""

_SCRIPT = """
"use strict";
const make = (tag, properties = {}, ...inside) => {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...inside);
  return node;
};
const value = (cell) => {
  const text = cell.textContent.trim();
  const parts = text.replace(/[,>=\\u2265\\u2026\\s]/g, "").replace("\\u2212", "-").split("/").map(Number);
  const number = parts.length === 2 ? parts[0] / parts[1] : parts[0];
  return text !== "" && parts.length < 3 && Number.isFinite(number) ? number : text;
};
const compare = (a, b) =>
  typeof a === typeof b ? (typeof a === "number" ? a - b : a.localeCompare(b)) : typeof a === "number" ? -1 : 1;
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0], rows = [...body.rows];
  if (rows.length > 1) for (const head of table.tHead.rows[0].cells) {
    const column = head.cellIndex;
    const button = make("button", { type: "button", textContent: head.textContent });
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const keyed = rows.map((row, i) => [value(row.cells[column]), i, row]);
      keyed.sort((a, b) => (up ? compare(a[0], b[0]) : compare(b[0], a[0])) || a[1] - b[1]);
      body.append(...keyed.map((entry) => entry[2]));
    });
    head.replaceChildren(button);
  }
  if (rows.length < 8) continue;
  const ranks = new Map(rows.map((row) => [row.dataset.outcome, Number(row.dataset.rank ?? 0)]));
  const outcomes = [...ranks.keys()].filter(Boolean).sort((a, b) => ranks.get(a) - ranks.get(b));
  const input = make("input", { type: "search", placeholder: "filter" });
  input.setAttribute("aria-label", "show only rows that contain this text");
  const count = make("output", { className: "soft" });
  const buttons = outcomes.length > 1 ? ["all", ...outcomes].map((outcome) => {
    const size = rows.filter((row) => outcome === "all" || row.dataset.outcome === outcome).length;
    const button = make("button", { type: "button", textContent: `${outcome} (${size})` });
    button.dataset.outcome = outcome;
    button.setAttribute("aria-pressed", String(outcome === "all"));
    button.addEventListener("click", () => {
      for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
      show();
    });
    return button;
  }) : [];
  const show = () => {
    const pressed = buttons.find((button) => button.getAttribute("aria-pressed") === "true");
    const outcome = pressed?.dataset.outcome ?? "all", text = input.value.toLowerCase();
    let shown = 0;
    for (const row of rows) {
      row.hidden = !((outcome === "all" || row.dataset.outcome === outcome) && row.textContent.toLowerCase().includes(text));
      const target = row.dataset.details && document.getElementById(row.dataset.details);
      if (target) target.hidden = row.hidden;
      if (!row.hidden) shown += 1;
    }
    count.textContent = shown === rows.length ? `${shown} rows` : `${shown} of ${rows.length} rows`;
  };
  input.addEventListener("input", show);
  const controls = make("div", { className: "controls" }, ...buttons, input, count);
  controls.setAttribute("role", "group");
  controls.setAttribute("aria-label", "filter");
  table.parentElement.before(controls);
  show();
}
const unfold = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) { target.open = true; target.scrollIntoView(); }
};
addEventListener("hashchange", unfold);
unfold();
"""


def page(title: str, parts: Iterable[str]) -> str:
    """Return a page with this title, made of markup `parts`."""
    head = join(
        [
            Html('<meta charset="utf-8">'),
            Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
            Html(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'),
            Html('<link rel="icon" href="data:,">'),
            element("title", title),
            element("style", Html(_STYLE)),
        ],
        "\n",
    )
    body = join([element("main", join(parts, "\n")), element("script", Html(_SCRIPT))], "\n")
    return f'<!DOCTYPE html>\n<html lang="en">\n{element("head", head)}\n{element("body", body)}\n</html>\n'


def download(name: str, content: str, label: str) -> Html:
    """Return a link that saves `content`, which is within the page, as a JSON file."""
    data = f"data:application/json;base64,{b64encode(content.encode()).decode()}"
    return element("a", label, class_="button", href=data, download=name)


def inline_svg(data: bytes) -> Html:
    """Return an SVG file as markup within a page: without its prolog."""
    text = data.decode()
    return Html(text[text.index("<svg") :])


def figure(svg: str, caption: str, *, label: str, large: bool = False) -> Html:
    """Return a picture, given as SVG markup, on white paper.

    Parameters
    ----------
    label : str
        What it shows, for readers that cannot see it.
    large : bool
        Whether narrow pages scroll it instead of making it too small to read.
    """
    image = element("div", Html(svg), role="img", aria_label=label)
    paper = element(
        "div", image, class_="paper large" if large else "paper", role="region", aria_label="picture", tabindex=0
    )
    return element("figure", join([paper, element("figcaption", caption)], "\n"))
