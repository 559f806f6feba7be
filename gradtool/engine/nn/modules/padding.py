"""Padding as Modules."""

from __future__ import annotations

from typing import Any

from gradtool.engine._tensor import Tensor
from gradtool.engine.nn import functional
from gradtool.engine.nn.modules.module import Module
from gradtool.engine.nn.modules.utils import _ntuple


class _Padding(Module):
    """Base of the paddings: two numbers for each dimension, the last one first."""

    spatial: int
    mode: str

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = _ntuple(2 * self.spatial)(padding)

    def forward(self, input: Tensor) -> Tensor:
        """Pad the input."""
        return functional.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        """Show the numbers."""
        return f"{self.padding}"


class _Constant(_Padding):
    """Padding with a constant."""

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """Pad the input."""
        return functional.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        """Show the numbers and the value."""
        return f"padding={self.padding}, value={self.value}"


def _padding(kind: str, spatial: int) -> Any:
    base = _Constant if kind == "Constant" else _Padding
    name = f"{kind}Pad{spatial}d"
    members = {
        "__doc__": f"`nn.functional.pad` of the last {spatial} dimensions, {_DONE[kind]}.",
        "__module__": __name__,
        "spatial": spatial,
        "mode": _MODES[kind],
    }
    return type(name, (base,), members)


_MODES = {
    "Circular": "circular", "Constant": "constant", "Reflection": "reflect",
    "Replication": "replicate", "Zero": "constant",
}  # fmt: skip
_DONE = {
    "Circular": "going round", "Constant": "with a value", "Reflection": "mirrored",
    "Replication": "with the border", "Zero": "with zeros",
}  # fmt: skip

CircularPad1d, CircularPad2d, CircularPad3d = (_padding("Circular", n) for n in (1, 2, 3))
ConstantPad1d, ConstantPad2d, ConstantPad3d = (_padding("Constant", n) for n in (1, 2, 3))
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = (_padding("Reflection", n) for n in (1, 2, 3))
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = (
    _padding("Replication", n) for n in (1, 2, 3)
)
ZeroPad1d, ZeroPad2d, ZeroPad3d = (_padding("Zero", n) for n in (1, 2, 3))

__all__ = [
    "CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d",
    "ConstantPad3d", "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d",
    "ReplicationPad2d", "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d",
]  # fmt: skip
