"""The facts of a tensor that PyTorch promises, as plain data that compares across libraries."""

from __future__ import annotations

from typing import Any

import numpy as np

Facts = dict[str, Any]
LARGEST = 4096
"""Elements that are worth a look."""


def facts(torch: Any, tensor: Any, names: dict[int, str], level: bool = False) -> Facts:
    """Everything about a tensor that a program can depend on; its base by name."""
    found: Facts = described(torch, tensor)
    found["is_conj"], found["is_neg"] = tensor.is_conj(), tensor.is_neg()
    found["stride"] = _strides(tensor)
    found["storage_offset"] = tensor.storage_offset() if tensor.numel() else 0
    found["requires_grad"] = tensor.requires_grad
    found["is_inference"] = tensor.is_inference()
    found["_version"] = None if found["is_inference"] else tensor._version
    base = tensor._base
    found["_base"] = None if base is None else names.get(id(base))
    found["is_view"] = base is not None
    found["grad_fn"] = None if tensor.grad_fn is None else tensor.grad_fn.name()
    found["is_leaf"] = tensor.is_leaf
    found["retains_grad"] = tensor.retains_grad
    if level:
        _add(found, "tangent", torch, torch.autograd.forward_ad.unpack_dual(tensor).tangent)
    if found["is_leaf"] or found["retains_grad"]:
        _add_grad(found, torch, tensor.grad, names)
    return found


def described(torch: Any, tensor: Any) -> Facts:
    """Dtype, shape and value."""
    return {
        "dtype": str(tensor.dtype).rpartition(".")[2],
        "shape": tuple(tensor.shape),
        "value": value(tensor),
    }


def value(tensor: Any) -> Any:
    """A copy of what a tensor holds."""
    if tensor.numel() > LARGEST:
        return None
    if tensor.dtype.itemsize == 4 and tensor.is_complex():  # NumPy has no complex numbers of halves
        return None
    plain = tensor.detach().resolve_conj().resolve_neg()
    if getattr(plain, "_is_zerotensor", bool)():  # PyTorch's zeros without memory
        plain = plain.clone()
    return np.asarray(plain.clone().numpy())  # That of what is shared cannot be resized any more.


def _strides(tensor: Any) -> tuple[int | None, ...]:
    """The strides that matter: those of dimensions with more than one place."""
    if not tensor.numel():
        return ()
    pairs = zip(tensor.shape, tensor.stride(), strict=True)
    return tuple(stride if extent > 1 else None for extent, stride in pairs)


def _add(found: Facts, name: str, torch: Any, tensor: Any) -> None:
    if tensor is None:
        found[name] = None
        return
    for fact, what in described(torch, tensor).items():
        found[f"{name}.{fact}"] = what


def _add_grad(found: Facts, torch: Any, grad: Any, names: dict[int, str]) -> None:
    _add(found, "grad", torch, grad)
    if grad is not None:
        found["grad.requires_grad"] = grad.requires_grad
        found["grad.grad_fn"] = None if grad.grad_fn is None else grad.grad_fn.name()
        found["grad.name"] = names.get(id(grad))


def noted(torch: Any, what: Any) -> Any:
    """A value as it is recorded among the events: tensors by their facts, the rest by its text."""
    if isinstance(what, torch.Tensor):
        return _noted_tensor(torch, what)
    if isinstance(what, tuple | list):
        return tuple(noted(torch, each) for each in what)
    if isinstance(what, dict):
        return tuple((noted(torch, key), noted(torch, each)) for key, each in what.items())
    if isinstance(what, bool | int | float | complex | str | type(None)):
        return what
    if isinstance(what, BaseException):
        return type(what).__name__
    return str(what) if isinstance(what, torch.dtype) else type(what).__name__


def _noted_tensor(torch: Any, tensor: Any) -> Facts:
    """A tensor among the events; under a transform only what holds for all examples."""
    try:
        found = described(torch, tensor)
    except Exception:  # a tensor of a transform has no memory of its own
        return {"shape": tuple(tensor.shape), "dtype": str(tensor.dtype).rpartition(".")[2]}
    return found | {"requires_grad": tensor.requires_grad}
