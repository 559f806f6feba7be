"""Images looked up at places, and the places of affine maps."""

from __future__ import annotations

from tests.engine.ops.cases.case import Shape, normal
from tests.engine.ops.drawn.language import BOOL, Call, Op, Pick, among, by_shape, op, within

places = within(-1.5, 1.5)


def _sampled(pick: Pick, _: Shape) -> Call:
    spatial = pick(among(2, 3))
    modes = ("bilinear", "nearest", "bicubic")[: 5 - spatial]
    options = {
        "mode": pick(among(*modes)),
        "padding_mode": pick(among("zeros", "border", "reflection")),
        "align_corners": pick(BOOL),
    }
    batch, count = pick(among(1, 2)), pick(among(2, 3, 1))
    extents = [pick(among(3, 2, 4)) for _ in range(spatial)]
    grid = places(batch, *[count] * spatial, spatial)
    return Call((normal(batch, 2, *extents), grid), (), options)


def _mapped(pick: Pick, _: Shape) -> Call:
    spatial, batch = pick(among(2, 3)), pick(among(1, 2))
    size = (batch, 1, *[pick(among(3, 2, 4)) for _ in range(spatial)])
    return Call((normal(batch, spatial, spatial + 1),), (size, pick(BOOL)))


TABLE: dict[str, Op] = {
    "nn.functional.grid_sample": op(
        by_shape(_sampled, most=0),
        second_order=False,
        not_pushed="PyTorch has no forward mode of it",
        tolerance=1e-10,
    ),
    "nn.functional.affine_grid": op(by_shape(_mapped, most=0), tolerance=1e-10),
}
