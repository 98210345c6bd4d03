"""Random cells to be asked about: `torch` in them is minigrad or PyTorch.

A cell has a few leaves of one kind (numbers, vectors, matrices), results that use them several times, and one
or two backward calls. Values are such that no function leaves its domain.
"""

from __future__ import annotations

import random

LEAVES = {
    "number": ["0.7", "1.5", "2.", "-1.3", "3."],
    "vector": ["[0.5, 2., -1.5]", "[1.5, -0.5, 2.5]", "[2., 3., -1.]"],
    "matrix": ["[[0.5, 2.], [-1.5, 1.]]", "[[1.5, -0.5], [2.5, 0.5]]", "[[2., 3.], [-1., 0.25]]"],
}
UNARY = [
    "{a} ** 2",
    "{a} ** 3",
    "torch.exp({a} / 4)",
    "torch.tanh({a})",
    "-{a}",
    "{a} * {a}",
    "3 * {a}",
    "1 / ({a} ** 2 + 2)",
]
BINARY = ["{a} * {b}", "{a} + {b}", "{a} - {b}", "{a} / ({b} ** 2 + 1)"]
WIDER = {"vector": "{a} * s", "matrix": "{a} + s * torch.ones(2)"}
CUT = "{a}.detach() * {b}"


def cell(seed: int) -> str:
    """The cell of a seed."""
    draw = random.Random(seed)
    kind = draw.choice(["number", "number", "vector", "matrix"])
    names = ["x", "y"][: draw.randint(1, 2)]
    lines = [f"{name} = torch.tensor({draw.choice(LEAVES[kind])}, requires_grad=True)" for name in names]
    if kind != "number":
        lines.append(f"s = torch.tensor({draw.choice(LEAVES['number'])}, requires_grad=True)")
    leaves = len(names)
    for i in range(draw.randint(2, 5)):
        forms = UNARY + BINARY + [CUT] + ([WIDER[kind]] * 2 if kind != "number" else [])
        forms += ["{a} @ {b}"] * 4 if kind == "matrix" else []
        a, b = draw.choice(names), draw.choice(names)
        lines.append(f"r{i} = {draw.choice(forms).format(a=a, b=b)}")
        names.append(f"r{i}")
    total = " + ".join(dict.fromkeys([names[-1], draw.choice(names[leaves:]), draw.choice(names[:leaves])]))
    lines.append(f"z = {total}" if kind == "number" else f"z = ({total}).{draw.choice(['sum', 'mean'])}()")
    if draw.random() < 0.3:
        lines.append("z.backward(retain_graph=True)")
        if draw.random() < 0.5:
            lines.append(f"{names[0]}.grad.zero_()")
    lines.append("z.backward(torch.tensor(2.))" if draw.random() < 0.2 else "z.backward()")
    return "\n".join(lines) + "\n"
