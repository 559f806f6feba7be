"""``torch.nn.utils.parametrizations``: weights of norm 1, of given length, or orthogonal."""

from __future__ import annotations

from typing import Any

from gradtool.engine._ops.linalg.linalg import mv
from gradtool.engine._tensor import Tensor
from gradtool.engine.autograd.grad_mode import no_grad
from gradtool.engine.nn.functional import normalize
from gradtool.engine.nn.modules.module import Module
from gradtool.engine.nn.utils.parametrize import register_parametrization
from gradtool.engine.nn.utils.weight_norm import WeightNorm


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        """``g · v / ‖v‖``."""
        return weight_v * (weight_g / WeightNorm("", self.dim).length(weight_v))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Split a weight into length and direction."""
        return WeightNorm("", self.dim).length(weight), weight


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Learn a weight as its length and its direction (Salimans and Kingma, 2016)."""
    return register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


class _SpectralNorm(Module):
    def __init__(
        self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        super().__init__()
        self.dim, self.eps, self.n_power_iterations = dim, eps, n_power_iterations
        if weight.ndim > 1:
            matrix = self._as_matrix(weight)
            u, v = (matrix.new_empty(extent).normal_(0, 1) for extent in matrix.shape)
            self.register_buffer("_u", normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", normalize(v, dim=0, eps=eps))
            self._iterate(matrix, 15)

    def _as_matrix(self, weight: Tensor) -> Tensor:
        others = [dim for dim in range(weight.ndim) if dim != self.dim]
        return weight.permute(self.dim, *others).reshape(weight.shape[self.dim], -1)

    def _iterate(self, matrix: Tensor, count: int) -> None:
        with no_grad():
            for _ in range(count):
                self._u.copy_(normalize(mv(matrix, self._v), dim=0, eps=self.eps))
                self._v.copy_(normalize(mv(matrix.t(), self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        """Divide the weight by its largest singular value."""
        if weight.ndim == 1:
            return normalize(weight, dim=0, eps=self.eps)
        matrix = self._as_matrix(weight)
        if self.training:
            self._iterate(matrix.detach(), self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()
        largest: Tensor = u.dot(mv(matrix, v))
        return weight / largest

    def right_inverse(self, value: Tensor) -> Tensor:
        """Return the weight itself."""
        return value


def spectral_norm(
    module: Any,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Any:
    """Divide a weight by its largest singular value (Miyato et al., 2018)."""
    if dim is None:
        dim = int(type(module).__name__.startswith("ConvTranspose"))
    weight = getattr(module, name)
    made = _SpectralNorm(weight.detach(), n_power_iterations, dim, eps)
    return register_parametrization(module, name, made)


__all__ = ["spectral_norm", "weight_norm"]
