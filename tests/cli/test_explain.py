"""``gradtool explain``: pages, the list, and suggestions for what is not a rule."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from types import ModuleType

import pytest

import gradtool.verify
from gradtool.results.report import Severity
from gradtool.verify.rules import Rule

Run = Callable[..., tuple[int, str, str]]


def rule(code: str, name: str, summary: str, severity: Severity, page: str) -> Rule:
    return Rule(code=code, name=name, summary=summary, severity=severity, page=page)


@pytest.fixture(autouse=True)
def two_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = ModuleType("gradtool.verify.rules")
    first = rule("GT101", "wrong-gradient", "It differs.", Severity.ERROR, "A page.\n\nMore.\n")
    second = rule("GT506", "saved-intermediate", "It is cut.", Severity.WARNING, "Another.")
    rules.__dict__["RULES"] = {each.code: each for each in (first, second)}
    monkeypatch.setitem(sys.modules, "gradtool.verify.rules", rules)
    monkeypatch.setattr(gradtool.verify, "rules", rules, raising=False)


@pytest.mark.parametrize("word", ["GT101", "gt101", "wrong-gradient", "Wrong-Gradient"])
def test_a_page_is_found_by_code_or_name(run: Run, word: str) -> None:
    assert run("explain", word) == (0, "GT101 wrong-gradient (error)\n\nA page.\n\nMore.\n", "")


def test_a_list_breaks_no_word_on_a_terminal(
    run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "36")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    lines = run("explain", "GT")[1].splitlines()
    assert [line.rstrip() for line in lines] == [
        "GT101  wrong-gradient      It",
        "                           differs.",
        "GT506  saved-intermediate  It is",
        "                           cut.",
    ]


def test_on_a_terminal_a_page_has_its_width(
    run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "60")
    long = rule("GT101", "wrong-gradient", "", Severity.ERROR, "What it does\n---\n" + "word " * 30)
    sys.modules["gradtool.verify.rules"].__dict__["RULES"]["GT101"] = long
    code, out, _ = run("explain", "wrong-gradient")
    assert code == 0
    assert "GT101 wrong-gradient (error)" in out
    assert "---" not in out
    assert max(map(len, out.splitlines())) <= 60


def test_several_pages_and_all_pages(run: Run) -> None:
    _, several, _ = run("explain", "GT506", "GT101")
    assert several.index("GT506") < several.index("GT101")
    _, every, _ = run("explain", "--all")
    assert every == (
        "GT101 wrong-gradient (error)\n\nA page.\n\nMore.\n\n\n"
        "GT506 saved-intermediate (warning)\n\nAnother.\n"
    )


def test_without_a_rule_all_are_listed(run: Run) -> None:
    assert run("explain") == (
        0,
        "GT101  wrong-gradient      It differs.\nGT506  saved-intermediate  It is cut.\n",
        "",
    )


def test_rules_are_told_to_machines_too(run: Run) -> None:
    code, out, _ = run("explain", "--format", "json")
    assert code == 0
    assert [rule["code"] for rule in json.loads(out)] == ["GT101", "GT506"]
    _, one, _ = run("explain", "GT506", "--format", "json")
    assert json.loads(one) == [
        {
            "code": "GT506",
            "name": "saved-intermediate",
            "severity": "warning",
            "summary": "It is cut.",
            "page": "Another.",
        }
    ]


@pytest.fixture
def a_third_rule() -> None:
    third = rule("GT512", "expired", "It is late.", Severity.WARNING, "A third.")
    gradtool.verify.rules.RULES[third.code] = third


@pytest.mark.usefixtures("a_third_rule")
@pytest.mark.parametrize("word", ["GT5", "gt5"])
def test_the_rules_of_a_family_are_listed(run: Run, word: str) -> None:
    listed = "GT506  saved-intermediate  It is cut.\nGT512  expired             It is late.\n"
    assert run("explain", word) == (0, listed, "")
    page = "GT101 wrong-gradient (error)\n\nA page.\n\nMore.\n"
    assert run("explain", word, "GT101") == (0, f"{listed}\n\n{page}", "")
    code, out, _ = run("explain", word, "--format", "json")
    assert code == 0
    assert [rule["code"] for rule in json.loads(out)] == ["GT506", "GT512"]


def test_a_family_of_one_rule_is_its_page(run: Run) -> None:
    assert run("explain", "GT50") == run("explain", "GT506")


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("", "gradtool explain lists them all"),
        ("GT999", "gradtool explain lists them all"),
        ("GT1O1", "(did you mean 'GT101'?)"),
        ("GT105", "(did you mean 'GT101'?)"),
        ("wrong-gradent", "(did you mean 'wrong-gradient'?)"),
        ("zzz", "gradtool explain lists them all"),
    ],
)
def test_an_unknown_rule_is_exit_code_2_and_a_suggestion(run: Run, word: str, near: str) -> None:
    code, out, err = run("explain", word)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: unknown rule {word!r}")
    assert near in err
    assert len(err.splitlines()) == 1
