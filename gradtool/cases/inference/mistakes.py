"""Mistakes that no arguments avoid: every call that comes far enough breaks the same contract."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from pathlib import Path

from gradtool.adapters.library import library
from gradtool.cases.inference.candidates import Parameters
from gradtool.cases.inference.drafts import asks
from gradtool.cases.inference.trials import Trial
from gradtool.config.schema import CaseConfig

_MISCALLED = re.compile(
    r"\bTypeError: (?:[\w<>]+\.)*(\w+)\(\) (?:missing \d+ required|takes .* positional argument|"
    r"got an unexpected keyword argument)"
)
"""Matches the refusal of a call that has other arguments than the function takes: its name."""

_UNSET = re.compile(r"AttributeError: '\w+Backward' object has no attribute '\w+'")
"""Matches the refusal of a forward that reads from ctx what nothing has set."""

_REMOVED = re.compile(
    r"RuntimeError: torch\.\w+ was deprecated since version \S+ and is now removed"
    r"|AttributeError: 'Tensor' object has no attribute "
    r"'(btrf|btrifact\w*|btrisolve|btrs|btriunpack|gels|gesv|potr[fis]|pstrf|trtrs)'"
)
"""Matches the refusal of a function or a method that PyTorch has removed."""

_UNKNOWN = re.compile(r"NameError: name '(\w+)' is not defined")
"""Matches the refusal of a name that nothing is bound to."""

_COUNTS = re.compile(r"incorrect number of gradients \(expected \d+, got (\d+)\)")
"""Matches the objection to the number of gradients: that number."""


class Furthest:
    """The case that came furthest, of those with a tensor that asks for a gradient.

    Args:
        attempt: Tries a case.
    """

    def __init__(self, attempt: Callable[[CaseConfig], Trial]) -> None:
        self._attempt = attempt
        self._case: CaseConfig | None = None
        self._trial = Trial()

    def attempt(self, case: CaseConfig) -> Trial:
        """Try a case, and remember it if it comes further than all before."""
        trial = self._attempt(case)
        is_further = self._case is None or _height(trial) > _height(self._trial)
        if is_further and any(map(asks, case.args)):
            self._case, self._trial = case, trial
        return trial

    def mistaken(self, parameters: Parameters) -> CaseConfig | None:
        """Return the case if other arguments would break the same contract; otherwise None.

        What is no tensor is saved whatever the arguments are, a function of the module is called
        with fewer arguments than it takes, forward reads from ctx what only ``__init__`` sets or
        calls what PyTorch has removed, nothing binds a name, or backward returns fewer gradients
        than the parameters that a call has to give.
        """
        refusal = self._trial.refusal or ""
        is_unset = _UNSET.match(refusal) and not self._trial.below
        is_hopeless = is_unset or _REMOVED.match(refusal) or _is_miscalled(self._trial)
        is_hopeless = is_hopeless or _is_bound_nowhere(self._trial)
        if self._trial.broken == "saved-type" or is_hopeless:
            return self._case
        counted = _COUNTS.search(self._trial.doubt or "")
        if self._trial.broken != "gradient-count" or counted is None:
            return None
        return self._case if int(counted[1]) < _required(parameters) else None


def _height(trial: Trial) -> tuple[int, ...]:
    """The lines of forward, then those of other files below."""
    return (*trial.reached, *trial.below)


def _is_miscalled(trial: Trial) -> bool:
    """Return True for a call with arguments that a function, which is none of PyTorch's, lacks."""
    found = _MISCALLED.search(trial.refusal or trial.doubt or "")
    # One that forward calls is another Function's: the case fits its own.
    is_own = not trial.line and found is not None and found[1] in ("forward", "backward")
    owners = (library().torch, library().torch.nn.functional, library().Tensor)
    return bool(
        found
        and not is_own
        and found[1] != "__init__"
        and not any(hasattr(owner, found[1]) for owner in owners)
    )


def _is_bound_nowhere(trial: Trial) -> bool:
    """Return True for a name that no part of the file which uses it binds, even under a condition.

    What a condition binds may be missing here alone, and so may what other code puts there.
    """
    found = _UNKNOWN.match(trial.refusal or "")
    if found is None or trial.at is None:
        return False
    file = trial.at.everywhere[-1].namespace.get("__file__")
    try:
        tree = ast.parse(Path(str(file)).read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return False
    bound = _bound_anywhere(tree)
    return not (bound & {found[1], "*"} or _is_filled_by_others(tree))


def _bound_anywhere(tree: ast.Module) -> set[str]:
    """The names that a file binds in any scope; ``*`` for those of such an import."""
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found.add(node.name)
            case ast.alias():
                found.add(node.asname or node.name.partition(".")[0])
            case ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
    return found


def _is_filled_by_others(tree: ast.Module) -> bool:
    """Return True for a module that names itself, or its names, to code that may add to them."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    statements = (node.value for node in ast.walk(tree) if isinstance(node, ast.Expr))
    calls = (ast.dump(value) for value in statements if isinstance(value, ast.Call))
    return "globals" in names or any("'__name__'" in call for call in calls)


def _required(parameters: Parameters) -> int:
    """Count the parameters that a call has to give; 0 if a call may give any number."""
    if any(each.kind == each.VAR_POSITIONAL for each in parameters):
        return 0
    return sum(each.default is inspect.Parameter.empty for each in parameters)
