"""``torch.distributed.nn``: collectives that autograd differentiates."""

from gradtool.engine.distributed.nn import functional as functional
