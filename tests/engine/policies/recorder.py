"""A provider of any package: echoes inputs, makes up ids, leaves `arn` unknown in preview. Creates nothing."""

# ruff: noqa: N802, ARG002 - names and signatures are the protocol's.
from collections.abc import Generator
from concurrent import futures
from contextlib import contextmanager
from typing import Any

import grpc
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime import proto
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE


class Recorder(provider_pb2_grpc.ResourceProviderServicer):
    """What the engine needs of a provider; `created` lists the names that an update created.

    Outputs carry `spec.replicas: 3` on a Deployment that states none, as the API server's defaults would.
    """

    def __init__(self) -> None:
        self.created: list[str] = []

    def Handshake(self, request: Any, context: Any) -> Any:
        return provider_pb2.ProviderHandshakeResponse(accept_secrets=True, accept_resources=True)

    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        return proto.PluginInfo(version="9.9.9")

    def GetSchema(self, request: Any, context: Any) -> Any:
        return provider_pb2.GetSchemaResponse(schema="{}")

    def CheckConfig(self, request: Any, context: Any) -> Any:
        return provider_pb2.CheckResponse(inputs=request.news)

    def DiffConfig(self, request: Any, context: Any) -> Any:
        return provider_pb2.DiffResponse(changes=provider_pb2.DiffResponse.DIFF_NONE)

    def Configure(self, request: Any, context: Any) -> Any:
        return provider_pb2.ConfigureResponse(acceptSecrets=True, supportsPreview=True, acceptResources=True)

    def Check(self, request: Any, context: Any) -> Any:
        return provider_pb2.CheckResponse(inputs=request.news)

    def Diff(self, request: Any, context: Any) -> Any:
        kinds = provider_pb2.DiffResponse
        return kinds(changes=kinds.DIFF_NONE if request.old_inputs == request.news else kinds.DIFF_SOME)

    def Create(self, request: Any, context: Any) -> Any:
        outputs = _outputs(request.properties, preview=request.preview)
        if request.preview:
            return provider_pb2.CreateResponse(properties=outputs)
        self.created.append(request.urn.rsplit("::", 1)[-1])
        return provider_pb2.CreateResponse(id=f"id-{len(self.created)}", properties=outputs)

    def Update(self, request: Any, context: Any) -> Any:
        return provider_pb2.UpdateResponse(properties=_outputs(request.news, preview=request.preview))

    def Delete(self, request: Any, context: Any) -> Any:
        return empty_pb2.Empty()

    def Attach(self, request: Any, context: Any) -> Any:
        return empty_pb2.Empty()

    def Cancel(self, request: Any, context: Any) -> Any:
        return empty_pb2.Empty()


def _outputs(inputs: struct_pb2.Struct, *, preview: bool) -> struct_pb2.Struct:
    outputs = struct_pb2.Struct()
    outputs.CopyFrom(inputs)
    outputs["arn"] = UNKNOWN_STRING_VALUE if preview else "arn:recorded"
    if inputs.fields["kind"].string_value == "Deployment" and not preview:
        spec = outputs.fields["spec"].struct_value
        if "replicas" not in spec.fields:
            spec["replicas"] = 3
    return outputs


@contextmanager
def serving() -> Generator[tuple[Recorder, int]]:
    """A recorder on a free loopback port."""
    recorder = Recorder()
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=8))
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(recorder, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield recorder, port
    finally:
        server.stop(grace=None).wait()
