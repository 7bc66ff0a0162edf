"""Numbers of the deployment that depend on each other, or that the local stack shares. No CDK here: any code can import them."""

from typing import Final

ANSWER_SECONDS: Final = 29
"""Timeout of a function that API Gateway waits for. It gives up after 30 seconds."""

BACKGROUND_SECONDS: Final = 60
"""Timeout of a function that no caller waits for."""

TOKEN_MINUTES: Final = 15
"""How long an ID token lives. So long a user who is disabled, or whose role is changed, keeps what the token says."""

CLOCK_MARGIN: Final = 15
"""Allowance in seconds for the clock difference of two containers, and for a write still in flight when its container was ended."""

SETTLE_SECONDS: Final = max(ANSWER_SECONDS, BACKGROUND_SECONDS) + CLOCK_MARGIN
"""Seconds after a change of definitions until nobody acts on the older ones any more.

In the worst case a container read the project's epoch just before the change, and then worked for a whole invocation.
"""

WEBHOOK_BATCH: Final = 10
"""Webhooks that one invocation delivers to side by side: it mostly waits for their receivers."""

BATCH_SIZE: Final = 100
"""The most stream records that the consumer receives at once.

One invocation then serves as many issues as its eight threads derive within seconds, and each ledger read is shared. Issues with
hundreds of indexed fields can make a batch too large for the timeout. It is then bisected, which costs no retry.
"""

RETRIES: Final = 10
"""Retries of one batch.

Its shard waits meanwhile, so they are few. Few suffice: the consumer itself sends poison issues away, and the SDK's and the
consumer's own retries absorb throttling first. A batch given up is kept whole, and redriven from the documents as they are then:
giving up costs a command, and no data.
"""

PUSH_RETRIES: Final = 5
"""Retries of one batch of pushes. What is given up is told with the next commit, or when a client subscribes anew: it goes by
cursors.
"""

MAX_RECORD_AGE_HOURS: Final = 12
"""A stream deletes its records after 24 hours, without a trace. Lambda's retries end at this age even if it could not invoke the
consumer at all (throttled for hours, say). At half of the 24 hours the records go to the bucket, which leaves the other half to
work off those that follow.
"""

RETENTION_DAYS: Final = 14
"""How long a dead letter or failed batch waits for a redrive: SQS's maximum. Tombstones of removed issues live longer."""

NO_SNAP_START: Final = ("ap-east-2", "ap-southeast-6")
"""The regions in which Lambda takes no snapshots of Python functions (Taipei and New Zealand)."""
