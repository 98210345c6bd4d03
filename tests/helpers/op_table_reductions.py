"""Reductions and statistics. See `op_case`."""

from __future__ import annotations

from math import inf

from op_case import Case

TIES = ([[1.0, 3.0, 3.0], [2.0, 0.5, 2.0]],)

SPREAD = [[1.0, 4.0, -2.0], [0.5, 3.0, 2.5]]  # whose deviations do not cancel out

REDUCTIONS: list[Case] = [
    Case(
        "sum in another dtype",
        lambda L, a: a.sum(0, dtype=L.float64),
        ((2, 3),),
        smooth=False,
        numbers="real",
    ),
    Case("mean keepdim", lambda L, a: a.mean((0, -1), keepdim=True), ((2, 3, 2),)),
    Case("nansum", lambda L, a: a.nansum(1), ((2, 3),), numbers="real"),
    Case("nanmean", lambda L, a: L.nanmean(a, 1, True), ((2, 3),), numbers="real"),
    Case("prod", lambda L, a: a.prod(), ((2, 3),)),
    Case("prod dim", lambda L, a: L.prod(a, -1, keepdim=True), ((2, 3),)),
    Case("amax", lambda L, a: a.amax((0, 1)), TIES, smooth=False, numbers="real"),
    Case("amin", lambda L, a: L.amin(a, 1, keepdim=True), TIES, smooth=False, numbers="real"),
    Case("max", lambda L, a: a.max(), TIES, smooth=False, numbers="real"),
    Case("max dim", lambda L, a: a.max(1)[0], TIES, smooth=False, numbers="real"),
    Case("min", lambda L, a: L.min(a), TIES, smooth=False, numbers="real"),
    Case("min dim", lambda L, a: L.min(a, 0, True).values, TIES, smooth=False, numbers="real"),
    Case("median", lambda L, a: a.median(), TIES, smooth=False, numbers="real"),
    Case("median dim", lambda L, a: a.median(1).values, ((2, 3),), numbers="real"),
    Case("nanmedian", lambda L, a: a.nanmedian(), TIES, smooth=False, numbers="real"),
    Case("nanmedian dim", lambda L, a: a.nanmedian(0, True).values, ((2, 3),), numbers="real"),
    Case("cov", lambda L, a: L.cov(a), ((2, 3),)),
    Case(
        "cov weights",
        lambda L, a, b: a.cov(correction=0, aweights=b),
        (SPREAD, [1.0, 2.0, 1.0]),
        numbers="real",
    ),
    Case("corrcoef", lambda L, a: a.corrcoef()[0], (SPREAD,), numbers="real"),
    Case("var", lambda L, a: a.var(1, correction=0), ((2, 3),)),
    Case("var of all", lambda L, a: a.var(), (SPREAD,)),
    Case("std", lambda L, a: L.std(a, (0, 1)), (SPREAD,)),
    Case("var_mean", lambda L, a: L.var_mean(a, 1, keepdim=True), ((2, 3),)),
    Case("std_mean", lambda L, a: L.std_mean(a), (SPREAD,)),
    Case("logsumexp", lambda L, a: a.logsumexp((0, 1)), ((2, 3),)),
    Case("norm", lambda L, a: a.norm(), ((2, 3),)),
    Case("norm 1", lambda L, a: a.norm(1, 0), ((2, 3),)),
    Case("norm 1.5", lambda L, a: L.norm(a, 1.5, 1), ((2, 3),), same_graph=False),
    Case("norm 3", lambda L, a: L.linalg.vector_norm(a, 3, 1, True), ((2, 3),), same_graph=False),
    Case("norm inf", lambda L, a: L.linalg.vector_norm(a, inf), TIES, smooth=False, numbers="real"),
    Case("dist", lambda L, a, b: L.dist(a, b), ((2, 3), (3,))),
    Case("softmax", lambda L, a: a.softmax(1), ((2, 3),), -2, 3, numbers="real"),
    Case("log_softmax", lambda L, a: L.log_softmax(a, 0), ((2, 3),), numbers="real"),
    Case("trace", lambda L, a: L.trace(a), ((2, 3),)),
]

# No gradient goes through these.
REDUCTIONS_PLAIN: list[Case] = [
    Case("all", lambda L, a: a.all(1), ([[1.0, 0.0], [2.0, 1.0]],)),
    Case("any", lambda L, a: L.any(a, (0, 1), keepdim=True), ([[1.0, 0.0], [2.0, 1.0]],)),
    Case("argmax", lambda L, a: a.argmax(1), TIES),
    Case("argmin", lambda L, a: L.argmin(a, keepdim=True), TIES),
    Case("count_nonzero", lambda L, a: a.count_nonzero(0), ([[1.0, 0.0], [2.0, 1.0]],)),
    Case("bincount", lambda L, a: L.bincount(a.long(), minlength=5), ([1.0, 3.0, 3.0, 0.0],)),
    Case("histc", lambda L, a: a.float().histc(4, -1, 3), TIES),
    Case("histogram", lambda L, a: L.histogram(a.detach().float(), 4).hist, TIES),
]
