"""Custom operators: the Python part of ``torch.library``.

An operator is a function with a formula for its gradient. Here it is a custom Function and nothing
else: there is no dispatcher to register it with and no compiler to trace it, so registrations for
those are kept but not used. ``torch.ops`` finds operators by name.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from gradtool.engine._placeholder import Placeholder
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd.function import Function
from gradtool.engine.library._registered import RegisteredOp

__all__ = [
    "CustomOpDef",
    "Library",
    "custom_op",
    "define",
    "impl",
    "impl_abstract",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_vmap",
]

_Register = Callable[[Callable[..., Any]], Callable[..., Any]]

DEFINED: dict[str, CustomOpDef | RegisteredOp] = {}
"""All operators by qualified name."""


class CustomOpDef:
    """An operator, made by `custom_op`."""

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        mutates: Iterable[str],
        device_types: str | Sequence[str] | None = None,
    ) -> None:
        self._namespace, _, self._name = name.partition("::")
        self._init_fn = function
        self._mutates = tuple(mutates)
        self._kernels: dict[str, Callable[..., Any]] = {}
        self.register_kernel(device_types, function)
        self._setup_context_fn: Callable[..., Any] | None = None
        self._backward_fn: Callable[..., Any] | None = None
        self._vmap_fn: Callable[..., Any] | None = None
        self._function: type[Function] | None = None
        DEFINED[name] = self

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._namespace}::{self._name})>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs, with the registered formula as their graph."""
        # At the first call: rules are registered after the operator is defined.
        if self._function is None:
            self._function = _function(self)
        return self._function.apply(*args, **kwargs)

    def register_autograd(
        self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None
    ) -> None:
        """Register the gradient as for a Function: a backward and a ``setup_context``.

        Raises:
            RuntimeError: the operator changes arguments in place.
        """
        if self._mutates:
            raise RuntimeError(
                f"Cannot register autograd formula for non-functional operator {self!r}. Please "
                "create a functional operator and register an autograd formula for that."
            )
        self._backward_fn, self._setup_context_fn = backward, setup_context

    def register_vmap(self, func: Callable[..., Any] | None = None) -> Any:
        """Register the batching rule ``func(info, in_dims, *args)``, as for `Function.vmap`."""

        def register(func: Callable[..., Any]) -> Callable[..., Any]:
            self._vmap_fn, self._function = func, None
            return func

        return register if func is None else register(func)

    def register_kernel(
        self, device_types: str | Sequence[str] | None, fn: Callable[..., Any] | None = None, /
    ) -> Any:
        """Register the implementation for devices, in place of the function itself."""

        def register(fn: Callable[..., Any]) -> Callable[..., Any]:
            for device in [device_types] if isinstance(device_types, str) else device_types or ():
                self._kernels[device] = fn
            if device_types is None:
                # For all devices: it replaces those of single devices too.
                self._kernels.clear()
                self._kernels[""] = fn
            return fn

        return register if fn is None else register(fn)

    def register_fake(self, fn: Callable[..., Any], /) -> Callable[..., Any]:
        """Register shapes and dtypes of the outputs, which are not used here."""
        return fn

    def _kernel(self, device: str) -> Callable[..., Any]:
        kernel = self._kernels.get(device) or self._kernels.get("")
        if kernel is None:
            raise NotImplementedError(
                f"Could not run '{self._namespace}::{self._name}' with arguments from the "
                f"'{device.upper()}' backend. '{self._namespace}::{self._name}' is only available "
                f"for these backends: [{', '.join(self._kernels).upper()}]."
            )
        return kernel

    def _compute(self, *args: Any) -> Any:
        """Compute the outputs on the device of the first tensor.

        Raises:
            NotImplementedError: it supports other devices only.
            RuntimeError: an output is an input, or a view of one.
        """
        tensors = [value for value in args if isinstance(value, Tensor)]
        outputs = self._kernel(tensors[0].device.type if tensors else "cpu")(*args)
        for output in outputs if isinstance(outputs, tuple | list) else (outputs,):
            if any(_alias(output, tensor) for tensor in tensors):
                raise RuntimeError(
                    f"{self._namespace}::{self._name} (with implementation in "
                    f"{self._init_fn.__module__}): The output of this custom operator (1) must not "
                    "also be an input to this custom operator and (2) may not alias any inputs to "
                    "this custom operator or other returns."
                )
        return outputs


def _alias(output: Any, tensor: Tensor) -> bool:
    if not isinstance(output, Tensor):
        return False
    storage = output._storage
    return output is tensor or (storage is not None and storage is tensor._storage)


def _function(op: CustomOpDef) -> type[Function]:
    """Make the custom Function of an operator."""

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        if op._setup_context_fn is not None:
            op._setup_context_fn(ctx=ctx, inputs=inputs, output=output)

    def backward(ctx: Any, *cotangents: Any) -> Any:
        if op._backward_fn is None:
            raise RuntimeError(
                f"Trying to backward through {op._namespace}.{op._name}.default but no autograd "
                "formula was registered. Please use register_autograd to add one."
            )
        return op._backward_fn(ctx, *cotangents)

    # `apply` binds keyword arguments by the signature of the user's function.
    forward = functools.wraps(op._init_fn)(lambda *args: op._compute(*args))
    methods: dict[str, Any] = {
        "forward": forward,
        "setup_context": setup_context,
        "backward": backward,
    }
    if op._vmap_fn is not None:
        methods["vmap"] = op._vmap_fn
    namespace: dict[str, Any] = {name: staticmethod(each) for name, each in methods.items()}
    metaclass: Any = type(Function)
    made: type[Function] = metaclass(f"{op._namespace}_{op._name}", (Function,), namespace)
    return made


def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: str | Sequence[str] | None = None,
    schema: str | None = None,
    tags: Any = None,
) -> Any:
    """Make an operator from a function, or return a decorator.

    Args:
        name: ``namespace::name``.
        fn: Computes the outputs, which may not be views of the inputs.
        mutates_args: Names of arguments that it changes in place.
        device_types: The devices that it supports; None for all.
        schema: Types of arguments and outputs; ignored.
        tags: Properties for a compiler; ignored.

    Raises:
        ValueError: the name has no namespace.
    """
    if "::" not in name:
        raise ValueError(f"Expected `name` to be of the form `namespace::op_name`, got {name!r}")

    def made(fn: Callable[..., Any]) -> CustomOpDef:
        return CustomOpDef(name, fn, mutates_args, device_types)

    return made if fn is None else made(fn)


def register_autograd(
    op: str | CustomOpDef,
    backward: Callable[..., Any],
    /,
    *,
    setup_context: Callable[..., Any] | None = None,
    lib: Any = None,
) -> None:
    """Call `CustomOpDef.register_autograd` of an operator, given itself or by name."""
    _found(op).register_autograd(backward, setup_context=setup_context)


def register_vmap(
    op: str | CustomOpDef, func: Callable[..., Any] | None = None, /, *, lib: Any = None
) -> Any:
    """Call `CustomOpDef.register_vmap` of an operator, given itself or by name."""
    return _found(op).register_vmap(func)


def register_kernel(
    op: str | CustomOpDef,
    device_types: str | Sequence[str] | None,
    func: Callable[..., Any] | None = None,
    /,
    *,
    lib: Any = None,
) -> Any:
    """Call `CustomOpDef.register_kernel` of an operator, given itself or by name."""
    return _found(op).register_kernel(device_types, func)


def register_fake(
    op: str | CustomOpDef, func: Callable[..., Any] | None = None, /, **options: Any
) -> Any:
    """Call `CustomOpDef.register_fake` of an operator, given itself or by name."""
    register: _Register = _found(op).register_fake
    return register if func is None else register(func)


impl_abstract = register_fake


def _found(op: str | CustomOpDef) -> Any:
    """Return an operator, given itself or by name; while a module is imported, any operator.

    Raises:
        EngineLacksError: `custom_op` made no operator of this name.
    """
    if isinstance(op, CustomOpDef | RegisteredOp):
        return op
    found = DEFINED.get(op) if isinstance(op, str) else None
    if found is None:
        from gradtool.engine._placeholder import EngineLacksError, is_importing, placeholder

        name = f"torch.ops.{str(op).replace('::', '.')}"
        if not is_importing():
            raise EngineLacksError(name)
        return placeholder(name)
    return found


class Library:
    """Operators of a namespace: ``Library("mine", "DEF")``.

    Args:
        ns: The namespace.
        kind: ``DEF``, ``IMPL`` or ``FRAGMENT``; the same here.
        dispatch_key: The key of implementations that name none.
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key

    def define(self, schema: str | Placeholder, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Declare an operator by its schema, and return its name.

        A schema that PyTorch would have inferred declares nothing. Its implementation does.
        """
        if isinstance(schema, Placeholder):
            return ""
        name = schema.partition("(")[0].strip()
        DEFINED[f"{self.ns}::{name}"] = RegisteredOp(f"{self.ns}::{name}", schema)
        return name

    def impl(self, op_name: Any, fn: Callable[..., Any], dispatch_key: str = "", **_: Any) -> None:
        """Implement an operator for a device, or for all of them."""
        name = str(op_name).rpartition("::")[2].partition(".")[0]
        _implement(f"{self.ns}::{name}", dispatch_key or self.dispatch_key, fn)


def define(qualname: str, schema: str, *, lib: Any = None, tags: Any = ()) -> None:
    """Declare an operator by its qualified name and its schema."""
    DEFINED[qualname] = RegisteredOp(qualname, schema)


def impl(qualname: Any, types: Any, func: Any = None, *, lib: Any = None) -> Any:
    """Implement an operator for devices, or return a decorator that does.

    The older ``impl(library, name, dispatch_key)`` returns a decorator too.
    """
    if isinstance(qualname, Library):
        of, name, key = qualname, types, func or ""
        return _decorator(lambda fn: of.impl(name, fn, key))
    register = _decorator(lambda fn: _implement(qualname, types, fn))
    return register if func is None else register(func)


def _decorator(register: Callable[[Any], None]) -> _Register:
    def decorated(fn: Callable[..., Any]) -> Callable[..., Any]:
        register(fn)
        return fn

    return decorated


def _implement(name: str, keys: str | Sequence[str], function: Callable[..., Any]) -> None:
    op = DEFINED.setdefault(name, RegisteredOp(name, ""))
    if isinstance(op, RegisteredOp):
        op.implement(keys, function)
