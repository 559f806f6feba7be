"""What modules of Functions use of ``torch.utils``."""

from gradtool.engine.utils import checkpoint

__all__ = ["checkpoint"]
