"""Writes docs/configuration.md from the typed structs that gradtool.yaml is read with.

``python tests/docs/write_configuration.py``. Keys, values and meanings come from the structs and
the text under each of their fields, defaults from the settings; the example is configs/full.yaml.
"""

from __future__ import annotations

import ast
import inspect
import sys
from pathlib import Path
from typing import Any

from msgspec import inspect as types

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from gradtool.cli.commands.config import spelled  # noqa: E402 - of this repository, too
from gradtool.config import settings  # noqa: E402
from gradtool.config.schema import (  # noqa: E402
    CaseConfig,
    Defaults,
    File,
    FunctionConfig,
    ModuleConfig,
)
from gradtool.config.tensor_spec import TensorSpec  # noqa: E402

PAGE = ROOT / "docs" / "configuration.md"

HEADER = """# Configuration

gradtool looks for `gradtool.yaml` beside each module and above it, up to the folder that holds
`.git`; the nearest one counts, and nothing is merged. `--config FILE` names one for the whole run,
`--isolated` reads none. The header of the output says what was read.

`--config KEY=VALUE` gives a single value in place of the file's, with the key spelled from the root
of the file on and the value written as in it; `null` stands for the default:

```sh
gradtool check samples/linear.py --config "functions['linear.py::LinearFunction'].atol=1e-9"
gradtool check samples/exp.py --isolated --config "check.select=[GT1, GT2]"
```

Each key of `check` has an environment variable as well: `GRADTOOL_TIMEOUT=120`.

An option of its own, such as `--timeout`, overrides `--config KEY=VALUE`, this overrides the
environment, the environment the file, and the file the defaults. `gradtool config` prints what
holds for a path, and where each value comes from:

```sh
GRADTOOL_TIMEOUT=120 gradtool config samples --config check.seed=3
```

Unknown keys, keys given twice and values of the wrong kind are errors that name the line, the
option or the variable and, where there is one, the key that was probably meant. Numbers may be
written `1e-6`.

A tolerance may say why it is needed (`reason`) and until when (`expires`). Every run lists the
tolerances that are in force. One that is more than ten times what is needed is GT511, and one whose
last day has passed is GT512, an error; it holds all the same until it is removed.

This page is written by `python tests/docs/write_configuration.py`.
"""

SECTIONS = (
    ("The file", File),
    ("`check`", Defaults),
    ("A Function, under `functions`", FunctionConfig),
    ("A module, under `module`", ModuleConfig),
    ("A case, under `cases`", CaseConfig),
    ("A tensor, among `args` and `kwargs`", TensorSpec),
)

FOOTER = """
## Everything at once

`configs/full.yaml`, which can be tried with `gradtool check samples --config configs/full.yaml`:

<!-- file: configs/full.yaml -->
```yaml
{full}```
"""


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """The page."""
    full = (ROOT / "configs" / "full.yaml").read_text(encoding="utf-8")
    sections = [_section(title, struct) for title, struct in SECTIONS]
    return "\n".join([HEADER, *sections]) + FOOTER.format(full=full)


def _section(title: str, struct: type) -> str:
    described = types.type_info(struct)
    assert isinstance(described, types.StructType)
    meanings = _meanings(struct)
    is_check = struct is Defaults
    head = ["key", "value", "default", "meaning"] if is_check else ["key", "value", "meaning"]
    rows = [head, ["---"] * len(head)]
    for field in described.fields:
        cells = [f"`{field.name}`", _value(field.type), meanings[field.name]]
        if is_check:
            default = settings.DEFAULTS.get(field.name)
            cells.insert(2, "" if default is None else f"`{spelled(default)}`")
        rows.append(cells)
    return f"## {title}\n\n" + "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def _meanings(struct: type) -> dict[str, str]:
    """The text under each field of a struct, which Python itself does not keep."""
    (tree,) = ast.parse(inspect.getsource(struct)).body
    assert isinstance(tree, ast.ClassDef)
    found: dict[str, str] = {}
    for field, text in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
            assert isinstance(field.target, ast.Name)
            assert isinstance(text.value, ast.Constant)
            found[field.target.id] = " ".join(str(text.value.value).split())
    return found


def _value(kind: Any) -> str:
    """What may stand after a key, in words."""
    match kind:
        case types.UnionType():
            (inner,) = (each for each in kind.types if not isinstance(each, types.NoneType))
            return _value(inner)
        case types.LiteralType():
            return " or ".join(f"`{value}`" for value in kind.values)
        case types.IntType() | types.FloatType():
            return _number(kind)
        case types.VarTupleType():
            return f"list of {_plural(kind.item_type)}"
        case types.DictType():
            return f"mapping of names to {_plural(kind.value_type)}"
        case types.StructType():
            return "mapping"
        case _:
            words = {types.BoolType: "true or false", types.StrType: "text", types.DateType: "date"}
            return words.get(type(kind), "any")


def _number(kind: types.IntType | types.FloatType) -> str:
    word = "whole number" if isinstance(kind, types.IntType) else "number"
    if kind.gt is not None:
        return f"{word} above {kind.gt:g}"
    return word if kind.ge is None else f"{word}, {kind.ge:g} or more"


def _plural(kind: Any) -> str:
    match kind:
        case types.StructType():
            return "mappings"
        case types.StrType():
            return "texts"
        case types.IntType():
            return "whole numbers"
        case _:
            return "values"


if __name__ == "__main__":
    main()
