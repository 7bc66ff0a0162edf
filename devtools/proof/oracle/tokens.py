"""The questions put with the tokens of all writes since the index was whole: answers are right, however late the index is.

Issues are edited, made and deleted, while consumers take in some of it: none where the stream is paused, and parts of batches where
they are killed or at work. GSI1 and reads that are not consistent are behind. Then the question is put with the token of every
write, or with what may stand in its place (`carrying`). Each answer has to be what SQLite says of the issues as they are: every
row, order, page, count, group, figure and place, in both directions, and pages behind a cursor, which carries the tokens of its
page.

While the question is answered, consumers and GSI1 go on between any two of its calls. Consumers only if no issue has two versions
on their way: what a reader knows of such an issue is older than the directories where a whole batch is taken in within one round.
"""

from collections import Counter
from collections.abc import Iterable
from copy import copy
from dataclasses import replace
from random import Random

from devtools.proof.faults.virtual import Clock, virtual
from devtools.proof.oracle import compare, world
from devtools.proof.oracle.carrying import FOREVER, Carrier
from devtools.proof.oracle.compare import Asked, Loaded
from devtools.proof.oracle.limits import LIMITS, held_to
from devtools.proof.oracle.scene import PROJECT, Scene
from devtools.proof.oracle.sql import Oracle
from devtools.proof.oracle.world import Project
from gridview.encoding.consistency import DELETED, RecentWrites
from gridview.index.block_cache import BlockCache
from gridview.index.ledger import SHOWN_SECONDS

SIZES = (15, 30, 60)
"""Issues of a project."""


def play(seed: int) -> tuple[Asked, Counter[str]]:
    """Play the scenario of this number; Difference."""
    random = Random(f"tokens {seed}")  # noqa: S311  (the same one each time)
    project = world.make(random, tuple(LIMITS), SIZES)
    clock = Clock()
    with virtual(clock, seed), held_to(project.limits):
        return Written(random, clock, project).play()


class Written(Scene):
    """A scene whose writes tokens name."""

    def __init__(self, random: Random, clock: Clock, project: Project) -> None:
        super().__init__(random, clock, project)
        self._is_paused = random.random() < 0.3
        self._journal_is_late = False
        self._readers = copy(random)
        """Chance of those who have read before: what they carry leaves everything else as it is."""

    def play(self) -> tuple[Asked, Counter[str]]:
        """Let things happen, and put the question with the tokens of all of it."""
        for _ in range(self._random.choice((5, 20, 80, 200))):
            self._happen()
            if self._random.random() < 0.02:
                self._time_passes()
        self._edits = 0
        return self.ask()

    def ask(self) -> tuple[Asked, Counter[str]]:
        """Put a question with the tokens of all that was written since everything was shown."""
        self._is_paused |= self._has_several_on_their_way()
        project = self._history.present()
        loaded = replace(self._loaded, project=project, oracle=Oracle(project))
        carrier = self._carrier(loaded)
        loaded = replace(loaded, recent=carrier.carried())
        self._journal_is_late = carrier.says_how_far
        loaded = replace(loaded, cache=self._cache())
        question = world.question(self._random, project)
        asked: Asked = self._meanwhile(lambda table: compare.put(replace(loaded, table=table), question))
        self._journal_is_late = False
        return asked, self.happened

    def _carrier(self, loaded: Loaded) -> Carrier:
        return Carrier(self._readers, loaded, self._written_so_far(), self._meanwhile, self.happened)

    def _cache(self) -> BlockCache:
        """That of the container that is asked."""
        return self._loaded.cache

    def _time_passes(self) -> None:
        """So much that everything is shown."""
        self._memory.catch_up_with_all()
        self._unseen.clear()
        self._written.clear()
        self._world.clock.seconds += SHOWN_SECONDS + 1
        self.happened["times that everything was shown"] += 1

    def _written_so_far(self) -> RecentWrites:
        living = {*self._history.living}
        versions = {
            num: self._history.latest(num).number if num in living else DELETED for num in self._named()
        }
        self.happened["issues named by tokens"] += len(versions)
        return RecentWrites(PROJECT, FOREVER, versions)

    def _named(self) -> Iterable[int]:
        """The issues that tokens name."""
        return self._history.last_unsettled

    def _has_several_on_their_way(self) -> bool:
        return any(count > 1 for count in self._waiting().values())
