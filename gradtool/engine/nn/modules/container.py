"""Containers of Modules or parameters, in order or by name."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

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
        """Make a container of the same type with these Modules."""
        return cls(*modules)

    def __setitem__(self, position: int, module: Module) -> None:
        self.add_module(list(self._modules)[position], module)

    def __delitem__(self, position: int | slice) -> None:
        kept = list(self._modules.values())
        del kept[position]
        self._renumber(kept)

    def append(self, module: Module) -> Any:
        """Add a Module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Any:
        """Add Modules at the end."""
        for module in modules:
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Any:
        """Insert a Module before a position."""
        kept = list(self._modules.values())
        kept.insert(index, module)
        self._renumber(kept)
        return self

    def pop(self, key: int) -> Any:
        """Remove a Module and return it."""
        taken = self[key]
        del self[key]
        return taken

    def _renumber(self, modules: list[Any]) -> None:
        self._modules.clear()
        self._modules.update({str(place): module for place, module in enumerate(modules)})


class Sequential(_Ordered):
    """Modules applied one after the other."""

    def __init__(self, *modules: Any) -> None:
        super().__init__()
        named = enumerate(modules)
        if len(modules) == 1 and isinstance(modules[0], OrderedDict):
            named = modules[0].items()  # type: ignore[assignment]  # keys are names then
        for name, module in named:
            self.add_module(str(name), module)

    def forward(self, input: Any) -> Any:
        """Return the output of the last Module."""
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

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __iadd__(self, other: Iterable[Module]) -> Self:
        self.extend(other)
        return self

    def __repr__(self) -> str:
        """Show a run of Modules with the same text in one line."""
        runs: list[tuple[int, int, str]] = []
        for place, module in enumerate(self):
            text = repr(module)
            if runs and runs[-1][2] == text:
                runs[-1] = (runs[-1][0], place, text)
            else:
                runs.append((place, place, text))
        if not runs:
            return f"{type(self).__name__}()"
        lines = [
            f"({first}): {text}" if first == last else _run(first, last, text)
            for first, last, text in runs
        ]
        body = "\n".join(lines).replace("\n", "\n  ")
        return f"{type(self).__name__}(\n  {body}\n)"


def _run(first: int, last: int, text: str) -> str:
    return f"({first}-{last}): {last - first + 1} x {text}"


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
        """Return the names."""
        return self._modules.keys()

    def values(self) -> Iterable[Any]:
        """Return the Modules."""
        return self._modules.values()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Return pairs of name and value."""
        return self._modules.items()

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def pop(self, key: str) -> Any:
        """Remove a Module and return it."""
        return self._modules.pop(key)

    def clear(self) -> None:
        """Remove all Modules."""
        self._modules.clear()

    def update(self, modules: Mapping[str, Module]) -> None:
        """Add or replace Modules by name."""
        for name, module in modules.items():
            self[name] = module


class ParameterList(Module):
    """A list of parameters; added tensors become parameters."""

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
        """Add a value at the end."""
        self._length += 1
        self[self._length - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Add values at the end."""
        for value in values:
            self.append(value)
        return self

    def extra_repr(self) -> str:
        """Show the sizes."""
        return "\n".join(f"  ({place}): {_size_of(each)}" for place, each in enumerate(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(\n{self.extra_repr()}\n)".replace("\n  (", "\n    (")


class ParameterDict(Module):
    """Parameters by name; added tensors become parameters."""

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
        """Return the names."""
        return list(self._names)

    def values(self) -> Iterable[Any]:
        """Return the parameters."""
        return [self[name] for name in self._names]

    def items(self) -> Iterable[tuple[str, Any]]:
        """Return pairs of name and value."""
        return [(name, self[name]) for name in self._names]

    def get(self, key: str, default: Any = None) -> Any:
        """Return a parameter by name, or `default`."""
        return getattr(self, key) if key in self._names else default

    def update(self, parameters: Mapping[str, Any]) -> None:
        """Add or replace parameters by name."""
        for name, value in parameters.items():
            self[name] = value

    def pop(self, key: str) -> Any:
        """Remove a parameter and return it."""
        taken = self[key]
        del self[key]
        return taken

    def __delitem__(self, key: str) -> None:
        delattr(self, key)
        self._names.remove(key)

    def extra_repr(self) -> str:
        """Show the sizes."""
        return "\n".join(f"  ({name}): {_size_of(each, old=True)}" for name, each in self.items())


def _size_of(value: Any, *, old: bool = False) -> str:
    if not isinstance(value, Tensor):
        return f"Object of type: {type(value).__name__}"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    dtype = value.type() if old else value.dtype
    return f"{kind} containing: [{dtype} of size {'x'.join(map(str, value.shape))}]"


def _as_parameter(value: Any) -> Any:
    plain = isinstance(value, Tensor) and not isinstance(value, Parameter)
    return Parameter(value) if plain else value
