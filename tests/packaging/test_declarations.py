"""What pyproject.toml, environment.yml and the locks say must agree."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

import minigrad

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONDA = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
LOCKS = {
    "lessons": "lessons/requirements.txt",
    "book": "lessons/_tools/book/requirements.txt",
    "lite": "lessons/_tools/lite/requirements.txt",
    "test": "tests/requirements.txt",
}
# In environment.yml and in no extra: Python and pip themselves, and all faces of Jupyter.
CONDA_ONLY = {"python", "pip", "jupyter"}


def expand(extra: str) -> dict[str, Requirement]:
    """Requirements of the core, the build and an extra, with the extras that it names."""
    texts = PROJECT["project"]["optional-dependencies"][extra]
    found = {}
    for text in [
        *texts,
        *PROJECT["project"]["dependencies"],
        *PROJECT["dependency-groups"]["build"],
    ]:
        requirement = Requirement(text)
        if requirement.name == PROJECT["project"]["name"]:
            for inner in requirement.extras:
                found |= expand(inner)
        else:
            found[canonicalize_name(requirement.name)] = requirement
    return found


def conda_lines() -> dict[str, SpecifierSet]:
    """Names and ranges that environment.yml asks conda for."""
    lines = [line for line in CONDA["dependencies"] if isinstance(line, str)]
    parsed = [re.fullmatch(r"([a-z0-9-]+)(?: ([<>=0-9.,]+))?", line) for line in lines]
    assert all(parsed), "each line is a name, a space and a range"
    return {match[1]: SpecifierSet(match[2] or "") for match in parsed if match}


def pins(lock: str) -> list[tuple[Requirement, list[str]]]:
    """Each pinned requirement of a lock with its hashes."""
    text = (ROOT / lock).read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [
        line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")
    ]
    return [
        (Requirement(line.split(" --hash=")[0]), re.findall(r"--hash=(\S+)", line))
        for line in lines
    ]


def test_the_core_needs_numpy_only():
    assert PROJECT["project"]["dependencies"] == ["numpy>=2,<3"]


def test_the_extras():
    assert set(PROJECT["project"]["optional-dependencies"]) == {
        "symbolic",
        "viz",
        "progress",
        "parallel",
        "lessons",
        "book",
        "lite",
        "test",
    }
    assert PROJECT["project"]["name"] == "minigrad-lessons"


def test_the_version_is_that_of_the_package():
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert str(Version(minigrad.__version__)) == minigrad.__version__


def test_the_build_group_is_what_the_build_requires():
    assert PROJECT["dependency-groups"]["build"] == PROJECT["build-system"]["requires"]


def test_environment_yml_takes_conda_forge_alone():
    assert CONDA["channels"] == ["conda-forge", "nodefaults"]
    assert CONDA["dependencies"][-1] == {"pip": ["-e ."]}


def test_environment_yml_has_what_the_lessons_need():
    conda, needed = conda_lines(), expand("lessons")
    # conda's mpi4py brings an MPI, that of the package index needs one
    assert (set(needed) - {"hatchling", "mpich"}) | {"pytest", "nbval"} | CONDA_ONLY == set(conda)


@pytest.mark.parametrize("name", sorted(set(conda_lines()) - CONDA_ONLY))
def test_environment_yml_gives_the_ranges_of_pyproject(name):
    assert conda_lines()[name] == expand("test")[name].specifier


def test_python_versions_agree():
    import _start.python_version as supported

    conda = conda_lines()["python"]
    required = SpecifierSet(PROJECT["project"]["requires-python"])
    classifiers = PROJECT["project"]["classifiers"]
    for minor in range(8, 18):
        fits = supported.OLDEST <= (3, minor) <= supported.NEWEST
        assert conda.contains(f"3.{minor}.1") is fits
        assert required.contains(f"3.{minor}") is ((3, minor) >= supported.OLDEST)
        assert (f"Programming Language :: Python :: 3.{minor}" in classifiers) is fits


@pytest.mark.parametrize(("extra", "lock"), LOCKS.items())
def test_every_pin_is_exact_and_has_hashes(extra, lock):
    found = pins(lock)
    assert len(found) > 90
    for requirement, hashes in found:
        assert [item.operator for item in requirement.specifier] == ["=="], requirement
        assert requirement.url is None
        assert hashes, requirement
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", item) for item in hashes)


@pytest.mark.parametrize("lock", LOCKS.values())
def test_a_lock_names_no_address_and_no_path(lock):
    text = (ROOT / lock).read_text(encoding="utf-8")
    assert not re.search(r"://|--index|--find-links|--trusted|file:|(?<![\w-])/\w", text)


@pytest.mark.parametrize(("extra", "lock"), LOCKS.items())
def test_a_lock_stays_within_the_ranges_of_pyproject(extra, lock):
    versions: dict[str, list[str]] = {}
    for requirement, _ in pins(lock):
        pinned = next(iter(requirement.specifier)).version
        versions.setdefault(canonicalize_name(requirement.name), []).append(pinned)
    for name, requirement in expand(extra).items():
        assert name in versions
        assert all(requirement.specifier.contains(version) for version in versions[name]), name


def test_the_locks_of_sites_lie_between_those_of_the_lessons_and_of_the_tests():
    # a package that more ask for may come with more conditions
    lessons, book, lite, tests = (
        {(pin.name, str(pin.specifier)) for pin, _ in pins(lock)} for lock in LOCKS.values()
    )
    assert lessons < book < tests
    assert lessons < lite < tests


def test_one_numpy_for_every_python():
    assert [r.name for r, _ in pins(LOCKS["test"])].count("numpy") == 1


def test_the_licenses():
    assert "MIT License" in (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "CC BY 4.0" in (ROOT / "lessons" / "LICENSE").read_text(encoding="utf-8")
    assert PROJECT["project"]["license"] == "MIT AND CC-BY-4.0"
