"""A module, whose gradients are checked with respect to its inputs and parameters.

To check it, name it, as in ``gradtool check samples/layer.py::Scale``, or describe it in
gradtool.yaml, as the entry with `module` there does.
"""

from gradtool import randn
from gradtool.engine import nn


class Scale(nn.Module):
    """A factor and a shift for each entry of the last dimension."""

    def __init__(self, features=3, shift=True):
        super().__init__()
        self.weight = nn.Parameter(randn(features))
        self.shift = nn.Parameter(randn(features)) if shift else None

    def forward(self, x):
        scaled = x * self.weight
        return scaled if self.shift is None else scaled + self.shift
