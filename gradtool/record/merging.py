"""Cases added to a configuration file, whose other lines, comments included, stay as they are.

Lines are inserted; nothing is rewritten. The result is read back, and refused unless it is the file
as it was with these cases added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import yaml

from gradtool.config.decoding import decode
from gradtool.config.schema import CaseConfig, File, FunctionConfig
from gradtool.config.writing import case_lines, quoted
from gradtool.config.yaml import parse_document
from gradtool.errors import UsageError
from gradtool.record.notes import signature

_NEW_FILE = """\
# gradtool settings. The cases were recorded by `gradtool record`.
version: 1

functions:
"""

_STEP = 2
"""Columns by which a level is indented."""


@dataclass(frozen=True)
class Addition:
    """Cases of one Function, and the key that the file has for it or is to get."""

    key: str
    cases: Sequence[CaseConfig]


def merged(text: str | None, name: str, additions: Sequence[Addition]) -> tuple[str, int]:
    """Add cases to the text of a configuration, and count those that are new.

    Args:
        text: The file; None if there is none.
        name: The file as messages name it.
        additions: What to add. Cases that the file has already, but for their names and the
            bounds of their entries, are left out.

    Raises:
        UsageError: The file is invalid, or written in a way that lines cannot be added to.
    """
    text = _NEW_FILE if text is None else _ended(text)
    added = 0
    for addition in additions:
        before = _read(text, name)
        present = before.functions.get(addition.key, FunctionConfig()).cases
        cases = _named(_new(addition.cases, present), present)
        if cases:
            after = _inserted(text, name, addition.key, cases)
            _require_addition(before, _read(after, name), addition.key, cases, name)
            text, added = after, added + len(cases)
    return text, added


def _ended(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"


def _read(text: str, name: str) -> File:
    document = parse_document(text, name)
    # Of a section that is only begun, YAML reads null.
    value = document.value
    if isinstance(value, dict) and value.get("functions", ...) is None:
        document = parse_document(f"{text}  {{}}\n", name)
    return decode(document, File)


def _new(cases: Sequence[CaseConfig], present: Sequence[CaseConfig]) -> list[CaseConfig]:
    known = {signature(case) for case in present}
    return [case for case in cases if signature(case) not in known]


def _named(cases: Sequence[CaseConfig], present: Sequence[CaseConfig]) -> list[CaseConfig]:
    """The cases with names that none of the present ones has."""
    taken = {case.name for case in present}
    names = (f"recorded{number}" for number in range(1, len(taken) + len(cases) + 1))
    free = [name for name in names if name not in taken]
    pairs = zip(cases, free, strict=False)
    return [msgspec.structs.replace(case, name=name) for case, name in pairs]


def _require_addition(
    before: File, after: File, key: str, cases: Sequence[CaseConfig], name: str
) -> None:
    """Refuse a file that is not the old one with `cases` added."""
    function = before.functions.get(key, FunctionConfig())
    expected = msgspec.structs.replace(function, cases=(*function.cases, *cases))
    if after != msgspec.structs.replace(before, functions={**before.functions, key: expected}):
        raise _refusal(name, key)


def _refusal(name: str, key: str) -> UsageError:
    return UsageError(
        f"{name}: cases cannot be added to functions.{key}: write that entry on separate lines,"
        " without brackets"
    )


def _inserted(text: str, name: str, key: str, cases: Sequence[CaseConfig]) -> str:
    """Insert the lines of `cases` below `key`, which is added where it is missing."""
    lines = text.splitlines(keepends=True)
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    functions = _value(root, "functions")
    if root is None or not _is_block(root):
        raise _refusal(name, key)
    if functions is None or not _is_block(functions):
        at, indent = _below(lines, root, functions, name, key)
        return _with(lines, at, _section(key, cases, indent))
    indent = functions.start_mark.column
    entry = _value(functions, key)
    if entry is None:
        return _with(lines, _end(lines, functions), _section(key, cases, indent))
    if not _is_block(entry):
        raise _refusal(name, key)
    given = _value(entry, "cases")
    if given is None:
        column = entry.start_mark.column
        listed = [f"{' ' * column}cases:\n", *_listed(cases, column + _STEP)]
        return _with(lines, _end(lines, entry), listed)
    if not _is_block(given):
        raise _refusal(name, key)
    return _with(lines, _end(lines, given), _listed(cases, given.start_mark.column))


def _below(
    lines: list[str], root: yaml.Node | None, functions: yaml.Node | None, name: str, key: str
) -> tuple[int, int]:
    """The place of the first Function in a file that has none, and its indent."""
    if functions is None:
        lines.append("\nfunctions:\n")
        return len(lines), _STEP
    empty = isinstance(functions, yaml.ScalarNode) or not functions.value
    if not empty or not isinstance(root, yaml.MappingNode):
        raise _refusal(name, key)
    at = next(k for k, _ in root.value if k.value == "functions").start_mark.line
    rest = lines[at].partition(":")[2]
    comment = f"  #{rest.partition('#')[2]}" if "#" in rest else "\n"
    lines[at] = f"functions:{comment}"
    return at + 1, _STEP


def _value(mapping: yaml.Node | None, key: str) -> yaml.Node | None:
    if not isinstance(mapping, yaml.MappingNode):
        return None
    return next((value for name, value in mapping.value if name.value == key), None)


def _is_block(node: yaml.Node) -> bool:
    return isinstance(node, yaml.CollectionNode) and not node.flow_style


def _end(lines: list[str], node: yaml.Node) -> int:
    """The line after the last one of a block: its end mark lies behind blanks and comments."""
    at = node.end_mark.line + (node.end_mark.column > 0 and node.end_mark.line < len(lines))
    at = min(at, len(lines))
    while at > 0 and (not lines[at - 1].strip() or lines[at - 1].lstrip().startswith("#")):
        at -= 1
    # The mark may also lie at the start of the next entry.
    while at - 1 > node.start_mark.line and _indent(lines[at - 1]) < node.start_mark.column:
        at -= 1
    return at


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _section(key: str, cases: Sequence[CaseConfig], indent: int) -> list[str]:
    lead = " " * indent
    head = [f"{lead}{quoted(key)}:\n", f"{lead}{' ' * _STEP}cases:\n"]
    return [*head, *_listed(cases, indent + 2 * _STEP)]


def _listed(cases: Sequence[CaseConfig], column: int) -> list[str]:
    return [f"{line}\n" for case in cases for line in case_lines(case, " " * column)]


def _with(lines: list[str], at: int, new: Sequence[str]) -> str:
    return "".join([*lines[:at], *new, *lines[at:]])


def key_of(functions: Sequence[str], folder: Path, file: Path, function: str) -> str:
    """The key that a file in `folder` has for a Function; else a new one with its path."""
    try:
        path = file.relative_to(folder).as_posix()
    except ValueError:
        path = str(file)
    full = f"{path}::{function}"
    return next((key for key in (full, function) if key in functions), full)
