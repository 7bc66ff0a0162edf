"""What a write to the table may meet."""

from gridview.dynamodb.expressions import Item
from gridview.support.errors import Unprocessable


class ConditionFailed(Exception):
    """A conditional write found something else than it asked for; `item` is what stands there (None: nothing)."""

    def __init__(self, item: Item | None = None) -> None:
        super().__init__("the condition of a write does not hold")
        self.item = item


class ItemTooLarge(Unprocessable):
    """DynamoDB takes 400 KB as one item."""


class TransactionFailed(Exception):
    """A transaction lost a race; `failed` are the places of the writes whose conditions do not hold."""

    def __init__(self, failed: tuple[int, ...]) -> None:
        super().__init__("a condition of a transaction does not hold")
        self.failed = failed
