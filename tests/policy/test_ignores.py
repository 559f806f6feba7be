"""Comments that say what to ignore: where they hold, and that none is there for nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gradtool.cli.exit_codes import ExitCode, exit_code
from gradtool.errors import UsageError
from gradtool.policy.changes import RunSettings
from gradtool.policy.ignores import Comments, apply_comment_ignores, apply_configured_ignores
from gradtool.results.report import (
    ModuleResult,
    Report,
    SkipKind,
    Verdict,
)
from gradtool.run.runner import check
from tests.conftest import Write
from tests.options import check_options
from tests.policy import reports

KEPT = """\
from gradtool import Function

def helper(ctx, x):
    ctx.x = x  #HELPER

class Square(Function):  #CLASS
    @staticmethod
    def forward(
        ctx,
        x,
    ):  #DEF
        ctx.x = x  #LINE
        return x * x

    @staticmethod
    def backward(ctx, grad_output):  #BACKWARD
        return 2 * ctx.x * grad_output
"""
IGNORE = "  # gradtool: ignore[GT505] a table"


def kept(**comments: str) -> dict[str, str]:
    source = KEPT
    for place in ("HELPER", "CLASS", "DEF", "LINE", "BACKWARD"):
        source = source.replace(f"  #{place}", comments.get(place.lower(), ""))
    return {"ops.py": source}


def run(**options: Any) -> Report:
    return check(check_options(paths=("ops.py",), **options))


def rules(report: Report) -> list[str]:
    return [finding.rule for finding in report.findings()]


@pytest.mark.parametrize("place", ["class", "def", "line"])
def test_a_comment_holds_for_the_definition_it_is_on_or_the_method_it_is_in(
    write: Write, place: str
) -> None:
    write(kept(**{place: IGNORE}))
    report = run()
    assert rules(report) == []
    cases = [(f.name, case.name) for _, f in report.functions() for case in f.cases]
    assert cases == [("Square", "inferred")]
    (skipped,) = [c for c in report.checks() if c.rule == "GT505"]
    assert skipped.verdict is Verdict.SKIPPED
    assert skipped.skip is not None
    assert skipped.skip.kind is SkipKind.IGNORED_BY_COMMENT
    assert skipped.skip.detail == "a table"
    assert exit_code(report, strict=True) is ExitCode.PASSED


def test_a_comment_elsewhere_is_needless_and_ignores_nothing(write: Write) -> None:
    write(kept(backward=IGNORE))
    report = run()
    assert sorted(rules(report)) == ["GT505", "GT511"]
    (needless,) = [finding for finding in report.findings() if finding.rule == "GT511"]
    assert needless.location.line == 16
    assert needless.message == (
        "there is no need to ignore GT505: no line that the comment covers violates it (a table)"
    )
    assert rules(run(ignore=("GT511",))) == ["GT505"]


def test_a_comment_that_two_rules_share_is_of_use_when_one_is_broken(write: Write) -> None:
    write(kept(**{"class": "  # noqa  # gradtool: ignore[GT505, GT107] a table  # more"}))
    report = run()
    assert rules(report) == []
    assert any(c.skip and c.skip.detail == "a table" for c in report.checks())


def test_whether_a_comment_is_needed_is_not_judged_by_a_part_of_the_cases(write: Write) -> None:
    files = kept(backward=IGNORE)
    two = "cases: [{name: a, args: [{shape: [2]}]}, {name: b, args: [{shape: [3]}]}]"
    write({**files, "gradtool.yaml": f"version: 1\nfunctions: {{Square: {{{two}}}}}\n"})
    assert "GT511" in rules(run())
    assert rules(run(keyword="a]")) == ["GT505"]
    assert rules(run(select=("GT505",))) == ["GT505"] * 2


def test_no_ignores_reports_what_comments_and_the_configuration_leave_out(write: Write) -> None:
    write(kept(**{"class": IGNORE}))
    assert rules(run(no_ignores=True)) == ["GT505"]
    write({**kept(), "gradtool.yaml": "version: 1\nfunctions: {Square: {ignore: {GT505: why}}}\n"})
    assert rules(run()) == []
    report = run(no_ignores=True)
    assert rules(report) == ["GT505"]
    (finding,) = report.findings()
    assert (finding.replay or "").endswith("--no-ignores")


def test_a_comment_in_another_file_holds_for_its_line(write: Write) -> None:
    helper = "def keep(ctx, x):\n    raise ValueError('no')  # gradtool: ignore[GT003] by design\n"
    ops = KEPT.replace("ctx.x = x  #LINE", "import helper; helper.keep(ctx, x)")
    config = "version: 1\nfunctions: {Square: {cases: [{args: [{shape: [2]}]}]}}\n"
    write({"ops.py": ops, "helper.py": helper, "gradtool.yaml": config})
    assert rules(run()) == []


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("# gradtool: ignore[GT505]", "ops.py:6: say why the rule does not apply: '# gradtool: "),
        ("# gradtool: ignore[GT55] x", "ops.py:6: unknown rule 'GT55' (did you mean 'GT505'?) in"),
        (
            "# gradtool: ignore x",
            "ops.py:6: write a comment for gradtool as '# gradtool: ignore[GT5",
        ),
        ("# gradtool: ignore[] x", "ops.py:6: name the rule to ignore, as in '# gradtool: i"),
    ],
)
def test_a_comment_that_is_wrong_stops_the_run(write: Write, comment: str, message: str) -> None:
    write(kept(**{"class": f"  {comment}"}))
    with pytest.raises(UsageError) as error:
        run()
    assert str(error.value).startswith(message)


def test_text_that_looks_like_a_comment_is_none(write: Write) -> None:
    write({"ops.py": KEPT + 'TEXT = "# gradtool: ignore[GT999]"\n'})
    assert rules(run()) == ["GT505"]


def test_a_configured_ignore_skips_what_is_broken() -> None:
    raw = reports.report(
        reports.function(
            reports.check("GT004", Verdict.ERROR, reports.finding("GT004")),
            reports.check("GT003", Verdict.PASS),
        )
    )
    settings = reports.ignored(GT004="known", GT003="known")
    assert reports.checks(apply_configured_ignores(reports.run_settings(settings))(raw)) == [
        ("GT004", Verdict.SKIPPED, "known"),
        ("GT003", Verdict.PASS, None),
    ]


def test_a_declared_gradient_need_not_be_verified() -> None:
    raw = reports.report(
        reports.function(reports.check("GT603", Verdict.UNVERIFIED, reason="noise"))
    )
    judged = apply_configured_ignores(reports.run_settings(reports.ignored(GT101="a surrogate")))(
        raw
    )
    assert reports.checks(judged) == [("GT603", Verdict.SKIPPED, "a surrogate")]


def test_a_module_that_does_not_import_can_be_ignored() -> None:
    problem = reports.check("GT001", Verdict.ERROR, reports.finding("GT001"))
    raw = Report(
        environment=reports.report().environment,
        modules=(ModuleResult(path="m.py", checks=(problem,)),),
    )
    of_run = RunSettings(units={}, modules={"m.py": reports.ignored(GT001="broken")})
    judged = apply_configured_ignores(of_run)(raw)
    assert reports.checks(judged) == [("GT001", Verdict.SKIPPED, "broken")]


def test_a_comment_skips_what_it_covers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.py").write_text("\n\nclass F:  # gradtool: ignore[GT101] a surrogate\n    pass\n")
    raw = reports.report(reports.function(reports.check("GT101", Verdict.FAIL, reports.finding())))
    judged = apply_comment_ignores(reports.run_settings(path=str(tmp_path / "m.py")), Comments())(
        raw
    )
    assert reports.checks(judged) == [("GT101", Verdict.SKIPPED, "a surrogate")]
