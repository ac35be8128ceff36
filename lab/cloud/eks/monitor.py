"""Registers a component's children with the engine, as a component plugin does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import grpc
from pulumi.runtime.proto import resource_pb2, resource_pb2_grpc

from lab.cloud.eks.values import output
from lab.cloud.servers import LIMITS
from lab.cloud.wire import UNKNOWN, Properties, bare, dependencies, reference, to_python, to_struct


@dataclass(frozen=True, kw_only=True)
class Registered:
    """A resource that the engine has taken. `id` is empty for a component and UNKNOWN during the preview of
    a creation."""

    urn: str
    id: str
    version: str
    state: Properties = field(default_factory=dict[str, Any])

    def get(self, key: str) -> Any:
        """An output of the resource, as an Output that depends on it."""
        value = self.id if key == "id" else self.state.get(key, UNKNOWN if self.id == UNKNOWN else None)
        return output(bare(value), [self.urn])

    @property
    def reference(self) -> Properties:
        """The resource itself as a property of another."""
        return reference(self.urn, "" if self.id == UNKNOWN else self.id, self.version)


class Monitor:
    """The engine's resource monitor for one construction.

    `providers` maps packages to provider references; `versions` to the plugin versions that children ask for.
    """

    def __init__(self, address: str, providers: Mapping[str, str], versions: Mapping[str, str]) -> None:
        self._channel = grpc.insecure_channel(address, options=LIMITS)
        self._stub: Any = resource_pb2_grpc.ResourceMonitorStub(self._channel)
        self._providers = dict(providers)
        self._versions = versions

    def close(self) -> None:
        self._channel.close()

    def component(
        self, type_: str, name: str, parent: str, depends: Sequence[str] = (), aliases: Sequence[Any] = ()
    ) -> Registered:
        """Registers a component, to which children are then added."""
        response = self._stub.RegisterResource(
            resource_pb2.RegisterResourceRequest(
                type=type_,
                name=name,
                parent=parent,
                custom=False,
                acceptSecrets=True,
                acceptResources=True,
                supportsPartialValues=True,
                dependencies=depends,
                aliases=aliases,
                providers=self._providers,
            )
        )
        return Registered(urn=response.urn, id="", version="")

    def outputs(self, component: Registered, state: Mapping[str, Any]) -> None:
        """Ends the component with its outputs."""
        self._stub.RegisterResourceOutputs(
            resource_pb2.RegisterResourceOutputsRequest(urn=component.urn, outputs=to_struct(state))
        )

    def resource(
        self,
        type_: str,
        name: str,
        inputs: Mapping[str, Any],
        *,
        parent: str,
        depends: Sequence[str] = (),
        ignore: Sequence[str] = (),
        provider: str | None = None,
    ) -> Registered:
        """Registers a resource and waits until the engine has made it; absent inputs are left out."""
        given = {key: value for key, value in inputs.items() if value is not None}
        by_property = {key: sorted(set(dependencies(value))) for key, value in given.items()}
        package = type_.removeprefix("pulumi:providers:").partition(":")[0]
        response = self._stub.RegisterResource(
            resource_pb2.RegisterResourceRequest(
                type=type_,
                name=name,
                parent=parent,
                custom=True,
                object=to_struct(given),
                acceptSecrets=True,
                acceptResources=True,
                supportsPartialValues=True,
                dependencies=sorted({*depends, *(urn for urns in by_property.values() for urn in urns)}),
                propertyDependencies={
                    key: resource_pb2.RegisterResourceRequest.PropertyDependencies(urns=urns)
                    for key, urns in by_property.items()
                },
                provider=self._providers.get(package, "") if provider is None else provider,
                version=self._versions.get(package, ""),
                ignoreChanges=ignore,
            )
        )
        return Registered(
            urn=response.urn,
            id=response.id or UNKNOWN,
            version=self._versions.get(package, ""),
            state=to_python(response.object),
        )

    def find(self, resource: Mapping[str, Any]) -> Registered:
        """The state of a resource that the program passed by reference."""
        urn = str(resource["urn"])
        response = self._stub.Invoke(
            resource_pb2.ResourceInvokeRequest(
                tok="pulumi:pulumi:getResource", args=to_struct({"urn": urn}), acceptResources=True
            )
        )
        found = to_python(getattr(response, "return"))
        return Registered(
            urn=urn,
            id=str(found.get("id") or UNKNOWN),
            version=str(resource.get("packageVersion", "")),
            state=found.get("state") or {},
        )
