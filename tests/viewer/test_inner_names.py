"""What results are called that a call computed inside: by what made them, never by the variable outside."""

from __future__ import annotations

import pytest
from cells import run
from staged import scene_of

import minigrad
from minigrad_viz.shell.report import Report
from minigrad_viz.trace.events import Statement
from minigrad_viz.words import shorten_name, shorten_names

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
    assert [card.name for card in found if card.name] == ["h₀", "h₁", "h₂", "h₃"]
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


def test_long_names_beside_each_other_differ():
    weights = [f"model.blocks.{i}.attn.{kind}.weight" for i in (0, 1) for kind in ("key", "value")]
    assert shorten_names([*weights, "model.tok.weight"], 20) == [
        "…0.attn.key.weight", "…0.attn.value.weight", "…1.attn.key.weight", "…1.attn.value.weight",
        "model.tok.weight",
    ]  # fmt: skip
    long = [f"net.body.{which}_layer_of_all.0.weight" for which in ("first", "second")]
    assert shorten_names(long, 20) == ["…first_lay….0.weight", "…second_la….0.weight"]
    assert len({*shorten_names([long[0], long[0]], 20)}) == 1


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


OWN_LOSS = (
    "nn = torch.nn\nF = nn.functional\nclass Net(nn.Module):\n    def __init__(self):\n"
    "        super().__init__()\n        self.fc = nn.Linear(2, 3)\n    def forward(self, x, t):\n"
    "        loss = F.cross_entropy(self.fc(x).view(-1, 3), t)\n        return loss\n"
    f"model = Net()\n{DATA}for i in range(2):\n    loss = model(x, t)\n    loss.backward()\n"
)


def test_a_statement_in_a_loop_that_calls_one_function_runs_once_a_round(library):
    """`F.cross_entropy` runs several ops, in a function that only hands its arguments on."""
    cell = f"F = torch.nn.functional\nw = torch.ones(3, 3, requires_grad=True)\n{DATA}"
    cell += "for i in range(2):\n    loss = F.cross_entropy(w, t)\n    loss.backward()\n"
    events = run(cell, library).trace.events
    told = [event.span.text for event in events if isinstance(event, Statement)]
    assert told.count("loss = F.cross_entropy(w, t)") == 2


def test_a_loss_inside_a_module_is_one_box(library):
    shown = Report(run(OWN_LOSS, library).trace, lang="en").graph
    said = [card.expr for _, card in shown.cards()]
    assert len(said) == len(set(said)) and not any(e.startswith("F.cross_entropy(") for e in said[:-1])


def test_modules_of_several_models_have_whole_names(library):
    cell = "nn = torch.nn\nG = nn.Sequential(nn.Linear(2, 4), nn.Tanh())\n"
    cell += "D = nn.Sequential(nn.Linear(4, 2), nn.Tanh())\nD(G(torch.ones(3, 2))).sum().backward()\n"
    shown = Report(run(cell, library).trace, lang="en").graph
    said = [card.expr for _, card in shown.cards()]
    assert {"G.0 Linear 2→4", "D.0 Linear 4→2", "D.1 Tanh"} <= set(said)


NEURON = (
    "class Neuron:\n    def __init__(self):\n"
    "        self.w = [torch.tensor(0.5, requires_grad=True) for _ in range(3)]\n"
    "    def __call__(self, x):\n        act = sum((w * v for w, v in zip(self.w, x)), self.w[0])\n"
    "        return act.tanh()\nn = Neuron()\nfor k in range(2):\n"
    "    found = [n([1.0, 2.0, 3.0]) for _ in range(3)]\n    loss = sum((y - 1) ** 2 for y in found)\n"
    "    loss.backward()\n"
)


def test_rounds_without_a_loop_are_named_by_their_function(library):
    shown = Report(run(NEURON, library).trace, lang="en").graph
    said = [card.name or card.expr for _, card in shown.cards()]
    assert None not in said and "" not in said
    assert {"Neuron(…)", "Neuron(…) [1]", "Neuron(…) [2]", "n.w[0]"} <= set(said)


@pytest.mark.full
def test_both_results_of_a_cell_with_a_state_have_places_of_their_own(library):
    """PyTorch's `lstm_cell` computes h from c: two nodes, where each result stands on its own."""
    cell = "cell = torch.nn.LSTMCell(2, 2)\nh = c = torch.zeros(1, 2)\nfor x in torch.ones(4, 1, 2):\n"
    cell += "    h, c = cell(x, (h, c))\n(h.sum() + c.sum()).backward()\n"
    report = Report(run(cell, library).trace, lang="en")
    scene = report.views[-1].scene
    for place in scene.places:
        nodes = {state.node for state in place.states if state.node is not None}
        assert len(nodes) <= 1
        assert place not in scene.came_from(place)
    assert "<svg" in report.html("player")


def test_sums_of_gradients_in_a_gradients_graph_have_values(library):
    cell = "x = torch.tensor(3.0, requires_grad=True)\nf = x**4 - 3 * x**2 + x\n"
    cell += "g, = torch.autograd.grad(f, x, create_graph=True)\nh, = torch.autograd.grad(g, x)\n"
    found, _ = cards(cell, library)
    assert [card for card in found if card.value is None] == []


def test_what_an_index_was_made_of_is_named_by_its_text():
    """minigrad makes a tensor of `range(3)`, which nobody has; PyTorch does so inside the op."""
    cell = "n = 3\nw = torch.ones(3, 3, requires_grad=True)\nt = torch.tensor([0, 1, 2])\n"
    found, _ = cards(cell + "y = w[range(n), t] * w[[0, 2, 1]][0]\ny.sum().backward()\n", minigrad)
    said = {card.name or card.expr for card in found}
    assert {"range(n)", "[0, 2, 1]", "t"} <= said and None not in said


@pytest.mark.parametrize(
    "call",
    [
        "cross_entropy(x, t)",
        "cross_entropy(x, t, label_smoothing=0.1)",
        "nll_loss(F.log_softmax(x, 1), t)",
        "kl_div(x, x.detach().exp(), reduction='sum')",
        "margin_ranking_loss(x[:, 0], x[:, 1], torch.ones(3))",
        "cosine_embedding_loss(x, x * 2, torch.ones(3))",
        "scaled_dot_product_attention(x, x, x).sum()",
        "pairwise_distance(x, x * 2).sum()",
    ],
)
def test_a_call_that_runs_several_ops_is_one_in_every_round(library, call):
    body = f"for k in range(2):\n    loss = F.{call}\n    loss.backward()"
    setting = (
        "F = torch.nn.functional\nx = torch.rand(3, 4, requires_grad=True)\nt = torch.tensor([0, 1, 2])\n"
    )
    found, names = cards(setting + body, library)
    called = [card for card in found if card.name and card.name.startswith("loss")]
    assert [card.name for card in called] == ["loss"]
    assert list(called[0].value.items) == pytest.approx([names["loss"].item()])
