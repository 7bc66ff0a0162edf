"""The functions' configuration from the environment, checked at start."""

import os

from aws_lambda_powertools import Logger, Metrics, single_metric
from aws_lambda_powertools.metrics import MetricUnit

from gridview.dynamodb.client import Transport
from gridview.support import fold_pace, forms


class ConfigurationError(Exception):
    """An environment variable is missing or wrong; raised when the function starts."""


def required(name: str) -> str:
    """Return the value of an environment variable. ConfigurationError if it is missing or empty."""
    value = os.environ.get(name, "")
    if not value:
        raise ConfigurationError(f"The environment variable {name} is missing.")
    return value


def session_role() -> str:
    """Return the ARN of the role that is assumed for each tenant (SESSION_ROLE_ARN); empty, the default: none
    is.
    """
    return os.environ.get("SESSION_ROLE_ARN", "")


def stack_metrics() -> Metrics:
    """Return the function's metrics. Each carries the stack's name (STACK_NAME): stages share the metrics of
    their account.
    """
    metrics = Metrics()
    metrics.set_default_dimensions(stack=_stack())
    return metrics


def stack_transport(logger: Logger) -> Transport:
    """Return the way of calls to the table (TRANSPORT): `direct`, the default, or `botocore`.

    Each call that botocore carries out in the direct client's place counts as a `TransportFallback` of the
    stack; the first of each reason is logged.
    """
    text = os.environ.get("TRANSPORT", "direct")
    if text not in ("direct", "botocore"):
        raise ConfigurationError("The environment variable TRANSPORT must be direct or botocore.")
    dimensions = {"service": "table", "stack": _stack()}
    logged = set[str]()

    def count(reason: str) -> None:
        # Parallel calls fall back at the same time. The function's own metrics are not made for threads.
        with single_metric(
            name="TransportFallback", unit=MetricUnit.Count, value=1, default_dimensions=dimensions
        ):
            if reason not in logged:
                logged.add(reason)
                logger.warning("botocore made a call in place of the direct client", extra={"reason": reason})

    return Transport(text == "direct", count)


def _stack() -> str:
    return os.environ.get("STACK_NAME", "local")


def works_alone() -> bool:
    """Return whether one invocation of the function works at a time (SINGLE_WORKER), as in a small account."""
    return os.environ.get("SINGLE_WORKER") == "true"


def writes_per_second() -> int:
    """Return the rate that each tenant may write at (WRITES_PER_SECOND); 0, the default, is no limit."""
    return _whole("WRITES_PER_SECOND", 0)


def polls_per_tenant() -> int:
    """Return how many long polls a tenant may have open (POLLS_PER_TENANT, default 90), at least 1."""
    return max(_whole("POLLS_PER_TENANT", 90), 1)


def long_query_percent() -> int:
    """Return the percentage of a container's time that a user's long queries may take (LONG_QUERY_PERCENT); 100,
    the default, is no limit.
    """
    percent = _whole("LONG_QUERY_PERCENT", 100)
    if not 1 <= percent <= 100:
        raise ConfigurationError(
            "The environment variable LONG_QUERY_PERCENT must be a number from 1 to 100."
        )
    return percent


def projects_per_tenant() -> int:
    """Return how many projects a tenant may have (PROJECTS_PER_TENANT); 0, the default, is no limit."""
    return _whole("PROJECTS_PER_TENANT", 0)


def _whole(name: str, default: int) -> int:
    text = os.environ.get(name, str(default))
    if not (text.isascii() and text.isdigit()):
        raise ConfigurationError(f"The environment variable {name} must be a whole number.")
    return int(text)


def use_forms() -> None:
    """Have this process write the stored forms that the stack's functions may write (STORED_FORM); without it, all
    that it knows.
    """
    text = os.environ.get("STORED_FORM", "")
    if not text:
        return
    try:
        forms.write_up_to(int(text))
    except ValueError:
        raise ConfigurationError(
            f"The environment variable STORED_FORM must be a number from {forms.OLDEST} to {forms.NEWEST}."
        ) from None


def use_fold_pace() -> None:
    """Set how much waits for the fold (FOLD_WEIGHT), and for how many seconds (FOLD_SECONDS); by default,
    `fold_pace.Pace`.
    """
    default = fold_pace.Pace()
    wanted = _whole("FOLD_WEIGHT", default.weight), _whole("FOLD_SECONDS", default.seconds)
    try:
        fold_pace.use(fold_pace.Pace(*wanted))
    except ValueError as error:
        raise ConfigurationError(
            f"The environment variables FOLD_WEIGHT and FOLD_SECONDS must be {error}."
        ) from None


def webhooks_to_localhost() -> bool:
    """Return whether webhooks may be sent to servers of this machine (WEBHOOKS_TO_LOCALHOST is `true`); only
    on a local stack.
    """
    text = os.environ.get("WEBHOOKS_TO_LOCALHOST", "false")
    if text not in ("true", "false"):
        raise ConfigurationError("The environment variable WEBHOOKS_TO_LOCALHOST must be true or false.")
    return text == "true"
