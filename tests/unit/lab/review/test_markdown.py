"""The comment on a pull request."""

from __future__ import annotations

import re

import pytest
from markdown_it import MarkdownIt

from lab.review.markdown import LIMIT, MARKER, body
from lab.review.review import Review
from planner.markdown import code
from planner.plan import difference
from planner.plan.difference import Change, Difference
from specs.problems import Problem
from tests.unit.lab.review.reviews import finding, planned, review, step, touched

GITHUB = MarkdownIt("commonmark", {"html": True}).enable("table")
HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "--> <script>alert(1)</script>",
    "](https://evil.example) ![x](https://evil.example/x.png)",
    "a | b \\| c \\\\| d",
    "` `` ``` <b>",
    "line\n\n# heading\n</details>",
    "@everyone **bold** _it_",
    "\u202eevil\x1b[31m",
    "`",
    " ",
    "\\",
)


def cells(text: str) -> list[list[str]]:
    """Rows of the tables as a reader sees them."""
    rows = re.findall(r"<tr>(.*?)</tr>", GITHUB.render(text), re.DOTALL)
    return [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL) for row in rows]


def test_the_first_line_is_the_mark_by_which_a_workflow_finds_the_comment() -> None:
    assert body([review()], "main").splitlines()[0] == MARKER
    assert body([review()], "main").count(MARKER) == 1


@pytest.mark.parametrize("text", HOSTILE)
def test_text_of_a_configuration_is_only_shown(text: str) -> None:
    shown = GITHUB.render(f"| a | b |\n|---|---|\n| {code(text)} | end |\n")
    [_, row] = re.findall(r"<tr>(.*?)</tr>", shown, re.DOTALL)
    inside = re.fullmatch(r"\s*<td><code>([^<>]*)</code></td>\s*<td>end</td>\s*", row)
    assert inside, row
    assert "\u202e" not in inside[1]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_hostile_gets_out_of_any_part_of_the_comment(text: str) -> None:
    changes = Difference("prod", "prod", (Change(text, "key", text, text), Change(text, "usd", 1.0, 2.0)))
    made = review(
        stack=text,
        touched=touched(
            [step("update", text, text, (text, "update")), step("create", text, text)],
            [finding(text, text)],
        ),
        difference=changes,
        numbers_before={text: {text: 1}},
        numbers_after={text: {text: text}},
        notes=(text,),
    )
    refused = Review(stack="dev", problems=(Problem(text, text, text, text),))
    told = GITHUB.render(body([made, refused], text))
    tags = set(re.findall(r"<(/?[a-z0-9]+)", re.sub(r"<code>[^<]*</code>", "", told)))
    ours = {
        "h2",
        "h3",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "p",
        "ul",
        "li",
        "strong",
        "details",
        "summary",
    }
    assert {tag.strip("/") for tag in tags} <= ours
    assert told.count("<details") == told.count("</details>")
    assert "&lt;script" not in re.sub(r"<code>[^<]*</code>", "", told)


def test_what_is_replaced_or_deleted_comes_first_with_what_forces_it() -> None:
    made = review(
        touched=touched(
            [
                step("create", "aws:s3/bucket:Bucket", "new"),
                step("update", "kubernetes:apps/v1:Deployment", "engine", ("spec.template", "update")),
                step("create-replacement", "aws:ec2/vpc:Vpc", "vpc"),
                step(
                    "replace", "aws:ec2/vpc:Vpc", "vpc", ("tags", "update"), ("cidrBlock", "update-replace")
                ),
                step("delete-replaced", "aws:ec2/vpc:Vpc", "vpc"),
                step("delete", "aws:sqs/queue:Queue", "old"),
                step("same", "aws:kms/key:Key", "kept"),
                step("update", "pulumi:pulumi:Stack", "headroom-prod"),
            ]
        )
    )
    assert made.counts == {"replace": 1, "delete": 1, "update": 1, "create": 1}
    text = body([made], "main")
    rows = [row for row in cells(text) if len(row) == 4 and row[1].startswith("<code>")]
    assert [row[0] for row in rows[:4]] == [
        "<strong>replaced</strong>",
        "<strong>deleted</strong>",
        "updated",
        "created",
    ]
    assert rows[0][3] == "<code>cidrBlock</code>, <code>tags</code>"


def test_a_blocking_policy_is_told_with_its_finding_and_the_rest_pass() -> None:
    made = review(touched=touched(findings=[finding("gpu-limit", "pool burst: 40 GPUs")]))
    assert made.status == "blocked"
    text = body([made], "main")
    told = {row[0]: row[2:] for row in cells(text) if len(row) == 4}
    assert told["<code>gpu-limit</code>"] == ["<strong>found</strong>", "<code>pool burst: 40 GPUs</code>"]
    assert told["<code>retain-data</code>"] == ["passed", ""]
    assert "<details open><summary>Policies: 10 passed, 1 with findings" in text


def test_an_advisory_finding_does_not_block() -> None:
    made = review(touched=touched(findings=[finding("gpu-limit", "close to the cap", "advisory")]))
    assert made.status == "passed"
    assert "1 with findings" in body([made], "main")


def test_a_preview_that_failed_calls_no_policy_passed() -> None:
    made = review(touched=touched(status="failed"))
    assert (made.status, {verdict.passed for verdict in made.verdicts}) == ("failed", {None})
    assert "11 not judged" in body([made], "main")


def test_a_cap_that_the_change_raises_for_itself_is_told() -> None:
    made = review(numbers_before={"gpu-limit": {"maxGpus": 30}}, numbers_after={"gpu-limit": {"maxGpus": 99}})
    assert made.numbers_changed == [("gpu-limit.maxGpus", 30, 99)]
    assert ["<code>gpu-limit.maxGpus</code>", "<code>30</code>", "<code>99</code>"] in cells(
        body([made], "main")
    )


def test_dollars_gpus_and_seconds_stand_beside_what_they_were() -> None:
    before, after = planned(4), planned(10)
    made = review(before=before, after=after, difference=difference(before, after))
    text = body([made], "main")
    table = {row[0]: row[1:] for row in cells(text) if len(row) == 4}
    assert table["GPUs, replicas and surge (hard cap)"] == [
        str(before.caps.replicas),
        str(after.caps.replicas),
        f"+{after.caps.replicas - before.caps.replicas}",
    ]
    assert table["USD a month, ceiling"][2].startswith("+")
    assert f"| {before.caps.replicas} → {after.caps.replicas} |" in text
    tiers = [row for row in cells(text) if len(row) == 6 and row[0] == "<code>llama3-8b</code>"]
    assert [row[1] for row in tiers] == ["cold (this stack)", "snapshot", "warm", "forecast"]
    assert "<code>models[llama3-8b].replicas.max</code>" in GITHUB.render(text)


def test_a_refused_configuration_is_told_in_place_of_figures() -> None:
    made = Review(stack="prod", problems=(Problem("gpuBudget.maxGpus", "0", "at least 1", "raise it"),))
    text = body([made], "main")
    assert made.status == "refused"
    assert "- `gpuBudget.maxGpus: 0; at least 1; raise it`" in text


@pytest.mark.parametrize("stacks", [1, 12])
def test_a_long_comment_is_cut_where_it_says_so_and_stays_well_formed(stacks: int) -> None:
    steps = [
        step("update", "kubernetes:core/v1:ConfigMap", f"模型-{n}", ("data", "update")) for n in range(3000)
    ]
    findings = [finding("pinned-images", f"image {n}: " + "长" * 300) for n in range(600)]
    text = body([review(stack=f"s{n}", touched=touched(steps, findings)) for n in range(stacks)], "main")
    assert len(text.encode()) <= LIMIT
    assert "left out" in text
    assert text.count("\n<details") == text.count("\n</details>")


def test_even_the_shortest_form_is_cut_to_the_limit() -> None:
    many = [review(stack=f"stack-{n}", notes=("n" * 300,)) for n in range(200)]
    text = body(many, "main")
    assert len(text.encode()) <= LIMIT
    assert text.endswith("Run `headroom review`.\n")
    assert text.count("\n<details") == text.count("\n</details>")
