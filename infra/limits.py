"""Numbers of the deployment that hang together, or that the local stack shares: no CDK here, so that anybody may import them."""

import math
from typing import Final

from gridview.schema import store

TIMEOUTS: Final = {"query": 29, "command": 29, "maintain": 60, "upkeep": 60}
"""Seconds after which Lambda ends an invocation, by function. An HTTP API gives up after 30."""

CLOCK_MARGIN: Final = 10
"""Seconds by which the clocks of two containers, and a write still under way when its container was ended, may be late."""

SETTLE_SECONDS: Final = max(TIMEOUTS.values()) + math.ceil(store.MAX_AGE) + CLOCK_MARGIN
"""Seconds after a change of definitions from which on nobody acts on the older ones: a container took up the old catalog just
before the change, used it as long as a catalog may be kept, and then worked with it for as long as an invocation may take."""

BATCH_SIZE: Final = 100
"""Stream records that the consumer is given at most.

One invocation then serves as many issues as its eight threads derive within seconds, and each ledger read is shared. Issues with
hundreds of indexed fields can make a batch too large for the timeout: then it is bisected, which costs no retry.
"""

RETRIES: Final = 10
"""Further invocations for one and the same batch.

Its shard waits meanwhile, so they are few; and few are enough, since what fails for a reason of its own (a poison issue) is sent
away by the consumer, and throttling is met by the SDK's and the consumer's own retries first. A batch given up is kept whole and
redriven from the documents as they are then: giving up costs a command, and no data.
"""

MAX_RECORD_AGE_HOURS: Final = 12
"""A stream forgets its records after 24 hours, without a trace. Lambda's retries end with the records' age also where it could
not even invoke the consumer (throttled for hours, say); at half of the time they go to the bucket, and half is left to work off
what follows."""

RETENTION_DAYS: Final = 14
"""How long a dead letter or failed batch waits for a redrive: the most that SQS can. Tombstones of removed issues outlive it."""
