"""Code 9: two paths that meet in a product."""

from __future__ import annotations

import minigrad

from ..answers import same

HINTS = {
    "right": (
        "Right: 24 comes through y and 9 through w, and what meets at x is added.",
        "맞습니다. y를 거쳐 24, w를 거쳐 9가 오고, x에서 만나면 더해집니다.",
    ),
    "through_y": (
        "That is what comes through y. Something comes through w as well.",
        "그것은 y를 거쳐 오는 변화도입니다. w를 거쳐서도 옵니다.",
    ),
    "through_w": (
        "That is what comes through w. Something comes through y as well.",
        "그것은 w를 거쳐 오는 변화도입니다. y를 거쳐서도 옵니다.",
    ),
    "multiplied": (
        "You multiplied the two paths. Along a path one multiplies, but paths that meet are added.",
        "두 경로를 곱했습니다. 한 경로를 따라서는 곱하지만, 만나는 경로끼리는 더합니다.",
    ),
    "half_way": (
        "That has the derivatives of y and w by x. Each has still to be multiplied by how z changes with it.",
        "y와 w를 x로 미분한 값까지는 있습니다. 각각에 z를 y로, z를 w로 미분한 값을 곱해야 합니다.",
    ),
    "value": (
        "That is the value of z. Asked for is its gradient with respect to x.",
        "그것은 z의 값입니다. 묻는 것은 x에 대한 z의 변화도입니다.",
    ),
    "other": (
        "Not that. One path: how z changes with y, times how y changes with x. The same through w. Then add.",
        "아닙니다. 한 경로는 z를 y로 미분한 값에 y를 x로 미분한 값을 곱한 것입니다. w를 거치는 경로도 "
        "같습니다. 그리고 더합니다.",
    ),
}


def run() -> tuple[float, dict[str, tuple[float, float]]]:
    """x.grad, and for y and w how z changes with it and how it changes with x."""
    x = minigrad.tensor(3.0, requires_grad=True)
    y, w = x**2, x + 1
    z = y * w
    parts = {}
    for name, middle in (("y", y), ("w", w)):
        (outer,) = minigrad.autograd.grad(z, middle, retain_graph=True)
        (inner,) = minigrad.autograd.grad(middle, x, retain_graph=True)
        parts[name] = (outer.item(), inner.item())
    z.backward()
    return x.grad.item(), parts


def two_paths(answer: object) -> str:
    """x.grad, where the paths through y and w meet."""
    truth, parts = run()
    (dz_dy, dy_dx), (dz_dw, dw_dx) = parts["y"], parts["w"]
    through_y, through_w = dz_dy * dy_dx, dz_dw * dw_dx
    value = dz_dw * dz_dy  # z is y · w, so the one is y and the other w
    for number, verdict in (
        (truth, "right"),
        (through_y, "through_y"),
        (through_w, "through_w"),
        (through_y * through_w, "multiplied"),
        (dy_dx + dw_dx, "half_way"),
        (dy_dx * dw_dx, "half_way"),
        (value, "value"),
    ):
        if same(answer, number):
            return verdict
    return "other"


EXERCISES = {"": two_paths}
