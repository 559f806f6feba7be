"""An ``nn.Module`` as a function of its inputs and parameters.

Both libraries can call a module with other tensors in the place of its own. So a parameter is
an argument like any other, named ``weight`` or ``layers.0.bias``, and no call leaves a trace in
the module's parameters or buffers.
"""

from __future__ import annotations

import sys
from typing import Any

from gradtool.adapters.library import library


def is_module_class(value: object) -> bool:
    """Whether `value` is a class of modules."""
    return isinstance(value, type) and issubclass(value, _module_classes())


def is_module(value: object) -> bool:
    """Whether `value` is a module."""
    return isinstance(value, _module_classes())


def _module_classes() -> tuple[type[Any], ...]:
    """``nn.Module`` of the library; nothing before it is loaded, for then nothing derives of it."""
    nn = sys.modules.get(f"{library().torch.__name__}.nn")
    return () if nn is None else (nn.Module,)


class ModuleCall:
    """Calls `module`; what is passed under the name of a parameter takes its place.

    Args:
        module: The module, which is not changed.
        dtype: Of its floating parameters and buffers; None: as they are.
        device: Where its parameters are; None: where they are.
    """

    def __init__(self, module: Any, dtype: Any = None, device: str | None = None) -> None:
        self.module = module
        self.__name__ = type(module).__name__
        self.__wrapped__ = module.forward
        if hasattr(module, "sample_inputs"):
            self.sample_inputs = module.sample_inputs
        self.parameters = {
            name: _as(each, dtype, device).requires_grad_(each.requires_grad)
            for name, each in module.named_parameters()
        }
        """The values of the parameters, by their names."""
        self.buffers = {name: _as(each, dtype, device) for name, each in module.named_buffers()}
        """What the buffers hold at the start of every call."""

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """The outputs; `named` are parameters and keyword arguments."""
        state = {name: named.pop(name, own) for name, own in self.parameters.items()}
        device = _device((*inputs, *named.values(), *state.values()))
        for name, buffer in self.buffers.items():
            state[name] = buffer.clone() if device is None else buffer.to(device, copy=True)
        return library().torch.func.functional_call(self.module, state, inputs, named)


def _as(tensor: Any, dtype: Any, device: str | None) -> Any:
    tensor = tensor.detach().clone()
    if dtype is not None and tensor.is_floating_point():
        tensor = tensor.to(dtype)
    return tensor if device in {None, "cpu"} else tensor.to(device)


def _device(values: tuple[Any, ...]) -> Any:
    """The device of the first tensor."""
    kind = library().Tensor
    return next((value.device for value in values if isinstance(value, kind)), None)
