"""gradtool checks hand-written gradients before they merge.

What a module of autograd Functions needs, and what a test suite needs to check one, is
here. Everything else of the engine has torch's names under ``gradtool.engine``
(``import gradtool.engine as torch``). Names are loaded when they are first used, so that
``gradtool --help`` starts without NumPy.

PYTEST_DONT_REWRITE: a program may import gradtool before it starts pytest.
"""

from __future__ import annotations

import importlib

from gradtool.package import __version__

TYPE_CHECKING = False
"""As type checkers understand it; `typing` takes longer to load than all else here."""

if TYPE_CHECKING:
    import typing
    from collections.abc import Callable

    from gradtool.cases.case import Case
    from gradtool.engine import Tensor, dtype, no_grad
    from gradtool.engine.autograd.function import Function, once_differentiable
    from gradtool.engine.autograd.gradcheck import gradcheck, gradgradcheck
    from gradtool.results.report import Finding, Report, Verdict
    from gradtool.testing import check

    # The engine makes these from a table, which type checkers do not read.
    float32: dtype
    float64: dtype
    ones: Callable[..., Tensor]
    ones_like: Callable[..., Tensor]
    randn: Callable[..., Tensor]
    tensor: Callable[..., Tensor]
    zeros: Callable[..., Tensor]
    zeros_like: Callable[..., Tensor]

__all__ = [
    "Case",
    "Finding",
    "Function",
    "Report",
    "Tensor",
    "Verdict",
    "__version__",
    "check",
    "float32",
    "float64",
    "gradcheck",
    "gradgradcheck",
    "no_grad",
    "once_differentiable",
    "ones",
    "ones_like",
    "randn",
    "tensor",
    "zeros",
    "zeros_like",
]

_HOMES = {
    "Case": "gradtool.cases.case",
    "Finding": "gradtool.results.report",
    "Function": "gradtool.engine.autograd.function",
    "Report": "gradtool.results.report",
    "Tensor": "gradtool.engine",
    "Verdict": "gradtool.results.report",
    "check": "gradtool.testing",
    "float32": "gradtool.engine",
    "float64": "gradtool.engine",
    "gradcheck": "gradtool.engine.autograd.gradcheck",
    "gradgradcheck": "gradtool.engine.autograd.gradcheck",
    "no_grad": "gradtool.engine",
    "once_differentiable": "gradtool.engine.autograd.function",
    "ones": "gradtool.engine",
    "ones_like": "gradtool.engine",
    "randn": "gradtool.engine",
    "tensor": "gradtool.engine",
    "zeros": "gradtool.engine",
    "zeros_like": "gradtool.engine",
}


def __getattr__(name: str) -> typing.Any:
    """Load a public name from its home on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
