"""``torch.utils.benchmark.utils``: the modules of ``torch.utils.benchmark``."""

from gradtool.engine.utils.benchmark.utils import common, compare, timer

__all__ = ["common", "compare", "timer"]
