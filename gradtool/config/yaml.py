"""Reading YAML with a line number for every mistake, and without surprising values.

PyYAML's composer gives the tree with its marks; values are constructed here by the rules of
YAML 1.2's core schema. So ``1e-5`` is a number, ``no`` is text, and a repeated key is an
error, where PyYAML would silently take the last one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import yaml

from gradtool.config.document import Document, Where
from gradtool.errors import UsageError
from gradtool.regular_file import read_regular

_LARGEST = 4 * 2**20
"""Bytes of a configuration beyond which it is none: reading YAML takes a minute for as many."""

_MAX_VALUES = 100_000
"""Values beyond which a document is refused: aliases can make a short file huge."""

_CORE = "tag:yaml.org,2002:"


def read_document(path: Path, name: str | None = None) -> Document:
    """Read the YAML file at `path`, which messages call `name`.

    Raises:
        UsageError: The file cannot be read, is not YAML, repeats a key, or uses features
            that a configuration does not need (tags, recursive aliases, several documents).
    """
    name = name or path.name
    try:
        # Editors on Windows may begin a file with a byte order mark.
        text = read_regular(path, _LARGEST).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{name} is not UTF-8 text") from None
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror}") from None
    return parse_document(text, name)


def parse_document(text: str, name: str, *, has_lines: bool = True) -> Document:
    """Parse `text`, which messages call `name`; raise as `read_document` does.

    Args:
        text: A file, or one value.
        name: Its name in messages.
        has_lines: Messages name its lines too.
    """
    source = _Source(name, has_lines)
    try:
        # Nodes rather than values: only nodes know their lines, and repeated keys are lost in a
        # dict.
        root = yaml.compose(text, Loader=_CoreLoader)
        builder = _Builder(source)
        return Document(name, builder.build(root, ()) if root else None, builder.lines)
    except yaml.MarkedYAMLError as error:
        raise _syntax_error(source, error) from None
    except yaml.YAMLError as error:
        reason = str(error).splitlines()[0]
        raise UsageError(f"{name} is not valid YAML: {reason}") from None
    # Both PyYAML and the builder recurse once for each level.
    except RecursionError:
        raise UsageError(f"{name} is nested too deeply") from None


class _Source(msgspec.Struct, frozen=True):
    """Name of a text in messages."""

    name: str
    has_lines: bool

    def at(self, line: int) -> str:
        """The name, with the line if the text has lines."""
        return f"{self.name}:{line}" if self.has_lines else self.name


def _syntax_error(source: _Source, error: yaml.MarkedYAMLError) -> UsageError:
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark else 1
    context = f"{error.context}, " if error.context else ""
    return UsageError(f"{source.at(line)}: not valid YAML: {context}{error.problem}")


class _CoreLoader(yaml.SafeLoader):
    """PyYAML's loader with the scalars of YAML 1.2's core schema instead of 1.1's."""


_SCALARS = {
    "null": (r"(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    "bool": (r"(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    "int": (r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$", list("-+0123456789")),
    "float": (
        r"(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$",
        list("-+.0123456789"),
    ),
}
# A dict of its own: YAML 1.1 would read "no" and "on" as booleans and 1:30 as a number.
_CoreLoader.yaml_implicit_resolvers = {}
for _kind, (_pattern, _first) in _SCALARS.items():
    _CoreLoader.add_implicit_resolver(_CORE + _kind, re.compile(_pattern), _first)


def _integer(text: str) -> int:
    # int(text, 0) refuses leading zeros, which YAML's decimals may have.
    value = int(text, 0) if text[:2] in {"0o", "0x"} else int(text)
    if value.bit_length() > 64:
        raise ValueError("larger than a machine integer")
    return value


def _number(text: str) -> float:
    return float(text.replace(".inf", "inf").replace(".nan", "nan"))


_CONSTRUCTORS: dict[str, Callable[[str], Any]] = {
    _CORE + "null": lambda _: None,
    _CORE + "bool": lambda text: text.lower() == "true",
    _CORE + "int": _integer,
    _CORE + "float": lambda text: _number(text.lower()),
    _CORE + "str": str,
}


class _Builder:
    """Builds values from nodes and records the line of each."""

    def __init__(self, source: _Source) -> None:
        self.lines: dict[Where, int] = {}
        self._source = source
        self._open: set[int] = set()
        self._count = 0

    def build(self, node: yaml.Node, where: Where) -> Any:
        """The value of `node`, which is at `where`."""
        # A mapping's value has the line of its key already.
        self.lines.setdefault(where, _line(node))
        self._count += 1
        if self._count > _MAX_VALUES:
            raise self._error(node, f"more than {_MAX_VALUES} values")
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        if id(node) in self._open:
            raise self._error(node, "an alias contains itself")
        self._open.add(id(node))
        try:
            return self._collection(node, where)
        finally:
            self._open.discard(id(node))

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        if node.tag not in _CONSTRUCTORS:
            raise self._error(node, f"tag {_short(node.tag)} is not supported")
        try:
            return _CONSTRUCTORS[node.tag](node.value)
        except ValueError:
            kind = node.tag.removeprefix(_CORE)
            raise self._error(node, f"{node.value[:40]!r} is not a usable {kind}") from None

    def _collection(self, node: yaml.Node, where: Where) -> Any:
        if isinstance(node, yaml.SequenceNode) and node.tag == _CORE + "seq":
            return [self.build(item, (*where, i)) for i, item in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode) and node.tag == _CORE + "map":
            return self._mapping(node, where)
        raise self._error(node, f"tag {_short(node.tag)} is not supported")

    def _mapping(self, node: yaml.MappingNode, where: Where) -> dict[Any, Any]:
        values: dict[Any, Any] = {}
        first: dict[Any, int] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise self._error(key_node, "a key must be a single word, not a collection")
            key = self._scalar(key_node)
            if key in first:
                raise self._error(key_node, _repeated(key, first[key], value_node))
            place = (*where, key if isinstance(key, int) else str(key))
            first[key] = self.lines[place] = _line(key_node)
            values[key] = self.build(value_node, place)
        return values

    def _error(self, node: yaml.Node, message: str) -> UsageError:
        return UsageError(f"{self._source.at(_line(node))}: {message}")


def _repeated(key: Any, first: int, value: yaml.Node) -> str:
    entries = isinstance(value, yaml.CollectionNode)
    advice = f"move its entries to line {first}" if entries else "remove one of them"
    return f"key {key!r} appears twice (first on line {first}): {advice}"


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _short(tag: str) -> str:
    return tag.replace(_CORE, "!!")
