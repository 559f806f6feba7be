"""What may be asked of the tensors of transforms, and the older vmap."""

from __future__ import annotations

import importlib

import pytest


@pytest.fixture
def own(torch):
    name = torch.__name__
    return importlib.import_module(f"{name}._C")._functorch


def facts(own, tensor):
    return (
        own.dlevel(tensor),
        own.maybe_get_level(tensor),
        own.maybe_get_bdim(tensor),
        own.is_batchedtensor(tensor),
        own.is_gradtrackingtensor(tensor),
        own.is_functorch_wrapped_tensor(tensor),
        own.is_dead_tensor_wrapper(tensor),
    )


def test_tensors_tell_their_level_and_if_it_was_left(torch, own):
    seen, kept = [], []

    def function(x):
        kept.append(x)
        seen.append((*facts(own, x), own.maybe_current_level()))
        return x.sum()

    x = torch.ones(2, 3)
    torch.func.grad(function)(x)
    torch.vmap(function, in_dims=1)(x)
    torch.vmap(torch.func.grad(function))(x)
    assert seen == [
        (1, 1, -1, False, True, True, False, 1),
        (0, 1, 1, True, False, True, False, 1),
        (2, 2, -1, False, True, True, False, 2),
    ]
    assert facts(own, x) == (0, -1, -1, False, False, False, False)
    assert facts(own, kept[0]) == (-1, -2, -1, False, True, True, True)
    assert repr(kept[0]).startswith("GradTrackingTensor(lvl=-2, value=")
    assert repr(own.unwrap_if_dead(kept[0])) == repr(x)
    assert tuple(own.get_unwrapped(kept[1]).shape) == (2, 3)
    assert own.maybe_current_level() is None
    assert own.get_interpreter_stack() is own.peek_interpreter_stack() is None
    with pytest.raises(RuntimeError, match="No wrappers present!"):
        own.get_unwrapped(x)


def test_a_kept_tensor_stands_for_what_it_held(torch):
    kept = []
    torch.func.grad(lambda x: (kept.append(x), x.sin())[1])(torch.tensor(0.5))
    assert (kept[0] * 2).item() == 1.0


def test_text_shows_the_dimension_that_was_given(torch):
    texts = []
    inner = torch.vmap(lambda x: (texts.append(repr(x)), x)[1])
    torch.vmap(inner, in_dims=1)(torch.ones(2, 3))
    words = texts[0].replace("\n", "").replace("  ", "")
    assert words.startswith(
        "BatchedTensor(lvl=2, bdim=0, value=BatchedTensor(lvl=1, bdim=1, value="
    )
    assert words.count("1., 1., 1.") == 2


@pytest.fixture
def older(torch):
    return importlib.import_module(f"{torch.__name__}._vmap_internals")._vmap


def test_the_older_vmap_passes_none(torch, older):
    x = torch.ones(2, 3)
    doubled, none = older(lambda x: (x * 2, None), allow_none_pass_through=True)(x)
    assert doubled.tolist() == (x * 2).tolist()
    assert none is None
    pair = older(lambda x: (x, x), out_dims=(0, 1))(x)
    assert [tuple(each.shape) for each in pair] == [(2, 3), (3, 2)]


@pytest.mark.parametrize(
    ("function", "out_dims", "message"),
    [
        (lambda x: 3, 0, "must only return Tensors, got type <class 'int'> as the return."),
        (lambda x: (x, 3), 0, "must only return Tensors, got type <class 'int'> for return 1."),
        (lambda x: (x, x), (0,), "`out_dims` must have one dim per output (got 2 outputs) of"),
        (lambda x: x, "a", "`out_dims` must be an int or a tuple of int representing where in the"),
    ],
)
def test_what_the_older_vmap_refuses(torch, older, function, out_dims, message):
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - its message is compared
        older(function, out_dims=out_dims)(torch.ones(2, 3))
    assert message in str(raised.value)
