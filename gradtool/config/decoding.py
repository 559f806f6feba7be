"""Decoding of a YAML document to a msgspec struct, with a line number for every mistake.

msgspec does the conversion, but its errors have no line numbers and say little about unknown
keys. The struct remains the only description of the format; this module interprets it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import date
from functools import cache
from typing import Any, TypeVar

import msgspec
from msgspec import inspect as types

from gradtool.config.document import Document, Where
from gradtool.spelling import did_you_mean, known_names

T = TypeVar("T")


def decode(document: Document, kind: type[T], where: Where = (), value: Any = ...) -> T:
    """Decode the document, or a `value` at `where` in it, as a `kind`.

    Raises:
        UsageError: A key is unknown or missing, or a value is of the wrong type.
    """
    found = document.value if value is ... else value
    described: types.Type = _described(kind)  # type: ignore[arg-type]  # a type is hashable
    cleaned = _Reader(document).read(found, described, where)
    return msgspec.convert(cleaned, kind)


@cache
def _described(kind: Any) -> types.Type:
    return types.type_info(kind)


def spelled(where: Where) -> str:
    """Write `where` as a key path: ``functions.Linear.cases[0].args[1]``."""
    text = ""
    for step in where:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step.isidentifier():
            text += f".{step}" if text else step
        else:
            text += f"[{step!r}]" if text else repr(step)
    return text


class _Reader:
    """Walks a value and its type in parallel."""

    def __init__(self, document: Document) -> None:
        self._document = document

    def read(self, value: Any, kind: types.Type, where: Where) -> Any:
        """Prepare `value` for msgspec: drop the keys that were left empty."""
        match kind:
            case types.AnyType():
                return value
            case types.StructType() if isinstance(value, dict):
                return self._struct(value, kind, where)
            case types.DictType() if isinstance(value, dict):
                return self._dict(value, kind, where)
            case types.VarTupleType() if isinstance(value, list):
                items = enumerate(value)
                return [self.read(item, kind.item_type, (*where, i)) for i, item in items]
            case types.UnionType():
                return self._union(value, kind, where)
            case _:
                self._scalar(value, kind, where)
                return value

    def _struct(self, value: dict[Any, Any], kind: types.StructType, where: Where) -> Any:
        fields = {field.encode_name: field for field in kind.fields}
        for key in value:
            if key not in fields:
                inside = f" in {spelled(where)}" if where else ""
                hint = known_names(str(key), fields)
                self._fail((*where, _step(key)), f"unknown key {key!r}{inside}{hint}")
        for name, field in fields.items():
            if field.required and value.get(name) is None:
                inside = f" in {spelled(where)}" if where else ""
                self._fail(where, f"{name!r} is missing{inside}")
        return {
            key: self.read(inner, fields[key].type, (*where, key))
            for key, inner in value.items()
            if inner is not None
        }

    def _dict(self, value: dict[Any, Any], kind: types.DictType, where: Where) -> Any:
        for key in value:
            if not isinstance(key, str):
                self._fail((*where, _step(key)), f"{spelled(where)}: key {key!r} must be a string")
        return {
            key: self.read({} if _empty(inner, kind) else inner, kind.value_type, (*where, key))
            for key, inner in value.items()
        }

    def _union(self, value: Any, kind: types.UnionType, where: Where) -> Any:
        """Read an optional value: these are the only unions of the format."""
        options = [option for option in kind.types if not isinstance(option, types.NoneType)]
        if value is None and len(options) < len(kind.types):
            return None
        return self.read(value, options[0], where)

    def _scalar(self, value: Any, kind: types.Type, where: Where) -> None:
        if not _fits(value, kind):
            problem = f"must be {_expectation(kind)}, {_got(value)}{_hint(value, kind)}"
            self._fail(where, f"{spelled(where) or 'the file'} {problem}")

    def _fail(self, where: Where, message: str) -> None:
        raise self._document.error(where, message)


def _step(key: object) -> str | int:
    return key if isinstance(key, int) else str(key)


def _empty(value: object, kind: types.DictType) -> bool:
    """Return True for a key without a value, where a mapping of optional keys is expected."""
    return value is None and isinstance(kind.value_type, types.StructType)


def _fits(value: Any, kind: types.Type) -> bool:
    match kind:
        case types.BoolType():
            return isinstance(value, bool)
        case types.IntType():
            return isinstance(value, int) and not isinstance(value, bool) and _within(value, kind)
        case types.FloatType():
            number = isinstance(value, int | float) and not isinstance(value, bool)
            return number and math.isfinite(value) and _within(value, kind)
        case types.StrType():
            return isinstance(value, str)
        case types.DateType():
            return isinstance(value, str) and _is_date(value)
        case types.LiteralType():
            return not isinstance(value, bool) and value in kind.values
        case _:
            return False


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _within(value: float, kind: types.IntType | types.FloatType) -> bool:
    return (kind.ge is None or value >= kind.ge) and (kind.gt is None or value > kind.gt)


def _expectation(kind: types.Type) -> str:
    match kind:
        case types.BoolType():
            return "true or false"
        case types.IntType():
            return "a whole number" + _bounds(kind)
        case types.FloatType():
            return "a number" + _bounds(kind)
        case types.StrType():
            return "a string"
        case types.DateType():
            return "a date such as 2027-01-31"
        case types.LiteralType():
            return _alternatives(kind.values)
        case types.VarTupleType():
            return "a list"
        case _:
            return "a mapping"


def _hint(value: Any, kind: types.Type) -> str:
    if isinstance(kind, types.LiteralType) and isinstance(value, str):
        return did_you_mean(value, map(str, kind.values))
    return ""


def _bounds(kind: types.IntType | types.FloatType) -> str:
    if kind.gt is not None:
        return f" above {kind.gt:g}"
    return f" not less than {kind.ge:g}" if kind.ge is not None else ""


def _alternatives(values: Iterable[Any]) -> str:
    *most, last = [str(value) for value in values]
    return f"{', '.join(most)} or {last}" if most else last


def _got(value: Any) -> str:
    match value:
        case None:
            return "but is empty"
        case dict():
            return "got a mapping"
        case list():
            return "got a list"
        case bool():
            return f"got {str(value).lower()}"
        case _:
            text = repr(value)
            return f"got {text if len(text) <= 60 else text[:57] + '...'}"
