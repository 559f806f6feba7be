"""Modules that hold other Modules, or parameters, in order or by name."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gradtool.engine._tensor import Tensor
from gradtool.engine.nn.modules.module import Module
from gradtool.engine.nn.parameter import Parameter

__all__ = ["ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


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


class ModuleDict(Module):
    """Modules by name."""

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        super().__init__()
        self.update(modules or {})

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, name: str) -> bool:
        return name in self._modules

    def __getitem__(self, name: str) -> Any:
        return self._modules[name]

    def __setitem__(self, name: str, module: Module) -> None:
        self.add_module(name, module)

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._modules.keys()

    def values(self) -> Iterable[Any]:
        """The Modules."""
        return self._modules.values()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Pairs of both."""
        return self._modules.items()

    def update(self, modules: Mapping[str, Module]) -> None:
        """Add Modules, or put them in the place of those of their names."""
        for name, module in modules.items():
            self[name] = module


class ParameterList(Module):
    """A list of parameters; tensors among what is added become some."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._length = 0
        self.extend(values or ())

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Any]:
        return iter([self[position] for position in range(self._length)])

    def __getitem__(self, position: int | slice) -> Any:
        if isinstance(position, slice):
            return type(self)([self[each] for each in range(self._length)[position]])
        return getattr(self, str(range(self._length)[position]))

    def __setitem__(self, position: int, value: Any) -> None:
        setattr(self, str(range(self._length)[position]), _as_parameter(value))

    def append(self, value: Any) -> ParameterList:
        """Add one at the end."""
        self._length += 1
        self[self._length - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Add several at the end."""
        for value in values:
            self.append(value)
        return self


class ParameterDict(Module):
    """Parameters by name; tensors among what is added become some."""

    def __init__(self, parameters: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self._names: list[str] = []
        for name, value in (parameters or {}).items():
            self[name] = value

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        return getattr(self, name)

    def __setitem__(self, name: str, value: Any) -> None:
        setattr(self, name, _as_parameter(value))
        if name not in self._names:
            self._names.append(name)

    def keys(self) -> Iterable[str]:
        """The names."""
        return list(self._names)

    def values(self) -> Iterable[Any]:
        """The parameters."""
        return [self[name] for name in self._names]

    def items(self) -> Iterable[tuple[str, Any]]:
        """Pairs of both."""
        return [(name, self[name]) for name in self._names]


def _as_parameter(value: Any) -> Any:
    plain = isinstance(value, Tensor) and not isinstance(value, Parameter)
    return Parameter(value) if plain else value
