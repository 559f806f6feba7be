"""Writes docs/rules.md from the docstrings of the rules, which ``gradtool explain`` prints too.

``python tests/docs/write_rules.py``.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from gradtool.report.formats.sarif import as_markdown  # noqa: E402 - of this repository, wherever it is run
from gradtool.results.report import Severity  # noqa: E402
from gradtool.verify.rules import RULES, Rule  # noqa: E402

PAGE = ROOT / "docs" / "rules.md"

HEADER = """# Rules

What can be wrong with a Function, by stable codes that are never used again for something else. An
*error* fails the run, a *warning* fails it with `--strict`, a *note* never does. A rule whose
premise has already failed is skipped: one mistake, one finding. `gradtool explain GT101` prints a
page of these at the terminal. The examples of each page are checked by a test: the wrong one breaks
that rule and no other, the right one none.

To leave a rule out, see [the configuration](configuration.md): `--ignore GT505` for a run, `ignore`
with a reason for one Function.

This page is written by `python tests/docs/write_rules.py`.
"""

FAMILIES = {
    "GT0": "Running",
    "GT1": "First derivatives",
    "GT2": "Double backward",
    "GT3": "Forward mode",
    "GT4": "Batching",
    "GT5": "The contract",
    "GT6": "Numerics",
    "GT7": "Devices",
}
SIGNS = {Severity.ERROR: "", Severity.WARNING: " (warning)", Severity.NOTE: " (note)"}


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """The page."""
    rules = [RULES[code] for code in sorted(RULES)]
    parts = [HEADER, _index(rules)]
    for prefix, title in FAMILIES.items():
        parts.append(f"# {title}\n")
        parts.extend(_rule(rule) for rule in rules if rule.code.startswith(prefix))
    return "\n".join(parts)


def _index(rules: list[Rule]) -> str:
    lines = [f"| [{rule.code}](#{_anchor(rule)}) | {rule.name} | {_told(rule)} |" for rule in rules]
    return "\n".join(["| code | name | the Function breaks it when |", "|---|---|---|", *lines, ""])


def _told(rule: Rule) -> str:
    return rule.summary.replace("``", "`").rstrip(".") + SIGNS[rule.severity]


def _anchor(rule: Rule) -> str:
    return f"{rule.code}-{rule.name}".lower()


def _rule(rule: Rule) -> str:
    page = as_markdown(rule.page).replace("~~~", "```")
    page = page.replace("```python\nversion: ", "```yaml\nversion: ")
    return f"## {rule.code} {rule.name}\n\n{page}"


if __name__ == "__main__":
    main()
