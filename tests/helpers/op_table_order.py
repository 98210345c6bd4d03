"""Running sums, order, rearrangements, padding and copies of views. See `op_case`."""

from __future__ import annotations

from op_case import Case

ORDER: list[Case] = [
    # running sums, products and extremes
    Case("cumsum", lambda L, a: L.cumsum(a, 1), ((2, 3),)),
    Case("cumprod", lambda L, a: a.cumprod(-1), ((2, 3),)),
    Case("cummax", lambda L, a: a.cummax(0)[0], ([1.0, 3.0, 2.0, 3.0],), smooth=False, numbers="real"),
    Case("cummin", lambda L, a: L.cummin(a, 1).values, ((2, 4),), numbers="real"),
    Case("diff", lambda L, a, b: L.diff(a, 2, prepend=b), ((2, 3), (2, 1))),
    # order
    Case("sort", lambda L, a: L.sort(a, 1, descending=True).values, ((2, 4),), numbers="real"),
    Case(
        "sort stable", lambda L, a: a.sort(stable=True)[0], ([2.0, 1.0, 2.0],), smooth=False, numbers="real"
    ),
    Case("topk", lambda L, a: a.topk(2, largest=False).values, ((2, 4),), numbers="real"),
    # rearranged
    Case("flip", lambda L, a: a.flip(0, -1), ((2, 3),)),
    Case("fliplr", lambda L, a: L.fliplr(a), ((2, 3),)),
    Case("flipud", lambda L, a: a.flipud(), ((2, 3),)),
    Case("roll", lambda L, a: a.roll((1, -1), (0, 1)), ((2, 3),)),
    Case("roll all", lambda L, a: L.roll(a, 2), ((2, 3),)),
    Case("rot90", lambda L, a: L.rot90(a, 1, (0, 2)), ((2, 2, 3),)),
    Case("repeat", lambda L, a: a.repeat(2, 1, 3), ((2, 3),)),
    Case("tile", lambda L, a: L.tile(a, (2,)), ((2, 3),)),
    Case("repeat_interleave", lambda L, a: a.repeat_interleave(2, 1), ((2, 3),)),
    Case("repeat_interleave each", lambda L, a: a.repeat_interleave(L.tensor([1, 0, 2])), ((3,),)),
    Case("tril", lambda L, a: L.tril(a, -1), ((3, 4),)),
    Case("triu", lambda L, a: a.triu(), ((2, 3, 3),)),
    Case("diag", lambda L, a: L.diag(a, 1), ((3,),)),
    Case("diag of a matrix", lambda L, a: a.diag(-1), ((3, 3),)),
    Case("diagflat", lambda L, a: a.diagflat(), ((2, 2),)),
    Case("hstack", lambda L, a, b: L.hstack((a, b)), ((2, 3), (2, 1))),
    Case("vstack", lambda L, a, b: L.vstack((a, b)), ((3,), (2, 3))),
    Case("dstack", lambda L, a, b: L.dstack((a, b)), ((3,), (3,))),
    Case("column_stack", lambda L, a, b: L.column_stack((a, b)), ((3,), (3, 2))),
    Case("block_diag", lambda L, a, b, c: L.block_diag(a, b, c), ((2, 3), (2,), ())),
    Case("cartesian_prod", lambda L, a, b: L.cartesian_prod(a, b), ((3,), (2,))),
    Case("combinations", lambda L, a: L.combinations(a), ((4,),)),
    Case("sum_to_size", lambda L, a: a.sum_to_size(2, 1), ((4, 2, 3),)),
    Case("pixel_shuffle", lambda L, a: L.nn.functional.pixel_shuffle(a, 2), ((1, 4, 2, 1),)),
    Case("pixel_unshuffle", lambda L, a: L.nn.functional.pixel_unshuffle(a, 2), ((1, 1, 4, 2),)),
    # borders
    Case("pad", lambda L, a: L.nn.functional.pad(a, (1, 2, -1, 0), value=0.5), ((3, 2),)),
    Case("pad reflect", lambda L, a: L.nn.functional.pad(a, (2, 1), "reflect"), ((2, 3),)),
    Case("pad reflect 2d", lambda L, a: L.nn.functional.pad(a, (1, 0, 0, 1), "reflect"), ((1, 2, 3),)),
    Case("pad replicate", lambda L, a: L.nn.functional.pad(a, (2, -1, 0, 1), "replicate"), ((1, 2, 3),)),
    Case("pad reflect 3d", lambda L, a: L.nn.functional.pad(a, (1, 0) * 3, "reflect"), ((1, 2, 2, 2),)),
    Case("pad replicate 1d", lambda L, a: L.nn.functional.pad(a, (2, 1), "replicate"), ((2, 3),)),
    Case("pad replicate 3d", lambda L, a: L.nn.functional.pad(a, (1, 0) * 3, "replicate"), ((1, 1, 2, 2),)),
    # copies of views
]
