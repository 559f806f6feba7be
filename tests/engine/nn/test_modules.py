"""Modules with the state of torch's compute what torch's do."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gradtool.engine as engine

BUILT: dict[str, tuple[Callable[[Any], Any], tuple[int, ...]]] = {
    "batch norm": (lambda nn: nn.BatchNorm2d(3), (4, 3, 2, 2)),
    "batch norm of rows": (lambda nn: nn.BatchNorm1d(3, momentum=None, affine=False), (4, 3)),
    "convolution": (lambda nn: nn.Conv2d(2, 4, 3, padding=1, groups=2), (1, 2, 4, 4)),
    "convolution around": (lambda nn: nn.Conv1d(2, 3, 3, padding=2, padding_mode="circular"),
                           (1, 2, 5)),
    "transposed convolution": (lambda nn: nn.ConvTranspose1d(2, 3, 2, 2, bias=False), (1, 2, 4)),
    "layer norm": (lambda nn: nn.LayerNorm((3, 4)), (2, 3, 4)),
    "group norm": (lambda nn: nn.GroupNorm(2, 4), (2, 4, 3)),
    "root mean square norm": (lambda nn: nn.RMSNorm(4), (2, 4)),
    "batch norm of volumes": (lambda nn: nn.BatchNorm3d(2), (3, 2, 2, 2, 2)),
    "instance norm": (lambda nn: nn.InstanceNorm2d(3, affine=True), (2, 3, 2, 4)),
    "instance norm of one": (lambda nn: nn.InstanceNorm1d(3), (3, 5)),
    "instance norm, tracked": (lambda nn: nn.InstanceNorm3d(2, track_running_stats=True),
                               (3, 2, 2, 2, 2)),
    "padding": (lambda nn: nn.Sequential(
        nn.ReflectionPad2d(1), nn.ReplicationPad2d((1, 0, 2, 1)), nn.ZeroPad2d((0, 1, 1, 0)),
        nn.ConstantPad2d((1, 1, 0, 2), 0.3), nn.CircularPad2d((1, 1, 0, 1)),
    ), (2, 3, 3, 4)),
    "padding of volumes": (lambda nn: nn.Sequential(nn.ReplicationPad3d(1), nn.ConstantPad3d(1, 2)),
                           (2, 3, 3, 4, 2)),
    "learned slopes": (lambda nn: nn.PReLU(3), (2, 3)),
    "pooling": (lambda nn: nn.Sequential(nn.MaxPool2d(2), nn.AvgPool2d((1, 2)), nn.Flatten()),
                (1, 2, 4, 4)),
    "activations": (lambda nn: nn.Sequential(
        nn.LeakyReLU(0.2), nn.ELU(), nn.GELU("tanh"), nn.Softplus(beta=2), nn.Hardtanh(-1, 0.7),
        nn.Softmax(dim=1), nn.SiLU(), nn.Threshold(0.1, 0.2), nn.LogSigmoid(), nn.Tanh(),
    ), (3, 4)),
}  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("name", BUILT)
def test_computes_what_torchs_does(name: str) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    build, shape = BUILT[name]
    ours, theirs = build(engine.nn).double(), build(torch.nn).double()
    ours.load_state_dict(
        {key: engine.tensor(value.numpy()) for key, value in theirs.state_dict().items()}
    )
    array = np.random.default_rng(0).standard_normal(shape)
    for training in (True, False):
        pair = [
            module.train(training)(t.tensor(array)).detach().numpy()
            for t, module in ((engine, ours), (torch, theirs))
        ]
        np.testing.assert_allclose(*pair, atol=1e-12)
    assert list(ours.state_dict()) == list(theirs.state_dict())


def losses(torch: ModuleType) -> list[Any]:
    nn = torch.nn
    scores = torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(3, 4)
    classes, weight = torch.tensor([1, 0, 3]), torch.linspace(1, 2, 4, dtype=torch.float64)
    chances = torch.sigmoid(scores)
    return [
        nn.CrossEntropyLoss(weight, label_smoothing=0.1)(scores, classes),
        nn.NLLLoss(ignore_index=0)(scores, classes),
        nn.MSELoss(reduction="sum")(scores, chances),
        nn.L1Loss(reduction="none")(scores, chances),
        nn.SmoothL1Loss(beta=0.5)(scores, chances),
        nn.HuberLoss("mean", 0.3)(scores, chances),
        nn.BCELoss()(chances, chances.flip(0)),
        nn.BCEWithLogitsLoss(pos_weight=weight)(scores, chances),
        nn.KLDivLoss(reduction="batchmean", log_target=True)(scores, scores.flip(0)),
        nn.PoissonNLLLoss()(scores, chances),
        nn.GaussianNLLLoss()(scores, chances, chances),
        nn.TripletMarginLoss(p=1)(scores, chances, scores.flip(0)),
        nn.CosineSimilarity(dim=0)(scores, chances),
    ]


@pytest.mark.torch
def test_losses_are_torchs() -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    for ours, theirs in zip(losses(engine), losses(torch), strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), atol=1e-12)


def test_embedding_keeps_its_padding_at_zero(torch: ModuleType) -> None:
    table = torch.nn.Embedding(4, 2, padding_idx=-1)
    assert table.padding_idx == 3
    assert table.weight[3].tolist() == [0.0, 0.0]
    table(torch.tensor([[0, 3]])).sum().backward()
    assert table.weight.grad.tolist() == [[1.0, 1.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    assert repr(table) == "Embedding(4, 2, padding_idx=3)"


def test_dropout_scales_what_it_keeps_in_training_only(torch: ModuleType) -> None:
    torch.manual_seed(0)
    drop, x = torch.nn.Dropout(0.25), torch.ones(4000)
    dropped = drop(x)
    assert sorted(set(dropped.tolist())) == pytest.approx([0.0, 4 / 3])
    assert abs(float(dropped.mean()) - 1) < 0.05
    assert drop.eval()(x).tolist() == x.tolist()
    with pytest.raises(ValueError, match="probability"):
        torch.nn.functional.dropout(x, 1.5)


def test_parameters_are_held_by_position_and_name(torch: ModuleType) -> None:
    nn = torch.nn
    listed = nn.ParameterList([torch.ones(2), nn.Parameter(torch.zeros(1))])
    named = nn.ParameterDict({"a": torch.ones(2)})
    modules = nn.ModuleDict({"first": nn.Linear(1, 1)})
    assert [name for name, _ in listed.named_parameters()] == ["0", "1"]
    assert listed[-1].tolist() == [0.0]
    assert len(listed[:1]) == 1
    assert isinstance(named["a"], nn.Parameter)
    assert list(named.keys()) == ["a"]
    assert "first" in modules
    assert list(modules.state_dict()) == ["first.weight", "first.bias"]


def test_settings_are_checked_and_shown() -> None:
    assert repr(engine.nn.LeakyReLU(0.2)) == "LeakyReLU(negative_slope=0.2)"
    with pytest.raises(TypeError, match="'slope'"):
        engine.nn.LeakyReLU(slope=0.2)
    with pytest.raises(TypeError, match="kernel_size"):
        engine.nn.MaxPool1d()
    with pytest.raises(TypeError, match="at most 1"):
        engine.nn.ReLU(True, True)


def test_modules_are_copied_and_pickled() -> None:
    model = engine.nn.Sequential(engine.nn.Conv1d(1, 2, 2), engine.nn.ReLU())
    x = engine.ones(1, 1, 3)
    for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert again(x).tolist() == model(x).tolist()
