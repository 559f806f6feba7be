"""Named tuples that functions with several outputs return, under torch's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from gradtool.engine._tensor import Tensor

Kind = TypeVar("Kind", bound=type)


def return_type(name: str) -> Callable[[Kind], Kind]:
    """Declare a named tuple as ``torch.return_types.NAME``.

    A function of that name lies in the module where the class is written, so the class moves to
    this one: pickle finds a class by its module and its name.
    """

    def declare(kind: Kind) -> Kind:
        kind.__module__, kind.__name__, kind.__qualname__ = __name__, name, name
        kind.__repr__ = _shown  # type: ignore[assignment]  # a method of any of them
        globals()[name] = kind
        return kind

    return declare


class ValuesAndIndices(NamedTuple):
    """Values, and their indices along a dimension."""

    values: Tensor
    indices: Tensor


def _shown(value: Any) -> str:
    """The text of a named tuple as torch writes it, a line for each field."""
    fields = [f"{name}={each!r}" for name, each in zip(value._fields, value)]
    return f"torch.return_types.{type(value).__name__}(\n" + ",\n".join(fields) + ")"
