"""Layers of tables, shuffles, distances and slopes, and losses of sequences, in both libraries: the same
first numbers, results, gradients and texts.
"""

from calls import assert_same_ends
from functions import numbers

import minigrad

# The class, its arguments, the shapes of its inputs.


def test_tables(L, note):
    L.manual_seed(0)
    weight = numbers(L, 4, 2).detach()
    for table in (
        L.nn.Embedding(4, 2, padding_idx=-1, max_norm=0.5, norm_type=1.0, scale_grad_by_freq=True),
        L.nn.Embedding(4, 2, _weight=weight.clone(), _freeze=True),
        L.nn.Embedding.from_pretrained(weight.clone(), padding_idx=2),
        L.nn.Embedding.from_pretrained(weight.clone(), freeze=False, max_norm=0.7),
        L.nn.EmbeddingBag(4, 2, padding_idx=1),
        L.nn.EmbeddingBag.from_pretrained(weight.clone(), freeze=False, mode="sum"),
    ):
        out = table(L.tensor([[0, 1, 1], [3, 3, 2]]))
        note(repr(table), out, table.weight, table.padding_idx)
        if table.weight.requires_grad:
            (out * out).sum().backward()
            note(table.weight.grad)


def bags_of(L):
    return {
        "bag": L.nn.functional.embedding_bag,
        "weight": numbers(L, 5, 3),
        "input": L.tensor([1, 2, 4, 3, 1, 0]),
        "offsets": L.tensor([0, 2, 2, 5]),
        "twice": twice,
    }


def test_bags(L, note):
    bag, weight, input, offsets, _ = bags_of(L).values()
    ends = L.tensor([0, 2, 2, 6])
    for starts, how in (
        (offsets, {"mode": "sum", "padding_idx": 1}),
        (ends, {"include_last_offset": True, "padding_idx": -2}),  # only few kernels of PyTorch end before
        (offsets, {"max_norm": 1.1, "norm_type": 1.0}),
    ):
        out = bag(input, weight, starts, **how)
        note(out, L.autograd.grad((out**2).sum(), weight))
    note(bag(input.view(2, 3), weight, mode="sum"))
    note(bag(input.int(), weight.float(), offsets.int()), bag(input[:0], weight, offsets[:1]))


WRONG_BAGS = """
bag(input, weight) | bag(input, weight, offsets.view(2, 2)) | bag(input, weight, offsets + 1)
bag(input, weight, L.tensor([0, 7])) | bag(input, weight, offsets, mode='x')
bag(input + 3, weight, offsets) | bag(input.double(), weight, offsets) | bag(input[0], weight, offsets)
bag(input, weight[0], offsets) | bag(input, weight.int(), offsets)
bag(input, weight, offsets, padding_idx=7) | twice(L, bag(input, weight, offsets), weight)
"""


def test_wrong_bags(torch):
    assert_same_ends(torch, WRONG_BAGS, bags_of)


def twice(L, result, x):
    """The second derivative."""
    (g,) = L.autograd.grad((result**2).sum(), x, create_graph=True)
    return L.autograd.grad(g.sum(), x)


def test_bags_scaled_by_frequency():
    """Each share of a row's gradient is divided by how often the row is used, as `embedding` has it. (PyTorch
    divides by how often some other row is.)
    """
    table, input = numbers(minigrad, 5, 3), minigrad.tensor([[1, 2], [4, 1], [1, 0]])
    how = {"scale_grad_by_freq": True}
    bags = minigrad.nn.functional.embedding_bag(input, table, mode="sum", **how)
    rows = minigrad.nn.functional.embedding(input, table, **how).sum(1)
    first, second = (minigrad.autograd.grad((t * t).sum(), table)[0] for t in (bags, rows))
    assert minigrad.allclose(first, second)


def example(L, layer):
    """An input of a layer."""
    shape = (2, 3) if isinstance(layer, L.nn.Linear) else (1, 2, 3, 3)
    return numbers(L, *shape)


def followed(L, note, layer):
    """Note what a layer keeps, gives and learns."""
    note(repr(layer), [(key, t) for key, t in layer.state_dict().items()], type(layer.weight).__name__)
    for _ in range(2):
        out = layer(example(L, layer))
        (out * out.detach().cos()).sum().backward()
    note(out, layer.weight, [((p.grad * 1e6).round(), n) for n, p in layer.named_parameters()])


def test_constants_that_ask_for_a_gradient(L, note):
    """They would get none, so they are refused, in grad mode only."""
    F = L.nn.functional
    scores, classes = L.linspace(0.1, 0.9, 12).reshape(3, 4).requires_grad_(), L.tensor([0, 1, 3])
    pictures, places = scores.reshape(1, 4, 3, 1), L.tensor([[[0], [1], [3]]])
    each, all_of_them = L.ones(4, requires_grad=True), L.ones(3, 4, requires_grad=True)
    target = L.full((3, 4), 0.5)
    calls = [
        lambda: F.nll_loss(scores, classes, weight=each),
        lambda: F.nll_loss(scores.detach(), classes, weight=each),
        lambda: F.nll_loss(pictures, places, weight=each),
        lambda: F.cross_entropy(scores, classes, weight=each),
        lambda: F.binary_cross_entropy(scores, target, weight=all_of_them),
        lambda: F.binary_cross_entropy_with_logits(scores, target, weight=all_of_them),
        lambda: F.binary_cross_entropy_with_logits(scores, target, pos_weight=each),
        lambda: F.batch_norm(scores, each, L.ones(4)),
        lambda: F.batch_norm(scores, L.ones(4), each),
    ]
    for call in calls:
        note.error(call)
        with L.no_grad():
            note(call())
    note(F.cross_entropy(scores, target, weight=each))


def test_refusals(L, note):
    nn, x = L.nn, numbers(L, 2, 3)
    for weighted in (
        nn.CrossEntropyLoss(x.detach()[0], False),
        nn.NLLLoss(reduce=False),
        nn.KLDivLoss(False),
    ):
        note(weighted.reduction, repr(weighted))
