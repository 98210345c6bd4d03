"""Products and factors of matrices. See `op_case`."""

from __future__ import annotations

from op_case import Case

ALGEBRA: list[Case] = [
    # sums with a product
    Case(
        "addmm",
        lambda L, a, b, c: L.addmm(a, b, c, beta=0.5, alpha=2),
        ((3,), (2, 3), (3, 3)),
        numbers="real",
    ),
    Case(
        "baddbmm", lambda L, a, b, c: a.baddbmm(b, c, beta=2), ((2, 2), (2, 2, 3), (2, 3, 2)), numbers="real"
    ),
    # products
    Case("outer", lambda L, a, b: L.outer(a, b), ((2,), (3,))),
    Case("inner", lambda L, a, b: L.inner(a, b), ((2, 3), (2, 3))),
    Case("tensordot", lambda L, a, b: L.tensordot(a, b, ([1, 0], [0, 2])), ((2, 3, 2), (3, 2, 2))),
    Case("einsum", lambda L, a, b: L.einsum("bij,bjk->ik", a, b), ((2, 2, 3), (2, 3, 2))),
    Case("cross", lambda L, a, b: L.linalg.cross(a, b), ((2, 3), (1, 3))),
    Case("matrix_power", lambda L, a: L.matrix_power(a, 5), ((2, 2),)),
    Case(
        "linear", lambda L, a, w, b: L.nn.functional.linear(a, w, b), ((2, 3), (4, 3), (4,)), numbers="real"
    ),
]
