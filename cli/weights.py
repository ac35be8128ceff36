"""`headroom weights`: stage model weights into the bucket, and prove that they are all there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.preflight import BucketOption
from cli.stack import JsonOption, StackFileOption, StackOption, accepted
from cli.terminal import console, errors, tell, write_json

weights = typer.Typer(help="Model weights in the bucket.", no_args_is_help=True)
ModelOption = Annotated[
    str | None, typer.Option("--model", help="Model of the stack; the only one unless named.")
]


@weights.command()
def push(
    source: Annotated[Path, typer.Argument(help="Folder with the weights.")],
    stack: StackOption = None,
    stack_file: StackFileOption = None,
    model: ModelOption = None,
    bucket: BucketOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be uploaded.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Upload a version: resumable, checksummed, complete only when its manifest is there. Exits 1 when it fails."""
    # Rooms are imported when a command needs them.
    from planner import staging

    file, settings = accepted(stack, stack_file)
    try:
        total = sum(found.size for found in staging.scan(source, ""))
        if dry_run:
            with errors.status("Comparing"):
                done = staging.push(source, settings, file.stack, model, bucket=bucket, dry_run=True)
        else:
            with staging.ProgressBar(errors, total) as bar:
                done = staging.push(source, settings, file.stack, model, bucket=bucket, progress=bar)
    except staging.StagingError as error:
        tell(error.problems)
        raise typer.Exit(1) from error
    if as_json:
        write_json(done.as_json())
    else:
        verb = "would be sent" if dry_run else "sent"
        state = "live" if done.live else "not live"
        console.print(
            f"s3://{done.bucket}/{done.prefix}: {done.files} files, {done.size} bytes, "
            f"{done.sent} {verb}, {done.kept} were there; {state}",
            markup=False,
        )
        for doubt in done.doubts:
            errors.print(doubt, style="yellow", markup=False)


@weights.command()
def verify(
    stack: StackOption = None,
    stack_file: StackFileOption = None,
    model: ModelOption = None,
    bucket: BucketOption = None,
    deep: Annotated[bool, typer.Option("--deep", help="Read every byte instead of S3's checksums.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Compare a version in the bucket with its manifest. Exits 1 when something is missing or changed."""
    from planner import staging

    file, settings = accepted(stack, stack_file)
    try:
        with errors.status("Comparing"):
            found = staging.verify(settings, file.stack, model, bucket=bucket, deep=deep)
    except staging.StagingError as error:
        tell(error.problems)
        raise typer.Exit(1) from error
    if as_json:
        write_json(found.as_json())
    else:
        for one in found.findings:
            errors.print(f"{one.path}: {one.fault}: {one.detail}", style="red", markup=False)
        verdict = "complete and unchanged" if found.ok else f"{len(found.findings)} findings"
        console.print(f"s3://{found.bucket}/{found.prefix}: {found.files} files: {verdict}", markup=False)
    if found.findings:
        raise typer.Exit(1)
