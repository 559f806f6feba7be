"""The source of a module is parsed once, whoever asks for what is in it."""

from __future__ import annotations

import ast
from pathlib import Path
from types import SimpleNamespace

import pytest

from gradtool.adapters.common.parsed_source import parsed
from gradtool.run.runner import check
from tests.options import check_options

SOURCE = '''
from gradtool import Function


class Double(Function):
    """Twice x, where x is positive."""

    @staticmethod
    def forward(ctx, x):
        if x.dim() > 3:
            raise ValueError("too many dimensions")
        return 2 * x if x.shape[0] else x.clone()

    @staticmethod
    def backward(ctx, g):
        return 2 * g
'''


def test_one_check_parses_a_module_once_for_all_readers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources: list[str] = []

    def parse(source: str) -> ast.Module:
        sources.append(source)
        return ast.parse(source)

    parsed.cache_clear()
    stand_in = SimpleNamespace(parse=parse)
    monkeypatch.setattr("gradtool.adapters.common.parsed_source.ast", stand_in)
    (tmp_path / "ops.py").write_text(SOURCE)
    check(check_options(paths=(str(tmp_path / "ops.py"),), explore="quick", isolated=False))
    assert sources.count(SOURCE) == 1
