"""Automatic differentiation, laid out as ``torch.autograd`` is."""

import importlib
import sys
from typing import TYPE_CHECKING, Any

from gradtool.engine.autograd import (
    _attributes,  # noqa: F401 - it gives them to Tensor
    _grad_dtype,  # noqa: F401 - likewise
    anomaly_mode,
    forward_ad,
    function,
    functional,
    grad_mode,
    graph,
)
from gradtool.engine.autograd._api import backward, grad
from gradtool.engine.autograd._saved import SavedTensor
from gradtool.engine.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly
from gradtool.engine.autograd.function import Function, NestedIOFunction
from gradtool.engine.autograd.grad_mode import (
    _force_original_view_tracking,
    _unsafe_preserve_version_counter,
    enable_grad,
    enforce_grad_layout_policy,
    inference_mode,
    is_multithreading_enabled,
    is_view_replay_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from gradtool.engine.autograd.gradcheck import GradcheckError, gradcheck, gradgradcheck
from gradtool.engine.autograd.variable import Variable, variable

__all__ = [
    "Function",
    "GradcheckError",
    "NestedIOFunction",
    "SavedTensor",
    "Variable",
    "_force_original_view_tracking",
    "_unsafe_preserve_version_counter",
    "anomaly_mode",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "enforce_grad_layout_policy",
    "forward_ad",
    "function",
    "functional",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_multithreading_enabled",
    "is_view_replay_enabled",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
    "variable",
]


def _is_checkpoint_valid() -> bool:
    """Return False in a walk with targets."""
    return Variable._execution_engine.is_checkpoint_valid()


def _profiler_enabled() -> bool:
    """Return True while this thread is profiled."""
    # Whoever profiles has loaded it.
    loaded = sys.modules.get("gradtool.engine._profiling.recorder")
    return loaded is not None and loaded.recording.recorder is not None


if not TYPE_CHECKING:  # To a type checker every name would be there.

    def __getattr__(name: str) -> Any:
        if name in ("profiler", "profiler_util"):  # loaded when first asked for
            return importlib.import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
