"""Modules that mention optimizers, data loaders or scalers of gradients load."""

from __future__ import annotations

from typing import Any

import pytest

from gradtool.collect.torch_alias.alias import answer_torch_imports
from gradtool.engine._placeholder import EngineLacksError

TRAINING = """
import torch
import torch.nn as nn
import torch.optim
import torch.optim as optim
import torch.utils.data
import torch.utils.data as data
import torch.optim.lr_scheduler as lr_scheduler
from torch import GradScaler
from torch.amp import GradScaler as AmpScaler
from torch.amp.grad_scaler import OptState
from torch.cuda.amp import GradScaler as CudaScaler
from torch.cuda.amp import autocast
from torch.nn import GRU, LSTM, RNN, GRUCell, LSTMCell, RNNCell, Transformer
from torch.nn.modules.rnn import LSTM as Lstm, RNNBase, RNNCellBase, apply_permutation
from torch.nn.modules.transformer import TransformerEncoderLayer, _get_clones
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_sequence
from torch.optim import LBFGS, SGD, Adam, AdamW
from torch.optim.adam import Adam as AlsoAdam
from torch.optim.lr_scheduler import LambdaLR, LRScheduler, ReduceLROnPlateau, StepLR, _LRScheduler
from torch.optim.optimizer import Optimizer, required
from torch.optim.sgd import SGD as Sgd
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset, random_split
from torch.utils.data.dataloader import default_collate
from torch.utils.data.dataset import ConcatDataset, Subset
from torch.utils.data.distributed import DistributedSampler
from torch.utils.data.sampler import BatchSampler, RandomSampler, Sampler

OPTIMIZERS = {"adam": optim.Adam, "sgd": torch.optim.SGD}
RECURRENT = (nn.LSTM, nn.GRU, nn.RNN, nn.RNNBase)


class Sign(Optimizer):
    def __init__(self, params, lr=1e-3):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        return closure


class Warmup(_LRScheduler): pass
class Pairs(Dataset[tuple[torch.Tensor, int]]): pass
class Stream(IterableDataset, list): pass
class Even(Sampler[int]): pass
class Cell(nn.LSTMCell): pass
class Encoder(nn.TransformerEncoder): pass


def train(model: nn.Module, optimizer: optim.Optimizer | None, loader: DataLoader[int],
          schedule: "lr_scheduler.LRScheduler" = None) -> Dataset:
    scaler = torch.amp.GradScaler("cuda")
"""

REMOVED = """
    torch.optim.Adam torch.optim.SGD torch.optim.LBFGS torch.optim.lr_scheduler.StepLR
    torch.utils.data.DataLoader torch.utils.data.TensorDataset torch.utils.data.RandomSampler
    torch.GradScaler torch.amp.GradScaler torch.cuda.amp.GradScaler
""".split()  # noqa: SIM905 - easier to read than a list of ten strings


@pytest.fixture(scope="module")
def module() -> Any:
    namespace: dict[str, Any] = {}
    with answer_torch_imports():
        exec(TRAINING, namespace)
        yield namespace


@pytest.mark.parametrize("name", ["Sign", "Warmup", "Pairs", "Stream", "Even"])
def test_class_derived_from_one_loads_and_cannot_be_instantiated(module: Any, name: str) -> None:
    with pytest.raises(EngineLacksError, match=f"{name} derives from it"):
        module[name]([])


@pytest.mark.parametrize("name", REMOVED)
def test_use_raises_by_name(module: Any, name: str) -> None:
    message = f"(no {name}; see |no optimizers, such as {name}: install PyTorch)"
    with pytest.raises(EngineLacksError, match=f"^gradtool's engine has {message}"):
        eval(name, module)(3)


def test_nothing_is_an_instance_of_one(module: Any) -> None:
    assert not isinstance(module["nn"].Linear(2, 1), module["RECURRENT"])
    assert not isinstance(3, module["Optimizer"])
    assert issubclass(module["Sign"], module["Optimizer"])


def test_a_loop_that_uses_one_raises_its_error(module: Any) -> None:
    with pytest.raises(EngineLacksError, match=r"torch\.amp\.GradScaler"):
        module["train"](None, None, None)
