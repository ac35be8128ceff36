"""`headroom doctor` where there is nothing to examine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]


def doctor(*words: str, kubeconfig: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = os.environ | ({"KUBECONFIG": str(kubeconfig)} if kubeconfig else {})
    return subprocess.run(
        [sys.executable, "-m", "cli", "doctor", *words],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def config(folder: Path) -> Path:
    """A kubeconfig whose context `prod` leads to a port on which nobody listens."""
    path = folder / "config"
    cluster, user = {"server": "http://127.0.0.1:9"}, {"token": "t"}
    content = {
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "prod", "context": {"cluster": "c", "user": "u"}}],
    }
    path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--stack", "prod", "--kube-context", "prod"], "an API server that answers (Connection refused)"),
        (["--stack", "prod", "--kube-context", "other"], "kubectl config get-contexts"),
        (["--kube-context", "prod"], "add e.g. --stack prod"),
        (["--stack", "nowhere"], "one of dev, local, prod"),
    ],
)
def test_what_can_not_be_examined_ends_with_2_and_one_line(
    tmp_path: Path, words: list[str], said: str
) -> None:
    ran = doctor(*words, kubeconfig=config(tmp_path))
    assert (ran.returncode, ran.stdout) == (2, "")
    assert said in ran.stderr
    assert len(ran.stderr.strip().splitlines()) == 1


def test_without_a_lab_it_says_how_to_get_one(tmp_path: Path) -> None:
    ran = doctor("--stack", "local", "--state", str(tmp_path / "none"), "--json")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "headroom lab up" in ran.stderr
    assert "Traceback" not in ran.stderr
