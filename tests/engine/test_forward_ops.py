"""Forward mode of every op, over the table of ops: against PyTorch's, against the transposed vjp, and against
double backward.
"""

from __future__ import annotations

import numpy as np
import pytest
from op_case import results_of
from op_table import CASES, Case
from twins import assert_same_tensor, dialect, dtype_of, graph, numbers, pad

import minigrad
from minigrad.core import forward
from minigrad.core import forward as jvps

# PyTorch compiles its own formulas when the first dual tensor is made.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),  # T of a vector, complex numbers made real
]


def ways(case: Case) -> list[tuple[int, ...]]:
    """Which inputs are dual: all of them, and each alone."""
    n = len(case.inputs)
    return [tuple(range(n)), *((i,) for i in range(n) if n > 1)]


TRIED = [
    (case, dtype)
    for dtype in ("float64", "complex128")
    for case in CASES
    if case.forward and case.numbers in ("both", "complex" if dtype == "complex128" else "real")
]
NAMES = [f"{case.name}-{dtype}" for case, dtype in TRIED]
TWICE = [(case, dtype) for case, dtype in TRIED if case.twice]
TWICE_NAMES = [name for name, (case, _) in zip(NAMES, TRIED) if case.twice]
# PyTorch leaves out the imaginary part of the tangent where a real number in a complex power is dual.
WRONG = ("pow complex number", "complex number pow", "complex to real power", "real to complex")


# PyTorch makes the tangent in place, from which no gradient comes back; that of `fill` is a fill with 0.
ONE_WAY = ("logsumexp", "softmax", "log_softmax", "norm 1", "fill")


# PyTorch has no derivative of the tangent, fails at it, or takes mean and deviation for constants.
ONE_WAY_NETWORKS = (
    *("cross_entropy", "cross_entropy smoothed", "layer_norm", "batch_norm"),
    "binary_cross_entropy",
    "scaled_dot_product_attention",
)
# PyTorch copies the tangent of a reduced loss, and writes that of a norm in another way.
OTHER_TANGENT = (
    *("mse_loss", "smooth_l1_loss", "binary_cross_entropy", "logits with weights"),
    *("binary_cross_entropy_with_logits", "pairwise_distance", "triplet_margin_loss"),
    *("group_norm", "batch_norm evaluated"),
)
# minigrad derives these tangents from the vjps, and PyTorch has formulas of their own: the numbers are the
# same, the nodes are not.
DERIVED = (
    *("addcmul", "addcdiv", "lerp tensor", "atan2", "polar", "frac", "cumprod", "baddbmm"),
    *("fmod", "fmod number", "remainder", "remainder number", "tensor rmod"),
    *("maximum", "minimum", "clamp to tensors", "clamp to min", "clamp to max"),
    *("clamp_max tensor", "clamp_min tensor"),
    *("prod", "prod dim", "nansum", "nanmean", "amax", "amin", "max", "min", "median", "nanmedian"),
    *("var", "var of all", "std", "var_mean", "std_mean", "dist", "norm", "norm 1.5", "norm 3", "norm inf"),
    *("mse_loss of each", "huber_loss", "kl_div", "cosine_similarity", "normalize"),
)
# PyTorch writes into zeros that cannot be written to.
FAILING = ("mse_loss",)
# PyTorch knows which of several gradients has no tangent.
ZEROS = ("prelu", "layer_norm", "batch_norm", "batch_norm evaluated")
ZEROS += tuple(f"conv{way}{n}d" for way in ("", "_transpose") for n in (1, 2, 3))


def is_wrong(case: Case, dtype: str) -> bool:
    return case.name.partition(" [")[0] in WRONG and (dtype == "float64" or "real" in case.name)


def direction(array: np.ndarray, k: int) -> np.ndarray:
    """A tangent for input `k`: different numbers of both signs."""
    n = array.size
    steps = ((np.arange(n) * 5 + 2 * k + 1) % (n + 4) - n / 3) / (n + 2)
    turned = steps * (1 - 0.5j) if array.dtype.kind == "c" else steps
    return turned.reshape(array.shape).astype(array.dtype)


def duals(library, case: Case, dtype: str, dual: tuple[int, ...], requires_grad: bool = False):
    """The inputs, their tangents, and what the op is called with: inside a level."""
    fw = library.autograd.forward_ad
    arrays = case.arrays(dtype)
    inputs = [library.tensor(a, requires_grad=requires_grad) for a in arrays]
    tangents = [library.tensor(direction(a, k), requires_grad=requires_grad) for k, a in enumerate(arrays)]
    given = [fw.make_dual(x, t) if k in dual else x for k, (x, t) in enumerate(zip(inputs, tangents))]
    return inputs, tangents, given


def results(library, case: Case, given) -> list:
    """What the op gives, as (primal, tangent) each."""
    made = case.function(library, *given)
    unpack = library.autograd.forward_ad.unpack_dual
    return [unpack(r) for r in results_of(made)]


def close(ours, theirs) -> bool:
    """Whether two tensors agree in shape, dtype and numbers; float64 or float32 inside."""
    a, b = numbers(ours), numbers(theirs)
    rtol = 1e-5 if dtype_of(theirs) in ("float32", "complex64") else 1e-12
    return (
        a.shape == b.shape
        and dtype_of(ours) == dtype_of(theirs)
        and np.allclose(a, b, rtol, rtol / 100, equal_nan=True)
    )


def seed(library, result):
    """A gradient to start from: different numbers in the result's shape and dtype."""
    shape = tuple(result.shape)
    kind = str(result.dtype).rpartition(".")[2]
    slope = 0.25 - 0.5j if kind.startswith("complex") else 0.25
    return library.tensor((1 + np.arange(int(np.prod(shape))) * slope).reshape(shape).astype(kind))


@pytest.mark.quick(80)
@pytest.mark.parametrize(("case", "dtype"), TRIED, ids=NAMES)
def test_tangent(torch, case, dtype):
    if is_wrong(case, dtype):
        pytest.skip("PyTorch leaves out the imaginary part")
    for dual in ways(case):
        found = []
        for library in (minigrad, torch):
            with library.autograd.forward_ad.dual_level():
                found.append(results(library, case, duals(library, case, dtype, dual)[2]))
        for (ours, mine), (theirs, other) in zip(*found, strict=True):
            assert_same_tensor(ours, theirs, case.name)
            assert (mine is None) == (other is None)
            if mine is not None:
                assert close(mine, other), f"{dual}: {mine!r} against {other!r}"
                assert steps(mine) == steps(other), f"{dual}: {mine.stride()} against {other.stride()}"
                assert mine.is_conj() == other.is_conj() and mine.is_neg() == other.is_neg(), dual


def steps(t) -> tuple[int, ...]:
    """The strides that matter."""
    return tuple(s for s, n in zip(t.stride(), t.shape) if n > 1) if t.numel() else ()


SMOOTH = [(case, dtype) for case, dtype in TWICE if case.smooth]


@pytest.mark.parametrize(("case", "dtype"), SMOOTH, ids=[f"{case.name}-{dtype}" for case, dtype in SMOOTH])
def test_the_transposed_vjp_is_the_same(monkeypatch, case, dtype):
    rules = forward.derive

    def transposed(op, values, tangents, result):
        rule = rules if op.view or op.listed else jvps.transpose_vjp
        return rule(op, values, tangents, result)

    for dual in ways(case):
        found = []
        for rule in (rules, transposed):
            monkeypatch.setattr(forward, "derive", rule)
            with minigrad.autograd.forward_ad.dual_level():
                found.append(results(minigrad, case, duals(minigrad, case, dtype, dual)[2]))
        for (_, mine), (_, other) in zip(*found, strict=True):
            assert (mine is None) == (other is None)
            if mine is not None:
                assert np.allclose(numbers(mine), numbers(other), 1e-12, 1e-14), f"{mine!r} against {other!r}"


def composed_alike(case: Case, dtype: str) -> bool:
    """Whether the tangent is composed as PyTorch's: of complex numbers only where the op says so."""
    is_copy = case.name == "diag of a matrix"  # PyTorch copies a view of the tangent
    is_derived = case.name.partition(" [")[0] in DERIVED
    return dtype != "complex128" and case.name not in OTHER_TANGENT and not (is_copy or is_derived)


@pytest.mark.parametrize(("case", "dtype"), TWICE, ids=TWICE_NAMES)
def test_forward_over_reverse(torch, case, dtype):
    """The tangents' graph is PyTorch's, and so are the gradients that run through it."""
    if case.name in ONE_WAY + ONE_WAY_NETWORKS:
        pytest.skip("PyTorch's tangent has no gradient")
    if is_wrong(case, dtype):
        pytest.skip("PyTorch leaves out the imaginary part")
    for dual in ways(case):
        graphs, gradients = [], []
        with dialect("2"):
            for library in (minigrad, torch):
                with library.autograd.forward_ad.dual_level():
                    inputs, tangents, given = duals(library, case, dtype, dual, requires_grad=True)
                    made = [t for _, t in results(library, case, given)]
                roots = [t for t in made if t is not None and t.requires_grad]
                graphs.append(graph(*roots))
                starts = [seed(library, t) for t in roots]
                wanted = [*inputs, *tangents] if roots else []
                gradients.append(roots and library.autograd.grad(roots, wanted, starts, allow_unused=True))
        for i, (ours, theirs) in enumerate(zip(*gradients, strict=True)):
            assert ours is None or theirs is None or close(ours, theirs), f"{dual} {i}: {ours!r} {theirs!r}"
            for g in (ours, theirs) if ours is None or theirs is None else ():
                assert g is None or not np.any(numbers(g)), f"{dual} {i}: {ours!r} {theirs!r}"
        mine, other = graphs
        if composed_alike(case, dtype):
            lines = [f"{a!s:60} {b!s:60}{'' if a == b else '  <--'}" for a, b in pad(mine, other)]
            assert mine == other, "\n".join(["", *lines])


@pytest.mark.parametrize(("case", "dtype"), TWICE, ids=TWICE_NAMES)
def test_reverse_over_forward(torch, case, dtype):
    """Gradients of dual tensors have PyTorch's tangents."""
    if case.name in FAILING:
        pytest.skip("PyTorch fails")
    if is_wrong(case, dtype):
        pytest.skip("PyTorch leaves out the imaginary part")
    for dual in ways(case):
        try:
            theirs = gradients_of_duals(torch, case, dtype, dual)
        except NotImplementedError as error:
            pytest.skip(str(error))  # PyTorch has no forward mode of this backward
        ours = gradients_of_duals(minigrad, case, dtype, dual)
        for (mine, my_tangent), (other, its_tangent) in zip(ours, theirs, strict=True):
            assert (mine is None) == (other is None)
            assert mine is None or close(mine, other)
            if case.name in ZEROS and its_tangent is None and my_tangent is not None:
                assert not np.any(numbers(my_tangent)), f"{my_tangent!r} against None"
                continue
            assert (my_tangent is None) == (its_tangent is None), f"{my_tangent!r} against {its_tangent!r}"
            if my_tangent is not None:
                assert close(my_tangent, its_tangent), f"{my_tangent!r} against {its_tangent!r}"


def gradients_of_duals(library, case: Case, dtype: str, dual: tuple[int, ...]) -> list:
    """The gradients of the inputs, without and with a graph of their own, as (primal, tangent)."""
    fw = library.autograd.forward_ad
    found = []
    for create_graph in (False, True):
        with fw.dual_level():
            _, _, given = duals(library, case, dtype, dual, requires_grad=True)
            made = case.function(library, *given)
            roots = [r for r in (made if isinstance(made, (tuple, list)) else (made,)) if r.requires_grad]
            starts = [seed(library, r) for r in roots]
            how = {"create_graph": create_graph, "allow_unused": True}
            gradients = library.autograd.grad(roots, given, starts, **how) if roots else []
            found += [(None, None) if g is None else fw.unpack_dual(g) for g in gradients]
    return found
