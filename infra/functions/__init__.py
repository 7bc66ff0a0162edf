"""The Lambda functions, one module each: code, size, environment, grants and event sources.

A module declares a `FunctionSpec`. No CDK here: tests and tools import the declarations without it.
"""

from collections.abc import Mapping
from typing import Final

from infra.function_spec import FunctionSpec
from infra.functions.command import Command
from infra.functions.deliver import Deliver
from infra.functions.live import Live
from infra.functions.maintain import Maintain
from infra.functions.query import Query
from infra.functions.socket import Socket
from infra.functions.upkeep import Upkeep

FUNCTIONS: Final[Mapping[str, FunctionSpec]] = {
    spec.name: spec for spec in (Query(), Command(), Live(), Socket(), Deliver(), Maintain(), Upkeep())
}
"""Every function by its name."""
