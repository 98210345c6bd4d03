"""What results are called that a call computed inside: by what made them, never by the variable outside."""

from __future__ import annotations

import pytest
from cells import run
from staged import scene_of

from minigrad_viz.words import shorten_name

MODEL = (
    "nn = torch.nn\nF = nn.functional\nmodel = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 3))\n"
)
NET = (
    "nn = torch.nn\nF = nn.functional\nclass Net(nn.Module):\n"
    "    def __init__(self):\n        super().__init__()\n"
    "        self.fc1 = nn.Linear(2, 4)\n        self.fc2 = nn.Linear(4, 3)\n"
    "    def forward(self, x):\n        x = F.relu(self.fc1(x))\n        out = self.fc2(x)\n"
    "        return out * 2\nmodel = Net()\n"
)
DATA = "x = torch.ones(3, 2)\nt = torch.tensor([0, 1, 2])\n"


def cards(cell, library):
    """The cards of a cell, and its variables."""
    done = run(cell, library)
    return [card for _, card in scene_of(done.trace).graph.cards()], done.names


def true_names(found, names):
    """Whether every card that has the name of a variable has its value."""
    for card in found:
        live = names.get(card.name)
        if live is not None:
            assert card.value.shape == tuple(live.shape), card.name
            assert list(card.value.items) == pytest.approx(live.detach().reshape(-1).tolist()), card.name


@pytest.mark.parametrize("model", [MODEL, NET])
def test_only_the_result_of_a_call_has_its_name(library, model):
    found, names = cards(
        f"{model}{DATA}out = model(x)\nloss = F.cross_entropy(out, t)\nloss.backward()\n", library
    )
    named = [card.name for card in found if card.name]
    assert named.count("out") == 1 and named.count("loss") == 1
    assert not [name for name in named if name[-1] in "₁₂₃"]
    true_names(found, names)


def test_inner_results_are_named_by_module_and_op(library):
    found, _ = cards(f"{MODEL}{DATA}out = model(x)\nout.sum().backward()\n", library)
    said = [card.expr for card in found if not card.name]
    for expected in ("0.weight.T", "1 tanh", "2.weight.T"):
        assert said.count(expected) == 1
    assert [card.expr for card in found if card.name == "out"] == ["model(x)"]


def test_inside_a_module_of_the_users_the_expression_counts(library):
    found, _ = cards(f"{NET}{DATA}y = model(x)\ny.sum().backward()\n", library)
    said = {card.expr for card in found if not card.name}
    assert {"self.fc1(x)", "F.relu(self.fc1(x))", "self.fc2(x)", "fc1.weight.T"} <= said
    assert not {"x₁", "x₂"}.intersection(card.name for card in found)


def test_a_call_that_failed_gives_no_name(library):
    cell = f"{MODEL}{DATA}h = model(x)\np = F.cross_entropy(h, torch.tensor([0, 1, 7]))\n"
    found, names = cards(cell, library)
    assert "p" not in names
    assert "p" not in [card.name for card in found]


def test_a_loop_variable_makes_no_second_box(library):
    cell = (
        "w = torch.tensor(1.0, requires_grad=True)\nb = torch.tensor(2.0, requires_grad=True)\n"
        "(w * b).backward()\nfor p in [w, b]:\n    n = p.grad.norm()\n"
    )
    found, names = cards(cell, library)
    assert [card.name for card in found if card.role == "leaf"] == ["w", "b"]
    true_names(found, names)


def test_each_round_of_a_loop_names_its_result(library):
    cell = (
        "h = torch.ones(3, requires_grad=True)\nfor i in range(3):\n    h = torch.tanh(h * 2)\n"
        "h.sum().backward()\n"
    )
    found, names = cards(cell, library)
    assert [card.name for card in found if card.name] == ["h₁", "h₂", "h₃", "h₄"]
    assert list(found[-2].value.items) == pytest.approx(names["h"].tolist())


@pytest.mark.parametrize(
    ("name", "width", "said"),
    [
        ("transformer.h.0.attn.qkv_proj.bias", 40, "transformer.h.0.attn.qkv_proj.bias"),
        ("transformer.h.0.attn.qkv_proj.bias", 24, "transfor…n.qkv_proj.bias"),
        ("encoder.layers.11.attn.qkv_proj.bias", 14, "…qkv_proj.bias"),
        ("(x @ w1 + b1).tanh() @ w2", 10, "(x @ w1 +…"),
    ],
)
def test_long_names_keep_their_end(name, width, said):
    assert shorten_name(name, width) == said
    assert len(said) <= width


SECOND = (
    "x = torch.tensor([0.5, 1.5], requires_grad=True)\n"
    "y = torch.sin(x * x).sum()\ng, = torch.autograd.grad(y, x, create_graph=True)\ng.sum().backward()\n"
)


def test_inner_results_of_a_gradients_graph_have_values_and_names(library):
    """What the vjp of a node computed inside: cos(a) has a value. minigrad also has the gradient that sin
    received, which needs no gradient itself."""
    found = {card.name or card.expr: card for card in cards(SECOND, library)[0]}
    assert found["cos((x * x))"].value.items == pytest.approx((0.968912, -0.628174), rel=1e-5)
    assert None not in found
    assert all(card.value is not None for card in found.values())
    if library.__name__ == "minigrad":
        assert found["∂y/∂b"].value.items == (1.0, 1.0)
