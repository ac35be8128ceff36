"""The comment on a pull request: one body for all stacks, which a workflow finds again by its first line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lab.review.review import Review
from lab.review.sections import WORDS, counts, stack
from planner.markdown import code, table

MARKER = "<!-- headroom-review -->"
"""First line of every body. An HTML comment is not shown."""

LIMIT = 65_536 - 1_024
"""A comment on GitHub has at most 65,536 characters; a workflow adds some of its own. Bytes are counted here, which are
never fewer."""

_ROWS = (200, 80, 40, 20, 10, 5, 1)


def body(reviews: Sequence[Review], base: str, limit: int = LIMIT) -> str:
    """The comment's Markdown, at most `limit` bytes long: tables are cut first, and say what they leave out."""
    text = ""
    for rows in _ROWS:
        text = "\n".join([MARKER, *_lines(reviews, base, rows)]) + "\n"
        if len(text.encode()) <= limit:
            return text
    return _cut(text, limit)


def _cut(text: str, limit: int) -> str:
    end = (
        "\n\n</details>\n\nThe rest is left out: it is longer than a comment may be. Run `headroom review`.\n"
    )
    kept: list[str] = []
    room = limit - len(end.encode())
    for line in text.splitlines():
        room -= len(line.encode()) + 1
        if room < 0:
            break
        kept.append(line)
    inside = sum(line.startswith("<details") - line.startswith("</details>") for line in kept) > 0
    return "\n".join(kept) + (end if inside else end.replace("\n\n</details>", "", 1))


def _lines(reviews: Sequence[Review], base: str, rows: int) -> Iterator[str]:
    yield f"## Headroom review against {code(base)}"
    yield ""
    yield from table(
        ("stack", "verdict", "resources", ">USD a month at most", ">GPUs at most"), map(_summary, reviews)
    )
    for review in reviews:
        yield ""
        yield from stack(review, rows)
    yield ""
    yield "From the real Pulumi engine and the policy pack over recorded AWS answers, without credentials; seconds and"
    yield "dollars are the plan's, on list prices. Same figures at home: `./headroom review`."


def _summary(review: Review) -> tuple[str, ...]:
    before, after = review.before, review.after
    dollars = _moved(
        f"{before.cost.ceiling:,.0f}" if before else "", f"{after.cost.ceiling:,.0f}" if after else "-"
    )
    gpus = _moved(str(before.caps.replicas) if before else "", str(after.caps.replicas) if after else "-")
    return (code(review.stack), WORDS[review.status], counts(review), dollars, gpus)


def _moved(before: str, after: str) -> str:
    return f"{before} → {after}" if before and before != after else after
