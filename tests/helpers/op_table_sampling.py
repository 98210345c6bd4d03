"""Other sizes, places of grids, parts and distances. See `op_case`."""

from __future__ import annotations

from typing import Any

from op_case import Case


def sampling(name: str, *inputs: Any, called: str = "", **how: Any) -> Case:
    """A function of `nn.functional` with arguments, those for `Case` among them."""
    case = {key: how.pop(key) for key in ("smooth", "twice", "same_graph", "forward") if key in how}

    def function(L: Any, *t: Any) -> Any:
        return getattr(L.nn.functional, name)(*t, **how)

    return Case(called or name, function, inputs, -2, 2, numbers="real", **case)


GRID = [[[[-0.9, 0.3], [0.41, 0.77]], [[0.11, -1.3], [0.59, 0.02]]]]
NO_TANGENT = {"forward": False, "twice": False}

SAMPLING: list[Case] = [
    sampling("interpolate", (1, 1, 2, 3), size=(3, 4)),
    sampling("interpolate", (1, 2, 3), called="linear 1d", scale_factor=1.7, mode="linear"),
    sampling("interpolate", (1, 1, 2, 3), called="bilinear", size=(3, 5), mode="bilinear",
             align_corners=True),
    sampling("interpolate", (1, 1, 2, 2, 2), called="trilinear", size=(3, 2, 1), mode="trilinear"),
    sampling("adaptive_max_pool2d", (1, 1, 3, 4), output_size=(2, 3), smooth=False),
    sampling("adaptive_max_pool3d", (1, 2, 3, 2), output_size=(1, 2, 2), smooth=False),
    sampling("grid_sample", (1, 2, 3, 4), GRID, align_corners=False, same_graph=False, **NO_TANGENT),
    sampling("affine_grid", (1, 2, 3), size=(1, 1, 2, 3), align_corners=False, same_graph=False),
    Case("cdist 1", lambda L, a, b: L.cdist(a, b, 1), ((2, 2), (2, 3, 2)), -2, 2, numbers="real",
         smooth=False, **NO_TANGENT),
    Case("cdist", lambda L, a, b: L.cdist(a, b, 3), ((2, 2), (3, 2)), -2, 2, numbers="real", **NO_TANGENT),
    Case(
        "cdist by products",
        lambda L, a, b: L.cdist(a, b, compute_mode="use_mm_for_euclid_dist"),
        ((2, 2), (3, 2)),
        -2,
        2,
        numbers="real",
        **NO_TANGENT,
    ),
]  # fmt: skip
