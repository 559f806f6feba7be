"""A run from paths to a report: what is checked, what is told, and what does not stop it."""

from __future__ import annotations

import random
import shlex
import signal
import textwrap
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import gradtool
from gradtool.checking import case_check as checking
from gradtool.checking.unit import Unit
from gradtool.checking.worker_session import WorkerSession
from gradtool.config.options import Unwatched
from gradtool.errors import UsageError
from gradtool.results.report import (
    CaseResult,
    CheckResult,
    Finding,
    Report,
    Skip,
    SkipKind,
    Verdict,
)
from gradtool.run.run_plan import RunPlan
from gradtool.run.runner import check, collect
from gradtool.sandbox import timeout as deadline
from tests.conftest import Write
from tests.options import check_options
from tests.user_modules import GOOD, WRONG

CONFIG = "version: 1\n"
BROKEN = "import no_such_thing\n"


def run(*paths: str, **options: Any) -> Report:
    return check(check_options(paths=paths or (".",), **options))


def findings(report: Report) -> list[tuple[str, str]]:
    return [(finding.rule, finding.node_id) for finding in report.findings()]


def only(report: Report) -> Finding:
    (finding,) = report.findings()
    return finding


def answer(report: Report, rule: str) -> CheckResult:
    (found,) = [check for check in report.checks() if check.rule == rule]
    return found


def names(report: Report) -> list[str]:
    return [f"{module.path}::{function.name}" for module, function in report.functions()]


def test_a_right_module_passes(write: Write) -> None:
    write({"ops.py": GOOD})
    report = run("ops.py")
    assert report.verdict is Verdict.PASS
    assert findings(report) == []
    assert names(report) == ["ops.py::Square", "ops.py::Product"]
    (case,) = report.modules[0].functions[0].cases
    assert case.arguments == ("x: float64[3, 4]",)
    assert case.cost.forward > 0
    assert case.seconds > 0


@pytest.mark.parametrize("isolation", [False, True])
def test_a_timed_run_has_the_seconds_of_rules_and_of_exploring(
    write: Write, isolation: bool
) -> None:
    write({"ops.py": GOOD})
    report = run("ops.py", timed=True, isolation=isolation)
    function = report.modules[0].functions[0]
    (case,) = function.cases
    assert {"GT003", "GT101", "GT201"} <= case.durations.keys()
    assert 0 < sum(case.durations.values()) <= case.seconds
    assert function.exploring > 0
    assert {rule.code for rule in report.rules} >= case.durations.keys()


def test_a_run_is_timed_only_if_it_was_asked_for(write: Write) -> None:
    write({"ops.py": GOOD})
    for _, function in run("ops.py").functions():
        assert not function.exploring
        assert not any(case.durations for case in function.cases)


def test_the_report_says_what_it_ran_on(write: Write) -> None:
    write({"ops.py": GOOD})
    report = run("ops.py", seed=5, command="gradtool check ops.py")
    assert report.environment.gradtool == gradtool.__version__
    assert report.environment.numpy == np.__version__
    assert (report.environment.device, report.seed) == ("cpu", 5)
    assert report.command == "gradtool check ops.py"


def test_a_finding_says_where_and_how_to_see_it_again(write: Write) -> None:
    write({"wrong ops.py": WRONG})
    finding = only(run("wrong ops.py", seed=3, dtype="float64"))
    assert finding.node_id == "wrong ops.py::Cube[inferred]::GT101"
    assert finding.name == "wrong-gradient"
    assert (finding.location.path, finding.location.line) == ("wrong ops.py", 12)
    assert finding.seed == 3
    assert finding.replay == (
        "gradtool check 'wrong ops.py::Cube[inferred]' --select GT101 --seed 3 --dtype float64"
    )


def test_a_replay_shows_the_same_numbers(write: Write) -> None:
    write({"a.py": GOOD, "ops.py": WRONG + GOOD.replace("Square", "Other")})
    finding = only(run(seed=11))
    path, *flags = shlex.split(str(finding.replay))[2:]
    again = run(path, select=(flags[1],), seed=int(flags[3]))
    assert msgspec.structs.replace(only(again), replay=finding.replay) == finding


def test_results_do_not_depend_on_order_or_selection(write: Write) -> None:
    write({"a.py": GOOD, "b.py": WRONG})

    def evidence(*paths: str, **options: Any) -> Any:
        return only(run(*paths, **options)).evidence

    assert evidence("a.py", "b.py") == evidence("b.py", "a.py") == evidence("b.py::Cube")
    assert evidence() == evidence(select=("GT101",)) == evidence(keyword="cube")
    assert evidence() != evidence(seed=1)


def test_a_module_that_does_not_import_stops_no_other(write: Write) -> None:
    write({"a.py": BROKEN + "class A(Base): pass", "b.py": GOOD, "c.py": "x = (", "d.py": WRONG})
    report = run("a.py", "b.py", "c.py", "d.py")
    assert [finding.node_id for finding in report.findings()] == [
        "a.py::GT001",
        "c.py::GT001",
        "d.py::Cube[inferred]::GT101",
    ]
    assert [module.verdict for module in report.modules] == [
        Verdict.ERROR,
        Verdict.PASS,
        Verdict.ERROR,
        Verdict.FAIL,
    ]
    first = next(report.findings())
    assert first.message == "import raised ModuleNotFoundError: No module named 'no_such_thing'"
    assert (first.location.path, first.location.line) == ("a.py", 1)
    assert first.detail is not None
    assert first.detail.startswith("Traceback")
    assert first.replay == "gradtool check a.py --seed 0"


def test_a_walk_does_not_run_what_cannot_define_a_function(write: Write) -> None:
    write({"setup.py": "raise SystemExit('ran')", "pkg/ops.py": GOOD})
    report = run()
    assert [module.path for module in report.modules] == ["pkg/ops.py"]
    assert report.notices == ("setup.py defines no Function and was skipped",)


def test_many_modules_without_a_function_are_counted(write: Write) -> None:
    write({**{f"m{i}.py": "class A(int): pass" for i in range(5)}, "z.py": GOOD})
    assert run().notices == ("5 modules define no Function and were skipped",)


def test_a_named_module_without_a_function_is_in_the_report(write: Write) -> None:
    write({"util.py": "X = 1"})
    report = run("util.py")
    assert [module.path for module in report.modules] == ["util.py"]
    assert list(report.checks()) == []
    assert report.notices == ("util.py defines no Function",)


def test_a_named_module_without_a_function_needs_no_package(write: Write) -> None:
    write({"util.py": "import no_such_thing\n\nclass Layer(no_such_thing.Module):\n    pass\n"})
    report = run("util.py")
    assert list(report.checks()) == []
    note = "util.py:1: no_such_thing is not installed; a stand-in is used instead"
    assert report.notices == (note, "util.py defines no Function")


def test_private_functions_are_checked_as_others_are(write: Write) -> None:
    source = WRONG.replace("class Cube", "class _Cube")
    write({"ops.py": GOOD + source})
    report = run("ops.py", "ops.py::_Cube")
    assert names(report) == ["ops.py::Square", "ops.py::Product", "ops.py::_Cube"]
    assert only(report).node_id == "ops.py::_Cube[inferred]::GT101"


@pytest.mark.parametrize("engine", ["bundled", pytest.param("torch", marks=pytest.mark.torch)])
def test_what_is_saved_may_be_narrow_or_only_for_jvp(write: Write, engine: str) -> None:
    if engine == "torch":
        pytest.importorskip("torch")
    source = """
        import torch

        class Square(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x, x.detach().to(torch.float8_e4m3fn))
                ctx.save_for_forward(x)
                return x * x

            @staticmethod
            def backward(ctx, g):
                return 2 * ctx.saved_tensors[0] * g

            @staticmethod
            def jvp(ctx, t):
                return 2 * ctx.saved_for_forward[0] * t
    """
    write({"ops.py": textwrap.dedent(source)})
    report = run("ops.py", engine=engine)
    assert report.faults == ()
    assert findings(report) == []


def test_a_function_without_a_case_is_a_finding(write: Write) -> None:
    source = """
        from gradtool import Function

        class Picky(Function):
            @staticmethod
            def forward(ctx, x):
                raise KeyError("never")

            @staticmethod
            def backward(ctx, g):
                return g
    """
    write({"ops.py": textwrap.dedent(source) + GOOD})
    report = run("ops.py")
    finding = only(report)
    assert (finding.rule, finding.node_id) == ("GT002", "ops.py::Picky::GT002")
    assert finding.location.line == 7
    assert finding.message.startswith("found no arguments that forward accepts")
    assert report.modules[0].functions[0].verdict is Verdict.ERROR
    assert [f.verdict for f in report.modules[0].functions[1:]] == [Verdict.PASS, Verdict.PASS]


def test_what_the_users_code_raises_is_a_finding(write: Write) -> None:
    source = """
        from gradtool import Function

        class Raises(Function):
            @staticmethod
            def forward(ctx, x):
                return x.clone()

            @staticmethod
            def backward(ctx, g):
                raise KeyError("gone")
    """
    write({"ops.py": textwrap.dedent(source)})
    finding = only(run("ops.py"))
    assert finding.rule == "GT004"
    assert (finding.location.path, finding.location.line) == ("ops.py", 11)
    assert "KeyError" in finding.message


@pytest.mark.parametrize("call", [2, 12, 20, 40])
def test_what_is_raised_from_a_later_call_on_is_a_finding_too(write: Write, call: int) -> None:
    source = f"""
        from gradtool import Function

        class Tires(Function):
            calls = 0

            @staticmethod
            def forward(ctx, x):
                return x.clone()

            @staticmethod
            def backward(ctx, g):
                Tires.calls += 1
                if Tires.calls >= {call}:
                    raise KeyError("tired")
                return g
    """
    write({"ops.py": textwrap.dedent(source)})
    found = tuple(run("ops.py").findings())
    assert found  # by whichever rule calls then
    for finding in found:
        assert "KeyError: 'tired'" in finding.message
        assert finding.location.path == "ops.py"


@pytest.mark.parametrize("method", ["forward", "backward"])
def test_a_function_that_ends_the_process_is_a_finding(write: Write, method: str) -> None:
    exits = "raise SystemExit(0)" if method == "forward" else "pass"
    source = f"""
        from gradtool import Function, ones

        class Exits(Function):
            @staticmethod
            def sample_inputs():
                yield (ones(2),)

            @staticmethod
            def forward(ctx, x):
                {exits}
                return x.clone()

            @staticmethod
            def backward(ctx, g):
                raise SystemExit(0)
    """
    write({"ops.py": textwrap.dedent(source) + GOOD})
    report = run("ops.py")
    assert only(report).message == "the Function ended the process: SystemExit: 0"
    assert [f.verdict for f in report.modules[0].functions[1:]] == [Verdict.PASS, Verdict.PASS]


SLOW = """
    import time
    from gradtool import Function, ones

    class Slow(Function):
        @staticmethod
        def sample_inputs():
            yield (ones(2),)
            yield (ones(3),)

        @staticmethod
        def forward(ctx, x):
            try:
                while True:
                    time.sleep(0.001)
            except BaseException:
                while x.shape[0] == 2:
                    time.sleep(0.001)

        @staticmethod
        def backward(ctx, g):
            return g
"""


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="there is no alarm signal here")
def test_a_function_that_does_not_end_is_stopped(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"ops.py": textwrap.dedent(SLOW) + GOOD})
    monkeypatch.setattr(deadline, "_AGAIN", 0.05)
    report = run("ops.py", timeout=2.0)
    finding = only(report)
    assert finding.message == "the Function took longer than 2 s and was stopped"
    slow, *rest = report.modules[0].functions
    assert [case.verdict for case in slow.cases] == [Verdict.ERROR, Verdict.SKIPPED]
    assert [f.verdict for f in rest] == [Verdict.PASS, Verdict.PASS]


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="there is no alarm signal here")
def test_a_search_for_arguments_that_does_not_end_is_stopped(write: Write) -> None:
    source = """
        from gradtool import Function

        class Endless(Function):
            @staticmethod
            def forward(ctx, x):
                while True:
                    pass

            @staticmethod
            def backward(ctx, g):
                return g
    """
    write({"ops.py": textwrap.dedent(source)})
    finding = only(run("ops.py", timeout=2.0))
    assert finding.rule == "GT006"
    assert finding.node_id == "ops.py::Endless::GT006"
    assert finding.message == (
        "the Function took longer than 2 s and was stopped while gradtool looked for its arguments"
    )
    assert finding.location.line == 7


def test_a_fault_of_gradtool_is_not_hidden(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("a fault of gradtool")

    write({"ops.py": GOOD})
    monkeypatch.setattr(checking, "outcomes_for", faulty)
    with pytest.raises(AssertionError, match="a fault of gradtool"):
        run("ops.py")


def test_only_the_selected_rules_are_asked_and_what_shows_that_code_runs(write: Write) -> None:
    write({"ops.py": GOOD})
    report = run("ops.py::Square", select=("GT101", "GT10", "GT2"), ignore=("GT203",))
    asked = {check.rule for check in report.checks()}
    assert {"GT101", "GT102", "GT201", "GT003", "GT004"} <= asked
    assert not {"GT203", "GT502"} & asked


def test_an_ignored_rule_is_skipped_with_its_reason(write: Write) -> None:
    config = 'version: 1\nfunctions:\n  Cube:\n    ignore: {GT101: "known, see #12"}\n'
    write({"ops.py": WRONG, "gradtool.yaml": config})
    report = run("ops.py")
    assert findings(report) == []
    assert answer(report, "GT101").verdict is Verdict.SKIPPED
    assert answer(report, "GT101").skip == Skip(kind=SkipKind.IGNORED, detail="known, see #12")


def test_a_function_that_has_no_case_can_be_ignored_with_a_reason(write: Write) -> None:
    source = "from gradtool import Function\nclass F(Function):\n    forward = backward = None\n"
    config = 'version: 1\nfunctions:\n  F:\n    ignore: {GT002: "needs a GPU"}\n'
    write({"ops.py": source, "gradtool.yaml": config})
    report = run("ops.py")
    assert findings(report) == []
    assert answer(report, "GT002").verdict is Verdict.SKIPPED


def test_cases_of_the_configuration_are_checked(write: Write) -> None:
    config = """
        version: 1
        check: {seed: 9}
        functions:
          Square:
            cases:
              - {name: vector, args: [{shape: [5]}]}
              - {args: [{shape: [2, 2]}]}
    """
    write({"ops.py": GOOD, "gradtool.yaml": textwrap.dedent(config)})
    report = run("ops.py::Square")
    assert [case.name for case in report.modules[0].functions[0].cases] == ["vector", "case2"]
    assert report.seed == 9
    assert run("ops.py", seed=1).seed == 1


def test_one_case_of_a_function_can_be_named(write: Write) -> None:
    config = (
        "version: 1\nfunctions:\n  Square: {cases: [{name: a, args: [{shape: [2]}]}, {name: b}]}"
    )
    write({"ops.py": GOOD, "gradtool.yaml": config})
    (function,) = run("ops.py::Square[a]").modules[0].functions
    assert [case.name for case in function.cases] == ["a"]
    with pytest.raises(UsageError) as refused:
        run("ops.py::Square[c]")
    assert str(refused.value) == "ops.py::Square has no case 'c' (known: a, b)"


def test_a_keyword_chooses_among_node_ids(write: Write) -> None:
    write({"ops.py": GOOD, "other.py": WRONG})
    assert names(run(keyword="square or cube")) == ["ops.py::Square", "other.py::Cube"]
    assert names(run(keyword="ops.py and not square")) == ["ops.py::Product"]
    nothing = run(keyword="conv")
    assert (nothing.modules, nothing.notices) == ((), ("-k 'conv' matched no case",))


def test_a_key_that_nearly_names_a_function_is_noticed(write: Write) -> None:
    config = "version: 1\nfunctions:\n  Sqare: {}\n  Elsewhere: {}\n"
    write({"ops.py": GOOD, "gradtool.yaml": config})
    assert run("ops.py").notices == (
        "gradtool.yaml:3: no Function 'Sqare' in ops.py (did you mean 'Square'?)",
    )


def test_a_key_without_a_match_in_the_whole_folder_is_noticed_or_a_misspelling(
    write: Write,
) -> None:
    config = "version: 1\nfunctions:\n  {}: {{}}\n"
    write({"ops.py": GOOD, "gradtool.yaml": config.format("Elsewhere")})
    assert run(".").notices == ("gradtool.yaml:3: no file has a Function 'Elsewhere'",)
    write({"gradtool.yaml": config.format("Sqare")})
    with pytest.raises(UsageError, match=r"no file has a Function 'Sqare' \(did you mean 'Square'"):
        run(".")
    assert run("ops.py").notices


def test_a_key_may_be_for_a_file_that_is_left_out(write: Write) -> None:
    config = "version: 1\nfunctions:\n  Cube: {}\n"
    write({"ops.py": GOOD, "other.py": WRONG, "gradtool.yaml": config})
    assert not run(".", exclude=("other.py",)).notices


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("op.py::Square", "op.py does not exist (did you mean 'ops.py'?)"),
        ("sub/ops.py::Square", "sub/ops.py does not exist"),
        ("ops.py::Sqare", "ops.py has no Function 'Sqare' (did you mean 'Square'?)"),
        ("ops.py::Other", "ops.py has no Function 'Other'"),
    ],
)
def test_a_key_with_a_path_must_name_a_function(write: Write, key: str, message: str) -> None:
    write({"ops.py": GOOD, "gradtool.yaml": f"version: 1\nfunctions:\n  {key}: {{}}\n"})
    with pytest.raises(UsageError) as refused:
        run("ops.py")
    assert str(refused.value) == f"gradtool.yaml:3: {message}"


def test_a_key_for_another_file_or_an_unfinished_search_is_no_mistake(write: Write) -> None:
    config = "version: 1\nfunctions:\n  other.py::Cube: {}\n  ops.py::Hidden: {}\n"
    write({"ops.py": GOOD, "other.py": WRONG, "gradtool.yaml": config})
    assert names(run("ops.py::Square")) == ["ops.py::Square"]


def test_a_folder_without_python_files_and_a_pattern_without_a_match_are_noticed(
    write: Write, tmp_path: Path
) -> None:
    write({"ops.py": GOOD})
    (tmp_path / "empty").mkdir()
    assert run("empty").notices == ("empty contains no Python files to check",)
    report = run(exclude=("vendor*", "empty"))
    assert report.notices == ("--exclude 'vendor*' matched nothing",)


def test_the_nearest_configuration_decides_for_each_module(write: Write) -> None:
    write(
        {
            "gradtool.yaml": "version: 1\ncheck: {exclude: [skipped]}\n",
            "skipped/ops.py": WRONG,
            "a/ops.py": GOOD,
            "b/ops.py": WRONG,
            "b/gradtool.yaml": "version: 1\ncheck: {select: [GT2]}\n",
        }
    )
    report = run()
    assert [module.path for module in report.modules] == ["a/ops.py", "b/ops.py"]
    assert findings(report) == []
    assert findings(run("skipped")) == [("GT101", "skipped/ops.py::Cube[inferred]::GT101")]
    assert findings(run("b", select=("GT1",))) != []
    assert [module.path for module in run(exclude=("a", "b")).modules] == ["skipped/ops.py"]


def test_a_named_configuration_replaces_the_others(write: Write) -> None:
    config = "version: 1\nfunctions:\n  Square: {cases: [{name: named, args: [{shape: [2]}]}]}"
    write({"ops.py": WRONG + GOOD, "gradtool.yaml": "version: 1\n", "conf/other.yaml": config})
    report = run("ops.py", config="conf/other.yaml")
    assert [f.cases[0].name for f in report.modules[0].functions] == [
        "inferred",
        "named",
        "inferred",
    ]
    assert str(only(report).replay).endswith("--seed 0 --config conf/other.yaml")


def test_a_broken_configuration_stops_the_run(write: Write) -> None:
    write({"ops.py": GOOD, "gradtool.yaml": "version: 1\nchek: 1\n"})
    with pytest.raises(UsageError, match=r"^gradtool\.yaml:2: unknown key 'chek'"):
        run("ops.py")


@pytest.mark.parametrize("strict", [None, True, False])
def test_a_flag_says_more_about_strictness_than_the_file(write: Write, strict: bool | None) -> None:
    write({"ops.py": GOOD, "gradtool.yaml": "version: 1\ncheck: {strict: true}\n"})
    assert run("ops.py", strict=strict).strict is (strict is not False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"select": ("GT1", "GT999")}, "--select: unknown rule 'GT999'"),
        ({"ignore": ("gt101",)}, "--ignore: unknown rule 'gt101' (did you mean 'GT101'?)"),
        ({"dtype": "float46"}, "--dtype: unknown 'float46' (did you mean 'float64'?)"),
        ({"seed": -1}, "--seed must be 0 or more, got -1"),
        ({"atol": float("nan")}, "--atol must be finite and not negative, got nan"),
        ({"rtol": -1.0}, "--rtol must be finite and not negative, got -1.0"),
        ({"timeout": 0.0}, "--timeout must be above 0, got 0.0"),
        ({"keyword": "and"}, "-k 'and' is not a valid expression: a word is missing before 'and'"),
        ({"device": "gpu"}, "--device must be cpu, cuda or cuda:N, got 'gpu'"),
        ({"config": "none.yaml"}, "none.yaml cannot be read: No such file or directory"),
    ],
)
def test_options_that_mean_nothing_are_refused(
    write: Write, options: dict[str, Any], message: str
) -> None:
    write({"ops.py": GOOD})
    with pytest.raises(UsageError) as refused:
        run("ops.py", **options)
    assert str(refused.value).startswith(message)


def test_a_run_of_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="nothing to check: name a file or a folder"):
        check(check_options(paths=()))


class Recorder(Unwatched):
    """Keeps what a watcher is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def started(self, functions: int) -> None:
        self.told.append(f"{functions} Functions")

    def case_started(self, node_id: str) -> None:
        self.told.append(node_id)

    def case_finished(self, function: str, case: CaseResult) -> None:
        self.told.append(f"{function}[{case.name}] {case.verdict.value}")

    def function_finished(self, path: str, function: Any) -> None:
        self.told.append(f"{path}::{function.name}")


def test_a_watcher_is_told_everything_in_order(write: Write) -> None:
    write({"a.py": GOOD, "b.py": WRONG})
    recorder = Recorder()
    check(check_options(paths=("a.py::Square", "b.py")), recorder)
    assert recorder.told == [
        "2 Functions",
        "a.py::Square[inferred]",
        "Square[inferred] pass",
        "a.py::Square",
        "b.py::Cube[inferred]",
        "Cube[inferred] fail",
        "b.py::Cube",
    ]


def test_an_interrupt_leaves_what_was_done(write: Write) -> None:
    write({"a.py": GOOD, "b.py": WRONG})

    class Impatient(Recorder):
        def case_started(self, node_id: str) -> None:
            if "Product" in node_id:
                raise KeyboardInterrupt

    report = check(check_options(paths=(".",)), Impatient())
    assert report.interrupted
    assert names(report) == ["a.py::Square", "a.py::Product"]
    assert [len(function.cases) for _, function in report.functions()] == [1, 0]


UNMADE = """
import os

from torch.autograd import Function


class One(Function):
    class Inner(Function):
        {stops}


class Other:
    pass
"""


@pytest.mark.parametrize("stops", ["width = {}['width']", "os._exit(3)"])
def test_functions_of_a_module_that_does_not_import_are_named(write: Write, stops: str) -> None:
    write({"a.py": UNMADE.replace("{stops}", stops)})
    (finding,) = run("a.py", isolation=True).findings()
    assert finding.rule == "GT001"
    assert finding.message.endswith("; `One`, `One.Inner` are not checked")


def test_a_module_without_functions_names_none(write: Write) -> None:
    write({"a.py": "raise KeyError('Function')\n\n\nclass Other:\n    pass\n"})
    (finding,) = run("a.py", isolation=True).findings()
    assert finding.message.endswith("raised KeyError: 'Function'")


def test_an_interrupt_while_modules_load_leaves_an_empty_report(write: Write) -> None:
    write({"a.py": "raise KeyboardInterrupt"})
    report = run("a.py")
    assert report.interrupted
    assert report.modules == ()


def test_collect_lists_cases_and_checks_none(write: Write) -> None:
    write({"a.py": GOOD, "b.py": BROKEN})
    good, broken = collect(check_options(paths=("a.py", "b.py")))
    assert [case.name for f in good.functions for case in f.cases] == ["inferred", "inferred"]
    assert [case.checks for f in good.functions for case in f.cases] == [(), ()]
    assert broken.checks[0].findings[0].rule == "GT001"


def test_a_plain_callable_can_be_checked(write: Write) -> None:
    source = """
        def cube(x):
            return x * x * x

        def exp(x, alpha=2.0):
            return (alpha * x).exp()
    """
    write({"ops.py": textwrap.dedent(source)})
    report = run("ops.py::cube", "ops.py::exp")
    assert names(report) == ["ops.py::cube", "ops.py::exp"]
    assert report.verdict is Verdict.PASS


def test_the_global_generators_are_left_alone(write: Write) -> None:
    write({"ops.py": GOOD})
    random.seed(1)
    np.random.seed(1)
    before = random.getstate(), np.random.get_state()[1].tolist()
    run("ops.py")
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before


def test_a_unit_of_work_crosses_a_process_boundary(write: Write) -> None:
    config = "version: 1\nfunctions:\n  Square: {cases: [{args: [{shape: [2]}, 1.5, null]}]}"
    write({"ops.py": GOOD, "gradtool.yaml": config})
    agenda = RunPlan(check_options(paths=("ops.py",)))
    (discovery,) = agenda.discoveries()
    (module,) = agenda.modules([WorkerSession().discover(discovery)])
    assert [unit.function for unit in module.units] == ["Square", "Product"]
    for unit in module.units:
        assert msgspec.json.decode(msgspec.json.encode(unit), type=Unit) == unit


def test_functions_of_the_same_name_in_two_folders_do_not_meet(write: Write) -> None:
    write(
        {
            "a/ops.py": "from helper import factor\n"
            + WRONG.replace("g * x * x", "g * factor * x * x"),
            "a/helper.py": "factor = 3",
            "b/ops.py": "from helper import factor\n"
            + WRONG.replace("g * x * x", "g * factor * x * x"),
            "b/helper.py": "factor = 2",
        }
    )
    assert [f.node_id for f in run().findings()] == ["b/ops.py::Cube[inferred]::GT101"]
