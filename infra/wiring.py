"""Connects functions to their event sources, as their declarations state."""

from collections.abc import Mapping
from typing import assert_never

from constructs import Construct

from infra import schedules
from infra.event_sources import Endpoints, Hints, Schedule, SocketRoutes, StreamRecords
from infra.function import GridFunction
from infra.parts import Parts
from infra.stream import StreamMapping


def connect(
    scope: Construct, functions: Mapping[str, GridFunction], parts: Parts
) -> dict[str, StreamMapping]:
    """Make the event sources of all functions; returns the stream's mappings, by function."""
    mappings = {}
    answering = {}
    queues = {"jobs": parts.jobs, "webhooks": parts.webhooks, "retries": parts.retries}
    for name, function in functions.items():
        sources = function.spec.event_sources(parts.settings)
        if any(isinstance(source, Schedule) for source in sources):
            schedules.no_retries(function)
        for source in sources:
            match source:
                case Endpoints():
                    answering[name] = function
                case SocketRoutes():
                    parts.sockets.add_routes(function)
                case StreamRecords():
                    mappings[name] = StreamMapping(scope, source=source, function=function, parts=parts)
                case Hints():
                    queues[source.queue].deliver_to(
                        function, invocations=source.invocations, batch=source.batch
                    )
                case Schedule():
                    schedules.schedule(_group(scope, source.construct), function, source)
                case _:
                    assert_never(source)
    parts.ingress.add_routes(identity=parts.identity, functions=answering)
    return mappings


def _group(scope: Construct, name: str) -> Construct:
    """The construct of this name, which is made if there is none."""
    found = scope.node.try_find_child(name)
    return found if isinstance(found, Construct) else Construct(scope, name)
