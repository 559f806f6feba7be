"""What a Module holds, by name, and the ways to walk over it and the Modules below it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradtool.engine._tensor import Tensor
    from gradtool.engine.nn.modules.module import Module
    from gradtool.engine.nn.parameter import Parameter

REGISTRIES = ("_parameters", "_buffers", "_modules")


class ModuleTree:
    """The read-only side of a Module's parameters, buffers and children."""

    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]

    def named_modules(
        self,
        memo: set[Any] | None = None,
        prefix: str = "",
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        """It and every Module below it, with dotted names."""
        seen: set[Any] = set() if memo is None else memo
        if self in seen:
            return
        if remove_duplicate:
            seen.add(self)
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                yield from child.named_modules(seen, joined(prefix, name), remove_duplicate)

    def modules(self) -> Iterator[Any]:
        """It and every Module below it."""
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The Modules directly below it, with their names."""
        seen = set()
        for name, child in self._modules.items():
            if child is not None and child not in seen:
                seen.add(child)
                yield name, child

    def children(self) -> Iterator[Module]:
        """The Modules directly below it."""
        return (child for _, child in self.named_children())

    def named_parameters(
        self,
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Parameter]]:
        """Its parameters with dotted names; without `recurse`, not those of Modules below it."""
        return self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Its parameters."""
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_buffers(
        self,
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Tensor]]:
        """Its buffers with dotted names; without `recurse`, not those of Modules below it."""
        return self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Its buffers."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def get_submodule(self, target: str) -> Any:
        """The module under a qualified name such as ``encoder.0``; itself for an empty one.

        Raises:
            AttributeError: there is none.
        """
        module: Any = self
        for name in target.split(".") if target else ():
            module = getattr(module, name, None)
            if not isinstance(module, ModuleTree):
                raise AttributeError(f"{type(self).__name__} has no submodule `{target}`")
        return module

    def set_submodule(self, target: str, module: Module) -> None:
        """Put a Module in the place of the one under a qualified name."""
        owner, _, name = target.rpartition(".")
        setattr(self.get_submodule(owner), name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter under a qualified name.

        Raises:
            AttributeError: there is none.
        """
        return self._get(target, "_parameters", "an nn.Parameter")

    def get_buffer(self, target: str) -> Tensor:
        """The buffer under a qualified name.

        Raises:
            AttributeError: there is none.
        """
        return self._get(target, "_buffers", "a buffer")

    def _get(self, target: str, registry: str, kind: str) -> Any:
        owner, _, name = target.rpartition(".")
        module = self.get_submodule(owner)
        if not hasattr(module, name):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        if name not in vars(module)[registry]:
            raise AttributeError(f"`{name}` is not {kind}")
        return vars(module)[registry][name]

    def _named(
        self, registry: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        owners: Iterable[tuple[str, Any]] = [(prefix, self)]
        if recurse:
            owners = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        seen: set[int] = set()
        for path, owner in owners:
            for name, value in vars(owner)[registry].items():
                if value is not None and not (remove_duplicate and id(value) in seen):
                    seen.add(id(value))
                    yield joined(path, name), value


def joined(prefix: str, name: str) -> str:
    """A dotted name."""
    return f"{prefix}.{name}" if prefix else name
