"""A Pulumi resource provider that answers from a book: the part that is the same for every cloud."""
# ruff: noqa: N802, ARG002 - method names and signatures are those of the protocol

from collections.abc import Mapping
from typing import Any, Protocol, cast

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc

from lab.cloud.asked import Asked
from lab.cloud.changes import Same, compare
from lab.cloud.journal import Call, Journal, Refusal
from lab.cloud.wire import UNKNOWN, Properties, bare, has_unknown, to_python, to_struct

_Kind = provider_pb2.PropertyDiff.Kind
_KINDS = {
    ("add", False): _Kind.ADD,
    ("add", True): _Kind.ADD_REPLACE,
    ("delete", False): _Kind.DELETE,
    ("delete", True): _Kind.DELETE_REPLACE,
    ("update", False): _Kind.UPDATE,
    ("update", True): _Kind.UPDATE_REPLACE,
}


class Book(Protocol):
    """What one cloud answers."""

    package: str
    version: str

    def region(self) -> str:
        """The region the default provider was configured with."""
        ...

    def configure(self, settings: Mapping[str, Any]) -> None:
        """Takes the provider's own settings; called once per provider resource."""
        ...

    def forced(self, type_: str) -> frozenset[str]:
        """Properties whose change replaces the resource, dotted, without list indexes."""
        ...

    def deletes_first(self, type_: str, old: Properties, new: Properties) -> bool:
        """Whether the old resource must be gone before its replacement can exist."""
        ...

    def same(self, old: object, new: object) -> bool:
        """Whether the cloud sees two different values as one and the same (JSON order, sets)."""
        ...

    def check(self, asked: Asked, before: Properties) -> tuple[Properties, list[Refusal]]:
        """Inputs with the provider's own additions (names), and what the cloud would refuse."""
        ...

    def answer(self, asked: Asked) -> tuple[str, Properties]:
        """The id, and the outputs beyond the inputs, once the resource exists."""
        ...

    def keeps(self, asked: Asked) -> Refusal | None:
        """Why the cloud would not delete this resource, if it would not."""
        ...

    def known_early(self, type_: str) -> frozenset[str]:
        """Outputs beyond the inputs that the real provider already knows at preview."""
        ...


class RecordedProvider(provider_pb2_grpc.ResourceProviderServicer):
    """Serves one book over Pulumi's provider protocol.

    While `collecting` is set, refusals are noted but not returned, so that one preview shows them all: the
    engine stops at the first one it hears of.
    """

    def __init__(self, book: Book, journal: Journal, *, collecting: bool) -> None:
        self.book = book
        self.journal = journal
        self.collecting = collecting

    # The provider itself

    def Handshake(self, request: Any, context: Any) -> Any:
        # Without acceptSecrets the engine unwraps secrets for us and marks the same properties secret again in what we
        # return (provider_plugin.go, annotateSecrets).
        return provider_pb2.ProviderHandshakeResponse()

    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        return plugin_pb2.PluginInfo(version=self.book.version)

    def Attach(self, request: Any, context: Any) -> Any:
        return empty_pb2.Empty()

    def Cancel(self, request: Any, context: Any) -> Any:
        return empty_pb2.Empty()

    def GetSchema(self, request: Any, context: Any) -> Any:
        return provider_pb2.GetSchemaResponse(
            schema=f'{{"name":"{self.book.package}","version":"{self.book.version}"}}'
        )

    def CheckConfig(self, request: Any, context: Any) -> Any:
        return provider_pb2.CheckResponse(inputs=request.news)

    def DiffConfig(self, request: Any, context: Any) -> Any:
        return diff_response(
            to_python(request.old_inputs), to_python(request.news), frozenset(), self.book.same
        )

    def Configure(self, request: Any, context: Any) -> Any:
        self.book.configure(to_python(request.args))
        return provider_pb2.ConfigureResponse(supportsPreview=True)

    # Resources

    def Check(self, request: Any, context: Any) -> Any:
        inputs, refusals = self.book.check(
            self._asked(request, to_python(request.news)), to_python(request.olds)
        )
        for refusal in refusals:
            self.journal.refuse(refusal)
        failures = [] if self.collecting else [provider_pb2.CheckFailure(reason=r.reason) for r in refusals]
        return provider_pb2.CheckResponse(inputs=to_struct(inputs), failures=failures)

    def Diff(self, request: Any, context: Any) -> Any:
        old, new = bare(to_python(request.old_inputs)), bare(to_python(request.news))
        return diff_response(
            old,
            new,
            self.book.forced(request.type),
            self.book.same,
            deletes_first=self.book.deletes_first(request.type, old, new),
        )

    def Create(self, request: Any, context: Any) -> Any:
        asked = self._asked(request, to_python(request.properties))
        identity, extra = self.book.answer(asked)
        if request.preview:
            return provider_pb2.CreateResponse(properties=to_struct(self._planned(asked, extra)))
        self._record("create", request, identity)
        return provider_pb2.CreateResponse(id=identity, properties=to_struct(_answered(extra, asked.inputs)))

    def Update(self, request: Any, context: Any) -> Any:
        asked = self._asked(request, to_python(request.news))
        _, extra = self.book.answer(asked)
        if not request.preview:
            self._record("update", request, request.id)
        return provider_pb2.UpdateResponse(properties=to_struct(_answered(extra, asked.inputs)))

    def Delete(self, request: Any, context: Any) -> Any:
        refusal = self.book.keeps(self._asked(request, to_python(request.old_inputs)))
        if refusal is not None:
            self.journal.refuse(refusal)
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, refusal.reason)
        self._record("delete", request, request.id)
        return empty_pb2.Empty()

    def Read(self, request: Any, context: Any) -> Any:
        if not request.inputs.fields and not request.properties.fields:
            self._refuse_question(f"read {request.type} {request.id}", context)
        return provider_pb2.ReadResponse(id=request.id, properties=request.properties, inputs=request.inputs)

    def Invoke(self, request: Any, context: Any) -> Any:
        return self._refuse_question(f"call {request.tok}", context)

    def Call(self, request: Any, context: Any) -> Any:
        return self._refuse_question(f"call {request.tok}", context)

    def Construct(self, request: Any, context: Any) -> Any:
        return self._refuse_question(f"render {request.type} {request.name}", context)

    # Parts of the above

    def _asked(self, request: Any, inputs: Properties) -> Asked:
        paths = sorted(path for path in self.book.forced(request.type) if not path.startswith("-"))
        forced = {path: _at(inputs, path) for path in paths}
        return Asked(
            urn=request.urn,
            type=request.type,
            name=request.name,
            inputs=inputs,
            region=str(inputs.get("region") or self.book.region()),
            forced=forced,
            id=str(getattr(request, "id", "")),
        )

    def _planned(self, asked: Asked, extra: Properties) -> Properties:
        early = self.book.known_early(asked.type)
        unknown = {
            key: value if key in early and not has_unknown(value) else UNKNOWN for key, value in extra.items()
        }
        return {**unknown, **asked.inputs}

    def _record(self, verb: Any, request: Any, identity: str) -> None:
        self.journal.record(
            Call(verb=verb, urn=request.urn, type=request.type, name=request.name, id=identity)
        )

    def _refuse_question(self, what: str, context: Any) -> Any:
        refusal = Refusal(
            urn="",
            type=self.book.package,
            name="provider",
            path="",
            given=f"a question to the cloud while building: {what}",
            allowed="resources only, so that a preview needs no cloud",
            fix="take the value from the stack's settings, or ask beforehand with `headroom preflight`",
        )
        self.journal.refuse(refusal)
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, refusal.reason)


def _at(inputs: Properties, path: str) -> Any:
    value: object = inputs
    for part in path.split("."):
        if isinstance(value, list):
            items = cast(list[object], value)
            value = items[0] if items else None
        value = cast(Properties, value).get(part) if isinstance(value, dict) else None
    return value


def _answered(extra: Properties, inputs: Properties) -> Properties:
    """Inputs and the cloud's additions; where both are objects the additions go inside."""
    merged = {**extra, **inputs}
    for key, value in extra.items():
        if isinstance(value, dict) and isinstance(inputs.get(key), dict):
            merged[key] = _answered(cast(Properties, value), inputs[key])
    return merged


def _hidden(extra: Properties, inputs: Properties) -> Properties:
    """The same as long as the cloud has not answered: every addition is unknown."""
    merged: Properties = {**dict.fromkeys(extra, UNKNOWN), **inputs}
    for key, value in extra.items():
        if isinstance(value, dict) and isinstance(inputs.get(key), dict):
            merged[key] = _hidden(cast(Properties, value), inputs[key])
    return merged


def diff_response(
    old: Properties, new: Properties, forced: frozenset[str], same: Same, *, deletes_first: bool = False
) -> Any:
    """The engine's form of a difference between two sets of inputs."""
    changes = compare(old, new, forced, same)
    replaced = any(change.replaces for change in changes)
    some = provider_pb2.DiffResponse.DIFF_SOME if changes else provider_pb2.DiffResponse.DIFF_NONE
    detailed = {
        change.path: provider_pb2.PropertyDiff(kind=_KINDS[change.kind, change.replaces], inputDiff=True)
        for change in changes
    }
    roots = sorted({change.path.split(".")[0].split("[")[0] for change in changes})
    forced_roots = sorted({change.path.split(".")[0].split("[")[0] for change in changes if change.replaces})
    return provider_pb2.DiffResponse(
        changes=some,
        diffs=roots,
        replaces=forced_roots,
        detailedDiff=detailed,
        hasDetailedDiff=True,
        deleteBeforeReplace=replaced and deletes_first,
    )
