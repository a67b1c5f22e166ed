"""Saving and loading: what comes back, what others read, what is refused, and what survives."""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import random
import warnings
import zipfile
from collections import Counter, OrderedDict

import numpy as np
import pytest

import minigrad
from minigrad import nn, optim

DTYPES = ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "saved.pt"


def model(seed=0):
    minigrad.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def trained(seed=0):
    network = model(seed)
    optimizer = optim.AdamW(network.parameters(), lr=0.01, amsgrad=True)
    schedule = optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=10)
    for _ in range(3):
        optimizer.zero_grad()
        network(minigrad.ones(5, 3)).pow(2).sum().backward()
        optimizer.step()
        schedule.step()
    return network, optimizer, schedule


def same(a, b):
    """Tell whether two structures are of the same kinds and hold the same."""
    if type(a) is not type(b):
        return False
    if isinstance(a, minigrad.Tensor):
        return (
            a.dtype is b.dtype
            and a.shape == b.shape
            and a.requires_grad == b.requires_grad
            and a.detach().numpy().tobytes() == b.detach().numpy().tobytes()
        )
    if isinstance(a, np.ndarray | np.generic):
        return a.dtype == b.dtype and a.tobytes() == b.tobytes() and a.shape == b.shape
    if isinstance(a, dict):
        if not same(getattr(a, "_metadata", None), getattr(b, "_metadata", None)):
            return False
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b or (a != a and b != b)


# ------------------------------------------------------------------ what comes back


def test_the_state_of_a_training_comes_back(path):
    network, optimizer, schedule = trained()
    state = {
        "model": network.state_dict(),
        "optimizer": optimizer.state_dict(),
        "schedule": schedule.state_dict(),
        "epoch": 3,
    }
    minigrad.save(state, path)
    loaded = minigrad.load(path)
    assert same(loaded, state)
    other, other_optimizer, other_schedule = trained(seed=1)
    targets = {"model": other, "optimizer": other_optimizer, "schedule": other_schedule}
    for name, target in targets.items():
        target.load_state_dict(loaded[name])
    for each, each_optimizer in ((network, optimizer), (other, other_optimizer)):
        each_optimizer.zero_grad()
        each(minigrad.ones(5, 3)).sum().backward()
        each_optimizer.step()
    assert same(other.state_dict(), network.state_dict())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 4)])
def test_tensors_of_every_type_come_back(path, dtype, shape):
    tensor = minigrad.from_numpy(np.asarray(np.arange(np.prod(shape)).reshape(shape) % 2, dtype))
    minigrad.save({"a": tensor, "b": tensor + tensor}, path)
    loaded = minigrad.load(path)
    assert same(dict(sorted(loaded.items())), {"a": tensor, "b": tensor + tensor})


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        7,
        2**80,
        0.1,
        float("inf"),
        float("nan"),
        "text \u00e9 \u2211 \x00",
        [],
        {},
        (),
        [1, (2, "a", [None])],
        {1: "a", "1": "b", (2, 3): 4, None: 5, 1.5: 6},
        OrderedDict(b=1, a=2),
        Counter([2, 2, 5]),
        minigrad.float16,
        minigrad.Size((2, 3)),
    ],
    ids=repr,
)
def test_everything_else_comes_back(path, value):
    minigrad.save(value, path)
    assert same(minigrad.load(path), value)
    minigrad.save({"x": [value]}, path)
    assert same(minigrad.load(path), {"x": [value]})


def test_parameters_and_flags_come_back(path):
    state = {
        "parameter": nn.Parameter(minigrad.ones(2)),
        "frozen": nn.Parameter(minigrad.ones(2), requires_grad=False),
        "leaf": minigrad.ones(2, requires_grad=True),
        "plain": minigrad.ones(2),
    }
    minigrad.save(state, path)
    assert same(minigrad.load(path), state)


def test_views_and_transposes_come_back_whole(path):
    matrix = minigrad.arange(12.0).reshape(3, 4)
    state = {"a/t": matrix.t(), "column": matrix[:, 1], "spread": minigrad.ones(1).expand(3)}
    minigrad.save(state, path)
    loaded = minigrad.load(path)
    assert loaded.keys() == state.keys()
    assert all(same(loaded[name], state[name]) for name in state)


def test_complex_numbers_are_kept(path):
    tensor = minigrad.tensor([1 + 2j], dtype=minigrad.complex128)
    minigrad.save({"z": tensor}, path)
    assert same(minigrad.load(path), {"z": tensor})


def test_open_files_are_written_and_read():
    file = io.BytesIO()
    minigrad.save(model().state_dict(), file)
    file.seek(0)
    assert same(minigrad.load(file), model().state_dict())
    with pytest.raises(RuntimeError, match="unknown format"):
        minigrad.load(io.BytesIO(b"text"))


def test_the_same_content_makes_the_same_file(path):
    minigrad.save(trained()[0].state_dict(), path)
    first = path.read_bytes()
    minigrad.save(trained()[0].state_dict(), path)
    assert path.read_bytes() == first


# ------------------------------------------------------------------ others read it


def test_numpy_reads_it_by_name(tmp_path):
    state = model().state_dict()
    minigrad.save(state, tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz") as archive:
        for name, tensor in state.items():
            assert np.array_equal(archive[name], tensor.numpy())


# ------------------------------------------------------------------ what is refused


def test_what_cannot_be_saved_says_what_to_do(path):
    path.write_bytes(b"old")
    for value, kind in (
        ({"m": [model()]}, "Sequential"),
        ({"f": print}, "builtin_function_or_method"),
        (object(), "object"),
        ({"a": np.arange(2)}, "ndarray"),
        (minigrad.symbolic.symbols("x"), "Tensor"),
        ({object(): 1}, "object"),
    ):
        with pytest.raises(TypeError, match=f"cannot save a {kind}. .* a state_dict"):
            minigrad.save(value, path)
    assert path.read_bytes() == b"old" and os.listdir(path.parent) == [path.name]


def test_arrays_by_name_are_nothing_else(tmp_path):
    for value in (minigrad.ones(1), [minigrad.ones(1)], {"a": [minigrad.ones(1)]}, {1: 2}):
        with pytest.raises(TypeError, match=r"holds tensors by name.*\.pt file"):
            minigrad.save(value, tmp_path / "a.npz")
    assert not os.listdir(tmp_path)


def test_files_of_others_say_who_reads_them(tmp_path):
    others = r"numpy\.load reads \.npz files, the safetensors package \.safetensors files"
    with pytest.raises(ValueError, match=f"^{others}$"):
        minigrad.save({"a": minigrad.ones(1)}, tmp_path / "a.safetensors")
    minigrad.save({"a": minigrad.ones(1)}, tmp_path / "a.npz")
    (tmp_path / "b").write_bytes((2).to_bytes(8, "little") + b"{}")
    for name in ("a.npz", "b"):
        with pytest.raises(RuntimeError, match=f"^cannot load .*{others}"):
            minigrad.load(tmp_path / name)


def test_any_other_ending_is_pytorchs(tmp_path):
    for name in ("model.pth", "model"):
        minigrad.save({"a": minigrad.ones(2)}, tmp_path / name)
        with zipfile.ZipFile(tmp_path / name) as archive:
            assert archive.read("model/version") == b"3\n"


def test_arguments_that_make_no_sense(tmp_path):
    with pytest.raises(NotImplementedError, match="only plain data is written"):
        minigrad.save({}, tmp_path / "a.pt", pickle_module=pickle)
    minigrad.save({"a": 1}, tmp_path / "a.pt")
    for options in ({"map_location": "cuda"}, {"pickle_module": pickle}, {"mmap": True}, {"x": 1}):
        with pytest.raises(NotImplementedError):
            minigrad.load(tmp_path / "a.pt", **options)
    for options in (
        {"map_location": "cpu"},
        {"map_location": {"cuda:0": "cpu"}},
        {"map_location": lambda storage, location: storage},
        {"weights_only": False},
        {"weights_only": None, "mmap": False},
    ):
        assert minigrad.load(tmp_path / "a.pt", **options) == {"a": 1}
    with pytest.raises(FileNotFoundError):
        minigrad.load(tmp_path / "none.npz")


class Trap:
    """Would leave a mark if it were unpickled."""

    sprung = False

    def __reduce__(self):
        return setattr, (Trap, "sprung", True)


def hostile_files():
    """Give files that lie, with what is said about them."""

    def archive(*entries):
        file = io.BytesIO()
        with warnings.catch_warnings(), zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
            warnings.simplefilter("ignore")  # of a name that is there twice
            for name, content in entries:
                made.writestr(name, content)
        return file.getvalue()

    yield "empty", b"", "unknown format"
    yield "text", b"hello, world", "an unknown format"
    yield "pickle", pickle.dumps(Trap()), "written by pickle"
    yield (
        "torch.save",
        archive(("archive/data.pkl", pickle.dumps(Trap()))),
        "names builtins.setattr",
    )
    yield "no archive of PyTorch's", archive(("a.txt", b"x")), "numpy.load"


HOSTILE = list(hostile_files())


@pytest.mark.parametrize(
    ("content", "message"), [h[1:] for h in HOSTILE], ids=[h[0] for h in HOSTILE]
)
def test_files_that_lie_are_refused(tmp_path, content, message):
    path = tmp_path / "file.npz"
    path.write_bytes(content)
    with pytest.raises(RuntimeError, match=f"(?s)^cannot load .*{message}"):
        minigrad.load(path)
    assert not Trap.sprung
    assert os.listdir(tmp_path) == ["file.npz"]


def test_old_files_of_pytorch_are_recognized(tmp_path):
    torch = pytest.importorskip("torch")
    torch.save({"a": torch.ones(2)}, tmp_path / "a.pt", _use_new_zipfile_serialization=False)
    with pytest.raises(RuntimeError, match=r"weights_only=True"):
        minigrad.load(tmp_path / "a.pt")


# ------------------------------------------------------------------ PyTorch's own files


def everything(torch):
    """Give a structure of all that both libraries can save."""
    whole = torch.arange(12.0).reshape(3, 4)
    return {
        "views": [whole.t(), whole[:, 1], whole[1:], torch.ones(1).expand(3)],
        "types": [torch.ones(2).to(getattr(torch, name)) for name in DTYPES],
        "complex": torch.tensor([1 + 2j]),
        "frozen": torch.nn.Parameter(torch.ones(2), requires_grad=False),
        "leaf": torch.ones(2, requires_grad=True),
        "empty": torch.zeros(0, 3),
        "scalar": torch.tensor(3),
        "others": [
            None,
            True,
            2**80,
            -1,
            0.5,
            "\u2211",
            (1, (2,)),
            {(1, "a"): 2},
        ],
        "counted": Counter("aab"),
        "of torch": [torch.Size([2, 3]), torch.float16],
    }


def told(value):
    """Say what a structure holds, in the same words for both libraries."""
    if hasattr(value, "requires_grad"):
        kind = type(value).__name__, str(value.dtype), value.requires_grad
        return *kind, tuple(value.shape), value.stride(), value.tolist()
    if isinstance(value, dict):
        return type(value).__name__, [(key, told(each)) for key, each in value.items()]
    if isinstance(value, list):
        return [told(each) for each in value]
    return type(value).__name__, str(value)


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_it_reads_what_pytorch_wrote(tmp_path, protocol):
    torch = pytest.importorskip("torch")
    state = everything(torch)
    torch.save(state, tmp_path / "a.pt", pickle_protocol=protocol)
    loaded = minigrad.load(tmp_path / "a.pt")
    assert told(loaded) == told(state)
    loaded["views"][0][0, 0] = 7.0
    assert loaded["views"][2].tolist() == state["views"][2].tolist()
    loaded["views"][0][1, 0] = 8.0
    assert loaded["views"][1].tolist() == [8.0, 5.0, 9.0]  # one storage, as it was


def test_pytorch_reads_what_it_wrote(tmp_path):
    torch = pytest.importorskip("torch")
    minigrad.save(everything(minigrad), tmp_path / "a.pt")
    loaded = torch.load(tmp_path / "a.pt", weights_only=False)
    assert told(loaded) == told(everything(torch)) == told(minigrad.load(tmp_path / "a.pt"))
    assert loaded["views"][0].untyped_storage().data_ptr() == (
        loaded["views"][2].untyped_storage().data_ptr()
    )
    minigrad.save(trained()[1].state_dict(), tmp_path / "b.pth")
    twin = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    torch.optim.AdamW(twin.parameters(), amsgrad=True).load_state_dict(
        torch.load(tmp_path / "b.pth", weights_only=True)
    )


def test_a_tensor_from_elsewhere_comes_where_it_is_told_to(tmp_path):
    minigrad.save({"a": minigrad.ones(2)}, tmp_path / "a.pt")
    data = rewritten(tmp_path / "a.pt", b"X\x03\x00\x00\x00cpu", b"X\x06\x00\x00\x00cuda:0")
    with pytest.raises(RuntimeError, match=r"map_location='cpu'"):
        minigrad.load(io.BytesIO(data))
    assert minigrad.load(io.BytesIO(data), map_location="cpu")["a"].tolist() == [1.0, 1.0]


def test_of_a_module_the_state_is_saved():
    with pytest.raises(TypeError, match=r"Save what a state_dict\(\) gives"):
        minigrad.save(model(), io.BytesIO())


def rewritten(path, old, new):
    """Give a file of PyTorch's with another pickle."""
    made = io.BytesIO()
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(made, "w") as other:
        for name in archive.namelist():
            content = archive.read(name)
            if name.endswith("data.pkl"):
                assert old in content
                content = content.replace(old, new)
            other.writestr(name, content)
    return made.getvalue()


STORED = (
    b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpu%stQ"
)
TENSOR = b"ctorch._utils\n_rebuild_tensor_v2\n(" + STORED
NAMES_NOTHING = {
    "a program": b"cos\nsystem\n(X\x04\x00\x00\x00truetR.",
    "a program by its parts": b"\x80\x04\x8c\x02os\x8c\x06system\x93.",
    "an instance": b"(cos\nsystem\no.",
    "an old instance": b"(ios\nsystem\n.",
    "a name from an attribute": b"cminigrad.nn\nLinear\n.",
    "a function of NumPy's": b"cnumpy\nload\n.",
}
HOLDS_NO_DATA = {
    "a class": b"cbuiltins\nset\n)\x81}X\x01\x00\x00\x00aK\x01sb.",
    "a call of a number": b"K\x01)R.",
    "a call of a storage": b"ctorch\nFloatStorage\n)R.",
    "a registered name": b"\x82\x01.",
    "nothing": b".",
    "no end": b"K\x01",
    "from nowhere": b"h\x05.",
    "too few": b"K\x01\x86.",
    "a list that is none": b")K\x01a.",
    "a dictionary that is none": b"]K\x01K\x01s.",
    "no storage": b"K\x01Q.",
    "a storage that lies": STORED % b"K\x09" + b".",
    "a missing storage": (STORED % b"K\x02").replace(b"\x000X", b"\x007X") + b".",
    "too large": TENSOR % b"K\x02" + b"K\x00K\x03\x85K\x01\x85tR.",
    "before the start": TENSOR % b"K\x02" + b"J\xff\xff\xff\xffK\x01\x85K\x01\x85tR.",
    "backwards": TENSOR % b"K\x02" + b"K\x01K\x02\x85J\xff\xff\xff\xff\x85tR.",
    "a size of text": TENSOR % b"K\x02" + b"K\x00X\x01\x00\x00\x00aK\x01\x85tR.",
}


@pytest.mark.parametrize("program", [*NAMES_NOTHING, *HOLDS_NO_DATA])
def test_no_pickle_does_anything_but_hold_data(tmp_path, program):
    minigrad.save(minigrad.ones(2), tmp_path / "a.pt")
    with zipfile.ZipFile(tmp_path / "a.pt") as archive:
        whole = archive.read("a/data.pkl")
    data = rewritten(tmp_path / "a.pt", whole, {**NAMES_NOTHING, **HOLDS_NO_DATA}[program])
    message = "it names " if program in NAMES_NOTHING else ""
    with pytest.raises(RuntimeError, match=f"^cannot load the file: .*{message}"):
        minigrad.load(io.BytesIO(data))


def test_what_a_pickle_spoils_is_its_own(tmp_path):
    """Attributes may be set on what a pickle has named: the next file is read as before."""
    minigrad.save({1: minigrad.ones(2)}, tmp_path / "a.pt")
    with zipfile.ZipFile(tmp_path / "a.pt") as archive:
        whole = archive.read("a/data.pkl")
    spoiled = b"ctorch._utils\n_rebuild_tensor_v2\nN}X\x04\x00\x00\x00makeK\x01s\x86b."
    with contextlib.suppress(RuntimeError):
        minigrad.load(io.BytesIO(rewritten(tmp_path / "a.pt", whole, spoiled)))
    assert minigrad.load(tmp_path / "a.pt")[1].tolist() == [1.0, 1.0]


# ------------------------------------------------------------------ damage


def test_every_damage_is_noticed_or_harmless(tmp_path):
    """Flip bits and cut the end off, hundreds of times."""
    network, optimizer, _ = trained()
    state = {"model": network.state_dict(), "optimizer": optimizer.state_dict()}
    minigrad.save(state, tmp_path / "saved.pt")
    whole = (tmp_path / "saved.pt").read_bytes()
    dice = random.Random(0)
    places = [*range(min(200, len(whole))), *range(max(0, len(whole) - 500), len(whole))]
    places += [dice.randrange(len(whole)) for _ in range(500)]
    damaged = [
        whole[:at] + bytes([whole[at] ^ (1 << dice.randrange(8))]) + whole[at + 1 :]
        for at in places
    ]
    damaged += [whole[: dice.randrange(len(whole))] for _ in range(150)]
    damaged += [whole[:at] + bytes(dice.randbytes(8)) + whole[at + 8 :] for at in places[::4]]
    refused = 0
    for content in damaged:
        try:
            loaded = minigrad.load(io.BytesIO(content))
        except RuntimeError as error:
            assert str(error).startswith("cannot load the file")
            refused += 1
        else:
            assert loaded.keys() == state.keys()
            assert same({name: loaded[name] for name in state}, state)
    assert refused > 0.5 * len(damaged)


def test_a_missing_directory_is_named(path):
    with pytest.raises(RuntimeError, match=r"Parent directory .*none does not exist"):
        minigrad.save({}, path.parent / "none" / path.name)
