"""The stack's output that names the guard of tenants' keys. No CDK here: `./dev smoke` reads it."""

from typing import Final

from infra.settings import Settings

OUTPUT: Final = "Isolation"
"""The output's name."""

SESSIONS: Final = "sessions"
NONE: Final = "none: isolate-sessions=false"
EMULATED: Final = "sessions, on an emulator that does not check keys"


def isolation(settings: Settings) -> str:
    """The output's value."""
    if not settings.isolate_sessions:
        return NONE
    return EMULATED if settings.emulator else SESSIONS
