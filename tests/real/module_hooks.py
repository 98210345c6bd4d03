"""Hooks on modules: shapes of what passes forward, norms of what passes backward."""

import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
activations, gradients = {}, {}


def keep(name):
    def hook(module, args, output):
        activations[name] = output.detach()

    return hook


def note(name):
    def hook(module, grad_input, grad_output):
        gradients[name] = grad_output[0].norm().item()

    return hook


handles = []
for name, layer in net.named_children():
    handles += [layer.register_forward_hook(keep(name)), layer.register_full_backward_hook(note(name))]
x = torch.ones(2, 3, requires_grad=True)
out = net(x)
out.sum().backward()
for handle in handles:
    handle.remove()
print({name: tuple(a.shape) for name, a in activations.items()})
print({name: round(g, 4) for name, g in gradients.items()})
w_hook = net[0].weight.register_hook(lambda g: g * 2)
before = net[0].weight.grad.clone()
net(x).sum().backward()
print(torch.allclose(net[0].weight.grad, 3 * before))
w_hook.remove()
