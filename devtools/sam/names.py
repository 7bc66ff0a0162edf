"""The names of the variables that the template for SAM sets and the entry reads."""

from typing import Final

HANDLER: Final = "LOCAL_HANDLER"
"""The handler that the entry calls, as `module.function`."""

ROUTES_WITH_TOKEN: Final = "LOCAL_ROUTES_WITH_TOKEN"  # noqa: S105 - no secret
"""The keys of the routes that require a token, as a JSON list."""

TOKEN_KEY: Final = "LOCAL_TOKEN_KEY"  # noqa: S105 - the name of a variable
"""The key that signs the local stack's tokens."""
