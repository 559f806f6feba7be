"""A base of Tensor, empty at run time, for which the stub beside it declares Tensor's methods.

The methods are functions of `gradtool.engine._ops` that `_ops.core.methods` attaches to Tensor.
"""

from __future__ import annotations


class TensorMethods:
    """The methods of Tensor that are attached to it."""

    __slots__ = ()
