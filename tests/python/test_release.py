"""What a release is made of: wheels for whom, what the README says elsewhere, the recipe, the container, the workflows."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "release"))

import licences
import published
import wheel

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REPOSITORY, TAG = "https://example.org/people/lasthop", "v1.2.3"
# conda-forge's different names.
CONDA = {"matplotlib": "matplotlib-base", "duckdb": "python-duckdb"}
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_links_of_the_readme_lead_to_the_sources_wherever_it_is_read():
    text = published.readme((ROOT / "README.md").read_text(encoding="utf-8"), REPOSITORY, TAG)
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    assert len(targets) > 20 and all(target.startswith("https://") for target in targets)
    inside = [re.fullmatch(rf"{REPOSITORY}/(?:blob|raw)/{TAG}/([^#]*)(?:#.*)?", target) for target in targets]
    assert all((ROOT / found[1]).exists() for found in inside if found)
    assert all("/raw/" in target for target in re.findall(r"!\[[^]]*\]\(([^)]+)\)", text))


def test_a_link_within_a_page_or_in_code_stays_as_it_is():
    text = "[a](#b) [c](https://d) [![e](f.png)](g.md)\n```\n[h](i)\n```\n"
    assert published.readme(text, REPOSITORY, TAG) == (
        f"[a](#b) [c](https://d) [![e]({REPOSITORY}/raw/{TAG}/f.png)]({REPOSITORY}/blob/{TAG}/g.md)\n```\n[h](i)\n```\n"
    )


def test_addresses_are_metadata_of_a_published_wheel():
    text = published.pyproject((ROOT / "pyproject.toml").read_text(encoding="utf-8"), REPOSITORY, TAG)
    addresses = tomllib.loads(text)["project"]["urls"]
    assert set(addresses) == {"Repository", "Documentation", "Changelog", "Issues"}
    for address in addresses.values():
        path = address.partition(f"/blob/{TAG}/")[2]
        assert address.startswith(REPOSITORY) and (not path or (ROOT / path).is_file())


def test_the_package_has_its_metadata():
    assert {"readme", "license", "authors", "keywords", "classifiers", "requires-python"} <= set(PROJECT)
    assert "Typing :: Typed" in PROJECT["classifiers"] and (ROOT / "python" / "lasthop" / "py.typed").is_file()
    assert not [
        name for name in PROJECT["classifiers"] if name.startswith("License")
    ]  # beside a licence expression PyPI refuses one


def test_a_wheel_has_the_licences_of_its_crates_and_scripts():
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed")
    try:
        crates = licences.linked()
    except SystemExit as error:
        pytest.skip(f"cargo cannot list the crates: {error}")
    assert {"pyo3", "parquet", "zstd-sys", "libbpf-rs"} <= {crate.name for crate in crates}
    # `python release/licences.py` writes it.
    assert licences.FILE.read_text(encoding="utf-8") == licences.document(crates)
    found = {file.name for pattern in PROJECT["license-files"] for file in ROOT.glob(pattern)}
    assert found >= {"LICENSE", "NOTICE", "THIRD-PARTY", "Arrow.NOTICE", "codemirror.LICENSE", "uPlot.LICENSE"}


def test_a_crate_is_used_under_mit_where_it_may_be(tmp_path):
    for name in ("LICENSE-APACHE", "LICENSE-MIT", "NOTICE", "LICENSE.LGPL-2.1", "README.md"):
        (tmp_path / name).write_text(f"{name} \n")
    crate = licences.Crate("a", "1.0.0", "MIT OR Apache-2.0", tmp_path)
    assert licences.texts(crate) == ["LICENSE-MIT", "NOTICE"]
    assert licences.texts(crate._replace(licence="Apache-2.0")) == ["LICENSE-APACHE", "LICENSE-MIT", "NOTICE"]
    with pytest.raises(SystemExit, match=r"a 1\.0\.0: its package has no text of its licence"):
        licences.texts(crate._replace(folder=ROOT / "docs"))


@pytest.mark.parametrize("target", wheel.TARGETS)
def test_a_wheel_for_others_is_linked_by_zig_and_tagged_by_a_policy(target, tmp_path):
    line = wheel.command(target, tmp_path)
    assert line[line.index("--target") + 1] == target and "--strip" in line and "--locked" in line
    is_linux = "linux" in target
    assert ("--zig" in line) == is_linux and ("--compatibility" in line) == is_linux


def made(file: Path, **code: bytes) -> Path:
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in code.items():
            archive.writestr(f"lasthop/{name}.abi3.so", content)
    return file


@pytest.mark.parametrize(
    ("code", "target", "said"),
    [
        ({}, None, "has no engine"),
        ({"_core": b".text\0.debug_line\0"}, None, "was not stripped"),
        ({"_core": b"", "_kernel": b"\0libpython3.11.so.1.0\0"}, None, "is linked with libpython"),
        ({"_core": b"", "_kernel": b""}, "x86_64-unknown-linux-gnu", "needs this machine's libelf"),
    ],
)
def test_a_wheel_that_would_not_do_is_refused(tmp_path, code, target, said):
    with pytest.raises(wheel.Failed, match=said):
        wheel.check(made(tmp_path / "a.whl", **code), target)


def test_a_large_wheel_is_reported(tmp_path, capsys):
    wheel.check(made(tmp_path / "small.whl", _core=bytes(100), _kernel=b""), None)
    assert capsys.readouterr().err == ""
    wheel.check(made(tmp_path / "large.whl", _core=bytes(6_000_000)), None)
    assert "takes 6.0 MB, more than the 5.0 MB" in capsys.readouterr().err


def test_extensions_of_this_tree_go_with_any_python():
    found = list((ROOT / "python" / "lasthop").glob("_*.abi3.so"))
    if not found:
        pytest.skip("not built in this tree")
    assert [file.name for file in found if b"libpython" in file.read_bytes()] == []


def test_the_recipe_has_the_requirements_of_the_package():
    recipe = (ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    assert f'version: "{wheel.version()}"' in recipe
    run, layers = re.search(
        r"^  run:\n(.*?)^  (?:#|run_constraints)(.*?)^tests:", recipe, re.MULTILINE | re.DOTALL
    ).groups()
    asked = {conda(one) for one in PROJECT["dependencies"]} | {f"python {PROJECT['requires-python']}"}
    assert set(re.findall(r"^    - (.+)$", run, re.MULTILINE)) == asked
    extras = [
        one for extra in PROJECT["optional-dependencies"].values() for one in extra if not one.startswith("lasthop[")
    ]
    assert set(re.findall(r"^    - (.+)$", layers, re.MULTILINE)) == {conda(one) for one in extras}
    backend = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    assert {f"    - {conda(one)}" for one in backend} <= set(recipe.splitlines())


def conda(requirement: str) -> str:
    name, version = re.fullmatch(r"([\w.-]+)(.*)", requirement).groups()
    return f"{CONDA.get(name, name)} {version}"


def test_the_container_runs_without_root_and_checks_its_packages():
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    instructions = re.findall(r"^([A-Z]+) ", text, re.MULTILINE)
    assert instructions.index("USER") < instructions.index("ENTRYPOINT") and re.search(
        r"^USER [1-9]\d*$", text, re.MULTILINE
    )
    assert 'ENTRYPOINT ["lasthop"]' in text and "--require-hashes" in text
    for source in re.findall(r"source=([\w./-]+)", text):
        assert source == "dist" or (ROOT / source).is_file()
    ignored = (ROOT / ".containerignore").read_text()
    assert ignored == (ROOT / ".dockerignore").read_text() and "!dist/*.whl" in ignored


@pytest.mark.parametrize(
    "line",
    [["actionlint"], ["zizmor", "--offline", "--no-progress", "--config", str(ROOT / ".github" / "zizmor.yml")]],
    ids=lambda line: line[0],
)
def test_workflows_have_no_mistakes_that_can_be_seen(line):
    if shutil.which(line[0]) is None:
        pytest.skip(f"{line[0]} is not installed")
    done = subprocess.run([*line, *map(str, WORKFLOWS)], capture_output=True, text=True, timeout=120, check=False)
    assert len(WORKFLOWS) == 3 and done.returncode == 0, done.stdout + done.stderr


def test_actions_are_pinned_by_commit_with_their_version():
    used = [line for file in WORKFLOWS for line in file.read_text(encoding="utf-8").splitlines() if "uses:" in line]
    assert len(used) > 10
    pinned = [re.search(r"uses: (\S+)@([0-9a-f]{40}) # (v\d+\.\d+\.\d+)$", line) for line in used]
    assert all(pinned), used
    assert len({found.groups() for found in pinned}) == len({found[1] for found in pinned})


def test_workflows_build_the_wheels_that_there_are():
    text = (ROOT / ".github" / "workflows" / "wheels.yml").read_text(encoding="utf-8")
    assert set(re.findall(r"\b(?:x86_64|aarch64)-[\w-]+", text)) == set(wheel.TARGETS)
