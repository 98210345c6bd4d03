"""Ops of two and three operands, comparisons and casts. See `op_case`."""

from __future__ import annotations

from op_case import Case

ROW, BLOCK, NUMBER = (3,), (2, 3), ()
TIES = ([1.0, 2.0, -1.5, 0.5], [1.0, 0.5, -1.5, 2.0])
SIGNS = ([-2.5, -0.75, 1.25, 2.5], [0.6, -0.7, 0.8, -0.9])

BINARY: list[Case] = [
    # bounds
    Case("clamp", lambda L, a: a.clamp(0.7, 1.4), (BLOCK,), numbers="real"),
    Case("clamp to tensors", lambda L, a, b, c: L.clamp(a, b, c), (BLOCK, ROW, ROW), numbers="real"),
    Case("clamp to min", lambda L, a, b: a.clamp(b), (ROW, BLOCK), numbers="real"),
    Case("clamp to max", lambda L, a, b: L.clip(a, max=b), (BLOCK, ROW), numbers="real"),
    Case("clamp_min", lambda L, a: L.clamp_min(a, 1.0), (BLOCK,), numbers="real"),
    Case("clamp_max tensor", lambda L, a, b: L.clamp_max(a, b), (BLOCK, ROW), numbers="real"),
    Case("clamp_min tensor", lambda L, a, b: L.clamp_min(a, b), (BLOCK, ROW), numbers="real"),
    Case("clamp_max", lambda L, a: L.clamp_max(a, 1.0), (BLOCK,), numbers="real"),
    Case("maximum", lambda L, a, b: L.maximum(a, b), TIES, smooth=False, numbers="real"),
    Case("minimum", lambda L, a, b: a.minimum(b), TIES, smooth=False, numbers="real"),
    Case("fmax", lambda L, a, b: L.fmax(a, b), TIES, smooth=False, numbers="real"),
    Case("fmin", lambda L, a, b: a.fmin(b), TIES, smooth=False, numbers="real"),
    # division
    Case("div floor", lambda L, a, b: L.div(a, b, rounding_mode="floor"), SIGNS, numbers="real"),
    Case("div trunc", lambda L, a: a.div(0.7, rounding_mode="trunc"), SIGNS[:1], numbers="real"),
    Case("fmod", lambda L, a, b: L.fmod(a, b), SIGNS, numbers="real"),
    Case("fmod number", lambda L, a: a.fmod(0.8), SIGNS[:1], numbers="real"),
    Case("remainder", lambda L, a, b: a % b, SIGNS, numbers="real"),
    Case("remainder number", lambda L, a: a % -0.8, SIGNS[:1], numbers="real"),
    # sums
    Case("addcmul", lambda L, a, b, c: L.addcmul(a, b, c, value=0.5), (ROW, BLOCK, NUMBER)),
    Case("addcdiv", lambda L, a, b, c: a.addcdiv(b, c, value=2), (BLOCK, ROW, ROW)),
    Case("lerp", lambda L, a, b: L.lerp(a, b, 0.75), (BLOCK, ROW)),
    Case("lerp tensor", lambda L, a, b, c: a.lerp(b, c), (BLOCK, ROW, ROW), low=0.1, high=0.9),
    # functions
    Case("atan2", lambda L, a, b: L.atan2(a, b), SIGNS, numbers="real"),
    # reflected
    Case("tensor rdiv", lambda L, a, b: a.__rtruediv__(b), (BLOCK, ROW)),
    Case("tensor rmod", lambda L, a, b: b.__rmod__(a), SIGNS, numbers="real"),
    # casts
    Case("to copy", lambda L, a: a.to(a.dtype, copy=True) * 2, (ROW,)),
    Case("type_as", lambda L, a, b: a.type_as(b) * b, (ROW, ROW)),
]
