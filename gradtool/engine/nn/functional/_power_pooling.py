"""Pooling by the p-norm of each window, and division by that of neighbouring channels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtool.engine._ops.elementwise.elementwise import relu, sign
from gradtool.engine._tensor import Tensor
from gradtool.engine.nn.functional._padding import pad
from gradtool.engine.nn.functional._pooling import avg_pool1d, avg_pool2d, avg_pool3d
from gradtool.engine.nn.functional._windowing import for_each, product

_MEANS: dict[int, Callable[..., Tensor]] = {1: avg_pool1d, 2: avg_pool2d, 3: avg_pool3d}


def _norm_pooling(spatial: int) -> Callable[..., Tensor]:
    def pool(
        input: Tensor,
        norm_type: float,
        kernel_size: Any,
        stride: Any = None,
        ceil_mode: bool = False,
    ) -> Tensor:
        size = for_each(kernel_size, spatial, "kernel_size")
        mean = _MEANS[spatial](input.pow(norm_type), size, stride, 0, ceil_mode)
        # The powers of negative numbers may be negative, or zero: no root is taken of those.
        return (sign(mean) * relu(mean.abs()) * product(size)).pow(1.0 / norm_type)

    pool.__name__ = pool.__qualname__ = f"lp_pool{spatial}d"
    pool.__doc__ = f"""The p-norm of each window over the last {spatial} dimensions.

    That is the root of the sum of powers, not of magnitudes, as PyTorch has it.

    Raises:
        RuntimeError: the shapes do not fit.
    """
    return pool


lp_pool1d, lp_pool2d, lp_pool3d = (_norm_pooling(spatial) for spatial in (1, 2, 3))


def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """Divided by ``(k + alpha * m) ** beta``, m the mean square of `size` channels around.

    Krizhevsky et al., "ImageNet Classification with Deep Convolutional Neural Networks", 2012.

    Raises:
        ValueError: the input is not of shape (N, C, …).
    """
    if input.ndim < 3:
        raise ValueError(
            "Expected 3D or higher dimensionality                          input "
            f"(got {input.ndim} dimensions)"
        )
    square = (input * input).unsqueeze(1)
    if input.ndim > 3:
        around = pad(square.reshape(*square.shape[:4], -1), [0, 0, 0, 0, *_around(size)])
        mean = avg_pool3d(around, (size, 1, 1), stride=1)
    else:
        mean = avg_pool2d(pad(square, [0, 0, *_around(size)]), (size, 1), stride=1)
    return input / (mean.reshape(input.shape) * alpha + k).pow(beta)


def _around(size: int) -> list[int]:
    """How many channels before and behind one are among as many."""
    return [size // 2, (size - 1) // 2]


__all__ = ["local_response_norm", "lp_pool1d", "lp_pool2d", "lp_pool3d"]
