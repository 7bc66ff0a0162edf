"""The queue of poison issues."""

from gridview.derive.images import Poison
from gridview.encoding.json_codec import dumps
from gridview.support import aws


class DeadLetters:
    """Sends poison issues to SQS: `{"key", "version", "error"}`. A redrive reads the document again."""

    def __init__(self, queue_url: str) -> None:
        self._queue_url = queue_url
        self._client = aws.client("sqs")

    def send(self, poison: Poison) -> None:
        """Send one message: one request to SQS."""
        self._client.send_message(QueueUrl=self._queue_url, MessageBody=dumps(poison._asdict()).decode())
