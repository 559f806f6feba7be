"""The functions of ``nn.functional``, and those of ``special``."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st

from tests.engine.ops.cases.activation import ACTIVATIONS
from tests.engine.ops.cases.case import Arg, Shape, distinct, exactly, nonzero, normal, positive
from tests.engine.ops.drawn.language import (
    BOOL,
    FLOATS,
    WIDE,
    Call,
    Choice,
    Kind,
    Op,
    Pick,
    among,
    by_shape,
    chosen,
    dim,
    each,
    of_one,
    of_several,
    of_two,
    op,
    optional,
    positions,
    typed,
    within,
)

REDUCTION = among("mean", "sum", "none")
CONSTANTS = "PyTorch keeps its constants in single precision"

# ---- activations ----------------------------------------------------------------------------

ROUNDED = {"celu", "hardsigmoid", "hardswish"}
"""Whose constants PyTorch keeps in single precision."""

ACTIVATED: dict[str, Op] = {
    f"nn.functional.{name}": op(
        of_one(distinct, *[st.just(value) for value in args], dtypes=WIDE),
        second_order=name != "hardsigmoid",
        **({"tolerance": 1e-4} if name in ROUNDED else {}),
    )
    for name, args in ACTIVATIONS.items()
} | {
    "nn.functional.gelu": op(of_one(distinct, approximate=among("none", "tanh"), dtypes=WIDE)),
    "nn.functional.relu": op(of_one(distinct, inplace=st.just(False), dtypes=FLOATS)),
    "nn.functional.glu": op(of_one(normal, dim, dtypes=WIDE, least=1)),
    "nn.functional.prelu": op(by_shape(lambda pick, shape: Call((
        distinct(*shape), normal(shape[1] if len(shape) > 1 and pick(BOOL) else 1))))),
    "Tensor.prelu": op(of_one(distinct, dtypes=WIDE, least=2, most=2, smallest=1), lambda t, x: (
        x.prelu(x[0].detach() * 0.1))),
    "nn.functional.normalize": op(of_one(nonzero, dim=dim, p=among(1.0, 2.0, 3.0), dtypes=WIDE)),
}  # fmt: skip

# ---- losses ---------------------------------------------------------------------------------


def _pair(first: Kind, second: Kind, **named: Choice) -> st.SearchStrategy[Call]:
    return of_several(first, second, same=True, reduction=REDUCTION, dtypes=WIDE, **named)


def _signs(*shape: int) -> Arg:
    def draw(rng: Any) -> Any:
        return rng.choice([-1.0, 1.0], shape)

    return Arg(f"signs {shape}", draw)


def _by_class(pick: Pick, shape: Shape) -> Call:
    """Scores of (batch, classes, …) and one class for each; or of (classes,) and one class."""
    classes = pick(among(2, 3, 1))
    scores = (shape[0], classes, *shape[1:]) if shape else (classes,)
    options = chosen(
        pick, shape, {"reduction": REDUCTION, "ignore_index": optional(among(0, -100))}
    )
    return Call((normal(*scores), positions(classes, shape)), (), options)


def _by_share(pick: Pick, shape: Shape) -> Call:
    classes = pick(among(2, 3))
    scores = (shape[0], classes, *shape[1:]) if shape else (classes,)
    options = {"reduction": pick(REDUCTION), "label_smoothing": pick(among(0.0, 0.2))}
    return Call((normal(*scores), within(0.1, 0.9)(*scores)), (), options)


def _rows(*kinds: Kind, last: int = 3, **named: Choice) -> st.SearchStrategy[Call]:
    """Tensors of the same shape, whose last dimension is of this extent."""

    def build(pick: Pick, shape: Shape) -> Call:
        dtype = pick(st.sampled_from(WIDE))
        tensors = [typed(kind(*shape, last), dtype) for kind in kinds]
        return Call(tuple(tensors), (), chosen(pick, shape, named))

    return by_shape(build, most=2, smallest=1)


LOSSES: dict[str, Op] = {
    "nn.functional.mse_loss": op(_pair(normal, normal)),
    "nn.functional.l1_loss": op(_pair(distinct, normal)),
    "nn.functional.smooth_l1_loss": op(_pair(distinct, normal, beta=among(1.0, 0.3))),
    "nn.functional.huber_loss": op(_pair(distinct, normal, delta=among(1.0, 0.3))),
    "nn.functional.kl_div": op(of_several(
        normal, positive, same=True, log_target=BOOL,
        reduction=among("sum", "none", "batchmean"))),
    "nn.functional.poisson_nll_loss": op(_pair(
        positive, within(0.1, 3), log_input=BOOL, full=BOOL)),
    "nn.functional.gaussian_nll_loss": op(of_several(
        normal, normal, positive, same=True, reduction=REDUCTION, full=BOOL)),
    "nn.functional.nll_loss": op(by_shape(_by_class)),
    "nn.functional.cross_entropy": op(by_shape(_by_class) | by_shape(_by_share)),
    "nn.functional.binary_cross_entropy": op(_pair(within(0.2, 0.8), within(0, 1)),
                                             tolerance=1e-3),
    "nn.functional.binary_cross_entropy_with_logits": op(_pair(distinct, within(0, 1))),
    "nn.functional.multilabel_soft_margin_loss": op(_rows(
        normal, within(0, 1), reduction=REDUCTION)),
    "nn.functional.soft_margin_loss": op(_pair(distinct, _signs), lambda t, x, y, **named: (
        t.nn.functional.soft_margin_loss(x, y.detach(), **named))),
    "nn.functional.hinge_embedding_loss": op(_pair(distinct, _signs, margin=among(1.0, 2.0))),
    "nn.functional.margin_ranking_loss": op(of_several(
        distinct, normal, _signs, same=True, most=1, margin=among(0.0, 0.1), reduction=REDUCTION)),
    "nn.functional.triplet_margin_loss": op(_rows(
        normal, normal, normal, swap=BOOL, p=among(2, 1.5), margin=among(1.0, 5.0))),
    "nn.functional.triplet_margin_with_distance_loss": op(_rows(
        normal, normal, normal, swap=BOOL, margin=among(1.0, 5.0))),
    "nn.functional.cosine_embedding_loss": op(by_shape(lambda pick, shape: Call(
        (normal(2, 3), normal(2, 3), exactly([1.0, -1.0])), (),
        {"margin": pick(among(0.0, -0.9)), "reduction": pick(REDUCTION)}), most=0)),
    "nn.functional.cosine_similarity": op(of_several(
        nonzero, nonzero, smallest=1, dim=among(-1, 0))),
    "nn.functional.pairwise_distance": op(_rows(
        normal, normal, p=among(2.0, 1.0, 3), keepdim=BOOL)),
}  # fmt: skip

# ---- normalization and attention ------------------------------------------------------------


def _images(most: int = 2) -> st.SearchStrategy[Shape]:
    """(batch, an even number of channels, …)."""
    tails = st.lists(among(2, 3, 1, 4), min_size=1, max_size=most).map(tuple)
    return st.tuples(among(1, 2), among(2, 4), tails).map(lambda it: (*it[:2], *it[2]))


def _last_normalized(pick: Pick, shape: Shape) -> Call:
    count = pick(st.integers(1, len(shape)))
    tail = shape[len(shape) - count :]
    return Call((normal(*shape), normal(*tail), normal(*tail)), (tail,))


def _by_channel(pick: Pick, _: Shape) -> Call:
    shape = pick(_images())
    return Call((normal(*shape), normal(shape[1]), normal(shape[1])))


def _attention(pick: Pick, _: Shape) -> Call:
    batch, queries, keys, width, values = (pick(among(2, 1, 3)) for _ in range(5))
    return Call(
        (normal(batch, queries, width), normal(batch, keys, width), normal(batch, keys, values)),
        (),
        {"is_causal": pick(BOOL)},
    )


NORMALIZED: dict[str, Op] = {
    "nn.functional.layer_norm": op(by_shape(_last_normalized, least=1, smallest=2), lambda t, x, w,
                                   b, tail: t.nn.functional.layer_norm(x, tail, w, b)),
    "nn.functional.rms_norm": op(by_shape(_last_normalized, least=1, smallest=2), lambda t, x, w, b,
                                 tail: t.nn.functional.rms_norm(x, tail, w * b, eps=0.1)),
    "nn.functional.batch_norm": op(by_shape(_by_channel, most=0), lambda t, x, w, b: (
        t.nn.functional.batch_norm(x, None, None, w, b, training=True, eps=0.1))),
    "nn.functional.group_norm": op(by_shape(_by_channel, most=0), lambda t, x, w, b: (
        t.nn.functional.group_norm(x, 2, w, b, eps=0.1))),
    "nn.functional.instance_norm": op(by_shape(_by_channel, most=0), lambda t, x, w, b: (
        t.nn.functional.instance_norm(x, weight=w, bias=b, eps=0.1))),
    "nn.functional.scaled_dot_product_attention": op(by_shape(_attention, most=0)),
}  # fmt: skip

# ---- images ---------------------------------------------------------------------------------


def _convolved(spatial: int, transposed: bool = False) -> st.SearchStrategy[Call]:
    def build(pick: Pick, _: Shape) -> Call:
        groups, inner, outer = pick(among(1, 2)), pick(among(1, 2)), pick(among(1, 2))
        extents = tuple(pick(among(4, 3, 5)) for _ in range(spatial))
        sizes = tuple(pick(among(2, 1, 3)) for _ in range(spatial))
        batch = (pick(among(1, 2)),) if pick(BOOL) else ()
        rows = groups * inner if transposed else groups * outer
        weight = (rows, outer if transposed else inner, *sizes)
        options = {"stride": pick(among(1, 2)), "padding": pick(among(0, 1)),
                   "dilation": pick(among(1, 2)), "groups": groups}  # fmt: skip
        tensors = (
            normal(*batch, groups * inner, *extents),
            normal(*weight),
            normal(groups * outer),
        )
        return Call(tensors, (), options)

    return by_shape(build, most=0)


def _pooled(
    spatial: int, kind: Kind, mean: bool = False, extents: tuple[int, ...] = (4, 5, 3, 2)
) -> st.SearchStrategy[Call]:
    def build(pick: Pick, _: Shape) -> Call:
        batch = (pick(among(1, 2)),) if pick(BOOL) else ()
        shape = (*batch, 2, *[pick(among(*extents)) for _ in range(spatial)])
        size = pick(among(2, 3))
        options = {"kernel_size": size, "stride": pick(among(None, 1, 2)),
                   "padding": pick(among(0, 1)), "ceil_mode": pick(BOOL)}  # fmt: skip
        options |= {"count_include_pad": pick(BOOL)} if mean else {"dilation": pick(among(1, 2))}
        return Call((kind(*shape),), (), options)

    return by_shape(build, most=0)


def _regions(spatial: int, kind: Kind) -> st.SearchStrategy[Call]:
    def build(pick: Pick, _: Shape) -> Call:
        batch = (pick(among(1, 2)),) if pick(BOOL) else ()
        shape = (*batch, 2, *[pick(among(4, 5, 3, 2, 1)) for _ in range(spatial)])
        sizes = tuple(pick(among(2, 3, 1, 5)) for _ in range(spatial))
        return Call((kind(*shape),), (pick(among(sizes, sizes[0])),))

    return by_shape(build, most=0)


def _padded(pick: Pick, shape: Shape) -> Call:
    mode = pick(among("constant", "reflect", "replicate", "circular"))
    count = pick(st.integers(1, len(shape))) if mode == "constant" else len(shape)
    low = -1 if mode == "constant" else 0
    sides = tuple(pick(st.integers(low, 2)) for _ in range(2 * count))
    lead = () if mode == "constant" else (1, 2)
    return Call((normal(*lead, *shape),), (sides, mode))


def _resized(pick: Pick, _: Shape) -> Call:
    mode = pick(among("nearest", "linear", "bilinear", "bicubic", "trilinear", "area",
                      "nearest-exact"))  # fmt: skip
    spatial = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}.get(
        mode, pick(among(1, 2))
    )
    shape = (1, 2, *[pick(among(3, 2, 4)) for _ in range(spatial)])
    options = {"size": tuple(pick(among(2, 3, 5)) for _ in range(spatial)), "mode": mode}
    if mode.endswith(("linear", "cubic")):
        options["align_corners"] = pick(BOOL)
    return Call((normal(*shape),), (), options)


def _unfolded(pick: Pick, _: Shape) -> Call:
    batch = (pick(among(1, 2)),) if pick(BOOL) else ()
    options = {name: pick(among(*values)) for name, values in (
        ("kernel_size", (2, (1, 2))), ("dilation", (1, 2)), ("padding", (0, 1)), ("stride", (1, 2)),
    )}  # fmt: skip
    return Call((normal(*batch, 2, 4, 3),), (), options)


IMAGES: dict[str, Op] = {
    **{f"nn.functional.conv{n}d": op(_convolved(n), tolerance=1e-10) for n in (1, 2, 3)},
    **{f"nn.functional.conv_transpose{n}d": op(_convolved(n, True), tolerance=1e-10)
       for n in (1, 2, 3)},
    **{f"nn.functional.avg_pool{n}d": op(_pooled(n, normal, True)) for n in (1, 2, 3)},
    **{f"nn.functional.max_pool{n}d": op(_pooled(n, distinct)) for n in (1, 2, 3)},
    **{f"nn.functional.adaptive_avg_pool{n}d": op(_regions(n, normal)) for n in (1, 2, 3)},
    **{f"nn.functional.adaptive_max_pool{n}d": op(
        _regions(n, distinct), lambda t, x, sizes, n=n: getattr(
            t.nn.functional, f"adaptive_max_pool{n}d")(x, sizes, return_indices=True))
       for n in (1, 2, 3)},
    "nn.functional.pad": op(by_shape(_padded, least=1, most=2, smallest=1)),
    "nn.functional.interpolate": op(by_shape(_resized, most=0), tolerance=1e-9),
    "nn.functional.upsample_nearest": op(of_one(normal, st.just((3, 5)), least=4, most=4,
                                                smallest=1)),
    "nn.functional.upsample_bilinear": op(of_one(
        normal, st.just((3, 5)), dtypes=("float64",), least=4, most=4, smallest=1),
        tolerance=1e-9),
    "nn.functional.unfold": op(by_shape(_unfolded, most=0)),
    "nn.functional.fold": op(by_shape(_unfolded, most=0), lambda t, x, **options: (
        t.nn.functional.fold(t.nn.functional.unfold(x, **options), (4, 3), **options))),
    "nn.functional.pixel_shuffle": op(by_shape(lambda pick, shape: Call(
        (normal(*shape, 4, 2, 3),), (2,)), most=2, smallest=1)),
    "nn.functional.pixel_unshuffle": op(by_shape(lambda pick, shape: Call(
        (normal(*shape, 1, 2, 4),), (2,)), most=2, smallest=1)),
}  # fmt: skip

# ---- special --------------------------------------------------------------------------------

SPECIAL: dict[str, Op] = {
    **each("special.entr special.erfcx special.ndtr special.log_ndtr", op(of_one(
        within(0.2, 2), dtypes=WIDE), tolerance=1e-4)),
    **each("special.i0e special.i1 special.i1e", op(of_one(within(0.2, 2), dtypes=WIDE),
                                                    tolerance=1e-4)),
    "special.ndtri": op(of_one(within(0.2, 0.8), dtypes=WIDE), tolerance=1e-4),
    **each("special.bessel_j0 special.bessel_j1 special.bessel_y0 special.bessel_y1 "
           "special.modified_bessel_k0 special.modified_bessel_k1 special.spherical_bessel_j0 "
           "special.scaled_modified_bessel_k0 special.scaled_modified_bessel_k1",
           op(of_one(within(0.2, 2), dtypes=WIDE), tolerance=1e-6)),
    "special.xlog1py": op(of_two(normal, positive, dtypes=WIDE, number=2.5)),
}  # fmt: skip

TABLE: dict[str, Op] = {**ACTIVATED, **LOSSES, **NORMALIZED, **IMAGES, **SPECIAL}
