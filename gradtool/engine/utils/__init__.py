"""The parts of ``torch.utils`` that modules of Functions use."""

from gradtool.engine.utils import _pytree, checkpoint

__all__ = ["_pytree", "checkpoint"]
