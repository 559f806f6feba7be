"""The bundled engine, under torch's names: ``import gradtool.engine as torch`` works."""

from __future__ import annotations

import importlib
import inspect
import sys
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
from gradtool.engine._higher_order_ops.cond import cond
from gradtool.engine._keywords import with_keywords
from gradtool.engine._legacy import TYPES as _LEGACY
from gradtool.engine._ops.core import methods as _methods
from gradtool.engine._ops.core.op import FUNCTIONS
from gradtool.engine._ops.core.promotion import result_type
from gradtool.engine._overrides import attach as _attach_overrides
from gradtool.engine._settings import SETTINGS as _SETTINGS
from gradtool.engine._size import Size
from gradtool.engine._tensor import Tensor
from gradtool.engine.amp.autocast_mode import (
    autocast,
    get_autocast_cpu_dtype,
    get_autocast_dtype,
    get_autocast_gpu_dtype,
    is_autocast_enabled,
)
from gradtool.engine.autograd.anomaly_mode import (
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    set_anomaly_enabled,
)
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

_FUNCTIONS = {
    name: with_keywords(function) if inspect.isfunction(function) else function
    for name, function in FUNCTIONS.items()
}

_SUBMODULES = frozenset(
    """
    __config__ cuda distributions fft jit library linalg masked nn ops profiler random
    serialization sparse special testing utils
    """.split()  # noqa: SIM905 - as below
)
"""Submodules that are imported on first use."""

_OF_NN = frozenset(
    """
    adaptive_avg_pool1d adaptive_max_pool1d avg_pool1d bilinear celu celu_ channel_shuffle conv1d
    conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d cosine_similarity
    hardshrink max_pool1d max_pool1d_with_indices max_pool2d max_pool3d native_channel_shuffle
    pairwise_distance pdist pixel_shuffle pixel_unshuffle prelu relu_ rms_norm rrelu rrelu_ selu
    selu_ threshold threshold_
    """.split()  # noqa: SIM905 - easier to read than a list of thirty strings
)
"""Functions of ``nn.functional`` that torch has here too, loaded with it."""

_OF_TOP_LEVEL = frozenset(
    """
    _grouped_mm _log_softmax_backward_data _softmax_backward_data
    affine_grid_generator alpha_dropout alpha_dropout_ batch_norm
    binary_cross_entropy_with_logits constant_pad_nd convolution cosine_embedding_loss ctc_loss
    dropout dropout_ embedding fake_quantize_per_channel_affine fake_quantize_per_tensor_affine
    feature_alpha_dropout feature_alpha_dropout_ feature_dropout
    feature_dropout_ grid_sampler grid_sampler_2d grid_sampler_3d group_norm gru gru_cell
    hinge_embedding_loss instance_norm kl_div layer_norm lstm lstm_cell margin_ranking_loss
    native_batch_norm native_dropout native_group_norm native_layer_norm norm_except_dim
    poisson_nll_loss rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell triplet_margin_loss
    """.split()  # noqa: SIM905 - as above
)
"""Functions of ``nn._top_level``, loaded with it."""

_OF_SPARSE = frozenset({"sparse_coo_tensor", "sparse_csr_tensor"})
"""Makers of sparse tensors, loaded with the rest of what is sparse."""

globals().update(_dtypes.ALIASES)
globals().update(_LEGACY)
globals().update(_SETTINGS)
globals().update(_FUNCTIONS)
_methods.attach()
_attach_overrides()


def is_tensor(value: object) -> bool:
    """Return True for a Tensor."""
    return isinstance(value, Tensor)


def is_inference(tensor: Tensor) -> bool:
    """Return True if the tensor was made in inference mode."""
    return tensor.is_inference()


def is_floating_point(tensor: Tensor) -> bool:
    """Return True if the dtype is a real floating one."""
    return tensor.is_floating_point()


def is_complex(tensor: Tensor) -> bool:
    """Return True if the dtype is a complex one."""
    return tensor.is_complex()


def detach(input: Tensor) -> Tensor:
    """``input.detach()``."""
    return input.detach()


def typename(obj: Any) -> str:
    """Return ``torch.FloatTensor`` or the like for a tensor, else the full name of the type."""
    if isinstance(obj, Tensor):
        return str(obj.type())
    kind = obj if isinstance(obj, type) else type(obj)
    return f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")


def _assert(condition: Any, message: str) -> None:
    """Assert, as a function: PyTorch's tracing compilers need one."""
    if not condition:
        raise AssertionError(message)


def _check(cond: Any, message: Any = None) -> None:
    """Raise a RuntimeError unless `cond` holds, with the text that `message` returns.

    Raises:
        RuntimeError: It does not hold.
    """
    if not cond:
        raise RuntimeError(_UNEXPLAINED if message is None else str(message()))


_UNEXPLAINED = (
    "Expected cond to be True, but got False. (Could this error message be improved? If so, "
    "please report an enhancement request to PyTorch.)"
)

__all__ = [
    "Size",
    "Tensor",
    "__version__",
    "autocast",
    "autograd",
    "compile",
    "cond",
    "detach",
    "device",
    "dtype",
    "e",
    "enable_grad",
    "finfo",
    "func",
    "get_autocast_cpu_dtype",
    "get_autocast_dtype",
    "get_autocast_gpu_dtype",
    "get_default_device",
    "get_default_dtype",
    "iinfo",
    "inf",
    "inference_mode",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_autocast_enabled",
    "is_complex",
    "is_floating_point",
    "is_grad_enabled",
    "is_inference",
    "is_inference_mode_enabled",
    "is_tensor",
    "nan",
    "newaxis",
    "no_grad",
    "pi",
    "promote_types",
    "result_type",
    "set_anomaly_enabled",
    "set_default_device",
    "set_default_dtype",
    "set_grad_enabled",
    "typename",
    "vmap",
]
__all__ += [*_dtypes.ALIASES, *_FUNCTIONS, *_LEGACY, *_SETTINGS]


def _is_in_place_function(name: str) -> bool:
    """Return True for an in-place method that PyTorch has as a function too, as ``torch.abs_``."""
    if not name.endswith("_") or name.startswith("_") or not hasattr(Tensor, name):
        return False
    from gradtool.engine._torch_names import names_of

    return name in names_of("torch").plain


if not TYPE_CHECKING:  # To a type checker every name would be there.

    def __getattr__(name: str) -> Any:
        if name in _OF_NN:
            return getattr(importlib.import_module(f"{__name__}.nn.functional"), name)
        if name in _OF_TOP_LEVEL:
            return getattr(importlib.import_module(f"{__name__}.nn._top_level"), name)
        if name in _OF_SPARSE:
            return getattr(importlib.import_module(f"{__name__}.sparse._making"), name)
        if _is_in_place_function(name):
            return getattr(Tensor, name)
        if name in ("load", "save"):
            return getattr(importlib.import_module(f"{__name__}.serialization"), name)
        if name == "torch":  # PyTorch's package imports itself.
            return sys.modules[__name__]
        if name in _SUBMODULES:
            return importlib.import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
