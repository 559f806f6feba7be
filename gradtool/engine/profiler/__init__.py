"""``torch.profiler``, the successor of `torch.autograd.profiler`."""

from gradtool.engine.autograd.profiler import record_function
from gradtool.engine.profiler.profiler import ProfilerActivity, profile, supported_activities

__all__ = ["ProfilerActivity", "profile", "record_function", "supported_activities"]
