"""The bundled engine, under torch's names: ``import gradtool.engine as torch`` works."""

from __future__ import annotations

import importlib
import inspect
from typing import TYPE_CHECKING, Any

from gradtool.engine import _dtypes, autograd, func
from gradtool.engine._device import device, get_default_device, set_default_device
from gradtool.engine._dtypes import (
    dtype,
    finfo,
    get_default_dtype,
    iinfo,
    promote_types,
    set_default_dtype,
)
from gradtool.engine._keywords import with_keywords
from gradtool.engine._legacy import TYPES as _LEGACY
from gradtool.engine._ops.core import methods as _methods
from gradtool.engine._ops.core.promotion import result_type
from gradtool.engine._settings import SETTINGS as _SETTINGS
from gradtool.engine._tensor import Size, Tensor
from gradtool.engine.amp.autocast_mode import autocast, is_autocast_enabled
from gradtool.engine.autograd.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from gradtool.engine.compiler import compile
from gradtool.engine.func import vmap
from gradtool.engine.version import __version__

inf = float("inf")
nan = float("nan")
pi = 3.141592653589793
e = 2.718281828459045
newaxis = None

_METHODS_ONLY = """
    contiguous cpu cuda expand expand_as getitem new_empty new_full new_ones new_tensor new_zeros
    pin_memory repeat reshape_as sum_to_size to type_as unfold view view_as
""".split()  # noqa: SIM905 - easier to read than a list of twenty strings
"""What tensors can do that torch has no function for."""

_FUNCTIONS = {
    name: with_keywords(function) if inspect.isfunction(function) else function
    for name, function in _methods.table(_methods.FAMILIES)
    if name not in _METHODS_ONLY
}

_IN_PLACE = """
    abs_ acos_ acosh_ addmv_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ asin_ asinh_ atan_
    atanh_ ceil_ clamp_ clamp_max_ clamp_min_ clip_ conj_physical_ cos_ cosh_ deg2rad_ detach_ erf_
    erfc_ exp2_ exp_ expm1_ fill_ fix_ floor_ frac_ gcd_ i0_ index_put_ lcm_ ldexp_ log10_ log1p_
    log2_ log_ logit_ nan_to_num_ neg_ negative_ rad2deg_ reciprocal_ resize_as_ round_ rsqrt_
    sigmoid_ sin_ sinc_ sinh_ sqrt_ square_ tan_ tanh_ trunc_ xlogy_ zero_
""".split()  # noqa: SIM905 - as above
"""Methods that torch has as functions too."""

_SUBMODULES = frozenset(
    """
    __config__ cuda fft jit library linalg nn ops profiler random serialization special
    testing utils
    """.split()  # noqa: SIM905 - as below
)
"""What is imported when it is first asked for."""

_OF_NN = frozenset(
    """
    adaptive_avg_pool1d adaptive_max_pool1d alpha_dropout avg_pool1d bilinear celu celu_
    channel_shuffle conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d
    cosine_similarity dropout group_norm hardshrink layer_norm max_pool1d max_pool1d_with_indices
    max_pool2d max_pool3d pairwise_distance pdist pixel_shuffle pixel_unshuffle prelu relu_ rms_norm
    rrelu rrelu_ selu selu_ threshold threshold_
    """.split()  # noqa: SIM905 - easier to read than a list of thirty strings
)
"""Functions of ``nn.functional`` that torch has here too, loaded with it."""

globals().update(_dtypes.ALIASES)
globals().update(_LEGACY)
globals().update(_SETTINGS)
globals().update(_FUNCTIONS)
_methods.attach()


def is_tensor(value: object) -> bool:
    """Whether it is a Tensor."""
    return isinstance(value, Tensor)


def is_floating_point(tensor: Tensor) -> bool:
    """Whether the dtype is a real floating one."""
    return tensor.is_floating_point()


def is_complex(tensor: Tensor) -> bool:
    """Whether the dtype is a complex one."""
    return tensor.is_complex()


def detach(input: Tensor) -> Tensor:
    """``input.detach()``."""
    return input.detach()


def typename(obj: Any) -> str:
    """The type of a tensor as ``torch.FloatTensor``, of anything else by its full name."""
    if isinstance(obj, Tensor):
        return str(obj.type())
    kind = obj if isinstance(obj, type) else type(obj)
    return f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")


def _assert(condition: Any, message: str) -> None:
    """``assert`` as a function: tracing compilers follow it, here it is the statement."""
    if not condition:
        raise AssertionError(message)


__all__ = [
    "Size",
    "Tensor",
    "__version__",
    "autocast",
    "autograd",
    "compile",
    "detach",
    "device",
    "dtype",
    "e",
    "enable_grad",
    "finfo",
    "func",
    "get_default_device",
    "get_default_dtype",
    "iinfo",
    "inf",
    "inference_mode",
    "is_autocast_enabled",
    "is_complex",
    "is_floating_point",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "is_tensor",
    "nan",
    "newaxis",
    "no_grad",
    "pi",
    "promote_types",
    "result_type",
    "set_default_device",
    "set_default_dtype",
    "set_grad_enabled",
    "typename",
    "vmap",
]
__all__ += [*_dtypes.ALIASES, *_FUNCTIONS, *_LEGACY, *_SETTINGS]

if not TYPE_CHECKING:  # To a type checker every name would be there.

    def __getattr__(name: str) -> Any:
        if name in _OF_NN:
            return getattr(importlib.import_module(f"{__name__}.nn.functional"), name)
        if name in _IN_PLACE:
            return getattr(Tensor, name)
        if name in ("load", "save"):
            return getattr(importlib.import_module(f"{__name__}.serialization"), name)
        if name in _SUBMODULES:
            return importlib.import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
