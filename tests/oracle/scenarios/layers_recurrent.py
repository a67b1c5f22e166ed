"""See recurrent layers and cells: how they start, what they compute, and sequences of different
lengths.
"""

from __future__ import annotations

from .tools import Family, graph, leaf, numbers

family = Family()

LAYERS = {
    "RNN": "RNN(2, 3)",
    "RNN with relu": "RNN(2, 3, 1, 'relu', bidirectional=True)",
    "RNN first batch": "RNN(2, 3, num_layers=2, batch_first=True)",
    "GRU": "GRU(2, 3)",
    "GRU both ways": "GRU(2, 2, 2, bidirectional=True, batch_first=True)",
    "GRU without biases": "GRU(2, 3, bias=False)",
    # PyTorch computes a layer of float32 in one node
    "LSTM": "LSTM(2, 3, dtype=torch.float64)",
    "LSTM both ways": "LSTM(2, 2, 2, bidirectional=True, batch_first=True)",
    "LSTM without biases": "LSTM(2, 3, bias=False, dtype=torch.float64)",
}
CELLS = {
    "RNNCell": "RNNCell(2, 3)",
    "RNNCell with relu": "RNNCell(2, 3, bias=False, nonlinearity='relu')",
    "GRUCell": "GRUCell(2, 3)",
    "LSTMCell": "LSTMCell(2, 3)",
}


def fill(torch, layer):
    """Give a layer small numbers that do not come from a random generator."""
    with torch.no_grad():
        for seed, parameter in enumerate(layer.parameters()):
            values = numbers(tuple(parameter.shape), seed + 5)
            parameter.copy_(torch.tensor(values) / 2)
    return layer


def make(torch, text):
    """Make a layer as it is written."""
    return fill(torch, eval(f"nn.{text}", {"nn": torch.nn, "torch": torch}))


def flat(results):
    """Give all tensors of nested tuples."""
    if isinstance(results, tuple) and not hasattr(results, "batch_sizes"):
        return [each for result in results for each in flat(result)]
    return [results]


def add(name, text):
    def scenario(torch, log):
        layer = make(torch, text)
        log("form", repr(layer))
        log("state", [(key, list(value.shape)) for key, value in layer.state_dict().items()])
        dtype = next(layer.parameters()).dtype
        x = leaf(torch, (2, 2) if "Cell" in text else (2, 2, 2), 1, dtype=dtype)
        outputs = flat(layer(x))
        log("values", *outputs)
        log("printed", [type(each.grad_fn).__name__ for each in outputs])
        loss = sum((each**2).sum() * (place + 1) for place, each in enumerate(outputs))
        sources = [x, *layer.parameters()]
        gradients = torch.autograd.grad(loss, sources, create_graph=True)
        log("gradients", *(each.detach() for each in gradients))
        log("second", *torch.autograd.grad(gradients[0].sum(), sources, allow_unused=True))
        states = [leaf(torch, tuple(each.shape), 7, dtype=dtype) for each in outputs[-2:]]
        if "Cell" not in text:
            states = states if "LSTM" in text else states[1:]
            log("alone", *flat(layer(x[:, 0], _state([each[:, 0] for each in states]))))
        else:
            states = states if "LSTM" in text else states[:1]
            log("alone", *flat(layer(x[0], _state([each[0] for each in states]))))
        outputs = flat(layer(x, _state(states)))
        log("with states", *outputs)
        log("their gradients", *torch.autograd.grad(outputs[0].sum(), states, allow_unused=True))

    scenario.__doc__ = f"Form, values and derivatives of nn.{text}."
    family.add(name, scenario)


def _state(tensors):
    return tuple(tensors) if len(tensors) == 2 else tensors[0]


for _name, _text in {**LAYERS, **CELLS}.items():
    add(_name, _text)


@family
def start(torch, log):
    """The numbers that a seed gives."""
    for text in ("RNN(2, 1)", "LSTM(1, 2, 2)", "GRU(1, 1, bidirectional=True)"):
        torch.manual_seed(3)
        layer = eval(f"torch.nn.{text}", {"torch": torch})
        log(text, *layer.parameters())
    for text in ("RNNCell(2, 1)", "LSTMCell(1, 1)", "GRUCell(1, 1)"):
        torch.manual_seed(4)
        log(text, *eval(f"torch.nn.{text}", {"torch": torch}).parameters())


@family
def graphs(torch, log):
    """The graphs that they leave."""
    x = leaf(torch, (2, 1, 2), 1)
    for text in ("RNN(2, 1)", "GRU(2, 1)"):
        output, _ = make(torch, text)(x)
        log(text, graph(output))
    layer = make(torch, "LSTM(2, 1, dtype=torch.float64)")
    output, (h, c) = layer(x.detach().double())
    log("LSTM in float64", graph(output), graph(h), graph(c))
    for text in ("RNNCell(2, 1)", "GRUCell(2, 1)", "LSTMCell(2, 1)"):
        log(text, *map(graph, flat(make(torch, text)(x[0]))))


@family
def dropout_between_layers(torch, log):
    """In training, entries are dropped between layers; not in evaluation."""
    for kind in ("RNN", "GRU", "LSTM"):
        layer = fill(torch, getattr(torch.nn, kind)(2, 3, num_layers=2, dropout=0.5))
        x = leaf(torch, (2, 2, 2), 1)
        torch.manual_seed(5)
        log(kind, repr(layer), layer(x)[0].detach())
        log("evaluated", layer.eval()(x)[0].detach())


def sequences(torch, *lengths):
    return [leaf(torch, (length, 2), length) for length in lengths]


@family
def padding(torch, log):
    """Sequences of different lengths, padded and apart again."""
    rnn = torch.nn.utils.rnn
    for side in ("right", "left"):
        for batch_first in (False, True):
            each = sequences(torch, 1, 3)
            padded = rnn.pad_sequence(each, batch_first, 7.0, side)
            log(f"{side} {batch_first}", padded, *torch.autograd.grad((padded**2).sum(), each))
    for name, call in {
        "nothing": lambda: rnn.pad_sequence([]),
        "side": lambda: rnn.pad_sequence([torch.ones(2)], padding_side="up"),
        "sizes": lambda: rnn.pad_sequence([torch.zeros(2, 3), torch.zeros(3, 2)]),
    }.items():
        log.raises(name, call)


@family
def packing(torch, log):
    """Sequences of different lengths, packed and apart again."""
    rnn = torch.nn.utils.rnn
    for lengths in ((3, 1), (1, 3, 2)):
        each = sequences(torch, *lengths)
        packed = rnn.pack_sequence(each, enforce_sorted=False)
        log("packed", packed.data.detach(), *packed[1:])
        padded, counts = rnn.pad_packed_sequence(packed, True, 7.0, 4)
        log("padded", padded, counts)
        loss = (padded**2).sum() + (packed.data**3).sum()
        gradients = torch.autograd.grad(loss, each, create_graph=True)
        log("gradients", *(gradient.detach() for gradient in gradients))
        log("second", *torch.autograd.grad(sum((g**2).sum() for g in gradients), each))
    log("permutation", rnn.invert_permutation(torch.tensor([2, 0, 1])))
    padded = torch.zeros(3, 2, 1)
    for name, call in {
        "order": lambda: rnn.pack_padded_sequence(padded, [1, 3]),
        "count": lambda: rnn.pack_padded_sequence(padded, [3]),
        "zero": lambda: rnn.pack_padded_sequence(padded, [3, 0]),
        "total_length": lambda: rnn.pad_packed_sequence(packed, total_length=1),
    }.items():
        log.raises(name, call)


@family
def packed_through_layers(torch, log):
    """Recurrent layers read packed sequences."""
    rnn = torch.nn.utils.rnn
    for text in (*(LAYERS[name] for name in LAYERS if "without" not in name),):
        layer = make(torch, text)
        dtype = next(layer.parameters()).dtype
        each = [leaf(torch, (n, 2), n, dtype=dtype) for n in (1, 3)]
        output, state = layer(rnn.pack_sequence(each, enforce_sorted=False))
        log(text, output.data, output.batch_sizes, output.unsorted_indices, *flat(state))
        loss = (output.data**2).sum() + sum(one.sum() for one in flat(state))
        log("gradients", *torch.autograd.grad(loss, each))


@family
def wrong(torch, log):
    """Settings and inputs that do not fit."""
    nn, zeros = torch.nn, torch.zeros
    for name, call in {
        "input_size": lambda: nn.LSTM(0, 2),
        "hidden_size": lambda: nn.LSTM(2, 0),
        "no integer": lambda: nn.GRU(2.0, 2),
        "num_layers": lambda: nn.RNN(2, 2, 0),
        "dropout": lambda: nn.LSTM(2, 2, dropout=2),
        "nonlinearity": lambda: nn.RNN(2, 2, nonlinearity="sin"),
        "RNN, dimensions": lambda: nn.RNN(2, 2)(zeros(1, 1, 1, 2)),
        "LSTM, dimensions": lambda: nn.LSTM(2, 2)(zeros(1, 1, 1, 2)),
        "size": lambda: nn.LSTM(2, 2)(zeros(1, 1, 3)),
        "dtype": lambda: nn.LSTM(2, 2)(zeros(1, 1, 2, dtype=torch.float64)),
        "empty": lambda: nn.LSTM(2, 2)(zeros(0, 1, 2)),
        "states": lambda: nn.LSTM(2, 2)(zeros(1, 1, 2), (zeros(1, 1, 3), zeros(1, 1, 2))),
        "cells": lambda: nn.LSTM(2, 2)(zeros(1, 1, 2), (zeros(1, 1, 2), zeros(1, 2, 2))),
        "flat states": lambda: nn.GRU(2, 2)(zeros(1, 1, 2), zeros(1, 2)),
        "states of a batch": lambda: nn.LSTM(2, 2)(zeros(1, 2), (zeros(1, 1, 2),) * 2),
        "RNNCell, size": lambda: nn.RNNCell(2, 2)(zeros(1, 3)),
        "GRUCell, states": lambda: nn.GRUCell(2, 2)(zeros(1, 2), zeros(1, 3)),
        "LSTMCell, batch": lambda: nn.LSTMCell(2, 2)(zeros(1, 2), (zeros(3, 2),) * 2),
        "LSTMCell, dimensions": lambda: nn.LSTMCell(2, 2)(zeros(1, 1, 2)),
        "GRUCell, dimensions": lambda: nn.GRUCell(2, 2)(zeros(1, 2), zeros(1, 1, 2)),
    }.items():
        log.raises(name, call)
    log.raises("a warning", lambda: repr(nn.LSTM(2, 2, dropout=0.5)))
