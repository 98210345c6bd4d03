"""Images and volumes sampled at the points of a grid (see `grid_taps`), and affine grids.

Every derivative is made of two ops, `grid_seen` and its transpose `grid_spread`. Their `orders` say how often
they are derived with respect to each coordinate, so there is a derivative of any order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, differentiable
from ..core.dtypes import of
from .convolution import given
from .grid_taps import seen_at, spread_at
from .half_precision import not_implemented, wide

# ── derivatives, by ops
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def derived(orders: Any, j: int) -> Any:
    """`orders` with one derivative more by coordinate `j`."""
    return (*orders[:j], orders[j] + 1, *orders[j + 1 :])


def of_grid(g: Any, x: Any, grid: Any, orders: Any, *how: Any) -> Any:
    """What comes back to the grid from the sums of `x`: for each coordinate the sum over the channels."""
    parts = [
        F.sum_dim(g * F.grid_seen(x, grid, derived(orders, j), *how), (1,), False) for j in range(len(orders))
    ]
    return F.stack(parts, -1)


def seen_vjp(g, input, grid, orders, interpolation_mode, padding_mode, align_corners):
    """What comes back to the grid of `grid_seen`."""
    return of_grid(g, input, grid, orders, interpolation_mode, padding_mode, align_corners)


def spread_vjp(g, grad_output, grid, orders, interpolation_mode, padding_mode, align_corners):
    """What comes back to the grid of `grid_spread`."""
    return of_grid(grad_output, g, grid, orders, interpolation_mode, padding_mode, align_corners)


@differentiable(
    input=lambda g, input_sym_sizes, grid, orders, interpolation_mode, padding_mode, align_corners: (
        F.grid_spread(g, grid, orders, input_sym_sizes[2:], interpolation_mode, padding_mode, align_corners)
    ),
    grid=seen_vjp,
)
def grid_seen(input, grid, orders, interpolation_mode, padding_mode, align_corners):
    """Return the sums at the places of a grid, derived by the coordinates as often as `orders` says."""
    return seen_at(input, grid, orders, interpolation_mode, padding_mode, align_corners)


@differentiable(
    grad_output=lambda g, grid, orders, interpolation_mode, padding_mode, align_corners: F.grid_seen(
        g, grid, orders, interpolation_mode, padding_mode, align_corners
    ),
    grid=spread_vjp,
)
def grid_spread(grad_output, grid, orders, size, interpolation_mode, padding_mode, align_corners):
    """Return the transpose of `grid_seen`."""
    return spread_at(grad_output, grid, orders, size, interpolation_mode, padding_mode, align_corners)


# ── the ops
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def check(x: Any, grid: Any, k: int, interpolation_mode: int) -> None:
    """PyTorch's errors for shapes and dtypes that do not go together."""
    if len(x) != len(grid):
        raise RuntimeError(
            "grid_sampler(): expected grid and input to have same batch size, but got input with sizes "
            f"{list(x.shape)} and grid with sizes {list(grid.shape)}"
        )
    if grid.shape[-1] != x.ndim - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {x.ndim - 2} in last dimension, but got grid with "
            f"sizes {list(grid.shape)}"
        )
    for i in range(2, x.ndim):
        if not x.shape[i]:
            raise RuntimeError(
                "grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes "
                f"{list(x.shape)} with dimension {i} being empty"
            )
    if x.ndim != k + 2 or grid.ndim != x.ndim:
        raise RuntimeError(
            f"grid_sampler(): expected {k + 2}D input and grid with same number of dimensions, but got input "
            f"with sizes {list(x.shape)} and grid with sizes {list(grid.shape)}"
        )
    if x.dtype.kind != "f":
        raise not_implemented("grid_sampler_2d_cpu_kernel_impl" if k == 2 else "grid_sampler3d_cpu", of(x))
    if x.dtype != grid.dtype:
        raise RuntimeError(f"expected scalar type {of(x).title} but found {of(grid).title}")


def one_gradient(k: int, which: int) -> Any:
    """Return the vjp of input or grid: both gradients come from one op."""
    mask = (which == 0, which == 1)

    def vjp(g, input, grid, interpolation_mode, padding_mode, align_corners):
        how = (interpolation_mode, padding_mode, align_corners, mask)
        return getattr(F, f"grid_sampler_{k}d_backward")(g, input, grid, *how)[which]

    return vjp


def by_coordinate(grid_bar: Any, j: int) -> Any:
    """Coordinate `j` of a gradient of the grid, for all channels."""
    return F.unsqueeze(F.select(grid_bar, -1, j), 1)


def twice_grad_output(grads, input, grid, interpolation_mode, padding_mode, align_corners):
    """What comes back to ȳ."""
    how = (interpolation_mode, padding_mode, align_corners)
    none = (0,) * (len(input.shape) - 2)
    terms = [F.grid_seen(grads[0], grid, none, *how)] if given(grads[0]) else []
    if given(grads[1]):
        terms += [
            by_coordinate(grads[1], j) * F.grid_seen(input, grid, derived(none, j), *how)
            for j in range(len(none))
        ]
    return total(terms)


def twice_input(grads, grad_output, input_sym_sizes, grid, interpolation_mode, padding_mode, align_corners):
    """What comes back to x, from the gradient of the grid."""
    if not given(grads[1]):
        return None
    how = (interpolation_mode, padding_mode, align_corners)
    none = (0,) * (len(input_sym_sizes) - 2)
    return total(
        F.grid_spread(
            grad_output * by_coordinate(grads[1], j), grid, derived(none, j), input_sym_sizes[2:], *how
        )
        for j in range(len(none))
    )


def twice_grid(grads, grad_output, input, grid, interpolation_mode, padding_mode, align_corners):
    """What comes back to the grid."""
    how = (interpolation_mode, padding_mode, align_corners)
    none = (0,) * (len(input.shape) - 2)
    terms = [of_grid(grad_output, grads[0], grid, none, *how)] if given(grads[0]) else []
    if given(grads[1]):
        terms += [
            of_grid(grad_output * by_coordinate(grads[1], j), input, grid, derived(none, j), *how)
            for j in range(len(none))
        ]
    return total(terms)


def total(terms: Any) -> Any:
    """Return the sum."""
    found = None
    for term in terms:
        found = term if found is None else found + term
    return found


def gradients(g: Any, x: Any, grid: Any, how: Any, output_mask: Any) -> tuple[Any, Any]:
    """Return the kernel of both gradients: nothing instead of what is not asked for."""
    none = (0,) * (x.ndim - 2)
    of_x = of_places = np.empty(0, g.dtype)
    if output_mask[0]:
        of_x = spread_at(g, grid, none, x.shape[2:], *how)
    if output_mask[1]:
        parts = [np.add.reduce(g * seen_at(x, grid, derived(none, j), *how), 1) for j in range(len(none))]
        of_places = np.stack(parts, -1)
    return of_x, of_places


def declare(k: int) -> None:
    """Declare sampling of `k` dimensions, and its gradients."""
    title, node = f"grid_sampler_{k}d", f"GridSampler{k}DBackward"

    @differentiable(name=title, input=one_gradient(k, 0), grid=one_gradient(k, 1), node=node + "0")
    def forward(input, grid, interpolation_mode, padding_mode, align_corners):
        """Return the input at the places of a grid, whose coordinates go from -1 to 1, x first.

        `input` is (N, C, …) and `grid` (N, …, k); `interpolation_mode` is 0 for bilinear and 1 for nearest,
        `padding_mode` 0 for zeros, 1 for the border and 2 for reflection.
        """
        check(input, grid, k, interpolation_mode)
        return seen_at(input, grid, (0,) * k, interpolation_mode, padding_mode, align_corners)

    @differentiable(
        name=title + "_backward",
        grad_output=twice_grad_output,
        input=twice_input,
        grid=twice_grid,
        several=True,
        node=node + "Backward0",
    )
    def backward(grad_output, input, grid, interpolation_mode, padding_mode, align_corners, output_mask):
        """Return the gradients of input and grid, those that `output_mask` asks for."""
        how = (interpolation_mode, padding_mode, align_corners)
        return gradients(grad_output, input, grid, how, output_mask)


declare(2)
declare(3)


def base(size: Any, align_corners: bool, dtype: Any) -> Any:
    """The places of all elements of a picture from -1 to 1, x first, and a 1: (places, dimensions + 1)."""
    lines = []
    for n in size:
        line = np.linspace(-1, 1, n) if n > 1 else np.zeros(n)
        lines.append(line if align_corners or n <= 1 else line * (n - 1) / n)
    places = np.meshgrid(*lines, indexing="ij")[::-1]
    return np.stack([*(p.ravel() for p in places), np.ones(places[0].size)], -1).astype(dtype)


@wide
def moved(theta: Any, size: Any, align_corners: bool) -> Any:
    """Return the kernel of `affine_grid_generator`."""
    grid = base(size[2:], align_corners, theta.dtype) @ np.swapaxes(theta, 1, 2)
    return grid.reshape((size[0], *size[2:], len(size) - 2))


@differentiable(
    theta=lambda g, size, align_corners: F.affine_grid_generator_backward(g, size, align_corners), linear=True
)
def affine_grid_generator(theta, size, align_corners):
    """Return the places (N, …, dimensions) to which affine maps `theta` (N, dimensions, dimensions + 1) move
    those of a picture of `size` (N, C, …), whose coordinates go from -1 to 1.
    """
    if len(size) not in (4, 5):
        raise RuntimeError("AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs.")
    if tuple(theta.shape[::2]) != (size[0], len(size) - 1):
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{size[0]}, {len(size) - 1}] "
            f"but got: [{theta.shape[0]}, {theta.shape[-1]}]."
        )
    return moved(theta, tuple(size), align_corners)


@wide
def gathered(grad: Any, size: Any, align_corners: bool) -> Any:
    """Return the kernel of the gradient."""
    k = len(size) - 2
    places = base(size[2:], align_corners, grad.dtype)
    return np.swapaxes(grad.reshape((size[0], len(places), k)), 1, 2) @ places


@differentiable(
    grad=lambda g, size, align_corners: F.affine_grid_generator(g, size, align_corners), linear=True
)
def affine_grid_generator_backward(grad, size, align_corners):
    """Return the gradient of the maps of `affine_grid_generator`."""
    return gathered(grad, size, align_corners)
