"""The queue of hints at due jobs.

The messages of each tenant are a group of an SQS fair queue. While one tenant's hints take most of the workers' time,
those of others come first.

Only a job's item has its true state. A hint names present work, so it may be lost, late or double. Each
minute the function hints again at every due job. A worker follows a hint only while it names the instant at
which the job is due.
"""

import math
from functools import cached_property
from typing import Any

from gridview.encoding import keys
from gridview.encoding.json_codec import dumps, loads
from gridview.schema.jobs import Hint
from gridview.support import aws, clock

_LONGEST = 900
"""The most seconds for which SQS delays a message."""


class JobQueue:
    """Sends hints to SQS."""

    def __init__(self, queue_url: str) -> None:
        self._queue_url = queue_url

    @cached_property
    def _client(self) -> Any:
        """Made when the first hint is sent: few containers that serve requests ever send one."""
        return aws.client("sqs")

    def send(self, hint: Hint) -> None:
        """Send a hint that arrives when its job is due: one request to SQS."""
        delay = min(max(math.ceil(clock.until(hint.due)), 0), _LONGEST)
        self._client.send_message(
            QueueUrl=self._queue_url,
            MessageBody=body_of(hint),
            DelaySeconds=delay,
            MessageGroupId=keys.parse_tenant(hint.partition),
        )


def body_of(hint: Hint) -> str:
    """Return the message that carries a hint: `{"partition", "due", "part"}`."""
    return dumps(hint._asdict()).decode()


def hint_in(body: str) -> Hint:
    """Return the hint that a message carries."""
    return Hint(**loads(body))
