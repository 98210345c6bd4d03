"""Random programs with loaders, samplers, generators and seeds: the same batches and random numbers."""

from __future__ import annotations

import importlib
import random
from collections import namedtuple
from typing import Any

from twins import is_tensor, outcome

Pair = namedtuple("Pair", "a b")

# What is drawn: all that does not come from Intel's library, whose numbers depend on the processor.
DRAWS: dict[str, Any] = {
    "rand": lambda L, n, g: L.rand(n, generator=g),
    "rand double": lambda L, n, g: L.rand(n, 2, dtype=L.float64, generator=g),
    "randn": lambda L, n, g: L.randn(n, generator=g),
    "randn long": lambda L, n, g: L.randn(17 + n, generator=g),
    "randn double": lambda L, n, g: L.randn(n, dtype=L.float64, generator=g),
    "randint": lambda L, n, g: L.randint(-3, 9, (n, 2), generator=g),
    "randint large": lambda L, n, g: L.randint(0, 2**40, (n,), generator=g),
    "randperm": lambda L, n, g: L.randperm(n, generator=g),
    "uniform_": lambda L, n, g: L.zeros(n).uniform_(-1, 2, generator=g),
    "normal_": lambda L, n, g: L.zeros(n).normal_(1, 0.5, generator=g),
    "random_": lambda L, n, g: L.zeros(n, dtype=L.int64).random_(generator=g),
    "random_ to": lambda L, n, g: L.zeros(n).random_(5, generator=g),
    "normal": lambda L, n, g: L.normal(L.arange(float(n)), 2.0, generator=g),
    "bernoulli": lambda L, n, g: L.bernoulli(L.full((n,), 0.4), generator=g),
    "rand_like": lambda L, n, g: L.rand_like(L.zeros(n, 2)),
    "randn_like": lambda L, n, g: L.randn_like(L.zeros(n, 2).t()),
    "dropout": lambda L, n, g: L.nn.functional.dropout(L.ones(n, 3), 0.5),
    "Linear": lambda L, n, g: L.nn.Linear(n + 1, 2).weight.detach(),
    "Embedding": lambda L, n, g: L.nn.Embedding(n + 1, 2).weight.detach(),
    "Conv1d": lambda L, n, g: L.nn.Conv1d(1, 2, n + 1).weight.detach(),
    "xavier": lambda L, n, g: L.nn.init.xavier_normal_(L.zeros(n + 1, 3)),
    "kaiming": lambda L, n, g: L.nn.init.kaiming_uniform_(L.zeros(n + 1, 3), generator=g),
    "trunc": lambda L, n, g: L.nn.init.trunc_normal_(L.zeros(n, 3), generator=g),
    "bool": lambda L, n, g: L.zeros(n, dtype=L.bool).random_(generator=g),
}
KINDS = (
    "tensors", "tensors", "subset", "list", "dicts", "pairs", "stream", "numbers", "concat", "gradients",
    "texts",
)  # fmt: skip
SAMPLERS = (
    "none", "none", "list", "random", "random with", "replacement", "weighted", "subset", "batches",
    "batches of random", "reversed",
)  # fmt: skip
COLLATES = ("default", "default", "default", "list", "sum", "stack", "error")
EVENTS = (
    "draw", "draw", "draw", "pass", "pass", "part of a pass", "two passes", "seed", "generator",
    "keep state", "restore", "length", "split", "fork", "initial seed", "state of default",
)  # fmt: skip


def dataset_of(L: Any, kind: str, n: int) -> Any:
    """A dataset of `n` examples."""
    data = importlib.import_module(f"{L.__name__}.utils.data")
    x, y = L.arange(2.0 * n).reshape(n, 2), L.arange(n)
    tensors = data.TensorDataset(x, y)
    if kind == "subset":
        return data.Subset(tensors, list(range(n - 1, -1, -1))[: max(1, n - 1)] if n else [])
    if kind == "list":
        return [x[i] for i in range(n)]
    if kind == "dicts":
        return [{"x": x[i], "y": i, "z": [i * 0.5, str(i)]} for i in range(n)]
    if kind == "pairs":
        return [Pair(x[i], (i, i % 2 == 0)) for i in range(n)]
    if kind == "numbers":
        return [i * 0.5 for i in range(n)]
    if kind == "texts":
        return [str(i) for i in range(n)]
    if kind == "concat":
        return data.ConcatDataset([tensors, data.TensorDataset(x * 2, y)]) if n else tensors
    if kind == "gradients":
        return data.TensorDataset(x.requires_grad_(), y)
    if kind == "stream":

        class Stream(data.IterableDataset):
            def __iter__(self) -> Any:
                return iter(range(n))

        return Stream()
    return tensors


def collate(L: Any, kind: str) -> Any:
    """How a batch is made of examples; None for the default."""
    if kind == "error":

        def fail(batch: Any) -> Any:
            raise ValueError(len(batch))

        return fail
    return {
        "default": None,
        "list": list,
        "sum": lambda batch: len(batch),
        "stack": lambda batch: L.stack([b[0] if isinstance(b, tuple) else b for b in batch]),
    }[kind]


class Session:
    """One program in one library."""

    def __init__(self, L: Any, note: Any) -> None:
        self.L, self.note = L, note
        self.data = importlib.import_module(f"{L.__name__}.utils.data")
        self.generators: list[Any] = [None]
        self.states: list[Any] = []
        self.loader: Any = None

    def sampler(self, kind: str, dataset: Any, n: int, g: Any) -> dict[str, Any]:
        data, L = self.data, self.L
        if kind == "none":
            return {}
        if kind == "batches":
            return {"batch_sampler": [[0, n - 1], [], [0]][: 1 + n % 3]}
        if kind == "batches of random":
            return {
                "batch_sampler": data.BatchSampler(data.RandomSampler(dataset, generator=g), 2, n % 2 == 0)
            }
        made = {
            "list": lambda: [n - 1, 0, 0],
            "random": lambda: data.RandomSampler(dataset),
            "random with": lambda: data.RandomSampler(dataset, num_samples=2 * n + 1, generator=g),
            "replacement": lambda: data.RandomSampler(dataset, True, n + 35, g),
            "weighted": lambda: data.WeightedRandomSampler([0.5 + i for i in range(n)], n + 2, True, g),
            "subset": lambda: data.SubsetRandomSampler(list(range(n)), generator=g),
            "reversed": lambda: L.arange(n - 1, -1, -1).tolist(),
        }[kind]()
        return {"sampler": made}

    def make(self, kind: str, n: int, sampler: str, options: dict[str, Any], collate_fn: str, k: int) -> None:
        """Make the loader."""
        g = self.generators[k % len(self.generators)]
        dataset = dataset_of(self.L, kind, n)
        given = self.sampler(sampler, dataset, n, g)
        self.loader = self.data.DataLoader(
            dataset, collate_fn=collate(self.L, collate_fn), generator=g, **options, **given
        )

    def event(self, kind: str, name: str, n: int, k: int) -> Any:
        L = self.L
        g = self.generators[k % len(self.generators)]
        if kind == "draw":
            return DRAWS[name](L, n, g)
        if kind == "seed":
            return (L.manual_seed(n) if g is None else g.manual_seed(-n)).initial_seed()
        if kind == "generator":
            self.generators.append(L.Generator().manual_seed(n * 1000003))
        elif kind == "keep state":
            self.states.append((g, L.get_rng_state() if g is None else g.get_state()))
        elif kind == "restore" and self.states:
            g, state = self.states[k % len(self.states)]
            L.set_rng_state(state) if g is None else g.set_state(state)
        elif kind == "initial seed":
            return L.initial_seed() if g is None else g.initial_seed()
        elif kind == "state of default":
            return L.get_rng_state().sum() if g is None else g.get_state().shape
        elif kind == "split":
            parts = self.data.random_split(
                range(n + 2), [n, 2] if k % 2 else [0.5, 0.25, 0.25], generator=g or L.default_generator
            )
            return [list(part) for part in parts]
        elif kind == "fork":
            with L.random.fork_rng():
                inside = L.rand(n)
            return inside
        elif self.loader is not None:
            if kind == "length":
                return len(self.loader)
            if kind == "part of a pass":
                return [batch for batch, _ in zip(self.loader, range(2))]
            if kind == "two passes":
                return [*zip(self.loader, self.loader)]
            return list(self.loader)
        return None


def contents(thing: Any) -> Any:
    """What of a batch must be equal: names of classes with the contents."""
    if is_tensor(thing):
        return thing
    if isinstance(thing, dict):
        return [(k, contents(v)) for k, v in thing.items()]
    if isinstance(thing, (tuple, list)):
        return [type(thing).__name__, [contents(t) for t in thing]]
    return thing


def program_of(seed: int) -> Any:
    """A program as `assert_same_diary` runs it."""
    rng = random.Random(seed)
    how = {
        "batch_size": rng.choice((1, 2, 3, 5, None, 100)),
        "drop_last": rng.random() < 0.3,
        "shuffle": rng.choice((None, False, True)),
    }
    options = {k: v for k, v in how.items() if rng.random() < 0.6}
    n = rng.choice((0, 1, 4, 5, 7))
    kind, sampler, collate_fn = rng.choice(KINDS), rng.choice(SAMPLERS), rng.choice(COLLATES)
    if sampler.startswith("batches") and rng.random() < 0.8:
        options = {}
    if sampler != "none":
        options.pop("shuffle", None)
    first = rng.randrange(100)
    events = [
        (rng.choice(EVENTS), rng.choice([*DRAWS]), rng.randrange(6), rng.randrange(9))
        for _ in range(rng.randrange(2, 9))
    ]

    def program(L: Any, note: Any) -> None:
        L.manual_seed(first)
        session = Session(L, note)
        session.generators.append(L.Generator().manual_seed(first + 1))
        made = outcome(session.make, kind, n, sampler, options, collate_fn, first)
        note(
            "made",
            made if isinstance(made, tuple) else kind == "stream" or type(session.loader.sampler).__name__,
        )
        for kind_of_event, *rest in events:
            note(kind_of_event, contents(outcome(session.event, kind_of_event, *rest)))
        note(L.rand(2), [g.initial_seed() for g in session.generators if g is not None])

    return program
