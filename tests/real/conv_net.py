"""A convolutional net for small images with training and evaluation loops."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(7)
images = torch.zeros(24, 1, 8, 8)
labels = torch.arange(24) % 2
images[labels == 0, :, 3:5, :] = 1.0  # a bar
images[labels == 1, :, :, 3:5] = 1.0  # a post
images += 0.1 * torch.randn(images.shape)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 3, padding=1)
        self.pool = nn.MaxPool2d(2, 2)
        self.conv2 = nn.Conv2d(4, 6, 3)
        self.fc1 = nn.Linear(6 * 1 * 1, 8)
        self.fc2 = nn.Linear(8, 2)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x)))
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        return self.fc2(x)


trainloader = DataLoader(TensorDataset(images[:16], labels[:16]), batch_size=8, shuffle=True)
testloader = DataLoader(TensorDataset(images[16:], labels[16:]), batch_size=8)
net = Net()
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for epoch in range(2):
    for i, data in enumerate(trainloader, 0):
        inputs, targets = data
        optimizer.zero_grad()
        loss = criterion(net(inputs), targets)
        loss.backward()
        optimizer.step()
    print(f"[{epoch + 1}] loss: {loss.item():.3f}")
correct = total = 0
with torch.no_grad():
    for images, labels in testloader:
        _, predicted = torch.max(net(images), 1)
        total += labels.size(0)
        correct += (predicted == labels).sum().item()
print(f"{100 * correct // total} % of {total}")
