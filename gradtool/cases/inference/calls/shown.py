"""Arguments that reach a Function while the examples in docstrings of its module run.

``>>> y = root(f, y0, params=(a,))`` shows what a caller of the Function takes, functions included.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from gradtool.cases.inference.calls.choices import chosen_beside
from gradtool.cases.inference.calls.examples import examples
from gradtool.cases.inference.drafts import Draft
from gradtool.cases.inference.observing import double_precision, observed
from gradtool.cases.inference.trials import silenced
from gradtool.sandbox.timeout import TimedOut, time_limit

_MOST = 6
"""Examples that are run."""

_SECONDS = 3.0
"""Time that one may take."""


def shown_arguments(
    function: Any, module: ast.Module, names: Collection[str], namespace: Mapping[str, Any]
) -> Iterator[tuple[int, Draft]]:
    """Yield the arguments of each call, with the line of the example that leads to it.

    Args:
        function: The Function.
        module: The tree of its module.
        names: Its name, and those of its callers.
        namespace: The globals of its module.
    """
    found = {ast.unparse(each): each for name in names for each in examples(module, name)}
    telling = [each for each in found.values() if _calls(each, names)]
    for example in sorted(telling, key=lambda each: each.body[0].lineno)[:_MOST]:
        with observed(function, *chosen_beside(function)) as seen:
            _run(example, dict(namespace))
        yield from ((example.body[0].lineno, draft) for draft in seen)


def _calls(example: ast.Module, names: Collection[str]) -> bool:
    return any(
        isinstance(each, ast.Call) and ast.unparse(each.func).removesuffix(".apply") in names
        for each in ast.walk(example)
    )


def _run(example: ast.Module, namespace: dict[str, Any]) -> None:
    """Run an example as far as it goes: it may show an error, or need what is not there."""
    try:
        with silenced(), double_precision(), time_limit(_SECONDS):
            exec(compile(example, "<example>", "exec"), namespace)
    except MemoryError:
        raise
    except (Exception, TimedOut):
        return
