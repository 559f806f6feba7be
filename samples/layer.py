"""A module: its inputs and its parameters are checked where it is named.

``gradtool check samples/layer.py::Scale``. Found without a name where gradtool.yaml says how it is
made; see `module` there.
"""

from gradtool import randn
from gradtool.engine import nn


class Scale(nn.Module):
    """A factor for each of the last dimension's entries, and what is added to them."""

    def __init__(self, features=3, shift=True):
        super().__init__()
        self.weight = nn.Parameter(randn(features))
        self.shift = nn.Parameter(randn(features)) if shift else None

    def forward(self, x):
        scaled = x * self.weight
        return scaled if self.shift is None else scaled + self.shift
