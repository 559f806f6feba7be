"""Placeholders for the names of PyTorch that the engine lacks.

Code may mention such a name in any way: import it, take attributes of it, derive from it, annotate
and decorate with it, pass it to ``isinstance``. Using it raises an error that names it.
"""

from __future__ import annotations

import functools
import typing
from collections.abc import Callable
from types import FunctionType
from typing import Any, ClassVar, NoReturn

_KERNELS = (
    "torch._C",
    "torch._inductor",
    "torch.classes",
    "torch.cuda.jiterator",
    "torch.library",
    "torch.ops",
    "torch.utils.cpp_extension",
    "triton",
)
"""Names that reach PyTorch's compiled code, which only PyTorch can run."""

_KEPT_CALLS = frozenset(
    {
        "torch._dynamo.disable",
        "torch.distributed.elastic.multiprocessing.errors.record",
        "torch.onnx.symbolic_helper.parse_args",
        "torch.overrides.wrap_torch_function",
        "torch.utils.cpp_extension.load",
        "torch.utils.cpp_extension.load_inline",
    }
)
_KEPT_OWNERS = ("torch.library",)
"""Calls, and owners of calls, made at module level to decorate, register or build.

The result is another placeholder, so that only its use fails.
"""


_PRESENCE = ("is_available", "is_built", "is_initialized")
"""Calls that return False: what the engine lacks is not available."""


class EngineLacksError(NotImplementedError):
    """Raised when a name of PyTorch is used that the engine lacks."""

    def __init__(self, name: str, on_behalf_of: str = "") -> None:
        super().__init__(_message(name) + on_behalf_of)


class EngineLacksAttributeError(EngineLacksError, AttributeError):
    """Raised for a method of Tensor, so that ``hasattr`` is False."""


def _message(name: str) -> str:
    if _is_below(name, _KERNELS):
        return (
            f"{name} needs the real torch engine: gradtool's runs on NumPy and CuPy, and has no "
            "C++, CUDA or Triton kernels of PyTorch's"
        )
    return f"gradtool's engine has no {name}; see \"What the engine has\" in gradtool's README"


def _is_below(name: str, owners: tuple[str, ...]) -> bool:
    """Return True if `name` is one of `owners`, the result of calling one, or below one."""
    return any(name == each or name.startswith((f"{each}.", f"{each}(")) for each in owners)


class Placeholder:
    """A name that the engine lacks. `placeholder` returns the one for each name."""

    def __init__(self, name: str) -> None:
        self.__name__ = self.__qualname__ = self._full_name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            # Python looks these up to learn what an object supports.
            raise AttributeError(f"{self!r} has no attribute {name!r}")
        return placeholder(f"{self._full_name}.{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raise, except in calls that ask for availability, decorate or register.

        A decorated function raises when it is called.
        """
        if len(args) == 1 and not kwargs and isinstance(args[0], _DECORATED):
            return _decorated(self, args[0])
        if self._full_name.rpartition(".")[2] in _PRESENCE:
            return False
        if self._full_name in _KEPT_CALLS or _is_below(self._full_name, _KEPT_OWNERS):
            return placeholder(f"{self._full_name}(...)")
        raise EngineLacksError(self._full_name)

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (_base(self._full_name),)

    def __instancecheck__(self, instance: object) -> bool:
        return False

    def __subclasscheck__(self, subclass: type) -> bool:
        return self._full_name in {each.__dict__.get("_lacking") for each in subclass.__mro__}

    def __getitem__(self, key: Any) -> Placeholder:
        """Return itself: ``Dataset[int]`` is an annotation or a base class."""
        return self

    def __or__(self, other: Any) -> Any:
        return typing.Union[self, other]  # noqa: UP007 - the operator is what is defined here

    def __ror__(self, other: Any) -> Any:
        return typing.Union[other, self]  # noqa: UP007 - the operator is what is defined here

    def __reduce__(self) -> tuple[Any, ...]:
        return placeholder, (self._full_name,)

    def __repr__(self) -> str:
        return f"<{self._full_name}, which gradtool's engine lacks>"


_DECORATED = (FunctionType, type, staticmethod, classmethod)

_USES = """
    abs add aenter aexit and anext await bool bytes complex contains delitem divmod enter exit
    float floordiv ge gt iadd index int invert isub iter itruediv imul len le lshift lt matmul
    mod mul neg next pos pow radd rand rdivmod reversed rfloordiv rlshift rmatmul rmod rmul
    round rpow rrshift rshift rsub rtruediv rxor setitem sub truediv xor array
""".split()  # noqa: SIM905 - a list of seventy strings is harder to read
"""Special methods, without their underscores, that use the value."""


def _refusal(dunder: str) -> Callable[..., NoReturn]:
    def refuse(self: Placeholder, *args: Any, **kwargs: Any) -> NoReturn:
        raise EngineLacksError(self._full_name)

    refuse.__name__ = dunder
    return refuse


for _use in _USES:
    setattr(Placeholder, f"__{_use}__", _refusal(f"__{_use}__"))


@functools.cache
def placeholder(name: str) -> Placeholder:
    """Return the placeholder for ``torch.…``; the same object every time."""
    return Placeholder(name)


class _Decorated(Placeholder):
    """Function decorated with a placeholder: calling it raises."""

    def __init__(self, by: str, function: Callable[..., Any]) -> None:
        super().__init__(by)
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise."""
        raise EngineLacksError(self._full_name, f" ({self.__qualname__} is decorated with it)")


def _decorated(by: Placeholder, target: Any) -> Any:
    """Decorate a function or a class with the placeholder `by`."""
    if isinstance(target, type):
        return by
    if isinstance(target, staticmethod | classmethod):
        return type(target)(_decorated(by, target.__func__))
    return _Decorated(by._full_name, target)


class _LackingBase:
    """Base class in place of one that the engine lacks: instantiating raises."""

    _lacking: ClassVar[str]

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise EngineLacksError(cls._lacking, f" ({cls.__qualname__} derives from it)")

    def __init_subclass__(cls, **kwargs: Any) -> None:
        pass  # The real base may take options.


@functools.cache
def _base(name: str) -> type:
    return type(name, (_LackingBase,), {"_lacking": name})


@functools.cache
def exception(name: str) -> type[Exception]:
    """Return an exception type in place of one that the engine lacks."""
    return type(name.rpartition(".")[2], (RuntimeError,), {"__module__": name.rpartition(".")[0]})


class LackingMethod:
    """Method or property of Tensor that the engine lacks.

    The class has it, for code that mentions it; a tensor does not.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: object | None, owner: type) -> Placeholder:
        if instance is not None:
            raise EngineLacksAttributeError(self._name)
        return placeholder(self._name)
