"""Cells that do to Python and to the libraries what a program may do, and must not notice a recorder."""

from __future__ import annotations

USE = """
x = torch.tensor([1.5, 2.0], requires_grad=True)
y = (x * x).sum()
y.backward()
print(x.grad)
"""

# One cell after the other, each below a line with its name; `USE` stands for the lines above. Each takes back
# what it changes of the process, or changes only its own variables.
TEXT = r"""
## settrace
import sys
seen = []
space = globals()
def tracer(frame, event, arg):
    if frame.f_globals is space:
        seen.append(event)
    return None
sys.settrace(tracer)
def f(a):
    return a * 2
f(3)
sys.settrace(None)
print(seen)
USE
## setprofile
import sys
seen = []
space = globals()
def profiler(frame, event, arg):
    if frame.f_globals is space and event == 'call':
        seen.append(event)
sys.setprofile(profiler)
def f(a):
    return a * 2
f(3)
sys.setprofile(None)
print(seen)
USE
## exit
USE
import sys
sys.exit(3)
## exit in a hook
USE
import sys
z = x * 2
z.register_hook(lambda g: sys.exit(4))
z.sum().backward()
## child
USE
import os
if hasattr(os, 'fork'):
    child = os.fork()
    if not child:
        (x * 2).sum().backward()
        os._exit(7)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
## process
USE
import subprocess, sys
print(subprocess.run([sys.executable, '-c', 'print(6 * 7)'], capture_output=True, text=True).stdout)
## interrupt
USE
raise KeyboardInterrupt
## base exception
class Stop(BaseException):
    pass
USE
raise Stop(1)
## generator exit
USE
raise GeneratorExit
## generators
def steps(v):
    while True:
        v = yield v * 2
x = torch.tensor(1.0, requires_grad=True)
g = steps(x)
total = next(g) + g.send(x * 3) + g.send(x)
total.backward()
print(x.grad)
g.close()
## generator with no_grad
@torch.no_grad()
def steps(v):
    for i in range(3):
        yield v * i
x = torch.tensor(1.0, requires_grad=True)
print([t.requires_grad for t in steps(x)], (x * 2).requires_grad)
## await
import asyncio
x = torch.tensor(2.0, requires_grad=True)
async def f(n):
    await asyncio.sleep(0)
    return x * n
a, b = await asyncio.gather(f(2), f(3))
(a * b).backward()
print(x.grad)
## async generator
import asyncio
x = torch.tensor(2.0, requires_grad=True)
async def f():
    for n in range(3):
        yield x * n
z = sum([t async for t in f()])
z.backward()
print(x.grad)
## recursion
USE
def deep(v, n):
    return deep(v * 1.0, n + 1)
try:
    deep(x, 0)
except RecursionError as error:
    print(type(error).__name__)
## recursion limit
import sys
before = sys.getrecursionlimit()
sys.setrecursionlimit(400)
USE
sys.setrecursionlimit(before)
## nested functions
def outer():
    x = torch.tensor(1.0, requires_grad=True)
    def inner():
        nonlocal x
        y = x * 2
        x = torch.tensor(5.0, requires_grad=True)
        return y
    return inner() * x
z = outer()
print(z)
## exec
exec('x = torch.tensor(3.0, requires_grad=True); y = x * x')
y.backward()
print(eval('x.grad'))
## exec in a strange space
space = {'torch': torch, '__builtins__': {}}
exec('x = torch.tensor(3.0, requires_grad=True)\ny = x * x\ny.backward()', space)
print(space['x'].grad)
## exception in a finally
USE
try:
    try:
        1 / 0
    finally:
        x @ torch.ones(3)
except Exception as error:
    print(type(error).__name__, type(error.__context__).__name__)
## group
USE
raise ExceptionGroup('two', [ValueError(1), ExceptionGroup('more', [KeyError('k')])])
## star
USE
try:
    raise ExceptionGroup('g', [ValueError(1), TypeError(2)])
except* ValueError as group:
    print(group.exceptions)
except* TypeError as group:
    print(group.exceptions)
## note
USE
error = ValueError('base')
error.add_note('a note')
raise error
## without traceback
USE
raise ValueError(1).with_traceback(None) from None
## cause that is itself
USE
error = ValueError(1)
other = TypeError(2)
error.__context__ = other
other.__context__ = error
raise error
## unprintable error
class Bad(Exception):
    def __str__(self):
        raise RuntimeError('no text')
USE
try:
    raise Bad
except Bad as error:
    print(type(error).__name__)
## unprintable error ends it
class Bad(Exception):
    def __str__(self):
        return 1
USE
raise Bad
## huge output
USE
print('x' * 200_000)
for i in range(2000):
    print(i)
## huge value
USE
big = 'y' * 100_000
big
## closed stdout
import sys, io
before = sys.stdout
sys.stdout = io.StringIO()
sys.stdout.close()
x = torch.tensor(1.0, requires_grad=True)
(x * 2).backward()
try:
    print(1)
except ValueError:
    pass
sys.stdout = before
print(x.grad)
## stdout without encoding
import sys, io
before = sys.stdout
sys.stdout = io.TextIOWrapper(io.BytesIO(), 'ascii')
x = torch.tensor(1.0, requires_grad=True)
(x * 2).backward()
sys.stdout = before
print(x.grad)
## redirected
import contextlib, io
with contextlib.redirect_stdout(io.StringIO()) as out:
    x = torch.tensor(1.0, requires_grad=True)
    (x * 2).backward()
    print(x.grad)
print(repr(out.getvalue()))
## display hook
import sys
before = sys.displayhook
sys.displayhook = lambda value: print('shown', value)
USE
sys.displayhook = before
5
## deleted globals
USE
del x, y
for name in [n for n in globals() if n.startswith('temp')]:
    del globals()[name]
try:
    x
except NameError as error:
    print(error)
## keys that are no names
x = torch.tensor(2.0, requires_grad=True)
globals()[5] = x
globals()[None] = x * 2
globals()[('a', 1)] = [x]
y = x * x
y.backward()
print(x.grad)
for key in (5, None, ('a', 1)):
    del globals()[key]
## names that are no identifiers
globals()['a b'] = torch.tensor(2.0, requires_grad=True)
globals()[''] = globals()['a b'] * 3
globals()[''].backward()
print(globals()['a b'].grad)
del globals()['a b'], globals()['']
## key that is a text of another class
class Name(str):
    def __eq__(self, other):
        raise RuntimeError('equal')
    __hash__ = str.__hash__
globals()[Name('strange')] = torch.tensor(1.0)
USE
globals().pop(next(key for key in globals() if type(key) is Name))
0
## no __name__
kept = globals().pop('__name__')
USE
globals()['__name__'] = kept
## __name__ is a number
kept = __name__
__name__ = 5
USE
__name__ = kept
## __name__ of a library
kept = __name__
__name__ = 'torch.nn'
USE
__name__ = kept
## built-in names
len = isinstance = print_ = max = id = open = min = sum = sorted = zip = list = dict = 3
USE
del len, isinstance, max, id, open, min, sum, sorted, zip, list, dict
## own print
lines = []
print = lambda *a: lines.append(a)
x = torch.tensor(1.0, requires_grad=True)
(x * 2).backward()
print(float(x.grad))
del print
print(lines)
## __builtins__ is a dictionary
kept = __builtins__
__builtins__ = vars(kept) if not isinstance(kept, dict) else kept
USE
__builtins__ = kept
## replaced built-ins
import builtins
calls = []
own = builtins.sum
builtins.sum = lambda *a, **k: calls.append(1) or own(*a, **k)
total = sum([1, 2])
builtins.sum = own
print(len(calls), total)
USE
## del of a built-in
import builtins
own = builtins.copyright
del builtins.copyright
USE
builtins.copyright = own
## torch is something else
library, torch = torch, None
x = library.tensor(1.0, requires_grad=True)
(x * 2).backward()
print(x.grad)
torch = library
## patched function
own = torch.exp
torch.exp = lambda v: own(v) * 2
x = torch.tensor(0.0, requires_grad=True)
torch.exp(x).backward()
print(x.grad)
torch.exp = own
## patched method
own = torch.Tensor.__mul__
calls = []
torch.Tensor.__mul__ = lambda a, b: calls.append(1) or own(a, b)
USE
torch.Tensor.__mul__ = own
print(len(calls))
## patched backward
own = torch.Tensor.backward
calls = []
def backward(self, *a, **k):
    calls.append(1)
    return own(self, *a, **k)
torch.Tensor.backward = backward
USE
torch.Tensor.backward = own
print(calls)
## patched module call
own = torch.nn.Linear.forward
torch.nn.Linear.forward = lambda self, v: own(self, v) * 0 + 1
layer = torch.nn.Linear(2, 1)
print(layer(torch.ones(2)))
torch.nn.Linear.forward = own
## module call is the same
print(torch.nn.Module.__call__ is torch.nn.Module.__call__, callable(torch.nn.Module().__call__))
class M(torch.nn.Module):
    def __call__(self, v):
        return super().__call__(v) + 1
    def forward(self, v):
        return v * 2
print(M()(torch.ones(1)))
## hooks of a module
layer = torch.nn.Linear(1, 1)
seen = []
layer.register_forward_pre_hook(lambda m, a: seen.append('pre'))
layer.register_forward_hook(lambda m, a, r: seen.append('post'))
layer.register_full_backward_hook(lambda m, a, b: seen.append('back'))
layer(torch.ones(1, requires_grad=True)).sum().backward()
print(seen)
## module that fails
class M(torch.nn.Module):
    def forward(self, v):
        raise LookupError('in forward')
net = torch.nn.Sequential(torch.nn.Identity(), M())
net(torch.ones(1))
## subclass of a tensor
class T(torch.Tensor):
    pass
x = torch.tensor([1.0, 2.0], requires_grad=True)
print(isinstance(x, T), type(x * 2).__name__)
## odd comparisons
class Odd:
    def __eq__(self, other):
        raise RuntimeError('eq')
    __hash__ = None
    def __bool__(self):
        raise RuntimeError('bool')
    def __len__(self):
        raise RuntimeError('len')
odd = Odd()
odds = [odd, {'a': odd}]
USE
## odd attributes
class Odd:
    def __getattr__(self, name):
        raise RuntimeError(name)
odd = Odd()
USE
## odd attributes of any name
class Odd:
    def __getattr__(self, name):
        return self
    def __call__(self, *a, **k):
        return self
    def __iter__(self):
        return iter(())
odd = Odd()
USE
## getattribute
class Odd:
    def __getattribute__(self, name):
        raise KeyError(name)
odd = Odd()
USE
## lies about its class
class Odd:
    @property
    def __class__(self):
        return torch.Tensor
odd = Odd()
USE
print(isinstance(odd, torch.Tensor))
## class that raises
class Odd:
    @property
    def __class__(self):
        raise RuntimeError('class')
odd = Odd()
USE
## metaclass
class Meta(type):
    def __getattr__(cls, name):
        raise RuntimeError(name)
class Odd(metaclass=Meta):
    pass
odd = Odd()
USE
## metaclass that has everything
class Meta(type):
    def __getattr__(cls, name):
        return 1
class Odd(metaclass=Meta):
    pass
odd = Odd()
USE
## odd repr
class Odd:
    def __repr__(self):
        raise RuntimeError('repr')
odd = Odd()
USE
## odd hash
class Odd:
    def __hash__(self):
        raise RuntimeError('hash')
odd = Odd()
USE
## odd numbers
class Num(float):
    def __float__(self):
        raise RuntimeError('float')
    def __repr__(self):
        raise RuntimeError('repr')
n = Num(2.0)
USE
## names in an object
class Holder:
    pass
holder = Holder()
vars(holder)[3] = torch.ones(1)
vars(holder)['a b'] = torch.ones(1, requires_grad=True)
USE
## a list that contains itself
loop = []
loop.append(loop)
table = {}
table['t'] = table
USE
## a value that dies loudly
class Odd:
    def __del__(self):
        seen.append(1)
seen = []
odd = Odd()
USE
del odd
print(seen)
## odd custom Function
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v):
        ctx.odd = object()
        return v * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2
F.__name__ = 'no name ()'
x = torch.tensor(1.0, requires_grad=True)
F.apply(x).backward()
print(x.grad)
## hook without a name
import functools
x = torch.tensor(1.0, requires_grad=True)
y = x * 2
y.register_hook(functools.partial(lambda n, g: g * n, 3))
y.backward()
print(x.grad)
## hook that registers hooks
x = torch.tensor(1.0, requires_grad=True)
y = x * 2
seen = []
def hook(g):
    seen.append(float(g))
    y.register_hook(lambda g: seen.append('late'))
y.register_hook(hook)
y.backward()
print(seen)
## backward in a hook
x = torch.tensor(1.0, requires_grad=True)
z = x * x
y = x * 2
y.register_hook(lambda g: z.backward() or None)
y.backward()
print(x.grad)
## threads
import threading
x = torch.tensor(2.0, requires_grad=True)
found = []
def work(n):
    v = torch.tensor(float(n), requires_grad=True)
    (v * v).backward()
    found.append(float(v.grad))
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
print(sorted(found))
## a thread that fails
import threading
def work():
    torch.ones(2) @ torch.ones(3)
t = threading.Thread(target=work, name='worker')
t.start()
t.join()
## a thread that outlives the cell
import threading
go, found = threading.Event(), []
def work():
    go.wait(5)
    v = torch.tensor(3.0, requires_grad=True)
    (v * v).backward()
    found.append(float(v.grad))
late = threading.Thread(target=work)
late.start()
USE
## it has outlived it
go.set()
late.join()
print(found)
## a thread that writes variables
import threading
stop = threading.Event()
def work():
    n = 0
    while not stop.is_set():
        globals()[f'temp{n % 50}'] = n
        globals().pop(f'temp{(n + 25) % 50}', None)
        n += 1
busy = threading.Thread(target=work)
busy.start()
for _ in range(20):
    x = torch.tensor(1.0, requires_grad=True)
    (x * 2).backward()
stop.set()
busy.join()
[globals().pop(f'temp{n}', None) for n in range(50)]
print(x.grad)
## patched time
import time
own = time.time, time.monotonic, time.perf_counter
time.time = time.monotonic = time.perf_counter = lambda: -1.0
USE
time.time, time.monotonic, time.perf_counter = own
## frozen random
import random
random.seed(3)
torch.manual_seed(3)
layer = torch.nn.Linear(2, 1)
print(random.random(), torch.rand(1))
## warnings are errors
import warnings
with warnings.catch_warnings():
    warnings.simplefilter('error')
    x = torch.tensor(1.0, requires_grad=True)
    y = x * 2
    y.backward()
    try:
        y.grad
    except UserWarning as error:
        print(str(error)[:30])
print(x.grad)
## warning
import warnings
warnings.warn('careful', stacklevel=1)
x = torch.tensor(1.0, requires_grad=True)
y = x * 2
y.grad
## another folder
import os, tempfile
before = os.getcwd()
folder = tempfile.mkdtemp()
os.chdir(folder)
os.rmdir(folder)
USE
os.chdir(before)
## environment
import os
kept = dict(os.environ)
os.environ.clear()
USE
os.environ.update(kept)
## locale
import locale
before = locale.setlocale(locale.LC_ALL)
locale.setlocale(locale.LC_ALL, 'C')
USE
locale.setlocale(locale.LC_ALL, before)
0
## decimals
import decimal
with decimal.localcontext() as ctx:
    ctx.prec = 2
    USE
print(decimal.Decimal(1) / 3)
## numpy errors
import numpy as np
with np.errstate(all='raise'):
    x = torch.tensor(0.0, requires_grad=True)
    torch.log(x).backward()
    print(x.grad)
## numpy printing
import numpy as np
kept = np.get_printoptions()
np.set_printoptions(precision=1)
USE
np.set_printoptions(**kept)
## garbage
import gc
gc.disable()
gc.set_debug(0)
USE
gc.enable()
print(gc.isenabled())
## collected
import gc, weakref
x = torch.tensor(1.0, requires_grad=True)
y = x * 2
y.backward()
r = weakref.ref(y)
del y
gc.collect()
print(r() is None)
## import hook
import sys
class Finder:
    def find_spec(self, *a):
        return None
finder = Finder()
sys.meta_path.insert(0, finder)
USE
sys.meta_path.remove(finder)
## modules removed
import sys
kept = sys.modules.pop('json', None)
USE
if kept is not None:
    sys.modules['json'] = kept
## audit
import sys
events = []
print(callable(sys.addaudithook))
USE
## signals
import signal
hits = []
before = signal.signal(signal.SIGUSR1, lambda s, f: hits.append(s))
for _ in range(5):
    signal.raise_signal(signal.SIGUSR1)
    x = torch.tensor(1.0, requires_grad=True)
    (x * 2).backward()
signal.signal(signal.SIGUSR1, before)
print(len(hits), x.grad)
## excepthook
import sys, threading
own, seen = threading.excepthook, []
threading.excepthook = lambda args: seen.append(args.exc_type.__name__)
t = threading.Thread(target=lambda: 1 / 0)
t.start()
t.join()
threading.excepthook = own
print(seen)
## printed traceback
import traceback
x = torch.ones(2, requires_grad=True)
z = (x * 2).sum()
z.backward()
def again():
    z.backward()
try:
    again()
except RuntimeError as error:
    print([f.name for f in traceback.extract_tb(error.__traceback__)][:2])
## grad mode left off
torch.set_grad_enabled(False)
x = torch.tensor(1.0, requires_grad=True)
print((x * 2).requires_grad)
## it is off
print(torch.is_grad_enabled(), (torch.ones(1, requires_grad=True) * 2).requires_grad)
torch.set_grad_enabled(True)
0
## anomaly
with torch.autograd.set_detect_anomaly(True):
    x = torch.tensor(0.0, requires_grad=True)
    try:
        (torch.sqrt(x) * 0).backward()
    except RuntimeError as error:
        print(str(error)[:40])
## inference
with torch.inference_mode():
    x = torch.ones(2)
    print((x * 2).is_inference())
try:
    x.requires_grad_()
except RuntimeError as error:
    print(str(error)[:40])
## default dtype
kept = torch.get_default_dtype()
torch.set_default_dtype(torch.float64)
USE
torch.set_default_dtype(kept)
print(x.dtype)
"""


def cells() -> dict[str, str]:
    """The cells by name."""
    found: dict[str, list[str]] = {}
    for line in TEXT.strip().splitlines():
        if line.startswith("## "):
            lines = found[line[3:]] = []
        else:
            indent = line[: len(line) - len(line.lstrip())]
            lines += [indent + each for each in USE.strip().splitlines()] if line.strip() == "USE" else [line]
    return {name: "\n".join(lines) for name, lines in found.items()}


CELLS = cells()
