"""Properties of a tensor, which compute nothing, and maps of functions of Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from gradtool.engine import _settings
from gradtool.engine._modes import modes
from gradtool.engine._ops.core.inplace import replace
from gradtool.engine._ops.core.op import attribute, method, op
from gradtool.engine._tensor import Tensor

# ---- questions ------------------------------------------------------------------------------


@op(method=True)
def is_nonzero(x: Tensor) -> bool:
    """Return True where the only element is not zero.

    Raises:
        RuntimeError: there is not exactly one element.
    """
    if x.numel() != 1:
        amount = "no values" if x.numel() == 0 else "more than one value"
        raise RuntimeError(f"Boolean value of Tensor with {amount} is ambiguous")
    return bool(x)


@op(method=True)
def is_same_size(x: Tensor, other: Tensor) -> bool:
    """Return True for tensors of the same shape."""
    return tuple(x.shape) == tuple(other.shape)


@op(method=True)
def get_device(x: Tensor) -> int:
    """The number of the CUDA device; -1 on the CPU."""
    return (x.device.index or 0) if x.is_cuda else -1


# ---- by a function of Python ----------------------------------------------------------------


@method("apply_")
def _apply(x: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Write over each element what a function of Python makes of it."""
    return _map(x, callable=lambda element: callable(element))


def _map(x: Tensor, *others: Tensor, callable: Callable[..., Any]) -> Tensor:
    if x.requires_grad and modes.grad:
        raise TypeError(
            "can't call a Python function on each element of a tensor that requires grad"
        )
    columns = [each.expand(x.shape).reshape(-1).tolist() for each in (x, *others)]
    values = [callable(*elements) for elements in zip(*columns)]
    return replace(x, x.new_tensor(np.array(values).astype(x.dtype.numpy).reshape(x.shape)))


# ---- answers that are the same for every tensor, or an older name's -------------------------

method("map_")(lambda x, other, function: _map(x, other, callable=function))
method("map2_")(lambda x, y, z, function: _map(x, y, z, callable=function))
method("is_shared")(lambda _x: False)
method("share_memory_")(lambda x: x)
method("ndimension", "dense_dim")(Tensor.dim)
method("nelement")(Tensor.numel)
method("sparse_dim")(lambda _x: 0)


@method("to_sparse", "to_sparse_coo")
def _to_sparse(x: Tensor, *_: Any, **__: Any) -> Tensor:
    """Return a sparse tensor of the elements that are not zero."""
    from gradtool.engine.sparse._operations import from_dense

    return from_dense(x)


def _of_sparse(name: str, layout: str) -> Callable[[Tensor], NoReturn]:
    """The method of a sparse tensor that a dense one refuses."""

    def refuse(_x: Tensor) -> NoReturn:
        raise RuntimeError(f"{name} expected sparse {layout}tensor layout but got Strided")

    return refuse


for _name, _layout in {
    "values": "",
    "coalesce": "coordinate ",
    "indices": "coordinate ",
    "is_coalesced": "coordinate ",
    "col_indices": "row compressed ",
    "crow_indices": "row compressed ",
    "ccol_indices": "column compressed ",
    "row_indices": "column compressed ",
}.items():
    method(_name)(_of_sparse(_name, _layout))

method("to_sparse_csr")(lambda x, *_, **__: _to_sparse(x).to_sparse_csr())
method("to_dense")(lambda x, dtype=None, **_options: x if dtype is None else x.to(dtype))

attribute("is_cpu")(lambda x: not x.is_cuda)
attribute("layout")(lambda _x: _settings.strided)
attribute("name")(lambda _x: None)
attribute("names")(lambda x: (None,) * x.ndim)
attribute("is_meta", "is_mkldnn", "is_mps", "is_quantized", "is_sparse", "is_xpu")(lambda _x: False)
