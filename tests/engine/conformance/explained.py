"""Entries that differ from PyTorch, each with the reason."""

from __future__ import annotations

EXPLAINED: dict[str, str] = {
    "as_strided_scatter": "PyTorch's gradient of the input is that of another layout; here it is "
    "zero exactly where the source was written.",
    "chalf": "There is no complex32 in NumPy; asking for it raises a TypeError.",
    "cholesky_inverse": "PyTorch's forward mode is not the derivative of the value; here it is.",
    "cov": "PyTorch's forward mode divides in float32 where the weights are float32.",
    "istft": "PyTorch has no gradient of a window that is not used as a whole in two samples.",
    "logcumsumexp": "One second gradient in float32 loses its digits to cancellation, by another "
    "amount than PyTorch's; those in float64 agree.",
    "linalg.vander": "PyTorch does not record the second derivative of a product of one factor, "
    "which is zero; here its terms cancel to a rounding.",
    "masked.logaddexp": "PyTorch's second gradient is NaN where an operand is minus infinity; here "
    "it is the limit, 0.",
    "nn.functional.linear_cross_entropy.chunked": "The second derivative exists here; PyTorch's "
    "chunked kernel takes its gradient for a constant.",
    "pca_lowrank": "See `svd_lowrank`.",
    "svd_lowrank": "Complex second gradients amplify rounding: they agree to 3e-7.",
}
"""Reasons by entry, as they read in docs/conformance.md; an entry that agrees must not be here."""
