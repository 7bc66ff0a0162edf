"""The form in which a function is declared. No CDK here: tests and tools read declarations without it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from infra.event_sources import EventSource
from infra.grants import Grant

if TYPE_CHECKING:
    from infra.function import GridFunction
    from infra.parts import Parts
    from infra.settings import Settings


class FunctionSpec(ABC):
    """All that one function is; `GridFunction` makes it, and `wiring` connects it to its event sources.

    - `name`: of the folder of its code in `functions/`. The id of its construct is the capitalized name.
    - `published`: callers invoke the alias of its published version, which SnapStart restores.
    - `traced`: it sends traces to X-Ray, unless the operator chooses otherwise. A function that callers wait for does.
    - `recursive`: it sends messages to the queue that invokes it. Lambda would take that for a loop and stop it after 16 rounds.
    - `reserved_percent`: its share of the concurrency that an account may reserve, unless the operator chooses otherwise.
    - `grants`: what it may do with the table. Only upkeep reads the table without a key.
    - `session_grants`, of functions that serve callers: the same within one tenant. With the setting `isolate_sessions`, a session
      of its session role has these, and its own role lacks `grants`.
    - `tenantless_grants`: what its own role may do for no tenant, also where sessions are isolated.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    timeout_seconds: ClassVar[int]
    memory_mib: ClassVar[int]
    published: ClassVar[bool] = False
    traced: ClassVar[bool] = False
    recursive: ClassVar[bool] = False
    reserved_percent: ClassVar[int] = 0
    grants: ClassVar[tuple[Grant, ...]]
    session_grants: ClassVar[tuple[Grant, ...]] = ()
    tenantless_grants: ClassVar[tuple[Grant, ...]] = ()

    def build(self) -> None:  # noqa: B027  most functions need nothing
        """Make the files of its folder that are not in the repository."""

    @abstractmethod
    def environment(self, parts: "Parts") -> Mapping[str, str | None]:
        """The function's own variables, in addition to the variables of all functions; None: not set."""

    @abstractmethod
    def permit(self, function: "GridFunction", parts: "Parts") -> None:
        """Let the function use what it needs other than the table and its event sources."""

    @abstractmethod
    def event_sources(self, settings: "Settings") -> tuple[EventSource, ...]:
        """The event sources that invoke it."""
