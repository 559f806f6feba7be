"""Activations as Modules."""

from __future__ import annotations

from typing import Any

from gradtool.engine._ops.creation.creation import empty, full
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn import functional, init
from gradtool.engine.nn import functional as F  # noqa: N812 - as everybody calls it
from gradtool.engine.nn.modules._functional import module_of
from gradtool.engine.nn.modules.linear import NonDynamicallyQuantizableLinear
from gradtool.engine.nn.modules.module import Module
from gradtool.engine.nn.parameter import Parameter

CELU = module_of("CELU", F.celu, __name__, alpha=1.0, inplace=False)
ELU = module_of("ELU", F.elu, __name__, alpha=1.0, inplace=False)
GELU = module_of("GELU", F.gelu, __name__, approximate="none")
GLU = module_of("GLU", F.glu, __name__, dim=-1)
Hardshrink = module_of("Hardshrink", F.hardshrink, __name__, text="{lambd}", lambd=0.5)
Hardsigmoid = module_of("Hardsigmoid", F.hardsigmoid, __name__, inplace=False)
Hardswish = module_of("Hardswish", F.hardswish, __name__, inplace=False)
Hardtanh = module_of("Hardtanh", F.hardtanh, __name__, min_val=-1.0, max_val=1.0, inplace=False)
LeakyReLU = module_of("LeakyReLU", F.leaky_relu, __name__, negative_slope=0.01, inplace=False)
LogSigmoid = module_of("LogSigmoid", F.logsigmoid, __name__)
LogSoftmax = module_of("LogSoftmax", F.log_softmax, __name__, dim=None)
Mish = module_of("Mish", F.mish, __name__, inplace=False)
ReLU = module_of("ReLU", F.relu, __name__, inplace=False)
ReLU6 = module_of("ReLU6", F.relu6, __name__, inplace=False)
RReLU = module_of(
    "RReLU", F.rrelu, __name__, in_training=True, lower=1 / 8, upper=1 / 3, inplace=False
)
SELU = module_of("SELU", F.selu, __name__, inplace=False)
Sigmoid = module_of("Sigmoid", F.sigmoid, __name__)
SiLU = module_of("SiLU", F.silu, __name__, inplace=False)
Softmax = module_of("Softmax", F.softmax, __name__, dim=None)
Softmin = module_of("Softmin", F.softmin, __name__, dim=None)
Softplus = module_of("Softplus", F.softplus, __name__, beta=1.0, threshold=20.0)
Softshrink = module_of("Softshrink", F.softshrink, __name__, text="{lambd}", lambd=0.5)
Softsign = module_of("Softsign", F.softsign, __name__)
Softmax2d = module_of("Softmax2d", lambda x: F.softmax(_image(x), -3), __name__)
Tanh = module_of("Tanh", F.tanh, __name__)
Tanhshrink = module_of("Tanhshrink", F.tanhshrink, __name__)
Threshold = module_of("Threshold", F.threshold, __name__, threshold=..., value=..., inplace=False)


def _image(x: Tensor) -> Tensor:
    """Return `x` if its shape is (N, C, H, W) or (C, H, W)."""
    if x.ndim not in (3, 4):
        raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {x.ndim}D instead")
    return x


class PReLU(Module):
    """`nn.functional.prelu` with learned slopes."""

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.weight = Parameter(full((num_parameters,), float(init), device=device, dtype=dtype))

    def forward(self, input: Tensor) -> Tensor:
        """Multiply negative entries by the slopes."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """Show the number of slopes."""
        return f"num_parameters={self.num_parameters}"


class MultiheadAttention(Module):
    """`nn.functional.multi_head_attention_forward` with learned weights."""

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                "embed_dim and num_heads must be greater than 0, got "
                f"embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.batch_first, self.add_zero_attn = batch_first, add_zero_attn
        self.head_dim = embed_dim // num_heads
        self._make(bias, add_bias_kv, {"device": device, "dtype": dtype})
        self.reset_parameters()

    @property
    def _qkv_same_embed_dim(self) -> bool:
        """Return True if one weight stacks those of query, key and value."""
        return self.kdim == self.vdim == self.embed_dim

    def _make(self, bias: bool, more: bool, made: dict[str, Any]) -> None:
        width = self.embed_dim
        shapes: dict[str, tuple[int, ...] | None] = {
            "q_proj_weight": (width, width),
            "k_proj_weight": (width, self.kdim),
            "v_proj_weight": (width, self.vdim),
            "in_proj_weight": None,
        }
        if self._qkv_same_embed_dim:
            shapes = {**dict.fromkeys(shapes), "in_proj_weight": (3 * width, width)}
        shapes["in_proj_bias"] = (3 * width,) if bias else None
        for name, shape in shapes.items():
            own = None if shape is None else Parameter(empty(*shape, **made))
            self.register_parameter(name, own)
        self.out_proj = NonDynamicallyQuantizableLinear(width, width, bias=bias, **made)
        for name in ("bias_k", "bias_v"):
            own = Parameter(empty(1, 1, width, **made)) if more else None
            self.register_parameter(name, own)

    def reset_parameters(self) -> None:
        """Draw the weights by Glorot and Bengio's scheme; biases start at zero."""
        for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"):
            if getattr(self, name) is not None:
                init.xavier_uniform_(getattr(self, name))
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        for extra in (self.bias_k, self.bias_v):
            if extra is not None:
                init.xavier_normal_(extra)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Return attention and weights: see `nn.functional.multi_head_attention_forward`."""
        turned = self.batch_first and query.ndim == 3
        if turned:
            query, key, value = (each.transpose(0, 1) for each in (query, key, value))
        out, weights = functional.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight,
            self.in_proj_bias, self.bias_k, self.bias_v, self.add_zero_attn, self.dropout,
            self.out_proj.weight, self.out_proj.bias, self.training, key_padding_mask,
            need_weights, attn_mask, not self._qkv_same_embed_dim, self.q_proj_weight,
            self.k_proj_weight, self.v_proj_weight, average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )  # fmt: skip
        return (out.transpose(0, 1) if turned else out), weights


__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "MultiheadAttention",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]  # fmt: skip
