"""What is watched and how: gradients where they arrive, compiled and parallel models, what is named as not
watched."""

from __future__ import annotations

import warnings

import pytest

from minigrad_viz.training_runs import doctor


def test_gradients_are_read_where_they_arrive(library):
    """A run without an optimizer: the hooks of AccumulateGrad nodes see what each backward call adds, not the
    sum that lies in `.grad`."""
    w = library.ones(3, requires_grad=True)
    with doctor(show=False) as d:
        for _ in range(4):
            (w * 2).sum().backward()  # adds 2 each time
    (facts,) = d.evidence.parameters.values()
    assert facts.name == "w" and facts.arrived == facts.reached == 4
    assert [sample.grad for sample in facts.samples] == pytest.approx([2.0] * 4)
    assert w.grad.tolist() == [8.0] * 3


def test_no_hook_of_a_node_stays(library):
    w = library.ones(3, requires_grad=True)
    with doctor(show=False) as d:
        for _ in range(2):
            loss = (w * 2).sum()
            loss.backward(retain_graph=True)
    loss.backward()  # the same node, after the run
    assert d.evidence.parameters[id(w)].arrived == 2 and not d.evidence.unwatched


def test_an_error_in_backward_takes_the_hooks_away(library):
    w = library.ones(3, requires_grad=True)
    with doctor(show=False) as d:
        loss = (w * 2).sum()
        loss.backward()
        with pytest.raises(RuntimeError):
            loss.backward()
        (w * 2).sum().backward()
    assert d.evidence.parameters[id(w)].arrived == 2 and not d.evidence.unwatched


def train(torch, model, net, steps=12):
    """Losses of a small run."""
    torch.manual_seed(0)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    losses = []
    for _ in range(steps):
        x = torch.randn(8, 4)
        loss = ((model(x) - x[:, :1]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def small(torch):
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))


def test_a_parallel_model_has_the_names_of_the_model(torch):
    net = small(torch)
    with doctor(show=False) as d:
        train(torch, torch.nn.DataParallel(net), net)
    assert {p.name for p in d.evidence.parameters.values()} == {
        f"model.{i}.{kind}" for i in (0, 2) for kind in ("weight", "bias")
    }
    assert "model.1" in d.evidence.modules and not d.findings and not d.evidence.unwatched


@pytest.mark.sample(1)
@pytest.mark.parametrize("how", ["model", "in_place", "inside"])
def test_a_compiled_model_is_named_as_not_watched(how, torch):
    """Its numbers are those of a run that nobody watches, nothing warns, and the report says what was not
    watched."""
    pytest.importorskip("torch._dynamo")
    torch._dynamo.reset()

    def run_of(watched):
        net = small(torch)
        d = doctor(show=False)
        if how == "inside" and watched:
            d.__enter__()
        if how == "in_place":
            net.compile(backend="eager")
        model = net if how == "in_place" else torch.compile(net, backend="eager")
        if how != "inside" and watched:
            d.__enter__()
        losses = train(torch, model, net)
        if watched:
            d.__exit__(None, None, None)
        return losses, d

    alone, _ = run_of(False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        watched, d = run_of(True)
    assert watched == alone
    assert d.evidence.steps == 12 and not d.findings and not d.evidence.unwatched
    assert all(p.name.startswith(("model.", "net.")) and p.arrived for p in d.evidence.parameters.values())
    assert "modules and operations were not watched" in " ".join(d.text("en").split())
