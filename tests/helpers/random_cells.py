"""Random cells as source text, for `torch` being minigrad or PyTorch.

A cell is written from a list of (statement, place, place): each statement picks its operands by place (the
first from the newest variable, the second from the oldest), modulo the number of variables, so that every
list is a cell and hypothesis can shrink it. Each statement catches its own error and notes it; an ending may
be an error that ends the cell. What a cell gives to `note` is for the test to keep.
"""

from __future__ import annotations

from hypothesis import strategies as st

PRELUDE = """\
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        print("forward of Twice")
        ctx.save_for_backward(t)
        return t * 2

    @staticmethod
    def backward(ctx, g):
        print("backward of Twice", g, torch.is_grad_enabled())
        note("saved", ctx.saved_tensors[0])
        return g * 2

class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b, text):
        ctx.save_for_backward(a, b)
        return a * b, a + b

    @staticmethod
    def backward(ctx, g, h):
        a, b = ctx.saved_tensors
        note("Product", g, h)
        return g * b + h, g * a + h, None

class Broken(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        return t.clone()

    @staticmethod
    def backward(ctx, g):
        raise ValueError("broken")

class Loud:
    __slots__ = ()

    def __repr__(self):
        note("somebody asked for its text")
        return "Loud()"

    def __getattr__(self, name):
        note("somebody asked for", name)
        raise AttributeError(name)

    def __eq__(self, other):
        note("somebody compared it")
        return False

    __hash__ = None

loud = Loud()

def square(t):
    s = t * t
    return s + 1

def nested(t):
    def inner():
        return t @ t.no_such_method()
    return inner()

def see(g):
    note("see", g, torch.is_grad_enabled())

def double(g):
    note("double", g)
    return g * 2

def fail(g):
    note("fail")
    return 1 / 0

def pre(grads):
    note("pre", *grads)
    return tuple(None if g is None else g * 3 for g in grads)

def post(sent, got):
    note("post", *sent, *got)

def deposited(leaf):
    note("deposited", leaf, leaf.grad)

def again(g):
    with torch.enable_grad():
        p = torch.tensor(2.0, requires_grad=True)
        (p * p).backward()
    note("again", p.grad, *torch.autograd.grad(p ** 3, p) if torch.is_grad_enabled() else ())

def spy(root):
    seen, stack = [], [root.grad_fn]
    while stack:
        n = stack.pop()
        if n is not None and not any(n is m for m in seen):
            seen.append(n)
            n.register_hook(lambda *_, place=len(seen), name=n.name(): note("ran", place, name))
            stack += [m for m, _ in n.next_functions]
"""
LEAVES = {
    "scalar": "0.7",
    "vector": "[0.5, -1.25, 2.0]",
    "one": "[1.5]",
    "matrix": "[[1.0, 0.25, -0.5], [0.75, 2.0, 1.0]]",
    "constant": "[1.0, 2.0, 3.0]",
}
# "{new}" is a variable that the statement makes, {a} and {b} are some that are there, {leaf} is a leaf.
VALUES = [
    "-{a}", "{a}.exp()", "torch.tanh({a})", "{a}.relu()", "torch.sqrt({a})", "torch.log(\n    {a}\n)",
    "{a} ** 2", "{a} ** 3 + 1", "{a} * {a}", "1 - {a} / 4", "{a}.sum()", "{a}.mean()", "{a}.clone()",
    "{a} + {b}", "{a} - {b}", "{a} * {b}", "{a} / {b}", "{a} @ {b}", "torch.where({a} > 1, {a}, {b})",
    "Twice.apply({a})", "Product.apply({a}, {b}, 'text')[0]", "Product.apply({a}, {b}, loud)[1]",
    "Broken.apply({a})", "square({a})", "sum(t * t for t in [{a}, {b}])", "(lambda t: t + {b})({a})",
]  # fmt: skip
VIEWS = ["{a}.detach()", "{a}.reshape(-1)", "{a}[0]", "{a}[..., 0]", "{a}.t()", "{a}.expand(2, *{a}.shape)"]
MAKING = [f"{{new}} = {value}" for value in VALUES] + [
    "{new} = {a}\nfor i in range(3):\n    {new} = {new} * {b} + i",
    "with torch.no_grad():\n    {new} = {a} * {b}",
    "with torch.no_grad(), torch.enable_grad():\n    {new} = {a} - {b}",
    "{new}, = torch.autograd.grad({a}.sum(), {b}, create_graph=True)",
    "{new}, = torch.autograd.grad({a}.sum(), {leaf}, create_graph=True)",
    "exec('{new} = {a} * 2')",
]
WRITING = [
    "{a}.add_({b})", "{a} *= {b}", "{a}.sub_(2)", "{a}.exp_()", "{a}.copy_({b})", "{a}.data.mul_(2)",
    "with torch.no_grad():\n    {leaf} -= 0.1 * {leaf}.grad", "{leaf}.grad.zero_()", "{leaf}.grad = None",
    "{a} = {a}.detach().requires_grad_()",
]  # fmt: skip
BACKWARD = [
    "{a}.sum().backward()", "{a}.sum().backward(retain_graph=True)", "{a}.backward()",
    "{a}.backward(torch.ones_like({a}), retain_graph=True)", "{a}.sum().backward(create_graph=True)",
    "{a}.sum().backward(inputs=[{leaf}])", "torch.autograd.backward([{a}.sum(), {b}.sum()])",
    "note(torch.autograd.grad({a}.sum(), {leaf}, allow_unused=True, retain_graph=True))",
    "note(torch.autograd.grad({a}.sum(), [{b}, {leaf}]))",
]  # fmt: skip
HOOKS = [
    "{a}.register_hook(see)", "{a}.register_hook(double)", "{a}.register_hook(fail)",
    "{a}.register_hook(again)", "handle = {a}.register_hook(see)\nhandle.remove()",
    "{leaf}.register_post_accumulate_grad_hook(deposited)", "spy({a})", "{a}.retain_grad()",
    "{a}.grad_fn.register_hook(post)", "{a}.grad_fn.register_prehook(pre)",
]  # fmt: skip
TELLING = [
    "print({a}, {a}.requires_grad)", "print({leaf}.grad)", "print(type({a}.grad_fn).__name__)",
    "note({a}, {b})", "note(torch.is_grad_enabled(), {a}._version)", "note(bool({a}.sum() > 0))",
    "gone = weakref.ref({a})\n{a} = torch.tensor([1.0, 2.0])\nnote('alive', gone() is not None)",
    "import warnings\nwarnings.warn('careful')", "note([g for g in dir() if g[:1] != '_'])",
]  # fmt: skip
MODES = ["torch.set_grad_enabled(False)", "torch.set_grad_enabled(True)"]
ENDING = [
    "raise ValueError('over')", "nested({a})", "{a}.no_such_method()",
    "[t.no_such_method() for t in ({a}, {b})]", "raise KeyboardInterrupt",
    "try:\n    {a}.backward(1)\nexcept TypeError as e:\n    raise RuntimeError('from') from e",
    "hook = {a}.register_hook(fail)\n{a}.sum().backward()", "Broken.apply({a}).sum().backward()",
]  # fmt: skip

places = st.integers(0, 12)


def statement(kinds: list[str]) -> st.SearchStrategy[tuple[str, int, int]]:
    return st.tuples(st.sampled_from(kinds), places, places)


KINDS = [
    MAKING,
    MAKING,
    [f"{{new}} = {v}" for v in VIEWS],
    WRITING,
    BACKWARD,
    BACKWARD,
    HOOKS,
    TELLING,
    MODES,
]
cells = st.tuples(
    st.lists(st.sampled_from(sorted(LEAVES)), min_size=1, max_size=3),
    st.lists(st.one_of(*map(statement, KINDS)), min_size=5, max_size=18),
    st.one_of(st.none(), statement(ENDING)),
).map(lambda parts: written(*parts))


def written(
    leaves: list[str], statements: list[tuple[str, int, int]], ending: tuple[str, int, int] | None
) -> str:
    """The source of a cell. Statements are guarded, the ending is not.

    Hooks go to no view: PyTorch crashes where the base of such a view was written to. No view is made without
    gradients: PyTorch forbids to read its history once its base was written to.
    """
    names, views, grad = [f"v{i}" for i in range(len(leaves))], set(), True
    lines = [PRELUDE] + [
        f"{name} = torch.tensor({LEAVES[leaf]}, requires_grad={leaf != 'constant'})\n"
        for name, leaf in zip(names, leaves)
    ]
    for template, i, j in statements:
        a, b, leaf = names[-1 - i % len(names)], names[j % len(names)], names[j % len(leaves)]
        grad = template != MODES[0] and (grad or template == MODES[1])
        view = template.removeprefix("{new} = ") in VIEWS
        if (template in HOOKS and a in views) or (view and not grad):
            continue
        new = f"v{len(names)}"
        text = template.format(a=a, b=b, leaf=leaf, new=new)
        makes = "{new}" in template
        otherwise = f"    note(type(error).__name__, str(error))\n{f'    {new} = {a}' if makes else ''}\n"
        lines.append(f"try:\n{indented(text)}except Exception as error:\n{otherwise}")
        if makes:
            names.append(new)
            if view or a in views:
                views.add(new)
    if ending is not None:
        template, i, j = ending
        lines.append(template.format(a=names[i % len(names)], b=names[j % len(names)]) + "\n")
    return "".join(lines)


def indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())
