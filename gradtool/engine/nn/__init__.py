"""``torch.nn``: the part that code around custom Functions uses."""

from gradtool.engine.nn import functional, grad, init, modules, parameter, utils
from gradtool.engine.nn.modules import *  # noqa: F403 - every module is a name here too, as in torch
from gradtool.engine.nn.parameter import Parameter

__all__ = [
    *modules.__all__,
    "Parameter",
    "functional",
    "grad",
    "init",
    "modules",
    "parameter",
    "utils",
]
