"""Random cells whose leaves get other numbers, as source text, for `torch` being minigrad or PyTorch.

The numbers of the leaves stand in variables `n0`, `n1` … of the namespace, so that a run with another number
has the same source, and so the same trace but for its numbers.
"""

from __future__ import annotations

import random

UNARY = (
    "torch.sin({a})", "torch.exp({a} * 0.1)", "torch.tanh({a})", "{a} ** 2", "{a} * 3", "2 / ({a} * {a} + 1)",
    "torch.log({a} * {a} + 0.5)", "-{a}", "torch.relu({a})", "{a}.abs()", "{a} + 0.25",
    "torch.sqrt({a} ** 2 + 1)",
    "{a}.clamp(-1.5, 1.5)", "{a}.detach()", "{a}.clone()", "torch.sigmoid({a})", "({a} > 0.1).float() * {a}",
    "torch.where({a} > 0, {a}, {a} * 0.1)", "{a}.unsqueeze(0).squeeze(0)", "torch.zeros_like({a}) + {a}",
)  # fmt: skip
BINARY = (
    "{a} + {b}", "{a} * {b}", "{a} - {b}", "{a} / ({b} * {b} + 1)", "torch.maximum({a}, {b})",
    "torch.stack([{a}.sum(), {b}.sum()]).mean()", "{a}.sum() * {b}", "{a}.detach() * {b}",
)  # fmt: skip
VECTORS = (
    "{v}[0] * {a}", "{v}[1:].sum()", "torch.cat([{v}, {v} * 2]).reshape(2, -1).sum(dim=0)",
    "{v}[{v} > -9.0] * 2",
    "({v}.unsqueeze(1) @ {v}.unsqueeze(0)).sum(dim=1)", "{v}.max()", "torch.softmax({v}, dim=0)",
    "{v}.sum().expand(3)", "{v}.reshape(3, 1).t().reshape(3)",
)  # fmt: skip
STATEMENTS = (
    "with torch.no_grad():\n    {new} = {a} * 2",
    "{new} = {a}.clone()\n{new}.mul_(1.5)",
    "{new} = {a} * 1\n{new} += {b}.sum()",
    "{new} = {v} * 2\n{new}[1] = {a}.sum()",
    "{new} = {v} * 2\npart{n} = {new}[:2]\npart{n} += 1",
    "{new} = {a} * 2\n{new}.retain_grad()",
    "for i in range(3):\n    {new} = {a} * (i + 1)",
    "def f(t):\n    return t * t + 1\n{new} = f({a})",
    "{new}, = torch.autograd.grad(({leaf} ** 3).sum(), {leaf}, create_graph=True)",
    "print({a}.sum().item())\n{new} = {a} + 1",
)
BRANCHES = (
    "if {a}.sum() > {k}:\n    {new} = {a} * 2\nelse:\n    {new} = {a} - 1",
    "{new} = {a} * 1\nwhile {new}.sum() < {k}:\n    {new} = {new} + 2.5",
)
ENDINGS = (
    "z = {sum}\nz.backward()",
    "z = {sum}\nz.backward(retain_graph=True)\nz.backward()",
    "z = {sum}\nz.backward()\nwith torch.no_grad():\n    {leaf} -= 0.1 * {leaf}.grad\n{leaf}.grad = None\n"
    "z = ({leaf} * 2).sum()\nz.backward()",
    "z = {sum}\nz.backward()\n{leaf}.data -= 0.1 * {leaf}.grad\n{leaf}.grad.zero_()\n"
    "z = ({leaf} ** 2).sum()\nz.backward()",
    "z = {sum}\ng = torch.autograd.grad(z, {leaf}, allow_unused=True)",
)


def random_cell(seed: int) -> tuple[str, dict[str, float], list[str]]:
    """The source of a cell, the numbers of its leaves, and under which names they can be changed."""
    chance = random.Random(seed)
    numbers = {f"n{i}": round(chance.uniform(-2, 2), 3) for i in range(3)}
    lines = [
        "x = torch.tensor(n0, requires_grad=True)",
        "v = torch.tensor([n1, 0.5, -1.25], requires_grad=True)",
        "u = torch.tensor([1.0, n2, 2.0])\nu.requires_grad_()",
        "c = torch.tensor([3.0, -1.0, 0.25])",
    ]
    names, vectors = ["x", "v", "u", "c"], ["v", "u"]
    for n in range(chance.randint(2, 7)):
        kind = chance.choices((UNARY, BINARY, VECTORS, STATEMENTS, BRANCHES), (5, 4, 2, 3, 1))[0]
        text = chance.choice(kind)
        new = f"y{n}"
        parts = {
            "a": chance.choice(names), "b": chance.choice(names), "v": chance.choice(vectors), "new": new,
            "n": n, "leaf": chance.choice(("x", "v", "u")), "k": round(chance.uniform(-1, 2), 2),
        }  # fmt: skip
        lines.append(
            text.format(**parts) if kind in (STATEMENTS, BRANCHES) else f"{new} = {text.format(**parts)}"
        )
        names.append(new)
    total = " + ".join(f"({name} * 1).sum()" for name in names[-3:]) + " + (x * v * u).sum()"
    lines.append(chance.choice(ENDINGS).format(sum=total, leaf=chance.choice(("x", "v", "u"))))
    return "\n".join(lines) + "\n", numbers, ["x", "v[0]", "u[1]"]
