"""The text of an expression, in Python, with no more parentheses than are needed."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

from gradtool.derive.expression import OPERATORS, Expression

_COMPARISON, _OR, _AND, _SUM, _PRODUCT, _UNARY, _POWER, _ATOM = 1, 2, 4, 6, 7, 8, 9, 10

_LEVELS = {
    **dict.fromkeys(("lt", "le", "gt", "ge", "eq", "ne"), _COMPARISON),
    "bitwise_or": _OR,
    "bitwise_xor": 3,
    "bitwise_and": _AND,
    **dict.fromkeys(("add", "sub"), _SUM),
    **dict.fromkeys(("mul", "div", "matmul", "floor_divide", "remainder"), _PRODUCT),
    **dict.fromkeys(("neg", "bitwise_not"), _UNARY),
    "pow": _POWER,
}

_BINARY = {
    ast.Add: _SUM,
    ast.Sub: _SUM,
    ast.Mult: _PRODUCT,
    ast.Div: _PRODUCT,
    ast.FloorDiv: _PRODUCT,
    ast.Mod: _PRODUCT,
    ast.Pow: _POWER,
}


class Text:
    """Writes expressions.

    Args:
        names: The names that expressions have.
    """

    def __init__(self, names: Mapping[Expression, str]) -> None:
        self.names = names

    def __call__(self, value: Any, level: int = 0) -> str:
        """Return the text of an operand, in parentheses if it binds less than `level`."""
        if isinstance(value, Expression):
            text, own = self._expression(value)
        else:
            text, own = self._plain(value)
        return f"({text})" if own < level else text

    def definition(self, value: Expression) -> str:
        """Return the text of the operation itself, even if its result has a name."""
        return self._operation(value)[0]

    def _plain(self, value: Any) -> tuple[str, int]:
        if isinstance(value, slice):
            parts = ["" if each is None else self(each) for each in (value.start, value.stop)]
            step = "" if value.step is None else f":{self(value.step)}"
            return f"{parts[0]}:{parts[1]}{step}", _ATOM
        if isinstance(value, tuple):
            return f"({', '.join(map(self, value))}{',' * (len(value) == 1)})", _ATOM
        if isinstance(value, list):
            return f"[{', '.join(map(self, value))}]", _ATOM
        if value is Ellipsis:
            return "...", _ATOM
        if (
            isinstance(value, float)
            and value == int(value if abs(value) < 1e6 else 0)
            and abs(value) < 1e6
        ):
            return f"{value:.1f}", _ATOM if value >= 0 else _UNARY
        if isinstance(value, str) and '"' not in value and "\\" not in value:
            return f'"{value}"', _ATOM
        is_negative = isinstance(value, int | float) and value < 0
        return re.sub(r"e-0(\d)$", r"e-\1", repr(value)), _UNARY if is_negative else _ATOM

    def _expression(self, value: Expression) -> tuple[str, int]:
        if value in self.names:
            return self.names[value], _ATOM
        return self._operation(value)

    def _operation(self, value: Expression) -> tuple[str, int]:
        if value.kind == "literal":
            return self._literal(value)
        if value.kind == "operator":
            return self._operator(value)
        if value.kind == "item":
            index = value.args[1]
            inside = (
                ", ".join(map(self, index)) if isinstance(index, tuple) and index else self(index)
            )
            return f"{self(value.args[0], _ATOM)}[{inside}]", _ATOM
        if value.kind == "part":
            fields = getattr(value.args[0].value, "_fields", None)
            part = f"[{value.args[1]}]" if fields is None else f".{fields[value.args[1]]}"
            return f"{self(value.args[0], _ATOM)}{part}", _ATOM
        if value.kind == "attribute":
            return f"{self(value.args[0], _ATOM)}.{value.name}", _ATOM
        if value.kind == "pullback":
            return self._pullback(value), _ATOM
        args = [*map(self, value.args), *(f"{k}={self(v)}" for k, v in value.kwargs.items())]
        if value.kind == "method":
            owner = self(value.args[0], _ATOM)
            return f"{owner}.{value.name}({', '.join(args[1:])})", _ATOM
        return f"{value.path}({', '.join(args)})", _ATOM

    def _literal(self, value: Expression) -> tuple[str, int]:
        text = value.name
        if re.fullmatch(r"__\d+__", text):
            return self(value.args[0]), _ATOM
        for number, operand in enumerate(value.args):
            text = text.replace(f"__{number}__", self(operand, _ATOM))
        text = re.sub(r"\[\((-\d+)\)\]", r"[\1]", text)
        return text, _level_of(text)

    def _operator(self, value: Expression) -> tuple[str, int]:
        symbol, level = OPERATORS[value.name][0], _LEVELS[value.name]
        if len(value.args) == 1:
            return f"{symbol}{self(value.args[0], level)}", level
        left, right = value.args
        if value.name == "pow":
            return f"{self(left, _ATOM)}**{self(right, _UNARY)}", level
        is_chain = value.name in {"add", "mul"} and _is_operator(right, value.name)
        return f"{self(left, level)} {symbol} {self(right, level + (not is_chain))}", level

    def _pullback(self, value: Expression) -> str:
        g, operand, part, *_ = value.args
        out: Expression = value.function
        others = [each for each in out.operands() if each is not operand]
        texts = {each: self(each, _ATOM) for each in others}
        words = set(re.findall(r"\w+", " ".join([*self.names.values(), *texts.values()])))
        own = next(name for name in ("t", "u", "v", "w", "z", "value_") if name not in words)
        inner = Text({**self.names, **texts, operand: own})
        written = inner.definition(out)
        if part is not None:
            written = f"{written}[{part}]"
        return f"{value.path}.func.vjp(lambda {own}: {written}, {self(operand)})[1]({self(g)})[0]"


def _is_operator(value: Any, name: str) -> bool:
    return isinstance(value, Expression) and value.kind == "operator" and value.name == name


def _level_of(text: str) -> int:
    """The level at which a text binds, by its outermost operator."""
    node: Any = ast.parse(text, mode="eval").body
    if isinstance(node, ast.BinOp):
        return _BINARY.get(type(node.op), 0)
    if isinstance(node, ast.UnaryOp):
        return _UNARY
    return 0 if isinstance(node, ast.BoolOp | ast.Compare | ast.IfExp | ast.Lambda) else _ATOM
