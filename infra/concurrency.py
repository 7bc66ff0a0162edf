"""The stack's output about an account with little concurrency. No CDK here."""

from typing import Final

from infra.settings import Settings

OUTPUT: Final = "Concurrency"
"""The output's name. There is none in an account with more."""

QUOTA: Final = "L-B99A9384"
"""Lambda's quota of concurrent executions in Service Quotas."""

WANTED: Final = 1_000
"""The quota to ask for."""


def concurrency_note(settings: Settings) -> str | None:
    """Return a note on the settings chosen for a small account; None for another."""
    if not settings.small_account:
        return None
    return (
        f"Lambda runs {settings.account_concurrency} functions at once in this account, so background work is "
        f"limited: parallelization {settings.parallelization}, workers {settings.workers}, deliverers "
        f"{settings.deliverers}, one push at a time. Ask Service Quotas for {WANTED:,} concurrent executions of "
        f"Lambda ({QUOTA}), then deploy again."
    )
