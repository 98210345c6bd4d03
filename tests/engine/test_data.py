"""Datasets, samplers and loaders in both libraries: the same batches in the same order."""

import importlib

import pytest
from calls import assert_same_ends

pytestmark = pytest.mark.quick


def data_of(L):
    return importlib.import_module(f"{L.__name__}.utils.data")


def examples(L, count=7):
    data = data_of(L)
    x = L.arange(count * 2).reshape(count, 2) * 1.0
    return data.TensorDataset(x, L.arange(count))


def test_in_order(L, note):
    data = data_of(L)
    for how in ({}, {"batch_size": 3}, {"batch_size": 3, "drop_last": True}, {"batch_size": None}):
        loader = data.DataLoader(examples(L), **how)
        note(len(loader), [[*batch] for batch in loader])


def test_in_an_order_drawn_anew(L, note):
    data = data_of(L)
    L.manual_seed(0)
    loader = data.DataLoader(examples(L), batch_size=3, shuffle=True)
    for _ in range(3):
        note([batch[1] for batch in loader])
    note(L.rand(2))
    generator = L.Generator().manual_seed(5)
    loader = data.DataLoader(examples(L), batch_size=4, shuffle=True, generator=generator)
    for _ in range(2):
        note([batch[1] for batch in loader])
    note(L.rand(2))


def test_samplers(L, note):
    data = data_of(L)
    L.manual_seed(1)
    many = data.RandomSampler(range(5), replacement=True, num_samples=40)
    note(list(many), len(many), list(data.RandomSampler(range(5), num_samples=12)))
    note(list(data.WeightedRandomSampler([0.0, 1.0, 3.0], 10)), list(data.SequentialSampler(range(3))))
    batches = data.BatchSampler(data.SequentialSampler(range(7)), 3, False)
    note(list(batches), len(batches), len(data.BatchSampler(data.SequentialSampler(range(7)), 3, True)))
    note([batch[1] for batch in data.DataLoader(examples(L), batch_sampler=batches)])
    note([batch[1] for batch in data.DataLoader(examples(L), sampler=[4, 2, 0], batch_size=2)])


def test_batches_at_once(L, note):
    """Batches that are taken out of the tensors at once, and some that cannot be."""
    data = data_of(L)
    x, y = L.arange(12).reshape(3, 4).T * 1.0, L.arange(4)
    some = data.TensorDataset(x, y, L.ones(4, 1, dtype=L.float16))
    part = data.Subset(data.Subset(some, [3, 0, -2]), (2, 1, 0))
    learned = data.TensorDataset(x.clone().requires_grad_(), y)
    order = [[-1, 0], (2,), [L.tensor(1)]]
    for dataset in (some, part, learned):
        for batch in data.DataLoader(dataset, batch_size=2):
            note(*batch, [(t.stride(), t.requires_grad, t._version) for t in batch])
    with L.no_grad():
        note([[*batch] for batch in data.DataLoader(learned, batch_size=3)])
    with L.inference_mode():
        note([t.is_inference() for t in next(iter(data.DataLoader(some, batch_size=3)))])
    for indices in order:
        note([[*batch] for batch in data.DataLoader(some, batch_sampler=[indices])])
    for bad in ([4], [0, -5], [], ["x"]):
        note.error(lambda bad=bad: list(data.DataLoader(some, batch_sampler=[bad])))


def test_parts(L, note):
    data = data_of(L)
    L.manual_seed(2)
    for lengths in ([3, 4], [0.5, 0.3, 0.2]):
        note([[example[1] for example in part] for part in data.random_split(examples(L), lengths)])
    both = examples(L, 3) + examples(L, 2)
    note(len(both), [example[1] for example in (both[0], both[3], both[-1])])
    note(len(data.Subset(both, [1, 4])), data.Subset(both, [1, 4])[1])


def test_collated(L, note):
    data = data_of(L)
    batch = [
        {"a": 1, "b": (2.0, "x"), "c": L.ones(2), "d": True},
        {"a": 3, "b": (4.0, "y"), "c": L.zeros(2), "d": False},
    ]
    made = data.default_collate(batch)
    note(made["a"], made["b"], made["c"], made["d"])

    class Stream(data.IterableDataset):
        def __iter__(self):
            return iter(range(5))

    note(list(data.DataLoader(Stream(), batch_size=2)), list(data.DataLoader(Stream(), batch_size=None)))
    note(list(data.DataLoader([3, 4, 5], batch_size=2, collate_fn=sum)))


REFUSED = """
data.DataLoader(some, batch_size=0) | data.DataLoader(some, shuffle=True, sampler=[1])
data.DataLoader(some, batch_sampler=[[1]], shuffle=True)
data.DataLoader(some, batch_size=None, drop_last=True) | data.DataLoader(some, num_workers=-1)
data.RandomSampler([]) | data.RandomSampler(some, replacement=3) | data.random_split(some, [1, 2])
data.random_split(some, [1.5, -0.5]) | data.Dataset()[0] | data.ConcatDataset([])
data.TensorDataset(L.ones(2), L.ones(3))
"""


def test_what_is_refused(torch):
    assert_same_ends(torch, REFUSED, lambda L: {"data": data_of(L), "some": examples(L)})
