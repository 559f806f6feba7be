"""``torch.utils.benchmark``: the time of a statement, with its spread."""

from gradtool.engine.utils.benchmark import utils
from gradtool.engine.utils.benchmark.utils.common import (
    Measurement,
    TaskSpec,
    select_unit,
    trim_sigfig,
    unit_to_english,
)
from gradtool.engine.utils.benchmark.utils.compare import Compare
from gradtool.engine.utils.benchmark.utils.timer import Timer, timer

__all__ = [
    "Compare", "Measurement", "TaskSpec", "Timer", "select_unit", "timer", "trim_sigfig",
    "unit_to_english", "utils",
]  # fmt: skip
