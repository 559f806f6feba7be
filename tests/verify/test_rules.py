"""The registry of rules, and the pages that ``gradtool explain`` prints."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from gradtool.results.report import Family, Severity
from gradtool.verify import rules
from gradtool.verify.rules import RULES, Scope

SECTIONS = (
    "What it does",
    "Why it matters",
    "Wrong example",
    "Right example",
    "How to fix",
    "Reference",
)


def test_codes_are_keys_sorted_and_unique():
    assert list(RULES) == sorted(RULES)
    assert all(code == rule.code for code, rule in RULES.items())
    names = [rule.name for rule in RULES.values()]
    assert len(set(names)) == len(names)


def test_every_rule_file_is_registered():
    files = {path.stem[:5].upper() for path in Path(rules.__file__).parent.glob("gt*.py")}
    assert files == set(RULES)


def test_premises_exist_and_go_round_in_no_circle():
    def depth(code, above):
        assert code not in above, f"{code} is a premise of itself"
        below = (*RULES[code].premises, *RULES[code].causes)
        return [depth(each, (*above, code)) for each in below]

    for code in RULES:
        depth(code, ())


def test_a_rule_without_a_check_is_found_broken_by_the_gate():
    for code, rule in RULES.items():
        assert rule.check or code in Family.RUNNING or rule.scopes == (Scope.ALL_CASES,), code


def test_a_check_is_made_at_a_case():
    assert all(Scope.CASE in rule.scopes for rule in RULES.values() if rule.check)


def test_codes_among_the_facts_exist():
    for rule in RULES.values():
        assert {*rule.premises, *rule.causes, rule.excused_with} <= {*RULES, None}


def test_notes_are_few():
    notes = [rule for rule in RULES.values() if rule.severity is Severity.NOTE]
    assert len(notes) < len(RULES) / 10


@pytest.mark.parametrize("code", RULES)
def test_a_page_has_its_sections_in_order(code):
    page = RULES[code].page
    headings = re.findall(r"^(.+)\n-+$", page, re.MULTILINE)
    assert tuple(headings) == SECTIONS
    assert all(len(line) <= 100 for line in page.splitlines())
    first = page.strip().splitlines()[0]
    assert first.endswith(".")
    assert RULES[code].summary.endswith(".")
    assert re.fullmatch(r"[a-z]+(-[a-z0-9]+)*", RULES[code].name)


@pytest.mark.parametrize("code", RULES)
def test_examples_are_source_of_a_function(code):
    for source in (RULES[code].wrong, RULES[code].right):
        assert source is not None
        assert any(isinstance(node, ast.ClassDef) for node in ast.walk(ast.parse(source)))
        assert "from gradtool import " in source
