# ruff: noqa: N999 - the name is PyTorch's
"""``torch._VF``: kernels that PyTorch shows there alone."""

from gradtool.engine._ops.reductions.distinct import unique_dim

__all__ = ["unique_dim"]
