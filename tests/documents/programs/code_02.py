"""Code 2: dz/dx by its definition, as a difference quotient."""

import minigrad as torch

x = torch.tensor(5.0)
y = x**3
z = torch.log(y)

x2 = torch.tensor(5.001)
y2 = x2**3
z2 = torch.log(y2)

print("at x: ", x, y, z)
# > at x:  tensor(5.) tensor(125.) tensor(4.8283)
print("at x2:", x2, y2, z2)
# > at x2: tensor(5.0010) tensor(125.0750) tensor(4.8289)
print("quotient", (z2 - z) / (x2 - x))
# > quotient tensor(0.5999)
