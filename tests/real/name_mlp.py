"""A language model of characters: an embedding table, a tanh layer, minibatches, updates through .data."""

import torch
import torch.nn.functional as F

words = ["emma", "olivia", "ava", "isabella", "sophia", "mia"]
chars = ["."] + sorted(set("".join(words)))
stoi = {c: i for i, c in enumerate(chars)}
X, Y = [], []
for word in words:
    context = [0, 0, 0]
    for ch in word + ".":
        X.append(context)
        Y.append(stoi[ch])
        context = context[1:] + [stoi[ch]]
X, Y = torch.tensor(X), torch.tensor(Y)

g = torch.Generator().manual_seed(42)
C = torch.randn((len(chars), 2), generator=g)
W1 = torch.randn((6, 20), generator=g) * 0.3
b1 = torch.zeros(20)
W2 = torch.randn((20, len(chars)), generator=g) * 0.1
b2 = torch.zeros(len(chars))
parameters = [C, W1, b1, W2, b2]
for p in parameters:
    p.requires_grad = True

lossi = []
for i in range(6):
    ix = torch.randint(0, X.shape[0], (8,), generator=g)
    emb = C[X[ix]]
    h = torch.tanh(emb.view(-1, 6) @ W1 + b1)
    logits = h @ W2 + b2
    loss = F.cross_entropy(logits, Y[ix])
    for p in parameters:
        p.grad = None
    loss.backward()
    lr = 0.1 if i < 4 else 0.01
    for p in parameters:
        p.data += -lr * p.grad
    lossi.append(loss.log10().item())
print([round(x, 4) for x in lossi])
