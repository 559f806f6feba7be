"""`Case`: one set of arguments, as a user writes it in Python.

Modules of Functions import it, so it imports no NumPy and no engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any


@dataclass(frozen=True, eq=False)
class Case:
    """One set of arguments for a Function.

    ``Case((x, weight), name="no-bias")`` and ``Case((x,), {"alpha": 0.5}, atol=1e-4)``.

    Args:
        args: Positional arguments: tensors, or any other values that ``forward`` takes.
        kwargs: Keyword arguments.
        name: Name in node ids and reports; a case without one is numbered.
        atol: Absolute tolerance of this case.
        rtol: Relative tolerance of this case.
        reason: Why the case needs its own tolerance; shown in reports.
        expires: The last day of the tolerance: a date, or text such as ``"2027-01-31"``.

    Raises:
        TypeError: `args` is not a tuple or list of arguments, but, for example, a bare tensor.
        ValueError: `expires` is not a date, or `name` is not one line of printable text.
    """

    args: Sequence[Any] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    name: str | None = field(default=None, kw_only=True)
    atol: float | None = field(default=None, kw_only=True)
    rtol: float | None = field(default=None, kw_only=True)
    reason: str | None = field(default=None, kw_only=True)
    expires: date | str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.args, tuple | list):
            kind = type(self.args).__name__
            raise TypeError(
                f"Case takes a tuple of arguments, not an object of type {kind}: "
                "write Case((x,)) for a single one"
            )
        if self.name is not None and not _is_one_line(self.name):
            raise ValueError(f"name must be one line of printable text, got {self.name!r}")
        if self.expires is not None:
            _require_date(self.expires)


def _is_one_line(name: object) -> bool:
    # Reports print it, and a CI log would read a second line as a command.
    return isinstance(name, str) and name.isprintable() and bool(name.strip())


def _require_date(value: date | str) -> None:
    try:
        date.fromisoformat(str(value))
    except ValueError:
        raise ValueError(f"expires must be a date such as '2027-01-31', got {value!r}") from None
