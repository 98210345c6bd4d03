"""The cause that is named is what happened: under no_grad(), in a checkpoint, in a custom Function, in the
data."""

from __future__ import annotations

import pytest
from cells import run
from staged import explanations_of

PROGRAMS = {
    "a layer under no_grad": (
        """\
net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(4, 1))
with torch.no_grad():
    out = net(torch.ones(1, 2))
""",
        ("layer_input", "net.1 (Linear 4→1)"),
    ),
    "a target under no_grad": (
        """\
net = torch.nn.Linear(2, 3)
y = torch.tensor([0.0, 2.0])
with torch.no_grad():
    loss = torch.nn.CrossEntropyLoss()(net(torch.ones(2, 2)), y)
""",
        ("target_dtype", "y is float32"),
    ),
    "a reentrant checkpoint": (
        """\
checkpoint = torch.utils.checkpoint.checkpoint
net = torch.nn.Linear(2, 2)
y = checkpoint(net, torch.ones(1, 2), use_reentrant=True)
y.sum().backward()
""",
        ("no_grad_fn", "use_reentrant=True"),
    ),
    "an intermediate value of a Function": (
        """\
class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.e = x.exp()
        return ctx.e * 1
    @staticmethod
    def backward(ctx, g):
        return g * ctx.e
x = torch.tensor(1.0, requires_grad=True)
g, = torch.autograd.grad(Exp.apply(x), x, create_graph=True)
torch.autograd.grad(g, x)
""",
        ("no_grad_fn", "nothing that Exp.backward used requires gradients"),
    ),
    "one class": (
        """\
scores = torch.zeros(2, 1, requires_grad=True)
loss = torch.nn.CrossEntropyLoss()(scores, torch.tensor([0, 1]))
""",
        ("target_class", "there is one class, 0"),
    ),
    "nan in the data of a long loop": (
        """\
X = torch.ones(3, 2)
X[1, 1] = float("nan")
w = torch.zeros(2, requires_grad=True)
for i in range(30):
    loss = (X @ w - 1).pow(2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
    w.grad = None
""",
        ("first_nan", "X holds nan from the start"),
    ),
    "a list of layers beside others": (
        """\
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = [torch.nn.Linear(2, 2)]
        self.out = torch.nn.Linear(2, 1)
    def forward(self, x):
        for part in self.hidden:
            x = part(x)
        return self.out(x)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(3):
    opt.zero_grad()
    loss = net(torch.ones(1, 2)).sum()
    loss.backward()
    opt.step()
""",
        ("other_parameters", "part.weight"),
    ),
    "data that is set": (
        """\
w = torch.tensor(1.0, requires_grad=True)
for i in range(3):
    loss = (w - 3) ** 2
    loss.backward()
    w.data = w.data - 0.1 * w.grad
""",
        ("kept_gradient", "although w was updated in between"),
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_cause_is_named(library, name):
    program, (key, part) = PROGRAMS[name]
    told = explanations_of(run(program, library).trace, "en")
    assert [each.key for each in told] == [key]
    assert part in told[0].why


def test_no_code_has_a_name_that_cannot_stand_there(library):
    (told,) = explanations_of(run(PROGRAMS["a list of layers beside others"][0], library).trace, "en")
    assert "part.parameters()" not in told.fix
