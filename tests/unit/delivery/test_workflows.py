"""The workflows on GitHub: pinned, with the least that they need, and a comment that is one."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from ruamel.yaml import YAML

from lab.review.markdown import LIMIT, MARKER
from lab.tools import TOOLS

PROJECT = Path(__file__).resolve().parents[3]
FILES = sorted((PROJECT / ".github").rglob("*.yml"))
WORKFLOWS = sorted((PROJECT / ".github" / "workflows").glob("*.yml"))
FORK = "octocat/serving"
GH = r"""#!/usr/bin/env bash
printf '%s\n' "$*" >> "$CALLS"
case "$*" in
  *"/pulls -f state=open"*) printf '%s' "$OPEN" ;;
  *"--paginate"*) printf '%s' "$THERE" ;;
esac
"""


def parsed(path: Path) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8")))


def jobs(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield from cast(Mapping[str, Mapping[str, Any]], parsed(path)["jobs"]).items()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_action_is_pinned_by_its_commit_and_says_its_version(path: Path) -> None:
    for line in path.read_text(encoding="utf-8").splitlines():
        used = re.match(r"\s*(?:- )?uses: (\S+)(.*)", line)
        if used and not used[1].startswith("./"):
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", used[1]), line
            assert re.fullmatch(r" # v\d+\.\d+\.\d+", used[2]), line


def test_an_action_has_one_version_everywhere() -> None:
    told = [
        match for path in FILES for match in re.findall(r"uses: ([\w./-]+)@(\w+ # \S+)", path.read_text())
    ]
    pins: dict[str, set[str]] = {}
    for action, pin in told:
        pins.setdefault(action, set()).add(pin)
    assert {action: found for action, found in pins.items() if len(found) > 1} == {}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_nothing_but_what_a_job_asks_for(path: Path) -> None:
    assert parsed(path)["permissions"] == {}
    assert "concurrency" in parsed(path)
    allowed = {"contents": "read", "id-token": "write", "actions": "read", "pull-requests": "write"}
    for name, job in jobs(path):
        assert set(job["permissions"].items()) <= set(allowed.items()), name
        assert job["timeout-minutes"] <= 90
        for step in job["steps"]:
            if str(step.get("uses", "")).startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False


def test_code_of_a_pull_request_never_runs_where_a_token_may_write_or_a_secret_is() -> None:
    for path in WORKFLOWS:
        assert "pull_request_target" not in path.read_text(encoding="utf-8")
        assert "secrets." not in path.read_text(encoding="utf-8")
    [comment] = [job for _, job in jobs(PROJECT / ".github/workflows/comment.yml")]
    assert not any("checkout" in str(step.get("uses")) for step in comment["steps"])
    for name, job in jobs(PROJECT / ".github/workflows/review.yml"):
        assert job["permissions"] == {"contents": "read"}, name
    [preview] = [job for _, job in jobs(PROJECT / ".github/workflows/preview.yml")]
    assert "head.repo.full_name == github.repository" in preview["if"]


def test_no_script_holds_text_of_an_event() -> None:
    for path in FILES:
        for script in re.findall(r"run: \|\n((?:\s{10,}.*\n|\n)+)", path.read_text(encoding="utf-8")):
            assert "${{" not in script


@pytest.mark.parametrize("name", ["preview.yml", "deploy.yml"])
def test_the_cli_of_pulumi_is_the_one_that_the_tests_ran_with(name: str) -> None:
    [job] = [job for _, job in jobs(PROJECT / ".github/workflows" / name)]
    [step] = [step for step in job["steps"] if str(step.get("uses", "")).startswith("pulumi/actions@")]
    assert f"v{step['with']['pulumi-version']}" == TOOLS["pulumi"].version
    assert step["with"]["policyPacks"] == "policies"


def comment(folder: Path, body: str, *, there: str = "", open_: str = "7", head: str = "acme/serving") -> str:
    """Run the script that writes the comment against a `gh` that only notes what it is asked; returns the notes."""
    [job] = [job for _, job in jobs(PROJECT / ".github/workflows/comment.yml")]
    script = str(job["steps"][-1]["run"])
    (folder / "review").mkdir()
    (folder / "review" / "review.md").write_text(body, encoding="utf-8")
    (folder / "gh").write_text(GH)
    (folder / "gh").chmod(0o755)
    environment = {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "RUNNER_TEMP": str(folder),
        "CALLS": str(folder / "calls"),
        "OPEN": open_,
        "THERE": there,
        "REPOSITORY": "acme/serving",
        "HEAD_REPOSITORY": head,
        "HEAD_OWNER": head.partition("/")[0],
        "HEAD_BRANCH": "change",
        "HEAD_SHA": "0123456789abcdef" * 2,
        "RUN_URL": "https://example.com/run/1",
    }
    ran = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, check=False)
    calls = (folder / "calls").read_text() if (folder / "calls").exists() else ""
    return calls if ran.returncode == 0 else f"failed: {ran.stdout}{ran.stderr}"


def test_the_first_review_creates_the_comment(tmp_path: Path) -> None:
    calls = comment(tmp_path, f"{MARKER}\n## Review\n")
    assert "--method POST repos/acme/serving/issues/7/comments" in calls
    written = (tmp_path / "body.md").read_text()
    assert written.startswith(f"{MARKER}\n## Review\n")
    assert "[Run](https://example.com/run/1) of 0123456789ab" in written


def test_every_later_review_updates_the_same_comment(tmp_path: Path) -> None:
    calls = comment(tmp_path, f"{MARKER}\n## Review\n", there="4711\n4712\n")
    assert "--method PATCH repos/acme/serving/issues/comments/4711" in calls
    assert "POST" not in calls
    assert f'startswith("{MARKER}")' in calls
    assert "github-actions[bot]" in calls


def test_text_of_a_fork_says_that_it_is(tmp_path: Path) -> None:
    calls = comment(tmp_path, f"{MARKER}\n## Review\n", head=FORK)
    assert "head=octocat:change" in calls
    assert "The code of a fork wrote this text" in (tmp_path / "body.md").read_text()


def test_a_pull_request_that_moved_on_gets_no_old_review(tmp_path: Path) -> None:
    calls = comment(tmp_path, f"{MARKER}\n## Review\n", open_="")
    assert "PATCH" not in calls
    assert "POST" not in calls


def test_an_artifact_that_is_no_review_is_refused(tmp_path: Path) -> None:
    assert comment(tmp_path, "## something else\n").startswith(
        "failed: ::error::the artifact is not a review"
    )


def test_the_longest_review_of_a_fork_is_no_longer_than_a_comment_may_be(tmp_path: Path) -> None:
    comment(tmp_path, f"{MARKER}\n" + "長" * 60_000, head=FORK)
    written = (tmp_path / "body.md").read_bytes()
    assert len(written) <= 65_536
    assert written.decode().startswith(MARKER)
    assert LIMIT <= 65_536 - 1024
