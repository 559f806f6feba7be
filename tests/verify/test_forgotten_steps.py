"""A finding says which step of forward a wrong backward got wrong, and never a wrong one."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from gradtool.run.runner import check
from tests.options import check_options

MODULE = Path(__file__).with_name("wrong_steps.py")


def _expected() -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for part in re.split(r"^(?=class )", MODULE.read_text(), flags=re.MULTILINE):
        name = re.match(r"class (\w+)", part)
        says = re.search(r'says = (?:"(.*)"|None)', part)
        if name and says:
            before = MODULE.read_text().split(part)[0].count("\n")
            line = before + part.split("# <-")[0].count("\n") + 1
            text = says[1] and says[1].replace("LINE", str(line)).replace("NEXT", str(line + 1))
            found[name[1]] = text
    return found


EXPECTED = _expected()


@cache
def _hints(engine: str) -> dict[str, str]:
    report = check(check_options(paths=(str(MODULE),), select=("GT101",), engine=engine))
    return {
        finding.node_id.split("::")[1].split("[")[0]: finding.hint or ""
        for finding in report.findings()
    }


@pytest.mark.parametrize("engine", ["bundled", pytest.param("torch", marks=pytest.mark.torch)])
@pytest.mark.parametrize("name", EXPECTED)
def test_the_step_is_named(name: str, engine: str) -> None:
    if engine == "torch":
        pytest.importorskip("torch")
    hint = _hints(engine)[name]
    expected = EXPECTED[name]
    if expected is None:
        assert "(line" not in hint
    else:
        assert expected in hint
