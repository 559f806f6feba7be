"""Where torch keeps what ``torch.utils.benchmark`` offers."""

from gradtool.engine.utils.benchmark.utils import common, compare, timer

__all__ = ["common", "compare", "timer"]
