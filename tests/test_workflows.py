"""The files for contributors: workflows that can run, need no secret, and speak of what there is."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml", reason="PyYAML comes with the extra 'docs'")

ROOT = Path(__file__).parents[1]
if not (ROOT / ".github").is_dir():
    pytest.skip("the sdist has no workflows", allow_module_level=True)

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def jobs():
    found = [yaml.safe_load(path.read_text("utf-8")) for path in WORKFLOWS]
    return {name: job for workflow in found for name, job in workflow["jobs"].items()}


def commands():
    return [(name, step["run"]) for name, job in jobs().items() for step in job["steps"] if "run" in step]


def test_workflows_only_read_and_need_no_secret():
    for path in WORKFLOWS:
        text = path.read_text("utf-8")
        assert yaml.safe_load(text)["permissions"] == {"contents": "read"}
        assert not re.search(r"secrets\.|pull_request_target|GITHUB_TOKEN", text)


def test_jobs_end_and_use_named_versions():
    for job in jobs().values():
        assert job["timeout-minutes"] <= 30
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)
            assert re.fullmatch(r"actions/[\w-]+@v\d+", step.get("uses", "actions/x@v1"))


@pytest.mark.parametrize(("job", "command"), commands())
def test_commands_are_shell_about_files_and_extras_that_exist(job, command):
    assert subprocess.run(["bash", "-n", "-c", command], check=False).returncode == 0
    for word in re.findall(r"(?<![\w/])(?:\.ci|tests)(?:/[\w.]+)*", command):
        assert (ROOT / word).exists(), word
    for extras in re.findall(r"\.\[([\w,-]+)\]", command):
        assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"])


def test_every_python_that_is_named_is_tried():
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert jobs()["newest"]["strategy"]["matrix"]["python"] == named
    assert PROJECT["requires-python"] == f">={named[0]}"


def test_scripts_of_ci_are_shell():
    for script in ("run", "package"):
        assert subprocess.run(["bash", "-n", ROOT / ".ci" / script], check=False).returncode == 0
        assert (ROOT / ".ci" / script).stat().st_mode & 0o111


def test_forms_have_questions_with_names_of_their_own():
    for path in FORMS:
        form = yaml.safe_load(path.read_text("utf-8"))
        if path.name == "config.yml":
            continue
        assert {"name", "description", "body"} <= set(form)
        names = [part["id"] for part in form["body"] if part["type"] != "markdown"]
        assert names
        assert len(set(names)) == len(names)


def test_hooks_call_what_the_extra_test_installs():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"][0]["hooks"]
    tools = " ".join(PROJECT["optional-dependencies"]["test"])
    for hook in hooks:
        program = hook["entry"].split()[0]
        assert program == "python" or f"{program}>=" in tools
