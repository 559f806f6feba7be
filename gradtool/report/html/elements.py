"""HTML as a tree, so that all text in it is escaped when the tree is written."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from gradtool.report.words import printable

Child = ET.Element | str | None


def element(tag: str, *children: Child, **attributes: str) -> ET.Element:
    """An element with text and elements in it; None is left out.

    An attribute named like a Python keyword has an underscore behind it, and one with a dash
    has an underscore in its place.
    """
    made = ET.Element(tag, {_name(key): printable(value) for key, value in attributes.items()})
    for child in children:
        _append(made, child)
    return made


def _name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _append(parent: ET.Element, child: Child) -> None:
    if isinstance(child, str):
        _append_text(parent, _visible(child))
    elif child is not None:
        parent.append(child)


def _append_text(parent: ET.Element, text: str) -> None:
    if len(parent):
        parent[-1].tail = (parent[-1].tail or "") + text
    else:
        parent.text = (parent.text or "") + text


def _visible(text: str) -> str:
    """The text with control characters shown, apart from line breaks."""
    return "\n".join(map(printable, text.split("\n")))


def with_code(text: str) -> list[Child]:
    """The text with what stands between backticks as code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return [text]
    return [element("code", part) if i % 2 else part for i, part in enumerate(parts)]


def folded(summary: str, *children: Child, **attributes: str) -> ET.Element:
    """Content that unfolds when its `summary` is clicked."""
    return element("details", element("summary", summary), *children, **attributes)
