"""What is timed, and how quick it is meant to be: the table of all workloads."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from timing import Workload

# isort: split
import convolution
import large
import layers
import networks
import operations
import peers
import pictures
import small
import transforms

DIGITS: dict[str, Any] = {"sizes": (784, 256, 128, 10), "batch": 64}
WIDE: dict[str, Any] = {"sizes": (1024, 1024, 1024, 10), "batch": 256}
MOONS: dict[str, Any] = {"sizes": (2, 16, 16, 1), "batch": 100}
HIPS, MYGRAD, MICROGRAD, TINYGRAD = "HIPS autograd", "MyGrad", "micrograd", "tinygrad"


def network(name: str, kind: dict[str, Any], of_torch: float, of_hand: float) -> Workload:
    """Give the row of a training step."""
    return Workload(
        name,
        partial(networks.network, **kind),
        partial(networks.by_hand, **kind),
        of_torch,
        of_hand,
        peers={
            HIPS: partial(peers.hips_network, **kind),
            MYGRAD: partial(peers.mygrad_network, **kind),
            TINYGRAD: partial(peers.tinygrad_network, **kind),
        },
    )


def hooked(name: str, hooks: str, of_torch: float, of_twin: float) -> Workload:
    """Give the row of a training step with hooks, which is compared with the one without."""
    return Workload(
        name,
        partial(networks.network, **DIGITS, hooks=hooks),
        partial(networks.by_hand, **DIGITS),
        of_torch,
        twin=partial(networks.network, **DIGITS),
        of_twin=of_twin,
    )


def pictured(kind: str, of_twin: float) -> Workload:
    """Give the row of LeNet's pass with what looks at it, compared with the pass alone."""
    make, twin = partial(pictures.watched, kind=kind), pictures.plain
    return Workload(f"LeNet, batch 32, {kind}", make, None, None, twin=twin, of_twin=of_twin)


def operation(name: str) -> Workload:
    """Give the row of one operation on a million numbers or so."""
    make = partial(operations.work, name=name)
    has_hand = name in operations.BY_HAND
    by_hand = partial(operations.by_hand, name) if has_hand else None
    of_hand = {"gelu": 1.5}.get(name, 1.4) if has_hand else None
    row = f"{name}, {operations.entries(name)}"
    return Workload(row, make, by_hand, 1.5, of_hand, rounds=11)


def both(hips: Callable[[], Any], mygrad: Callable[[], Any]) -> dict[str, Any]:
    """Give the packages that differentiate NumPy's functions."""
    return {HIPS: hips, MYGRAD: mygrad}


WORKLOADS = [
    Workload(
        "worked example, operations",
        small.worked_example,
        small.worked_example_by_hand,
        0.35,
        4.0,
        peers=both(peers.hips_worked_example, peers.mygrad_worked_example)
        | {MICROGRAD: peers.micrograd_worked_example, TINYGRAD: peers.tinygrad_worked_example},
    ),
    Workload(
        "worked example, nn.Linear",
        small.worked_example_modules,
        small.worked_example_by_hand,
        0.33,
        5.0,
    ),
    Workload(
        "chain of 1,000 add and mul, 16 entries",
        partial(small.chain, numbers=False),
        partial(small.chain_by_hand, numbers=False),
        0.5,
        3.8,
        peers=both(partial(peers.hips_chain, False), partial(peers.mygrad_chain, False)),
    ),
    Workload(
        "the same with Python numbers",
        partial(small.chain, numbers=True),
        partial(small.chain_by_hand, numbers=True),
        0.40,
        2.8,
        peers=both(partial(peers.hips_chain, True), partial(peers.mygrad_chain, True)),
    ),
    network("MLP 784-256-128-10, batch 64", DIGITS, 0.92, 1.10),
    network("MLP 1024-1024-1024-10, batch 256", WIDE, 0.90, 1.03),
    network("MLP 2-16-16-1, batch 100", MOONS, 0.45, 2.2),
    Workload(
        "conv net 1x28x28, batch 32",
        convolution.network,
        convolution.by_hand,
        0.85,
        1.15,
        peers={MYGRAD: peers.mygrad_convolution},
    ),
    Workload(
        "sum(tanh(x * w + b)), 10**7",
        large.long,
        large.long_by_hand,
        0.28,
        1.8,
        peers=both(peers.hips_long, peers.mygrad_long),
        rounds=9,
    ),
    Workload(
        "attention 8x128x64, 4 heads",
        large.attention,
        large.attention_by_hand,
        0.92,
        1.12,
        peers=both(peers.hips_attention, peers.mygrad_attention),
    ),
    Workload(
        "gradient penalty, MLP 10-64-64-1",
        small.gradient_penalty,
        small.gradient_penalty_by_hand,
        0.65,
        3.0,
        peers={HIPS: peers.hips_gradient_penalty},
    ),
    hooked("MLP step, full backward hook on each module", "module", 0.70, 1.10),
    hooked("MLP step, tensor hook on each activation", "tensor", 0.80, 1.03),
    pictured("recorded", 1.5),
    pictured("drawn", 1.5),
    pictured("played", 2.5),
    pictured("all three", 5.0),
    Workload("LSTM, 32 sequences of 32", layers.lstm, layers.lstm_by_hand, 1.0, rounds=15),
    Workload(
        "depthwise convolution 3x3, 8x32x56x56",
        layers.depthwise,
        layers.depthwise_by_hand,
        1.5,
        rounds=15,
    ),
    Workload("bilinear, 8x16x32x32 to twice the size", layers.bilinear, None, 1.5, rounds=15),
    Workload("checkpoint, ten layers of 64", layers.checkpointed, None, 1.5, rounds=15),
    Workload("jacrev, 50 x 50", transforms.jacobian, None, 2.0, rounds=15),
    Workload("hessian, MLP 10-64-1", transforms.hessian, None, 2.0, rounds=15),
    Workload("vmap(grad), 64 samples, MLP 10-64-1", transforms.per_sample, None, 4.0, rounds=15),
    *map(operation, operations.OPERATIONS),
]
