"""Random small graphs, made by hand and recorded, for what is drawn of them."""

from __future__ import annotations

import random
from typing import Any

from sketches import Sketch

NODES = (
    "MulBackward0",
    "AddBackward0",
    "UpsampleNearestExact2DBackward0",
    "SumBackward0",
    "MyFunctionBackward",
)
NAMES = (None, None, "x", "y", "loss", "the_weights_of_the_second_hidden_layer", "가중치", "w₁", "h[0]")
EXPRESSIONS = (
    None,
    "a * b",
    "torch.tensor(1.5)",
    "torch.nn.functional.cross_entropy(model(inputs), targets)",
)
SAVED = (("self", 1.5, 0), ("exponent", "3"), ("result", [1.0, 2.0, 3.0], 1, True), ("sizes", "(128, 64, 3)"))
OPTIONS: dict[str, tuple[Any, ...]] = {
    "direction": ("auto", "auto", "LR", "TB"),
    "detail": ("normal", "normal", "full"),
    "values": (True, True, True, False),
    "saved": ("some", "some", "all", "none"),
    "lang": ("en", "ko"),
}


def options(draw: random.Random) -> dict[str, Any]:
    """The options of a picture."""
    return {name: draw.choice(values) for name, values in OPTIONS.items()}


def number(draw: random.Random) -> float:
    """A number of few or many digits, or none."""
    plain = round(draw.uniform(-9, 9), 1)
    return draw.choice(
        (plain, plain, draw.gauss(0, 1) * 10 ** draw.randint(-12, 12), float("inf"), float("nan"))
    )


def data(draw: random.Random) -> Any:
    """A number, or a wide or a tall array of them, or one of no elements; None if it is not known."""
    kind = draw.randrange(9)
    if kind < 4:
        return number(draw)
    shapes = {4: (draw.randint(1, 30),), 5: (1, draw.randint(1, 12)), 6: (draw.randint(1, 12), 1)}
    shape = shapes.get(kind, (draw.randint(1, 6), draw.randint(1, 6)))
    if kind == 8:
        return draw.choice((None, []))
    return [number(draw) for _ in range(shape[0])] if len(shape) == 1 else [
        [number(draw) for _ in range(shape[1])] for _ in range(shape[0])
    ]  # fmt: skip


def random_graph(seed: int) -> Any:
    """A graph of up to nine stations: one alone, several that nothing joins, a tensor that one op uses
    several times, ops with several results, without nodes, and of a second derivative."""
    draw = random.Random(seed)
    sketch, here = Sketch(), list[str]()
    second, forward_only = draw.random() < 0.15, draw.random() < 0.15
    joined = draw.choice((0.0, 0.5, 0.9, 0.9, 1.0))
    cards: dict[str, int] = {}
    for i in range(draw.choice((1, 1, 2, 3, 4, 5, 6, 7, 8, 9))):
        name, expr = draw.choice(NAMES), draw.choice(EXPRESSIONS)
        if not here or draw.random() > joined:
            make = draw.choice(("leaf", "constant")) if not forward_only else "constant"
            value = data(draw)
            gradient = data(draw) if draw.random() < 0.6 else None
            id = (
                sketch.constant(expr, value, name)
                if make == "constant"
                else sketch.leaf(name, value, gradient)
            )
            cards[id] = 1
        else:
            sources = [draw.choice(here[-4:]) for _ in range(draw.choice((1, 1, 2, 2, 3, 5)))]
            flowed = [draw.choice((None, False, data(draw), data(draw))) for _ in sources]
            inputs = [((s, draw.randrange(cards[s])), g) for s, g in zip(sources, flowed, strict=True)]
            several = draw.choice((1, 1, 1, 1, 2, 3))
            names = [draw.choice(NAMES) for _ in range(several)] if several > 1 else name
            values = [data(draw) for _ in range(several)] if several > 1 else data(draw)
            node = None if forward_only or draw.random() < 0.1 else draw.choice(NODES)
            saved = draw.sample(SAVED, draw.randint(0, len(SAVED))) if node else ()
            more = {"kept": draw.random() < 0.3, "hooks": draw.choice((0, 0, 0, 2))}
            order = 2 if second and i > 3 else 1
            id = sketch.op(node, names, expr, values, inputs, saved, data(draw), order=order, **more)
            cards[id] = several
        here.append(id)
    return sketch.graph()


# ── cells ───────────────────────────────────────────────────────────────────────────────────────────────────

STEPS = (
    "{a} * {b}",
    "{a} + {b}",
    "torch.sin({a})",
    "{a} ** 2",
    "{a} / 3",
    "{a} - 1.5",
    "{a} * {a}",
    "{a}.clone()",
)
VALUES = (
    "torch.tensor({n:.1f}",
    "torch.tensor([{n:.1f}, 2.0, -1.0]",
    "torch.full((2, 3), {n:.1f}",
    "torch.full((7, 1), {n:.1f}",
)


def random_cell(seed: int) -> str:
    """A cell that computes forward only, with duals, in several rounds, or with updates of its leaves."""
    draw = random.Random(seed)
    kind = draw.choice(("forward", "dual", "dual", "rounds", "updates", "optimizer", "grad", "leaf"))
    value = draw.choice(VALUES).format(n=draw.uniform(0.5, 2))
    flag = "" if kind in ("forward", "dual") else ", requires_grad=True"
    names = [f"x{i}" for i in range(draw.randint(1, 3))]
    lines, body = [f"{name} = {value}{flag})" for name in names], list[str]()
    before = list(names)
    if kind == "dual":
        for name in draw.sample(names, draw.randint(1, len(names))):
            tangent = draw.choice((f"torch.ones_like({name})", f"t{name}"))
            lines.append(f"t{name} = torch.ones_like({name})")
            body.append(f"d{name} = fw.make_dual({name}, {tangent})")
            names.append(f"d{name}")
    for i in range(draw.randint(0 if kind in ("dual", "leaf") else 1, 5)):
        a, b = draw.choice(names), draw.choice(names)
        body.append(f"y{i} = {draw.choice(STEPS).format(a=a, b=b)}")
        names.append(f"y{i}")
    last = names[-1]
    root = " + ".join(dict.fromkeys((*before, last)))
    loss = [f"loss = ({root}).sum()", "loss.backward()"]
    if kind == "dual":
        body.append(f"p, t = fw.unpack_dual({last})")
        body += draw.choice(
            (
                [],
                ["q = p * 2 if t is None else p * t"],
                ["again = fw.unpack_dual(p)"],
                [f"u = fw.unpack_dual({names[0]})"],
            )
        )
        return "\n".join([*lines, "with fw.dual_level():", *("    " + line for line in body), ""])
    if kind == "forward":
        return "\n".join([*lines, *body, ""])
    if kind == "grad":
        call = f"g = torch.autograd.grad(({root}).sum(), {before[0]}, create_graph={draw.random() < 0.5})"
        return "\n".join([*lines, *body, call, ""])
    update = [f"{before[0]} -= 0.1 * {before[0]}.grad", f"{before[0]}.grad = None"]
    rounds = ["for _ in range(3):", *("    " + line for line in (*body, *loss))]
    if kind == "updates":
        rounds += ["    with torch.no_grad():", *("        " + line for line in update)]
    if kind == "optimizer":
        lines.append(f"opt = torch.optim.{draw.choice(('SGD', 'Adam'))}([{', '.join(before)}], lr=0.1)")
        rounds += ["    opt.step()", "    opt.zero_grad()"]
    if kind == "leaf":
        return "\n".join([*lines, *body, *loss, ""])
    return "\n".join([*lines, *rounds, ""])
