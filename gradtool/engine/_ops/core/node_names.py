"""What ``grad_fn`` is called in the text of a tensor, as PyTorch calls it.

A primitive's node has the primitive's name. A function that is made of several would show the
last of them, where PyTorch has one node for the whole: `named` gives that node the name of the
function. Where PyTorch tells overloads apart by a number, the arguments say which.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradtool.engine._modes import modes
from gradtool.engine._ops.core.primitive_node import PrimitiveNode
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd._node import OutputEdge

Function = Callable[..., Any]


def named(name: str, function: Function, own: Mapping[str, Any] | None = None) -> Function:
    """`function`, whose results show the node that PyTorch has for it, if that needs saying.

    `own` are names that hold for this function's module before the common ones.
    """
    title: Any = (own or {}).get(name) or TITLES.get(name)
    if title is None or not inspect.isfunction(function):
        return function

    @functools.wraps(function)
    def call(*args: Any, **params: Any) -> Any:
        if not modes.grad:
            return function(*args, **params)
        before = [each._node for each in args if isinstance(each, Tensor)]
        out = function(*args, **params)
        for each in out if isinstance(out, tuple) else (out,):
            if isinstance(each, Tensor) and each._node is not None:
                said = title if isinstance(title, str) else title(*args, **params)
                if said is not None:
                    give_name(each, said, before)
        return out

    return call


def give_name(out: Tensor, title: str, before: Sequence[Any] = ()) -> None:
    """Name the node of a result, unless an argument had it before."""
    node: Any = out._node
    if any(node is each for each in before):
        return
    if isinstance(node, OutputEdge):
        node = node.node
    if isinstance(node, PrimitiveNode):
        node.title = title


def _numbered(name: str, rule: Callable[..., int | None]) -> Function:
    def title(*args: Any, **params: Any) -> str | None:
        number = rule(*args, **params)
        return None if number is None else f"{name}Backward{number}"

    return title


def _along(x: Any, dim: Any = None, *_: Any, **params: Any) -> bool:
    """Whether a dimension was named, not another tensor."""
    dim = params.get("axis", dim)
    return dim is not None and not isinstance(dim, Tensor)


def _extremum(name: str) -> Function:
    def title(x: Any, dim: Any = None, *rest: Any, **params: Any) -> str | None:
        if isinstance(dim, Tensor) or "other" in params:
            return None
        return f"{name}Backward{0 if _along(x, dim, *rest, **params) else 1}"

    return title


def _clamp(x: Any, min: Any = None, max: Any = None) -> int:
    return 0 if isinstance(min, Tensor) or isinstance(max, Tensor) else 1


def _squeeze(x: Any, dim: Any = None) -> int:
    return 0 if dim is None else 2 if isinstance(dim, tuple | list) else 1


def _einsum(equation: Any, *operands: Any) -> str | None:
    if not isinstance(equation, str):
        return None
    inputs, arrow, out = equation.replace(" ", "").replace("...", "").partition("->")
    letters = set(inputs) - {","}
    kept = set(out) if arrow else {each for each in letters if inputs.count(each) == 1}
    if "," not in inputs:
        return "SumBackward1" if letters - kept else None
    return "ViewBackward0" if letters - kept else "MulBackward0"


def _nll(input: Any, target: Any, *args: Any, **params: Any) -> str:
    if input.ndim == 3 or input.ndim > 4:
        reduction = args[4] if len(args) > 4 else params.get("reduction", "mean")
        return "ViewBackward0" if reduction == "none" else "NllLoss2DBackward0"
    return "NllLoss2DBackward0" if input.ndim == 4 else "NllLossBackward0"


def _cross_entropy(input: Any, target: Any, *args: Any, **params: Any) -> str:
    smoothing = args[5] if len(args) > 5 else params.get("label_smoothing", 0.0)
    if target.is_floating_point():
        reduction = args[4] if len(args) > 4 else params.get("reduction", "mean")
        return "DivBackward1" if reduction == "mean" else "NegBackward0"
    return "AddBackward0" if smoothing > 0 else _nll(input, target, *args, **params)


def _linear(input: Any, weight: Any, bias: Any = None) -> str | None:
    return "AddmmBackward0" if input.ndim == 2 and bias is not None else None


def _convolution(spatial: int) -> Function:
    def title(input: Any, *_: Any, **__: Any) -> str:
        return "ConvolutionBackward0" if input.ndim == spatial + 2 else "SqueezeBackward1"

    return title


def _interpolate(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    *_: Any,
    **__: Any,
) -> str | None:
    kinds = {
        "nearest": "Nearest", "nearest-exact": "NearestExact", "linear": "Linear",
        "bilinear": "Bilinear", "bicubic": "Bicubic", "trilinear": "Trilinear",
    }  # fmt: skip
    return f"Upsample{kinds[mode]}{input.ndim - 2}DBackward0" if mode in kinds else None


def _pad(x: Any, pad: Any, mode: str = "constant", value: Any = None) -> str | None:
    kinds = {"reflect": "Reflection", "replicate": "Replication"}
    return f"{kinds[mode]}Pad{len(pad) // 2}DBackward0" if mode in kinds else None


def _lerp(_x: Any, _end: Any, weight: Any) -> str:
    return f"LerpBackward{int(isinstance(weight, Tensor))}"


def _round(_x: Any, *, decimals: int = 0) -> str:
    return f"RoundBackward{int(decimals != 0)}"


def _scatter(_x: Any, _dim: Any, _index: Any, src: Any = None, **_: Any) -> str:
    return f"ScatterBackward{int(not isinstance(src, Tensor))}"


def _in_place(name: str) -> Function:
    """What has another number where it is written over its argument, said by name."""

    def title(*_: Any, inplace: bool = False, **__: Any) -> str:
        return f"{name}Backward{int(inplace)}"

    return title


def _adaptive_mean(input: Any, output_size: Any) -> str:
    ones = output_size in (1, (1, 1), [1, 1])
    return "MeanBackward1" if ones else "AdaptiveAvgPool2DBackward0"


_SAME = """
    Addbmm Addcdiv Addcmul Addmm Addmv Addr Aminmax Baddbmm BinaryCrossEntropy
    BinaryCrossEntropyWithLogits Cdist CholeskyInverse CholeskySolve Cummax Cummin Cumprod
    Deg2Rad Dist Embedding Frac Frexp Gather Gelu Glu Hardshrink Hardsigmoid Hardswish
    HuberLoss IndexAdd IndexFill IndexReduce IndexSelect Kthvalue Ldexp Logcumsumexp
    Logit MaskedScatter MaskedSelect Mish Mode MseLoss Mvlgamma NanToNum Nansum NarrowCopy
    PixelShuffle PixelUnshuffle Put Rad2Deg Renorm Roll Rot90 ScatterReduce SegmentReduce
    SelectScatter Sgn Silu SliceScatter SmoothL1Loss SoftMarginLoss Softplus Softshrink Sort
    StdMean Threshold Topk Trace Transpose TriangularSolve Unbind Unfold VarMean Vdot
""".split()  # noqa: SIM905 - easier to read than a list of eighty strings
"""Nodes of functions of the same name."""


def _function_of(node: str) -> str:
    """``MseLoss`` -> ``mse_loss``."""
    words = "".join(f"_{each.lower()}" if each.isupper() else each for each in node).strip("_")
    spelled = {"deg2_rad": "deg2rad", "rad2_deg": "rad2deg", "smooth_l1_loss": "smooth_l1_loss"}
    return spelled.get(words, words)


TITLES: dict[str, str | Function] = {_function_of(each): f"{each}Backward0" for each in _SAME}
TITLES |= {
    "celu": _in_place("Celu"),
    "elu": _in_place("Elu"),
    "leaky_relu": _in_place("LeakyRelu"),
    "adaptive_avg_pool1d": "SqueezeBackward1",
    "adaptive_avg_pool2d": _adaptive_mean,
    "avg_pool1d": "SqueezeBackward1",
    "avg_pool2d": "AvgPool2DBackward0",
    "avg_pool3d": "AvgPool3DBackward0",
    "batch_norm": "NativeBatchNormBackward0",
    "chunk": "SplitBackward0",
    "clamp": _numbered("Clamp", _clamp),
    "clip": _numbered("Clamp", _clamp),
    "clamp_max": "ClampMaxBackward0",
    "clamp_min": "ClampMinBackward0",
    "conv1d": _convolution(1),
    "conv2d": _convolution(2),
    "conv3d": _convolution(3),
    "conv_transpose1d": _convolution(1),
    "conv_transpose2d": _convolution(2),
    "conv_transpose3d": _convolution(3),
    "cosine_similarity": "SumBackward1",
    "cross": "LinalgCrossBackward0",
    "cross_entropy": _cross_entropy,
    "einsum": _einsum,
    "fold": "Col2ImBackward0",
    "group_norm": "NativeGroupNormBackward0",
    "hsplit": "SliceBackward0",
    "instance_norm": "ViewBackward0",
    "interpolate": _interpolate,
    "kron": "UnsafeViewBackward0",
    "layer_norm": "NativeLayerNormBackward0",
    "lerp": _lerp,
    "linear": _linear,
    "logsigmoid": "LogSigmoidBackward0",
    "max": _extremum("Max"),
    "max_pool1d": "SqueezeBackward1",
    "max_pool2d": "MaxPool2DWithIndicesBackward0",
    "max_pool3d": "MaxPool3DWithIndicesBackward0",
    "median": _numbered("Median", lambda *args, **params: int(_along(*args, **params))),
    "min": _extremum("Min"),
    "nanmedian": _numbered("Nanmedian", lambda *args, **params: int(_along(*args, **params))),
    "nll_loss": _nll,
    "norm": "LinalgVectorNormBackward0",
    "pad": _pad,
    "pairwise_distance": "NormBackward1",
    "prelu": "PreluKernelBackward0",
    "prod": _numbered("Prod", lambda *args, **params: int(_along(*args, **params))),
    "round": _round,
    "rrelu": "RreluWithNoiseBackward0",
    "scatter": _scatter,
    "selu": _in_place("Elu"),
    "squeeze": _numbered("Squeeze", _squeeze),
    "swapaxes": "TransposeBackward0",
    "swapdims": "TransposeBackward0",
    "t": "TBackward0",
    "tensor_split": "SliceBackward0",
    "vecdot": "SumBackward1",
    "vector_norm": "LinalgVectorNormBackward0",
    "vsplit": "SliceBackward0",
}
"""By the name of the function: the node, or a function of the arguments that says which."""

OF_IMAGES: dict[str, str] = {"unfold": "Im2ColBackward0"}
"""Where ``nn.functional`` has another function of the name."""

OF_LINALG = {
    "cholesky": "LinalgCholeskyExBackward0",
    "eig": "LinalgEigBackward0",
    "eigh": "LinalgEighBackward0",
    "eigvalsh": "LinalgEighBackward0",
    "inv": "LinalgInvExBackward0",
    "lstsq": "LinalgLstsqBackward0",
    "qr": "LinalgQrBackward0",
    "slogdet": "LinalgSlogdetBackward0",
    "solve": "LinalgSolveExBackward0",
    "solve_triangular": "LinalgSolveTriangularBackward0",
    "svd": "LinalgSvdBackward0",
    "svdvals": "LinalgSvdBackward0",
    "vecdot": "SumBackward1",
    "vector_norm": "LinalgVectorNormBackward0",
}

__all__ = ["OF_IMAGES", "OF_LINALG", "TITLES", "give_name", "named"]
