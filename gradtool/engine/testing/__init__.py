"""Tensors compared, and made for tests, as ``torch.testing`` does."""

from gradtool.engine.testing._comparison import assert_close
from gradtool.engine.testing._creation import make_tensor

__all__ = ["assert_close", "make_tensor"]
