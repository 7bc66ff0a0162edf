"""Carries out the nodes of a plan by steps that ask for reads and are sent the answers. Pure.

Steps are a generator. All reads that it yields together are one round; its return value is the node's result. So a node
knows only what it needs next, not how that is read:

    def run(node):
        snapshot = yield from ask_directories(node)
        ...
        return rows
"""

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from gridview.query.plan import DirectoryScan, Node
from gridview.view.reads import Read, ReadDirectories, Snapshot

Result = TypeVar("Result")


class Ask(NamedTuple):
    """A read, and the node that needs it."""

    node: Node
    read: Read


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """Facts about a node that is carried out, for `explain`."""

    node: Node
    facts: dict[str, Any]


class AtHand(NamedTuple):
    """Reads that are answered only if they take no call."""

    asks: list[Ask]


class RoundsTaken:
    """A request for the number of rounds so far, for steps that choose by how many are left."""


Steps = Generator[list[Ask] | AtHand | NodeFacts | RoundsTaken, Any, Result]
"""The values that it yields, and the values that it is sent back:

- `list[Ask]`: the reads of a round. Back: their answers, in order.
- `AtHand`: reads. Back: their answers, or None if they take a call.
- `NodeFacts`: facts. Back: None.
- `RoundsTaken`. Back: the number of rounds.
"""


def ask(node: Node, read: Read) -> Steps[Any]:
    """Ask for one read; returns its answer."""
    (answer,) = yield [Ask(node, read)]
    return answer


def to_read(scan: DirectoryScan) -> ReadDirectories:
    """Return the read of a scan of directories."""
    return ReadDirectories(scan.families, scan.counted)


def ask_directories(scan: DirectoryScan) -> Steps[Snapshot]:
    """Read the directories of a scan."""
    snapshot: Snapshot = yield from ask(scan, to_read(scan))
    return snapshot


def ask_all(asks: Iterable[Ask]) -> Steps[list[Any]]:
    """Ask for reads in one round; returns their answers. Without reads, it takes no round."""
    chosen = list(asks)
    if not chosen:
        return []
    answers: list[Any] = yield chosen
    return answers


def record(node: Node, **facts: Any) -> Steps[None]:
    """Record facts about a node."""
    yield NodeFacts(node, facts)


def rounds_taken() -> Steps[int]:
    """Return the number of rounds of reads so far."""
    taken: int = yield RoundsTaken()
    return taken


def side_by_side(*parts: Steps[Any]) -> Steps[list[Any]]:
    """Carry out several steps at once, so that their reads share rounds; returns their results.

    A part whose next reads are at hand does not wait for the others.
    """
    results: list[Any] = [None] * len(parts)
    waiting: dict[int, list[Ask]] = {}  # part -> the reads that it is waiting for

    def advance(place: int, answer: Any) -> Steps[None]:
        """Let a part continue to the next reads that take a call, or to its end."""
        part = parts[place]
        try:
            while True:
                asked = part.send(answer)
                answer = yield AtHand(asked) if isinstance(asked, list) else asked
                if isinstance(asked, list) and answer is None:
                    waiting[place] = asked
                    return
        except StopIteration as ended:
            results[place] = ended.value

    for place in range(len(parts)):
        yield from advance(place, None)
    while waiting:
        together, waiting = waiting, {}
        answers = yield [one for asked in together.values() for one in asked]
        at = 0
        for place, asked in together.items():
            mine, at = answers[at : at + len(asked)], at + len(asked)
            yield from advance(place, mine)
    return results
