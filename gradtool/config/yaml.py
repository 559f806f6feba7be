"""YAML read so that every mistake has a line number and no value is a surprise.

PyYAML's composer gives the tree with its marks; values are made here, by the rules of
YAML 1.2's core schema. So ``1e-5`` is a number, ``no`` is text, and a key that is written
twice is an error rather than a silent last-one-wins.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from gradtool.errors import UsageError

Where = tuple[str | int, ...]
"""A place in a document: keys and list positions from the root."""

_LARGEST = 100_000
"""Values beyond which a document is refused: aliases can make a short file huge."""

_CORE = "tag:yaml.org,2002:"


@dataclass(frozen=True)
class Document:
    """A YAML file: its value, and where everything in it comes from."""

    name: str
    """The file as messages name it."""
    value: Any
    lines: Mapping[Where, int]
    origins: Mapping[Where, str] = field(default_factory=dict)
    """What gave the values that are not of the file."""

    def error(self, where: Where, message: str) -> UsageError:
        """A usage error that names the file and the line of `where`, or what else gave it."""
        return UsageError(f"{self.place(where)}: {message}")

    def place(self, where: Where) -> str:
        """``gradtool.yaml:3``, or what else gave `where` or what it is part of."""
        while where and where not in self.origins and where not in self.lines:
            where = where[:-1]
        return self.origins.get(where) or f"{self.name}:{self.lines.get(where, 1)}"

    def origin(self, where: Where) -> str | None:
        """What gave `where`, or the whole that it is part of; None where it is of the file."""
        parts = (where[:end] for end in range(len(where), 0, -1))
        return next((self.origins[part] for part in parts if part in self.origins), None)


def read_document(path: Path, name: str | None = None) -> Document:
    """Read the YAML file at `path`, which messages call `name`.

    Raises:
        UsageError: The file cannot be read, is not YAML, repeats a key, or uses what
            configuration has no use for (tags, recursive aliases, several documents).
    """
    name = name or path.name
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{name} is not UTF-8 text") from None
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror}") from None
    return parse_document(text, name)


def parse_document(text: str, name: str, *, has_lines: bool = True) -> Document:
    """Parse `text`, which messages call `name`; raises as `read_document` does.

    Args:
        text: A file, or a value of one.
        name: What messages call it.
        has_lines: They name its lines too.
    """
    source = _Source(name, has_lines)
    try:
        root = yaml.compose(text, Loader=_CoreLoader)
        maker = _Maker(source)
        return Document(name, maker.make(root, ()) if root else None, maker.lines)
    except yaml.MarkedYAMLError as error:
        raise _syntax_error(source, error) from None
    except yaml.YAMLError as error:
        reason = str(error).splitlines()[0]
        raise UsageError(f"{name} is not valid YAML: {reason}") from None
    except RecursionError:
        raise UsageError(f"{name} is nested too deeply") from None


@dataclass(frozen=True)
class _Source:
    """What a text is called in messages."""

    name: str
    has_lines: bool

    def at(self, line: int) -> str:
        """The name, with the line where that says more."""
        return f"{self.name}:{line}" if self.has_lines else self.name


def _syntax_error(source: _Source, error: yaml.MarkedYAMLError) -> UsageError:
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark else 1
    context = f"{error.context}, " if error.context else ""
    return UsageError(f"{source.at(line)}: not valid YAML: {context}{error.problem}")


class _CoreLoader(yaml.SafeLoader):
    """PyYAML's loader with the scalars of YAML 1.2's core schema in place of 1.1's."""


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
_CoreLoader.yaml_implicit_resolvers = {}
for _kind, (_pattern, _first) in _SCALARS.items():
    _CoreLoader.add_implicit_resolver(_CORE + _kind, re.compile(_pattern), _first)


def _integer(text: str) -> int:
    value = int(text, 0) if text[:2] in {"0o", "0x"} else int(text)
    if value.bit_length() > 64:
        raise ValueError("no machine integer")
    return value


def _number(text: str) -> float:
    return float(text.replace(".inf", "inf").replace(".nan", "nan"))


_MAKERS: dict[str, Callable[[str], Any]] = {
    _CORE + "null": lambda _: None,
    _CORE + "bool": lambda text: text.lower() == "true",
    _CORE + "int": _integer,
    _CORE + "float": lambda text: _number(text.lower()),
    _CORE + "str": str,
}


class _Maker:
    """Makes values of nodes and remembers the line of each."""

    def __init__(self, source: _Source) -> None:
        self.lines: dict[Where, int] = {}
        self._source = source
        self._open: set[int] = set()
        self._made = 0

    def make(self, node: yaml.Node, where: Where) -> Any:
        """The value of `node`, which stands at `where`."""
        self.lines.setdefault(where, _line(node))
        self._made += 1
        if self._made > _LARGEST:
            raise self._error(node, f"more than {_LARGEST} values")
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
        if node.tag not in _MAKERS:
            raise self._error(node, f"tag {_short(node.tag)} is not used here")
        try:
            return _MAKERS[node.tag](node.value)
        except ValueError:
            kind = node.tag.removeprefix(_CORE)
            raise self._error(node, f"{node.value[:40]!r} is not a usable {kind}") from None

    def _collection(self, node: yaml.Node, where: Where) -> Any:
        if isinstance(node, yaml.SequenceNode) and node.tag == _CORE + "seq":
            return [self.make(item, (*where, i)) for i, item in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode) and node.tag == _CORE + "map":
            return self._mapping(node, where)
        raise self._error(node, f"tag {_short(node.tag)} is not used here")

    def _mapping(self, node: yaml.MappingNode, where: Where) -> dict[Any, Any]:
        made: dict[Any, Any] = {}
        first: dict[Any, int] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise self._error(key_node, "a key must be a single word, not a collection")
            key = self._scalar(key_node)
            if key in first:
                again = f"key {key!r} appears twice (first on line {first[key]})"
                raise self._error(key_node, again)
            place = (*where, key if isinstance(key, int) else str(key))
            first[key] = self.lines[place] = _line(key_node)
            made[key] = self.make(value_node, place)
        return made

    def _error(self, node: yaml.Node, message: str) -> UsageError:
        return UsageError(f"{self._source.at(_line(node))}: {message}")


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _short(tag: str) -> str:
    return tag.replace(_CORE, "!!")
