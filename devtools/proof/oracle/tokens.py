"""The questions put with tokens to one container again and again: answers are right, however late the index is.

Issues are edited, made and deleted, while consumers derive some of it. They derive nothing if the stream is paused,
and parts of batches if they are killed or at work. Folds bring some of that into the blocks: whole ones, some that
are killed, and some between any two calls of a question. GSI1 and reads that are not consistent are late. The
container keeps the directories, blocks and journal items that it has read, however old they are.

A question carries the tokens of all writes that the index may lack, or that the journal may lack. Or it carries
others in their place (`carrying`). Each answer has to be SQLite's for the issues as they are, in both directions:
every row, order, page, count, group, figure and row number. A later page's cursor carries the tokens of its page.

While a question is answered, consumers, folds and GSI1 go on between any two of its calls. Consumers do so only if no
issue has two versions on their way. After a whole batch within one round, a reader's view of such an issue would be
older than the directories.
"""

from collections import Counter
from collections.abc import Iterable
from copy import copy
from dataclasses import replace
from random import Random
from unittest import mock

from typing_extensions import override

from devtools.proof.faults.virtual import Clock, virtual
from devtools.proof.oracle import compare, world
from devtools.proof.oracle.carrying import FOREVER, Carrier
from devtools.proof.oracle.compare import Asked
from devtools.proof.oracle.limits import LIMITS, held_to
from devtools.proof.oracle.orders import RANKS
from devtools.proof.oracle.scene import PROJECT, TENANT, Scene
from devtools.proof.oracle.sql import Oracle
from devtools.proof.oracle.world import Project
from gridview.derive.ledger import SHOWN_SECONDS
from gridview.dynamodb.expressions import Key
from gridview.encoding import derived_keys
from gridview.encoding.consistency import DELETED, RecentWrites
from gridview.view import journal_tail
from gridview.view.block_cache import BlockCache

SIZES = (15, 30, 60)
"""Issues of a project."""

KEPT_CHANGES = (2, 10, 500)
"""How many changes a container keeps in addition to the ones that it needs."""

_QUESTIONS = (2, 4, 8)
_PASSES = 0.03
_RESTS = 3


def play(seed: int) -> tuple[Asked, Counter[str]]:
    """Play the scenario of this number; Difference. Returns the last question."""
    random = Random(f"tokens {seed}")  # noqa: S311  (the same one each time)
    project = world.make(random, tuple(LIMITS), SIZES)
    clock = Clock()
    kept = mock.patch.object(journal_tail, "_KEPT_CHANGES", random.choice(KEPT_CHANGES))
    with virtual(clock, seed, RANKS[seed % 2]), held_to(project.limits), kept:
        return Scenario(random, clock, project).play()


class Scenario(Scene):
    """A scene whose writes tokens name."""

    def __init__(self, random: Random, clock: Clock, project: Project) -> None:
        super().__init__(random, clock, project)
        self._is_paused = random.random() < 0.3
        self._names_all = True
        self._journal_is_late = False
        self._readers = copy(random)
        """Random choices of clients that have read before. Their tokens leave everything else as it is."""

    def play(self) -> tuple[Asked, Counter[str]]:
        """Let things happen, and put a question with the tokens of all of it, some times over."""
        for _ in range(self._random.choice(_QUESTIONS)):
            self._edits = self._random.choice((0, 5, 15, 40))
            for _ in range(self._random.choice((5, 20, 80, 200))):
                self._happen()
                if self._random.random() < _PASSES:
                    self._time_passes()
            self._edits = 0
            paused, self._names_all = self._is_paused, self._random.random() < 0.5
            asked = self._ask()
            self._is_paused = paused
            self.happened["questions"] += 1
        return asked, self.happened

    def _ask(self) -> Asked:
        """Put a question with the tokens of all that was written since everything was shown."""
        self._is_paused |= self._has_several_on_their_way()
        project = self._history.present()
        loaded = replace(self._loaded, project=project, oracle=Oracle(project))
        carrier = Carrier(
            *(self._readers, loaded, self._written_so_far(), self._meanwhile, self.happened, self._rest)
        )
        loaded = replace(loaded, recent=carrier.carried())
        self._journal_is_late = carrier.says_how_far
        loaded = replace(loaded, cache=self._cache())
        question = world.question(self._random, project)
        asked: Asked = self._meanwhile(lambda table: compare.put(replace(loaded, table=table), question))
        self._journal_is_late = False
        return asked

    def _cache(self) -> BlockCache:
        """The cache of the container that is asked; that of another one, now and then."""
        share = 0.7 if self._journal_is_late else 0.1
        return BlockCache() if self._readers.random() < share else self._loaded.cache

    @override
    def _states_ago(self, key: Key, count: int) -> int:
        """If a question names a number of the journal, copies of the journal may lack all of the last half a minute."""
        of_the_journal = key[0] == derived_keys.journal(TENANT, PROJECT) and key[1] != derived_keys.FOLD
        if (
            self._journal_is_late
            and of_the_journal
            and self._written.get(key)
            and self._readers.random() < 0.5
        ):
            return count
        return super()._states_ago(key, count)

    def _rest(self) -> None:
        """A minute passes, without writes."""
        for _ in range(_RESTS):
            for _ in range(self._readers.choice((0, 10, 40))):
                self._happen()
            self._time_passes()

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
        """The issues that tokens name: all, or only the ones that the journal, or a late copy of it, may lack."""
        if self._names_all:
            return self._history.last_unsettled
        return self._history.moved(self._now - self._lag - 1)

    def _has_several_on_their_way(self) -> bool:
        return any(count > 1 for count in self._waiting().values())
