"""The errors of writes to the table."""

from gridview.dynamodb.expressions import Item
from gridview.support.errors import LimitExceeded


class ConditionFailed(Exception):
    """The condition failed; `item` is the stored item (None: there is none)."""

    def __init__(self, item: Item | None = None) -> None:
        super().__init__("the condition failed")
        self.item = item

    def is_repeat_of(self, item: Item) -> bool:
        """Return whether the very item that was to be written is stored: the SDK repeated a request whose
        answer was lost.
        """
        return self.item == item


class ItemTooLarge(LimitExceeded):
    """DynamoDB stores at most 400 KB in one item."""


class TransactionFailed(Exception):
    """A transaction lost a race; `failed` are the positions of the writes whose conditions failed."""

    def __init__(self, failed: tuple[int, ...]) -> None:
        super().__init__("a condition of the transaction failed")
        self.failed = failed
