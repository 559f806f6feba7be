"""``torch.nn.utils.parametrize``: parameters computed by Modules from learned ones."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd.grad_mode import no_grad
from gradtool.engine.nn.modules.container import ModuleDict, ModuleList
from gradtool.engine.nn.modules.module import Module
from gradtool.engine.nn.parameter import Parameter

_cache: dict[tuple[int, str], Tensor] | None = None


class ParametrizationList(ModuleList):
    """Modules that compute one parameter from ``original``, or ``original0`` and so on."""

    def __init__(self, modules: list[Module], original: Tensor, unsafe: bool = False) -> None:
        super().__init__(modules)
        with no_grad():
            learned: Any = original
            for module in reversed(modules):
                inverse = getattr(module, "right_inverse", None)
                learned = learned if inverse is None else inverse(learned)
        self.is_tensor = isinstance(learned, Tensor)
        if self.is_tensor:
            self.original = _as_original(learned, original)
        else:
            self.ntensors = len(learned)
            for place, each in enumerate(learned):
                setattr(self, f"original{place}", _as_original(each, original))

    def forward(self) -> Tensor:
        """Compute the parameter from the learned one."""
        learned = (
            (self.original,)
            if self.is_tensor
            else tuple(getattr(self, f"original{place}") for place in range(self.ntensors))
        )
        first, *others = list(self)
        made: Tensor = first(*learned)
        for module in others:
            made = module(made)
        return made


def _as_original(learned: Tensor, original: Tensor) -> Tensor:
    if isinstance(original, Parameter):
        return Parameter(learned.detach().clone(), original.requires_grad)
    return learned


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Let a Module compute a parameter or buffer of another Module.

    Raises:
        ValueError: it has no such parameter or buffer.
    """
    if is_parametrized(module, tensor_name):
        _parametrizations(module)[tensor_name].append(parametrization)
        return module
    held = module._parameters if tensor_name in module._parameters else module._buffers
    if tensor_name not in held:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element "
            f"with name '{tensor_name}'"
        )
    original: Any = held.pop(tensor_name)
    if not is_parametrized(module):
        _make_parametrized(module)
    parts = ParametrizationList([parametrization], original, unsafe)
    parts.train(module.training)
    _parametrizations(module)[tensor_name] = parts
    setattr(type(module), tensor_name, _property(tensor_name))
    return module


def _make_parametrized(module: Module) -> None:
    """Give a Module its own subclass, to set properties on."""
    kind = type(module)
    module.__class__ = type(f"Parametrized{kind.__name__}", (kind,), {})
    module.parametrizations = ModuleDict()


def _parametrizations(module: Module) -> Any:
    return module.parametrizations


def _property(name: str) -> property:
    def get(self: Module) -> Tensor:
        if _cache is None:
            return _computed(self, name)
        key = id(self), name
        if key not in _cache:
            _cache[key] = _computed(self, name)
        return _cache[key]

    def assign(self: Module, value: Tensor) -> None:
        parts = _parametrizations(self)[name]
        with no_grad():
            learned: Any = value
            for module in reversed(list(parts)):
                learned = module.right_inverse(learned)
            if parts.is_tensor:
                parts.original.copy_(learned)
            else:
                for place, each in enumerate(learned):
                    getattr(parts, f"original{place}").copy_(each)

    return property(get, assign)


def _computed(module: Module, name: str) -> Tensor:
    made: Tensor = _parametrizations(module)[name]()
    return made


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Return True if the parameter of this name, or any, is computed."""
    held = vars(module).get("_modules", {}).get("parametrizations")
    if not isinstance(held, ModuleDict):
        return False
    return len(held) > 0 if tensor_name is None else tensor_name in held


def remove_parametrizations(
    module: Module, tensor_name: str, leave_parametrized: bool = True
) -> Module:
    """Replace a computed parameter by its current value, or by the learned one."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    parts = _parametrizations(module).pop(tensor_name)
    value = parts().detach() if leave_parametrized else parts.original
    delattr(type(module), tensor_name)
    learned = parts.original if parts.is_tensor else parts.original0
    setattr(module, tensor_name, Parameter(value, learned.requires_grad))
    if not is_parametrized(module):
        del module.parametrizations
        module.__class__ = type(module).__bases__[0]
    return module


@contextlib.contextmanager
def cached() -> Iterator[None]:
    """Compute each parameter once within the block."""
    global _cache
    before, _cache = _cache, {}
    try:
        yield
    finally:
        _cache = before


def type_before_parametrizations(module: Module) -> type:
    """Return the original class of a Module."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization",
    "remove_parametrizations", "type_before_parametrizations",
]  # fmt: skip
