"""The reference tells the truth about both libraries, and would notice if it did not."""

import ast
import importlib.util
import re
import runpy
import subprocess
import sys
from importlib import import_module
from importlib.metadata import version
from types import ModuleType

import pytest

from _tools import places, reference, reference_rooms
from _tools import reference_builtins as builtins
from _tools import reference_demonstrations as demonstrations
from _tools import reference_facts as facts
from _tools import reference_signatures as signatures
from _tools.__main__ import main as command
from _tools.reference_differences import DIFFERENCES
from _tools.reference_scenarios import OPERATORS, Use

PAGES = sorted(reference.FOLDER.glob("*.md"))
TORCH_IS_HERE = importlib.util.find_spec("torch") is not None
THE_VERSION = TORCH_IS_HERE and version("torch").split("+")[0] == reference.VERSION
AGAIN = "write the reference again: python3 lessons/_tools reference (needs PyTorch)"


def told() -> dict[str, set[str]]:
    """Read the pages: the names in each room's table, and those that stand below it as our own."""
    found: dict[str, set[str]] = {}
    for page in PAGES:
        room, own = "", False
        for line in page.read_text(encoding="utf-8").splitlines():
            if heading := re.fullmatch(r"#{2,3} (?:Members of )?(torch\S*)", line):
                room, own = heading[1], False
                found[room] = set()
            elif line.startswith("<details>"):
                own = "Only here" in line
            elif row := re.match(r"\| `(\w+)` \|", line):
                found[room].add(row[1])
            elif own:
                found[room] |= set(re.findall(r"`(\w+)`", line))
    return found


TOLD = told()


def ours(name: str) -> object:
    """Find a room, or a class in one, in minigrad."""
    room = max(
        (each for each in reference_rooms.ROOMS if f"{name}.".startswith(f"{each}.")), key=len
    )
    found = reference_rooms.ours(room)
    for part in filter(None, name.removeprefix(room).split(".")):
        found = getattr(found, part)
    return found


@pytest.mark.skipif(not THE_VERSION, reason=f"PyTorch {reference.VERSION} is not installed")
def test_the_pages_are_what_running_both_gives(pytestconfig: pytest.Config) -> None:
    """Nothing is out of date, and no difference is silent.

    To count which scenarios use a name takes a minute or two: only `--all` does it, and
    tests/oracle runs them too.
    """
    how = ["--check"] if pytestconfig.option.all else ["--check", "--as-told"]
    done = subprocess.run(
        [sys.executable, str(places.LESSONS / "_tools"), "reference", *how],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "up to date\n"), done.stderr + done.stdout


@pytest.mark.parametrize("room", TOLD)
def test_every_name_that_is_told_is_there(room: str) -> None:
    """The tables promise nothing that minigrad has not."""
    names = TOLD[room]
    if names:
        place = ours(room)
        assert [name for name in sorted(names) if not hasattr(place, name)] == [], AGAIN


@pytest.mark.parametrize("room", reference_rooms.ROOMS)
def test_every_public_name_is_told(room: str) -> None:
    """A name that is new in minigrad stands in the tables, too."""
    place = reference_rooms.ours(room)
    names = set() if place is None else reference_rooms.public_names(place)
    assert names - TOLD[room] - (OPERATORS & set(dir(object))) == set(), AGAIN


@pytest.mark.parametrize("room", reference_rooms.ROOMS)
def test_every_listed_name_is_there(room: str) -> None:
    """A name in `__all__` that a module has not would be left out of the tables."""
    place = reference_rooms.ours(room)
    listed = getattr(place, "__all__", ())
    assert [name for name in listed if not hasattr(place, name)] == []


def test_the_pages_are_all_there_and_linked() -> None:
    """Links between the pages lead to pages and to entries."""
    rooms = {page.stem for page in reference_rooms.PAGES}
    assert {page.stem for page in PAGES} == rooms | {
        "pytorch",
        "differences",
        "own_model",
        "proofs",
        "speed",
        "trust",
    }
    slugs = {each.slug for each in DIFFERENCES}
    for page in PAGES:
        links = re.findall(r"\]\(([\w]+\.md)(?:#([\w-]+))?\)", page.read_text(encoding="utf-8"))
        assert links
        for target, slug in links:
            assert (reference.FOLDER / target).exists()
            assert target != "differences.md" or not slug or slug in slugs


def test_every_difference_is_shown_with_both_outcomes() -> None:
    """Entries are in the page, and their two outcomes differ there."""
    text = (reference.FOLDER / "differences.md").read_text(encoding="utf-8")
    for each in DIFFERENCES:
        section = text.split(f"## {each.slug}\n")[1].split("\n## ")[0]
        assert each.code.strip() in section
        shown = re.search(r"```text\nPyTorch: (.*?)\nminigrad:(.*?)\n```", section, re.DOTALL)
        assert shown and shown[1].split() != shown[2].split(), each.slug


def test_here_the_entries_still_do_what_the_page_says() -> None:
    """Minigrad's outcome is the one in the page, also where PyTorch is not installed."""
    minigrad = import_module("minigrad")
    text = (reference.FOLDER / "differences.md").read_text(encoding="utf-8")
    for each in DIFFERENCES:
        section = text.split(f"## {each.slug}\n")[1].split("\n## ")[0]
        shown = re.search(r"\nminigrad:(.*?)\n```", section, re.DOTALL)
        outcome = demonstrations.outcome(each.code, minigrad)
        assert shown and shown[1].split() == outcome.split(), f"{each.slug}: {AGAIN}"


def test_what_tests_know_to_differ_is_told() -> None:
    """Gaps that tests expect to fail have an entry; entries name no gap that is closed."""
    tests = places.ROOT / "tests"
    oracle = runpy.run_path(str(tests / "oracle" / "not_yet.py"))["NOT_YET"]
    gaps = {f"oracle:{name}" for name in oracle}
    assert {known for each in DIFFERENCES for known in each.known} == gaps


# Refused by PyTorch too, if in other words, or asked of SymPy alone.
PYTORCHS = (
    "explain() can't write the formula",  # of a node of PyTorch's
    '"abs_cpu" not implemented',
    "not implemented for",
    "is missing the required",
    "You must implement",
    "inhomogeneous total",
    "setup_context is not implemented",
    "To use autograd.Function with vmap",
    "torch.autograd.functional.jacobian: `create_graph=True`",
    "Computing Jacobian using forward-AD",
    "has no backward rule",
    "You are trying to functorch transform",
    "is only supported for mode='sum'",
    "Unrecognised padding mode",
    "does not implement mode",
    "Enumeration over cartesian product is not implemented",
    "No KL(p || q) is implemented",
    "Inhomogeneous total count not supported",
    "It is not possible to assign to the matrix exponential",
    "is not supported for",
    "Input Error: Only 3D, 4D and 5D",
    "D input, but ",
    "the derivative for '",
    "Subclasses of Dataset should implement",
    "overrides __getitem__ but not __getitems__",
    "cannot be pickled",
    "complex types have no order",
    "products of booleans",
    "' pads 1 to 3 dimensions",
    "defines no initialize_parameters",
    "there is no formula for this",
)


def refusals() -> list[list[str]]:
    """List the fixed parts of every text with which minigrad says: not here."""
    found = []
    for path in sorted((places.ROOT / "minigrad").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call):
                continue
            if getattr(node.exc.func, "id", "") == "NotImplementedError" and node.exc.args:
                said = [n.value for n in ast.walk(node.exc.args[0]) if isinstance(n, ast.Constant)]
                found.append([part for part in said if isinstance(part, str)])
    return found


def test_every_refusal_is_told() -> None:
    """What raises NotImplementedError in words of its own is shown among the differences."""
    page = (reference.FOLDER / "differences.md").read_text(encoding="utf-8")
    words = " ".join(page.split())
    texts = refusals()
    assert len(texts) > 8
    silent = [
        parts
        for parts in texts
        if not any(known in "".join(parts) for known in PYTORCHS)
        and " ".join(max(parts, key=len).split())[:40].strip() not in words
    ]
    assert silent == [], "add an entry to lessons/_tools/reference_differences_limits.py"


# ------------------------------------------------------------------ planted differences


def way(text: str) -> signatures.Signature:
    """Write a signature as PyTorch lists it."""
    return builtins._typed(text)


@pytest.mark.parametrize(
    ("planted", "said"),
    [
        ("(input, dim=None, keepdim=False)", []),
        ("(input, dim=None)", ["without `keepdim`"]),
        ("(input, axis=None, keepdim=False)", ["without `dim`", "only here `axis`"]),
        ("(input, dim=0, keepdim=False)", ["default of `dim` is 0, there None"]),
        ("(input, keepdim=False, dim=None)", ["order (input, keepdim, dim), there"]),
        ("(input, dim=None, *, keepdim=False)", ["`keepdim` by keyword, there by both"]),
        ("(input, dim=None, keepdim=False, *more)", ["only here `*more`"]),
    ],
)
def test_a_planted_difference_in_a_signature_is_found(planted: str, said: list[str]) -> None:
    """Names, order, defaults, kinds: each is compared."""
    function = eval(f"lambda {planted[1:-1]}: None")
    found = signatures.compare(
        signatures.of_python(function)[0],
        [way("Tensor input, int dim = None, bool keepdim = False")],
    )
    assert len(found) == len(said)
    assert all(each.startswith(start) for each, start in zip(found, said, strict=True))


def test_several_ways_and_sizes_one_by_one_are_read_rightly() -> None:
    """A parameter that some ways have may be left out; `*sizes, size=None` is PyTorch's size."""
    several = [way("Tensor input"), way("Tensor input, int dim, bool keepdim = False")]
    mine = signatures.of_python(lambda input, dim=None, keepdim=False: None)[0]
    assert signatures.compare(mine, several) == []
    mine = signatures.of_python(lambda *sizes, size=None: None)[0]
    assert signatures.compare(mine, [way("tuple of ints size")]) == []
    mine = signatures.of_python(lambda *sizes: None)[0]
    assert signatures.compare(mine, [way("tuple of ints size")]) != []


def test_silent_and_stale_differences_are_complained_about() -> None:
    """An entry too few, an entry too many, an entry that shows nothing any more: all are said."""
    entry = demonstrations.Difference(
        "slug", "Title", "What.", "Why.", "1", covers=(("torch.sum", "without `out`"),)
    )
    differ = demonstrations.Shown(entry, "1", "2")
    found = [("torch.sum", "without `out`")]
    assert demonstrations.complaints([entry], [differ], found) == []
    silent = demonstrations.complaints([entry], [differ], [*found, ("torch.sum", "without `dim`")])
    assert silent == ["torch.sum: without `dim`; no entry explains it"]
    stale = demonstrations.complaints([entry], [differ], [])
    assert "out of date, nothing found" in stale[0]
    same = demonstrations.complaints([entry], [demonstrations.Shown(entry, "1", "1")], found)
    assert same == ["slug: out of date, both give '1'"]
    twice = demonstrations.complaints([entry, entry], [], found)
    assert twice == ["two entries are called slug"]


def test_an_outcome_is_the_value_the_warning_or_the_error() -> None:
    """The last line counts; what is printed and warned stands above it."""
    minigrad = import_module("minigrad")
    assert demonstrations.outcome("x = torch.ones(2)\nx + 1", minigrad) == "tensor([2., 2.])"
    assert demonstrations.outcome("1 / 0", minigrad) == "ZeroDivisionError: division by zero"
    warned = "import warnings\nprint('first')\nwarnings.warn('second')\n3"
    assert demonstrations.outcome(warned, minigrad) == "first\nUserWarning: second\n3"
    with pytest.raises(ValueError, match="no expression"):
        demonstrations.outcome("x = 1", minigrad)


@pytest.mark.skipif(not THE_VERSION, reason=f"PyTorch {reference.VERSION} is not installed")
def test_signatures_of_builtins_are_read_from_pytorch() -> None:
    """Each of the three sources is used, and says what PyTorch documents."""
    torch = import_module("torch")

    def names(function: str, method: bool = False) -> list[list[str]]:
        owner = torch.Tensor if method else torch
        found = builtins.of_builtin(torch, function, getattr(owner, function), method)
        return [[parameter.name for parameter in each] for each in found]

    assert ["input", "dim", "keepdim", "dtype", "out"] in names("sum")
    assert names("mul", method=True)[0] == ["other"]
    assert names("mm")[0] == ["input", "mat2", "out"]
    assert names("zeros")[0][:3] == ["size", "out", "dtype"]
    from_numpy = builtins.of_builtin(torch, "from_numpy", torch.from_numpy, False)
    assert from_numpy == [(signatures.Parameter("ndarray", "position"),)]


@pytest.mark.skipif(not THE_VERSION, reason=f"PyTorch {reference.VERSION} is not installed")
def test_a_planted_room_is_compared_with_pytorch() -> None:
    """A wrong default, a function for a class, a name of our own: all are seen through the room."""
    torch = import_module("torch")

    def zeros_(tensor, value=0):
        """Differ by a parameter."""

    def unknown_(tensor):
        """Exist here only."""

    planted = ModuleType("minigrad.nn.init")
    planted.__dict__.update(zeros_=zeros_, unknown_=unknown_, ones_=type("ones_", (), {}))
    planted.__dict__["__all__"] = ["zeros_", "unknown_", "ones_"]
    room = facts._compare(torch, "torch.nn.init", torch.nn.init, planted, Use())
    assert {entry.name: entry.differs for entry in room.entries} == {
        "zeros_": ("only here `value`",),
        "ones_": ("class, there function",),
    }
    assert room.only_here == ["unknown_"]
    assert "kaiming_uniform_" in room.missing


def test_without_pytorch_the_command_says_so(monkeypatch, capsys) -> None:
    """Nothing is written, and the learner is told that nothing is missing for the lessons."""
    monkeypatch.setattr(reference, "find_torch", lambda: None)
    assert command(["reference"]) == 1
    said = capsys.readouterr().err
    assert f"pip install torch=={reference.VERSION}" in said
    assert "do not need it" in said


def test_topics_have_reasons_and_names_fall_under_one() -> None:
    """The topics left out take what they are meant to take, and not what the course needs."""
    assert all(topic.why and topic.title for topic in reference_rooms.TOPICS)
    for name, title in (("quantize_per_tensor", "Quantized"), ("is_cuda", "Devices")):
        topic = reference_rooms.topic_of(name)
        assert topic is not None and topic.title.startswith(title)
    needed = "sum relu_ norm Linear register_hook gradient clip_grad_norm_ Dropout Adam trace"
    assert [name for name in needed.split() if reference_rooms.topic_of(name)] == []
