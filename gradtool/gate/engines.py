"""The engines that checked code can compute with: gradtool's own, and the user's PyTorch."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, nullcontext

from gradtool.gate.options import UsageError

BUNDLED = "bundled"
TORCH = "torch"
BOTH = "both"
"""Everything under the bundled engine, and GT702 where PyTorch disagrees."""
ENGINES = (BUNDLED, TORCH, BOTH)

_OLDEST = (2, 4)
"""Version of PyTorch from which on all is there that the checker asks of it."""


def require_engine(engine: str) -> None:
    """Refuse an engine that is not installed. Imports nothing.

    Raises:
        UsageError: It is unknown, missing or too old; the text says what to do.
    """
    if engine not in ENGINES:
        raise UsageError(f"--engine must be one of {', '.join(ENGINES)}, got {engine!r}")
    if engine != BUNDLED:
        _require_torch(engine)


def _require_torch(engine: str) -> None:
    from importlib.util import find_spec

    if find_spec("torch") is None:
        raise UsageError(
            f"--engine {engine} needs PyTorch beside gradtool: pip install torch, or leave "
            "--engine away"
        )
    version = _torch_version()
    if tuple(map(int, re.findall(r"\d+", version)[:2])) < _OLDEST:
        oldest = ".".join(map(str, _OLDEST))
        raise UsageError(
            f"--engine {engine} needs PyTorch {oldest} or later; {version} is installed"
        )


def shown(engine: str) -> str:
    """The engine and its version, as reports name it."""
    if engine == BUNDLED:
        return BUNDLED
    torch = f"PyTorch {_torch_version()}"
    return torch if engine == TORCH else f"{BUNDLED} and {torch}"


def _torch_version() -> str:
    from importlib.metadata import version  # 20 ms that only this needs

    return version("torch")


def computing_with(engine: str) -> AbstractContextManager[None]:
    """In this context the adapters compute with the engine.

    Raises:
        ImportError: It does not load.
    """
    from gradtool.gate.adapters.library import using

    if engine == BUNDLED:
        from gradtool.gate.adapters.bundled_library import bundled

        return using(bundled())
    from gradtool.gate.adapters.torch_library import pytorch

    return using(pytorch())


def engine_imports(engine: str) -> AbstractContextManager[None]:
    """In this context, imports of gradtool's engine give the engine of the run."""
    if engine == BUNDLED:
        return nullcontext()
    from gradtool.gate.adapters.torch_library import pytorch
    from gradtool.gate.engine_alias import answer_engine_imports

    return answer_engine_imports(pytorch().torch)
