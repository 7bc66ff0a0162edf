"""The queue of poison issues. Besides the `dynamodb` package, the one module that talks to AWS."""

import boto3

from gridview.encoding.json_codec import dumps
from gridview.index.images import Poison


class DeadLetters:
    """Sends poison issues to SQS: `{"key", "version", "error"}`. A redrive reads the document anew."""

    def __init__(self, queue_url: str) -> None:
        self._queue_url = queue_url
        self._client = boto3.client("sqs")

    def send(self, poison: Poison) -> None:
        """Send one message: one request to SQS."""
        self._client.send_message(QueueUrl=self._queue_url, MessageBody=dumps(poison._asdict()).decode())
