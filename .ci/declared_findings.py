"""Compare the findings of a report with what each module of a folder declares.

A module that is wrong on purpose says in its docstring ``Trips GTxxx``. The report must
hold that rule for it and no other. Usage:
``python3 .ci/declared_findings.py REPORT.json FOLDER``.
"""

import ast
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Rules = dict[str, set[str]]


def declared_rules(folder: Path) -> Rules:
    """The rules that the modules of `folder` declare, by file name."""
    rules: Rules = {}
    for path in sorted(folder.glob("*.py")):
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        rules[path.name] = set(re.findall(r"Trips (GT\d{3})", docstring))
    return rules


def found_rules(report: dict[str, Any]) -> Rules:
    """The rules that a report holds findings of, by file name."""
    rules: defaultdict[str, set[str]] = defaultdict(set)
    for module in report["modules"]:
        name = Path(module["path"]).name
        rules[name].update(finding["rule"] for finding in _findings(module))
    return dict(rules)


def _findings(node: Any) -> Iterator[dict[str, Any]]:
    """Every finding below `node`, at whatever depth the report keeps it."""
    if isinstance(node, list):
        for item in node:
            yield from _findings(item)
    elif isinstance(node, dict):
        yield from node.get("findings", ())
        for value in node.values():
            yield from _findings(value)


def main(report: str, folder: str) -> int:
    """Print each module with both sets of rules; 1 when they differ or there are none."""
    found = found_rules(json.loads(Path(report).read_text(encoding="utf-8")))
    declared = declared_rules(Path(folder))
    for name in sorted(declared.keys() | found.keys()):
        wanted, got = (sorted(rules.get(name, ())) for rules in (declared, found))
        print(f"{name}: declares {wanted}, found {got}")
    return 0 if declared and all(declared.values()) and declared == found else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
