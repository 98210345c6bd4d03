"""Graphs made by hand, for the tests of what is drawn and told of them."""

from __future__ import annotations

from minigrad_viz.protocol import KEPT, Value
from minigrad_viz.trace.graph import (
    CONSTANT,
    LEAF,
    PARAMETER,
    RESULT,
    ROOT,
    Card,
    Deck,
    Graph,
    Route,
    SavedChip,
    Station,
)


def value(data, dtype="float32"):
    """A snapshot of a number or of nested lists."""
    shape, flat = [], [data]
    while isinstance(flat[0], list):
        shape.append(len(flat[0]))
        flat = [x for row in flat for x in row]
        if not flat:
            return Value((*shape,), dtype, ())
    finite = [float(x) for x in flat if not isinstance(x, complex) and abs(x) < float("inf")]
    low, high = (min(finite), max(finite)) if finite else (None, None)
    return Value(tuple(shape), dtype, tuple(flat) if len(flat) <= KEPT else None, low, high)


class Sketch:
    """A graph under construction, one station a call, in program order."""

    def __init__(self):
        self.stations, self.routes = [], []

    def leaf(self, name, data, grad=None, role=LEAF, deck=True, expr=None, **more):
        """A leaf on its AccumulateGrad, or (`deck=False`) a tensor without a graph."""
        id = f"s{len(self.stations)}"
        asks = deck and role != CONSTANT
        card = Card(f"{id}t", role, name, expr, as_value(data), as_value(grad), grad is not None,
                    requires_grad=asks, **more)  # fmt: skip
        self.stations.append(Station(id, (card,), Deck(f"{id}n", "AccumulateGrad") if asks else None))
        return id

    def constant(self, expr, data, name=None):
        """A tensor that requires no gradient."""
        return self.leaf(name, data, role=CONSTANT, expr=expr)

    def op(
        self, node, name, expr, data, inputs, saved=(), grad=None, kept=False, role=RESULT, order=1, hooks=0
    ):
        """A result. `inputs` are (source station or (station, card), gradient), with gradient False where
        there is no edge; `data` is a list of (name, data) for several outputs. Without `node` there is no
        lower deck."""
        id = f"s{len(self.stations)}"
        entries = []
        for i, (source, gradient) in enumerate(inputs):
            source, card = source if isinstance(source, tuple) else (source, 0)
            tracked = gradient is not False and node is not None
            flowed = (as_value(gradient),) if tracked and gradient is not None else ()
            route = Route(f"r{len(self.routes)}", source, id, card, i, tracked, flowed)
            self.routes.append(route)
            entries.append(route.id if tracked else None)
        outputs = data if isinstance(name, list) else [data]
        cards = tuple(
            Card(
                f"{id}t{i}", role, n, expr, as_value(x), as_value(grad), kept, node is not None, node is None
            )
            for i, (n, x) in enumerate(zip(name if isinstance(name, list) else [name], outputs))
        )
        chips = tuple(
            s if isinstance(s, SavedChip) else SavedChip(s[0], as_value(s[1]), *s[2:]) for s in saved
        )
        deck = Deck(f"{id}n", node, chips, tuple(entries), hooks) if node else None
        self.stations.append(Station(id, cards, deck, order))
        return id

    def graph(self, **more):
        return Graph(tuple(self.stations), tuple(self.routes), **more)


def as_value(data):
    return data if data is None or isinstance(data, Value | str) else value(data)


def code_1():
    s = Sketch()
    x = s.constant("torch.tensor(5.)", 5.0, name="x")
    y = s.op(None, "y", "x ** 3", 125.0, [(x, False)])
    s.op(None, "z", "torch.log(y)", 4.828313827514648, [(y, False)])
    return s.graph(note=("no_graph_unused", {"names": "x"}))


def code_4(after=True):
    s = Sketch()
    g = (lambda x: x) if after else (lambda x: None)
    x = s.leaf("x", 5.0, g(0.6000000238418579), expr="torch.tensor(5., requires_grad=True)")
    y = s.op("PowBackward0", "y", "x ** 3", 125.0, [(x, g(0.6000000238418579))],
             [("self", 5.0, 0, after), ("exponent", "3")], g(0.00800000037997961))  # fmt: skip
    s.op("LogBackward", "z", "torch.log(y)", 4.828313827514648, [(y, g(0.00800000037997961))],
         [("self", 125.0, 0, after)], g(1.0), role=ROOT)  # fmt: skip
    return s.graph()


def code_9():
    s = Sketch()
    x = s.leaf("x", 5.0, 1.600000023841858)
    y = s.op("PowBackward0", "y", "x ** 3", 125.0, [(x, 0.6000000238418579)],
             [("self", 5.0, 0, True), ("exponent", "3")], 0.008)  # fmt: skip
    w = s.op(
        "PowBackward0", "w", "x ** 2", 25.0, [(x, 1.0)], [("self", 5.0, 0, True), ("exponent", "2")], 0.1
    )
    a = s.op("LogBackward", None, "torch.log(y)", 4.8283138, [(y, 0.008)], [("self", 125.0, 0, True)], 1.0)
    b = s.op("SqrtBackward", None, "torch.sqrt(w)", 5.0, [(w, 0.1)], [("result", 5.0, 0, True)], 1.0)
    s.op(
        "AddBackward0",
        "z",
        "torch.log(y) + torch.sqrt(w)",
        9.8283138,
        [(a, 1.0), (b, 1.0)],
        (),
        1.0,
        role=ROOT,
    )
    return s.graph()


def code_10():
    s = Sketch()
    x = s.leaf("x", 5.0, 0.6000000238418579)
    q = s.leaf("q", 3.0, 1.6094379425048828)
    y = s.op("PowBackward1", "y", "x ** q", 125.0, [(x, 0.6000000238418579), (q, 1.6094379425048828)],
             [("self", 5.0, 0, True), ("exponent", 3.0, 0, True), ("result", 125.0, 0, True)],
             0.008)  # fmt: skip
    s.op(
        "LogBackward",
        "z",
        "torch.log(y)",
        4.8283138,
        [(y, 0.008)],
        [("self", 125.0, 0, True)],
        1.0,
        role=ROOT,
    )
    return s.graph()


def code_13():
    s = Sketch()
    x = s.leaf("x", 5.0, 74.0)
    a = s.constant("torch.tensor([2., 3., 5.])", [2.0, 3.0, 5.0])
    y = s.op("MulBackward0", "y", "x * torch.tensor([2., 3., 5.])", [10.0, 15.0, 25.0],
             [(x, 74.0), (a, False)], [("other", [2.0, 3.0, 5.0], 0, True)], [4.0, 7.0, 9.0],
             kept=True)  # fmt: skip
    b = s.constant("torch.tensor([4., 7., 9.])", [4.0, 7.0, 9.0])
    s.op("DotBackward", "z", "y @ torch.tensor([4., 7., 9.])", 370.0, [(y, [4.0, 7.0, 9.0]), (b, False)],
         [("tensor", [4.0, 7.0, 9.0], 0, True)], 1.0, kept=True, role=ROOT)  # fmt: skip
    return s.graph()


def code_18():
    s = Sketch()
    x = s.leaf("x", 5.0, -0.12)
    y = s.op("PowBackward0", "y", "x ** 3", 125.0, [(x, -0.36)], [("self", 5.0), ("exponent", "3")], -0.0048)
    s.op("LogBackward", "z", "torch.log(y)", 4.8283138, [(y, None)], [("self", 125.0)], role=ROOT)
    d = s.op(
        "DivBackward0", None, None, 0.008, [(y, -0.0048)], [("self", 1.0), ("other", 125.0)], 75.0, order=2
    )
    p = s.op(
        "PowBackward0", None, None, 25.0, [(x, 0.24)], [("self", 5.0), ("exponent", "2")], 0.024, order=2
    )
    m = s.op("MulBackward0", None, None, 75.0, [(p, 0.024)], [("other", "3")], 0.008, order=2)
    s.op("MulBackward0", "∂z/∂x", None, 0.6, [(d, 75.0), (m, 0.008)], [("self", 0.008), ("other", 75.0)], 1.0,
         role=ROOT, order=2)  # fmt: skip
    return s.graph()


def hangul():
    s = Sketch()
    identity = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    x = s.leaf("가중치", [[1.0, -2.0, 0.5], [0.25, 3.0, 1.0], [0.0, 1.0, 2.0]], identity,
               role=PARAMETER)  # fmt: skip
    b = s.constant('텐서("입력값은_아주_긴_문자열입니다")', [[0.1] * 20] * 100, name="입력")
    y = s.op("MmBackward0", "결과값", "입력 @ 가중치 + 한글로_쓴_아주_긴_이름의_변수",
             [[0.5, 1.5], [2.5, 3.5]], [(b, False), (x, identity)],
             [("self", [[0.5, 1.5], [2.5, 3.5]], 1), ("mat2", [[0.1] * 20] * 100), ("mat2_sizes", "(3, 3)")],
             [[1.0, 0.5], [0.25, -1.0]])  # fmt: skip
    s.op("SumBackward0", "손실", "결과값.sum()", 8.0, [(y, [[1.0, 0.5], [0.25, -1.0]])],
         [("self_sizes", "(2, 2)")], 1.0, kept=True, role=ROOT, hooks=2)  # fmt: skip
    return s.graph()


def outputs():
    """A node with two outputs, both used; and one tensor used twice by the same op."""
    s = Sketch()
    x = s.leaf("x", [3.0, 4.0], [8.0, 6.0])
    u = s.op("UnbindBackward0", ["a", "b"], "x.unbind()", [3.0, 4.0], [(x, [8.0, 6.0])], [("dim", "0")])
    p = s.op(
        "MulBackward0",
        "p",
        "a * b",
        12.0,
        [((u, 0), 4.0), ((u, 1), 3.0)],
        [("self", 3.0), ("other", 4.0)],
        1.0,
    )
    q = s.op(
        "MulBackward0", "q", "p * p", 144.0, [(p, 12.0), (p, 12.0)], [("self", 12.0), ("other", 12.0)], 1.0
    )
    s.op("SubBackward0", "z", "q - a", 141.0, [(q, 1.0), ((u, 0), -1.0)], (), 1.0, role=ROOT)
    return s.graph()


def many_uses(n=1000, chain=True):
    """A leaf used `n` times: along a chain of additions, or all by one op."""
    s = Sketch()
    x = s.leaf("x", 1.0, float(n))
    if not chain:
        s.op(
            "StackBackward0",
            "y",
            "torch.stack([x] * n)",
            [1.0] * n,
            [(x, 1.0)] * n,
            [("dim", "0")],
            role=ROOT,
        )
        return s.graph()
    y = s.op("MulBackward0", "y", "x * x", 1.0, [(x, 1.0), (x, 1.0)], [("self", 1.0), ("other", 1.0)], 1.0)
    for i in range(n - 2):
        y = s.op("AddBackward0", "y", "y + x", i + 2.0, [(y, 1.0), (x, 1.0)], (), 1.0)
    return s.graph()


HOSTILE = [
    "<script>alert(1)</script>", 'x"onload="alert(1)', "a'b", "]]>", "&amp; & &lt;",
    "two\nlines\r\n\tand tabs", "\u202edesrever\u2066", "nul\x00bell\x07\x1b[31mred\x1b[0m", "\ud800lone",
    "\ufffe\uffff", "]]><!--", "-->", "x" * 5000, "가" * 500, "e\u0301\u0323" * 40, "\N{ZERO WIDTH SPACE}",
    "שלום", "\\N \\G \\l {a|b} <b>", "%1 ${x}",
]  # fmt: skip


def hostile():
    """Every name, expression, node name and saved text out of `HOSTILE`."""
    s = Sketch()
    previous = s.leaf(HOSTILE[0], 1.0, 1.0)
    for evil in HOSTILE:
        previous = s.op(evil, evil, evil, 1.0, [(previous, 1.0)], [(evil, evil), (evil, 2.0, 3, True)], 1.0)
    return s.graph()


def chain(n):
    s = Sketch()
    y = s.leaf("x", 1.0, 1.0)
    for _ in range(n):
        y = s.op("MulBackward0", "y", "y * 1.001", 1.5, [(y, 1.0)], [("other", "1.001")], 1.0)
    return s.graph()


GRAPHS = {
    "code_1": code_1, "code_4": code_4, "code_4_before": lambda: code_4(False), "code_9": code_9,
    "code_10": code_10,
    "code_13": code_13, "code_18": code_18, "hangul": hangul, "outputs": outputs, "hostile": hostile,
    "many_uses_20": lambda: many_uses(20), "fan_in_20": lambda: many_uses(20, False), "one": lambda: chain(0),
    "ten": lambda: chain(9),
}  # fmt: skip
