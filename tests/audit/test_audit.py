"""The rendered prod stack under a public scanner (checkov): `make audit`."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest
from ruamel.yaml import YAML

from tests.audit import scanned
from tests.audit.review import Accepted, Finding, findings, stale, unjustified

SCANNER = "HEADROOM_CHECKOV"
ENTRIES = cast(
    list[dict[str, str]],
    YAML(typ="safe", pure=True).load(Path(__file__).with_name("accepted.yaml").read_text(encoding="utf-8")),
)
ACCEPTED = [Accepted(entry["check"], entry["resource"], entry["reason"].strip()) for entry in ENTRIES]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Finding]:
    """What the scanner finds; it asks nothing of any network."""
    scanner = os.environ.get(SCANNER)
    if not scanner:
        pytest.fail(f"{SCANNER} is not set: run `make audit`, which installs the scanner")
    folder = tmp_path_factory.mktemp("scanned")
    scanned.write(folder)
    options = ["--framework", "kubernetes", "cloudformation", "--output", "json", "--compact", "--quiet"]
    done = subprocess.run(
        [scanner, "--directory", str(folder), *options, "--skip-download", "--soft-fail"],
        env={**os.environ, "HOME": str(folder), "BC_SKIP_MAPPING": "TRUE"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert {one["check_type"] for one in report} == {"kubernetes", "cloudformation"}
    assert sum(one["summary"]["passed"] for one in report) > 500
    return findings(report)


def test_every_finding_is_mended_or_has_its_reason(found: Sequence[Finding]) -> None:
    assert [str(finding) for finding in unjustified(found, ACCEPTED)] == []


def test_no_reason_outlives_its_finding(found: Sequence[Finding]) -> None:
    assert [f"{entry.check} {entry.resource}" for entry in stale(found, ACCEPTED)] == []
