"""Entries that differ from PyTorch, each with the reason."""

from __future__ import annotations

EXPLAINED: dict[str, str] = {
    "as_strided_scatter": "PyTorch returns the gradient of the input for another layout; here, it "
    "is zero exactly where the source was written.",
    "chalf": "NumPy has no complex32, so the engine raises a TypeError.",
    "cholesky_inverse": "PyTorch's forward mode does not give the derivative of the value; the "
    "engine's does.",
    "cov": "PyTorch's forward mode divides in float32 if the weights are float32.",
    "istft": "In two samples, PyTorch has no gradient for a window that is not used in full.",
    "logcumsumexp": "In float32, one second gradient loses its digits to cancellation, to a "
    "different extent than in PyTorch; in float64, they agree.",
    "linalg.vander": "PyTorch does not record the second derivative of a product of one factor, "
    "which is zero; here, its terms cancel up to rounding.",
    "masked.logaddexp": "PyTorch's second gradient is NaN if an operand is minus infinity; here, "
    "it is the limit, 0.",
    "nn.functional.linear_cross_entropy.chunked": "The engine has a second derivative; PyTorch's "
    "chunked kernel treats its gradient as a constant.",
    "pca_lowrank": "See `svd_lowrank`.",
    "svd_lowrank": "Complex second gradients amplify rounding: they agree to 3e-7.",
}
"""Reasons by entry, as they read in docs/conformance.md; an entry that agrees must not be here."""
