"""Backpropagation written by hand, tensor by tensor, and compared with autograd."""

import torch
import torch.nn.functional as F

g = torch.Generator().manual_seed(1)
x = torch.randn((6, 4), generator=g)
y = torch.tensor([0, 2, 1, 1, 0, 2])
W1 = torch.randn((4, 5), generator=g).requires_grad_()
gain = torch.ones((1, 5), requires_grad=True)
W2 = torch.randn((5, 3), generator=g).requires_grad_()

hpre = x @ W1
mean = hpre.mean(0, keepdim=True)
diff = hpre - mean
var = (diff**2).sum(0, keepdim=True) / 5
std_inv = (var + 1e-5) ** -0.5
raw = diff * std_inv
h = torch.tanh(gain * raw)
logits = h @ W2
loss = F.cross_entropy(logits, y)
for t in (logits, h, raw, std_inv, var, diff, hpre):
    t.retain_grad()
loss.backward()


def cmp(name, dt, t):
    print(f"{name:8} close: {torch.allclose(dt, t.grad, atol=1e-6)!s:5} shape: {tuple(dt.shape)}")


with torch.no_grad():
    dlogits = F.softmax(logits, 1)
    dlogits[range(6), y] -= 1
    dlogits /= 6
    dh = dlogits @ W2.T
    dW2 = h.T @ dlogits
    dact = (1 - h**2) * dh
    dgain = (dact * raw).sum(0, keepdim=True)
    draw = gain * dact
    dstd_inv = (diff * draw).sum(0, keepdim=True)
    dvar = -0.5 * (var + 1e-5) ** -1.5 * dstd_inv
    ddiff = std_inv * draw + 2 / 5 * diff * dvar
    dhpre = ddiff - ddiff.mean(0, keepdim=True)
    dW1 = x.T @ dhpre
for name, dt, t in [
    ("logits", dlogits, logits),
    ("h", dh, h),
    ("W2", dW2, W2),
    ("gain", dgain, gain),
    ("raw", draw, raw),
    ("var", dvar, var),
    ("diff", ddiff, diff),
    ("W1", dW1, W1),
]:
    cmp(name, dt, t)
