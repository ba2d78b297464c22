"""Verdicts as a JUnit XML file, the format that continuous integration services read."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from .report import Entry, exit_status, outcome_text, surprise

__all__ = ["junit"]


def junit(entries: Sequence[Entry], *, require_proved: bool = False) -> str:
    """Return one test case per instance: a failure if the outcome is not as it should be, an error if there is none."""
    suite = ElementTree.Element("testsuite", name="lakatos", tests=str(len(entries)))
    counts = {"failure": 0, "error": 0}
    for entry in entries:
        seconds = entry.verdict.seconds if entry.verdict else 0.0
        attributes = {"classname": entry.theorem or "lakatos", "name": entry.title, "file": entry.path}
        case = ElementTree.SubElement(suite, "testcase", attributes, time=f"{seconds:.3f}")
        if exit_status(entry, require_proved=require_proved):
            tag = "failure" if entry.verdict else "error"
            counts[tag] += 1
            line = _printable(surprise(entry, require_proved=require_proved) or "")
            ElementTree.SubElement(case, tag, type=outcome_text(entry), message=line)
    suite.set("failures", str(counts["failure"]))
    suite.set("errors", str(counts["error"]))
    suite.set("time", f"{sum(entry.verdict.seconds for entry in entries if entry.verdict):.3f}")
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _printable(text: str) -> str:
    """Return `text` without the control characters that XML cannot hold."""
    return "".join(character if character.isprintable() or character in "\t\n" else "�" for character in text)
