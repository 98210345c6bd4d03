"""Modules in both libraries: what they keep, how they are called, their hooks, their state, their errors."""

import collections
import re
import warnings

import pytest

pytestmark = pytest.mark.quick


def linear(L):
    """A class of modules with parameters and buffers."""

    class Linear(L.nn.Module):
        def __init__(self, n, m):
            super().__init__()
            self.weight = L.nn.Parameter(L.ones(m, n))
            self.bias = L.nn.Parameter(L.zeros(m))
            self.register_buffer("count", L.tensor(0.0))
            self.register_buffer("scratch", L.tensor(1.0), persistent=False)
            self.n = n

        def forward(self, x):
            return x @ self.weight.t() + self.bias

        def extra_repr(self):
            return f"n={self.n}"

    return Linear


def model(L):
    """Modules in modules, in a list and in a dictionary."""
    Linear = linear(L)

    class Net(L.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = Linear(2, 3)
            self.rest = L.nn.Sequential(Linear(3, 3), Linear(3, 1))
            self.spare = L.nn.ModuleList([Linear(1, 1), Linear(1, 1), Linear(2, 2)])
            self.named = L.nn.ModuleDict({"x": Linear(1, 2)})
            self.again = self.first

        def forward(self, x):
            return self.rest(self.first(x))

    return Net()


def failed(note, function):
    """Note the class and the text of an error, in PyTorch's words."""
    with pytest.raises(Exception) as raised:
        function()
    text = str(raised.value).replace("minigrad.", "torch.").replace("torch.tensor.tensor.", "torch.")
    note(type(raised.value).__name__, re.sub(r"tests?\.\w+\.", "", text))


def test_what_it_has(L, note):
    net = model(L)
    note(repr(net))
    note([name for name, _ in net.named_parameters()], [name for name, _ in net.named_buffers()])
    note([name for name, _ in net.named_modules()], [name for name, _ in net.named_children()])
    note([name for name, _ in net.named_modules(remove_duplicate=False)][-2:])
    note(list(net.state_dict()), len(list(net.parameters())), len(list(net.first.parameters(recurse=False))))
    note(net.get_submodule("rest.0").n, net.get_parameter("rest.1.bias"), net.get_buffer("first.count"))
    note("weight" in dir(net.first), "first" in dir(net), sorted(net.first.__dict__["_parameters"]))


def test_assigning_tells_kinds_apart(L, note):
    net = linear(L)(2, 2)
    net.bias = None
    note(net.bias, list(net.state_dict()))
    net.bias = L.nn.Parameter(L.ones(2))
    net.count = L.tensor(3.0)
    net.extra = linear(L)(1, 1)
    net.plain = 5
    note(list(net.state_dict()), net.count, net.plain)
    del net.extra, net.weight
    note(list(net.state_dict()), hasattr(net, "weight"))
    net.plain = L.nn.Parameter(L.zeros(1))
    note("plain" in net.__dict__, list(net.state_dict()))


def test_refused_names_and_values(L, note):
    net = model(L)
    failed(note, lambda: setattr(net.first, "weight", L.ones(1)))
    failed(note, lambda: setattr(net.first, "weight", 3))
    failed(note, lambda: setattr(net.first, "count", "text"))
    failed(note, lambda: setattr(net, "first", 3))
    failed(note, lambda: net.nothing)
    for name, tensor in (("a.b", None), ("", None), ("first", L.ones(1)), (3, None), ("new", 3)):
        failed(note, lambda name=name, tensor=tensor: net.register_buffer(name, tensor))
    failed(note, lambda: net.register_parameter("q", L.ones(1)))
    computed = L.nn.Parameter(L.ones(1), requires_grad=False)
    computed.mul_(L.ones(1, requires_grad=True))
    failed(note, lambda: net.register_parameter("q", computed))
    failed(note, lambda: net.register_parameter("first", None))
    failed(note, lambda: net.add_module("q", 3))
    failed(note, lambda: net.add_module("a.b", linear(L)(1, 1)))
    for target in ("first.none", "first.n"):
        failed(note, lambda target=target: net.get_submodule(target))
    failed(note, lambda: net.get_parameter("first.n"))
    failed(note, lambda: net.get_buffer("first.weight"))
    failed(note, lambda: net.train("yes"))
    failed(note, lambda: L.nn.Module()(1))


def test_init_comes_first(L, note):
    for value in (L.nn.Parameter(L.ones(1)), L.nn.Module()):

        class Early(L.nn.Module):
            def __init__(self, value=value):
                self.early = value

        failed(note, Early)


def test_forward_hooks(L, note):
    net = linear(L)(2, 1)
    x = L.tensor([[1.0, 2.0]])
    handles = [
        net.register_forward_pre_hook(lambda module, args: note("pre", len(args))),
        net.register_forward_hook(lambda module, args, out: note("post", out)),
        net.register_forward_hook(lambda module, args, out: out * 10, prepend=True),
        net.register_forward_pre_hook(lambda module, args, kwargs: (args, kwargs), with_kwargs=True),
    ]
    note(net(x), net(x=x))
    net.register_forward_pre_hook(lambda module, args: args[0] * 2)
    note(net(x))
    for handle in handles:
        handle.remove()
    note(net(x))


def test_backward_hooks(L, note):
    net = model(L)
    x = L.tensor([[1.0, 2.0]], requires_grad=True)
    net.first.register_full_backward_hook(lambda module, came, went: note("hook", came, went))
    net.rest.register_full_backward_pre_hook(lambda module, went: note("pre", went))
    net.rest.register_full_backward_hook(lambda module, came, went: (came[0] * 2,))
    out = net(x)
    note(out.grad_fn.name())
    out.sum().backward()
    note(x.grad, net.first.weight.grad)
    net(x.detach()).sum().backward()
    failed(note, lambda: bad_hook(L, net.rest, x))


def test_backward_hooks_of_calls_without_inputs_that_need_gradients(L, note):
    for result in (None, (None,), (None, None), [None], (L.ones(2),), 3):
        layer = L.nn.Linear(2, 2)
        layer.register_full_backward_hook(lambda module, came, went, result=result: result)
        note.error(lambda layer=layer: layer(L.ones(1, 2)).sum().backward())


def test_backward_hooks_of_outputs_of_other_kinds(L, note):
    Pair = collections.namedtuple("Pair", "a b")
    for pack in (lambda y: {"a": y}, lambda y: [y], lambda y: (y, 3), lambda y: Pair(y, [y]), lambda y: None):

        class Net(L.nn.Linear):
            def forward(self, x, pack=pack):
                return pack(super().forward(x))

        for how in ("register_full_backward_hook", "register_full_backward_pre_hook"):
            net = Net(2, 2)
            getattr(net, how)(lambda module, *grads: note(len(grads)))
            with warnings.catch_warnings(record=True) as shown:
                warnings.simplefilter("always")
                out = net(L.ones(1, 2, requires_grad=True))
            note(type(out).__name__, [(w.category.__name__, str(w.message)) for w in shown])
            if out is not None:
                (out["a"] if isinstance(out, dict) else out[0]).sum().backward()


def test_backward_hooks_in_the_second_derivative(L, note):
    layer = L.nn.Linear(2, 2)
    layer.weight.data, layer.bias.data = L.tensor([[1.0, 2.0], [3.0, 4.0]]), L.zeros(2)
    layer.register_full_backward_hook(lambda module, came, went: note("hook", came, went))
    x = L.ones(1, 2, requires_grad=True)
    (g,) = L.autograd.grad((layer(x) ** 3).sum(), x, create_graph=True)
    g.sum().backward()
    note(x.grad)


def test_backward_hooks_of_a_pass_that_reaches_no_output(L, note):
    class Net(L.nn.Module):
        def forward(self, x):
            self.inner = x * 2
            return self.inner * 3

    net, x = Net(), L.ones(2, requires_grad=True)
    net.register_full_backward_hook(lambda module, came, went: note("hook", came, went))
    out = net(x)
    net.inner.sum().backward(retain_graph=True)
    note(x.grad)
    out.sum().backward()
    note(x.grad)


def bad_hook(L, module, x):
    module.register_full_backward_hook(lambda module, came, went: (came[0], came[0]))
    module(L.ones(1, 3, requires_grad=True)).sum().backward()


def test_state_is_saved_and_loaded(L, note):
    net = model(L)
    state = net.state_dict()
    note(state["first.weight"].requires_grad, state["first.weight"].data_ptr() == net.first.weight.data_ptr())
    note(net.state_dict(keep_vars=True)["first.weight"] is net.first.weight)
    doubled = {name: t * 2 for name, t in state.items()}
    note(str(net.load_state_dict(doubled)), net.first.weight)
    told = net.load_state_dict({"zzz": L.ones(1), "first.weight": L.zeros(3, 2)}, strict=False)
    note(told.missing_keys[:3], told.unexpected_keys, net.first.weight)
    failed(note, lambda: net.load_state_dict({"first.weight": L.ones(2, 2), "zzz": L.ones(1)}))
    failed(note, lambda: net.load_state_dict(3))
    note(str(net.load_state_dict(doubled, assign=True)), net.first.weight)


def test_modes_and_gradients(L, note):
    net = model(L)
    note(net.eval().training, net.first.training, net.train().rest[0].training)
    net(L.ones(1, 2)).sum().backward()
    note(net.first.weight.grad)
    net.zero_grad(set_to_none=False)
    note(net.first.weight.grad)
    net.zero_grad()
    note(net.first.weight.grad)
    net.first.requires_grad_(False)
    note([p.requires_grad for p in net.parameters()][:4])
    seen = []
    net.apply(lambda module: seen.append(type(module).__name__))
    note(seen)


def test_dtypes(L, note):
    net = linear(L)(2, 2)
    net(L.ones(1, 2)).sum().backward()
    weight = net.weight
    for convert in ("double", "half", "float"):
        getattr(net, convert)()
        note(net.weight, net.weight.grad, net.count, net.weight is weight)
    net.to(L.float64)
    note(net.bias)
    net.to("cpu", dtype=L.float32)
    note(net.bias, net.cpu() is net)
    failed(note, lambda: net.to(L.int64))


def test_lists_of_modules(L, note):
    Linear = linear(L)
    both = L.nn.Sequential(Linear(1, 2), Linear(2, 3))
    note(repr(both[0]), repr(both[-1]), repr(both[:1]), len(both), both(L.ones(1, 1)))
    both.append(Linear(3, 1)).insert(0, Linear(1, 1))
    note(repr(both), [module.n for module in both])
    del both[1]
    note(repr(both), both.pop(0).n, repr(both))
    both[0] = Linear(7, 7)
    note(repr(both))
    several = L.nn.ModuleList([Linear(1, 1), Linear(1, 1)])
    several += [Linear(2, 2)]
    several.extend([Linear(2, 2)])
    note(repr(several), repr(several[1:]), len(several + L.nn.ModuleList([Linear(3, 3)])))
    note(repr(L.nn.ModuleList()))
    failed(note, lambda: several[9])
    failed(note, lambda: both[9])
    named = L.nn.ModuleDict({"a": Linear(1, 1)})
    named["b"] = Linear(2, 2)
    named.update([("c", Linear(3, 3))])
    note(repr(named), list(named), "b" in named, len(named), named.pop("a").n, list(named.keys()))


def test_a_part_that_stays_in_evaluation(L, note):
    class Frozen(L.nn.BatchNorm1d):
        def train(self, mode=True):
            return super().train(False)

    net = L.nn.Sequential(L.nn.Dropout(), L.nn.Sequential(Frozen(2)))
    note([m.training for m in net.modules()], net.train() is net, [m.training for m in net.modules()])


def test_lists_of_parameters(L, note):
    several = L.nn.ParameterList([L.ones(2), L.nn.Parameter(L.zeros(1, 2))])
    several.append(L.ones(3, dtype=L.float64))
    note(repr(several), len(several), [name for name, _ in several.named_parameters()], several[-1])
    note([tuple(p.shape) for p in several[:2]])
    named = L.nn.ParameterDict({"a": L.ones(2), "b": L.nn.Parameter(L.zeros(1, 2))})
    note(repr(named), list(named.keys()), [n for n, _ in named.named_parameters()], "a" in named, len(named))
    del named["a"]
    note(list(named), [p.requires_grad for p in named.values()])
