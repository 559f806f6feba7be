"""The modules of a package that define Functions are found without importing any."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.collect.packages import modules_of_package
from gradtool.errors import UsageError
from gradtool.run.runner import check
from tests.options import check_options
from tests.user_modules import GOOD, WRONG


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of which only two modules may be imported."""
    root = tmp_path / "much_code"
    for name, text in {
        "__init__.py": "raise SystemExit('imported')\n",
        "train.py": "raise SystemExit('Function')\n",
        "base.py": GOOD,
        "sub/__init__.py": "",
        "sub/derived.py": "from ..base import Square\nclass Other(Square):\n    pass\n",
        "sub/plain.py": "class Function(dict): pass\nclass A(Function): pass\n",
        "wrong.py": WRONG,
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    return root


def test_only_modules_with_functions_are_found(package: Path) -> None:
    found = [str(each.relative_to(package)) for each in modules_of_package("much_code")]
    assert found == ["base.py", "wrong.py", "sub/derived.py"]
    assert modules_of_package("much_code.base") == [package / "base.py"]


def test_an_operator_without_a_gradient_is_left_out(package: Path) -> None:
    made = "import torch\n@torch.library.custom_op('a::b', mutates_args=())\ndef f(x): ...\n"
    (package / "plain.py").write_text(made, encoding="utf-8")
    (package / "smooth.py").write_text(f"{made}f.register_autograd(print)\n", encoding="utf-8")
    found = {each.name for each in modules_of_package("much_code")}
    assert "smooth.py" in found
    assert "plain.py" not in found


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no_such_package", "--package no_such_package: no such package is installed"),
        ("much_code.nothing", "--package much_code.nothing: much_code has no module nothing"),
        ("much_code.train", "its only module defines no Function"),
    ],
)
def test_what_is_not_there_is_refused(package: Path, name: str, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        modules_of_package(name)
    assert message in str(refused.value)


def test_they_are_checked_even_where_the_package_does_not_import(package: Path) -> None:
    report = check(check_options(packages=("much_code",), select=("GT1",)))
    found = {function.name: function.verdict.value for _, function in report.functions()}
    assert found == {"Square": "pass", "Product": "pass", "Cube": "fail", "Other": "pass"}
