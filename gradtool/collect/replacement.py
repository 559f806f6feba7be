"""Replacement of a statement in a source by stand-ins for the names that it binds."""

from __future__ import annotations

import ast


def replaced(
    source: bytes, statement: ast.stmt, why: str, lacking: str | None = None
) -> bytes | None:
    """The source with a statement replaced by stand-ins for the names that it binds.

    Args:
        source: The whole file. All other lines keep their numbers.
        statement: One of its statements.
        why: Why there is nothing, as a predicate.
        lacking: The one name of an import to replace; None for all.

    Returns:
        None if something else stands on the same line.
    """
    lines = source.split(b"\n")
    first, last = first_line(statement) - 1, (statement.end_lineno or statement.lineno) - 1
    before = lines[first][: statement.col_offset]
    after = lines[last][statement.end_col_offset :].strip()
    if before.strip() or (after and not after.startswith(b"#")):
        return None
    maker = '__import__("gradtool.collect.stand_ins", fromlist=["stand_in"]).stand_in'
    made = [f"{name} = {maker}({of!r}, {why!r})" for name, of in _bound(statement, lacking)]
    # Bound names are read before the statement loses the one that is lacking.
    kept = [ast.unparse(statement)] if _keep_others(statement, lacking) else []
    lines[first] = before + ("; ".join([*kept, *made]) or "pass").encode()
    lines[first + 1 : last + 1] = [b""] * (last - first)
    return b"\n".join(lines)


def _keep_others(statement: ast.stmt, lacking: str | None) -> bool:
    """Remove a name from an import; return True if others are left."""
    if lacking is None or not isinstance(statement, ast.Import | ast.ImportFrom):
        return False
    statement.names = [alias for alias in statement.names if alias.name != lacking]
    return bool(statement.names)


def _bound(statement: ast.stmt, lacking: str | None) -> list[tuple[str, str]]:
    """The names that a statement binds, or the one `lacking`, with what each stands for."""
    if isinstance(statement, ast.Import):
        chosen = [each for each in statement.names if lacking in (None, each.name)]
        of = [(alias.asname, alias.name) for alias in chosen]
        return [(as_name, name) if as_name else (_top(name), _top(name)) for as_name, name in of]
    if isinstance(statement, ast.ImportFrom):
        package = f"{statement.module}." if statement.module else ""
        return [
            (alias.asname or alias.name, package + alias.name)
            for alias in statement.names
            if alias.name != "*" and lacking in (None, alias.name)
        ]
    return [(name, name) for name in sorted(bound_names(statement))]


def _top(name: str) -> str:
    return name.partition(".")[0]


def bound_names(statement: ast.stmt) -> set[str]:
    """The names of the module that a top-level statement binds."""
    found: set[str] = set()
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        else:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.id)
            if not isinstance(node, ast.Lambda):
                stack.extend(ast.iter_child_nodes(node))
    return found


def statement_at(tree: ast.Module, line: int) -> ast.stmt | None:
    """The innermost import at a line, or else the statement of the module that holds the line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom) and _holds(node, line):
            return node
    return next((each for each in tree.body if _holds(each, line)), None)


def _holds(statement: ast.stmt, line: int) -> bool:
    return first_line(statement) <= line <= (statement.end_lineno or statement.lineno)


def first_line(statement: ast.stmt) -> int:
    """The line of a statement, or of its first decorator."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(each.lineno for each in decorators)])
