"""Builds the site into ``docs/_build/html``: ``python -m docs.build``.

What is written by hand and what is generated are laid side by side in ``docs/_build/source``, so that nothing generated is
ever beside the sources. Only files that changed are written, and only their pages are built again.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from sphinx.application import Sphinx

from lakatos.core import InputError, Verdict
from lakatos.results import results_from_json

from . import api_pages, theorem_pages

__all__ = ["main"]

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
BUILD = DOCS / "_build"
_LEADS_OUT = re.compile(
    r"\[([^\]]*)\]\(\.\./[^)]*\)"
)  # links from a page to the source tree, which the site does not hold


def main(arguments: list[str] | None = None) -> int:
    """Return 0 if the site was built without a warning; each warning is told on standard error."""
    parser = argparse.ArgumentParser(prog="python -m docs.build", description=__doc__)
    parser.add_argument("--verdicts", type=Path, help="result of `lakatos verify instances/ --json`; default: run it")
    parser.add_argument("--fresh", action="store_true", help="forget what earlier runs have built")
    options = parser.parse_args(arguments)
    began = time.monotonic()
    if options.fresh:
        shutil.rmtree(BUILD, ignore_errors=True)
    source = BUILD / "source"
    source.mkdir(parents=True, exist_ok=True)
    _lay(dict(_pages(_verdicts(options.verdicts))), source)
    status = _build(source)
    sys.stderr.write(f"{BUILD / 'html' / 'index.html'}: {time.monotonic() - began:.0f} s\n")
    return status


def _verdicts(saved: Path | None) -> dict[Path, Verdict]:
    """Return the verdicts of the shipped instances by path."""
    if saved is None:
        saved = BUILD / "verdicts.json"
        command = [sys.executable, "-m", "lakatos.cli", "verify", "instances/", "--json"]
        with saved.open("wb") as file:
            status = subprocess.run(command, cwd=ROOT, stdout=file, check=False).returncode
        if status:
            raise InputError(f"lakatos verify instances/: exit status {status}, so that there is nothing to document")
    found = results_from_json(json.loads(saved.read_text("utf-8")))
    return {ROOT / str(verdict.instance): verdict for verdict in found}


def _pages(verdicts: dict[Path, Verdict]) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of every source file of the site."""
    for path in sorted(DOCS.glob("*.md")):
        yield path.name, _LEADS_OUT.sub(r"\1", path.read_text("utf-8")).encode()
    for path in sorted((ROOT / "examples").glob("*.ipynb")):
        yield path.name, path.read_bytes()
    for name, text in (*theorem_pages.pages(verdicts), *api_pages.pages(), ("guides.md", _guides())):
        yield name, text.encode()


def _guides() -> str:
    """Return the page that leads to the guides and notebooks: whatever is there and is in no other list of pages."""
    index = (DOCS / "index.md").read_text("utf-8")
    listed = {"index", *re.findall(r"^(?:.*<)?([\w]+)>?$", index, re.MULTILINE)}
    names = [path.stem for path in sorted(DOCS.glob("*.md")) if path.stem not in listed]
    notebooks = [path.stem for path in sorted((ROOT / "examples").glob("*.ipynb"))]
    parts = ["# Guides", "```{toctree}", *names, "```"]
    if notebooks:
        parts += ["", "## Notebooks", "", "```{toctree}", *notebooks, "```"]
    return "\n".join(parts) + "\n"


def _lay(pages: dict[str, bytes], source: Path) -> None:
    """Make `source` hold these files and no others."""
    for path in source.iterdir():
        if path.is_file() and path.name not in pages:
            path.unlink()
    for name, content in pages.items():
        path = source / name
        if not path.exists() or path.read_bytes() != content:
            path.write_bytes(content)


def _build(source: Path) -> int:
    app = Sphinx(
        source,
        DOCS,
        BUILD / "html",
        BUILD / "doctrees",
        "html",
        status=None,
        warning=sys.stderr,
        warningiserror=True,
        keep_going=True,
    )
    app.build()
    return app.statuscode


if __name__ == "__main__":
    sys.exit(main())
