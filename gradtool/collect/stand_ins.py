"""Stand-ins for what an import did not give: a package that is missing, or fails to import.

A stand-in is a placeholder, so that it may be used in any way while modules are imported. A
Function that needs it is refused in one line.
"""

from __future__ import annotations

import re
import typing
from collections.abc import Callable
from typing import Any

from gradtool.adapters.library import library
from gradtool.engine._placeholder import EngineLacksError, Placeholder


class StandInError(EngineLacksError):
    """Raised when code under check uses a stand-in."""

    def __init__(self, name: str, why: str, on_behalf_of: str = "") -> None:
        NotImplementedError.__init__(
            self, f"{name} {why}; a stand-in was used instead{on_behalf_of}"
        )


class StandIn(Placeholder):
    """A name that an import did not give.

    Args:
        name: Its dotted name.
        why: Why there is nothing, as a predicate: ``is not installed``.
        origin: The name that was lacking first; by default this one.
    """

    def __init__(self, name: str, why: str, origin: str | None = None) -> None:
        super().__init__(name)
        self._why = why
        self._origin = origin or name

    def __getattr__(self, name: str) -> Any:
        full_name = f"{self._full_name}.{name}"
        if (plain := _plain(full_name)) is not None:
            return plain
        if full_name in _NEED_A_GPU:
            raise self._derived(f".{name}")._error()
        return "0.0.0" if name == "__version__" else super().__getattr__(name)

    def __getitem__(self, key: Any) -> Any:
        """Return itself, or the class that ``Float[Tensor, "b n"]`` annotates."""
        is_note = self._full_name.partition(".")[0] == "jaxtyping" and isinstance(key, tuple)
        return key[0] if is_note and key else super().__getitem__(key)

    def _derived(self, suffix: str) -> StandIn:
        return StandIn(self._full_name + suffix, self._why, self._origin)

    def _error(self, on_behalf_of: str = "") -> StandInError:
        return StandInError(self._origin, self._why, on_behalf_of)

    def _may_be_called(self) -> bool:
        return bool(_LOGS.search(self._full_name)) or super()._may_be_called()

    def _is_transparent(self) -> bool:
        name = self._full_name.partition("(")[0]
        is_of_typing = name.rpartition(".")[2] in _OF_TYPING
        return name.partition(".")[0] in _TRANSPARENT or is_of_typing or name in _COMPILES

    def __reduce__(self) -> tuple[Any, ...]:
        return StandIn, (self._full_name, self._why, self._origin)

    def __repr__(self) -> str:
        return f"<{self._full_name}, which {self._why}>"


_TRANSPARENT = frozenset(
    {
        "beartype", "deprecated", "deprecation", "jaxtyping", "line_profiler", "nvtx", "overrides",
        "torchtyping", "typeguard", "typing", "typing_extensions", "warnings",
    }
)  # fmt: skip
"""Packages whose decorators change nothing about what a function computes.

Of the standard library, they have names that this version of Python lacks.
"""


_OF_TYPING = frozenset({"final", "overload", "override", "runtime_checkable"})
"""Decorators of `typing`, which packages also take from other packages, for older Pythons."""


_LOGS = re.compile(r"\b_?log(ger|ging)\b", re.IGNORECASE)
"""Matches the dotted name of what logs, as packages and their loggers are called."""

_COMPILES = frozenset(
    {"numba.extending.register_jitable", "numba.generated_jit", "numba.jit", "numba.njit"}
)
"""Decorators that compile a function, which computes the same without."""

_NEED_A_GPU = frozenset({"triton.runtime.driver.active"})
"""What raises without a GPU in the package itself, so that the code that asks goes on without."""

_PLAIN = {"numba.prange": range}
"""What stands for itself without its package: a parallel loop, run in order."""


_VARIABLES = frozenset({"ParamSpec", "TypeVar", "TypeVarTuple"})

_LATER = frozenset({"default", "infer_variance"})
"""What a type variable may be given in later versions of Python only, and type checkers read."""


def _plain(name: str) -> Any:
    """Return an object that computes the same as a dotted name; None if there is none.

    A class can only derive from ``Generic[T]`` if `T` is a type variable, so the names of
    ``typing_extensions`` are those that ``typing`` has. The module ``typing`` of a package that
    shares its annotations has ``Tensor`` from PyTorch.
    """
    package, _, own = name.rpartition(".")
    if own == "Tensor" and "typing" in package.split("."):
        return library().torch.Tensor
    if package != "typing_extensions":
        return _PLAIN.get(name)
    found: Any = getattr(typing, own, None)
    return _variable(found) if own in _VARIABLES else found


def _variable(kind: Callable[..., Any]) -> Callable[..., Any]:
    """Make type variables of a kind, without what this version of Python does not know."""

    def make(*args: Any, **kwargs: Any) -> Any:
        return kind(*args, **{name: kwargs[name] for name in kwargs.keys() - _LATER})

    return make


def stand_in(name: str, why: str) -> Any:
    """Make what a replaced statement binds: a stand-in, or what computes the same."""
    plain = _plain(name)
    return StandIn(name, why) if plain is None else plain
