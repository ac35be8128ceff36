"""`headroom catalogue refresh` as a user runs it: what it prints, its exit status, and what a plan makes of it."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from cli.__main__ import main
from planner import refresh as planner
from specs.catalogue import DATA
from tests.engine.aws.answers import json_error, query_error
from tests.engine.aws.server import Request, Rule, Server
from tests.engine.aws.test_refresh import PriceList

PROJECT = Path(__file__).resolve().parents[3]
FILES = ("instances.json", "prices.json")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the shipped files, which the command writes."""
    for name in FILES:
        shutil.copy(DATA / name, tmp_path / name)
    paths = {"types_file": tmp_path / FILES[0], "prices_file": tmp_path / FILES[1]}
    monkeypatch.setattr(planner, "refresh", partial(planner.refresh, **paths))
    monkeypatch.setattr("botocore.endpoint.time.sleep", list[float]().append)
    return tmp_path


def ran(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """Exit status of `headroom catalogue refresh`."""
    monkeypatch.setattr(sys, "argv", ["headroom", "catalogue", "refresh", *words])
    return main()


def contents(data: Path) -> list[bytes]:
    return [(data / name).read_bytes() for name in FILES]


def test_it_says_what_it_wrote(
    aws: Server, data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    aws.rules.append(PriceList(prefix="EUW1-").rule())
    assert ran(monkeypatch, "--region", "eu-west-1", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, json.loads((PROJECT / "docs/json/catalogue.schema.json").read_text()))
    assert document["region"] == "eu-west-1"
    assert ran(monkeypatch, "--region", "eu-west-1") == 0
    assert f"{document['types']} GPU types of eu-west-1" in capsys.readouterr().out


def _prices(text: str) -> Rule:
    def priced(request: Request) -> bool:
        return request.target.endswith(".GetProducts")

    return Rule(priced, 200, json.dumps({"PriceList": [text]}).encode(), "application/x-amz-json-1.1")


def _at(usd: str) -> Rule:
    return _prices(json.dumps(PriceList.product("BoxUsage:g5.2xlarge", usd, "g5.2xlarge")))


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (json_error("GetProducts", "ThrottlingException"), "throttled"),
        (query_error("DescribeInstanceTypes", "RequestLimitExceeded", 503), "throttled"),
        (json_error("GetProducts", "InternalErrorException", 500), "failed with 500"),
        (json_error("GetProducts", "AccessDeniedException"), "allow pricing:GetProducts"),
        (Rule(lambda request: request.action == "DescribeInstanceTypes", cut=True), "no network"),
        (_prices('{"product": '), "no JSON"),
        (_at("inf"), "the price of BoxUsage:g5.2xlarge is 'inf'"),
        (_at("-1.2"), "is '-1.2'"),
        (_at("1,2"), "is '1,2'"),
    ],
)
def test_without_an_answer_it_ends_with_1_and_writes_nothing(
    aws: Server,
    data: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    rule: Rule,
    said: str,
) -> None:
    before = contents(data)
    aws.rules += [rule, PriceList().rule()]
    assert ran(monkeypatch) == 1
    told = " ".join(capsys.readouterr().err.split())
    assert said in told
    assert "internal error" not in told
    assert contents(data) == before


def test_without_credentials_it_says_which_to_give(
    aws: Server, data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    assert ran(monkeypatch) == 1
    assert "no credentials" in capsys.readouterr().err


def test_where_nobody_listens_it_says_so(
    aws: Server, data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{unused.getsockname()[1]}")
        assert ran(monkeypatch) == 1
    assert "no network" in capsys.readouterr().err


@pytest.mark.parametrize("region", ["mars", "eu-west", "us-east-1a", "", "us-east-1; rm"])
def test_what_is_no_region_is_refused_before_anyone_is_asked(
    aws: Server, data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], region: str
) -> None:
    assert ran(monkeypatch, "--region", region) == 2
    assert "--region" in capsys.readouterr().err
    assert aws.seen == []


@pytest.mark.parametrize("text", [None, "", "{", "[]", '{"region": "us-east-1"}'])
def test_damaged_prices_are_named_with_the_way_to_restore_them(
    aws: Server,
    data: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    text: str | None,
) -> None:
    file = data / "prices.json"
    file.unlink() if text is None else file.write_text(text)
    assert ran(monkeypatch) == 2
    told = capsys.readouterr().err.replace("\n", "")
    assert "prices.json" in told
    assert "git checkout" in told
    assert aws.seen == []


def test_a_plan_in_that_region_counts_with_the_new_prices(
    aws: Server, data: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The plan runs in a copy of the project: the catalogue is part of it."""
    copy = tmp_path / "project"
    rooms = ("cli", "planner", "specs", "lab", "policies")
    for room in rooms:
        shutil.copytree(PROJECT / room, copy / room, ignore=shutil.ignore_patterns("__pycache__"))
    shipped = PriceList(prefix="EUW1-")
    shipped.hours = {name: 2 * usd for name, usd in shipped.hours.items()}
    aws.rules.append(shipped.rule())
    shutil.copy(PROJECT / "Pulumi.yaml", copy)
    # moto knows no zone of eu-west-1 that offers g6.
    stack = (
        (PROJECT / "Pulumi.dev.yaml")
        .read_text()
        .replace("us-east-1", "eu-west-1")
        .replace("[g6, g5]", "[g5]")
    )
    (copy / "Pulumi.dev.yaml").write_text(stack)

    def planned() -> Any:
        words = [sys.executable, "-m", "cli", "plan", "--stack-file", "Pulumi.dev.yaml", "--json"]
        environment = {**os.environ, "PYTHONPATH": str(copy)}
        done = subprocess.run(words, cwd=copy, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    before = planned()
    assert ran(monkeypatch, "--region", "eu-west-1") == 0
    for name in FILES:
        shutil.copy(data / name, copy / "specs" / "data" / name)
    after = planned()
    assert (before["prices"]["ofStackRegion"], after["prices"]["ofStackRegion"]) == (False, True)
    assert after["prices"]["region"] == "eu-west-1"
    assert after["cost"]["typicalOnDemandUsd"] > before["cost"]["typicalOnDemandUsd"] * 1.5
