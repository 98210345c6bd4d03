"""A recurrent net written out: one matrix for the input, one for the state, a loss over the steps."""

import torch
import torch.nn as nn

torch.manual_seed(0)
hidden_size, letters = 8, "helo"
rnn_i, rnn_h = nn.Linear(4, hidden_size), nn.Linear(hidden_size, hidden_size)
out = nn.Linear(hidden_size, 4)
params = [*rnn_i.parameters(), *rnn_h.parameters(), *out.parameters()]
x = torch.eye(4)[[letters.index(c) for c in "hell"]]
target = torch.tensor([letters.index(c) for c in "ello"])
optimizer = torch.optim.Adagrad(params, lr=0.1)
for epoch in range(3):
    hidden = torch.zeros(hidden_size)
    loss = 0
    for t in range(4):
        hidden = torch.tanh(rnn_i(x[t]) + rnn_h(hidden))
        loss = loss + nn.functional.cross_entropy(out(hidden).unsqueeze(0), target[t : t + 1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.4f}")
