"""Bigrams of names: counted, then learned by a net of one layer without a library of layers."""

import torch
import torch.nn.functional as F

words = ["emma", "olivia", "ava", "isabella", "sophia", "mia", "amelia", "harper"]
chars = ["."] + sorted(set("".join(words)))
stoi = {s: i for i, s in enumerate(chars)}
pairs = [(stoi[a], stoi[b]) for w in words for a, b in zip("." + w, w + ".")]

N = torch.zeros((len(chars), len(chars)), dtype=torch.int32)
for a, b in pairs:
    N[a, b] += 1
P = (N + 1).float()
P /= P.sum(1, keepdim=True)
print(f"counted: {-sum(torch.log(P[a, b]) for a, b in pairs).item() / len(pairs):.4f}")

xs = torch.tensor([a for a, _ in pairs])
ys = torch.tensor([b for _, b in pairs])
g = torch.Generator().manual_seed(2147483647)
W = torch.randn((len(chars), len(chars)), generator=g, requires_grad=True)
for k in range(5):
    xenc = F.one_hot(xs, num_classes=len(chars)).float()
    logits = xenc @ W
    counts = logits.exp()
    probs = counts / counts.sum(1, keepdim=True)
    loss = -probs[torch.arange(len(xs)), ys].log().mean() + 0.01 * (W**2).mean()
    W.grad = None
    loss.backward()
    W.data += -50 * W.grad
    print(f"{k}: {loss.item():.4f}")
