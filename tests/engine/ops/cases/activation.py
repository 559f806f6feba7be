"""Activations and normalizations of ``nn.functional``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.engine.ops.cases.case import (
    OpCase,
    distinct,
    exactly,
    integers,
    mask,
    normal,
    over,
    strided,
)

ACTIVATIONS: dict[str, tuple[Any, ...]] = {
    "celu": (1.3,), "elu": (0.7,), "gelu": (), "hardshrink": (), "hardsigmoid": (),
    "hardswish": (), "hardtanh": (-0.6, 0.9), "leaky_relu": (0.2,), "logsigmoid": (), "mish": (),
    "relu": (), "relu6": (), "rrelu": (), "selu": (), "silu": (), "softplus": (2.0, 1.5),
    "softshrink": (), "softsign": (), "tanhshrink": (), "threshold": (0.3, 7.0),
}  # fmt: skip
"""Name -> what follows the input."""

IN_PLACE = [
    "celu", "elu", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu", "mish", "relu", "relu6",
    "selu", "silu",
]  # fmt: skip

FLAT_BEYOND_BOUNDS = exactly([-8.0, -3.0, -1.0, 1.0, 6.0, 30.0])


def of(name: str, *args: Any, **named: Any) -> Callable[..., Any]:
    """The function of ``nn.functional``, with what follows its tensors."""
    return lambda t, *tensors: getattr(t.nn.functional, name)(*tensors, *args, **named)


def _normalized(name: str, call: Callable[..., Any], *choices: Any) -> list[OpCase]:
    return over(name, lambda t, *tensors: call(t.nn.functional, *tensors), choices)


IMAGES = normal(2, 4, 3)

SINGLE_PRECISION = 1e-7
"""The tolerance where PyTorch keeps a sixth, or another constant, in single precision."""

ROUNDED = ("celu", "hardsigmoid", "hardswish")


def _activation(name: str, call: Callable[..., Any], *choices: Any, **options: Any) -> list[OpCase]:
    """Twice differentiable, but for where PyTorch is not."""
    return over(
        f"{name}", call, choices, tolerance=SINGLE_PRECISION if name in ROUNDED else 1e-12,
        second_order=name != "hardsigmoid", **options,
    )  # fmt: skip


CASES: list[OpCase] = [
    *[
        case for name, args in ACTIVATIONS.items()
        for case in _activation(name, of(name, *args), (distinct(4, 5),),
                                (strided(distinct(2, 3)),), (distinct(0),))
    ],
    *[
        OpCase(f"{name} in place",
               lambda t, x, name=name: getattr(t.nn.functional, name)(x.clone(), inplace=True),
               (distinct(3, 4),), second_order=name != "hardsigmoid", tolerance=SINGLE_PRECISION)
        for name in IN_PLACE
    ],
    OpCase("gelu by tanh", of("gelu", approximate="tanh"), (distinct(3, 4),)),
    *[OpCase(f"{name} at bounds", of(name), (FLAT_BEYOND_BOUNDS,), second_order=False,
             tolerance=SINGLE_PRECISION)
      for name in ("hardtanh", "relu6", "hardsigmoid", "softplus", "logsigmoid", "softshrink")],
    *over("prelu", of("prelu"), [
        (distinct(2, 3, 2), normal(3)), (distinct(4), normal(1)), (distinct(2, 3), normal(1)),
    ]),
    *over("softmin", lambda t, x: (t.nn.functional.softmin(x, 0), t.nn.functional.softmax(x, -1),
                                   t.nn.functional.log_softmax(x, dim=0)), [(normal(3, 4),)]),
    *over("glu", lambda t, x: (t.nn.functional.glu(x), t.nn.functional.glu(x, 0)), [
        (normal(2, 4),), (strided(normal(4, 2, 2)),),
    ]),
    *_normalized("normalize", lambda F, x: (F.normalize(x), F.normalize(x, 1.0, 0),
                                            F.normalize(x, 3, -1)),
                 (distinct(3, 4),), (distinct(2, 3, 2),)),
    *_normalized("layer_norm", lambda F, x, w, b: (
        F.layer_norm(x, (4, 3), w, b), F.layer_norm(x, (3,)), F.layer_norm(x, [4, 3], w, None, 0.1),
    ), (IMAGES, normal(4, 3), normal(4, 3))),
    *_normalized("rms_norm", lambda F, x, w: (
        F.rms_norm(x, (3,), w), F.rms_norm(x, (4, 3), eps=0.1),
    ),                  (IMAGES, normal(3))),
    *_normalized("batch_norm", lambda F, x, w, b: (
        F.batch_norm(x, None, None, w, b, training=True),
        F.batch_norm(x, None, None, training=True),
    ), (IMAGES, normal(4), normal(4)), (normal(5, 3), normal(3), normal(3))),
    *_normalized("batch_norm by running statistics", lambda F, x, m, v, w: (
        F.batch_norm(x, m.double(), v.double(), w, eps=0.1)
    ), (IMAGES, integers(-2, 3, 4), integers(1, 4, 4), normal(4))),
    *_normalized("group_norm", lambda F, x, w, b: (F.group_norm(x, 2, w, b), F.group_norm(x, 4)),
                 (IMAGES, normal(4), normal(4))),
    *_normalized("instance_norm", lambda F, x, w, b: (
        F.instance_norm(x, weight=w, bias=b), F.instance_norm(x, eps=0.1),
    ), (IMAGES, normal(4), normal(4))),
    *over("scaled_dot_product_attention", lambda t, q, k, v, m, seen: (
        t.nn.functional.scaled_dot_product_attention(q, k, v),
        t.nn.functional.scaled_dot_product_attention(q, k, v, m, scale=0.3),
        t.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True),
        t.nn.functional.scaled_dot_product_attention(q, k, v, seen),
    ), [(normal(2, 2, 2), normal(2, 3, 2), normal(2, 3, 1), normal(2, 3), mask(2, 3))]),
]  # fmt: skip
