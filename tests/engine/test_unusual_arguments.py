"""Ops called with unusual arguments, in both libraries: frozen parameters, views, tensors that need no
gradient, saved tensors that were modified in place.
"""


def image(L, requires_grad=True, n=2):
    """`n` pictures of 6×6 in which no two numbers are the same."""
    numbers = L.arange(n * 36.0) * 7 % (n * 36 + 1)
    return (numbers.view(n, 1, 6, 6) / 50).requires_grad_(requires_grad)


def test_frozen_parameters(L, note):
    w = L.nn.Parameter(L.arange(6.0).view(3, 2), requires_grad=False)
    x = L.arange(3.0).view(1, 3).requires_grad_()
    for make in (lambda: x @ w, lambda: x * w.t()[:1], lambda: x * L.nn.Parameter(L.ones(3), False)):
        y = make()
        y.sum().backward(retain_graph=True)
        note(x.grad, y)
        (g,) = L.autograd.grad(y.sum(), x, create_graph=True)
        note(g)
    net = L.nn.Linear(3, 2)
    net.weight.data, net.bias.data = L.ones(2, 3), L.zeros(2)
    net.requires_grad_(False)
    net(x).sum().backward()
    note(x.grad)
    kernel = L.nn.Parameter(L.ones(1, 1, 3, 3), requires_grad=False)
    x = image(L)
    L.nn.functional.conv2d(x, kernel).square().sum().backward()
    note(x.grad)


def test_a_frozen_parameter_that_is_written_to(L, note):
    w = L.nn.Parameter(L.arange(6.0).view(3, 2), requires_grad=False)
    x = L.arange(3.0).view(1, 3).requires_grad_()
    w.mul_(2)
    y = (x @ w).sum()
    y.backward(retain_graph=True)
    note(x.grad)
    w.mul_(2)
    note.error(y.backward)


def test_convolutions_with_and_without(L, note):
    f = L.nn.functional
    weight = (L.arange(18.0).view(2, 1, 3, 3) / 9).requires_grad_()
    bias = L.tensor([1.0, 2.0], requires_grad=True)
    for x in (image(L), image(L, False)):
        for b in (None, bias, bias.detach(), (bias * 2)[:2]):
            y = f.conv2d(x, weight, b)
            y.square().sum().backward()
            note(y, x.grad, weight.grad, bias.grad)
            with L.no_grad():
                note(f.conv2d(x, weight, b))
        y = f.conv2d(x, weight.detach(), bias)
        y.square().sum().backward()
        note(y, x.grad, bias.grad)
    note(f.conv2d(image(L, False), weight.detach(), bias.detach()))
    note(f.conv2d(image(L).double(), weight.double(), bias.double()))
    note.error(lambda: f.conv2d(image(L).double(), weight, bias))
    note.error(lambda: f.conv2d(image(L), weight, bias.double()))
    with L.no_grad():
        weight.mul_(2)
    y = f.conv2d(image(L), weight, bias).sum()
    y.backward()
    note(weight.grad)
    note.error(y.backward)


def test_pooling(L, note):
    f = L.nn.functional
    x = image(L)
    y, places = f.max_pool2d(x, 2, return_indices=True)
    note(y, places, y.grad_fn._saved_result1, y.output_nr, places.requires_grad, places.output_nr)
    y.square().sum().backward()
    note(x.grad)
    with L.no_grad():
        note(*f.max_pool2d(x, 2, return_indices=True))
    note(*f.max_pool2d(image(L, False), 3, 1, 1, return_indices=True))
    y = f.max_pool2d(x * 1, 2)
    y.register_hook(lambda g: g * 2)
    y.sum().backward()
    note(x.grad)
    (g,) = L.autograd.grad(f.max_pool2d(x, 2).square().sum(), x, create_graph=True)
    g.square().sum().backward()
    note(g, x.grad)
    y, places = f.max_pool2d(x, 2, return_indices=True)
    places.add_(1)
    note.error(lambda: y.sum().backward())
    y = f.max_pool2d(x * 1, 2).sum()
    y.backward()
    note.error(y.backward)


def test_places_that_are_views(L, note):
    f = L.nn.functional
    x = image(L)
    y, places = f.max_pool2d(x, 2, return_indices=True)
    part = places[:1]
    y.sum().backward()
    note(x.grad, part)


def test_classes(L, note):
    f = L.nn.functional
    scores = (L.arange(12.0).double().view(4, 3) * 5 % 7).requires_grad_()
    many = L.tensor([0, 1, 2, 0, 1, 2])
    weight = L.tensor([1.0, 2.0, 3.0]).double()
    for target in (many[:4].clone(), many[1:5], L.nn.Parameter(many[2:], False)):
        for w in (None, weight, weight[:], L.nn.Parameter(weight, False), weight * weight):
            for reduction in ("mean", "sum", "none"):
                loss = f.cross_entropy(scores, target, w, reduction=reduction)
                note(loss, loss.grad_fn._saved_target)
                loss.sum().backward()
                note(scores.grad)
    with L.no_grad():
        note(f.cross_entropy(scores, many[:4]))
    note.error(lambda: f.cross_entropy(scores, many[:4] + 2))
    note.error(lambda: f.cross_entropy(scores, many[:4].int()))
    target = many[:4]
    loss = f.cross_entropy(scores, target)
    many[0] = 1
    note.error(loss.backward)
    loss = f.cross_entropy(scores, target)
    loss.backward()
    note(loss, scores.grad)


def test_gathered(L, note):
    x = L.arange(12.0).view(4, 3).requires_grad_()
    index = L.tensor([[0, 2], [1, 1]])
    for i in (index, index.t(), L.nn.Parameter(index, False)):
        y = x.gather(1, i)
        note(y, y.grad_fn._saved_index)
        y.square().sum().backward()
        note(x.grad)
        (g,) = L.autograd.grad(x.gather(0, i).square().sum(), x, create_graph=True)
        note(g)
    y = x.index_select(0, index[0])
    index.add_(1)
    note.error(lambda: y.sum().backward())
    y = x.index_select(0, index[0])
    y.sum().backward()
    note(x.grad)
    with L.no_grad():
        note(x.gather(1, index[:, :1] % 3), x.index_select(1, index[0] % 3))
    y = x.masked_fill(x > 3, 0.0)
    y.sum().backward()
    note(y, x.grad)


def test_normalised(L, note):
    f = L.nn.functional
    x = image(L).double().detach().requires_grad_()
    for weight in (None, L.full((6,), 2.0).double(), L.full((6,), 2.0, dtype=L.float64, requires_grad=True)):
        for bias in (None, L.ones(6).double(), L.ones(6, dtype=L.float64, requires_grad=True)):
            y = f.layer_norm(x, (6,), weight, bias)
            y.exp().sum().backward()
            note([None if t is None else t.grad for t in (x, weight, bias)])
    mean, var = L.zeros(1).double(), L.ones(1).double()
    weight = L.full((1,), 2.0, dtype=L.float64, requires_grad=True)
    for training in (True, False):
        y = f.batch_norm(x, mean, var, weight, training=training)
        y.exp().sum().backward()
        note(mean, var, weight.grad, x.grad)
        with L.no_grad():
            note(f.batch_norm(x, mean, var, training=training))


def test_several_results(L, note):
    x = L.arange(12.0).view(4, 3).requires_grad_()
    values, places = x.max(1)
    (values.sum() * 2).backward()
    note(values, places, places.requires_grad, x.grad)
    spread, mean = L.std_mean(x, dim=0)
    mean.sum().backward(retain_graph=True)
    note(spread, mean, x.grad)
    (spread * mean).sum().backward()
    note(x.grad)
    values, places = x.sort(0)
    note(L.autograd.grad(values.square().sum(), x, create_graph=True))
    with L.no_grad():
        note(*x.max(1), *x.topk(2))
    note(*x.detach().topk(2))
    a = L.eye(2, requires_grad=True)
    note(L.linalg.eig(a)[0], L.linalg.eigh(a * 2)[0])
