"""What contributors read is true: files that are named exist, forms parse, the recipe runs."""

import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
import yaml

import minigrad

from .test_declarations import PROJECT, ROOT

COMMUNITY = ROOT / ".github"
CONTRIBUTING = (COMMUNITY / "CONTRIBUTING.md").read_text(encoding="utf-8")
CITATION = ROOT / "CITATION.cff"
FILES = [CITATION, *sorted(path for path in COMMUNITY.rglob("*") if path.is_file())]
NAMED = re.compile(r"(?<![\w/.])(?:\.ci|\.github|lessons|minigrad|tests)/[\w/.-]*\w")


def names(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def missing(text: str) -> list[str]:
    """The files that a text names and that are not there; NN stands for any lesson."""
    return [
        each for each in NAMED.findall(text) if not any(ROOT.glob(each.replace("NN", "[0-9][0-9]")))
    ]


@pytest.mark.parametrize("path", FILES, ids=names)
def test_what_is_named_exists(path):
    text = path.read_text(encoding="utf-8")
    assert missing(text) == []
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    assert [link for link in links if not (path.parent / link).exists()] == []


@pytest.mark.parametrize("path", sorted(COMMUNITY.glob("ISSUE_TEMPLATE/*.yml")), ids=names)
def test_a_form_asks_for_something(path):
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= set(form) <= {"name", "description", "body", "labels"}
    assert {each["type"] for each in form["body"]} <= {"input", "textarea"}
    assert len({each["id"] for each in form["body"]}) == len(form["body"])
    assert all(each["attributes"]["label"] for each in form["body"])
    assert any(each.get("validations") == {"required": True} for each in form["body"])


def test_the_version_is_that_of_the_package():
    citation = yaml.safe_load(CITATION.read_text(encoding="utf-8"))
    assert str(citation["version"]) == minigrad.__version__
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert [each["name"] for each in citation["authors"]] == [
        each["name"] for each in PROJECT["project"]["authors"]
    ]
    newest = re.search(r"^## (\S+?),? ", (COMMUNITY / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert newest is not None and newest[1] == minigrad.__version__


def test_the_suite_runs_on_every_python_that_is_promised():
    workflow = yaml.safe_load((COMMUNITY / "workflows" / "tests.yml").read_text(encoding="utf-8"))
    words = "Programming Language :: Python :: 3."
    promised = [
        each.rpartition(" ")[2]
        for each in PROJECT["project"]["classifiers"]
        if each.startswith(words)
    ]
    for job in workflow["jobs"].values():
        assert job["strategy"]["matrix"]["python"] == promised


# ---- the recipe ---------------------------------------------------------------------------------

RECIPE = CONTRIBUTING.partition("## Adding an operation\n")[2].partition("\n## ")[0]
CHECK = """
import minigrad as torch
from minigrad.autograd.gradcheck import gradcheck, gradgradcheck
from minigrad.signatures.arguments import not_implemented
from minigrad.ops import special_functions

assert not hasattr(torch, "logaddexp2"), "it is there now: take another example"
exec(CODE, vars(special_functions) | {"not_implemented": not_implemented})
x = torch.tensor([[0.3], [2.0]], dtype=torch.float64, requires_grad=True)
y = torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True)
assert gradcheck(torch.Tensor.logaddexp2, (x, y))
assert gradgradcheck(torch.Tensor.logaddexp2, (x, y))
"""


def test_each_step_of_the_recipe_names_what_is_there():
    steps = re.split(r"^\d\. ", RECIPE, flags=re.M)[1:]
    assert len(steps) == 8
    named = [NAMED.findall(step) + re.findall(r"-m minigrad\S*", step) for step in steps]
    assert all(named)
    for family in re.findall(r"tests\.operations\.record (\w+)", RECIPE):
        assert (ROOT / "tests" / "operations" / "recorded" / f"{family}.json").is_file()


def test_the_example_of_the_recipe_is_an_operation():
    code = re.findall(r"^ *```py\n(.*?)^ *```$", RECIPE, flags=re.M | re.S)[0]
    program = CHECK.replace("CODE", repr(dedent(code)))
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)
