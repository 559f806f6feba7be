"""``import torch`` gives the engine's own modules inside the block, and not after it."""

from __future__ import annotations

import importlib.util
import random
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

import gradtool.engine
from gradtool.collect.torch_alias.alias import answer_torch_imports, needs_real_torch
from gradtool.engine import _torch_names
from gradtool.engine._placeholder import EngineLacksError, Placeholder


@pytest.fixture
def answered() -> Iterator[None]:
    with answer_torch_imports():
        yield


@pytest.fixture
def torch(answered: None) -> ModuleType:
    return importlib.import_module("torch")


def test_torch_is_the_engine_and_its_specs_are_intact(torch: ModuleType) -> None:
    assert torch is gradtool.engine
    nn = importlib.import_module("torch.nn.functional")
    assert nn is importlib.import_module("gradtool.engine.nn.functional")
    assert torch.__spec__ is not None
    assert torch.__spec__.name == torch.__name__ == "gradtool.engine"
    assert nn.__spec__ is not None
    assert nn.__spec__.name == "gradtool.engine.nn.functional"


def test_every_way_to_import_gives_the_same_module(answered: None) -> None:
    namespace: dict[str, object] = {}
    exec(
        "import torch, torch.nn as a, torch.nn.functional as F\n"
        "from torch import nn as b, autograd\n"
        "from torch.nn import functional as G\n"
        "from torch.autograd.function import Function, once_differentiable\n"
        "import gradtool.engine.nn as c\n"
        "assert a is b is c is torch.nn and F is G and autograd.Function is Function\n",
        namespace,
    )


def test_version_reads_as_the_one_that_is_followed(torch: ModuleType) -> None:
    assert torch.__version__ == torch.version.__version__ == "2.13.0+gradtool"
    assert [int(part) for part in torch.__version__.split("+")[0].split(".")] == [2, 13, 0]
    assert torch.version.cuda is None


def test_version_compares_by_its_numbers(torch: ModuleType) -> None:
    version = torch.__version__
    assert all(version >= other for other in [(2, 6), "2.6", (2, 13), "2.13.0+gradtool"])
    assert all(version < other for other in [(2, 100), "2.100", (3,)])
    assert version > "2.13.0"


def test_private_modules_that_torch_loads_need_no_import_of_their_own(torch: ModuleType) -> None:
    assert isinstance(torch._ops.OpOverload, Placeholder)


def test_torch_is_its_own_attribute(torch: ModuleType) -> None:
    assert torch.torch.Tensor is torch.Tensor


def test_submodules_need_no_import_of_their_own(torch: ModuleType) -> None:
    assert torch.nn.Module is gradtool.engine.nn.Module
    assert isinstance(torch.nn.SyncBatchNorm, Placeholder)
    assert isinstance(torch.cuda.FloatTensor, Placeholder)
    assert isinstance(torch.onnx.ONNXProgram, Placeholder)


def test_lacking_module_imports_and_its_names_raise_when_used(answered: None) -> None:
    namespace: dict[str, object] = {}
    exec(
        "import torch.distributed.fsdp as fsdp\n"
        "from torch.distributed.fsdp import FullyShardedDataParallel, StateDictType\n"
        "import torch.distributed.pipelining\n"
        "from torch._C._functions import anything\n"
        "class Mine(FullyShardedDataParallel): pass\n",
        namespace,
    )
    told = r"no torch\.distributed\.fsdp\.FullyShardedDataParallel; .*names.*Mine"
    with pytest.raises(EngineLacksError, match=told):
        namespace["Mine"]()  # type: ignore[operator]


@pytest.mark.parametrize("seed", range(3))
def test_every_public_name_can_be_imported_in_any_order(answered: None, seed: int) -> None:
    owners = [owner for owner in _torch_names._lines() if owner != "torch.Tensor"]
    random.Random(seed).shuffle(owners)
    for owner in owners:
        names = _torch_names.names_of(owner)
        for name in sorted(names.plain | names.modules | names.exceptions):
            exec(f"from {owner} import {name}", {})
        for name in sorted(names.modules):
            exec(f"import {owner}.{name}", {})


def test_names_that_pytorch_has_not_raise_what_python_raises(torch: ModuleType) -> None:
    with pytest.raises(AttributeError, match=r"^module 'torch' has no attribute 'nope'$"):
        torch.nope  # noqa: B018 - the access is what is tested
    assert not hasattr(importlib.import_module("torch.fft"), "nope")
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'torch\.nope'$") as raised:
        importlib.import_module("torch.nope")
    assert raised.value.name == "torch.nope"
    with pytest.raises(ImportError, match="cannot import name 'nope'"):
        exec("from torch import nope")


def test_code_that_branches_on_a_name_sees_what_pytorch_has(torch: ModuleType) -> None:
    assert hasattr(torch, "compile")
    assert hasattr(torch, "fft")
    assert not hasattr(torch, "_six")
    assert find_spec("torch.fft") is not None
    assert not hasattr(torch.ones(2), "sparse_mask")


def test_private_files_answer_only_where_pytorch_has_them_too(answered: None) -> None:
    private = importlib.import_module("torch._tensor")
    assert private is gradtool.engine._tensor
    assert isinstance(private.whatever, Placeholder)
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'torch\._dtypes'"):
        importlib.import_module("torch._dtypes")


def test_missing_method_of_a_tensor_is_named(torch: ModuleType) -> None:
    with pytest.raises(
        AttributeError, match=r"gradtool's engine has no torch\.Tensor\.sparse_mask"
    ):
        torch.ones(2).sparse_mask(None)
    assert isinstance(torch.Tensor.sparse_mask, Placeholder)
    with pytest.raises(AttributeError, match="'Tensor' object has no attribute 'nope'"):
        torch.ones(2).nope  # noqa: B018 - the access is what is tested


def test_exceptions_that_are_lacking_can_be_caught(torch: ModuleType) -> None:
    def work() -> None:
        try:
            raise ValueError("mine")
        except (torch.cuda.OutOfMemoryError, torch.distributed.DistBackendError):
            raise AssertionError("caught what was not raised") from None

    with pytest.raises(ValueError, match="mine"):
        work()


def test_triton_says_what_it_needs(answered: None) -> None:
    for name in ("triton", "triton.language"):
        with pytest.raises(ModuleNotFoundError, match="Triton kernels need PyTorch: "):
            importlib.import_module(name)


@pytest.mark.parametrize("name", ["triton", "torch.no_such_module", "no_such_package"])
def test_what_is_not_there_has_no_spec(answered: None, name: str) -> None:
    assert importlib.util.find_spec(name) is None


def test_what_is_there_has_a_spec(answered: None) -> None:
    assert importlib.util.find_spec("torch.nn") is not None
    with pytest.raises(ModuleNotFoundError, match="Triton kernels need PyTorch: "):
        importlib.util.find_spec("triton.language")  # as for a submodule of what is missing


def test_specs_are_found_as_before_afterwards() -> None:
    before = importlib.util.find_spec
    with answer_torch_imports():
        assert importlib.util.find_spec is not before
    assert importlib.util.find_spec is before


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ImportError("libc10.so: cannot open shared object file: No such file"), True),
        (ImportError("/x/mine.so: undefined symbol: _ZN3c105ErrorC2ENS_14SourceLocationE"), True),
        (ImportError("libtorch_cpu.so: cannot open shared object file"), True),
        (ImportError("libcudart.so.12: cannot open shared object file"), False),
        (ModuleNotFoundError("No module named 'mine'"), False),
        (OSError("libc10.so"), False),
    ],
)
def test_extension_compiled_against_pytorch_is_recognised(error: Exception, expected: bool) -> None:
    assert needs_real_torch(error) is expected


def test_afterwards_all_is_as_it_was() -> None:
    before = {name: module for name, module in sys.modules.items() if name.startswith("torch")}
    finders = list(sys.meta_path)
    with answer_torch_imports():
        importlib.import_module("torch.onnx")
        importlib.import_module("torch._tensor")
        assert hasattr(gradtool.engine, "onnx")
        assert hasattr(gradtool.engine.autograd, "profiler_legacy")
    after = {name: module for name, module in sys.modules.items() if name.startswith("torch")}
    assert after == before
    assert sys.meta_path == finders
    assert not hasattr(gradtool.engine, "onnx")
    assert not hasattr(gradtool.engine.autograd, "profiler_legacy")
    assert not hasattr(gradtool.engine._tensor, "whatever")
    assert gradtool.engine.nn.Module
    with pytest.raises(AttributeError, match=r"^module 'gradtool.engine.autograd' has no"):
        _ = gradtool.engine.autograd.profiler_legacy


def test_entering_again_writes_to_no_module() -> None:
    with answer_torch_imports():
        importlib.import_module("torch.nn")
    engine = [module for name, module in sys.modules.items() if name.startswith("gradtool.engine")]
    before = [list(vars(module)) for module in engine]
    with answer_torch_imports():
        assert [list(vars(module)) for module in engine] == before
    assert [list(vars(module)) for module in engine] == before


def test_a_module_that_was_there_is_hidden_and_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    real = ModuleType("torch")
    monkeypatch.setitem(sys.modules, "torch", real)
    monkeypatch.setitem(sys.modules, "torch.nn", ModuleType("torch.nn"))
    with answer_torch_imports():
        assert importlib.import_module("torch") is gradtool.engine
        assert importlib.import_module("torch.nn") is gradtool.engine.nn
    assert sys.modules["torch"] is real


def test_can_be_nested_and_entered_again() -> None:
    with answer_torch_imports():
        first = importlib.import_module("torch.distributed")
        with answer_torch_imports():
            pass
        assert importlib.import_module("torch") is gradtool.engine
    with answer_torch_imports():
        assert importlib.import_module("torch.distributed") is first
        assert importlib.import_module("torch").distributed is first


def test_imports_inside_functions_are_answered_when_they_run() -> None:
    namespace: dict[str, object] = {}
    exec("def f():\n    import torch.nn\n    return torch.nn.Module", namespace)
    with answer_torch_imports():
        assert namespace["f"]() is gradtool.engine.nn.Module  # type: ignore[operator]
    with answer_torch_imports():
        assert namespace["f"]() is gradtool.engine.nn.Module  # type: ignore[operator]


def test_module_of_the_engine_that_is_loaded_late_answers_too(tmp_path: Path) -> None:
    script = tmp_path / "late.py"
    script.write_text(
        "import sys\n"
        "from gradtool.collect.torch_alias.alias import install\n"
        "install()\n"
        "assert 'numpy' not in sys.modules\n"
        "import torch\n"
        "import gradtool.engine.nn.init\n"
        "print(torch.nn.init.constant, torch.nn.modules.Conv2d)\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert "torch.nn.init.constant" in done.stdout


def test_entering_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from gradtool.collect.torch_alias.alias import answer_torch_imports\n"
        "with answer_torch_imports():\n"
        "    pass\n"
        "print([name for name in ('numpy', 'gradtool.engine', 'torch') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
