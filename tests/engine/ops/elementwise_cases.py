from __future__ import annotations
from tests.engine.ops.case import OpCase
CASES: list[OpCase] = []
