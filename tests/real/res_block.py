"""A residual block with batch normalization and a projection on the short way."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Residual(nn.Module):
    def __init__(self, inputs, channels, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, channels, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.downsample = None
        if stride != 1 or inputs != channels:
            self.downsample = nn.Sequential(
                nn.Conv2d(inputs, channels, 1, stride=stride, bias=False), nn.BatchNorm2d(channels)
            )

    def forward(self, x):
        identity = x if self.downsample is None else self.downsample(x)
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += identity
        return F.relu(out)


torch.manual_seed(5)
net = nn.Sequential(
    Residual(2, 4, stride=2), Residual(4, 4), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3)
)
images = torch.randn(4, 2, 6, 6)
out = net(images)
loss = F.cross_entropy(out, torch.tensor([0, 2, 1, 1]))
loss.backward()
print(f"{loss.item():.4f}", sum(p.numel() for p in net.parameters()))
for name, p in net.named_parameters():
    if name.endswith("conv1.weight"):
        print(name, f"{p.grad.norm().item():.4f}")
