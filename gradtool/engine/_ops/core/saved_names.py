"""Values of a primitive's node under torch's names: ``grad_fn._saved_dim``, ``_raw_saved_self``.

torch generates these attributes from its derivatives. Here a name is found among what the node
saved for its vjps, the parameters of its primitive, or the arguments of the function that was
called, whichever has it first.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gradtool.engine._tensor import Tensor

if TYPE_CHECKING:
    from gradtool.engine._ops.core.primitive import Plan

ABSENT = object()
"""There is no value of a name."""

_NO_PARAMS: dict[str, Any] = {}

Call = tuple[Callable[..., Any], Sequence[Any], Mapping[str, Any]]


def without_tensors(function: Callable[..., Any], args: Any, params: dict[str, Any]) -> Call:
    """Return a call to look arguments up in, which keeps no tensor alive."""
    return (
        function,
        [ABSENT if isinstance(each, Tensor) else each for each in args],
        {name: ABSENT if isinstance(each, Tensor) else each for name, each in params.items()}
        if params
        else _NO_PARAMS,
    )


def slot_of(plan: Plan, name: str) -> int | None:
    """The place of a saved value by torch's name for it; None where it is not kept."""
    kept, primitive = plan.names, plan.primitive
    arguments = primitive.arguments
    few = _PLACES_OF_FEW.get(primitive.name, {})
    if name in few:
        return _index(kept, arguments[few[name]])
    for suffix, aspect in _ASPECTS:
        if name.endswith(suffix):
            found = _argument(arguments, name.removesuffix(suffix))
            return None if found is None else _index(kept, f"{found}{aspect}")
    if name in ("L", "inverse", "result"):
        return plan.out_slot
    own = _argument(arguments, name)
    return _index(kept, name if own is None or name in arguments else own)


def is_saved_for_others(plan: Plan, name: str) -> bool:
    """Return True for a tensor that only gradients which nobody needs would use: it is None."""
    own = _argument(plan.primitive.arguments, name)
    return own is not None and any(own in vjp.needs for vjp in plan.primitive.vjps)


def aspect(name: str, value_of: Callable[[str], Any]) -> Any:
    """A property of a saved tensor: ``self_sym_strides``; `ABSENT` if it is not saved."""
    for suffix, read in _PROPERTIES.items():
        if name.endswith(suffix):
            held = value_of(name.removesuffix(suffix))
            return read(held) if isinstance(held, Tensor) else ABSENT
    return ABSENT


def slots_of_indices(plan: Plan, params: Mapping[str, Any]) -> list[int | None] | None:
    """The places of ``indices``, None for a dimension that is taken whole; None for other names."""
    dims = params.get("dims")
    if plan.primitive.name != "index" or dims is None:
        return None
    tensors = dict(zip(dims, plan.tensor_slots))
    return [tensors.get(dim) for dim in range(max(dims) + 1)]


def parameter(name: str, params: Mapping[str, Any], primitive: str) -> Any:
    """A parameter of a primitive by torch's name; `ABSENT` if there is none."""
    for own in (name, *_OWN.get(name, ())):
        if own in params:
            return params[own]
    if primitive in _DEFAULTS and name in _DEFAULTS[primitive]:
        return _DEFAULTS[primitive][name]
    return _part_of_key(name, params["key"]) if "key" in params else ABSENT


def argument(name: str, call: Call) -> Any:
    """An argument of the function that was called; `ABSENT` if it is a tensor, or there is none."""
    function, args, given = call
    bound = inspect.signature(function).bind(*args, **given)
    bound.apply_defaults()
    return bound.arguments.get(name, ABSENT)


def _part_of_key(name: str, key: tuple[Any, ...]) -> Any:
    """A property of the last step that torch takes for an index."""
    whole = slice(None)
    dim = max((at for at, part in enumerate(key) if part != whole), default=0)
    part = key[dim] if key else whole
    found: dict[str, Any] = {"dim": dim}
    if isinstance(part, slice):
        found |= {"start": part.start, "end": part.stop, "step": part.step or 1}
    else:
        found["index"] = part
    return found.get(name, ABSENT)


def _argument(arguments: tuple[str, ...], name: str) -> str | None:
    """The name that the primitive has for an argument that torch calls `name`."""
    place = _PLACES.get(name)
    if name in arguments or place is None:
        return name if name in arguments else None
    return arguments[place] if place < len(arguments) else None


def _index(names: Sequence[str], name: str) -> int | None:
    return names.index(name) if name in names else None


_PLACES = {
    "exponent": 1, "mat1": 0, "mat2": 1, "other": 1, "self": 0, "tensor": 1, "vec": 1,
}  # fmt: skip
"""torch's names of arguments, and their places."""
_PLACES_OF_FEW = {
    "convolution": {"input": 0, "weight": 1},
    "sort": {"indices": 1},
    "topk": {"indices": 1}, "where": {"condition": 0},
}  # fmt: skip
"""Primitive -> places of arguments whose names are too common for all."""
_ASPECTS = (("_sym_sizes", "_shape"), ("_scalar_type", "_dtype"))
"""Endings of the names of an argument's properties: torch's, and those of primitives."""
_PROPERTIES: dict[str, Callable[[Tensor], Any]] = {
    "_sym_numel": lambda tensor: tensor.numel(),
    "_sym_sizes": lambda tensor: tuple(tensor.shape),
    "_sym_strides": lambda tensor: tensor.stride(),
}
"""Endings of the names of properties, and how a tensor has them."""
_DEFAULTS: dict[str, dict[str, Any]] = {"add": {"alpha": 1}, "sub": {"alpha": 1}}
"""Primitive -> parameters of torch's that it does not have, and what they are then."""
_OWN = {
    "dim": ("dims",), "full_matrices": ("full",), "input_scale": ("rate",), "lambd": ("bound",),
    "max": ("high",), "max_val": ("high",), "min": ("low",), "min_val": ("low",),
    "negative_slope": ("slope",), "ord": ("p",), "pivot": ("pivoting",),
    "storage_offset": ("offset",), "threshold": ("level",),
}  # fmt: skip
"""torch's names of parameters, and those that primitives have for them."""
