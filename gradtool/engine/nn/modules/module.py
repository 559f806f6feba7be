"""Module, the base class of layers: the part that code around custom Functions uses."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Self

from gradtool.engine import _dtypes
from gradtool.engine._ops.creation.creation import empty_like
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn.modules._hooks import ModuleHooks
from gradtool.engine.nn.modules._tree import (
    REGISTRIES,
    IncompatibleKeys,
    ModuleTree,
    load,
    state_of,
)
from gradtool.engine.nn.parameter import Parameter

__all__ = ["Module"]


class Module(ModuleHooks, ModuleTree):
    """Base class of layers; parameters, buffers and Modules assigned to it are its state."""

    training: bool

    def __init__(self) -> None:
        vars(self).update(
            training=True,
            _parameters={},
            _buffers={},
            _modules={},
            _transient_buffers=set(),
            _forward_hooks={},
            _forward_pre_hooks={},
            _backward_hooks={},
            _backward_pre_hooks={},
        )

    # ---- what it holds ----------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        holding = next((each for each in REGISTRIES if name in vars(self).get(each, ())), None)
        registry = _registry_of(value) or holding
        if registry is None:
            object.__setattr__(self, name, value)
            return
        if registry not in vars(self):
            raise AttributeError(
                f"cannot assign {registry[1:]} before {type(self).__name__}.__init__() call"
            )
        if holding == registry and not _may_replace(registry, value):
            raise TypeError(
                f"cannot assign '{type(value).__name__}' as {registry[1:-1]} '{name}' "
                f"({_KINDS[registry].__name__} or None expected)"
            )
        self._forget(name)
        vars(self)[registry][name] = value

    def __getattr__(self, name: str) -> Any:
        for registry in REGISTRIES:
            if name in vars(self).get(registry, ()):
                return vars(self)[registry][name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __delattr__(self, name: str) -> None:
        if not self._forget(name):
            object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        held = (name for registry in REGISTRIES for name in vars(self).get(registry, ()))
        return sorted({*super().__dir__(), *held})

    def _forget(self, name: str) -> bool:
        found = False
        for holder in (vars(self), *(vars(self).get(registry, {}) for registry in REGISTRIES)):
            found = holder.pop(name, self) is not self or found
        return found

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter, or reserve its name with None."""
        self._register("_parameters", name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is state but not learned; `state_dict` has it if `persistent`."""
        self._register("_buffers", name, tensor)
        if not persistent:
            self._transient_buffers.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a Module; its name need not be an identifier."""
        self._register("_modules", name, module)

    register_module = add_module

    def _register(self, registry: str, name: str, value: Any) -> None:
        if registry not in vars(self):
            raise AttributeError(
                f"cannot assign {registry[1:-1]} before {type(self).__name__}.__init__() call"
            )
        if not _may_replace(registry, value):
            raise TypeError(
                f"cannot assign '{type(value).__name__}' object to {registry[1:-1]} '{name}' "
                f"({_KINDS[registry].__name__} or None required)"
            )
        if not name or "." in name:
            raise KeyError(f'{registry[1:-1]} name can\'t be empty or contain ".", got {name!r}')
        if hasattr(self, name) and name not in vars(self)[registry]:
            raise KeyError(f"attribute '{name}' already exists")
        vars(self)[registry][name] = value

    # ---- changing all of it -----------------------------------------------------------

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Call ``fn`` on every Module below it, then on itself."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def _apply(self, fn: Callable[[Tensor], Tensor]) -> Self:
        """Replace the data of every parameter and gradient, and every buffer."""
        for module in self.modules():
            for parameter in module._parameters.values():
                if parameter is not None:
                    parameter.data, grad = fn(parameter.data), parameter.grad
                    parameter.grad = None if grad is None else fn(grad)
            for name, buffer in module._buffers.items():
                module._buffers[name] = None if buffer is None else fn(buffer)
        return self

    def to(self, *args: Any, memory_format: Any = None, **kwargs: Any) -> Self:
        """Move its state to a device, or cast its floating tensors to a dtype.

        The arguments are those of `Tensor.to`; `memory_format` concerns tensors of four or five
        dimensions.
        """

        def convert(tensor: Tensor) -> Tensor:
            order = memory_format if tensor.ndim in (4, 5) else None
            moved: Tensor = tensor.to(*args, memory_format=order, **kwargs)
            if not (tensor.is_floating_point() or tensor.is_complex()):
                moved = tensor.to(moved.device)
            return moved

        return self._apply(convert)

    def _cast_floating(self, dtype: _dtypes.dtype) -> Self:
        """Cast floating tensors, and leave complex ones as they are."""
        return self._apply(lambda each: each.to(dtype) if each.is_floating_point() else each)

    def double(self) -> Self:
        """Cast its floating tensors to float64."""
        return self._cast_floating(_dtypes.float64)

    def float(self) -> Self:
        """Cast its floating tensors to float32."""
        return self._cast_floating(_dtypes.float32)

    def half(self) -> Self:
        """Cast its floating tensors to float16."""
        return self._cast_floating(_dtypes.float16)

    def bfloat16(self) -> Self:
        """Cast its floating tensors to bfloat16."""
        return self._cast_floating(_dtypes.bfloat16)

    def type(self, dst_type: Any) -> Self:
        """Cast all of its state to a dtype."""
        return self._apply(lambda tensor: tensor.type(dst_type))

    def to_empty(self, *, device: Any, recurse: bool = True) -> Self:
        """Move its state to a device without its values."""
        return self._apply(lambda tensor: empty_like(tensor, device=device))

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing: the engine has no compiler."""

    def share_memory(self) -> Self:
        """Do nothing: the engine runs in one process."""
        return self

    def cpu(self) -> Self:
        """Move its state to the CPU."""
        return self.to("cpu")

    def cuda(self, device: Any = None) -> Self:
        """Move its state to a CUDA device, by default the current one."""
        return self._apply(lambda tensor: tensor.cuda(device))

    def train(self, mode: bool = True) -> Self:
        """Set `training` on it and every Module below it."""
        for module in self.modules():
            module.training = mode
        return self

    def eval(self) -> Self:
        """Clear `training` on it and every Module below it."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Let its parameters require gradients, or not."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of its parameters, or set them to zero."""
        for parameter in self.parameters():
            if set_to_none or parameter.grad is None:
                parameter.grad = None
            else:
                parameter.grad = parameter.grad.detach() * 0

    # ---- saving and showing it --------------------------------------------------------

    def state_dict(
        self, *, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> OrderedDict[str, Any]:
        """Return parameters and persistent buffers by dotted name."""
        state = state_of(self, prefix, keep_vars)
        if destination is None:
            return state
        destination.update(state)
        held: OrderedDict[str, Any] = destination
        return held

    def load_state_dict(
        self,
        state_dict: Mapping[str, Any],
        strict: bool = True,
        assign: bool = False,
    ) -> IncompatibleKeys:
        """Copy values into its parameters and buffers, or `assign` them as they are.

        Raises:
            RuntimeError: A shape does not fit; or, if `strict`, a key is missing or unexpected.
        """
        return load(self, state_dict, strict, assign)

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """Return the text that `repr` shows in the parentheses, besides children."""
        return ""

    def __repr__(self) -> str:
        lines = [line for line in self.extra_repr().split("\n") if line]
        children = [f"({name}): {child!r}" for name, child in self._modules.items()]
        if not children and len(lines) <= 1:
            return f"{type(self).__name__}({''.join(lines)})"
        body = "\n".join([*lines, *children]).replace("\n", "\n  ")
        return f"{type(self).__name__}(\n  {body}\n)"


_KINDS: dict[str, type] = {"_parameters": Parameter, "_buffers": Tensor, "_modules": Module}


def _registry_of(value: Any) -> str | None:
    """Registry of a value that becomes state when assigned; None for other values."""
    if isinstance(value, Parameter):
        return "_parameters"
    return "_modules" if isinstance(value, Module) else None


def _may_replace(registry: str, value: Any) -> bool:
    return value is None or isinstance(value, _KINDS[registry])
