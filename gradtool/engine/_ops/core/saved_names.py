"""Values of a primitive's node under torch's names: ``grad_fn._saved_dim``, ``_raw_saved_self``.

torch generates these attributes from its derivatives. Here a name is found among what the node
saved for its vjps, the parameters of its primitive, or the arguments of the function that was
called, whichever has it first.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from math import prod
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
    kept = []
    for each in args:  # a loop: a comprehension would be a call, on the way of most functions
        kept.append(ABSENT if isinstance(each, Tensor) else each)  # noqa: PERF401
    if not params:
        return function, kept, _NO_PARAMS
    named = {name: ABSENT if isinstance(each, Tensor) else each for name, each in params.items()}
    return function, kept, named


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
            if isinstance(held, Tensor):
                return read(held)
    return _of_sizes(name, value_of)


def _of_sizes(name: str, value_of: Callable[[str], Any]) -> Any:
    """A count of elements, ``self_sym_numel``, or an extent, ``self_sym_argsize_minus_2``."""
    found = re.fullmatch(r"(\w+)_sym_(?:numel|argsize_(minus_)?(\d))", name)
    sizes: Any = ABSENT if found is None else value_of(f"{found[1]}_sym_sizes")
    if found is None or sizes is ABSENT:
        return ABSENT
    if found[3] is None:
        return prod(sizes)
    return sizes[-int(found[3]) if found[2] else int(found[3])]


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


def told_by(node: str, name: str, call: Call, value_of: Callable[[str], Any]) -> Any:
    """Return what torch's node of a function keeps of an argument; `ABSENT` if that is as given."""
    given = functools.partial(argument, call=call)
    if node.startswith("Upsample"):
        return _of_upsampling(name, given, value_of)
    if node == "ConvolutionBackward0":
        return _of_convolution(name, given, value_of)
    stated = given(name)
    if name == "reduction" and isinstance(stated, str):
        return ("none", "mean", "sum").index(stated)
    if name == "p" and node == "PdistBackward0":
        return float(stated)
    if name == "storage_offset" and node == "AsStridedBackward0":
        return stated
    if name in ("dim", "dim0", "dim1", "dim2", "ignore_index") and type(stated) is int:
        return stated % 2**64 if stated < 0 else ABSENT
    return ABSENT


def _of_upsampling(name: str, given: Callable[[str], Any], value_of: Callable[[str], Any]) -> Any:
    sizes = value_of("out_shape")[2:]
    if name == "output_size":
        return sizes
    if name == "align_corners":
        return bool(given(name))
    axis = {"scales": 0, "scales_d": -3, "scales_h": -2, "scales_w": -1}.get(name)
    if axis is None:
        return ABSENT
    factor = None if given("recompute_scale_factor") is True else given("scale_factor")
    factor = factor[axis] if isinstance(factor, tuple | list) else factor
    return None if factor is None else float(factor)


_OF_CONVOLUTION = (
    "bias_sym_sizes_opt", "dilation", "output_padding", "padding", "stride", "transposed",
)  # fmt: skip


def _of_convolution(name: str, given: Callable[[str], Any], value_of: Callable[[str], Any]) -> Any:
    if name not in _OF_CONVOLUTION or (weight := value_of("weight_sym_sizes")) is ABSENT:
        return ABSENT
    transposed = given("output_padding") is not ABSENT
    if name == "transposed":
        return transposed
    if name == "bias_sym_sizes_opt":
        outputs = weight[1] * given("groups") if transposed else weight[0]
        return (0,) if given("bias") is None else (outputs,)
    stated = 0 if name == "output_padding" and not transposed else given(name)
    return (stated,) * (len(weight) - 2) if type(stated) is int else ABSENT


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
    "cummax": {"indices": 1}, "cummin": {"indices": 1}, "sort": {"indices": 1},
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
