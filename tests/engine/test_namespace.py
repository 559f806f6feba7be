"""The torch namespace apart from operations: limits, settings, legacy constructors, modes."""

from __future__ import annotations

from types import ModuleType

import pytest

import gradtool.engine
from gradtool.engine._placeholder import EngineLacksError


def test_limits_are_those_of_the_dtype(torch: ModuleType) -> None:
    found = torch.finfo(torch.float16)
    assert (found.bits, found.max, found.eps, found.dtype) == (16, 65504.0, 2**-10, "float16")
    assert torch.finfo(torch.complex128).bits == 64
    assert torch.finfo().dtype == "float32"
    assert (torch.iinfo(torch.int8).min, torch.iinfo(torch.int8).max) == (-128, 127)
    with pytest.raises(TypeError, match="finfo"):
        torch.finfo(torch.int64)
    with pytest.raises(TypeError, match="iinfo"):
        torch.iinfo(torch.float32)


def test_devices_of_pytorch_can_be_named_but_hold_no_tensors() -> None:
    engine = gradtool.engine
    meta = engine.device("meta")
    assert (meta.type, str(engine.device("xpu:1"))) == ("meta", "xpu:1")
    with pytest.raises(EngineLacksError, match=r"torch\.device\('meta'\)"):
        engine.zeros(2, device=meta)
    with pytest.raises(EngineLacksError), meta:
        engine.zeros(2)
    with pytest.raises(EngineLacksError):
        engine.zeros(2).to("mps")


def test_functions_methods_and_their_aliases_can_be_keys_of_one_table(torch: ModuleType) -> None:
    keys = (torch.abs, torch.absolute, torch.Tensor.abs, torch.Tensor.absolute)
    assert len({id(each) for each in keys}) == len(set(keys)) == 4
    assert [each.__name__ for each in keys] == ["abs", "absolute"] * 2


def test_tensors_are_made_by_the_old_constructors(torch: ModuleType) -> None:
    assert tuple(torch.Tensor(2, 3).shape) == (2, 3)
    assert tuple(torch.Tensor(4).shape) == (4,)
    assert torch.Tensor([2, 3]).tolist() == [2.0, 3.0]
    assert torch.Tensor().numel() == 0
    assert tuple(torch.Tensor(torch.zeros(1, 2).shape).shape) == (1, 2)
    longs = torch.LongTensor([1, 2])
    assert longs.dtype is torch.int64
    assert isinstance(longs, torch.LongTensor)
    assert not isinstance(longs, torch.FloatTensor)
    assert tuple(torch.DoubleTensor(2, 3).shape) == (2, 3)
    assert tuple(longs.new(3).shape) == (3,)
    assert longs.new([3]).tolist() == [3]


def test_what_is_made_in_inference_mode_is_never_recorded(torch: ModuleType) -> None:
    weight = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        made = weight * 2
        made.add_(1)
        assert torch.is_inference_mode_enabled()
        with torch.inference_mode(False):
            assert not (weight * 2).is_inference()
    assert made.is_inference()
    assert made.tolist() == [3.0, 3.0]
    assert not torch.is_inference_mode_enabled()
    with pytest.raises(RuntimeError, match=r"[Ii]nference tensor"):
        weight * made
    with pytest.raises(RuntimeError, match=r"[Ii]nference tensor"):
        made.requires_grad_()
    assert (weight * made.clone()).requires_grad


def test_inference_mode_decorates(torch: ModuleType) -> None:
    weight = torch.ones(2, requires_grad=True)

    @torch.inference_mode()
    def doubled() -> object:
        return weight * 2

    @torch.inference_mode
    def tripled() -> object:
        return weight * 3

    assert not doubled().requires_grad
    assert tripled().is_inference()
    assert (weight * 2).requires_grad


def test_close_tensors_pass_and_others_are_described(torch: ModuleType) -> None:
    close = torch.testing.assert_close
    x = torch.tensor([1.0, 2.0])
    close(x, x + 1e-6)
    close({"a": [x]}, {"a": [x]})
    close(x, x.double(), check_dtype=False)
    with pytest.raises(AssertionError, match=r"Mismatched elements: 1 / 2 \(50.0%\)"):
        close(x, torch.tensor([1.0, 3.0]))
    for one, other, about in (
        (x, x[:1], "shape"), (x, x.double(), "dtype"), ([x], [x, x], "length"),
    ):  # fmt: skip
        with pytest.raises(AssertionError, match=about):
            close(one, other)
    with pytest.raises(AssertionError, match="mine"):
        close(x, x + 1, msg="mine")
    with pytest.raises(ValueError, match="rtol"):
        close(x, x, rtol=0.1)


def test_tensors_are_made_for_tests(torch: ModuleType) -> None:
    made = torch.testing.make_tensor(
        2, 3, dtype=torch.float64, device="cpu", low=1, high=2, requires_grad=True
    )
    assert tuple(made.shape) == (2, 3)
    assert made.requires_grad
    values = made.detach()
    assert 1 <= float(values.min()) <= float(values.max()) <= 2
    apart = torch.testing.make_tensor((4, 3), dtype=torch.int64, device="cpu", noncontiguous=True)
    assert not apart.is_contiguous()


def test_settings_are_kept(torch: ModuleType) -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(threads)
    assert torch.get_num_threads() == threads
    torch.use_deterministic_algorithms(True)
    assert torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(False)
    torch.set_printoptions(precision=2)
    assert repr(torch.tensor([0.125, 1.5])) == "tensor([0.12, 1.50])"
    torch.set_printoptions(profile="default")
    assert repr(torch.tensor([0.125, 1.5])) == "tensor([0.1250, 1.5000])"
    assert torch.can_cast(torch.int32, torch.float16)
    assert not torch.can_cast(torch.float64, torch.int64)
    assert not torch.can_cast(torch.int64, torch.bool)


def test_tensors_change_their_shape_in_place(torch: ModuleType) -> None:
    x = torch.arange(6.0).reshape(2, 3)
    assert tuple(x.t_().shape) == (3, 2)
    assert tuple(x.unsqueeze_(0).shape) == (1, 3, 2)
    assert tuple(x.squeeze_(0).transpose_(0, 1).shape) == (2, 3)
    assert x.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    with pytest.raises(RuntimeError, match="leaf"):
        torch.ones(2, 1, requires_grad=True).t_()


def test_memory_that_was_freed_shows_until_it_is_filled_again() -> None:
    torch = gradtool.engine  # What reads freed memory ends the process under PyTorch.
    x = torch.arange(3.0)
    x.untyped_storage().resize_(0)
    assert x.isnan().all()
    x.untyped_storage().resize_(x.untyped_storage().nbytes())
    x.copy_(torch.ones(3))
    assert x.tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(RuntimeError, match="cannot resize a storage of 12 elements to 16"):
        x.untyped_storage().resize_(16)


def test_tensors_take_other_memory(torch: ModuleType) -> None:
    x, y = torch.zeros(2), torch.ones(3)
    x.set_(y)
    y[0] = 5
    assert x.tolist() == [5.0, 1.0, 1.0]
    assert x.is_set_to(y)
    assert torch.ones(4).resize_(2, 2).tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert torch.ones(4)[1:].storage_offset() == 1
    assert torch.tensor([1.0, -2.0]).apply_(abs).tolist() == [1.0, 2.0]
    assert torch.is_nonzero(torch.tensor(2))
    with pytest.raises(RuntimeError, match="ambiguous"):
        torch.is_nonzero(y)


def test_drawn_numbers_follow_their_chances(torch: ModuleType) -> None:
    torch.manual_seed(0)
    weights = torch.tensor([0.0, 1.0, 3.0])
    drawn = torch.multinomial(weights, 4000, replacement=True)
    assert set(drawn.tolist()) == {1, 2}
    assert abs(float((drawn == 2).double().mean()) - 0.75) < 0.05
    assert sorted(torch.multinomial(weights, 2).tolist()) == [1, 2]
    assert abs(float(torch.poisson(torch.full((4000,), 2.0)).mean()) - 2) < 0.2
    assert abs(float(torch.zeros(4000).exponential_(4.0).mean()) - 0.25) < 0.05
    with pytest.raises(RuntimeError, match="without replacement"):
        torch.multinomial(weights, 4)
    with pytest.raises(RuntimeError):
        torch.multinomial(-weights, 1)


def test_gradients_are_clipped_and_parameters_laid_end_to_end(torch: ModuleType) -> None:
    utils = torch.nn.utils
    one, other = torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.zeros(1, 1))
    (3 * one.sum() + 4 * other.sum()).backward()
    assert float(utils.clip_grad_norm_([one, other], 1.0)) == pytest.approx(34**0.5)
    assert one.grad.tolist() == pytest.approx([3 / 34**0.5] * 2, rel=1e-5)
    utils.clip_grad_value_([one, other], 0.5)
    assert float(other.grad) == 0.5
    assert utils.parameters_to_vector([one, other]).tolist() == [1.0, 1.0, 0.0]
    utils.vector_to_parameters(torch.tensor([5.0, 6.0, 7.0]), [one, other])
    assert (one.tolist(), other.tolist()) == ([5.0, 6.0], [[7.0]])


def test_names_of_types_and_of_the_generator(torch: ModuleType) -> None:
    torch.random.manual_seed(3)
    assert torch.random.initial_seed() == 3
    assert torch.typename(torch.ones(1)) == "torch.FloatTensor"
    assert not torch.detach(torch.ones(1, requires_grad=True)).requires_grad
