"""Modules that hold other Modules in order."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any

from gradtool.engine.nn.modules.module import Module

__all__ = ["ModuleList", "Sequential"]


class _Ordered(Module):
    """Modules whose names are their positions."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __getitem__(self, position: int | slice) -> Any:
        held = list(self._modules.values())
        return type(self)._of(held[position]) if isinstance(position, slice) else held[position]

    @classmethod
    def _of(cls, modules: Iterable[Any]) -> Any:
        """One with these Modules."""
        return cls(*modules)

    def append(self, module: Module) -> Any:
        """Add a Module at the end."""
        self.add_module(str(len(self)), module)
        return self


class Sequential(_Ordered):
    """Passes its input through each of its Modules."""

    def __init__(self, *modules: Any) -> None:
        super().__init__()
        named = enumerate(modules)
        if len(modules) == 1 and isinstance(modules[0], OrderedDict):
            named = modules[0].items()  # type: ignore[assignment]  # keys are names then
        for name, module in named:
            self.add_module(str(name), module)

    def forward(self, input: Any) -> Any:
        """The output of the last Module."""
        for module in self:
            input = module(input)
        return input


class ModuleList(_Ordered):
    """A list of Modules."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        self.extend(modules or ())

    @classmethod
    def _of(cls, modules: Iterable[Any]) -> Any:
        return cls(modules)

    def extend(self, modules: Iterable[Module]) -> ModuleList:
        """Add Modules at the end."""
        for module in modules:
            self.append(module)
        return self
