"""Modules (``nn.Module``) as functions of their inputs and parameters.

Both libraries can call a module with other tensors in place of its own. So a parameter is an
argument like any other, named ``weight`` or ``layers.0.bias``, and no call changes the module's
parameters or buffers.
"""

from __future__ import annotations

import sys
from typing import Any

from gradtool.adapters.library import library


def is_module_class(value: object) -> bool:
    """Return True for a class of modules."""
    return isinstance(value, type) and issubclass(value, _module_classes())


def is_module(value: object) -> bool:
    """Return True for a module."""
    return isinstance(value, _module_classes())


def _module_classes() -> tuple[type[Any], ...]:
    """Return ``nn.Module``, or nothing while it is not loaded and so has no subclasses."""
    nn = sys.modules.get(f"{library().torch.__name__}.nn")
    return () if nn is None else (nn.Module,)


class ModuleCall:
    """Calls `module`; arguments with the name of a parameter take its place.

    Args:
        module: The module, which is not changed.
        dtype: Dtype for its floating parameters and buffers; None keeps theirs.
        device: Device for its parameters; None keeps theirs.
    """

    def __init__(self, module: Any, dtype: Any = None, device: str | None = None) -> None:
        self.module = module
        self.__name__ = type(module).__name__
        # inspect finds the signature of forward through it.
        self.__wrapped__ = module.forward
        if hasattr(module, "sample_inputs"):
            self.sample_inputs = module.sample_inputs
        self.parameters = {
            name: _as(each, dtype, device).requires_grad_(each.requires_grad)
            for name, each in module.named_parameters()
        }
        """The values of the parameters, by their names."""
        self.buffers = {name: _as(each, dtype, device) for name, each in module.named_buffers()}
        """Values of the buffers at the start of every call."""

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """Return the outputs; `named` are parameters and keyword arguments."""
        state = {name: named.pop(name, own) for name, own in self.parameters.items()}
        device = _device((*inputs, *named.values(), *state.values()))
        for name, buffer in self.buffers.items():
            # Every call starts from the same buffers: one that updates running statistics would
            # drift.
            state[name] = buffer.clone() if device is None else buffer.to(device, copy=True)
        return library().torch.func.functional_call(self.module, state, inputs, named)


def _as(tensor: Any, dtype: Any, device: str | None) -> Any:
    tensor = tensor.detach().clone()
    if dtype is not None and tensor.is_floating_point():
        tensor = tensor.to(dtype)
    return tensor if device in {None, "cpu"} else tensor.to(device)


def _device(values: tuple[Any, ...]) -> Any:
    """Return the device of the first tensor."""
    kind = library().Tensor
    return next((value.device for value in values if isinstance(value, kind)), None)
