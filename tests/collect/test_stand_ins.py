"""What a Function does not use cannot keep its module from loading."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest

from gradtool.collect.loader import LoadedModule, Loader, LoadError
from gradtool.collect.stand_ins import StandInError

FUNCTION = """
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * FACTOR

    @staticmethod
    def backward(ctx, g):
        return g * FACTOR
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def load(folder: Path, source: str, **others: str) -> LoadedModule:
    for name, text in {"ops": source + FUNCTION, **others}.items():
        path = folder.joinpath(*name.split("__")).with_suffix(".py")
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
    return Loader().load(folder / "ops.py")


def names(loaded: LoadedModule) -> list[str]:
    return [entry.name for entry in loaded.inventory if entry.value is not None]


def test_a_missing_package_is_stood_in_for_and_noted(folder: Path) -> None:
    loaded = load(
        folder,
        "import torch, no_such.part\nfrom no_such import a, b as c\nFACTOR = 3.0\n"
        "try:\n    import no_such\n    HAS = True\nexcept ImportError:\n    HAS = False\n"
        "@a.register('x', size=c + 1)\ndef use(x):\n    return c(x)\n",
    )
    assert names(loaded) == ["Scale"]
    assert loaded.failure is None
    assert (
        f"{folder}/ops.py:1: no_such is not installed; a stand-in is used instead" in loaded.notes
    )
    with loaded.active():
        assert loaded.module.HAS is False
        with pytest.raises(StandInError, match=r"^no_such\.a is not installed.*use is decorated"):
            loaded.module.use(1)


def test_only_the_name_that_is_missing_is_stood_in_for(folder: Path) -> None:
    loaded = load(folder, "import torch\nfrom math import (\n  pi as FACTOR,\n  nothing,\n)\n")
    assert loaded.module.FACTOR > 3
    assert loaded.notes == (
        f"{folder}/ops.py:2: math.nothing cannot be imported; a stand-in is used instead",
    )


def test_a_package_that_fails_to_import_is_stood_in_for(folder: Path) -> None:
    loaded = load(
        folder,
        "import torch\nimport site_packages_of\nFACTOR = 3.0\nfrom helper import missing\n",
        helper="import torch\nfrom no_such import missing\n",
        site_packages_of="x = 1",
    )
    assert loaded.notes == (
        f"{folder}/helper.py:2: no_such is not installed; a stand-in is used instead",
    )


def test_a_slice_is_imported_where_the_whole_fails(folder: Path) -> None:
    loaded = load(
        folder,
        "import torch\nTABLE = {}\nTABLE['a'] = 3.0\ndef pick(k):\n    return TABLE[k]\n"
        "FACTOR = pick('a')\nraise RuntimeError('no NVIDIA driver')\n",
    )
    assert names(loaded) == ["Scale"]
    assert loaded.module.FACTOR == 3.0
    assert loaded.failure is not None
    assert loaded.failure.message == "import raised RuntimeError: no NVIDIA driver"
    assert not loaded.failure.is_of_users


def test_a_mistake_of_the_users_own_stays_one(folder: Path) -> None:
    loaded = load(folder, "import torch\nFACTOR = 3.0\nWORKERS = int('four')\n")
    assert loaded.failure is not None
    assert loaded.failure.is_of_users


def test_a_package_whose_init_fails_is_left_out_of_the_slice(folder: Path) -> None:
    (folder / "pkg").mkdir()
    (folder / "pkg" / "__init__.py").write_text("raise OSError('no GPU')\n")
    (folder / "pkg" / "const.py").write_text("FACTOR = 2.0\n")
    source = "import torch\nfrom .const import FACTOR\n"
    (folder / "pkg" / "ops.py").write_text(source + FUNCTION)
    loaded = Loader().load(folder / "pkg" / "ops.py")
    assert names(loaded) == ["Scale"]
    assert loaded.module.FACTOR == 2.0


def test_without_a_function_a_failing_import_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text("import no_such\n")
    with pytest.raises(LoadError, match="No module named 'no_such'"):
        Loader().load(tmp_path / "ops.py")


def test_a_slice_that_is_asked_for_runs_no_code_of_its_packages(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("raise AssertionError('it ran')\n")
    (tmp_path / "pkg" / "ops.py").write_text(f"import torch\nFACTOR = 2.0\n{FUNCTION}")
    loaded = Loader().load(tmp_path / "pkg" / "ops.py", only_slice=True)
    assert names(loaded) == ["Scale"]


def test_a_decorator_that_this_python_lacks_changes_nothing(folder: Path) -> None:
    decorated = FUNCTION.replace("class Scale", "class Marked").replace(
        "    def backward", "    @no_such_mark\n    def backward"
    )
    loaded = load(
        folder, f"import torch\nfrom typing import no_such_mark\nFACTOR = 3.0\n{decorated}"
    )
    with loaded.active():
        assert loaded.module.Marked.backward(None, 2.0) == 6.0


def test_a_decorated_function_has_no_marks_of_other_decorators(folder: Path) -> None:
    loaded = load(
        folder, "import torch\nfrom no_such import a\nFACTOR = 3.0\n@a\ndef use(x): return x\n"
    )
    with loaded.active():
        assert getattr(loaded.module.use, "_once_differentiable", None) is None


def test_functions_that_a_missing_compiler_would_compile_run_as_they_are(folder: Path) -> None:
    loaded = load(
        folder,
        "import torch\nimport no_such\nimport numba as nb\nfrom numba import njit, prange\n"
        "from numba.extending import register_jitable\n"
        "@register_jitable\ndef halved(n):\n    return n // 2\n"
        "@njit(parallel=True)\ndef doubled(n):\n    return [2 * i for i in prange(n)]\n"
        "@nb.jit\ndef tripled(n):\n    return [3 * i for i in nb.prange(n)]\n"
        "@nb.cuda.jit\ndef kernel(n):\n    return n\n"
        "def late(n):\n    return njit(cache=True)(lambda m: m + 1)(n)\nFACTOR = 3.0\n",
    )
    with loaded.active():
        assert loaded.module.doubled(3) == [0, 2, 4]
        assert loaded.module.halved(4) == 2
        assert loaded.module.tripled(2) == [0, 3]
        assert loaded.module.late(1) == 2
        with pytest.raises(StandInError, match="kernel is decorated"):
            loaded.module.kernel(1)


def test_missing_type_variables_are_those_of_python(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "typing_extensions", None)
    loaded = load(
        folder,
        "import torch\nfrom typing import Generic\nimport typing_extensions as te\n"
        "from typing_extensions import TypeVar, TypeVarTuple, Unpack\n"
        "T, Ts = TypeVar('T', default=int), TypeVarTuple('Ts')\n"
        "class Pair(Generic[T, Unpack[Ts]]):\n    kind: te.Literal['pair'] = 'pair'\n"
        "FACTOR = 3.0\n",
    )
    with loaded.active():
        assert loaded.module.Pair[int, str].kind == "pair"


def test_decorators_of_typing_change_nothing_wherever_they_come_from(folder: Path) -> None:
    loaded = load(
        folder,
        "import torch\nfrom no_such_package.compat import override\n"
        "class Base(torch.nn.Module):\n    @override\n    def forward(self, x):\n"
        "        return 2 * x\n",
    )
    with loaded.active():
        assert loaded.module.Base()(3) == 6


HARDWARE = """
import torch, triton

def available():
    try:
        return triton.runtime.driver.active.get_current_target().backend
    except Exception:
        return "cpu"

library = getattr(torch, available())
FACTOR = 3.0
OTHER = triton.runtime.driver.passive
"""


def test_code_that_asks_triton_for_its_device_goes_on_without(folder: Path) -> None:
    """Triton raises without a GPU; a name of a device has to be text."""
    loaded = load(folder, HARDWARE)
    assert loaded.failure is None
    assert names(loaded) == ["Scale"]
    assert loaded.module.available() == "cpu"
    assert "is not installed" in repr(loaded.module.OTHER)


def test_a_package_that_is_imported_again_has_the_modules_it_imported_first(folder: Path) -> None:
    package = folder / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("import pkg.const\nfrom . import needy, late\n")
    (package / "const.py").write_text("FACTOR = 2.0\n")
    (package / "needy.py").write_text("import no_such\n")
    (package / "late.py").write_text("import pkg.const\nFACTOR = pkg.const.FACTOR\n")
    (package / "ops.py").write_text(f"import torch\nfrom .late import FACTOR\n{FUNCTION}")
    loaded = Loader().load(package / "ops.py")
    assert loaded.failure is None
    assert loaded.module.FACTOR == 2.0


def test_what_a_failed_import_registered_is_no_obstacle(folder: Path) -> None:
    loaded = load(
        folder,
        "import torch, marked\nFACTOR = 3.0\n",
        marks="taken = []\ndef mark(name):\n    assert name not in taken\n    taken.append(name)\n",
        marked="import marks\nmarks.mark('a')\nimport no_such\n",
    )
    assert names(loaded) == ["Scale"]
    assert loaded.failure is None


def test_a_package_that_is_left_out_still_gives_what_it_imports(folder: Path) -> None:
    for package in (folder / "pkg", folder / "pkg" / "part"):
        package.mkdir()
    (folder / "pkg" / "__init__.py").write_text(
        "from .const import TWO as FACTOR\nfrom .part import *\nfrom . import part as p\n"
        "raise OSError('no GPU')\n"
    )
    (folder / "pkg" / "const.py").write_text("TWO = 2.0\n")
    (folder / "pkg" / "part" / "__init__.py").write_text("SHIFT = 1.0\n")
    source = "import torch\nimport pkg\nfrom pkg import FACTOR, SHIFT\n"
    (folder / "pkg" / "ops.py").write_text(source + FUNCTION.replace("* FACTOR", "* pkg.FACTOR"))
    loaded = Loader().load(folder / "pkg" / "ops.py")
    with loaded.active():
        assert loaded.module.pkg.const.TWO == 2.0
        assert loaded.module.pkg.p.SHIFT == loaded.module.pkg.part.SHIFT == 1.0
        assert loaded.module.Scale.forward(None, 3.0) == 6.0
        with pytest.raises(AttributeError, match="'pkg' has no attribute 'nothing'"):
            _ = loaded.module.pkg.nothing


def test_a_logger_that_is_missing_logs_nothing(folder: Path) -> None:
    logging = FUNCTION.replace(
        "        return x * FACTOR", "        logging.warn_once('x')\n        return x * FACTOR"
    )
    text = "import torch\nfrom no_such import logging\nlog = logging.get_logger(1)\nFACTOR = 2.0\n"
    loaded = load(folder, text + logging.replace("class Scale", "class Logged"))
    with loaded.active():
        loaded.module.log.info("x")
        assert loaded.module.Logged.forward(None, 3.0) == 6.0


def test_a_function_whose_decorator_fails_is_stood_in_for(folder: Path) -> None:
    text = "import torch\nmissing = None\n@missing.tuned()\ndef factor():\n    pass\n"
    used = FUNCTION.replace("x * FACTOR", "x * factor()").replace("g * FACTOR", "g * 2")
    loaded = load(folder, text + used.replace("class Scale", "class Tuned") + "FACTOR = 3.0\n")
    assert sorted(names(loaded)) == ["Scale", "Tuned"]
    with loaded.active(), pytest.raises(StandInError, match="has no attribute 'tuned'"):
        loaded.module.factor()


def test_a_package_that_is_left_out_gives_a_function_named_as_its_module(folder: Path) -> None:
    (folder / "pkg").mkdir()
    (folder / "pkg" / "__init__.py").write_text("from .solve import solve\nraise OSError\n")
    (folder / "pkg" / "solve.py").write_text("TWO = 2.0\ndef solve(): return TWO\n")
    source = "import torch\nfrom pkg.solve import TWO\nfrom pkg import solve\nFACTOR = solve()\n"
    (folder / "pkg" / "ops.py").write_text(source + FUNCTION)
    loaded = Loader().load(folder / "pkg" / "ops.py")
    assert loaded.module.FACTOR == 2.0


def test_a_slice_keeps_what_leads_to_a_function(folder: Path) -> None:
    callers = "def scale(x: torch.Tensor):\n    return Scale.apply(x)\n\ndef other(): pass\n"
    loaded = load(folder, f"import torch\nFACTOR = int(2.5)\n{callers}\nWORKERS = int('four')\n")
    assert loaded.failure is not None
    assert callable(loaded.module.scale)
    assert not hasattr(loaded.module, "other")


def test_a_slice_does_without_a_caller_that_fails(folder: Path) -> None:
    caller = "class Layer(None):\n    def forward(self, x): return Scale.apply(x)\n"
    loaded = load(folder, f"import torch\nFACTOR = int(2.5)\n{caller}\n")
    assert names(loaded) == ["Scale"]
    assert not hasattr(loaded.module, "Layer")


def test_the_tensor_of_a_package_of_annotations_is_that_of_pytorch(folder: Path) -> None:
    loaded = load(
        folder,
        "import torch\nfrom no_such.typing.arrays import Tensor\n"
        "from no_such import Tensor as Own\n"
        "FACTOR = 2.0\ndef use(x):\n    return isinstance(x, Tensor), isinstance(x, Own)\n",
    )
    with loaded.active():
        assert loaded.module.use(loaded.module.torch.zeros(2)) == (True, False)


def test_methods_of_tensor_that_pytorch_had_can_be_listed(folder: Path) -> None:
    loaded = load(
        folder,
        "import torch\nLISTED = {torch.Tensor.align_as: 1, torch.Tensor.has_names: 2}\n"
        "FACTOR = 2.0\ndef use(x):\n    return x.align_as(x)\n",
    )
    assert loaded.failure is None
    with loaded.active(), pytest.raises(AttributeError, match=r"no torch\.Tensor\.align_as"):
        loaded.module.use(loaded.module.torch.zeros(2))
