"""The counts, the closing line, and what it says was not checked."""

import msgspec

from gradtool.report.formats.concise import render
from gradtool.report.summary import summarize, summary_line, unchecked
from gradtool.results.report import (
    CaseResult,
    CheckResult,
    Environment,
    Finding,
    FunctionResult,
    Location,
    ModuleResult,
    Report,
    Severity,
    Skip,
    SkipKind,
    Verdict,
)
from tests.report.reasons import skipped_check


def test_every_row_is_counted_once(report: Report) -> None:
    summary = summarize(report)
    assert (summary.functions, summary.cases) == (6, 7)
    assert (summary.passed, summary.failed, summary.unverified) == (2, 2, 1)
    assert (summary.errors, summary.skipped) == (3, 1)
    assert (summary.warnings, summary.notes) == (1, 1)


def test_the_last_line_says_what_was_not_checked(report: Report) -> None:
    assert summary_line(report) == (
        "6 Functions, 7 cases, 1 Function without a case and 1 module: "
        "2 passed, 2 failed, 1 unverified, 3 errors, 1 skipped; "
        "1 warning, 1 note; not checked: 1 module that cannot be imported (ops/broken.py); "
        "1 Function without a case (ops/special.py::Opaque); "
        "double backward of 1 case (declared once_differentiable); "
        "device comparison of 1 case (no CUDA device); "
        "2 rules excluded by --select or --ignore (GT502, GT507); "
        "3 cases not matched by -k; "
        "checks that depend on a failed one in 2 cases"
    )


def run(*cases: tuple[CheckResult, ...], interrupted: bool = False) -> Report:
    results = tuple(CaseResult(name=str(i), checks=checks) for i, checks in enumerate(cases))
    function = FunctionResult(name="F", location=Location(path="a.py"), cases=results)
    return Report(
        environment=Environment(gradtool="1", python="3", numpy="2", platform="linux"),
        modules=(ModuleResult(path="a.py", functions=(function,)),),
        interrupted=interrupted,
    )


def test_a_run_that_left_nothing_out_says_so() -> None:
    line = summary_line(run((CheckResult(rule="GT101", verdict=Verdict.PASS),)))
    assert line == (
        "1 Function, 1 case: 1 passed, 0 failed, 0 unverified, 0 errors, 0 skipped; "
        "not checked: nothing"
    )


def test_a_run_that_checked_nothing_says_so() -> None:
    nothing = msgspec.structs.replace(run(), modules=())
    assert summary_line(nothing).endswith("0 skipped; nothing was checked")
    only_ran = run((CheckResult(rule="GT003", verdict=Verdict.PASS),))
    assert summary_line(only_ran).endswith("nothing was checked")
    skipped = run((skipped_check("GT101", "no GPU"),))
    told = "nothing was checked: some gradient checks of 1 case (GT101: no GPU)"
    assert summary_line(skipped).endswith(told)


def test_equal_reasons_are_counted_per_case_and_not_per_rule() -> None:
    skips = tuple(
        skipped_check(rule, "declared once_differentiable") for rule in ("GT201", "GT202", "GT204")
    )
    passed = CheckResult(rule="GT101", verdict=Verdict.PASS)
    line = summary_line(run((passed, *skips), (passed, *skips)))
    assert line.endswith("not checked: double backward of 2 cases (declared once_differentiable)")


def test_what_was_not_checked_is_told_in_the_order_of_the_checks() -> None:
    rules = ("GT201", "GT301", "GT401", "GT501", "GT601", "GT701")
    skips = (skipped_check(r, "no time") for r in rules)
    line = summary_line(run((CheckResult(rule="GT101", verdict=Verdict.PASS), *skips)))
    kinds = {
        "double backward": "", "forward mode": "", "batching": "",
        "some contract checks": "GT501: ", "some numeric checks": "GT601: ", "devices": "",
    }  # fmt: skip
    told = "; ".join(f"{kind} of 1 case ({rule}no time)" for kind, rule in kinds.items())
    assert line.endswith(f"not checked: {told}")


def test_an_interrupted_run_says_so_first_and_last() -> None:
    line = summary_line(run((CheckResult(rule="GT101", verdict=Verdict.PASS),), interrupted=True))
    assert line.startswith("interrupted: 1 Function")
    assert line.endswith("not checked: everything after the interruption")


def test_a_function_that_was_not_reached_is_not_said_to_have_no_case() -> None:
    line = summary_line(run(interrupted=True))
    assert "without a case" not in line
    assert "everything after the interruption" in line


def test_an_unverified_check_without_a_finding_is_listed_too() -> None:
    check = CheckResult(rule="GT101", verdict=Verdict.UNVERIFIED, reason="too noisy\nto tell")
    assert render(run((check,))).splitlines()[0] == "a.py: GT101 too noisy to tell"


def test_many_modules_are_counted_and_not_named(report: Report) -> None:
    broken = report.modules[-1]
    modules = tuple(msgspec.structs.replace(broken, path=f"{i}.py") for i in range(5))
    line = summary_line(msgspec.structs.replace(report, modules=modules))
    assert "nothing was checked: 5 modules that cannot be imported" in line
    assert "0.py" not in line


def test_a_derivative_that_is_not_checked_stands_for_the_rest_of_its_family() -> None:
    why = "the gradient is a surrogate"
    proof = msgspec.structs.replace(skipped_check("GT101", why), proves="gradient")
    passed = CheckResult(rule="GT003", verdict=Verdict.PASS)
    assert unchecked(run((passed, proof, skipped_check("GT118", why)))) == (
        f"gradient of 1 case ({why})",
    )
    assert unchecked(run((passed, skipped_check("GT118", why)))) == (
        f"some gradient checks of 1 case (GT118: {why})",
    )


def test_a_comment_that_ignores_a_rule_is_told_with_its_file() -> None:
    skip = Skip(kind=SkipKind.IGNORED_BY_COMMENT, line=7, detail="nobody changes x")
    ignored = CheckResult(rule="GT505", verdict=Verdict.SKIPPED, skip=skip)
    assert unchecked(run((ignored,))) == (
        "some contract checks of 1 case (GT505: ignored by a comment on a.py:7: nobody changes x)",
    )


def test_many_rules_of_a_family_are_not_named() -> None:
    skips = tuple(skipped_check(f"GT50{i}", "no time") for i in range(1, 6))
    assert unchecked(run(skips)) == ("some contract checks of 1 case (no time)",)


def test_a_failure_found_by_exploring_is_no_case_of_the_function() -> None:
    found = Finding(
        rule="GT101", name="wrong-gradient", severity=Severity.ERROR, message="wrong",
        node_id="a.py::F", location=Location(path="a.py"), case="functions: {}",
    )  # fmt: skip
    failed = CheckResult(rule="GT101", verdict=Verdict.FAIL, findings=(found,))
    whole = run((CheckResult(rule="GT101", verdict=Verdict.PASS),))
    (module,) = whole.modules
    (function,) = module.functions
    function = msgspec.structs.replace(function, checks=(failed,))
    module = msgspec.structs.replace(module, functions=(function,))
    line = summary_line(msgspec.structs.replace(whole, modules=(module,)))
    assert line.startswith("1 Function, 1 case and 1 explored case: 1 passed, 1 failed, ")
