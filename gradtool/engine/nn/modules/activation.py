"""Activations as Modules."""

from __future__ import annotations

from typing import Any

from gradtool.engine._ops.creation.creation import full
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn import functional as F  # noqa: N812 - as everybody calls it
from gradtool.engine.nn.modules._attention import MultiheadAttention
from gradtool.engine.nn.modules._functional import module_of
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
    """It, if it is of shape (N, C, H, W) or (C, H, W)."""
    if x.ndim not in (3, 4):
        raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {x.ndim}D instead")
    return x


class PReLU(Module):
    """`nn.functional.prelu` with slopes that are learned."""

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.weight = Parameter(full((num_parameters,), float(init), device=device, dtype=dtype))

    def forward(self, input: Tensor) -> Tensor:
        """Negative entries times the slopes."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """How many slopes."""
        return f"num_parameters={self.num_parameters}"


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
