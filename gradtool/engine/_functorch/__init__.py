"""Transforms under the names of the package that they come from, as ``torch._functorch`` is."""

from gradtool.engine._functorch import apis, eager_transforms

__all__ = ["apis", "eager_transforms"]
