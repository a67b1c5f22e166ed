"""The heart runs when nothing else of minigrad can be imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Runs in a fresh interpreter, in which of the package only `minigrad.core` can be imported.
PROGRAM = r"""
import importlib.abc, sys, types

class Forbid(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.startswith("minigrad.") and not (name + ".").startswith("minigrad.core."):
            raise ImportError(f"{name} is forbidden")

sys.meta_path.insert(0, Forbid())
package = types.ModuleType("minigrad")  # without running minigrad/__init__.py
package.__path__ = [sys.argv[1]]
sys.modules["minigrad"] = package

import numpy as np
from minigrad.core import modes, module_hooks
from minigrad.core.operation import operation
from minigrad.core.tensor import Tensor, wrap

@operation(
    "MulBackward0", self=lambda grad, other: grad * other, other=lambda grad, self: grad * self
)
def mul(self, other):
    return self * other

@operation("AddBackward0", self=lambda grad: grad, other=lambda grad: grad)
def add(self, other):
    return self + other

@operation("CloneBackward0", self=lambda grad: grad)
def clone(self):
    return self.copy()

Tensor.__add__, Tensor.__mul__, Tensor.clone = add, mul, clone

def leaf(value):
    tensor = wrap(np.array(value))
    tensor.requires_grad = True
    return tensor

events = []
def tell(name, scale=None):
    def hook(*given):
        events.append(name)
        if scale is not None:
            return given[0] * wrap(np.array(scale))
    return hook

# a diamond: y = x^2 + 3 x^2 = 4 x^2, dy/dx = 8 x
x = leaf(0.3)
square = x * x
y = square + square * wrap(np.array(3.0))
y.backward(retain_graph=True)
assert np.isclose(x.grad._array, 2.4), x.grad._array
y.backward()
assert np.isclose(x.grad._array, 4.8)
try:
    y.backward()
except RuntimeError as error:
    assert "released" in str(error)
else:
    raise AssertionError("a second backward through a released graph")

# each kind of hook on tensors and nodes, in order
x = leaf(0.5)
middle = x * wrap(np.array(2.0))
y = middle * middle
accumulate = middle.grad_fn.next_functions[0][0]
middle.register_hook(tell("tensor hook", 10.0))
middle.retain_grad()
middle.grad_fn.register_prehook(lambda grads: events.append("node pre-hook"))
middle.grad_fn.register_hook(lambda inputs, outputs: events.append("node hook"))
x.register_hook(tell("leaf hook"))
accumulate.register_prehook(lambda grads: events.append("leaf pre-hook"))
x.register_post_accumulate_grad_hook(tell("post-accumulate hook"))
removed = x.register_hook(tell("removed"))
removed.remove()
y.backward()
assert events == [
    "tensor hook", "node pre-hook", "node hook",
    "leaf hook", "leaf pre-hook", "post-accumulate hook",
], events
assert np.isclose(middle.grad._array, 20.0) and np.isclose(x.grad._array, 40.0)

# a second derivative: d2(x^3)/dx2 = 6 x
x = leaf(2.0)
(x * x * x).backward(create_graph=True)
first, x.grad = x.grad, None
assert np.isclose(first._array, 12.0)
first.backward()
assert np.isclose(x.grad._array, 12.0)

# a change in place is noticed
x, other = leaf(2.0), wrap(np.array(3.0))
y = x * other
other._array += 1
other._bump_version()
try:
    y.backward()
except RuntimeError as error:
    assert str(error) == "stale"
else:
    raise AssertionError("a stale saved value went unnoticed")

# nothing is recorded where recording is off
modes.modes.set_recording(False)
assert not (leaf(1.0) * leaf(2.0)).requires_grad
modes.modes.set_recording(True)

# both kinds of module hooks on f(x) = x * w + w
w = leaf(4.0)
class Module:
    pass
module, events = Module(), []
def hook(module, grad_input, grad_output):
    events.append([None if g is None else float(g._array) for g in (*grad_input, *grad_output)])
x = leaf(3.0)
hooks = module_hooks.FullBackwardHooks(module, [hook], [])
(inside,) = hooks.watch_inputs((x,))
result = inside * w + w
module_hooks.attach_legacy_hooks(module, [hook], (x,), result)
result = hooks.watch_outputs(result)
assert result.grad_fn.name() == "BackwardHookFunctionBackward"
(result * wrap(np.array(2.0))).backward()
# legacy: the gradients of the last addition; full: those of the module's input and output
assert events == [[2.0, 2.0, 2.0], [8.0, 2.0]], events
assert np.isclose(x.grad._array, 8.0) and np.isclose(w.grad._array, 8.0)
assert {name.split(".")[1] for name in sys.modules if name.startswith("minigrad.")} == {"core"}
print("alone")
"""


def test_the_heart_runs_alone() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, str(ROOT / "minigrad")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "alone\n", done.stderr
