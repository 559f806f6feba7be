"""Forward mode by hand: tensors made dual carry a tangent through what is done with them.

As in torch there is one level of it at a time; `gradtool.engine.func.jvp` nests.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gradtool.engine._levels.forward import ForwardLevel
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
    if _current() is not None:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    level = ForwardLevel()
    level.__enter__()
    modes.dual_level = level
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Leave the level: tangents are dropped.

    Raises:
        RuntimeError: it was not entered.
    """
    current = _current()
    if current is None or level not in (None, 0):
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. "
            "This is not supported."
        )
    modes.dual_level = None
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
        RuntimeError: no level was entered, or the shapes differ.
        ValueError: a tensor is not floating or complex.
    """
    # Part of torch's signature; there is only one level.
    del level
    current = _current()
    if current is None:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    if current.owns(tensor):
        raise RuntimeError("Cannot make a dual tensor of a tensor that has a tangent already")
    return current.make_dual(tensor, tangent)


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """Take a tensor apart into its primal and its tangent."""
    del level
    current = _current()
    if current is None or not current.owns(tensor):
        return UnpackedDualTensor(tensor, None)
    return UnpackedDualTensor(current.below(tensor), current.tangent_of(tensor))


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
