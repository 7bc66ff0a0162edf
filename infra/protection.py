"""The stack's output that says whether the stack refuses to be deleted. No CDK here: `./dev deploy` reads it."""

from typing import Final

from infra.settings import Settings

OUTPUT: Final = "Protected"
"""The output's name."""

YES: Final = "yes"
NOT_YET: Final = "no: deploy again to protect the stack, the table and the users against deletion"
NO: Final = "no: protect=false"


def protection(settings: Settings) -> str:
    """The output's value."""
    if settings.guarded:
        return YES
    return NOT_YET if settings.protect else NO
