"""Read XML that others wrote: without entities, external files, and nesting without end."""

from __future__ import annotations

from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import iterparse

DEEPEST: Final = 100
"""Nesting of elements that is read. Suites nest a dozen deep at most."""


class BadXml(ValueError):
    """A file is no XML, is torn, or has what no report needs. The message says what."""


def read_xml(path: Path) -> Element:
    """Return the root of a file, names without namespaces. Raise OSError or BadXml."""
    depth = 0
    root: Element | None = None
    try:
        for event, element in iterparse(path, events=("start", "end")):
            depth += 1 if event == "start" else -1
            if depth > DEEPEST:
                raise BadXml(f"its elements nest more than {DEEPEST} deep")
            if event == "start":
                element.tag = element.tag.rpartition("}")[2]
                root = element if root is None else root
    except DefusedXmlException as error:
        raise BadXml(f"it declares entities, which no report needs: {error}") from error
    except ParseError as error:
        raise BadXml(str(error)) from error
    if root is None:
        raise BadXml("it is empty")
    return root


def properties(element: Element) -> dict[str, str]:
    """Return the properties directly in a suite or a testcase by name: the attribute `value`, else the text."""
    return {
        each.get("name", ""): each.get("value") or (each.text or "").strip()
        for each in element.iterfind("properties/property")
    }
