"""The policy pack as it is published."""

from __future__ import annotations

import re
from pathlib import Path

from specs.policy_pack import MANIFEST, PACK, sources, stack_numbers, version_tag


def pack(folder: Path) -> Path:
    (folder / "rules").mkdir(parents=True)
    (folder / MANIFEST).write_text("runtime: python\nversion: 1.2.0\n")
    (folder / "requirements.txt").write_text("pulumi-policy==1.21.0\n")
    (folder / "rules" / "one.py").write_text("RULE = 1\n")
    return folder


def test_code_manifest_and_pins_are_published_and_nothing_that_a_machine_left(tmp_path: Path) -> None:
    folder = pack(tmp_path / "policies")
    for left in (
        "__pycache__/one.pyc",
        "rules/__pycache__/x.py",
        ".venv/lib/a.py",
        "venv/lib/b.py",
        "prod.json",
    ):
        (folder / left).parent.mkdir(parents=True, exist_ok=True)
        (folder / left).write_text("{}")
    assert list(sources(folder)) == [MANIFEST, "requirements.txt", "rules/one.py"]


def test_another_rule_is_another_version(tmp_path: Path) -> None:
    before = version_tag(pack(tmp_path / "a"))
    changed = pack(tmp_path / "b")
    (changed / "rules" / "one.py").write_text("RULE = 2\n")
    assert version_tag(pack(tmp_path / "c")) == before
    assert version_tag(changed) != before


def test_the_tag_is_a_semantic_version_that_pulumi_cloud_takes(tmp_path: Path) -> None:
    tag = version_tag(pack(tmp_path / "a"))
    assert re.fullmatch(r"1\.2\.0-h[0-9a-f]{12}", tag)
    assert re.fullmatch(r"[a-zA-Z0-9-_.]{1,100}", tag)


def test_numbers_that_are_missing_or_no_object_are_none(tmp_path: Path) -> None:
    (tmp_path / "odd.json").write_text("[]")
    (tmp_path / "broken.json").write_text("{")
    assert [stack_numbers(name, tmp_path) for name in ("odd", "broken", "gone")] == [None] * 3
    assert stack_numbers("prod", PACK)
