"""The audit's list of accepted findings: what it covers, what it lets through, and when it is out of date."""

from __future__ import annotations

from typing import Any

import pytest

from tests.audit.review import Accepted, Finding, findings, stale, unjustified

ROUTER = Finding("CKV_K8S_38", "Deployment.llm-serving.llama3-8b-router", "Token mounted")
ENTRY = Accepted("CKV_K8S_38", "Deployment.llm-serving.*-router", "it watches pods")


def report(*failed: Finding, unread: int = 0) -> dict[str, Any]:
    """As checkov 3.3 prints it."""
    checks = [{"check_id": f.check, "resource": f.resource, "check_name": f.title} for f in failed]
    return {"results": {"failed_checks": checks}, "summary": {"parsing_errors": unread, "passed": 1}}


def test_failed_checks_are_read_from_one_report_or_several() -> None:
    assert findings(report(ROUTER)) == [ROUTER]
    assert findings([report(ROUTER), report()]) == [ROUTER]


def test_what_could_not_be_scanned_is_not_clean() -> None:
    with pytest.raises(ValueError, match="not scanned"):
        findings([report(), report(unread=1)])


def test_a_reviewed_finding_passes_and_its_entry_is_in_use() -> None:
    assert unjustified([ROUTER], [ENTRY]) == []
    assert stale([ROUTER], [ENTRY]) == []


def test_the_same_check_on_another_resource_is_not_covered() -> None:
    engine = Finding("CKV_K8S_38", "Deployment.llm-serving.llama3-8b", "Token mounted")
    assert unjustified([ROUTER, engine], [ENTRY]) == [engine]


def test_another_check_on_the_same_resource_is_not_covered() -> None:
    root = Finding("CKV_K8S_23", ROUTER.resource, "Root user")
    assert unjustified([root], [ENTRY]) == [root]


def test_an_entry_without_a_finding_is_stale() -> None:
    assert stale([], [ENTRY]) == [ENTRY]
