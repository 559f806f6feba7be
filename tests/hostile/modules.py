"""Modules that a gate might be talked into passing, and innocent ones that look like them.

Each holds one Function whose gradient is wrong, or right, and does something to its process. The
tables say what must be said of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from textwrap import indent

HEAD = """\
import builtins, ctypes, functools, gc, os, signal, sys, threading, time, types, warnings
import numpy as np
import torch
from torch.autograd import Function

_done = []


def once(run):
    if not _done:
        _done.append(1)
        run()

"""

FUNCTION = """
class Cube(Function):
    @staticmethod
    def forward(ctx, x):
{forward}
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, grad_output):
{backward}
        (x,) = ctx.saved_tensors
        return grad_output * {factor} * x * x
"""


@dataclass(frozen=True)
class Module:
    """One module."""

    name: str
    source: str
    found: frozenset[str]
    """Codes of rules of which one must be found; empty for a module that passes."""

    @property
    def file(self) -> str:
        return f"{self.name}.py"


def function(*, right: bool, forward: str = "pass", backward: str = "pass") -> str:
    """The source of a Function that runs something in its methods."""
    body = {"forward": indent(forward, " " * 8), "backward": indent(backward, " " * 8)}
    return FUNCTION.format(factor=3 if right else 2, **body)


def at(place: str, does: str, *, right: bool) -> str:
    """A module that does something at its import, or in a method."""
    run = f"\ndef attack():\n{indent(does, '    ')}\n\n"
    if place == "import":
        return HEAD + run + "attack()\n" + function(right=right)
    return HEAD + run + function(right=right, **{place: "once(attack)"})


REPLACES_CHECKER = {
    "check_of_a_rule": """
from gradtool.verify.rules import RULES
rule = RULES["GT101"]
object.__setattr__(rule, "check", lambda subject: RULES["GT003"].check(subject))""",
    "all_checks": """
from gradtool.verify.rules import RULES
from gradtool.verify.rules._rule import passed
for code in RULES:
    if RULES[code].check:
        object.__setattr__(RULES[code], "check", lambda subject: passed())""",
    "table_of_rules": """
import copy
from gradtool.verify.rules import RULES
from gradtool.verify.rules._rule import passed
fake = copy.copy(RULES["GT101"])
object.__setattr__(fake, "check", lambda subject: passed())
RULES._loaded["GT101"] = fake""",
    "attributes_of_a_rule": """
from gradtool.verify.rules import RULES
rule = RULES["GT101"]
check = lambda subject: RULES["GT003"].check(subject)
object.__setattr__(rule, "__dict__", {**vars(rule), "check": check})""",
    "class_of_a_rule": """
from gradtool.verify.rules import RULES
rule = RULES["GT101"]
class Lenient(type(rule)):
    def __getattribute__(self, name):
        return getattr(RULES["GT003"], name)
object.__setattr__(rule, "__class__", Lenient)""",
    "severity_of_a_rule": """
from gradtool.results.report import Severity
from gradtool.verify.rules import RULES
object.__setattr__(RULES["GT101"], "severity", Severity.NOTE)""",
    "value_of_a_severity": """
from gradtool.results.report import Severity
Severity.ERROR.__dict__["_value_"] = "note" """,
    "equality_of_enumerations": """
import enum
enum.Enum.__eq__ = lambda self, other: True""",
    "copies_of_structs": """
import msgspec
msgspec.structs.replace = lambda struct, **changes: struct""",
    "decide": """
import gradtool.verify.comparison.compare as compare
compare.decide = lambda *args, **kwargs: np.zeros(1)""",
    "outcomes_for": """
import gradtool.checking.case_check as case_check
case_check.outcomes_for = lambda *args, **kwargs: []""",
    "examine": """
import gradtool.verify.examine as examine
check = examine.RULES["GT003"].check
examine._Answers._checked = lambda self, rule, _: check(self._subject)""",
    "check_case": """
import gradtool.checking.worker_session as session
session.check_case = lambda unit, checkable, case, left: session.Checked(case, is_complete=True)""",
    "code_of_a_function": """
import gradtool.verify.comparison.judgement as judgement
def worst(comparisons):
    return Decision(0)
judgement._worst.__code__ = worst.__code__""",
    "defaults_of_a_function": """
import gradtool.verify.comparison.judgement as judgement
judgement.judge.__defaults__ = (lambda: [],)""",
    "property_of_a_subject": """
from gradtool.verify.subject import Subject
Subject.nothing_to_compare = property(lambda self: "nothing here")""",
    "getattribute_of_a_subject": """
from gradtool.verify.subject import Subject
def lookup(self, name):
    return object.__getattribute__(self, name)
Subject.__getattribute__ = lookup""",
    "tolerance": """
import gradtool.verify.comparison.tolerance as tolerance
for name, value in list(vars(tolerance).items()):
    if isinstance(value, float):
        setattr(tolerance, name, 1e9)""",
    "a_builtin_within_the_checker": """
import gradtool.verify.comparison.judgement as judgement
judgement.max = lambda *args, **kwargs: 0""",
    "module_in_sys_modules": """
fake = types.ModuleType("gradtool.verify.subject")
fake.__dict__.update(vars(sys.modules["gradtool.verify.subject"]))
sys.modules["gradtool.verify.subject"] = fake""",
    "messages": """
from gradtool.workers import worker
worker.CaseFinished = lambda case: worker.UnitDone()""",
    "answer_forged": """
from gradtool.workers.channel import framed
from gradtool.workers.messages import UnitDone
for descriptor in range(3, 300):
    try:
        os.write(descriptor, framed(UnitDone(checks=())))
    except OSError:
        pass""",
    "the_seal": """
from gradtool.sandbox import seal
seal.Seal.difference = lambda self: None""",
    "differentiable": """
from gradtool.adapters.common.differentiable import FunctionDifferentiable
FunctionDifferentiable.arguments = property(lambda self: ())""",
    "cache_of_functools": """
functools.cached_property.__get__ = lambda self, instance, owner=None: None""",
}

REPLACES_LIBRARIES = {
    f"numpy_{name}": f"np.{name} = lambda *args, **kwargs: np.zeros(())"
    for name in ("abs", "isfinite", "concatenate", "asarray", "zeros", "maximum", "sqrt", "isin")
} | {
    "numpy_all_within": "import numpy._core._methods as m\nm._all = lambda *a, **k: True",
    "numpy_any_within": "import numpy._core._methods as m\nm._any = lambda *a, **k: False",
    "numpy_max_within": "import numpy._core._methods as m\nm._amax = lambda *a, **k: 0.0",
    "numpy_function_code": """
np.isclose.__wrapped__.__code__ = (lambda *a, **k: True).__code__""",
    "builtins_any": "builtins.any = lambda values: False",
    "builtins_all": "builtins.all = lambda values: True",
    "builtins_max": "builtins.max = lambda *values, **how: 0",
    "builtins_isinstance": "real = isinstance\nbuiltins.isinstance = lambda v, t: real(v, t)",
    "builtins_zip": "real = zip\nbuiltins.zip = lambda *v, strict=False: real(*v)",
    "time_monotonic": "time.monotonic = lambda: 0.0",
    "time_perf_counter": "time.perf_counter = lambda: 0.0",
    "warnings_catch": "warnings.catch_warnings = None",
    "signal_setitimer": "signal.setitimer = lambda *a: (0.0, 0.0)",
    "os_getpid": "os.getpid = lambda: 1",
    "settrace": "sys.settrace(lambda *a: None)",
    "setprofile": "sys.setprofile(lambda *a: None)",
}

REPLACES_ENGINE = {
    "tensor_multiplication": """
real = torch.Tensor.__mul__
torch.Tensor.__mul__ = lambda self, other: real(self, other)""",
    "grad": """
real = torch.autograd.grad
torch.autograd.grad = lambda *a, **k: tuple(g and g * 1.5 for g in real(*a, **k))""",
    "apply": """
real = Function.apply
Function.apply = classmethod(lambda cls, *a: real.__func__(cls, *a))""",
    "engine_walk": """
import gradtool.engine.autograd._walk as walk
for name, value in list(vars(walk).items()):
    if isinstance(value, types.FunctionType):
        setattr(walk, name, value.__get__(1))""",
    "wrap": """
import gradtool.engine._tensor as tensor
real = tensor.wrap
tensor.wrap = lambda *a, **k: real(*a, **k)""",
    "enable_grad": "torch.enable_grad.__enter__ = lambda self: None",
    "detach": "torch.Tensor.detach = lambda self: self",
    "requires_grad": "torch.Tensor.requires_grad = property(lambda self: True)",
}

SEALED = {**REPLACES_CHECKER, **REPLACES_LIBRARIES, **REPLACES_ENGINE}

STOPPED = frozenset(
    {"GT001", "GT002", "GT003", "GT004", "GT005", "GT006", "GT008", "GT009", "GT101", "GT119"}
)
"""What may be found where a patch breaks more than it hides."""

TAMPERING = [
    Module(f"{place}_{name}", at(place, does, right=False), STOPPED)
    for (name, does), place in product(SEALED.items(), ("import", "forward", "backward"))
]

EMPTY = {
    "empty_tensor": "torch.zeros(0, 3, dtype=torch.float64, requires_grad=True)",
    "no_extent": "torch.zeros(3, 0, dtype=torch.float64, requires_grad=True)",
    "integers": "torch.arange(3)",
    "flags": "torch.tensor([True, False])",
}

UNEVIDENCED = (
    [
        Module(
            f"checks_{name}",
            HEAD
            + function(right=False)
            + f"\n    @staticmethod\n    def sample_inputs():\n        yield ({value},)\n",
            frozenset({"GT119", "GT003", "GT002"}),
        )
        for name, value in EMPTY.items()
    ]
    + [
        Module(
            f"returns_{name}",
            HEAD + function(right=False).replace("x * x * x", output),
            frozenset({"GT002", "GT119"}),
        )
        for name, output in {
            "integers": "(x * x * x).long()",
            "flags": "x > 0",
            "nothing": "x[:0]",
        }.items()
    ]
    + [
        Module(
            "names_a_case_twice",
            HEAD
            + function(right=False)
            + """
    @staticmethod
    def sample_inputs():
        from gradtool import Case
        x = torch.ones(2, dtype=torch.float64, requires_grad=True)
        yield Case((x,), name="sample2")
        yield (x,)
""",
            frozenset({"GT002"}),
        ),
        Module(
            "has_no_tensor",
            HEAD + function(right=False).replace("(ctx, x)", "(ctx)"),
            frozenset({"GT002"}),
        ),
    ]
)

INNOCENT = {
    "adds_to_tensors": "torch.Tensor.my_norm = lambda self: (self * self).sum()",
    "prints_tensors": "torch.Tensor.__repr__ = lambda self: 'a tensor'",
    "documents_classes": "torch.utils.hooks.RemovableHandle.__module__ = 'torch.utils.hooks'",
    "replaces_compile": "torch.compile = lambda model=None, **options: model",
    "replaces_save": "torch.save = lambda *a, **k: None",
    "replaces_numpy_load": "np.load = functools.partial(np.load, allow_pickle=True)",
    "adds_old_names_to_numpy": "np.float_ = np.float64\nnp.product = np.prod",
    "installs_gettext": "builtins._ = lambda text: text",
    "adds_a_profile_decorator": "builtins.profile = lambda function: function",
    "replaces_print": "builtins.print = lambda *a, **k: None",
    "shows_warnings": "warnings.showwarning = None\nwarnings.simplefilter('ignore')",
    "prints_numpy": "np.set_printoptions(precision=2)",
    "raises_on_nan": "np.seterr(all='warn')",
    "seeds": "np.random.seed(1)\ntorch.manual_seed(1)\nimport random\nrandom.seed(1)",
    "sets_a_default_dtype": "torch.set_default_dtype(torch.float64)",
    "disables_gradients": "torch.set_grad_enabled(True)",
    "patches_another_library": "import json\njson.dumps = lambda *a, **k: ''",
    "patches_urllib": "import urllib.request\nurllib.request.urlopen = None",
    "hooks_exceptions": "sys.excepthook = lambda *a: None",
    "adds_an_import_hook": """
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return None
sys.meta_path.insert(0, Finder)""",
    "registers_an_atexit": "import atexit\natexit.register(lambda: None)",
    "limits_recursion": "sys.setrecursionlimit(5000)",
    "handles_a_signal": "signal.signal(signal.SIGUSR1, lambda *a: None)",
    "collects_garbage": "gc.collect()\ngc.set_threshold(100)",
    "subclasses_a_tensor": "class Mine(torch.Tensor):\n    pass",
    "imports_gradtool": "import gradtool.verify.examine",
    "checks_with_gradcheck": """
x = torch.ones(2, dtype=torch.float64, requires_grad=True)
assert torch.autograd.gradcheck(lambda x: x * x, (x,))""",
    "changes_the_environment": "os.environ['OMP_NUM_THREADS'] = '1'",
    "patches_its_own_function": "globals()['note'] = 1",
    "logs_warnings": "import logging\nlogging.captureWarnings(True)",
}

PASSING = [
    Module(f"{place}_{name}", at(place, does, right=True), frozenset())
    for (name, does), place in product(INNOCENT.items(), ("import", "backward"))
] + [Module("plain", HEAD + function(right=True), frozenset())]
