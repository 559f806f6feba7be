"""Tensors and what holds them are written to a file and read back."""

from __future__ import annotations

import io
import pickle
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool.engine.serialization import load


def through_a_file(torch: Any, value: Any, **options: Any) -> Any:
    held = io.BytesIO()
    torch.save(value, held)
    held.seek(0)
    return torch.load(held, **options)


def test_what_is_read_is_what_was_written(torch: Any, tmp_path: Path) -> None:
    value = OrderedDict(
        x=torch.arange(6.0).reshape(2, 3), y=[1, "a", None, (2.5, True)], z=torch.tensor(1j),
        dtype=torch.float64, shape=torch.Size([2]),
    )  # fmt: skip
    torch.save(value, tmp_path / "held.pt")
    found = torch.load(tmp_path / "held.pt")
    assert torch.equal(found["x"], value["x"])
    assert found["z"].item() == 1j
    assert (found["y"], found["dtype"], found["shape"]) == (value["y"], torch.float64, (2,))
    assert [each.name for each in tmp_path.iterdir()] == ["held.pt"]


def test_leaves_stay_leaves(torch: Any) -> None:
    leaf = through_a_file(torch, torch.ones(2, requires_grad=True))
    parameter = through_a_file(torch, torch.nn.Parameter(torch.ones(2)))
    assert leaf.requires_grad
    assert isinstance(parameter, torch.nn.Parameter)


def test_the_state_of_a_module(torch: Any) -> None:
    layer = torch.nn.Linear(2, 1)
    found = through_a_file(torch, {"model": layer.state_dict(), "step": {"count": 1}})
    other = torch.nn.Linear(2, 1)
    other.load_state_dict(found["model"])
    assert torch.equal(other.weight, layer.weight)
    assert found["step"]["count"] == 1


def test_classes_are_read_only_where_that_is_allowed(torch: Any) -> None:
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        through_a_file(torch, Path("x"))
    assert through_a_file(torch, Path("x"), weights_only=False) == Path("x")


OF_PYTORCH = b"""ctorch._utils
_rebuild_tensor_v2
((S'storage'
ctorch
FloatStorage
S'0'
S'cpu'
I6
tQI1
(I2
I2
t(I1
I2
tI00
ccollections
OrderedDict
)RtR."""


@pytest.mark.parametrize("order", ["little", "big"])
def test_an_archive_of_pytorch(order: str) -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("held/data.pkl", OF_PYTORCH)
        archive.writestr("held/byteorder", order)
        entries = np.arange(6.0, dtype=np.dtype(np.float32).newbyteorder(order[0].upper()))
        archive.writestr("held/data/0", entries.tobytes())
    found = load(held)
    assert str(found.dtype) == "torch.float32"
    assert found.tolist() == [[1.0, 3.0], [2.0, 4.0]]


@pytest.mark.torch
def test_what_pytorch_wrote(tmp_path: Path) -> None:
    pytorch = pytest.importorskip("torch")
    value = {
        "x": pytorch.arange(6).reshape(2, 3).t(),
        "w": pytorch.nn.Parameter(pytorch.ones(2, dtype=pytorch.bfloat16)),
        "k": (pytorch.float64, pytorch.Size([2]), pytorch.tensor(1j)),
    }
    pytorch.save(value, tmp_path / "held.pt")
    found = load(tmp_path / "held.pt")
    assert found["x"].tolist() == value["x"].tolist()
    assert (str(found["w"].dtype), found["w"].requires_grad) == ("torch.bfloat16", True)
    assert (str(found["k"][0]), found["k"][1], found["k"][2].item()) == ("torch.float64", (2,), 1j)


def test_a_file_of_another_library_is_refused() -> None:
    with pytest.raises(pickle.UnpicklingError, match="this is not one"):
        load(io.BytesIO(b"PK\x03\x04"))
