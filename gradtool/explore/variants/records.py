"""Arguments with named fields: dictionaries, dataclasses, named tuples and namespaces."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any


def is_record(value: Any) -> bool:
    """Return True for a value whose fields have names, such as an instance of a dataclass."""
    return not isinstance(value, type) and (
        type(value) is dict
        or dataclasses.is_dataclass(value)
        or hasattr(type(value), "_fields")
        or isinstance(value, SimpleNamespace)
    )


def fields_of(value: Any) -> Mapping[str, Any]:
    """The fields of a record that can be given another value, by name."""
    if isinstance(value, dict):
        return {name: each for name, each in value.items() if isinstance(name, str)}
    if dataclasses.is_dataclass(value):
        settable = [field.name for field in dataclasses.fields(value) if field.init]
        return {name: getattr(value, name) for name in settable}
    if hasattr(type(value), "_fields"):
        return {name: getattr(value, name) for name in type(value)._fields}
    return dict(vars(value))


def with_field(value: Any, name: str, new: Any) -> Any:
    """A copy of a record that has a new value in one field.

    Raises:
        Exception: whatever the record's own class raises for such a value.
    """
    if isinstance(value, dict):
        return {**value, name: new}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.replace(value, **{name: new})
    if hasattr(type(value), "_fields"):
        return value._replace(**{name: new})
    other = copy.copy(value)
    setattr(other, name, new)
    return other


def changed_field(before: Any, after: Any) -> tuple[str, Any, Any]:
    """The name of the first field in which two records differ, and both values."""
    one, other = fields_of(before), fields_of(after)
    return next((name, one[name], other[name]) for name in one if one[name] is not other[name])
