"""Convolution, pooling and attention. See `op_case`."""

from __future__ import annotations

from typing import Any

from op_case import Case


def sliding(name: str, *inputs: Any, smooth: bool = True, **how: Any) -> Case:
    """A function of `nn.functional` with arguments."""
    return Case(
        name,
        lambda L, *t: getattr(L.nn.functional, name)(*t, **how),
        inputs,
        -2,
        2,
        numbers="real",
        smooth=smooth,
    )


SLIDING: list[Case] = [
    sliding("conv1d", (2, 5), (3, 2, 2), (3,), padding=1, dilation=2),
    sliding("conv2d", (1, 2, 4, 3), (2, 1, 2, 2), (2,), stride=(2, 1), groups=2),
    sliding("conv3d", (1, 3, 2, 3), (2, 1, 2, 2, 1)),
    sliding("conv_transpose1d", (2, 3), (2, 1, 2), (1,), stride=2, padding=1),
    sliding("conv_transpose2d", (1, 2, 2, 2), (2, 1, 2, 2), stride=2, output_padding=1),
    sliding("conv_transpose3d", (1, 2, 2, 1), (1, 1, 2, 2, 2)),
    sliding("max_pool1d", (2, 5), kernel_size=2, smooth=False),
    sliding("max_pool2d", (1, 1, 3, 4), kernel_size=2, stride=1, padding=1, smooth=False),
    sliding("max_pool3d", (1, 2, 3, 2), kernel_size=2, ceil_mode=True, smooth=False),
    sliding("avg_pool1d", (2, 5), kernel_size=2),
    sliding("avg_pool2d", (1, 1, 3, 4), kernel_size=2, padding=1, count_include_pad=False),
    sliding("avg_pool3d", (1, 2, 3, 2), kernel_size=2, stride=1),
    sliding("adaptive_avg_pool1d", (2, 5), output_size=3),
    sliding("adaptive_avg_pool2d", (1, 3, 4), output_size=(2, 3)),
    sliding("adaptive_avg_pool3d", (1, 2, 3, 2), output_size=(1, 2, 2)),
    sliding("scaled_dot_product_attention", (2, 3, 2), (2, 3, 2), (2, 3, 2), is_causal=True),
]
