"""Mistakes of everyday programs: numbers, leaves, writes, hooks, custom Functions, classes, losses, calls."""

from __future__ import annotations

from .mistake import Mistake


def everyday(
    program: str, wrong: str, key: str, line: int | None, why: str, fix: str, check: str = "True"
) -> Mistake:
    """A program whose right part stands in `«…»`, and what stands there instead. Putting it back cures."""
    head, right, tail = program.replace("«", "\0").replace("»", "\0").split("\0")
    return Mistake(head + right + tail, right, wrong, key, line, why, fix, (wrong, right), check)


FINITE = "all(n == n and abs(n) < 1e30 for n in x.grad.reshape(-1).tolist())"
LEAF = "x = torch.tensor([1.0, 2.0], requires_grad=True)\n"
NET = "torch.manual_seed(0)\nnn = torch.nn\nnet = nn.Linear(2, 3)\nx = torch.randn(4, 2)\n"
CLASS = (
    "torch.manual_seed(0)\nnn = torch.nn\nclass Net(nn.Module):\n    def __init__(self):\n"
    "        super().__init__()\n        self.fc = nn.Linear(2, 3)\n    def forward(self, x):\n"
    "        return self.fc(x)\nnet = Net()\nout = net(torch.ones(4, 2))\n"
)
SQUARE = (
    "class Square(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, a, b):\n"
    "        ctx.save_for_backward(a, b)\n        return a * b\n    @staticmethod\n"
    "    def backward(ctx, g):\n        a, b = ctx.saved_tensors\n        return g * b, g * a\n"
    + LEAF
    + "y = Square.apply(x, x * 2)\ny.sum().backward()\n"
)


def marked(program: str, part: str) -> str:
    """The program with one part marked."""
    assert program.count(part) == 1
    return program.replace(part, f"«{part}»")


MISTAKES = {
    # ── numbers
    "atanh at 1": everyday(
        "x = torch.tensor([0.5, 1.0], requires_grad=True)\ny = torch.atanh(«x.clamp(max=0.999)»)\n"
        "y.sum().backward()\n",
        "x",
        "first_nan",
        2,
        "x[1] = 1",
        "",
        FINITE,
    )._replace(cure=("atanh(x)", "atanh(x.clamp(max=0.999))")),
    "log1p at -1": everyday(
        "x = torch.tensor([-1.0, 2.0], requires_grad=True)\ny = torch.log1p(«x.clamp(min=-0.99)»)\n"
        "y.sum().backward()\n",
        "x",
        "first_nan",
        2,
        "x[0] = -1",
        "",
        FINITE,
    )._replace(cure=("log1p(x)", "log1p(x.clamp(min=-0.99))")),
    "a direction of length 0": everyday(
        "x = torch.zeros(3, requires_grad=True)\nu = x / «(x.norm() + 1e-8)»\nu.sum().backward()\n",
        "x.norm()",
        "first_nan",
        2,
        "x.norm() = 0",
        "1e-8",
    ),
    "a geometric mean with 0": everyday(
        "x = torch.tensor([0.0, 2.0, 4.0], requires_grad=True)\n"
        "m = «x.prod().clamp(min=1e-12)» ** (1 / 3)\nm.backward()\n",
        "x.prod()",
        "first_nan",
        2,
        "x.prod()",
        "clamp(min=1e-12)",
        FINITE,
    ),
    "a spread of one number": everyday(
        "x = torch.tensor([3.0], requires_grad=True)\nv = «x.var(unbiased=False)»\nv.backward()\n",
        "x.var()",
        "first_nan",
        2,
        "one",
        "",
        FINITE,
    ),
    "a broken power below 0": everyday(
        "x = torch.tensor([-1.0, 4.0], requires_grad=True)\ny = «x.abs()» ** 1.5\ny.sum().backward()\n",
        "x",
        "first_nan",
        2,
        "-1",
        "",
        FINITE,
    )._replace(cure=("y = x **", "y = x.abs() **")),
    "log of 1 - sigmoid": everyday(
        "x = torch.tensor([0.0, 50.0], requires_grad=True)\n"
        "y = «torch.nn.functional.logsigmoid(-x)»\ny.sum().backward()\n",
        "torch.log(1 - torch.sigmoid(x))",
        "first_nan",
        2,
        "-inf",
        "logsigmoid",
        FINITE,
    ),
    "log of counts": everyday(
        "c = torch.tensor([0.0, 3.0])\nx = torch.tensor([1.0, 1.0], requires_grad=True)\n"
        "y = torch.log(c * x«+ 1e-6»)\ny.sum().backward()\n",
        "",
        "first_nan",
        3,
        "log of 0 is -inf",
        "clamp(min=",
        FINITE,
    )._replace(cure=("c * x)", "c * x + 1e-6)")),
    "a mean of nothing": everyday(
        "x = torch.tensor([1.0, 2.0], requires_grad=True)\nm = x[x > «1.5»].mean()\nm.backward()\n",
        "5.5",
        "first_nan",
        2,
        "no elements",
        "",
    ),
    "a masked mean without a mask": everyday(
        "x = torch.tensor([1.0, 2.0], requires_grad=True)\nm = torch.zeros(2)\n"
        "y = (x * m).sum() / «m.sum().clamp(min=1.0)»\ny.backward()\n",
        "m.sum()",
        "first_nan",
        3,
        "0",
        "",
        FINITE,
    ),
    "the angle of equal directions": everyday(
        "x = torch.tensor([1.0, 0.0], requires_grad=True)\nu = torch.tensor([1.0, 0.0])\n"
        "a = torch.acos(«(x @ u).clamp(-1 + 1e-6, 1 - 1e-6)»)\na.backward()\n",
        "x @ u",
        "first_nan",
        3,
        "acos",
        "clamp(-1 + 1e-6, 1 - 1e-6)",
        FINITE,
    ),
    "a square in float16": everyday(
        "x = torch.tensor([300.0], dtype=torch.float16, requires_grad=True)\n"
        "y = «x.float()» ** 2\ny.sum().backward()\n",
        "x",
        "first_nan",
        2,
        "65504",
        "float32",
        FINITE,
    )._replace(cure=("= x **", "= x.float() **")),
    # ── writes to saved values
    "a sigmoid that is added to": everyday(
        LEAF + "s = torch.sigmoid(x)\n«s = s + 1»\ns.sum().backward()\n",
        "s.add_(1)",
        "saved_modified",
        3,
        "s.add_(1)",
        "s = s.add(1)",
        "x.grad is not None",
    ),
    "a tanh that is emptied": everyday(
        LEAF + "h = torch.tanh(x)\ny = h * 2\n«h = torch.zeros_like(h)»\ny.sum().backward()\n",
        "h.zero_()",
        "saved_modified",
        4,
        "h.zero_()",
        "",
        "x.grad is not None",
    ),
    "probabilities that are cut": everyday(
        LEAF + "p = torch.softmax(x, dim=0)\n«p = torch.where(p < 0.5, 0.0, p)»\np.sum().backward()\n",
        "p[p < 0.5] = 0",
        "saved_modified",
        3,
        "p[p < 0.5]",
        "p",
        "x.grad is not None",
    ),
    "a root that is bounded": everyday(
        LEAF + "r = torch.sqrt(x)\n«r = r.clamp(max=1)»\nr.sum().backward()\n",
        "r.clamp_(max=1)",
        "saved_modified",
        3,
        "r.clamp_(max=1)",
        "r = r.clamp(max=1)",
        "x.grad is not None",
    ),
    "a factor that is masked": everyday(
        "x = torch.ones(2, 2, requires_grad=True)\nc = x * 1\nd = c @ c\nm = torch.eye(2) > 0\n"
        "«c = c.masked_fill(m, 0.0)»\nd.sum().backward()\n",
        "c.masked_fill_(m, 0.0)",
        "saved_modified",
        5,
        "c",
        "",
        "x.grad is not None",
    ),
    "an input that is copied into": everyday(
        "buf = torch.ones(2, 2)\nx = torch.ones(2, 2, requires_grad=True)\ny = buf@ x\n"
        "«buf = torch.zeros(2, 2)»\ny.sum().backward()\n",
        "buf.copy_(torch.zeros(2, 2))",
        "saved_modified",
        4,
        "buf",
        "",
        "x.grad is not None",
    ),
    "a weight that is normalized too early": everyday(
        LEAF + "y = (x * x).sum()\n«y.backward()»\nwith torch.no_grad():\n    x.div_(x.norm())\n",
        "",
        "",
        0,
        "",
        "",
    )._replace(
        program=LEAF + "y = (x * x).sum()\ny.backward()\nwith torch.no_grad():\n    x.div_(2)\nz = 1\n",
        right="y.backward()\nwith torch.no_grad():\n    x.div_(2)\n",
        wrong="with torch.no_grad():\n    x.div_(2)\ny.backward()\n",
        key="saved_modified",
        line=4,
        why="x.div_(2)",
        cure=(
            "with torch.no_grad():\n    x.div_(2)\ny.backward()\n",
            "y.backward()\nwith torch.no_grad():\n    x.div_(2)\n",
        ),
        check="x.grad is not None",
    ),
    "a momentum with its graph": everyday(
        "w = torch.tensor([0.5], requires_grad=True)\nm = torch.zeros(1)\nfor i in range(3):\n"
        "    m = 0.9 * m«.detach()» + w * w\n    m.sum().backward()\n",
        "",
        "second_backward",
        5,
        "m",
        "detach()",
        "w.grad is not None",
    )._replace(cure=("0.9 * m +", "0.9 * m.detach() +")),
    "a write to an expanded tensor": everyday(
        "e = torch.ones(1, 3).expand(2, 3)«.clone()»\ne.add_(1.0)\n",
        "",
        "expanded_write",
        1,
        "expand()",
        "clone()",
    )._replace(cure=("(2, 3)", "(2, 3).clone()")),
    # ── leaves
    "double() of a leaf": everyday(
        "w = torch.ones(2, «dtype=torch.float64, requires_grad=True)»\n(w * 2).sum().backward()\n"
        "print(w.grad)\n",
        "requires_grad=True).double()",
        "non_leaf_grad",
        3,
        "w",
        "",
        "w.grad is not None",
    ),
    "reshape of a leaf": everyday(
        "w = torch.ones(4)«.reshape(2, 2).requires_grad_()»\n(w * 2).sum().backward()\nprint(w.grad)\n",
        ".requires_grad_().reshape(2, 2)",
        "non_leaf_grad",
        3,
        "w",
        "",
        "w.grad is not None",
    ),
    "weights scaled after requires_grad": everyday(
        "w = «(torch.ones(2, 2) * 0.1).requires_grad_()»\nopt = torch.optim.SGD([w], lr=0.1)\n",
        "torch.ones(2, 2, requires_grad=True) * 0.1",
        "optimizer_of_non_leaf",
        2,
        "w",
        "",
    ),
    "a parameter times a number": everyday(
        "nn = torch.nn\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.w = «nn.Parameter(torch.ones(2) * 0.1)»\nnet = Net()\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n",
        "nn.Parameter(torch.ones(2)) * 0.1",
        "module_definition",
        7,
        "self.w",
        "",
    ),
    "the gradient of a copy": everyday(
        LEAF + "c = x«.detach().clone().requires_grad_()»\n(c ** 2).sum().backward()\nprint(c.grad)\n",
        ".clone()",
        "non_leaf_grad",
        4,
        "c",
        "c.retain_grad()",
        "c.grad is not None",
    ),
    "a detached copy": everyday(
        LEAF + "c = x.detach().clone()«.requires_grad_()»\nl = (c ** 2).sum()\nl.backward()\nprint(c.grad)\n",
        "",
        "no_grad_fn",
        4,
        "detach",
        "",
        "c.grad is not None",
    )._replace(cure=(".clone()", ".clone().requires_grad_()")),
    "a grad of another shape": everyday(
        LEAF + "x.grad = «torch.ones(2)»\n",
        "torch.ones(3)",
        "assigned_grad",
        2,
        "3",
        "",
    )._replace(cure=("ones(3)", "ones(2)")),
    "a softmax of whole numbers": everyday(
        "n = torch.arange(3)«.float()»\np = torch.softmax(n, dim=0)\n",
        "",
        "integer_input",
        2,
        "int64",
        ".float()",
    )._replace(cure=("arange(3)", "arange(3).float()")),
    "the gradient with respect to what was not used": everyday(
        LEAF
        + "b = torch.ones(2, requires_grad=True)\ny = «(x * b)».sum()\ng = torch.autograd.grad(y, [x, b])\n",
        "(x * 2)",
        "unused_input",
        4,
        "b",
        "",
    )._replace(cure=("(x * 2)", "(x * b)")),
    "retain_grad without gradients": everyday(
        "t = torch.ones(2«, requires_grad=True»)\ny = t * 2\ny.retain_grad()\n",
        "",
        "retain_grad_without",
        3,
        "y",
        "",
    )._replace(cure=("ones(2)", "ones(2, requires_grad=True)")),
    "a hook without gradients": everyday(
        "t = torch.ones(2«, requires_grad=True»)\ny = t * 2\nh = y.register_hook(print)\n",
        "",
        "hook_without",
        3,
        "y",
        "",
    )._replace(cure=("ones(2)", "ones(2, requires_grad=True)")),
    "a hook that sums": everyday(
        LEAF + "y = x * 2\nh = y.register_hook(lambda g: g«.clamp(max=1)»)\ny.sum().backward()\n",
        ".sum()",
        "hook_shape",
        3,
        "shape",
        "shape",
        "x.grad is not None",
    )._replace(cure=("g.sum())", "g.clamp(max=1))")),
    # ── custom Functions
    "a backward that forgets an input": everyday(
        marked(SQUARE, "return g * b, g * a"),
        "return g * b",
        "wrong_count",
        None,
        "2, not 1",
        "",
        "x.grad is not None",
    ),
    "a forward without ctx": everyday(
        marked(SQUARE, "def forward(ctx, a, b)"),
        "def forward(a, b)",
        "function_methods",
        None,
        "ctx",
        "ctx",
    ),
    "saved_tensors misspelled": everyday(
        marked(SQUARE, "ctx.saved_tensors"),
        "ctx.saved_tensor",
        "misspelled_name",
        8,
        "saved_tensor",
        "saved_tensors",
    ),
    "a Function that is called": everyday(
        marked(SQUARE, "Square.apply(x, x * 2)"),
        "Square()(x, x * 2)",
        "function_methods",
        None,
        "Square",
        "Square.apply(",
    ),
    # ── classes
    "super without an object": everyday(
        marked(CLASS, "super().__init__()"),
        "super(Net).__init__()",
        "module_definition",
        None,
        "super",
        "super().__init__()",
    ),
    "a layer of another name": everyday(
        marked(CLASS, "return self.fc(x)"),
        "return self.fc1(x)",
        "misspelled_name",
        8,
        "fc1",
        "self.fc",
    ),
    "an input that is missing": everyday(
        marked(CLASS, "net(torch.ones(4, 2))"),
        "net()",
        "missing_argument",
        None,
        "forward() of Net",
        "x",
    ),
    "a list of layers that is called": everyday(
        "nn = torch.nn\nnet = «nn.Sequential(nn.Linear(2, 3), nn.ReLU())»\nout = net(torch.ones(4, 2))\n",
        "nn.ModuleList([nn.Linear(2, 3), nn.ReLU()])",
        "module_definition",
        3,
        "ModuleList",
        "Sequential",
    ),
    "the result of load_state_dict": everyday(
        CLASS + "sd = net.state_dict()\n«net.load_state_dict(sd)»\nout = net(torch.ones(4, 2))\n",
        "net = net.load_state_dict(sd)",
        "called_value",
        12,
        "load_state_dict",
        "net.load_state_dict(sd)",
    ),
    "no_grad without parentheses": everyday(
        NET + "with torch.no_grad«()»:\n    out = net(x)\n",
        "",
        "not_called",
        5,
        "no_grad",
        "torch.no_grad()",
    )._replace(cure=("no_grad:", "no_grad():")),
    "a function under no_grad": everyday(
        NET + "«»def step():\n    loss = net(x).pow(2).mean()\n    loss.backward()\nstep()\n",
        "@torch.no_grad()\n",
        "no_grad_fn",
        8,
        "no_grad",
        "",
        "net.weight.grad is not None",
    )._replace(
        program=NET + "def step():\n    loss = net(x).pow(2).mean()\n    loss.backward()\nstep()\n",
        right="def step():\n",
        wrong="@torch.no_grad()\ndef step():\n",
        cure=("@torch.no_grad()\n", ""),
    ),
    "parameters that are used up": everyday(
        NET + "params = «list(net.parameters())»\nn = sum(p.numel() for p in params)\n"
        "opt = torch.optim.SGD(params, lr=0.1)\n",
        "net.parameters()",
        "module_definition",
        7,
        "params",
        "list(",
    ),
    # ── losses
    "scores for BCELoss": everyday(
        NET + "y = torch.ones(4, 3)\nloss = nn.BCELoss()(«torch.sigmoid(net(x))», y)\nloss.backward()\n",
        "net(x)",
        "no_probabilities",
        6,
        "between 0 and 1",
        "BCEWithLogitsLoss",
    ),
    "class weights of another number": everyday(
        NET + "y = torch.tensor([0, 1, 2, 0])\n"
        "loss = nn.functional.cross_entropy(net(x), y, weight=«torch.ones(3)»)\n",
        "torch.ones(2)",
        "class_weights",
        6,
        "3 classes",
        "3",
    )._replace(cure=("ones(2)", "ones(3)")),
    "a column and a vector in l1_loss": everyday(
        NET + "y = torch.ones(4)\nloss = nn.functional.l1_loss(net(x)[:, :1]«.squeeze(1)», y)\n"
        "loss.backward()\n",
        "",
        "broadcast_loss",
        6,
        "4×1",
        "unsqueeze(1)",
    )._replace(cure=("[:, :1]", "[:, :1].squeeze(1)")),
    "item before backward": everyday(
        NET + "loss = net(x).pow(2).mean()«»\nloss.backward()\n",
        ".item()",
        "python_number",
        5,
        "item()",
        "net(x).pow(2).mean()",
        "net.weight.grad is not None",
    )._replace(right=".mean()", wrong=".mean().item()", cure=(".mean().item()", ".mean()")),
    "a comma behind the loss": everyday(
        NET + "loss = net(x).pow(2).mean()«»\nloss.backward()\n",
        ",",
        "no_tensor",
        5,
        "tuple",
        "net(x).pow(2).mean()",
        "net.weight.grad is not None",
    )._replace(right=".mean()", wrong=".mean(),", cure=(".mean(),", ".mean()")),
    "a loss by NumPy": everyday(
        "import numpy as np\n" + LEAF + "loss = «(x ** 2).mean()»\nloss.backward()\n",
        "np.mean((x ** 2).detach().numpy())",
        "python_number",
        3,
        "NumPy",
        "operations of torch",
        "x.grad is not None",
    ),
    "a loss that is not called": everyday(
        NET + "y = torch.ones(4, 3)\nloss = nn.MSELoss()«(net(x), y)»\nloss.backward()\n",
        "",
        "not_called",
        7,
        "MSELoss",
        "loss(…)",
        "net.weight.grad is not None",
    )._replace(cure=("MSELoss()", "MSELoss()(net(x), y)")),
    "reset without parentheses": everyday(
        NET + "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor i in range(3):\n    «opt.zero_grad()»\n"
        "    net(x).pow(2).mean().backward()\n    opt.step()\n",
        "opt.zero_grad",
        "not_called",
        None,
        "zero_grad",
        "opt.zero_grad()",
    )._replace(cure=("zero_grad\n", "zero_grad()\n")),
    # ── calls
    "a shape that is called": everyday(
        "x = torch.ones(2, 3)\nn = «x.shape»\n",
        "x.shape()",
        "called_value",
        2,
        "shape",
        "n = x.shape",
        "tuple(n) == (2, 3)",
    ),
    "a gradient that is called": everyday(
        LEAF + "(x ** 2).sum().backward()\ng = x.grad«»\n",
        "()",
        "called_value",
        3,
        "grad",
        "g = x.grad",
    )._replace(right="= x.grad", wrong="= x.grad()", cure=("x.grad()", "x.grad")),
    "dot of matrices": everyday(
        "a, b = torch.ones(2, 2), torch.ones(2, 2)\nc = «a @ b»\n",
        "torch.dot(a, b)",
        "matrix_dims",
        2,
        "2×2",
        "@",
    ),
    "bmm of matrices": everyday(
        "a, b = torch.ones(2, 3), torch.ones(3, 2)\nc = «torch.mm(a, b)»\n",
        "torch.bmm(a, b)",
        "matrix_dims",
        2,
        "2×3",
        "@",
    ),
    "cat of numbers": everyday(
        "a, b = torch.tensor(1.0), torch.tensor(2.0)\nc = torch.«stack»([a, b])\n",
        "cat",
        "joined_sizes",
        2,
        "scalar",
        "torch.stack",
    ),
    "one_hot of fractions": everyday(
        "y = torch.tensor([0.0, 2.0])\nh = torch.nn.functional.one_hot(y«.long()»)\n",
        "",
        "index_dtype",
        2,
        "float32",
        ".long()",
    )._replace(cure=("hot(y)", "hot(y.long())")),
    "a condition that is no tensor": everyday(
        "x = torch.ones(2)\ny = torch.where(«x > 0», x, -x)\n",
        "True",
        "no_tensor",
        2,
        "True is a Python bool",
        "if and else",
    ),
    "gather with short indices": everyday(
        "x = torch.ones(2, 3)\ni = torch.zeros(2, 1, dtype=torch.«int64»)\ny = x.gather(1, i)\n",
        "int16",
        "index_dtype",
        3,
        "int16",
        ".long()",
    ),
    "a matrix without an inverse": everyday(
        "a = torch.tensor([[1.0, 2.0], [2.0, «5.0»]])\nb = torch.linalg.inv(a)\n",
        "4.0",
        "singular_matrix",
        2,
        "singular",
        "pinv",
    ),
}
