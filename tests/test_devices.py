"""Where tensors live: the CPU; and what is said of every other place."""

from __future__ import annotations

import copy
import pickle

import pytest

import minigrad


def test_tensors_live_on_the_cpu():
    x = minigrad.ones(2)
    assert x.device == minigrad.device("cpu") and x.is_cpu and not x.is_cuda
    assert x.to("cpu") is x and x.cpu() is x and x.to(x.device) is x
    assert minigrad.get_default_device() == x.device and not minigrad.cuda.is_available()
    assert minigrad.zeros(2, device=x.device).tolist() == [0.0, 0.0]
    with minigrad.device("cpu"):
        assert minigrad.zeros(1).device.type == "cpu"


@pytest.mark.parametrize(
    "call, kind, text",
    [
        (lambda: minigrad.zeros(2, device="cuda"), AssertionError, "Torch not compiled with CUDA"),
        (lambda: minigrad.ones(2).cuda(), AssertionError, "Torch not compiled with CUDA enabled"),
        (lambda: minigrad.ones(2).to("cuda:0"), AssertionError, "Torch not compiled with CUDA"),
        (lambda: minigrad.ones(2).to("mps"), RuntimeError, "there are no tensors on mps"),
        (lambda: minigrad.ones(2, device=0), RuntimeError, "Cannot access accelerator device"),
        (lambda: minigrad.ones(2).pin_memory(), RuntimeError, "Cannot access accelerator device"),
        (lambda: minigrad.cuda.synchronize(), AssertionError, "Torch not compiled with CUDA"),
        (lambda: minigrad.set_default_device("cuda"), AssertionError, "Torch not compiled with C"),
        (lambda: minigrad.device("cuda").__enter__(), AssertionError, "Torch not compiled with C"),
    ],
)
def test_other_places_are_refused(call, kind, text):
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value).startswith(text)


def test_devices_are_values():
    places = {minigrad.device("cpu"): 1, minigrad.device("cuda", 1): 2}
    assert places[minigrad.device("cuda:1")] == 2
    for copied in (copy.deepcopy(minigrad.device("cpu", 0)), pickle.loads(pickle.dumps("cpu:0"))):
        assert minigrad.device(copied) == minigrad.device("cpu:0")
    assert pickle.loads(pickle.dumps(minigrad.device("cpu"))) == minigrad.device("cpu")
    assert copy.deepcopy(minigrad.strided) is minigrad.strided


def test_other_layouts_are_refused_by_name():
    for call in (
        lambda: minigrad.zeros(2, layout=minigrad.sparse_coo),
        lambda: minigrad.ones(1, 1, 1, 1).contiguous(memory_format=minigrad.channels_last),
        lambda: minigrad.zeros_like(minigrad.ones(1), memory_format=minigrad.channels_last),
    ):
        with pytest.raises(NotImplementedError, match=r"^minigrad has "):
            call()


def test_missing_types_have_names_but_no_tensors():
    assert minigrad.ones(1).dtype is not minigrad.bfloat16
    assert str(minigrad.bfloat16) == "torch.bfloat16" and minigrad.bfloat16.itemsize == 2
    for call in (
        lambda: minigrad.zeros(2, dtype=minigrad.bfloat16),
        lambda: minigrad.ones(2).to(minigrad.bfloat16),
        lambda: minigrad.set_default_dtype(minigrad.bfloat16),
    ):
        with pytest.raises(NotImplementedError, match=r"^minigrad has no torch\.bfloat"):
            call()


def test_switches_of_backends_can_be_set():
    minigrad.backends.cudnn.deterministic = True
    minigrad.backends.cudnn.benchmark = False
    assert not minigrad.backends.cudnn.is_available() and not minigrad.backends.mps.is_built()
