"""How the nodes of a plan are carried out: by steps that ask for reads and are sent the answers. Pure.

Steps are a generator. What it yields together is read in one round; what it returns is the node's result. So a node knows what it
needs next, and nothing of how that is read:

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
    """A read, and the node that it is for."""

    node: Node
    read: Read


@dataclass(frozen=True, slots=True)
class Tell:
    """Something that came out while a node was carried out: for `explain`."""

    node: Node
    facts: dict[str, Any]


class AtHand(NamedTuple):
    """Asks for reads that are answered only if they take no call."""

    asks: list[Ask]


class RoundsTaken:
    """Asks how many rounds of reads have been made so far, for steps that choose by how many are left."""


Steps = Generator[list[Ask] | AtHand | Tell | RoundsTaken, Any, Result]
"""What it yields, and what it is sent back:

list[Ask]     the reads of a round       their answers, in order
AtHand        reads                      their answers, or None if these take a call
Tell          facts                      nothing
RoundsTaken                              how many
"""


def ask(node: Node, read: Read) -> Steps[Any]:
    """One read; returns its answer."""
    (answer,) = yield [Ask(node, read)]
    return answer


def to_read(scan: DirectoryScan) -> ReadDirectories:
    """What a scan of directories asks for."""
    return ReadDirectories(scan.families, scan.counted)


def ask_directories(scan: DirectoryScan) -> Steps[Snapshot]:
    """The directories of a scan."""
    snapshot: Snapshot = yield from ask(scan, to_read(scan))
    return snapshot


def ask_all(asks: Iterable[Ask]) -> Steps[list[Any]]:
    """Reads in one round; returns their answers. None at all takes no round."""
    chosen = list(asks)
    if not chosen:
        return []
    answers: list[Any] = yield chosen
    return answers


def tell(node: Node, **facts: Any) -> Steps[None]:
    """Say what came out."""
    yield Tell(node, facts)


def rounds_taken() -> Steps[int]:
    """How many rounds of reads have been made so far."""
    taken: int = yield RoundsTaken()
    return taken


def side_by_side(*parts: Steps[Any]) -> Steps[list[Any]]:
    """Carry out several steps at once, so that their reads share rounds; returns their results.

    A part whose next reads are at hand does not wait for the others.
    """
    results: list[Any] = [None] * len(parts)
    waiting: dict[int, list[Ask]] = {}  # part -> the reads that it is waiting for

    def advance(place: int, answer: Any) -> Steps[None]:
        """Let a part go on to the next reads that take a call, or to its end."""
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
