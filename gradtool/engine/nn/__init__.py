"""Parameters and Modules, as far as code around custom Functions needs them."""

from gradtool.engine.nn import functional, init, modules, parameter
from gradtool.engine.nn.modules import Identity, Linear, Module, ModuleList, Sequential
from gradtool.engine.nn.parameter import Parameter

__all__ = [
    "Identity",
    "Linear",
    "Module",
    "ModuleList",
    "Parameter",
    "Sequential",
    "functional",
    "init",
    "modules",
    "parameter",
]
