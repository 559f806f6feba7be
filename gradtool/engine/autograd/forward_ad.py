"""Forward mode by hand: tensors made dual carry a tangent through what is done with them.

As in torch there is one level of it at a time; `gradtool.engine.func.jvp` nests.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gradtool.engine._levels.dual import NESTED, DualLevel
from gradtool.engine._levels.forward import ForwardLevel
from gradtool.engine._levels.tangents import apart_view
from gradtool.engine._modes import modes
from gradtool.engine._tensor import Tensor

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]


_current_level = -1
"""Number of the level that was entered last, for code that looks at torch's."""


class UnpackedDualTensor(NamedTuple):
    """Result of `unpack_dual`; the tangent of a constant is None."""

    primal: Tensor
    tangent: Tensor | None


def _current() -> ForwardLevel | None:
    level: ForwardLevel | None = modes.dual_level
    return level


def enter_dual_level() -> int:
    """Enter the level and return its number.

    Raises:
        RuntimeError: it has been entered already.
    """
    if any(isinstance(level, DualLevel) for level in modes.levels):
        raise RuntimeError(NESTED)
    level = ForwardLevel()
    level.__enter__()
    modes.dual_level = level
    global _current_level
    _current_level = 0
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Leave the level: tangents are dropped.

    Raises:
        RuntimeError: it was not entered, or is not the last one that was.
    """
    current = _current()
    if level is not None and level != _number():
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. "
            "This is not supported."
        )
    if current is None:
        raise RuntimeError("Dual level must be a positive number.")
    modes.dual_level = None
    global _current_level
    _current_level = -1
    current.__exit__()


class dual_level:
    """The level as a context manager."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exc_info: object) -> None:
        exit_dual_level()


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A tensor with the values of `tensor` that carries `tangent`.

    Raises:
        RuntimeError: no level was entered, the shapes differ, or one has a tangent already.
        ValueError: a tensor is not floating or complex.
    """
    current = _level_of(level, "_make_dual")
    if current is None:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    for name, value in (("primal", tensor), ("tangent", tangent)):
        if not (value.is_floating_point() or value.is_complex()):
            raise ValueError(
                f"Expected {name} to be floating point or complex, but got: {value.dtype}"
            )
    if _tangent(current, tensor) is not None:
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the "
            "same level 0 is not supported."
        )
    if _tangent(current, tangent) is not None:
        raise RuntimeError(
            "Setting a forward grad that itself has a forward gradient at the same level0 is not "
            "supported."
        )
    primal = current.below(tensor)
    if modes.inference:
        return apart_view(primal)
    return current.make_dual(primal, current.below(tangent))


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """Take a tensor apart into its primal and its tangent."""
    current = _level_of(level, "_fw_primal")
    if current is not None and not isinstance(tensor, Tensor):
        raise TypeError(
            f"_unpack_dual(): argument 'dual' (position 1) must be Tensor, not "
            f"{type(tensor).__name__}"
        )
    if current is None:
        return UnpackedDualTensor(tensor, None)
    primal = apart_view(current.below(tensor))
    if primal._node is not None:
        primal._node.title = "Identity"  # type: ignore[attr-defined]  # that of `view_as`
    return UnpackedDualTensor(primal, _tangent(current, tensor))


def _tangent(level: ForwardLevel, tensor: Any) -> Tensor | None:
    """The tangent of a tensor; hidden where none is computed, as in inference mode."""
    return level.tangent_of(tensor) if modes.forward and not modes.inference else None


def _level_of(number: int | None, name: str) -> ForwardLevel | None:
    """Return the level of a number, by default the current one; None for a negative one.

    Raises:
        RuntimeError: there is none of this number.
    """
    if number is not None and number >= 0 and number != _number():
        raise RuntimeError(f"Invalid level given to {name}")
    return None if number is not None and number < 0 else _current()


def _number() -> int:
    return -1 if _current() is None else 0


class _set_fwd_grad_enabled:
    """Compute tangents or not, from here on; as a context manager, until the block ends."""

    def __init__(self, mode: bool) -> None:
        self._before = modes.forward
        modes.forward = bool(mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc_info: object) -> None:
        modes.forward = self._before


def _is_fwd_grad_enabled() -> bool:
    """True if operations on dual tensors give dual tensors."""
    return modes.forward
