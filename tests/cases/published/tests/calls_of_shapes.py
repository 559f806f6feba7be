"""Calls that gradtool reads, and does not run."""

import torch
from package_that_is_missing import assert_close
from shapes import Interleave


def test_interleave():
    x = torch.randn(4, 9, dtype=torch.double, requires_grad=True)
    assert_close(Interleave.apply(x, [2, 3, 4], [2, 0, 1]).shape, x.shape)
