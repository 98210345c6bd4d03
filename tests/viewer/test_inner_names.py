"""What results are called that a call computed inside: by what made them, never by the variable outside."""

from __future__ import annotations

import pytest
from cells import run
from staged import scene_of

from minigrad_viz.shell.report import Report
from minigrad_viz.trace.events import Statement
from minigrad_viz.words import shorten_name, shorten_names

DATA = "x = torch.ones(3, 2)\nt = torch.tensor([0, 1, 2])\n"


def cards(cell, library):
    """The cards of a cell, and its variables."""
    done = run(cell, library)
    return [card for _, card in scene_of(done.trace).graph.cards()], done.names


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


def test_a_statement_in_a_loop_that_calls_one_function_runs_once_a_round(library):
    """`F.cross_entropy` runs several ops, in a function that only hands its arguments on."""
    cell = f"F = torch.nn.functional\nw = torch.ones(3, 3, requires_grad=True)\n{DATA}"
    cell += "for i in range(2):\n    loss = F.cross_entropy(w, t)\n    loss.backward()\n"
    events = run(cell, library).trace.events
    told = [event.span.text for event in events if isinstance(event, Statement)]
    assert told.count("loss = F.cross_entropy(w, t)") == 2


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
