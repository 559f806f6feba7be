"""Placeholders for the names of PyTorch that the engine lacks.

Code may mention such a name in any way: import it, take attributes of it, derive from it, annotate
and decorate with it, pass it to ``isinstance``. While a module is imported, it may also use it:
what comes of that is another placeholder. Any later use raises an error that names it.
"""

from __future__ import annotations

import dis
import functools
import sys
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType, FunctionType
from typing import Any, ClassVar

from gradtool.package import DOCS

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

_TRANSPARENT = (
    "torch._dynamo",
    "torch._inductor",
    "torch.compiler",
    "torch.cuda.nvtx",
    "torch.distributed.elastic.multiprocessing.errors.record",
    "torch.fx",
    "torch.jit",
    "torch.onnx",
    "torch.overrides",
    "torch.profiler",
)
"""Decorators, and owners of such, that change nothing about what a function computes."""

_REGISTERS = ("torch.library",)
"""Calls, and owners of calls, of which only a use of the result raises."""

_PRESENCE = ("is_available", "is_built", "is_fake", "is_initialized")
"""Calls that return False: what the engine lacks is not available, and no tensor is of its kind."""


class EngineLacksError(NotImplementedError):
    """Raised when a name of PyTorch is used that the engine lacks."""

    is_gap: ClassVar[bool] = True
    """True since it says nothing about the code that used the name."""

    def __init__(self, name: str, on_behalf_of: str = "") -> None:
        super().__init__(_message(name) + on_behalf_of)


class EngineLacksAttributeError(EngineLacksError, AttributeError):
    """Raised for a method of Tensor, so that ``hasattr`` is False."""


def _message(name: str) -> str:
    if _is_below(name, _KERNELS):
        return (
            f"{name} needs PyTorch: gradtool's engine runs on NumPy and CuPy, and does not have "
            "PyTorch's C++, CUDA or Triton kernels"
        )
    if _is_below(name, ("torch.optim",)):
        return (
            f"gradtool's engine has no optimizers, such as {name}: install PyTorch, or change the "
            "parameters by hand"
        )
    return f"gradtool's engine has no {name}; see {DOCS}/names.md for the names it has"


def _is_below(name: str, owners: tuple[str, ...]) -> bool:
    """Return True if `name` is one of `owners`, the result of calling one, or below one."""
    return any(name == each or name.startswith((f"{each}.", f"{each}(")) for each in owners)


class Placeholder:
    """A name that the engine lacks. `placeholder` returns the one for each name."""

    def __init__(self, name: str) -> None:
        self.__name__ = self.__qualname__ = self._full_name = name

    def _derived(self, suffix: str) -> Placeholder:
        """The placeholder for what comes of this one."""
        return placeholder(self._full_name + suffix)

    def _error(self, on_behalf_of: str = "") -> EngineLacksError:
        """The error for a use of it, which names what was lacking first."""
        return EngineLacksError(self._full_name.partition("(")[0], on_behalf_of)

    def _is_name(self) -> bool:
        """Return True for a name itself, not what comes of a call or an index."""
        return not {"(", "["} & set(self._full_name)

    def _is_transparent(self) -> bool:
        """Return True for a decorator that changes nothing about what a function computes."""
        return _is_below(self._full_name, _TRANSPARENT)

    def _may_be_called(self) -> bool:
        """Return True for a call that raises only where its result is used, as by a call of it."""
        is_result = "(" in self._full_name
        return _is_below(self._full_name, _REGISTERS) or (self._is_transparent() and not is_result)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            # Python looks these up to learn what an object supports.
            raise AttributeError(f"{self!r} has no attribute {name!r}")
        return self._derived(f".{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raise, except during an import, and in calls that ask for availability or decorate.

        A decorated function raises when it is called.
        """
        if self._full_name.rpartition(".")[2] in _PRESENCE:
            return False
        if len(args) == 1 and not kwargs and isinstance(args[0], _DECORATED):
            return args[0] if self._is_transparent() else _decorated(self, args[0])
        if not (self._may_be_called() or is_importing()):
            raise self._error()
        return self._derived("(...)")

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (_base(self),)

    def __instancecheck__(self, instance: object) -> bool:
        return False

    def __subclasscheck__(self, subclass: type) -> bool:
        return self in {each.__dict__.get("_lacking") for each in subclass.__mro__}

    def __getitem__(self, key: Any) -> Placeholder:
        """Return itself: ``Dataset[int]`` is an annotation or a base class."""
        return self

    def __or__(self, other: Any) -> Any:
        return typing.Union[self, other]  # noqa: UP007 - the operator is what is defined here

    def __ror__(self, other: Any) -> Any:
        return typing.Union[other, self]  # noqa: UP007 - the operator is what is defined here

    def __reduce__(self) -> tuple[Any, ...]:
        return placeholder, (self._full_name,)

    def __iter__(self) -> Iterator[Any]:
        """As many placeholders as an import unpacks it into, else none."""
        if not is_importing():
            raise self._error()
        return iter([self] * unpacked_into(sys._getframe(1)))

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __repr__(self) -> str:
        return f"<{self._full_name}, which is missing from gradtool's engine>"


_DECORATED = (FunctionType, type, staticmethod, classmethod)

_USES = """
    abs add aenter aexit and anext await bytes complex contains delitem divmod enter exit float
    floordiv ge gt iadd index int invert isub itruediv imul len le lshift lt matmul mod mul neg
    next pos pow radd rand rdivmod reversed rfloordiv rlshift rmatmul rmod rmul round rpow rrshift
    rshift rsub rtruediv rxor setitem sub truediv xor array bool
""".split()  # noqa: SIM905 - a list of seventy strings is harder to read
"""Special methods, without their underscores, that use the value."""

_INERT: dict[str, Any] = {
    **dict.fromkeys(("bool", "contains", "ge", "gt", "le", "lt", "exit"), False),
    **dict.fromkeys(("index", "int", "len"), 0),
    "float": 0.0,
    "complex": 0j,
    "bytes": b"",
    "reversed": iter(()),
}
"""What a use during an import gives, where Python requires a certain type."""


def _use(dunder: str) -> Callable[..., Any]:
    def use(self: Placeholder, *args: Any, **kwargs: Any) -> Any:
        if dunder in ("array", "await", "anext", "next") or not is_importing():
            raise self._error()
        return _INERT.get(dunder, self)

    use.__name__ = f"__{dunder}__"
    return use


for _each in _USES:
    setattr(Placeholder, f"__{_each}__", _use(_each))


@functools.cache
def placeholder(name: str) -> Placeholder:
    """Return the placeholder for ``torch.…``; the same object every time."""
    return Placeholder(name)


class _Decorated(Placeholder):
    """Function decorated with a placeholder: calling it raises."""

    def __init__(self, by: Placeholder, function: Callable[..., Any]) -> None:
        super().__init__(by._full_name)
        self._by = by
        functools.update_wrapper(self, function)

    def _error(self, on_behalf_of: str = "") -> EngineLacksError:
        return self._by._error(on_behalf_of or f" ({self.__qualname__} is decorated with it)")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            # Other decorators set such marks, which are looked up by whoever calls it.
            raise AttributeError(f"{self!r} has no attribute {name!r}")
        return super().__getattr__(name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raise, except during an import."""
        if is_importing():
            return self._by._derived("(...)")
        raise self._error()


def _decorated(by: Placeholder, target: Any) -> Any:
    """Decorate a function or a class with the placeholder `by`; a class stays as it is."""
    if isinstance(target, type):
        return target
    if isinstance(target, staticmethod | classmethod):
        return type(target)(_decorated(by, target.__func__))
    return _Decorated(by, target)


class _LackingBase:
    """Base class in place of one that the engine lacks: instantiating raises."""

    _lacking: ClassVar[Placeholder]

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        if is_importing():
            return cls._lacking._derived("(...)")
        raise cls._lacking._error(f" ({cls.__qualname__} derives from it)")

    def __init_subclass__(cls, **kwargs: Any) -> None:
        pass  # The real base may take options.


@functools.cache
def _base(lacking: Placeholder) -> type:
    return type(lacking._full_name, (_LackingBase,), {"_lacking": lacking})


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
        if instance is not None and not is_importing():
            raise EngineLacksAttributeError(self._name)
        return placeholder(self._name)


_ENGINE = str(Path(__file__).parent)
_OWN = str(Path(__file__).parents[1])
_IMPORTERS = str(Path(__file__).parents[1] / "collect")


def is_importing() -> bool:
    """Return True while the top level of a module other than the main program runs.

    The nearest caller decides that is such a module, or gradtool's own: a Function that is called
    to be checked may well be below an import of the program that checks it.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(_OWN):
            if file.startswith(_IMPORTERS):
                return True
            if not file.startswith(_ENGINE):
                return False
        elif frame.f_code.co_name == "<module>":
            # Code that a program runs without an import has no specification.
            is_imported = frame.f_globals.get("__spec__") is not None
            return is_imported and frame.f_globals.get("__name__") != "__main__"
        frame = frame.f_back
    return False


def unpacked_into(frame: FrameType) -> int:
    """The number of targets, if `frame` is about to unpack a value into such; else 0."""
    code = frame.f_code.co_code
    is_unpacking = dis.opname[code[frame.f_lasti]] == "UNPACK_SEQUENCE"
    return code[frame.f_lasti + 1] if is_unpacking else 0
