"""Subclasses of Tensor without data of their own, such as quantized tensors.

PyTorch hands each operation on them to their ``__torch_dispatch__``. Most implement a few of these
operations and dequantize for all others. Here all operations do: the data of such a tensor is what
its ``dequantize`` computes, or ``unpack`` where several numbers share a byte.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtool.engine._dtypes import dtype as Dtype  # noqa: N812 - the name is a parameter here
from gradtool.engine._dtypes import get_default_dtype
from gradtool.engine._modes import overrides
from gradtool.engine._placeholder import EngineLacksError
from gradtool.engine._tensor import Tensor
from gradtool.engine._tensor import _fill as fill
from gradtool.engine.autograd.grad_mode import no_grad

_METHODS = ("dequantize", "unpack", "to_original_precision")
"""Methods that return the values of an instance."""

_slot = Tensor.__dict__["_array"]

_HAS_NONE = "_has_no_data"
"""The attribute of an instance that computes its data."""
_COMPUTES = "_computes_data"
"""The attribute that says that it does so now."""


def make_wrapper_subclass(
    cls: type[Tensor],
    size: Sequence[int],
    *_: Any,
    dtype: Dtype | None = None,
    requires_grad: bool = False,
    **__: Any,
) -> Any:
    """Return a new instance of a class, without data and not initialized.

    Raises:
        EngineLacksError: the class has no method that tells its values.
    """
    own = {name for each in cls.__mro__[: cls.__mro__.index(Tensor)] for name in vars(each)}
    method = next((each for each in _METHODS if each in own), None)
    if method is None:
        raise EngineLacksError("torch.Tensor._make_wrapper_subclass")
    if "_array" not in vars(cls):
        compute = operator.methodcaller(method)
        cls._array = property(lambda x: _values(x, compute), _slot.__set__)
    # Until it is initialized it has the shape and the dtype, and no values.
    made: Tensor = object.__new__(cls)
    fill(made, np.broadcast_to(np.zeros((), (dtype or get_default_dtype()).numpy), tuple(size)))
    setattr(made, _HAS_NONE, True)
    made._requires_grad = requires_grad
    return made


def _values(x: Tensor, compute: Callable[[Tensor], Tensor]) -> Any:
    """The values of an instance; zeros while these are computed."""
    has_none = x.__dict__.get(_HAS_NONE, False) and not x.__dict__.get(_COMPUTES, False)
    if not has_none:
        return _slot.__get__(x)
    setattr(x, _COMPUTES, True)
    try:
        with overrides(False), no_grad():
            return compute(x)._array
    except AttributeError as error:
        if error.obj is not x:
            raise
        return _slot.__get__(x)  # Its constructor is not done.
    finally:
        setattr(x, _COMPUTES, False)
