"""The bucket of batches that wait, in memory."""

from dataclasses import replace

from gridview.maintenance.waiting import Waiting
from gridview.support.errors import Overloaded


class MemoryBatches:
    """`gridview.maintenance.batch_bucket.Batches`, in a dictionary."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}

    def put(self, name: str, content: bytes) -> None:
        """As for `Batches`."""
        self.contents[name] = content

    def read(self, name: str) -> bytes | None:
        """As for `Batches`."""
        return self.contents.get(name)

    def remove(self, name: str) -> None:
        """As for `Batches`."""
        self.contents.pop(name, None)

    def names(self) -> list[str]:
        """As for `Batches`."""
        return sorted(self.contents)[:1000]

    def make_due(self, now: int) -> None:
        """Let no batch wait any longer."""
        for name in self.names():
            waiting = Waiting.named(name)
            if waiting is not None:
                self.contents[replace(waiting, due=now).name] = self.contents.pop(name)


class NoBatches(MemoryBatches):
    """A bucket that takes nothing: the consumer reports what the table refuses, and Lambda delivers it again."""

    def put(self, name: str, content: bytes) -> None:
        """Refuse."""
        del name, content
        raise Overloaded("The bucket of batches cannot be reached; try again.")
