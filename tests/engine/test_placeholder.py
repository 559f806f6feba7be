"""A name that the engine lacks may be mentioned in any way, and raises by name when it is used."""

from __future__ import annotations

import copy
import importlib
import operator
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import pytest

from gradtool.collect.torch_alias.alias import answer_torch_imports
from gradtool.engine._placeholder import EngineLacksError, exception, placeholder
from gradtool.package import DOCS

fft = placeholder("torch.fft.fft")
T = TypeVar("T")


def lacks(name: str) -> Any:
    return pytest.raises(EngineLacksError, match=rf"^gradtool's engine has no {name}; see ")


def test_message_points_to_a_page_that_is_there() -> None:
    with pytest.raises(EngineLacksError, match=re.escape(f"{DOCS}/names.md")):
        fft(1)
    assert (Path(__file__).parents[2] / "docs" / "names.md").is_file()


def test_an_optimizer_says_what_to_do_without_one() -> None:
    with pytest.raises(EngineLacksError, match=r"no optimizers, such as torch\.optim\.Adam"):
        placeholder("torch.optim.Adam")([])


def test_attributes_chain_and_are_the_same_each_time() -> None:
    assert placeholder("torch.a").b.c is placeholder("torch.a.b.c")
    with lacks(r"torch\.a\.b\.c"):
        placeholder("torch.a").b.c(1)


def test_has_none_of_the_attributes_that_tell_python_what_an_object_can_do() -> None:
    for name in ("__wrapped__", "__cuda_array_interface__", "__fspath__", "__code__"):
        assert not hasattr(fft, name)


@pytest.mark.parametrize(
    "use",
    [
        lambda x: x(3),
        lambda x: x(3, dim=1),
        bool,
        len,
        list,
        float,
        int,
        abs,
        np.asarray,
        operator.neg,
        lambda x: x + 1,
        lambda x: 1 + x,
        lambda x: 2 @ x,
        lambda x: x < 1,
        lambda x: 1 in x,
        lambda x: operator.setitem(x, 0, 1),
        lambda x: x.__enter__(),
    ],
)
def test_use_raises_by_name(use: Callable[[Any], Any]) -> None:
    with lacks(r"torch\.fft\.fft"):
        use(fft)


def test_with_statement_raises_by_name() -> None:
    with lacks(r"torch\.fft\.fft"), fft:
        pass


def test_base_class_loads_and_cannot_be_instantiated() -> None:
    class Mine(placeholder("torch.nn.LSTM"), Generic[T], option=1):  # type: ignore[misc]
        size = 3

        def __init__(self, size: int) -> None:
            raise AssertionError("is never reached")

    assert Mine.size == 3
    with lacks(r"torch\.nn\.LSTM") as raised:
        Mine(4)
    assert "Mine derives from it" in str(raised.value)
    assert issubclass(Mine, placeholder("torch.nn.LSTM"))
    assert not issubclass(Mine, placeholder("torch.nn.GRU"))


def test_two_bases_and_a_subscripted_one() -> None:
    class Both(placeholder("torch.a.A"), placeholder("torch.b.B")[int], dict): ...  # type: ignore[misc,type-arg]

    with lacks(r"torch\.a\.A"):
        Both()


def test_isinstance_is_false() -> None:
    assert not isinstance(3, fft)
    assert isinstance(3, (fft, int))
    assert not isinstance(3, fft | None)
    assert isinstance(None, None | fft)


def test_annotation_and_default() -> None:
    def f(x: fft = fft, y: list[fft] | fft | None = None) -> fft:  # type: ignore[valid-type]
        return x

    assert f() is fft


def test_bare_decorator_refuses_when_the_function_is_called() -> None:
    @fft
    def forward(x: int) -> int:
        """Doc."""
        return x

    assert forward.__name__ == "forward"
    assert forward.__doc__ == "Doc."
    with lacks(r"torch\.fft\.fft") as raised:
        forward(3)
    assert "forward is decorated with it" in str(raised.value)


def test_decorated_static_method_stays_one() -> None:
    class Holder:
        @fft
        @staticmethod
        def forward(x: int) -> int:
            return x

    with lacks(r"torch\.fft\.fft"):
        Holder.forward(1)


def test_decorator_with_arguments_refuses_when_the_function_is_called() -> None:
    custom_op = placeholder("torch.library.custom_op")

    @custom_op("mine::scale", mutates_args=())
    def scale(x: int) -> int:
        return x

    @scale.register_fake
    def _(x: int) -> int:
        return x

    scale.register_autograd(lambda ctx, g: g, setup_context=lambda ctx, i, o: None)
    with pytest.raises(EngineLacksError, match=r"torch\.library\.custom_op.* needs PyTorch: "):
        scale(3)


def test_kernel_is_not_built_so_that_code_that_expects_it_falls_back() -> None:
    with pytest.raises(EngineLacksError, match=r"cpp_extension\.load needs PyTorch: "):
        placeholder("torch.utils.cpp_extension.load")(name="mine", sources=["mine.cpp"])


def test_kernel_that_is_built_at_import_refuses_when_it_is_launched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported = "from torch.utils.cpp_extension import load"
    (tmp_path / "built.py").write_text(f'{imported}\nkernels = load(name="mine", sources=[])\n')
    monkeypatch.syspath_prepend(tmp_path)
    with answer_torch_imports():
        module = importlib.import_module("built")
    with pytest.raises(EngineLacksError, match=r"cpp_extension\.load needs PyTorch: "):
        module.kernels.forward(3)


def test_decorated_class_stays_as_it_is() -> None:
    @fft
    class Thing:
        size = 3

    assert Thing().size == 3


@pytest.mark.parametrize("name", ["torch.fx.wrap", "torch._dynamo.disable", "torch.jit.interface"])
def test_decorators_for_compilers_change_nothing(name: str) -> None:
    assert placeholder(name)(lacks) is lacks


AT_IMPORT = """
import dataclasses, enum, functools
import torch.distributed as dist
from torch.hub import load_state_dict_from_url as load
from torch.distributed.fsdp import FullyShardedDataParallel as lacking

first, second = load("x")
derived = load("x").encoder.layers[0]
made = [-lacking, lacking + 1, 2 @ lacking, lacking ** 2, abs(lacking), round(lacking)]
shown = f"{lacking} {lacking:>60} {lacking!r}"
flags = {lacking: 1, "compared": lacking > 3, "same": lacking == lacking}
decided = 1 if lacking else 2
listed = [each for each in lacking]
number = int(lacking) + float(lacking) + len(lacking)

with lacking(3) as entered, load:
    pass

@dataclasses.dataclass
class Config:
    rank: object = lacking
    field: object = dataclasses.field(default_factory=lacking)

class Mixed(lacking, enum.Enum):
    ONE = 1

class Meta(metaclass=lacking):
    pass

class Derived(lacking[int], dict):
    pass

instance = Derived(3)

@lacking.register(3)
def decorated(x):
    return x

@functools.lru_cache
def later():
    return decorated(3)

def forward():
    return derived(3)

later()
try:
    raise lacking("no") if lacking else ValueError
except ValueError:
    pass
lacking.flag = True
lacking["key"] = 1
del lacking["key"]
assert not isinstance(3, (lacking, derived))
"""


def test_any_use_at_import_is_inert(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "uses_at_import.py").write_text(AT_IMPORT, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with answer_torch_imports():
        module: Any = importlib.import_module("uses_at_import")
        with lacks(r"torch\.hub\.load_state_dict_from_url"):
            module.forward()
        with pytest.raises(EngineLacksError, match=r"torch\.distributed\.fsdp"):
            module.decorated(3)
    assert (module.number, module.decided, module.listed) == (0, 2, [])


def test_is_a_value_that_can_be_compared_hashed_copied_and_pickled() -> None:
    assert fft == fft
    assert fft != placeholder("torch.fft.ifft")
    assert {fft: 1}[fft] == 1
    assert copy.deepcopy({"a": fft})["a"] is fft
    assert pickle.loads(pickle.dumps(fft)) is fft
    assert repr(fft) == "<torch.fft.fft, which is missing from gradtool's engine>"


@pytest.mark.parametrize("name", ["torch.backends.mps", "torch.distributed", "torch.xpu"])
def test_what_is_lacking_is_not_available(name: str) -> None:
    assert placeholder(name).is_available() is False


def test_what_a_call_of_a_compiler_returns_is_not_called() -> None:
    traced = placeholder("torch.jit.freeze")(1, 2)
    with pytest.raises(EngineLacksError, match=r"torch\.jit\.freeze"):
        traced(3, 4)


def test_no_tensor_is_fake() -> None:
    assert placeholder("torch._subclasses.fake_tensor.is_fake")(3) is False


def test_attributes_can_be_set() -> None:
    flags = placeholder("torch.some.flags")
    flags.benchmark = True
    assert flags.benchmark is True


def test_exception_can_be_caught_and_raised() -> None:
    error = exception("torch.linalg.LinAlgError")
    with pytest.raises(error, match="singular"):
        raise error("singular")
    assert error.__name__ == "LinAlgError"
    assert issubclass(error, RuntimeError)
