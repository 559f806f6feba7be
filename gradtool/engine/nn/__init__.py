"""Parameters and Modules, as far as code around custom Functions needs them."""

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
