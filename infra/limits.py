"""Numbers of the deployment that depend on each other, or that the local stack shares. No CDK here: any code can import them."""

from typing import Final

ANSWER_SECONDS: Final = 29
"""Timeout of a function that API Gateway waits for. It gives up after 30 seconds."""

BACKGROUND_SECONDS: Final = 60
"""Timeout of a function that no caller waits for."""

TOKEN_MINUTES: Final = 15
"""How long an ID token lives.

So long a user who is disabled, or whose role is changed, keeps the rights of the token.
"""

CLOCK_MARGIN: Final = 15
"""Allowance in seconds for the clock difference of two containers, and for a write still in flight when its container was ended."""

SETTLE_SECONDS: Final = max(ANSWER_SECONDS, BACKGROUND_SECONDS) + CLOCK_MARGIN
"""Seconds after a change of definitions until no function acts on the older ones any more.

In the worst case a container read the project's epoch just before the change, and then worked for a whole invocation.
"""

WEBHOOK_BATCH: Final = 10
"""Webhooks that one invocation delivers to side by side: it mostly waits for their receivers."""

BATCH_SIZE: Final = 100
"""The most stream records that the consumer receives at once.

One invocation then serves as many issues as its eight threads derive within seconds, and each ledger read is shared. With all 400
fields indexed, a batch is 42,000 writes of 6 ms by eight threads: 32 s, within the timeout.
"""

LONGEST_PAUSE_SECONDS: Final = 60
"""Seconds that Lambda may wait before a retry. AWS documents no figure: this is more than expected."""

HELD_SECONDS: Final = 15 * 60
"""Seconds that a batch may hold its shard, and with it the index of all tenants on the shard."""

RETRIES: Final = 7
"""Retries of one batch of the consumer that crashes or runs out of time, or whose history the table refuses.

The highest number with (RETRIES + 1) * BACKGROUND_SECONDS + RETRIES * LONGEST_PAUSE_SECONDS <= HELD_SECONDS. The batch is not
bisected: 100 records that crash would be 199 invocations and their retries. A batch given up is kept whole, and upkeep cuts it up
where no shard waits. Throttled records use up no retry, because the consumer hands them over.
"""

PUSH_RETRIES: Final = 5
"""Retries of one batch of pushes.

Dropped changes are sent with the next commit or the next subscription, since pushes go by cursors.
"""

MAX_RECORD_AGE_HOURS: Final = 12
"""The age at which the stream's retries end.

A stream deletes its records after 24 hours, without a trace. Lambda's retries end at this age even if it could not
invoke the consumer at all (throttled for hours, say). After half of the 24 hours the records go to the bucket. The
other half remains for the records that follow.
"""

KEY_WRITE_UNITS: Final = 1_000
"""Write units a second that DynamoDB takes for one partition key, of the table or of an index. A GSI key that takes no more
throttles the writes of the table that it lists."""

UNITS_OF_AN_EDIT: Final = 2
"""Write units that an edit of an issue takes of one key, at most.

The key is the order `updated` of a project in GSI1. The entry is removed at its old place and put at its new one.

A new issue takes 1 in `created` and 1 in `updated`. In the list of documents it takes 1 for each KB.
"""

WRITES_OF_A_KEY: Final = KEY_WRITE_UNITS // UNITS_OF_AN_EDIT
"""Writes of issues a second that one project takes: 500, for documents of up to 2 KB."""

IMPORTED_PER_SECOND: Final = WRITES_OF_A_KEY // 2
"""Rows a second of an import, by default: half of what a project takes, so that people can write meanwhile."""

RETENTION_DAYS: Final = 14
"""How long a dead letter or failed batch waits for a redrive: SQS's maximum. Tombstones of removed issues live longer."""

NO_SNAP_START: Final = ("ap-east-2", "ap-southeast-6")
"""The regions in which Lambda takes no snapshots of Python functions (Taipei and New Zealand)."""
