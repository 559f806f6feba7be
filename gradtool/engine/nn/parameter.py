"""Parameter: a tensor that a Module learns."""

from __future__ import annotations

from typing import Any

from gradtool.engine._lazy import bits, mark, memory
from gradtool.engine._tensor import Tensor, _fill

__all__ = ["Parameter"]


class Parameter(Tensor):
    """Leaf tensor that registers with the Module it is assigned to."""

    __slots__ = ()

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True) -> None:
        """Share the memory of `data`; without it, the parameter is empty."""
        source = Tensor() if data is None else data
        if not isinstance(source, Tensor):
            raise TypeError(f"Parameter data must be a Tensor, not {type(source).__name__}")
        _fill(self, memory(source))
        mark(self, *bits(source))
        self._storage = source.detach()._storage
        self.requires_grad = requires_grad

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        # As in torch, without its gradient and without attributes.
        copied = memo[id(self)] = type(self)(self.detach().clone(), self.requires_grad)
        return copied

    def __reduce__(self) -> tuple[Any, ...]:
        return Parameter, (self.detach(), self.requires_grad), self._attributes_of_user()
