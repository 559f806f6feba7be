"""Checks of the gradients that a custom backward returned, against the inputs they are for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from numpy import ndarray

from gradtool.engine import _dtypes
from gradtool.engine._device import CPU
from gradtool.engine._errors import ContractError, ContractTypeError
from gradtool.engine._ops.core.primitive_node import bring_back
from gradtool.engine._size import Size
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd._grad_dtype import takes
from gradtool.engine.autograd._node import OutputInfo

if TYPE_CHECKING:
    from gradtool.engine.autograd._node import Gradients, Node
    from gradtool.engine.autograd.function import BackwardCFunction

_new_tuple = tuple.__new__


class TensorInfo(NamedTuple):
    """Properties of an input or output, remembered in place of the tensor."""

    shape: tuple[int, ...]
    dtype: Any
    device: Any
    array_type: type

    @classmethod
    def of(cls, tensor: Tensor) -> TensorInfo:
        """Read the properties of a tensor."""
        array = tensor._array
        kind = array.__class__
        device = CPU if kind is ndarray else tensor.device
        # A named tuple's own `__new__` is a Python function: one more frame for each tensor.
        return _new_tuple(cls, (array.shape, array.dtype, device, kind))

    def shown(self) -> OutputInfo:
        """Return the properties under the names that users know."""
        dtype = _dtypes.from_numpy_dtype(self.dtype)
        return OutputInfo(Size(self.shape), dtype, self.device)

    def zeros(self) -> Tensor:
        """Return a zero gradient for it."""
        from gradtool.engine._ops.creation.creation import zeros

        return zeros(self.shape, dtype=_dtypes.from_numpy_dtype(self.dtype), device=self.device)


def gradients(node: BackwardCFunction, returned: Any) -> Gradients:
    """Return one gradient for each edge of the node.

    Raises:
        ContractError: a wrong number of gradients, one that is no tensor, one for an argument
            that has none, or one of a shape or device that does not fit its input.
    """
    if not isinstance(returned, tuple):
        infos = node._input_infos
        if returned.__class__ is Tensor and len(node._edges) == len(infos) == 1 and infos[0]:
            # Written out for the gradient of an only argument: the hot path.
            return (_fit(node, 0, returned, infos[0], node._edges[0]),)
        returned = (returned,)
    if len(returned) != len(node._input_edges):
        returned = _drop_trailing_nones(node, returned)
    results: list[Tensor | None] = []
    for position, (grad, edge) in enumerate(zip(returned, node._input_edges)):
        info = node._input_infos[position]
        if grad is None:
            fitted = None
        elif info is None:
            raise ContractError(
                "gradient-type",
                f"function {node._name()} returned a gradient different than None at position "
                f"{position + 1}, but the corresponding forward input was not a Variable",
            )
        elif not isinstance(grad, Tensor):
            raise ContractTypeError(
                "gradient-type",
                f"expected Variable or None (got {type(grad).__name__})",
            )
        else:
            # As in torch, the gradient of an input that needs none is dropped unchecked.
            fitted = None if edge is None else _fit(node, position, grad, info, edge)
        if edge is not None:
            results.append(fitted)
    return results


def _drop_trailing_nones(node: BackwardCFunction, returned: tuple[Any, ...]) -> tuple[Any, ...]:
    expected = len(node._input_edges)
    # torch accepts surplus gradients as long as they are None.
    if len(returned) > expected and all(grad is None for grad in returned[expected:]):
        return returned[:expected]
    raise ContractError(
        "gradient-count",
        f"function {node._name()} returned an incorrect number of gradients "
        f"(expected {expected}, got {len(returned)})",
    )


def _fit(
    node: BackwardCFunction, position: int, grad: Tensor, info: TensorInfo, edge: Node
) -> Tensor:
    """Check a gradient against its input; sum broadcast axes and cast, as torch does."""
    array = grad._array
    shape, dtype, device, array_type = info
    # The usual case, decided without comparing dtypes or devices.
    if array.shape == shape and array.dtype is dtype and array.__class__ is array_type is ndarray:
        return grad
    if array.__class__ is not array_type and grad.device != device:
        raise ContractError(
            "gradient-device",
            f"Function {node._name()} returned an invalid gradient at index {position} - expected "
            f"device {device} but got {grad.device}",
        )
    if array.shape == shape and array.dtype == dtype:
        return grad
    if not _expandable(shape, array.shape):
        raise ContractError(
            "gradient-shape",
            f"Function {node._name()} returned an invalid gradient at index {position} - got "
            f"{list(array.shape)} but expected shape compatible with {list(shape)}",
        )
    if array.dtype.kind == "c" and dtype.kind != "c":
        raise ContractError(
            "gradient-type",
            f"Function {node._name()} returned an invalid gradient at index {position} - expected "
            f"type {_dtypes.from_numpy_dtype(dtype)} but got {grad.dtype}",
        )
    return bring_back(grad, shape, array.dtype if takes(edge, grad) else dtype)


def _expandable(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    """Return True if `shape` broadcasts to `to`."""
    if len(shape) > len(to):
        return False
    return all(extent in (1, target) for extent, target in zip(reversed(shape), reversed(to)))
