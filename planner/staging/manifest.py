"""The manifest: what a complete version of a model's weights consists of. It is written last, and once."""

from __future__ import annotations

import json
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from planner.staging.digest import part_count, whole_digest
from planner.staging.errors import refused

FORMAT = 1


class Entry(BaseModel):
    """One file below the prefix: bytes, and SHA-256 of each of its parts of `part_size` bytes in base64."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        alias_generator=to_camel, frozen=True, populate_by_name=True
    )

    path: str = Field(min_length=1)
    size: int = Field(ge=0)
    part_size: int = Field(ge=1)
    parts: tuple[str, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _parts_cover_the_file(self) -> Entry:
        if len(self.parts) != max(1, -(-self.size // self.part_size)):
            raise ValueError(f"{len(self.parts)} parts of {self.part_size} bytes for {self.size} bytes")
        return self

    @property
    def digest(self) -> str:
        """S3's checksum of the object."""
        return whole_digest(self.parts)


class Manifest(BaseModel):
    """All files of one version, sorted by path."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        alias_generator=to_camel, frozen=True, populate_by_name=True
    )

    format: int = Field(default=FORMAT, ge=FORMAT, le=FORMAT)
    model: str
    version: str
    files: tuple[Entry, ...] = Field(min_length=1)

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(entry.size for entry in self.files)

    def text(self) -> bytes:
        """The stored form; equal manifests give equal bytes."""
        return json.dumps(self.model_dump(by_alias=True), indent=1, sort_keys=True).encode() + b"\n"


def parse(text: bytes, where: str) -> Manifest:
    """Read a stored manifest. Raises StagingError."""
    try:
        return Manifest.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise refused(
            where,
            f"no manifest: {'.'.join(map(str, first['loc'])) or 'document'}: {first['msg']}",
            f"a manifest of format {FORMAT}",
            "stage the weights again under another weightsVersion",
        ) from error


__all__ = ["Entry", "Manifest", "parse", "part_count"]
