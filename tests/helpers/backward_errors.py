"""Programs whose backward call fails, and what must be said of each: for both libraries and both dialects."""

from __future__ import annotations

from typing import NamedTuple

X = "x = torch.tensor(5.0, requires_grad=True)\n"
V = "x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\n"
DOUBLE = """\
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        return t * 2

    @staticmethod
    def backward(ctx, g):
        {}

"""
CUBE = X + "y = x ** 3\nz = torch.log(y)\n"
NEW_LEAF = "y.requires_grad = True would not help: it makes y a new leaf, and no gradient flows past it."


class Row(NamedTuple):
    """A program, and what must be said of its error. Marks are written as `pointed` writes them; names of
    nodes are those of PyTorch 2."""

    key: str
    source: str
    why: str
    fix: str
    marks: tuple[str, ...]
    line: int
    cause: int | None


ROWS = {
    "second": Row(
        "second_backward",
        X + "y = x ** 3\nz = torch.log(y)\nz.backward()\nz.backward()\n",
        "z.backward() (line 4) freed the values that LogBackward0 at z had saved, but z.backward() (line "
        "5) needs them again.",
        "Compute y, z again before z.backward() (line 5). Only if you really reuse the graph: add "
        "retain_graph=True to z.backward() (line 4).",
        ("! LogBackward0 of z: stopped here", "! self of z: freed by line 4"),
        5,
        4,
    ),
    "nothing saved, nothing freed": Row(
        "second_backward",
        X + "y = x + 1\nz = y ** 2\nz.backward()\nt = y * 3\nt.backward()\nw = z + y\nw.backward()\n",
        "z.backward() (line 4) freed the values that PowBackward0 at z had saved, but w.backward() (line "
        "8) needs them again.",
        "Compute z, w again before w.backward() (line 8). Only if you really reuse the graph: add "
        "retain_graph=True to z.backward() (line 4).",
        ("! PowBackward0 of z: stopped here", "! self of z: freed by line 4"),
        8,
        4,
    ),
    "built once before a loop": Row(
        "second_backward",
        "w = torch.tensor(2.0, requires_grad=True)\nh = w ** 2\nfor i in range(3):\n    loss = h * h\n"
        "    loss.backward()\n",
        "h was computed once, by w ** 2 (line 2). The first loss.backward() (line 5) freed the values that "
        "PowBackward0 at h had saved, but the next call needs them again.",
        "In a loop, compute h again in every iteration. Only if you really reuse the graph: "
        "retain_graph=True.",
        ("! PowBackward0 of h: stopped here", "! self of h: freed by line 5"),
        5,
        5,
    ),
    "called again": Row(
        "second_backward",
        "def step(t):\n    return (t ** 2).backward()\n" + X + "y = torch.exp(x)\nstep(y)\nstep(y)\n",
        "y was computed once, by exp(x) (line 4). The first (t ** 2).backward() (line 2) freed the values "
        "that ExpBackward0 at y had saved, but the next call needs them again.",
        "Compute y again before each of these calls. Only if you really reuse the graph: retain_graph=True.",
        ("! ExpBackward0 of y: stopped here", "! result of y: freed by line 2"),
        2,
        2,
    ),
    "carried over": Row(
        "second_backward",
        "w = torch.tensor(0.5, requires_grad=True)\nh = torch.tensor(1.0)\nfor i in range(3):\n"
        "    h = torch.tanh(w * h)\n    loss = h * h\n    loss.backward()\n",
        "h comes from an earlier iteration. The call there, loss.backward() (line 6), freed the values that "
        "TanhBackward0 at h₂ had saved. In this iteration the path leads back to them.",
        "At the end of each iteration, after loss.backward() (line 6), cut h from its graph: "
        "`h = h.detach()`. This keeps the values.",
        ("! TanhBackward0 of h₂: stopped here", "! result of h₂: freed by line 6"),
        6,
        6,
    ),
    "a shared part": Row(
        "second_backward",
        X + "y = x ** 3\na = y * 2\nb = torch.exp(y)\na.backward()\nb.backward()\n",
        "a.backward() (line 5) freed the values that PowBackward0 at y had saved, but b.backward() (line "
        "6) needs them again.",
        "Call backward once for both: (a + b).backward(). Only if you really reuse the graph: add "
        "retain_graph=True to a.backward() (line 5).",
        ("! PowBackward0 of y: stopped here", "! self of y: freed by line 5"),
        6,
        5,
    ),
    "grad": Row(
        "second_backward",
        X + "y = x ** 3\ntorch.autograd.grad(y, x)\ntorch.autograd.grad(y, x)\n",
        "autograd.grad(y, x) (line 3) freed the values that PowBackward0 at y had saved, but "
        "autograd.grad(y, x) (line 4) needs them again.",
        "Compute y again before autograd.grad(y, x) (line 4). Only if you really reuse the graph: add "
        "retain_graph=True to autograd.grad(y, x) (line 3).",
        ("! PowBackward0 of y: stopped here", "! self of y: freed by line 3"),
        4,
        3,
    ),
    "custom": Row(
        "second_backward",
        DOUBLE.replace("return t * 2", "ctx.save_for_backward(t); return t * 2").format(
            "t, = ctx.saved_tensors; return g * t"
        )
        + X
        + "y = Double.apply(x)\ny.backward()\ny.backward()\n",
        "y.backward() (line 12) freed the values that DoubleBackward at y had saved, but y.backward() "
        "(line 13) needs them again.",
        "Compute y again before y.backward() (line 13). Only if you really reuse the graph: add "
        "retain_graph=True to y.backward() (line 12).",
        ("! DoubleBackward of y: stopped here", "! saved of y: freed by line 12"),
        13,
        12,
    ),
    "written to through a view": Row(
        "second_backward",
        V + "y = x * 1\nv = y[:]\nv.exp_()\ny.sum().backward()\ny.sum().backward()\n",
        "y.sum().backward() (line 5) freed the values that CopySlices at y₂ had saved, but "
        "y.sum().backward() (line 6) needs them again.",
        "Compute y again before y.sum().backward() (line 6). Only if you really reuse the graph: add "
        "retain_graph=True to y.sum().backward() (line 5).",
        ("! CopySlices of y₂: stopped here",),
        6,
        5,
    ),
    "saved twice in one memory": Row(
        "saved_modified",
        V + "z = x * 1\na = z[:]\nb = a * z\nz.exp_()\nb.sum().backward()\n",
        "MulBackward0 at b saved z₁ at version 0. Then z.exp_() (line 5) modified it in place, so it is "
        "now at version 1.",
        "Create a new tensor instead of modifying z in place: `z = z.exp()`.",
        (
            "! MulBackward0 of b: stopped here",
            "! other of b",
            "! self of b",
            "z₁: changed by line 5",
            "z₂: changed by line 5",
        ),
        6,
        5,
    ),
    "written": Row(
        "saved_modified",
        X + "y = x * 1\nz = y * y\ny.add_(1)\nz.backward()\n",
        "MulBackward0 at z saved y₁ at version 0. Then y.add_(1) (line 4) modified it in place, so it is "
        "now at version 1.",
        "Create a new tensor instead of modifying y in place: `y = y.add(1)`.",
        (
            "! MulBackward0 of z: stopped here",
            "! other of z",
            "! self of z",
            "y₁: changed by line 4",
            "y₂: changed by line 4",
        ),
        5,
        4,
    ),
    "its own result": Row(
        "saved_modified",
        X + "z = torch.exp(x)\nz += 1\nz.backward()\n",
        "ExpBackward0 at z₁ saved z₁ at version 0. Then z += 1 (line 3) modified it in place, so it is now "
        "at version 1.",
        "Create a new tensor instead of modifying z in place: `z = z + 1`.",
        (
            "! ExpBackward0 of z₁: stopped here",
            "! result of z₁",
            "z₁: changed by line 3",
            "z₂: changed by line 3",
        ),
        4,
        3,
    ),
    "through detach": Row(
        "saved_modified",
        X + "y = x * 1\nz = y * y\nd = y.detach()\nd.add_(1)\nz.backward()\n",
        "MulBackward0 at z saved y at version 0. Then d.add_(1) (line 5) modified d, which shares its "
        "memory, so y is now at version 1.",
        "Create a new tensor instead of modifying d in place: `d = d.add(1)`.",
        (
            "! MulBackward0 of z: stopped here",
            "! other of z",
            "! self of z",
            "y: changed by line 5",
            "d: changed by line 5",
        ),
        6,
        5,
    ),
    "an update too early": Row(
        "saved_modified",
        V
        + "w = torch.tensor([1.0, 1.0, 1.0], requires_grad=True)\nz = (x * w).sum()\nwith torch.no_grad():\n"
        "    w -= 0.1\nz.backward()\n",
        "MulBackward0 at x * w saved w at version 0. Then w -= 0.1 (line 5) modified it in place, so it is "
        "now at version 1.",
        "Run z.backward() (line 6) first, then modify w.",
        ("! MulBackward0 of x * w: stopped here", "! other of x * w", "w: changed by line 5"),
        6,
        5,
    ),
    "a constant, twice": Row(
        "saved_modified",
        V + "c = torch.tensor([1.0, 1.0, 1.0])\nz = (x * c).sum()\nc += 1\nc += 1\nz.backward()\n",
        "MulBackward0 at x * c saved c at version 0. Then c += 1 (line 4) modified it in place, so it is "
        "now at version 2.",
        "Create a new tensor instead of modifying c in place: `c = c + 1`.",
        ("! MulBackward0 of x * c: stopped here", "! other of x * c", "c: changed by line 4"),
        6,
        4,
    ),
    "no_grad": Row(
        "no_grad_fn",
        X + "with torch.no_grad():\n    y = x * 2\ny.backward()\n",
        "x * 2 (line 3) ran under no_grad(), so nothing was recorded. That is why y has no graph.",
        f"Compute x * 2 (line 3) outside no_grad(). {NEW_LEAF}",
        ("! y: no graph", "x → y: cut here"),
        4,
        3,
    ),
    "inference": Row(
        "no_grad_fn",
        X + "with torch.inference_mode():\n    y = x * 2\ny.backward()\n",
        "x * 2 (line 3) ran under inference_mode(), so nothing was recorded. That is why y has no graph.",
        f"Compute x * 2 (line 3) outside inference_mode(). {NEW_LEAF}",
        ("! y: no graph", "x → y: cut here"),
        4,
        3,
    ),
    "detach": Row(
        "no_grad_fn",
        X + "a = x ** 3\nd = a.detach()\ny = d * 2\ntorch.autograd.grad(y, x)\n",
        "a.detach() (line 3) keeps the value and the memory of a but cuts the link to a. That is why y has "
        "no graph.",
        f"Remove the detach() that breaks the path. {NEW_LEAF}",
        ("! y: no graph", "a → d: cut here"),
        5,
        3,
    ),
    "data": Row(
        "no_grad_fn",
        X + "y = (x ** 3).data\ny.backward()\n",
        "(x ** 3).data (line 2) keeps the value and the memory of x ** 3 but cuts the link to x ** 3. That "
        "is why y has no graph.",
        f"Remove the .data that breaks the path. {NEW_LEAF}",
        ("! y: no graph", "x ** 3 → y: cut here"),
        3,
        2,
    ),
    "item": Row(
        "no_grad_fn",
        X + "a = x ** 3\ny = torch.tensor(a.item())\ny.backward()\n",
        "tensor(a.item()) (line 3) uses Python numbers taken from a, and numbers carry no "
        "gradient history. That is why y has no graph.",
        "Use tensors and torch functions from a on, without item(), float(), math or NumPy: `y = a`. "
        + NEW_LEAF,
        ("! y: no graph", "a → y: cut here"),
        4,
        3,
    ),
    "tensor": Row(
        "no_grad_fn",
        X + "a = x ** 3\ny = torch.tensor(a)\ny.backward()\n",
        "tensor(a) (line 3) created a new tensor that holds only the values of a. That is why y has no "
        "graph.",
        f"Use a itself instead of a new tensor. {NEW_LEAF}",
        ("! y: no graph", "a → y: cut here"),
        4,
        3,
    ),
    "integer": Row(
        "no_grad_fn",
        X + "y = (x > 2).float()\ny.backward()\n",
        "The result of x > 2 (line 2) is integer or boolean, so no gradient can flow through it. That "
        "is why y has no graph.",
        f"Use an operation that has a derivative instead of x > 2 (line 2). {NEW_LEAF}",
        ("! y: no graph", "x → x > 2: cut here"),
        3,
        2,
    ),
    "nothing asks": Row(
        "no_grad_fn",
        "x = torch.tensor(5.0)\ny = x * 2\ny.backward()\n",
        "y was computed from x, none of which requires gradients.",
        "Set requires_grad=True where the tensor is created: "
        "`x = torch.tensor(5.0, requires_grad=True)` (line 1).",
        ("! y: no graph", "x: requires no gradient"),
        3,
        1,
    ),
    "data alone": Row(
        "no_grad_fn",
        "y = torch.tensor(1.0)\ny.backward()\n",
        "y was created from data by tensor(1.0) (line 1), without requires_grad=True.",
        "Set requires_grad where the data is created: torch.tensor(…, requires_grad=True). Then compute y "
        "from it.",
        ("! y: no graph",),
        2,
        1,
    ),
    "asked too late": Row(
        "no_grad_fn",
        "x = torch.tensor(5.0)\ny = x * 2\nx.requires_grad_()\ny.backward()\n",
        "y was computed from x before x.requires_grad_() (line 3) made it require gradients, so nothing "
        "was recorded.",
        "Set requires_grad first, then compute y.",
        ("! y: no graph", "x: requires_grad set too late"),
        4,
        3,
    ),
    "implicit": Row(
        "implicit_gradient",
        V + "y = x * 2\ny.backward()\n",
        "y has shape (3,). Without gradient=, backward starts with 1, which fits only a tensor with one "
        "element.",
        "Reduce it to a scalar, for example y.sum().backward(). Or pass a weight for each element: "
        "y.backward(gradient=torch.ones_like(y)), the v of vᵀJ; ones give the same as sum().",
        ("! y: shape (3,)",),
        3,
        None,
    ),
    "implicit in grad": Row(
        "implicit_gradient",
        V + "torch.autograd.grad(x * 2, x)\n",
        "x * 2 has shape (3,). Without gradient=, backward starts with 1, which fits only a tensor with one "
        "element.",
        "Reduce it to a scalar, for example (x * 2).sum(). Or pass a weight for each element: "
        "grad_outputs=torch.ones_like(x * 2), the v of vᵀJ; ones give the same as sum().",
        ("! x * 2: shape (3,)",),
        2,
        None,
    ),
    "another shape": Row(
        "gradient_shape",
        V + "y = x * 2\ny.backward(gradient=torch.ones(2))\n",
        "The gradient has shape (2,), but y has shape (3,). It needs one number for each element of y.",
        "Pass a gradient of shape (3,), for example torch.ones_like(y).",
        ("! y: shape (3,)",),
        3,
        None,
    ),
    "another shape in grad": Row(
        "gradient_shape",
        V + "y = x * 2\nv = torch.ones(3, 1)\ntorch.autograd.grad(y, x, v)\n",
        "The gradient has shape (3, 1), but y has shape (3,). It needs one number for each element of y.",
        "Pass a gradient of shape (3,), for example torch.ones_like(y).",
        ("! y: shape (3,)", "v: shape (3, 1)"),
        4,
        None,
    ),
    "unused": Row(
        "unused_input",
        X + "a = torch.tensor(1.0, requires_grad=True)\ny = x * 2\ntorch.autograd.grad(y, [x, a])\n",
        "y was not computed from a.",
        "Remove a from the call, or pass allow_unused=True: its gradient is then None.",
        ("! a: no path leads here",),
        4,
        None,
    ),
    "unused because cut": Row(
        "unused_input",
        X + "a = torch.tensor(2.0, requires_grad=True)\nb = a * 3\nd = b.detach()\ny = x * d\n"
        "torch.autograd.grad(y, (x, a))\n",
        "y was computed from a, but the path is broken. b.detach() (line 4) keeps the value and the "
        "memory of b but cuts the link to b.",
        "Remove the detach() that breaks the path. With allow_unused=True the gradient of a is None.",
        ("! a: no path leads here", "b → d: cut here"),
        6,
        4,
    ),
    "unused because of no_grad": Row(
        "unused_input",
        X + "a = torch.tensor(2.0, requires_grad=True)\nwith torch.no_grad():\n    d = a * 3\ny = x * d\n"
        "torch.autograd.grad(y, a)\n",
        "y was computed from a, but the path is broken. a * 3 (line 4) ran under no_grad(), so nothing was "
        "recorded.",
        "Compute a * 3 (line 4) outside no_grad(). With allow_unused=True the gradient of a is None.",
        ("! a: no path leads here", "a → d: cut here"),
        6,
        4,
    ),
    "another of that name": Row(
        "unused_input",
        X + "y = x * 2\nx = x * 1\ntorch.autograd.grad(y, x)\n",
        "y was computed from x₁. The name x now stands for another tensor, x₂.",
        "Give one of the two another name, and request the gradient of x₁.",
        ("! x₂: no path leads here", "x₁"),
        4,
        None,
    ),
    "not asked": Row(
        "input_asks_not",
        X + "a = torch.tensor(1.0)\ny = x * a\ntorch.autograd.grad(y, [x, a])\n",
        "a does not require gradients, so autograd.grad(y, [x, a]) (line 4) cannot compute one for it.",
        "Create a with requires_grad=True before it is used, or remove it from this call.",
        ("! a: requires no gradient",),
        4,
        2,
    ),
    "not asked, in backward": Row(
        "input_asks_not",
        X + "a = torch.tensor(1.0)\ny = x * a\ny.backward(inputs=[x, a])\n",
        "a does not require gradients, so y.backward(inputs=[x, a]) (line 4) cannot compute one for it.",
        "Create a with requires_grad=True before it is used, or remove it from this call.",
        ("! a: requires no gradient",),
        4,
        2,
    ),
    "not asked because cut": Row(
        "input_asks_not",
        X + "a = x * 2\nd = a.detach()\ny = x * d\ntorch.autograd.grad(y, d)\n",
        "a.detach() (line 3) keeps the value and the memory of a but cuts the link to a. That is why d does "
        "not require gradients.",
        "Remove the detach() that breaks the path. Or remove d from this call.",
        ("! d: requires no gradient", "a → d: cut here"),
        5,
        3,
    ),
    "hook": Row(
        "hook_shape",
        V + "y = x * 2\ny.register_hook(lambda g: g[0])\ny.sum().backward()\n",
        "The hook <lambda> on y, registered by y.register_hook(lambda g: g[0]) (line 3), returned a "
        "gradient whose shape differs from the one it received.",
        "A hook may change the values, but not the shape or the dtype. Return such a tensor, or None to "
        "leave the gradient unchanged.",
        ("! MulBackward0 of y: stopped here",),
        4,
        3,
    ),
    "hook of a leaf": Row(
        "hook_shape",
        V + "def wide(g):\n    return g.double()\nx.register_hook(wide)\n(x * 2).sum().backward()\n",
        "The hook wide on x, registered by x.register_hook(wide) (line 4), received a torch.FloatTensor "
        "and returned a torch.DoubleTensor.",
        "A hook may change the values, but not the shape or the dtype. Return such a tensor, or None to "
        "leave the gradient unchanged.",
        ("! AccumulateGrad of x: stopped here",),
        5,
        4,
    ),
    "hook of a number": Row(
        "hook_shape",
        V + "y = x * 2\ny.register_hook(lambda g: 3)\ny.sum().backward()\n",
        "The hook <lambda> on y, registered by y.register_hook(lambda g: 3) (line 3), returned an object "
        "of type int, which is not a tensor.",
        "A hook may change the values, but not the shape or the dtype. Return such a tensor, or None to "
        "leave the gradient unchanged.",
        ("! MulBackward0 of y: stopped here",),
        4,
        3,
    ),
    "hook of a node": Row(
        "hook_shape",
        V + "y = x * 2\ny.grad_fn.register_hook(lambda sent, got: ())\ny.sum().backward()\n",
        "The hook <lambda> on y, registered by y.grad_fn.register_hook(lambda sent, got: ()) (line 3), "
        "returned 0 "
        "gradients instead of 2.",
        "A hook may change the values, but not the shape or the dtype. Return such a tensor, or None to "
        "leave the gradient unchanged.",
        ("! MulBackward0 of y: stopped here",),
        4,
        3,
    ),
    "count": Row(
        "wrong_count",
        DOUBLE.format("return g, g") + X + "y = Double.apply(x)\ny.backward()\n",
        "Double.backward must return one gradient for each input of forward: 1, not 2. See return g, g "
        "(line 8).",
        "Return the gradients in the order of forward's inputs, without one for ctx. Return None where no "
        "gradient is needed.",
        ("! DoubleBackward of y: stopped here",),
        12,
        8,
    ),
    "gradient of a Function": Row(
        "wrong_gradient",
        DOUBLE.format("return g[:2]") + V + "y = Double.apply(x)\ny.sum().backward()\n",
        "The gradient that Double.backward returned for input 1 has shape (2,), but that input has shape "
        "(3,). See return g[:2] (line 8).",
        "Return a gradient of shape (3,): one number for each element of the input.",
        ("! DoubleBackward of y: stopped here", "x: shape (3,)"),
        12,
        8,
    ),
    "nan": Row(
        "nan",
        "x = torch.tensor(0.0, requires_grad=True)\nwith torch.autograd.detect_anomaly():\n    y = "
        "torch.sqrt(x)\n"
        "    z = y * 0\n    z.backward()\n",
        "SqrtBackward0 at y had saved result = 0.; it received 0. and passed nan.",
        "Remove such values before sqrt(x) (line 3). Multiplying the result by 0 does not help: backward "
        "then computes 0 · inf, which is nan.",
        ("! SqrtBackward0 of y: passed nan",),
        5,
        3,
    ),
    "a gradient in .grad": Row(
        "no_grad_fn",
        CUBE + "z.backward()\ntorch.autograd.grad(x.grad, x)\n",
        "z.backward() (line 4) computed x.grad without create_graph=True, so nothing was recorded and "
        "x.grad has no graph.",
        "To differentiate x.grad again, record its graph: z.backward(create_graph=True).",
        ("! x.grad: no graph",),
        5,
        4,
    ),
    "a gradient in .grad by another name": Row(
        "no_grad_fn",
        CUBE + "z.backward(retain_graph=True)\ng = x.grad\ng.backward()\n",
        "z.backward(retain_graph=True) (line 4) computed x.grad without create_graph=True, so nothing was "
        "recorded and x.grad has no graph.",
        "To differentiate x.grad again, record its graph: z.backward(create_graph=True).",
        ("! x.grad: no graph",),
        6,
        4,
    ),
    "a gradient that grad() returned": Row(
        "no_grad_fn",
        CUBE
        + "gradient, = torch.autograd.grad(z, x, create_graph=False)\ntorch.autograd.grad(gradient, x)\n",
        "autograd.grad(z, x, create_graph=False) (line 4) computed gradient without create_graph=True, so "
        "nothing was recorded and gradient has no graph.",
        "To differentiate gradient again, record its graph: autograd.grad(z, x, create_graph=True).",
        ("! gradient: no graph",),
        5,
        4,
    ),
    "computed from a gradient": Row(
        "no_grad_fn",
        CUBE + "found = torch.autograd.grad(z, [x, y])\nsquare = found[0] ** 2\nsquare.backward()\n",
        "square was computed from ∂z/∂x, which has no graph: autograd.grad(z, [x, y]) (line 4) computed it "
        "without create_graph=True.",
        "To differentiate ∂z/∂x again, record its graph: autograd.grad(z, [x, y], create_graph=True).",
        ("! square: no graph", "∂z/∂x: no graph"),
        6,
        4,
    ),
    "a gradient that is constant": Row(
        "no_grad_fn",
        X + "y = x * 2\ny.backward(create_graph=True)\ntorch.autograd.grad(x.grad, x)\n",
        "y.backward(create_graph=True) (line 3) recorded a graph, but nothing that x.grad was computed "
        "from requires gradients: it is a constant, like the derivative of every linear function.",
        "",
        ("! x.grad: no graph",),
        4,
        3,
    ),
    "a gradient that was put there": Row(
        "no_grad_fn",
        CUBE + "z.backward()\nx.grad = torch.tensor(1.0)\ntorch.autograd.grad(x.grad, x)\n",
        "x.grad was created from data by tensor(1.0) (line 5), without requires_grad=True.",
        "Set requires_grad where the data is created: torch.tensor(…, requires_grad=True). Then compute "
        "x.grad from it.",
        ("! x.grad: no graph",),
        6,
        5,
    ),
    "a freed value is read": Row(
        "second_backward",
        CUBE + "z.backward()\nprint(z.grad_fn._saved_self)\n",
        "z.backward() (line 4) freed the values that LogBackward0 at z had saved, so z.grad_fn._saved_self "
        "can no longer be read.",
        "Read z.grad_fn._saved_self before z.backward() (line 4), or keep the saved values: "
        "z.backward(retain_graph=True).",
        ("! self of z: freed by line 4",),
        5,
        4,
    ),
    "a freed value further back is read": Row(
        "second_backward",
        CUBE + "z.backward()\nz.grad_fn.next_functions[0][0]._saved_self\n",
        "z.backward() (line 4) freed the values that PowBackward0 at y had saved, so "
        "z.grad_fn.next_functions[0][0]._saved_self can no longer be read.",
        "Read z.grad_fn.next_functions[0][0]._saved_self before z.backward() (line 4), or keep the saved "
        "values: z.backward(retain_graph=True).",
        ("! self of y: freed by line 4",),
        5,
        4,
    ),
    "a freed value of nobody knows which node is read": Row(
        "second_backward",
        CUBE + "z.backward()\nnode = z.grad_fn\nnode._saved_self\n",
        "An earlier backward call freed the values that this node had saved, so node._saved_self can no "
        "longer be read.",
        "Read node._saved_self before backward runs, or keep the saved values with retain_graph=True in "
        "that call.",
        (),
        6,
        None,
    ),
    "freed although a graph was built": Row(
        "second_backward",
        CUBE + "g, = torch.autograd.grad(z, x, create_graph=True, retain_graph=False)\ng.backward()\n",
        "autograd.grad(z, x, create_graph=True, retain_graph=False) (line 4) freed the values that "
        "PowBackward0 at y had saved, but g.backward() (line 5) needs them again.",
        "Compute y, g again before g.backward() (line 5). Only if you really reuse the graph: remove "
        "retain_graph=False from autograd.grad(z, x, create_graph=True, retain_graph=False) (line 4); "
        "create_graph=True alone keeps the graph.",
        ("! PowBackward0 of y: stopped here", "! self of y: freed by line 4"),
        5,
        4,
    ),
    "freed as it was said": Row(
        "second_backward",
        CUBE + "z.backward(retain_graph=False)\nz.backward()\n",
        "z.backward(retain_graph=False) (line 4) freed the values that LogBackward0 at z had saved, but "
        "z.backward() (line 5) needs them again.",
        "Compute y, z again before z.backward() (line 5). Only if you really reuse the graph: use "
        "retain_graph=True instead of retain_graph=False in z.backward(retain_graph=False) (line 4).",
        ("! LogBackward0 of z: stopped here", "! self of z: freed by line 4"),
        5,
        4,
    ),
    "raised in a Function": Row(
        "raised",
        DOUBLE.format("return g * ctx.factor") + X + "y = Double.apply(x)\n(y * 2).backward()\n",
        "Double.backward raised the error while DoubleBackward at y ran: ctx.factor (line 8).",
        "",
        ("! DoubleBackward of y: stopped here",),
        12,
        8,
    ),
    "raised in a hook": Row(
        "raised",
        X + "y = x * 2\ndef hook(g):\n    raise ValueError('mine')\ny.register_hook(hook)\n"
        "(y * 2).backward()\n",
        "The hook hook on y raised the error: raise ValueError('mine') (line 4).",
        "",
        ("! MulBackward0 of y: stopped here",),
        6,
        4,
    ),
    "raised by a call in a hook": Row(
        "raised",
        X + "y = x ** 3\ny.backward()\nz = x * 2\ndef hook(g):\n    y.backward()\nz.register_hook(hook)\n"
        "z.backward()\n",
        "The hook hook on z raised the error: y.backward() (line 6).",
        "",
        ("! MulBackward0 of z: stopped here",),
        8,
        6,
    ),
}
