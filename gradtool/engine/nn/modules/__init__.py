"""The Modules that the engine has."""

from gradtool.engine.nn.modules.container import ModuleList, Sequential
from gradtool.engine.nn.modules.linear import Identity, Linear
from gradtool.engine.nn.modules.module import Module

__all__ = ["Identity", "Linear", "Module", "ModuleList", "Sequential"]
