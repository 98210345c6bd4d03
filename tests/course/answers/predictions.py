"""Answers to every question of "Predict first": right ones, three wrong ones, and programs that compute them.

A question among a few words is tried with all of its words, in both languages, by the test itself.
"""

import math

CUBE = "x = torch.tensor(5.0, requires_grad=True)\ny = x ** 3\nz = torch.log(y)\n"
TWICE = "z.backward(retain_graph=True)\n{}z.backward()\n"
SPREAD = "x = torch.tensor(5.0, requires_grad=True)\ny = x * torch.tensor([2.0, 3.0, 5.0])\n"
CUT = SPREAD + "w = y.detach().requires_grad_()\nz = w @ torch.tensor([4.0, 7.0, 9.0])\nz.backward()\n"
PATHS = (
    "x = torch.tensor(5.0, requires_grad=True)\nz = torch.log(x ** 3) + torch.sqrt(x ** 2)\nz.backward()\n"
)
CHAIN = "x = torch.tensor(3.0, requires_grad=True)\ny = 2 * (x ** 2)\nz = y ** 2\nz.backward()\n"
PAIR = (
    "a = torch.tensor([2.0, 3.0], requires_grad=True)\nb = torch.tensor([6.0, 4.0], requires_grad=True)\n"
    "Q = 3 * a ** 3 - b ** 2\nQ.backward(gradient=torch.tensor([1.0, 1.0]){})\n"
)
THIRD = "x = torch.tensor(2.0, requires_grad=True)\ny = x ** 3\n{}y.backward()\n"
APPLES = (
    "price, amount, delivery = (torch.tensor(n, requires_grad=True) for n in (2.0, 3.0, 4.0))\n"
    "total = price * amount + delivery\ntotal.backward()\n"
)
BOWL = (
    "w = torch.tensor(5.0, requires_grad=True)\noptimizer = torch.optim.SGD([w], lr={})\n"
    "(2 * (w - 3) ** 2).backward()\noptimizer.step()\n"
)
SLIDE = (
    "x = torch.tensor([[[1.0, 2.0, 0.0, 3.0, 1.0]]])\n"
    "k = torch.tensor([[[2.0, -1.0, 1.0]]], requires_grad=True)\ny = torch.nn.functional.conv1d(x, k)\n"
)
MEAN = (
    "s = torch.tensor([0.0, 2.0]).log1p().requires_grad_()\nz = s.softmax(dim=0) @ torch.tensor([4.0, 8.0])\n"
)

# A program, and the expression that answers the question after it; `total`, `y`, `z` is its root.
PROGRAMS = {
    "start_here.predict_1": (APPLES, "price.grad"),
    "start_here.predict_2": (APPLES, "amount.grad"),
    "start_here.predict_3": (APPLES, "delivery.grad"),
    "intro_requires_grad.predict_1": ("t = torch.ones(2)\nt.requires_grad = True\n", "t.grad"),
    "intro_polynomial.predict_1": (
        "x = torch.tensor([4.0], requires_grad=True)\nbefore = x.grad\ny = x ** 2\ny.backward()\n",
        "[before, x.grad.item()]",
    ),
    "intro_polynomial.predict_2": (
        "x = torch.tensor(4.0)\nfor step in range(5):\n    x = x - 0.1 * 2 * x\n",
        "x",
    ),
    "intro_composite.predict_1": (CHAIN, "x.grad"),
    "intro_composite.predict_2": (CHAIN, "y.grad"),
    "code_03.predict_2": ("y = torch.tensor(5.0) ** 3\n", "y.grad_fn"),
    "code_04.predict_1": (CUBE + "z.backward()\n", "[x.grad.item(), y.grad, z.grad]"),
    "code_05.predict_1": (
        CUBE + "y.retain_grad()\nz.retain_grad()\nz.backward()\n",
        "[y.grad.item(), z.grad.item()]",
    ),
    "code_05.predict_2": (CUBE + "z.backward()\ny.retain_grad()\n", "y.grad"),
    "code_07.predict_2": (CUBE + TWICE.format(""), "x.grad"),
    "code_08.predict_1": (CUBE + TWICE.format("x.grad.zero_()\n"), "x.grad"),
    "code_08.predict_2": (CUBE + TWICE.format("old = x.grad\nx.grad.zero_()\n"), "old"),
    "code_09.predict_1": (PATHS, "x.grad.item()"),
    "code_11.predict_1": (CUBE + "y.retain_grad()\nz.backward()\n", "y.grad"),
    "code_11.predict_2": (
        "x, q = (torch.tensor(n, requires_grad=True) for n in (5.0, 3.0))\ntorch.log(x ** q).backward()\n",
        "[x.grad.item(), q.grad.item()]",
    ),
    "code_13.predict_1": (
        SPREAD + "y.retain_grad()\n(y @ torch.tensor([4.0, 7.0, 9.0])).backward()\n",
        "y.grad",
    ),
    "code_13.predict_2": (SPREAD + "z = y @ torch.tensor([4.0, 7.0, 9.0])\nz.backward()\n", "x.grad"),
    "code_16.predict_1": (CUT + "y.backward(gradient=w.grad)\n", "x.grad"),
    "code_17.predict_1": (CUBE + "z.backward()\n", "[x.grad.requires_grad, x.grad.grad_fn]"),
    "code_19.predict_1": (CUBE + "y.register_hook(lambda grad: grad * 2)\nz.backward()\n", "x.grad"),
    "code_19.predict_2": (CUBE + "y.register_hook(lambda grad: None)\nz.backward()\n", "x.grad"),
    "graph_retain.predict_1": (THIRD.format("y.backward()\ny = x ** 3\n"), "x.grad.item()"),
    "graph_retain.predict_3": (THIRD.format("y.backward(retain_graph=True)\n"), "x.grad.item()"),
    "backward_exp.predict_2": (
        "i = torch.tensor([0.0, 1.0, 2.0], requires_grad=True)\ni.exp().sum().backward()\n",
        "i.grad",
    ),
    "backward_grad_twice.predict_1": (
        "x = torch.tensor(3.0, requires_grad=True)\nout = x ** 3\n"
        "(g,) = torch.autograd.grad(out, x, create_graph=True)\n(h,) = torch.autograd.grad(g, x)\n",
        "[g.item(), h.item()]",
    ),
    "backward_gradient.predict_1": (PAIR.format(""), "[a.grad.tolist(), b.grad.tolist()]"),
    "backward_inputs.predict_1": (PAIR.format(", inputs=[a]"), "b.grad"),
    "layer_by_hand.predict_3": (
        "s = torch.zeros(1, 2, requires_grad=True)\n"
        "torch.nn.functional.cross_entropy(s, torch.tensor([0])).backward()\n",
        "s.grad[0].tolist()",
    ),
    "through_time.predict_1": (
        "h = torch.tensor(3.0, requires_grad=True)\nz = h * 0.5 * 0.5 * 0.5 * 0.5\nz.backward()\n",
        "h.grad",
    ),
    "through_time.predict_2": (
        "w = torch.tensor(2.0, requires_grad=True)\nz = w * (w * (w * 1.0))\nz.backward()\n",
        "w.grad",
    ),
    "learning_rate.predict_1": (BOWL.format(0.1), "w.item()"),
    "learning_rate.predict_2": (
        BOWL.format(0.25),
        "0.25 if w.item() == 3 else None",
    ),
    "learning_rate.predict_3": (
        BOWL.format(0.6),
        "'farther' if abs(w.item() - 3) > 2 else 'closer'",
    ),
    "convolution_by_hand.predict_1": (SLIDE, "y.flatten().tolist()"),
    "convolution_by_hand.predict_3": (
        SLIDE + "y.backward(gradient=torch.tensor([[[1.0, 2.0, 3.0]]]))\n",
        "k.grad[0, 0, 0].item()",
    ),
    "graphs_that_change.predict_2": (
        "x = torch.tensor(2.0, requires_grad=True)\nz = x\nwhile z < 10:\n    z = z * x\nz.backward()\n",
        "x.grad",
    ),
    "graphs_that_change.predict_3": (
        "w = torch.tensor(2.0, requires_grad=True)\nz = w * (w * (w * 1.0)).detach()\nz.backward()\n",
        "w.grad",
    ),
    "attention_by_hand.predict_2": (MEAN, "z"),
    "attention_by_hand.predict_3": (MEAN + "z.backward()\n", "s.grad[1].item()"),
    "finish_the_backward.predict_1": (
        "u = torch.tensor(6.0, requires_grad=True)\n(u**2).backward()\n",
        "u.grad.item()",
    ),
    "finish_the_backward.predict_2": (
        "x = torch.tensor(2.0, requires_grad=True)\n((x * 3) ** 2).backward()\n",
        "x.grad.item()",
    ),
    "finish_a_layer.predict_1": (
        "W = torch.ones(2, 2, requires_grad=True)\n"
        "(torch.tensor([[2.0, 3.0]]) @ W).backward(gradient=torch.tensor([[1.0, -1.0]]))\n",
        "W.grad",
    ),
    "finish_a_layer.predict_2": (
        "b = torch.zeros(2, requires_grad=True)\n"
        "(torch.ones(2, 2) + b).backward(gradient=torch.tensor([[1.0, 2.0], [3.0, 4.0]]))\n",
        "b.grad",
    ),
    "five_loops.predict_2": (
        "w = torch.tensor(0.0, requires_grad=True)\n"
        "for _ in range(2):\n    ((2 * w - 6) ** 2).backward()\n    w.data -= 0.05 * w.grad\n",
        "w.grad.item()",
    ),
    "five_loops.predict_3": (
        "w = torch.tensor(0.0, requires_grad=True)\n"
        "torch.tensor(((2 * w - 6) ** 2).item(), requires_grad=True).backward()\n",
        "w.grad",
    ),
    "training_two_moons.predict_1": (
        "loss = torch.nn.functional.cross_entropy(torch.zeros(1, 2), torch.tensor([0]))\n",
        "loss",
    ),
    "training_digits.predict_1": (
        "image = torch.arange(9.0).reshape(1, 1, 3, 3)\nk = torch.ones(1, 1, 2, 2, requires_grad=True)\n"
        "torch.nn.functional.conv2d(image, k).sum().backward()\n",
        "k.grad[0, 0, 0, 0]",
    ),
    "training_letters.predict_2": (
        "loss = torch.nn.functional.cross_entropy(torch.zeros(1, 24), torch.tensor([0]))\n",
        "loss",
    ),
}

YES = (["yes", "Yes.", True, "예", "네"], ["no", False, "아니요"])
NO = (YES[1], YES[0][:3])

# The right answers, and wrong ones.
ANSWERS = {
    "start_here.predict_1": ([3, "3"], [1, 13, "nothing at all"]),
    "start_here.predict_2": ([2, 2.0], [3, 12, None]),
    "start_here.predict_3": ([1], [4, 11, 0]),
    "intro_requires_grad.predict_1": ([None, "None"], [0, [[0, 0], [0, 0]], 1]),
    "intro_requires_grad.predict_2": NO,
    "intro_polynomial.predict_1": ([[None, 8], "[None, 8]"], [[None, 16], [0, 8], 8]),
    "intro_polynomial.predict_2": ([1.3107, "1.31"], [3.2, 0, 9.953]),
    "intro_partial.predict_1": NO,
    "intro_partial.predict_2": YES,
    "intro_composite.predict_1": ([432, "36*12"], [36, 12, 48, 324, 1024, 32]),
    "intro_composite.predict_2": ([None], [36, 0, 64]),
    "code_01.predict_2": NO,
    "code_02.predict_2": NO,
    "code_03.predict_1": (["x, y, z", "all", {"x", "y", "z"}, "모두"], ["x", "none", "y and z"]),
    "code_04.predict_1": (
        [[0.6, None, None], "[0.6, None, None]"],
        [[75, None, None], [0.6, 0.008, 1], 0.6, [0.008, None, None]],
    ),
    "code_04.predict_2": (["x", ["x"]], ["x, y", "all", "none"]),
    "code_05.predict_1": ([[0.008, 1], "[1/125, 1]"], [[1, 0.008], [None, None], [75, 1]]),
    "code_05.predict_2": ([None], [0.008, 0, "an error"]),
    "code_06.predict_2": YES,
    "code_07.predict_1": YES,
    "code_07.predict_2": ([1.2, "1.2"], [0.6, 0, 1.8]),
    "code_08.predict_1": ([0.6], [1.2, 0, None]),
    "code_08.predict_2": ([0.6], [0, 1.2, None]),
    "code_09.predict_1": ([1.6, "the sum", "1.6"], [0.6, 1, "the larger"]),
    "code_09.predict_2": ([1], [2, 0, 3]),
    "code_10.predict_2": NO,
    "code_11.predict_1": ([0.008], [1, 125, 75]),
    "code_11.predict_2": ([[0.6, 1.6094], "[0.6, 1.61]"], [[75, 201.18], [1.6094, 0.6], [1, 1]]),
    "code_12.predict_1": (["q, x", "x and q"], ["all", "none", "y, z"]),
    "code_12.predict_3": ([4000], [0, 12000, 8000]),
    "code_13.predict_1": ([[4, 7, 9], "(4, 7, 9)"], [[2, 3, 5], [10, 15, 25], 74]),
    "code_13.predict_2": ([74], [20, 10, [4, 7, 9], 370]),
    "code_15.predict_1": YES,
    "code_15.predict_2": (["w", "w.grad"], ["x, w", "all", "none"]),
    "code_16.predict_1": ([74], [10, 20, None]),
    "code_17.predict_1": ([[False, None], "[False, None]"], [[True, None], [False, 0], 0.6]),
    "code_17.predict_2": NO,
    "code_18.predict_1": YES,
    "code_19.predict_1": ([1.2, "75*0.016"], [0.6, 0.016, 2]),
    "code_19.predict_2": ([0.6], [1.2, None, 0]),
    "code_20.predict_1": NO,
    "code_20.predict_2": NO,
    "code_21.predict_2": NO,
    "code_22.predict_2": ([1], [2, 0, 3]),
    "graph_linear_regression.predict_1": (["z, y", "y and z"], ["all", "none", "x, w, b"]),
    "graph_retain.predict_1": ([24], [12, 0, "error"]),
    "graph_retain.predict_2": (["error", "an error", "오류"], [12, 24, 0]),
    "graph_retain.predict_3": ([24], [12, 0, "error"]),
    "backward_exp.predict_1": ([[1, 2.72, 7.39]], [[0, 1, 2], [1, 1, 1], 1]),
    "backward_exp.predict_2": ([[1, math.e, 7.389]], [[0, 1, 2], [1, 1, 1], 11.1]),
    "backward_grad_twice.predict_1": ([[27, 18]], [[12, 12], [18, 27], 27]),
    "backward_grad_twice.predict_2": ([None], [27, 18, 0]),
    "backward_gradient.predict_1": (
        [[[36, 81], [-12, -8]]],
        [[[36, 81], [12, 8]], [[-12, -8], [36, 81]], [36, 81]],
    ),
    "backward_gradient.predict_2": ([1], [2, 0, 4]),
    "backward_inputs.predict_1": ([None], [[-12, -8], [0, 0], 0]),
    "backward_inputs.predict_2": YES,
    "from_scratch.predict_1": ([2], [1, 3, 0]),
    "from_scratch.predict_2": NO,
    "engine_compared.predict_1": (
        ["sqrt", "the square root", "the root of w: SqrtBackward0"],
        ["log", "z", 1],
    ),
    "engine_compared.predict_2": ([1], [2, 0, 3]),
    "layer_by_hand.predict_1": ([[3, 2], "(3, 2)"], [[2, 3], [2, 2], 6]),
    "layer_by_hand.predict_3": ([[-0.5, 0.5], "[-1/2, 1/2]"], [[0.5, 0.5], [0.5, -0.5], [-1, 1]]),
    "through_time.predict_1": ([0.0625, "1/16"], [2, 0.125, 0.5]),
    "through_time.predict_2": ([12, "3*2**2"], [8, 4, 2]),
    "learning_rate.predict_1": ([4.2, "5-0.8"], [5.8, -3, 0.8]),
    "learning_rate.predict_2": ([0.25, "1/4"], [0.5, 2, 0.1]),
    "why_backward.predict_1": ([12], [7, 3, 4]),
    "why_backward.predict_2": ([80, "4*20"], [20, 24, 12]),
    "why_backward.predict_3": ([20], [80, 12, 1]),
    "convolution_by_hand.predict_1": ([[0, 7, -2]], [[-1, 8, -1], [0, 7], [2, -2, 0]]),
    "convolution_by_hand.predict_2": ([[1, 3]], [[3, 3], [1, 1], [3, 1]]),
    "convolution_by_hand.predict_3": ([5, "1+4"], [3, 1, 6, 2]),
    "graphs_that_change.predict_1": ([-3], [-2, 3, 0]),
    "graphs_that_change.predict_2": ([32, "4*8"], [16, 8, 12]),
    "graphs_that_change.predict_3": ([4], [12, 8, 0]),
    "attention_by_hand.predict_1": ([[3, 3]], [[3, 2], [2, 2], 9]),
    "attention_by_hand.predict_2": ([7, "1+6"], [6, 8, 12]),
    "attention_by_hand.predict_3": ([0.75, "3/4"], [6, 0.25, 8]),
    "finish_the_backward.predict_1": ([12, "2 * 6"], [36, 4, 6]),
    "finish_the_backward.predict_2": ([36, "12 * 3"], [12, 15, 3]),
    "finish_a_layer.predict_1": (
        [[[2, -2], [3, -3]], "[[2, -2], [3, -3]]"],
        [[[2, 3], [-2, -3]], [[1, -1], [1, -1]], [5, -5]],
    ),
    "finish_a_layer.predict_2": ([[4, 6], "1+3, 2+4"], [[3, 7], [2, 3], [[1, 2], [3, 4]]]),
    "five_loops.predict_1": ([0], [1, 2, 5]),
    "five_loops.predict_2": ([-38.4, "-24-14.4"], [-14.4, -48, 38.4]),
    "five_loops.predict_3": ([None], [0, -24, 1]),
    "training_two_moons.predict_1": ([0.69, 0.693], [0.5, -0.69, 1]),
    "training_two_moons.predict_2": ([85], [50, 99, 100]),
    "training_digits.predict_1": ([8], [1, 36, 0]),
    "training_digits.predict_2": ([36, 40], [0, 360, 180]),
    "training_letters.predict_2": ([3.18, "3.178"], [24, 0.04, -3.18]),
}
