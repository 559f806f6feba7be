"""Version of PyTorch whose behaviour the engine follows."""

__all__ = ["__version__", "cuda", "debug", "hip"]

__version__ = "2.13.0+gradtool"
debug = False
cuda: str | None = None
hip: str | None = None
