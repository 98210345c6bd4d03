"""What saved-tensor hooks must not do, in the words of PyTorch; every program runs in both libraries."""


def test_writing_in_a_pack_hook_is_refused(L, note):
    a = L.tensor([1.0, 2.0], requires_grad=True)

    def pack(t):
        with L.no_grad():
            t.add_(1)
        return t

    def run(function):
        with L.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
            return function()

    note.error(lambda: run(lambda: a * a))
    note(a, a._version)
    b = a.detach().requires_grad_()
    note.error(lambda: run(lambda: b.exp()))
    note(b, L.is_grad_enabled())


def test_unpack_must_give_a_tensor(L, note):
    for wrong in (1, None, "s", (1,), [1], 2.5):
        a = L.tensor([1.0, 2.0], requires_grad=True)
        with L.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), lambda t, wrong=wrong: wrong):
            y = a * a
        note.error(lambda y=y: y.grad_fn._saved_self)
        note.error(lambda y=y: y.sum().backward())
        note(a.grad)


def test_another_shape_or_dtype(L, note):
    """What comes back may differ: gradients are brought to the input, or that is refused."""
    for given in (
        L.tensor([1.0, 1.0, 1.0]),
        L.tensor([2.0, 3.0], dtype=L.float64),
        L.tensor(5.0),
        L.tensor([[1.0, 2.0], [3.0, 4.0]]),
        L.tensor([2, 3]),
        L.tensor([2.0, 3.0], requires_grad=True),
    ):
        a = L.tensor([1.0, 2.0], requires_grad=True)
        b = L.tensor([1.0, 2.0])
        with L.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), lambda t, given=given: given):
            y, z = a * a, a * b
        note.error(lambda y=y: y.grad_fn._saved_self)
        note.error(lambda y=y: y.sum().backward())
        note.error(lambda z=z: z.sum().backward())
        note(a.grad)


def test_errors_pass_through(L, note):
    """An error in a hook reaches the caller; the op has not run, the graph is as it was, the next works."""
    a = L.tensor([1.0, 2.0], requires_grad=True)
    armed = [True]

    def pack(t):
        if armed[0]:
            raise ValueError("pack")
        return t.detach()

    def unpack(t):
        if armed[0]:
            raise ValueError("unpack")
        return t

    def run(function):
        with L.autograd.graph.saved_tensors_hooks(pack, unpack):
            return function()

    note.error(lambda: run(lambda: a * a))
    b = a * 1
    note.error(lambda: run(lambda: b.mul_(b)))
    note(b._version, L.is_grad_enabled())
    armed[0] = False
    y = run(lambda: (a * a).exp())
    armed[0] = True
    note.error(lambda: y.grad_fn._saved_result)
    note.error(lambda: y.sum().backward())
    note(a.grad, L.is_grad_enabled())
    armed[0] = False
    y.sum().backward()
    note(a.grad)
    note.error(lambda: y.sum().backward())


def test_disabled_hooks(L, note):
    graph = L.autograd.graph
    a = L.tensor([1.0, 2.0], requires_grad=True)

    def with_hooks():
        with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            return a * a

    def nested(outer, inner):
        with graph.disable_saved_tensors_hooks(outer), graph.disable_saved_tensors_hooks(inner):
            note.error(with_hooks)
            note.error(lambda: graph.save_on_cpu().__enter__())
        note.error(with_hooks)

    with graph.disable_saved_tensors_hooks("not here"):
        note.error(with_hooks)
        nested("two", "three")
        note.error(with_hooks)
        y = a * a
        y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)
    note.error(with_hooks)

    def inside():
        with (
            graph.saved_tensors_hooks(lambda t: t, lambda t: t),
            graph.disable_saved_tensors_hooks("too late"),
        ):
            note("entered")

    note.error(inside)
    note.error(with_hooks)

    def raises():
        with graph.disable_saved_tensors_hooks("gone after an error"):
            raise ValueError("out")

    note.error(raises)
    note.error(with_hooks)
    note.error(lambda: graph.disable_saved_tensors_hooks(3).__enter__())


def test_wrong_hooks(L, note):
    hooks = L.autograd.graph.saved_tensors_hooks
    note.error(lambda: hooks(1, 2).__enter__())
    note.error(lambda: hooks(len, "unpack").__enter__())
    a = L.tensor([1.0, 2.0], requires_grad=True)
    note((a * a).grad_fn)


def test_detached_in_place(L, note):
    """An input whose graph was taken away cannot be read; a packed one and an output can."""
    for hooked in (False, True):
        for op in (lambda t: t * t, lambda t: t.exp()):
            a = L.tensor([1.0, 2.0], requires_grad=True)
            b = a.clone()
            pair = (lambda t: t.detach(), lambda t: t) if hooked else None
            if pair:
                with L.autograd.graph.saved_tensors_hooks(*pair):
                    c = op(b)
            else:
                c = op(b)
            if c.grad_fn.name().startswith("Exp"):
                c.detach_()
                note(c)
            else:
                b.detach_()
                note.error(lambda c=c: c.sum().backward())
            note(a.grad)
