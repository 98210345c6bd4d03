"""Random programs with function transforms: `vmap` with odd dimensions, derivatives of derivatives, auxiliary
results, containers, per-sample gradients, forward mode by hand inside of them.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from twins import is_tensor, numbers, outcome

BODIES: dict[str, Any] = {
    "product": lambda L, x, y: x * y,
    "sine": lambda L, x, y: x.sin() * y,
    "cube": lambda L, x, y: x**3 + y,
    "outer": lambda L, x, y: x * y.sum(),
    "dot": lambda L, x, y: (x * y).sum(),
    "matmul": lambda L, x, y: (x @ y) * x if x.dim() else x * y,
    "index": lambda L, x, y: x[0] * y,
    "flip": lambda L, x, y: x.flip(0) * y,
    "cat": lambda L, x, y: L.cat([x, y * x]),
    "stack": lambda L, x, y: L.stack([x, y * 2]),
    "where": lambda L, x, y: L.where(x > y, x * y, y),
    "softmax": lambda L, x, y: L.softmax(x * y, -1),
    "max": lambda L, x, y: x.max() * y,
    "norm": lambda L, x, y: (x * x + 1).sqrt() * y,
    "detach": lambda L, x, y: x.detach() * y + x,
    "unused": lambda L, x, y: x * 2,
    "constant": lambda L, x, y: L.ones(2, dtype=L.float64),
    "both": lambda L, x, y: (x * y, {"sum": x + y}),
    "transposed": lambda L, x, y: L.outer(x, y).t(),
    "cumsum": lambda L, x, y: x.cumsum(0) * y,
    "clamp": lambda L, x, y: x.clamp(-0.5, 0.5) * y,
    "in place": lambda L, x, y: (x * 1).mul_(y),
    "write": lambda L, x, y: written(L, x, y),
    "squeeze": lambda L, x, y: x.unsqueeze(0).squeeze() * y,
    "expand": lambda L, x, y: x.expand(3, *x.shape).sum(0) * y,
    "gather": lambda L, x, y: x.gather(0, L.tensor([1, 0])) * y,
    "einsum": lambda L, x, y: L.einsum("i,j->ij", x, y),
    "mean": lambda L, x, y: (x - x.mean()) * y,
    "triu": lambda L, x, y: L.outer(x, x).triu() @ y,
    "linear": lambda L, x, y: L.nn.functional.linear(x, L.outer(y, x)),
    "number": lambda L, x, y: x * y[0].detach() + 1.5,
    "relu": lambda L, x, y: x.relu() * y,
    "prod": lambda L, x, y: x.prod() * y,
    "logsumexp": lambda L, x, y: L.logsumexp(x * y, 0) * x,
}
WAYS = (
    "grad", "grad of both", "grad aux", "value", "vjp", "vjp aux", "jvp", "jvp aux", "jacrev", "jacfwd",
    "jacrev both", "jacfwd aux", "hessian", "vmap", "vmap in", "vmap out", "vmap none", "vmap chunks",
    "vmap of grad", "jacrev chunks", "vmap dict", "dual", "tracked", "vmap twice",
)  # fmt: skip


# What PyTorch cannot do, or does with results that are written to afterwards: LookupError.
LEFT_OUT = (
    "Nested forward mode AD is not supported",
    "Batching rule not implemented for aten::_make_dual",
    "one of the variables needed for gradient computation has been modified by an inplace operation",
    "vmap: inplace arithmetic(self, *extra_args) is not possible",  # we know a tangent that is batched
    "The expanded size of the tensor (3) must match the existing size (2)",
    "ZeroTensors are immutable",  # a tangent that is all zeros, where a value is written into it
)


def written(L: Any, x: Any, y: Any) -> Any:
    t = x * 2
    t[0] = y[1] * x[0]
    return t * y


def leaves(thing: Any) -> list[Any]:
    """All tensors in tuples, lists and dictionaries."""
    if is_tensor(thing):
        return [thing]
    if isinstance(thing, dict):
        return [t for k in sorted(thing) for t in leaves(thing[k])]
    return [t for part in thing for t in leaves(part)] if isinstance(thing, (tuple, list)) else []


def structure(thing: Any) -> Any:
    """Of what containers a result consists."""
    if is_tensor(thing):
        return list(thing.shape)
    if isinstance(thing, dict):
        return {k: structure(thing[k]) for k in thing}
    return [type(thing).__name__, *map(structure, thing)] if isinstance(thing, (tuple, list)) else thing


def merged(L: Any, thing: Any) -> Any:
    """One vector of two numbers made of all tensors of a result."""
    parts = [t.sum() for t in leaves(thing)]
    total = sum(parts[1:], parts[0])
    return L.stack([total, total * 0.5])


def transformed(L: Any, f: Any, way: str, n: int, watch: Any) -> Any:
    """A function of two vectors, made of another one by a transform."""
    F = L.func

    def vector(x: Any, y: Any) -> Any:
        return merged(L, f(x, y))

    def total(x: Any, y: Any) -> Any:
        return sum(t.sum() for t in leaves(f(x, y)))

    def with_aux(x: Any, y: Any) -> Any:
        return total(x, y), {"aux": x * 2, "pair": (y, 3)}

    def vector_aux(x: Any, y: Any) -> Any:
        return vector(x, y), [x.detach(), y * 2]

    def rows(x: Any, y: Any) -> Any:
        return L.stack([x, y, x * y])

    def make(x: Any, y: Any) -> Any:
        if way == "grad":
            return F.grad(total, argnums=n)(x, y)
        if way == "grad of both":
            return F.grad(total, argnums=(0, 1))(x, y)
        if way == "grad aux":
            return F.grad(with_aux, argnums=n, has_aux=True)(x, y)
        if way == "value":
            return F.grad_and_value(with_aux, argnums=(n,), has_aux=True)(x, y)
        if way == "vjp":
            out, pull = F.vjp(vector, x, y)
            return out, pull(out * 2)
        if way == "vjp aux":
            out, pull, aux = F.vjp(vector_aux, x, y, has_aux=True)
            return pull(L.ones_like(out)), aux
        if way == "jvp":
            return F.jvp(vector, (x, y), (y, x * 0.5))
        if way == "jvp aux":
            return F.jvp(vector_aux, (x, y), (x, y), has_aux=True)
        if way in ("jacrev", "jacfwd", "hessian"):
            return getattr(F, way)(vector, argnums=n)(x, y)
        if way == "jacrev both":
            return F.jacrev(vector, argnums=(1, 0))(x, y)
        if way == "jacfwd aux":
            return F.jacfwd(vector_aux, argnums=n, has_aux=True)(x, y)
        if way == "jacrev chunks":
            return F.jacrev(vector, argnums=n, chunk_size=1)(x, y)
        if way == "vmap":
            return L.vmap(f)(rows(x, y), rows(y, x))
        if way == "vmap in":
            return L.vmap(f, in_dims=(1, 0))(rows(x, y).t(), rows(y, x))
        if way == "vmap out":
            return L.vmap(vector, in_dims=(0, None), out_dims=1)(rows(x, y), y)
        if way == "vmap none":
            return L.vmap(f, in_dims=(None, -2))(x, rows(y, x))
        if way == "vmap chunks":
            return L.vmap(f, in_dims=(0, None), chunk_size=2)(rows(x, y), y)
        if way == "vmap of grad":
            return L.vmap(F.grad(total, argnums=n), in_dims=(0, None))(rows(x, y), y)
        if way == "vmap dict":
            return L.vmap(lambda d: {"out": f(d["x"], d["y"][0])}, in_dims=({"x": 0, "y": (None,)},))(
                {"x": rows(x, y), "y": (y,)}
            )
        if way == "vmap twice":
            return L.vmap(L.vmap(f, in_dims=(0, None)), in_dims=(None, 0))(rows(x, y), rows(y, x))
        if way == "linearize":
            out, push = F.linearize(vector, x, y)
            return out, push(y, x)
        if way == "dual":
            fw = L.autograd.forward_ad
            with fw.dual_level():
                out = fw.unpack_dual(vector(fw.make_dual(x, y), y))
                return out.primal, L.zeros_like(x) if out.tangent is None else out.tangent
        w = (x * 1).detach().requires_grad_()
        (g,) = L.autograd.grad(total(w, y), w, create_graph=True, allow_unused=True)
        return y if g is None else g * y

    return make


def program_of(seed: int) -> Any:
    """A program as `assert_same_diary` runs it."""
    rng = random.Random(seed)
    learns = [rng.random() < 0.35 for _ in range(2)]
    body = [rng.choice([*BODIES]) for _ in range(rng.choice((1, 1, 2)))]
    ways = [(rng.choice(WAYS), rng.randrange(2)) for _ in range(rng.choice((1, 1, 2, 2, 3)))]
    if rng.random() < 0.05:  # PyTorch takes what it computed of the point for constant
        ways, learns = [("linearize", 0)], [False, False]
        body = [name for name in body if name not in ("write", "in place")] or ["product"]
    # of a jvp inside a jvp only the numbers: see Note [Nested jvp] in `func.grad`
    forward = sum(way.startswith(("jvp", "jacfwd", "dual")) for way, _ in ways)
    plain = forward < 2 and "hessian" not in dict(ways)

    def program(L: Any, note: Any) -> None:
        x, y = (
            L.tensor(v, dtype=L.float64, requires_grad=g) for v, g in zip(([0.5, -0.3], [0.7, 1.2]), learns)
        )

        def f(x: Any, y: Any) -> Any:
            made = [BODIES[name](L, x, y) for name in body]
            return made[0] if len(made) == 1 else tuple(made)

        for way, n in ways:
            f = transformed(L, f, way, n, note)
        result = outcome(f, x, y)
        if note_error(result, note):
            return
        note(structure(result))
        found = leaves(result)
        note([rounded(t) for t in found], plain and [t.requires_grad for t in found])
        ready = [t for t in found if t.requires_grad]
        inputs = [t for t in (x, y) if t.requires_grad]
        grads: Any = [None] * len(inputs)
        if ready and inputs:
            grads = outcome(
                lambda: L.autograd.grad(sum((t**2).sum() for t in ready), inputs, allow_unused=True)
            )
        if not note_error(grads, note):
            note([[0.0, 0.0] if g is None else rounded(g) for g in grads])

    return program


def note_error(result: Any, note: Any) -> bool:
    """Whether a result is an error, which is noted; LookupError for what PyTorch cannot do."""
    if not (isinstance(result, tuple) and result and isinstance(result[0], str)):
        return False
    if result[1].startswith(LEFT_OUT):
        raise LookupError(result[1])
    note("error", [result[0]])
    return True


def rounded(t: Any) -> Any:
    """The numbers of a tensor, without the sign of zero."""
    return [float(f"{v:.5g}") + 0.0 for v in np.round(numbers(t).astype(float), 9).ravel().tolist()]
