"""Deprecated ``weight_norm``: a weight as a length times a direction, computed before each call.

Weight normalization is that of Salimans and Kingma (2016).
"""

from __future__ import annotations

import warnings
from typing import Any

from gradtool.engine._tensor import Tensor
from gradtool.engine.nn.modules.module import Module
from gradtool.engine.nn.parameter import Parameter


class WeightNorm:
    """Hook that computes a weight as a length times a direction."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, dim

    def length(self, v: Tensor) -> Tensor:
        """Norms over all dimensions but one, kept for broadcasting."""
        others = [each for each in range(v.ndim) if each != self.dim]
        norm: Tensor = v.norm() if self.dim is None else v.norm(2, others, True)
        return norm

    def compute_weight(self, module: Any) -> Tensor:
        """``g · v / ‖v‖``."""
        g, v = getattr(module, f"{self.name}_g"), getattr(module, f"{self.name}_v")
        weight: Tensor = v * (g / self.length(v))
        return weight

    def __call__(self, module: Any, inputs: Any) -> None:
        """Set the weight for the next call."""
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Learn the length ``NAME_g`` and the direction ``NAME_v`` of a weight."""
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of "
        "`torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    hook = WeightNorm(name, dim)
    refuse_second(module, WeightNorm, name)
    weight = module._parameters.pop(name)
    module.register_parameter(f"{name}_g", Parameter(hook.length(weight).detach()))
    module.register_parameter(f"{name}_v", Parameter(weight.detach()))
    setattr(module, name, hook.compute_weight(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Make the weight a parameter again, with its current value."""
    weight = remove_hook(module, WeightNorm, name).compute_weight(module)
    delattr(module, name)
    delattr(module, f"{name}_g")
    delattr(module, f"{name}_v")
    module.register_parameter(name, Parameter(weight.detach()))
    return module


def refuse_second(module: Module, kind: type[Any], name: str) -> None:
    """Refuse a second hook of one kind on the same parameter."""
    if any(type(hook) is kind and hook.name == name for hook, _ in _hooks(module).values()):
        raise RuntimeError(
            f"Cannot register two {kind.__name__} hooks on the same parameter {name}"
        )


def remove_hook(module: Module, kind: type[Any], name: str) -> Any:
    """Remove the hook of one kind that computes a parameter, and return it."""
    for key, (hook, _) in _hooks(module).items():
        if type(hook) is kind and hook.name == name:
            del _hooks(module)[key]
            return hook
    raise ValueError(f"{kind.__name__} of '{name}' not found in {module}")


def _hooks(module: Module) -> dict[int, Any]:
    return module._forward_pre_hooks


__all__ = [
    "WeightNorm",
    "refuse_second",
    "remove_hook",
    "remove_weight_norm",
    "weight_norm",
]  # fmt: skip
