"""What programs import from PyTorch's paths can be imported, and says so when it is not here."""

import importlib
import sys

import pytest

import minigrad
from minigrad import nn
from minigrad.extra import paths

PATHS = sorted(paths._PATHS)


@pytest.mark.parametrize("path", PATHS)
def test_a_path_is_one_of_pytorchs_and_can_be_imported(path):
    ours = importlib.import_module(f"minigrad.{path}")
    assert ours.__name__ == f"minigrad.{path}"
    torch = pytest.importorskip("torch")
    try:
        theirs = importlib.import_module(f"torch.{path}")
    except ImportError:  # a library of theirs is missing
        assert path in ("utils.tensorboard",)
        return
    assert theirs is sys.modules[f"torch.{path}"] and torch


@pytest.mark.parametrize("path", [path for path in PATHS if path.startswith("nn.modules.")])
def test_layers_are_found_where_pytorch_has_them(path):
    ours = importlib.import_module(f"minigrad.{path}")
    pytest.importorskip("torch")
    theirs = importlib.import_module(f"torch.{path}")
    public = [name for name in getattr(theirs, "__all__", ()) if hasattr(nn, name)]
    assert public or path.endswith(("adaptive", "lazy", "utils")) or not hasattr(theirs, "__all__")
    for name in public:
        assert getattr(ours, name) is getattr(nn, name)


def test_what_is_not_here_says_so_when_it_is_used():
    assert not isinstance(nn.Linear(1, 1), minigrad.jit.ScriptModule)
    assert not minigrad.jit.is_scripting() and not minigrad.distributed.is_initialized()
    assert not minigrad.accelerator.is_available()
    for use in (
        lambda: minigrad.jit.load("model.pt"),
        lambda: minigrad.fx.Tracer(),
        lambda: minigrad.multiprocessing.set_sharing_strategy("file_system"),
        lambda: nn.parallel.DistributedDataParallel(nn.Linear(1, 1)),
        lambda: minigrad.cuda.Event(),
    ):
        with pytest.raises(NotImplementedError, match="minigrad has no torch"):
            use()
    for kind in (nn.DataParallel, nn.SyncBatchNorm, minigrad.Future):  # which libraries ask for
        assert not isinstance(nn.Linear(1, 1), kind)
        with pytest.raises(NotImplementedError, match="minigrad has no torch"):
            kind(nn.Linear(1, 1))
    assert minigrad.futures.Future[int].__args__ == (int,)
    assert not nn.utils.parametrize.is_parametrized(nn.Linear(1, 1))
    assert minigrad.autograd.profiler is sys.modules["minigrad.autograd.profiler"]
    with pytest.raises(AttributeError):
        _ = minigrad.jit.__wrapped__
    with pytest.raises(AttributeError):
        _ = minigrad.nothing_of_that_name


class Double(nn.Module):
    def forward(self, x):
        return x * 2


@pytest.mark.parametrize(
    ("room", "use"),
    [
        (
            "nn.utils.parametrize",
            lambda room: room.register_parametrization(nn.Linear(1, 1), "weight", Double()),
        ),
        ("nn.utils.parametrizations", lambda room: room.weight_norm(nn.Linear(1, 1))),
        ("onnx", lambda room: room.export(nn.Linear(1, 1), minigrad.ones(1, 1), "model.onnx")),
        ("jit", lambda room: room.script(nn.Linear(1, 1))),
        ("jit", lambda room: room.trace(nn.Linear(1, 1), minigrad.ones(1, 1))),
        ("utils.tensorboard", lambda room: room.SummaryWriter("runs")),
        ("profiler", lambda room: room.profile()),
        ("profiler", lambda room: room.tensorboard_trace_handler("runs")),
        ("jit", lambda room: room.freeze(nn.Linear(1, 1))),
        ("jit", lambda room: room.optimize_for_inference(nn.Linear(1, 1))),
        ("optim.swa_utils", lambda room: room.AveragedModel(nn.Linear(1, 1))),
        ("nn.attention", lambda room: room.sdpa_kernel([])),
        ("fx", lambda room: room.symbolic_trace(nn.Linear(1, 1))),
        ("distributed", lambda room: room.register_rendezvous_handler("name", len)),
        ("compiler", lambda room: room.set_stance("force_eager")),
        ("autograd.profiler", lambda room: room.emit_nvtx()),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_nothing_pretends(room, use):
    with pytest.raises(NotImplementedError, match=rf"minigrad has no torch\.{room}\."):
        use(importlib.import_module(f"minigrad.{room}"))


@pytest.mark.parametrize("path", [path for path in PATHS if not paths._PATHS[path]])
def test_whatever_pytorch_has_in_a_room_that_is_not_here_refuses(path):
    pytest.importorskip("torch")
    try:
        names = dir(importlib.import_module(f"torch.{path}"))
    except ImportError:  # a library of theirs is missing
        names = ["SummaryWriter"]
    ours = importlib.import_module(f"minigrad.{path}")
    here = {*dir(ours)}
    left = {name for name in names if not name.startswith("__") and name not in here}
    assert left | here
    for name in {*left, "register_something"}:
        with pytest.raises(NotImplementedError, match=rf"^minigrad has no torch\.{path}\.{name}: "):
            getattr(ours, name)(abs)


def test_the_rooms_that_are_not_here_answer_these_names_and_no_others():
    kinds = {}
    for path, does in paths._ANSWERS.items():
        kinds.setdefault(does, set()).add(path)
    questions, decorators, *others = kinds.values()
    assert set().union(*others) == {"jit.script"}

    def named(path):
        room, _, name = path.rpartition(".")
        return getattr(importlib.import_module(f"minigrad.{room}"), name)

    for path in decorators:
        assert named(path)(len) is len
        assert named(path)()(len) is len  # with parentheses
    assert {named(path)() for path in questions} == {False}
    if torch := sys.modules.get("torch"):
        for path in paths._ANSWERS:
            room, _, name = path.rpartition(".")
            assert hasattr(importlib.import_module(f"torch.{room}"), name) and torch


def rooms():
    """Give every module that finds names late, with some of these names."""
    some = {
        "": "nn round load amp",
        "autograd": "Function graph profiler",
        "nn": "LSTM parallel",
        "nn.parameter": "is_lazy",
    }
    some |= {
        "nn.functional": "relu",
        "linalg": "lstsq matrix_rank solve",
        "utils": "data",
    }
    some |= {"optim": "swa_utils SGD", "nn.utils": "parametrize", "utils.data": "dataloader"}
    return some | {"nn.modules": "batchnorm"} | dict.fromkeys(PATHS, "")


def test_every_module_that_finds_names_late_is_among_the_rooms():
    for room, names in rooms().items():
        module = importlib.import_module(f"minigrad.{room}".rstrip("."))
        for name in names.split():
            getattr(module, name)
    late = [path for path, module in sys.modules.items() if "__getattr__" in dir(type(module))]
    late += [path for path, module in sys.modules.items() if "__getattr__" in vars(module)]
    for path in late:
        room = path.removeprefix("minigrad").removeprefix(".")
        assert room in rooms() or not path.startswith("minigrad")


@pytest.mark.parametrize("room", rooms())
def test_a_room_lists_every_name_that_it_finds(room):
    module = importlib.import_module(f"minigrad.{room}".rstrip("."))
    listed = dir(module)
    assert listed == sorted(set(listed)) and {*rooms()[room].split()} <= {*listed}
    for name in listed:
        getattr(module, name)
    torch = pytest.importorskip("torch")
    for name in vars(sys.modules.get(f"torch.{room}".rstrip("."), torch)):
        found = None if name.startswith("__") else getattr(module, name, None)
        if name not in listed and found is not None:  # what stands for something not here
            with pytest.raises(NotImplementedError, match="minigrad has no torch"):
                found(abs)


def test_a_script_is_the_function_itself():
    @minigrad.jit.script
    def double(x):
        return x * 2

    assert double(minigrad.ones(1)).item() == 2.0
    assert minigrad.jit.ignore(drop=True)(len) is len
    assert minigrad.jit.script(Double) is Double


def test_paths_below_a_loaded_room_are_its_attributes():
    for path in ("utils.hooks", "nn.modules.pooling", "utils.data.dataset"):
        room = minigrad
        for part in path.split("."):
            room = getattr(room, part)
        assert room is sys.modules[f"minigrad.{path}"]
    assert minigrad.nn.utils.stateless.functional_call


def test_mixed_precision_and_sparse_tensors_refuse():
    scaling = minigrad.cuda.amp.GradScaler
    with pytest.raises(NotImplementedError, match=r"no torch\.cuda\.amp\.GradScaler"):
        scaling(enabled=False)
    with pytest.raises(NotImplementedError, match=r"no torch\.amp\.autocast"):
        minigrad.amp.autocast("cpu")
    with pytest.raises(NotImplementedError, match=r"no torch\.sparse\.mm"):
        minigrad.sparse.mm(minigrad.ones(1, 1), minigrad.ones(1, 1))


def test_naming_classes_as_safe_changes_nothing(tmp_path):
    minigrad.save({"x": minigrad.ones(2)}, tmp_path / "x.pt")
    with minigrad.serialization.safe_globals([nn.Linear]):
        assert minigrad.load(tmp_path / "x.pt")["x"].sum() == 2
