"""A net of scalar weights, each a tensor of its own, trained on four points by hand-written updates."""

import random

import torch

random.seed(1337)


class Neuron:
    def __init__(self, size):
        self.w = [torch.tensor(random.uniform(-1, 1), requires_grad=True) for _ in range(size)]
        self.b = torch.tensor(0.0, requires_grad=True)

    def __call__(self, x):
        return torch.tanh(sum((wi * xi for wi, xi in zip(self.w, x)), self.b))

    def parameters(self):
        return [*self.w, self.b]


class Layer:
    def __init__(self, inputs, outputs):
        self.neurons = [Neuron(inputs) for _ in range(outputs)]

    def __call__(self, x):
        return [neuron(x) for neuron in self.neurons]

    def parameters(self):
        return [p for neuron in self.neurons for p in neuron.parameters()]


layers = [Layer(3, 4), Layer(4, 1)]
params = [p for layer in layers for p in layer.parameters()]
xs = [[2.0, 3.0, -1.0], [3.0, -1.0, 0.5], [0.5, 1.0, 1.0], [1.0, 1.0, -1.0]]
ys = [1.0, -1.0, -1.0, 1.0]

for step in range(4):
    preds = []
    for x in xs:
        for layer in layers:
            x = layer(x)
        preds.append(x[0])
    loss = sum((p - y) ** 2 for p, y in zip(preds, ys))
    for p in params:
        p.grad = None
    loss.backward()
    for p in params:
        p.data -= 0.05 * p.grad
    print(step, round(loss.item(), 4))
