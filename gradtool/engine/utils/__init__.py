"""The parts of ``torch.utils`` that modules of Functions use."""

from gradtool.engine.utils import checkpoint

__all__ = ["checkpoint"]
