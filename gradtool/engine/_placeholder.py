"""What stands for a name of PyTorch that the engine lacks.

Code may mention such a name as much as it likes: import it, take attributes of it, derive
from it, annotate and decorate with it, ask ``isinstance`` about it. Using it raises an error
that names it.
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
"""What reaches beneath PyTorch's Python, to code that only PyTorch itself can run."""

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
"""Calls, and owners of calls, that stand at the top of modules: they decorate, register, build.

The result is a placeholder in turn, so that only what really needs it fails.
"""


_PRESENCE = ("is_available", "is_built", "is_initialized")
"""Questions that have an answer: what the engine lacks is not there."""


class EngineLacksError(NotImplementedError):
    """A name of PyTorch was used that the engine does not have."""

    def __init__(self, name: str, on_behalf_of: str = "") -> None:
        super().__init__(_message(name) + on_behalf_of)


class EngineLacksAttributeError(EngineLacksError, AttributeError):
    """The same for a method of Tensor, which ``hasattr`` then does not find."""


def _message(name: str) -> str:
    if _is_below(name, _KERNELS):
        return (
            f"{name} needs the real torch engine: gradtool's runs on NumPy and CuPy, and has no "
            "C++, CUDA or Triton kernels of PyTorch's"
        )
    return f"gradtool's engine has no {name}; see \"What the engine has\" in gradtool's README"


def _is_below(name: str, owners: tuple[str, ...]) -> bool:
    """Whether `name` is one of `owners`, the result of calling one, or what one of them has."""
    return any(name == each or name.startswith((f"{each}.", f"{each}(")) for each in owners)


class Placeholder:
    """A name that the engine lacks. Made by `placeholder`, which makes one for each name."""

    def __init__(self, name: str) -> None:
        self.__name__ = self.__qualname__ = self._full_name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            # Python asks for these to learn what an object can do.
            raise AttributeError(f"{self!r} has no attribute {name!r}")
        return placeholder(f"{self._full_name}.{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refused, but for calls that ask whether it is there, or that decorate or register.

        A decorated function is refused when it is called.
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
        """Itself: ``Dataset[int]`` is an annotation or a base class."""
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
    """The placeholder for ``torch.…``; the same object every time."""
    return Placeholder(name)


class _Decorated(Placeholder):
    """A function that was decorated with what the engine lacks: it can no longer be called."""

    def __init__(self, by: str, function: Callable[..., Any]) -> None:
        super().__init__(by)
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused."""
        raise EngineLacksError(self._full_name, f" ({self.__qualname__} is decorated with it)")


def _decorated(by: Placeholder, target: Any) -> Any:
    """What `by` makes of a function or a class."""
    if isinstance(target, type):
        return by
    if isinstance(target, staticmethod | classmethod):
        return type(target)(_decorated(by, target.__func__))
    return _Decorated(by._full_name, target)


class _LackingBase:
    """What a class statement gets for a base that the engine lacks: it cannot be instantiated."""

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
    """An exception type that the engine lacks: it may be caught and raised like any other."""
    return type(name.rpartition(".")[2], (RuntimeError,), {"__module__": name.rpartition(".")[0]})


class LackingMethod:
    """A method or property of Tensor that the engine lacks.

    The class has it, as code that mentions it expects; a tensor does not.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: object | None, owner: type) -> Placeholder:
        if instance is not None:
            raise EngineLacksAttributeError(self._name)
        return placeholder(self._name)
