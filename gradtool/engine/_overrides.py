"""Subclasses of Tensor: operations on their instances go through ``__torch_function__``.

Only a program that defines such a class pays for it: with the first one the public functions are
replaced by some that look at the classes of their arguments. The methods of a class that derives
from Tensor itself look at them too. While one operation is under way its steps do not, and neither
does a backward walk.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from types import FunctionType
from typing import Any

from gradtool.engine._modes import modes, overrides, overriding
from gradtool.engine._ops.core import methods
from gradtool.engine._ops.core.node_names import give_name
from gradtool.engine._ops.core.op import FUNCTIONS, METHODS
from gradtool.engine._tensor import Tensor
from gradtool.engine._wrapper_subclasses import make_wrapper_subclass

_OURS = "gradtool."
"""The package whose own subclasses of Tensor are no others."""
_PLACES = ("", ".fft", ".linalg", ".nn.functional", ".special")
"""Modules of functions on tensors."""
_OTHER_METHODS = ("clone", "data_ptr", "detach", "detach_", "requires_grad_")


def _overridable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function on tensors so that the classes of its arguments decide first."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        kinds = _kinds((args, tuple(kwargs.values()))) if modes.overrides else []
        if not kinds:
            return function(*args, **kwargs)
        for kind in kinds:
            out = kind.__torch_function__(call, tuple(kinds), args, kwargs)  # type: ignore[attr-defined]
            if out is not NotImplemented:
                return out
        raise TypeError(
            f"Multiple dispatch failed for 'torch.{call.__name__}'; all __torch_function__ "
            "handlers returned NotImplemented:\n\n"
            + "\n".join(f"  - tensor subclass {kind}" for kind in kinds)
        )

    return call


def _kinds(values: Any) -> list[type[Tensor]]:
    """The users' classes among nested values, a class before those that it derives from."""
    found: list[type[Tensor]] = []
    for value in values:
        if isinstance(value, list | tuple):
            candidates = _kinds(value)
        else:
            kind = type(value)
            is_other = kind is not Tensor and isinstance(value, Tensor) and _is_users(kind)
            candidates = [kind] if is_other else []
        for kind in candidates:
            if kind not in found:
                above = (at for at, each in enumerate(found) if issubclass(kind, each))
                found.insert(next(above, len(found)), kind)
    return found


def _is_users(kind: type[Tensor]) -> bool:
    return any(issubclass(kind, each) for each in overriding)


def _watch(cls: type[Tensor], /, **options: Any) -> None:
    """Prepare for a class that derives from Tensor."""
    super(Tensor, cls).__init_subclass__(**options)
    if cls.__module__.startswith(_OURS) or _is_users(cls) or Tensor not in cls.__bases__:
        return
    follow(cls)
    dunders = (*methods.OPERATORS, *methods.COMPARISONS, *methods.REFLECTED, *methods.AUGMENTED)
    for name in (*METHODS, *dunders, *_OTHER_METHODS, "__getitem__", "__setitem__"):
        function = getattr(Tensor, name, None)
        if name not in vars(cls) and callable(function):
            setattr(cls, name, _overridable(function))


def follow(cls: type[Tensor]) -> None:
    """Let the public functions look for a class of the engine's own, with its methods made."""
    if not overriding:
        _replace_functions()
    overriding.append(cls)


def _replace_functions() -> None:
    for place in _PLACES:
        module = importlib.import_module(f"gradtool.engine{place}")
        for name in FUNCTIONS if not place else module.__all__:
            function = vars(module).get(name)
            if isinstance(function, FunctionType):
                setattr(module, name, _overridable(function))


def _torch_function(
    cls: type[Tensor], func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
) -> Any:
    """Run an operation on the instances as plain tensors; its results are instances again."""
    if not all(issubclass(cls, each) for each in types):
        return NotImplemented
    with overrides(False):
        return _of_class(func(*args, **(kwargs or {})), cls)


def _of_class(value: Any, cls: type[Tensor]) -> Any:
    if isinstance(value, Tensor) and not isinstance(value, cls):
        return as_subclass(value, cls)
    if isinstance(value, tuple | list):
        converted = [_of_class(each, cls) for each in value]
        return type(value)(*converted) if hasattr(value, "_fields") else type(value)(converted)
    return value


def as_subclass(x: Tensor, cls: type[Tensor]) -> Any:
    """Return the same tensor as an instance of a class, which is not initialized.

    Raises:
        TypeError: the class does not derive from Tensor.
        RuntimeError: `x` is of a transform.
    """
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError(
            "Creating a Tensor subclass from a class that does not inherit from Tensor is not "
            "possible. Make sure your class inherits from Tensor."
        )
    if x._level is not None:
        raise RuntimeError("a tensor inside a transform cannot become an instance of a subclass")
    with overrides(False):
        before = x._node
        alias = x[...]
        give_name(alias, "AliasBackward0", [before])
    alias.__class__ = cls
    return alias


def _make_subclass(cls: type[Tensor], data: Tensor, require_grad: bool = False) -> Any:
    """Return `data` outside of the graph as an instance of a class."""
    with overrides(False):
        made = data.detach()
    made.__class__ = cls
    made.requires_grad = require_grad
    return made


def attach() -> None:
    """Give Tensor what its subclasses take part in operations by."""
    for name, value in {
        "__init_subclass__": classmethod(_watch),
        "__torch_function__": classmethod(_torch_function),
        "_make_subclass": staticmethod(_make_subclass),
        "_make_wrapper_subclass": staticmethod(make_wrapper_subclass),
        "as_subclass": as_subclass,
    }.items():
        setattr(Tensor, name, value)
