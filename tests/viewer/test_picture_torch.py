"""Pictures of graphs that PyTorch made."""

from __future__ import annotations

from pictures import crosses_nothing, draw, parse

from minigrad_viz.protocol import KEPT, Value
from minigrad_viz.trace.graph import LEAF, RESULT, ROOT, Card, Deck, Graph, Route, SavedChip, Station


def from_torch(root, names):
    """The `Graph` behind a tensor of PyTorch, whose backward is run once. `names` are variables by name."""
    flowed = {}
    order, numbers, todo = [], {}, [(root.grad_fn, False)]
    while todo:  # inputs before those that use them
        node, entered = todo.pop()
        if entered:
            numbers[node] = len(order)
            order.append(node)
        elif node not in numbers:
            numbers[node] = -1
            todo.append((node, True))
            todo += [
                (child, False)
                for child, _ in node.next_functions
                if child is not None and child not in numbers
            ]
    for node in order:
        if node.name() != "torch::autograd::AccumulateGrad":
            node.register_hook(lambda sent, received, node=node: flowed.update({node: (sent, received)}))
    saved = {
        node: [saved_of(node, name) for name in dir(node) if name.startswith("_saved_")] for node in order
    }
    root.sum().backward(retain_graph=True)
    variables = {id(tensor): name for name, tensor in names.items()}
    makers = {tensor.grad_fn: name for name, tensor in names.items() if tensor.grad_fn is not None}
    stations, routes = [], []
    for i, node in enumerate(order):
        inputs = []
        for j, (child, output) in enumerate(node.next_functions):
            inputs.append(None if child is None else f"r{len(routes)}")
            if child is not None:
                sent = flowed[node][0][j] if node in flowed and flowed[node][0][j] is not None else None
                gradients = (snapshot(sent),) if sent is not None else ()
                routes.append(
                    Route(f"r{len(routes)}", f"s{numbers[child]}", f"s{i}", output, j, True, gradients)
                )
        if (leaf := getattr(node, "variable", None)) is not None:
            card = Card(
                f"s{i}t", LEAF, variables.get(id(leaf)), None, snapshot(leaf), snapshot(leaf.grad), True, True
            )
            stations.append(Station(f"s{i}", (card,), Deck(f"s{i}n", "AccumulateGrad")))
            continue
        received = flowed[node][1] if node in flowed else ()
        role, many = (ROOT if node is root.grad_fn else RESULT), max(1, len(received))
        cards = tuple(
            Card(f"s{i}t{n}", role, makers.get(node) if many == 1 else None, None, None,
                 snapshot(received[n]) if received and received[n] is not None else None, False, True, False)
            for n in range(many)
        )  # fmt: skip
        stations.append(
            Station(f"s{i}", cards, Deck(f"s{i}n", node.name(), tuple(saved[node]), tuple(inputs)))
        )
    return Graph(tuple(stations), tuple(routes))


def saved_of(node, name):
    value = getattr(node, name)
    return SavedChip(name[7:], snapshot(value) if hasattr(value, "tolist") else str(value))


def snapshot(tensor):
    tensor = tensor.detach()
    flat = tensor.reshape(-1)
    low, high = (float(flat.min()), float(flat.max())) if flat.numel() else (None, None)
    items = tuple(flat.tolist()) if flat.numel() <= KEPT else None
    return Value(tuple(tensor.shape), str(tensor.dtype).removeprefix("torch."), items, low, high)


def torch_graphs(torch):
    """Graphs as PyTorch builds them: layers, several outputs, views, convolution, residuals, recurrence."""
    torch.manual_seed(0)
    x = torch.randn(4, 3, requires_grad=True)
    w, b = torch.randn(3, 2, requires_grad=True), torch.zeros(2, requires_grad=True)
    h = torch.relu(x @ w + b)
    loss = torch.nn.functional.cross_entropy(h, torch.tensor([0, 1, 1, 0]))
    yield "mlp", from_torch(loss, {"x": x, "w": w, "b": b, "h": h, "loss": loss})
    values, _ = x.sort()
    parts = values.split(1, dim=1)
    z = (parts[0] * parts[1] - parts[2] / parts[0]).norm()
    yield "split", from_torch(z, {"x": x, "values": values, "z": z})
    image = torch.randn(1, 1, 6, 6, requires_grad=True)
    net = torch.nn.Sequential(
        torch.nn.Conv2d(1, 2, 3),
        torch.nn.BatchNorm2d(2),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
    )
    y = net(image).pow(2).mean()
    yield "conv", from_torch(y, {"image": image, "y": y})
    state = torch.zeros(2, requires_grad=True)
    u = torch.randn(2, 2, requires_grad=True)
    run = state
    for _ in range(12):
        run = torch.tanh(u @ run + b) + run
    yield "recurrence", from_torch(run.sum(), {"state": state, "u": u, "b": b})
    v = x.clone()
    v[0].mul_(2)
    yield "view", from_torch(v.sum() + x.sum(), {"x": x, "v": v})


def test_graphs_of_pytorch(torch):
    for name, graph in torch_graphs(torch):
        svg, _ = draw(graph)
        root, elements = parse(svg)
        assert {station.id for station in graph.stations} <= set(elements), name
        assert (
            sum((e.get("class") or "").startswith("pill") for e in root.iter()) >= len(graph.stations) - 3
        ), name
        crosses_nothing(graph)
