"""The same work with other packages, where they can do it: each step returns its gradients.

They are imported when a step is made, and a package that is missing says so. The code is what its
own documentation would have one write; none is helped or hindered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from timing import Step

# isort: split
import convolution
import large
import networks
import numpy as np
import small

WORKED = (0.3, 0.3, 0.1, 0.4, 0.2)


def _function(f: Callable[..., Any], arguments: list[Any]) -> Step:
    """Give a step of a package that differentiates functions: HIPS autograd."""
    import autograd

    gradient = autograd.grad(f, tuple(range(len(arguments))))
    return lambda: list(gradient(*arguments))


def hips_worked_example() -> Step:
    """Give the worked example."""
    leaves = [np.array([value], np.float32) for value in WORKED]
    return _function(lambda x, w0, b0, w1, b1: _loss(x, w0, b0, w1, b1)[0], leaves)


def _loss(x: Any, w0: Any, b0: Any, w1: Any, b1: Any) -> Any:
    y = (w1 * (w0 * x + b0) + b1) ** 2
    return (y - 1) ** 2


def mygrad_worked_example() -> Step:
    """Give the worked example."""
    import mygrad

    leaves = [mygrad.tensor([value], dtype=np.float32) for value in WORKED]

    def step() -> list[Any]:
        _loss(*leaves).backward()
        return [leaf.grad for leaf in leaves]

    return step


def micrograd_worked_example() -> Step:
    """Give the worked example, with one number where the others have arrays of one."""
    from micrograd.engine import Value

    def step() -> list[Any]:
        leaves = [Value(value) for value in WORKED]
        _loss(*leaves).backward()
        return [[leaf.grad] for leaf in leaves]

    return step


def tinygrad_worked_example() -> Step:
    """Give the worked example; its gradients are computed when they are asked for."""
    from tinygrad import Tensor

    leaves = [Tensor([value]) for value in WORKED]

    def step() -> list[Any]:
        return [g.numpy() for g in _loss(*leaves).sum().gradient(*leaves)]

    return step


def _chain(x: Any, w: Any, b: Any) -> Any:
    for _ in range(small.LENGTH):
        x = x * w + b
    return x


def hips_chain(numbers: bool) -> Step:
    """Give the chain of multiplications and additions."""
    x, w, b = small.chain_data(numbers)
    return _function(lambda x: _chain(x, w, b).sum(), [x])


def mygrad_chain(numbers: bool) -> Step:
    """Give the chain of multiplications and additions."""
    import mygrad

    x, w, b = small.chain_data(numbers)
    leaf = mygrad.tensor(x)

    def step() -> list[Any]:
        _chain(leaf, w, b).sum().backward()
        return [leaf.grad]

    return step


def _parameters(sizes: networks.Sizes, batch: int) -> tuple[list[Any], Any, Any]:
    weights, biases, inputs, classes = networks.data(sizes, batch)
    return [a for pair in zip(weights, biases, strict=True) for a in pair], inputs, classes


def _scores(np: Any, relu: Callable[[Any], Any], parameters: Any, h: Any) -> Any:
    """Give the scores of a network of linear layers."""
    for place in range(0, len(parameters), 2):
        h = (relu(h) if place else h) @ parameters[place].T + parameters[place + 1]
    return h


def _updated(step: Callable[[list[Any]], list[Any]], parameters: list[Any]) -> Step:
    """Let a step that gives the gradients of parameters change them too."""

    def updating() -> list[Any]:
        gradients = step(parameters)
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter -= np.float32(networks.RATE) * gradient
        return gradients

    return updating


def hips_network(sizes: networks.Sizes, batch: int) -> Step:
    """Give a training step of a fully connected network."""
    import autograd
    import autograd.numpy as anp

    parameters, inputs, classes = _parameters(sizes, batch)
    rows, targets = np.arange(batch), classes.astype(np.float32).reshape(-1, 1)

    def loss(parameters: list[Any]) -> Any:
        scores = _scores(anp, lambda h: anp.maximum(h, 0), parameters, inputs)
        if sizes[-1] == 1:
            softplus = anp.maximum(scores, 0) + anp.log1p(anp.exp(-anp.abs(scores)))
            return anp.mean(softplus - scores * targets)
        scores = scores - anp.max(scores, 1, keepdims=True)
        return anp.mean(anp.log(anp.sum(anp.exp(scores), 1)) - scores[rows, classes])

    return _updated(autograd.grad(loss), parameters)


def mygrad_network(sizes: networks.Sizes, batch: int) -> Step:
    """Give a training step of a fully connected network."""
    import mygrad
    from mygrad.nnet.activations import relu, sigmoid
    from mygrad.nnet.losses import softmax_crossentropy

    parameters, inputs, classes = _parameters(sizes, batch)
    leaves = [mygrad.tensor(array) for array in parameters]
    targets = classes.astype(np.float32).reshape(-1, 1)

    def step() -> list[Any]:
        scores = _scores(mygrad, relu, leaves, inputs)
        if sizes[-1] == 1:
            p = sigmoid(scores)
            loss = -(targets * mygrad.log(p) + (1 - targets) * mygrad.log(1 - p)).mean()
        else:
            loss = softmax_crossentropy(scores, classes)
        loss.backward()
        gradients = [leaf.grad for leaf in leaves]
        for leaf, gradient in zip(leaves, gradients, strict=True):
            leaf.data -= np.float32(networks.RATE) * gradient
        return gradients

    return step


def tinygrad_network(sizes: networks.Sizes, batch: int) -> Step:
    """Give a training step of a fully connected network, compiled as its documentation advises."""
    from tinygrad import Tensor, TinyJit

    parameters, inputs, classes = _parameters(sizes, batch)
    leaves = [Tensor(array) for array in parameters]
    x, target = Tensor(inputs), Tensor(classes)

    @TinyJit
    def compiled() -> list[Any]:
        scores = _scores(None, Tensor.relu, leaves, x)
        gradients = scores.sparse_categorical_crossentropy(target).gradient(*leaves)
        for leaf, gradient in zip(leaves, gradients, strict=True):
            leaf.assign(leaf - networks.RATE * gradient)
        Tensor.realize(*leaves, *gradients)
        return gradients

    return lambda: [gradient.numpy() for gradient in compiled()]


def mygrad_convolution() -> Step:
    """Give a training step of the convolutional network."""
    import mygrad
    from mygrad.nnet.activations import relu
    from mygrad.nnet.layers import conv_nd, max_pool
    from mygrad.nnet.losses import softmax_crossentropy

    arrays, images, classes = convolution.data()
    leaves = w1, b1, w2, b2, w3, b3 = [mygrad.tensor(array) for array in arrays]

    def step() -> list[Any]:
        h = relu(conv_nd(images, w1, stride=1) + b1.reshape(1, 8, 1, 1))
        h = max_pool(h, (2, 2), 2)
        h = relu(conv_nd(h, w2, stride=1) + b2.reshape(1, 16, 1, 1))
        h = max_pool(h[:, :, :10, :10], (2, 2), 2).reshape(convolution.BATCH, 400)
        softmax_crossentropy(h @ w3.T + b3, classes).backward()
        gradients = [leaf.grad for leaf in leaves]
        for leaf, gradient in zip(leaves, gradients, strict=True):
            leaf.data -= np.float32(convolution.RATE) * gradient
        return gradients

    return step


def hips_long() -> Step:
    """Give the sum of ten million hyperbolic tangents."""
    import autograd.numpy as anp

    x, w, b = large.long_data()
    return _function(lambda w, b: anp.sum(anp.tanh(x * w + b)), [w, b])


def mygrad_long() -> Step:
    """Give the sum of ten million hyperbolic tangents."""
    import mygrad

    x, *numbers = large.long_data()
    leaves = w, b = [mygrad.tensor(number) for number in numbers]

    def step() -> list[Any]:
        mygrad.tanh(x * w + b).sum().backward()
        return [leaf.grad for leaf in leaves]

    return step


def _attention(np: Any, softmax: Callable[[Any], Any], leaves: Any) -> Any:
    x, w, b, w_out, b_out = leaves
    n, t, heads, depth = large.N, large.T, large.HEADS, large.DEPTH
    projected = (x @ w.T + b).reshape(n, t, 3, heads, depth)
    q, k, v = (np.transpose(projected[:, :, i], (0, 2, 1, 3)) for i in range(3))
    weights = softmax((q * depth**-0.5) @ np.swapaxes(k, -1, -2))
    return np.transpose(weights @ v, (0, 2, 1, 3)).reshape(n, t, large.WIDTH) @ w_out.T + b_out


def hips_attention() -> Step:
    """Give the attention block."""
    import autograd.numpy as anp

    *arrays, cotangent = large.attention_data()

    def softmax(scores: Any) -> Any:
        powers = anp.exp(scores - anp.max(scores, -1, keepdims=True))
        return powers / anp.sum(powers, -1, keepdims=True)

    def f(*leaves: Any) -> Any:
        return anp.sum(_attention(anp, softmax, leaves) * cotangent)

    return _function(f, arrays)


def mygrad_attention() -> Step:
    """Give the attention block."""
    import mygrad
    from mygrad.nnet.activations import softmax

    *arrays, cotangent = large.attention_data()
    leaves = [mygrad.tensor(array) for array in arrays]

    def step() -> list[Any]:
        _attention(mygrad, lambda scores: softmax(scores, axis=-1), leaves).backward(cotangent)
        return [leaf.grad for leaf in leaves]

    return step


def hips_gradient_penalty() -> Step:
    """Give the penalty on the length of a gradient."""
    import autograd
    import autograd.numpy as anp

    *parameters, points = small.penalty_data()

    def critic(x: Any, w1: Any, b1: Any, w2: Any, b2: Any, w3: Any) -> Any:
        return anp.sum(anp.tanh(anp.tanh(x @ w1.T + b1) @ w2.T + b2) @ w3.T)

    slope = autograd.grad(critic)

    def penalty(*parameters: Any) -> Any:
        gradient = slope(points, *parameters)
        return anp.mean((anp.sqrt(anp.sum(gradient**2, 1)) - 1) ** 2)

    return _function(penalty, parameters)
