"""Named scalar types of the configuration; each carries its rule, a description and an example."""

from __future__ import annotations

import ipaddress
import re
from typing import Annotated, ClassVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from specs.quantity import QuantityError, parse_bytes, parse_cpu

DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
# One reference grammar for tags and digests: https://github.com/distribution/reference (regexp.go).
IMAGE = re.compile(
    r"(?P<name>([a-z0-9.-]+(:\d+)?/)?[a-z0-9]+([._/-]+[a-z0-9]+)*)"
    r"(:(?P<tag>[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?"
    r"(@(?P<digest>sha256:[0-9a-f]{64}))?"
)
AMI = re.compile(r"(al2023@v\d{8}|bottlerocket@v\d+\.\d+\.\d+)")


class Section(BaseModel):
    """A part of the configuration: camelCase keys, nothing unknown, no change after reading."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=False,
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
    )


def _refuse(kind: str, allowed: str, fix: str) -> PydanticCustomError:
    return PydanticCustomError("headroom", "{allowed}", {"kind": kind, "allowed": allowed, "fix": fix})  # pyright: ignore[reportArgumentType] - the template must be a literal type


def _dns_label(value: str) -> str:
    if DNS_LABEL.fullmatch(value):
        return value
    raise _refuse(
        "name",
        "1 to 63 lower-case letters, digits or '-', no '-' at the ends (RFC 1123 label)",
        "choose a name such as llama3-8b",
    )


def _cidr(value: str) -> str:
    try:
        network = ipaddress.ip_network(value)
    except ValueError:
        network = None
    if isinstance(network, ipaddress.IPv4Network):
        return value
    raise _refuse("cidr", "an IPv4 network with its host bits zero", "write it as 10.0.0.0/16")


def _image(value: str) -> str:
    match = IMAGE.fullmatch(value)
    if match and (match["digest"] or (match["tag"] and match["tag"] != "latest")):
        return value
    raise _refuse(
        "image",
        "an image with a fixed tag or a sha256 digest, never 'latest' and never without a tag",
        "pin it, e.g. vllm/vllm-openai:v0.33.0",
    )


def _ami(value: str) -> str:
    if AMI.fullmatch(value):
        return value
    if value.split("@")[0] == "al2":
        raise _refuse(
            "ami",
            "al2023@vYYYYMMDD or bottlerocket@vX.Y.Z; EKS 1.33 and later has no AL2 image",
            "use al2023@v20261101",
        )
    raise _refuse(
        "ami",
        "al2023@vYYYYMMDD or bottlerocket@vX.Y.Z; 'latest' would replace nodes at every image release",
        "use bottlerocket@v1.60.0",
    )


def _cpu(value: object) -> str:
    try:
        parse_cpu(value)
    except QuantityError as error:
        raise _refuse("quantity", error.allowed, 'write it as "6" or "5500m"') from error
    return str(value)


def _memory(value: object) -> str:
    try:
        parse_bytes(value)
    except QuantityError as error:
        raise _refuse("quantity", error.allowed, "write it as 24Gi") from error
    return str(value)


def _number_not_bool(value: object) -> object:
    # YAML `yes` or `true` is a bool, and bool is an int in Python.
    if isinstance(value, bool):
        raise _refuse("number", "a number", "write the number without words such as yes or true")
    return value


Name = Annotated[str, AfterValidator(_dns_label), Field(examples=["llama3-8b"])]
Cidr = Annotated[str, AfterValidator(_cidr), Field(examples=["10.0.0.0/16"])]
Image = Annotated[str, AfterValidator(_image), Field(examples=["vllm/vllm-openai:v0.33.0"])]
Ami = Annotated[str, AfterValidator(_ami), Field(examples=["bottlerocket@v1.60.0", "al2023@v20261101"])]
Cpu = Annotated[str, BeforeValidator(_cpu), Field(examples=["6", "5500m"])]
Memory = Annotated[str, BeforeValidator(_memory), Field(examples=["24Gi"])]
Seconds = Annotated[int, BeforeValidator(_number_not_bool), Field(ge=0, le=604_800)]
PositiveSeconds = Annotated[int, BeforeValidator(_number_not_bool), Field(ge=1, le=604_800)]
Count = Annotated[int, BeforeValidator(_number_not_bool), Field(ge=0, le=10_000)]
PositiveCount = Annotated[int, BeforeValidator(_number_not_bool), Field(ge=1, le=10_000)]
Fraction = Annotated[float, BeforeValidator(_number_not_bool), Field(gt=0, le=1)]
PositiveFloat = Annotated[float, BeforeValidator(_number_not_bool), Field(gt=0)]
Number = Annotated[float, BeforeValidator(_number_not_bool)]
