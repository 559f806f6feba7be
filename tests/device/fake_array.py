"""An array that is as particular as CuPy's, over NumPy's elements.

It has the attributes that CuPy's has, no more; refuses NumPy arrays beside it; hands on to
it NumPy's functions that CuPy has, with arguments that CuPy's take; gives 0-d arrays where
NumPy gives scalars; and finds wrong what CuPy would pass over, such as an index out of range.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.device.facts import facts, hold_to

calls: dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]] = {}
"""What was called by which name, with arrays replaced by ``ARRAY``, for the real package's test."""

ARRAY = "an array"


class OutOfRangeError(AssertionError):
    """CuPy would wrap this index around and say nothing."""


class Flags:
    """Flags of CuPy's arrays that code may read."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.c_contiguous = array.flags.c_contiguous
        self.f_contiguous = array.flags.f_contiguous
        self.owndata = array.base is None


class Device:
    """The device of an array."""

    def __init__(self, number: int) -> None:
        self.id = number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)


class Memory:
    """The memory of the elements."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.ptr = array.ctypes.data


def note(name: str, args: Any, kwargs: Any) -> None:
    """Remember a call that differs in form from those remembered."""
    plain = _plain(args), {key: _plain(value) for key, value in kwargs.items()}
    forms = calls.setdefault(name, [])
    if plain not in forms and len(forms) < 50:
        forms.append(plain)


def _plain(value: Any) -> Any:
    if isinstance(value, ndarray | np.ndarray):
        return ARRAY
    if isinstance(value, list | tuple):
        return tuple(_plain(each) for each in value)
    return value if isinstance(value, bool | int | str | None) else type(value).__name__


def to_host(value: Any) -> Any:
    """Arguments for NumPy.

    Raises:
        TypeError: a NumPy array is among them, which CuPy would not copy to the device unasked.
    """
    if isinstance(value, ndarray):
        return value._host
    if isinstance(value, np.ndarray):
        raise TypeError("Unsupported type <class 'numpy.ndarray'>")
    if isinstance(value, list | tuple):
        return type(value)(to_host(each) for each in value)
    return value


def to_device(value: Any) -> Any:
    """Results of NumPy: scalars are arrays on a device."""
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        if not array.flags.writeable:  # a view that is so in NumPy alone
            array.flags.writeable = True
        return ndarray(array)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[to_device(each) for each in value])
    if isinstance(value, list | tuple):
        return type(value)(to_device(each) for each in value)
    return value


def on_host(call: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call a function of NumPy's with what lies on the device."""
    values = {key: to_host(value) for key, value in kwargs.items()}
    with np.errstate(all="ignore"):  # a device does not warn
        found = call(*to_host(tuple(args)), **values)
    if isinstance(kwargs.get("out"), ndarray):
        return kwargs["out"]
    return to_device(found)


def call_function(name: str, call: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """A function of CuPy's, which must be there and take these arguments."""
    if name in facts()["ufuncs"]:  # as `sinc` is there and not in NumPy
        return call_ufunc(name, call, args, kwargs)
    text = facts()["functions"].get(name)
    if text is None:
        raise TypeError(f"CuPy has no {name}")
    hold_to(text, name, args, kwargs)
    note(name, args, kwargs)
    refuse_as_cupy(name, args, kwargs)
    return on_host(LIKE_CUPY.get(name, call), args, kwargs)


def refuse_as_cupy(name: str, args: Any, kwargs: Any) -> None:
    """Raise where CuPy 14.2 takes the arguments and does not do what NumPy does."""
    if name.endswith("_like") and kwargs.get("shape") == ():
        raise AssertionError(f"CuPy's {name} takes an empty shape for none")
    if name.endswith("sliding_window_view") and kwargs.get("writeable"):
        raise NotImplementedError("Writeable views are not supported.")
    if name == "linalg.solve" and args[1].ndim > 1 and args[0].shape[:-1] != args[1].shape[:-1]:
        raise ValueError("a must have (..., M, M) shape and b must have (..., M, K)")
    if name == "where" and isinstance(args[0], bool):
        raise AttributeError(f"'{type(args[0]).__name__}' object has no attribute 'astype'")


def _last_of_missing(search: Callable[..., Any]) -> Callable[..., Any]:
    """Find the last of several NaNs, where CuPy finds any."""

    def found(array: Any, axis: int | None = None, **kwargs: Any) -> Any:
        whole = array.reshape(-1) if axis is None else array
        missing = np.flip(np.isnan(whole), axis or 0)
        last = missing.shape[axis or 0] - 1 - missing.argmax(axis=axis)
        return np.where(missing.any(axis=axis), last, search(array, axis=axis, **kwargs))

    return found


LIKE_CUPY: dict[str, Callable[..., Any]] = {
    "argmax": _last_of_missing(np.argmax),
    "argmin": _last_of_missing(np.argmin),
    "floor_divide": lambda x, y: np.floor(np.divide(x, y)) if _are_floats(x, y) else x // y,
    "remainder": lambda x, y: x - np.floor(np.divide(x, y)) * y if _are_floats(x, y) else x % y,
}
"""Functions whose results differ from NumPy's, as seen on a device."""


def _are_floats(*values: Any) -> bool:
    return any(np.asarray(each).dtype.kind == "f" for each in values)


def call_ufunc(name: str, call: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """A ufunc of CuPy's, which must be there and have a loop for these dtypes."""
    fact = facts()["ufuncs"].get(name)
    if fact is None:
        if name == "matmul":
            return call_function(name, call, args, kwargs)
        raise TypeError(f"CuPy has no ufunc {name}")
    hold_to(fact["signature"], name, args, kwargs)
    note(name, args, kwargs)
    loop = find_loop(fact["types"], args)
    if loop is None:
        raise TypeError(f"Wrong type of arguments for {name}")
    out = on_host(LIKE_CUPY.get(name, call), args, kwargs)
    if not isinstance(out, ndarray):
        return out
    if "out" not in kwargs and "dtype" not in kwargs and not _has_python_number(args):
        # Where the two libraries' loops differ, the result is what the device would give.
        return ndarray(out._host.astype(loop.partition("->")[2]))
    return out


def find_loop(types: list[str], args: Any) -> str | None:
    """The first loop that the arguments can be cast to; Python's numbers fit everywhere."""
    for loop in types:
        pairs = zip(args, loop.partition("->")[0], strict=False)
        if all(
            not isinstance(arg, ndarray | np.generic) or np.can_cast(arg.dtype, code)
            for arg, code in pairs
        ):
            return loop
    return None


def _has_python_number(args: Any) -> bool:
    return any(not isinstance(arg, ndarray | np.generic) for arg in args)


class ndarray:
    """CuPy's array, as far as it goes without a device."""

    __slots__ = ("_host", "device")

    def __init__(self, host: Any, device: Device | None = None) -> None:
        self._host = host
        self.device = device or Device(0)

    # ---- NumPy's functions ------------------------------------------------------------

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        prefix = ".".join(func.__module__.split(".")[1:])
        name = f"{prefix}.{func.__name__}" if prefix else func.__name__
        return call_function(name, func, args, kwargs)

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        if method != "__call__":
            raise TypeError(f"CuPy does not take numpy.{ufunc.__name__}.{method}")
        if "out" in kwargs:
            (kwargs["out"],) = kwargs["out"]
        return call_ufunc(ufunc.__name__, ufunc, args, kwargs)

    # ---- attributes and methods -------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        if name not in facts()["array"]:
            raise AttributeError(f"CuPy's arrays have no {name}")
        text = facts()["array"][name]
        if text is None:
            return to_device(getattr(self._host, name))

        def method(*args: Any, **kwargs: Any) -> Any:
            hold_to(text, f"ndarray.{name}", args, kwargs)
            note(f"ndarray.{name}", args, kwargs)
            return on_host(getattr(self._host, name), args, kwargs)

        return method

    @property
    def flags(self) -> Flags:
        return Flags(self._host)

    @property
    def data(self) -> Memory:
        return Memory(self._host)

    @property
    def base(self) -> Any:
        return self._host.base

    @property
    def real(self) -> Any:
        return to_device(self._host.real)

    @real.setter
    def real(self, value: Any) -> None:
        self._host.real = to_host(value)

    @property
    def imag(self) -> Any:
        return to_device(self._host.imag)

    @imag.setter
    def imag(self, value: Any) -> None:
        self._host.imag = to_host(value)

    @property
    def ndim(self) -> int:
        return int(self._host.ndim)

    @property
    def shape(self) -> tuple[int, ...]:
        found: tuple[int, ...] = self._host.shape
        return found

    @property
    def dtype(self) -> Any:
        return self._host.dtype

    def get(
        self, stream: Any = None, order: str = "C", out: Any = None, blocking: bool = True
    ) -> Any:
        if out is None:
            return self._host.copy(order)
        if (out.shape, out.dtype) != (self.shape, self.dtype):
            raise ValueError("Shape mismatch")
        out[...] = self._host
        return out

    def set(self, arr: Any, stream: Any = None) -> None:
        if not isinstance(arr, np.ndarray) or (arr.shape, arr.dtype) != (self.shape, self.dtype):
            raise TypeError("array cannot be set")
        self._host[...] = arr

    # ---- indexing ---------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        return ndarray(self._at(lambda: self._host[_host_key(key)]))

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, np.ndarray):
            raise TypeError("Unsupported type <class 'numpy.ndarray'>")

        def store() -> None:
            self._host[_host_key(key)] = to_host(value)

        self._at(store)

    def _at(self, use: Callable[[], Any]) -> Any:
        try:
            return use()
        except IndexError as error:
            if "out of bounds for" in str(error):
                raise OutOfRangeError(str(error)) from None
            raise

    def __len__(self) -> int:
        return len(self._host)

    def __iter__(self) -> Iterator[Any]:
        return (self[at] for at in range(len(self)))

    # ---- as a number ------------------------------------------------------------------

    def __bool__(self) -> bool:
        return bool(self._host)

    def __int__(self) -> int:
        return int(self._host)

    def __float__(self) -> float:
        return float(self._host)

    def __complex__(self) -> complex:
        return complex(self._host)

    def __repr__(self) -> str:
        return repr(self._host)

    __hash__ = None  # type: ignore[assignment]


def _host_key(key: Any) -> Any:
    """A key for NumPy that gives views where CuPy's does: never a scalar."""
    parts = key if isinstance(key, tuple) else (key,)
    masks = [
        part
        for part in parts
        if isinstance(part, ndarray | np.ndarray) and part.dtype.kind == "b" and part.ndim
    ]
    if len(masks) > 1:
        raise NotImplementedError("CuPy takes one mask at a time")
    found = tuple(part._host if isinstance(part, ndarray) else part for part in parts)
    return found if any(part is Ellipsis for part in found) else (*found, Ellipsis)


OPERATORS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide",
    "floordiv": "floor_divide", "mod": "remainder", "pow": "power", "matmul": "matmul",
    "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "left_shift",
    "rshift": "right_shift",
}  # fmt: skip
COMPARISONS = {
    "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal",
    "ne": "not_equal",
}  # fmt: skip
UNARY = {"neg": "negative", "invert": "invert", "abs": "absolute", "pos": "positive"}


def _binary(name: str, *, swapped: bool = False, in_place: bool = False) -> Any:
    def operate(self: ndarray, other: Any) -> Any:
        pair = (other, self) if swapped else (self, other)
        out = {"out": self} if in_place else {}
        return call_ufunc(name, getattr(np, name), pair, out)

    return operate


def _unary(name: str) -> Any:
    return lambda self: call_ufunc(name, getattr(np, name), (self,), {})


for _word, _name in OPERATORS.items():
    setattr(ndarray, f"__{_word}__", _binary(_name))
    setattr(ndarray, f"__r{_word}__", _binary(_name, swapped=True))
    setattr(ndarray, f"__i{_word}__", _binary(_name, in_place=True))
for _word, _name in COMPARISONS.items():
    setattr(ndarray, f"__{_word}__", _binary(_name))
for _word, _name in UNARY.items():
    setattr(ndarray, f"__{_word}__", _unary(_name))
