"""``torch.optim``: what changes parameters by their gradients, and schedules of its options."""

from gradtool.engine.optim import lr_scheduler, optimizer
from gradtool.engine.optim._adaptive import Adadelta, Adagrad, RMSprop, Rprop
from gradtool.engine.optim.adam import Adam, Adamax, AdamW, NAdam, RAdam
from gradtool.engine.optim.lbfgs import LBFGS
from gradtool.engine.optim.optimizer import Optimizer
from gradtool.engine.optim.sgd import SGD

__all__ = [
    "LBFGS", "SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "NAdam", "Optimizer",
    "RAdam", "RMSprop", "Rprop", "lr_scheduler", "optimizer",
]  # fmt: skip
