"""An MLP on names with batch normalization by hand and a manual backward, compared with autograd."""

import torch
import torch.nn.functional as F

words = ["emma", "olivia", "ava", "isabella", "sophia", "mia"]
chars = sorted(set("".join(words)))
stoi = {s: i + 1 for i, s in enumerate(chars)}
stoi["."] = 0
block_size = 3
X, Y = [], []
for w in words:
    context = [0] * block_size
    for ch in w + ".":
        X.append(context)
        Y.append(stoi[ch])
        context = context[1:] + [stoi[ch]]
X, Y = torch.tensor(X), torch.tensor(Y)
g = torch.Generator().manual_seed(2147483647)
torch.manual_seed(3)
vocab_size, n_embd, n_hidden = len(stoi), 4, 8
C = torch.randn((vocab_size, n_embd))
W1 = torch.randn((n_embd * block_size, n_hidden)) * (5 / 3) / ((n_embd * block_size) ** 0.5)
b1 = torch.randn(n_hidden) * 0.1
W2 = torch.randn((n_hidden, vocab_size)) * 0.1
b2 = torch.randn(vocab_size) * 0.1
bngain = torch.ones((1, n_hidden)) + 0.1
bnbias = torch.zeros((1, n_hidden)) + 0.1
parameters = [C, W1, b1, W2, b2, bngain, bnbias]
for p in parameters:
    p.requires_grad = True
n = X.shape[0]


def cmp(s, dt, t):
    app = torch.allclose(dt, t.grad, atol=1e-5)
    print(f"{s:10s} approximate: {app}")


emb = C[X]
embcat = emb.view(emb.shape[0], -1)
hprebn = embcat @ W1 + b1
bnmeani = 1 / n * hprebn.sum(0, keepdim=True)
bndiff = hprebn - bnmeani
bndiff2 = bndiff**2
bnvar = 1 / (n - 1) * bndiff2.sum(0, keepdim=True)
bnvar_inv = (bnvar + 1e-5) ** -0.5
bnraw = bndiff * bnvar_inv
hpreact = bngain * bnraw + bnbias
h = torch.tanh(hpreact)
logits = h @ W2 + b2
logit_maxes = logits.max(1, keepdim=True).values
norm_logits = logits - logit_maxes
counts = norm_logits.exp()
counts_sum = counts.sum(1, keepdims=True)
counts_sum_inv = counts_sum**-1
probs = counts * counts_sum_inv
logprobs = probs.log()
loss = -logprobs[range(n), Y].mean()
for p in parameters:
    p.grad = None
for t in [logprobs, probs, counts, counts_sum, norm_logits, logits, h, hpreact, bnraw, emb]:
    t.retain_grad()
loss.backward()
dlogprobs = torch.zeros_like(logprobs)
dlogprobs[range(n), Y] = -1.0 / n
dprobs = (1.0 / probs) * dlogprobs
dlogits = F.softmax(logits, 1)
dlogits[range(n), Y] -= 1
dlogits /= n
dh = dlogits @ W2.T
dW2 = h.T @ dlogits
db2 = dlogits.sum(0)
dhpreact = (1.0 - h**2) * dh
cmp("logprobs", dlogprobs, logprobs)
cmp("probs", dprobs, probs)
cmp("logits", dlogits, logits)
cmp("W2", dW2, W2)
cmp("b2", db2, b2)
cmp("hpreact", dhpreact, hpreact)
print(round(loss.item(), 4))
