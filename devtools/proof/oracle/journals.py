"""The questions put to one container of a journalled project again and again, while consumers and folds work.

As with tokens (`tokens`), but the consumer writes a journal, and folds bring it into the blocks: whole ones, some that are killed,
and some between any two calls of a question. The container keeps the directories, blocks and journal items that it has read,
however old they are. Every answer has to be what SQLite says of the issues as they are.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from random import Random
from unittest import mock

from typing_extensions import override

from devtools.proof.faults.lambdas import Kept
from devtools.proof.faults.virtual import Clock, virtual
from devtools.proof.faults.world import Run
from devtools.proof.oracle import world
from devtools.proof.oracle.carrying import Carrier
from devtools.proof.oracle.compare import Asked, Loaded
from devtools.proof.oracle.limits import LIMITS, held_to
from devtools.proof.oracle.scene import PROJECT, TENANT
from devtools.proof.oracle.tokens import SIZES, Written
from devtools.proof.oracle.world import Project
from gridview.commands.journals import begin_journal
from gridview.dynamodb.expressions import Key
from gridview.encoding import keys
from gridview.index import journal_tail
from gridview.index.block_cache import BlockCache
from gridview.schema.store import Catalogs

_QUESTIONS = (2, 4, 8)
_PASSES = 0.03
_RESTS = 3
_KEPT_CHANGES = (2, 10, 500)
"""How many changes a container keeps besides those that it needs."""


def play(seed: int) -> tuple[Asked, Counter[str]]:
    """Play the scenario of this number; Difference. What was asked last is told."""
    random = Random(f"journals {seed}")  # noqa: S311  (the same one each time)
    project = world.make(random, tuple(LIMITS), SIZES)
    clock = Clock()
    kept = mock.patch.object(journal_tail, "_KEPT_CHANGES", random.choice(_KEPT_CHANGES))
    with virtual(clock, seed), held_to(project.limits), kept:
        return Scenario(random, clock, project).play()


class Scenario(Written):
    """A scene whose consumers write a journal, which folds bring into the blocks."""

    def __init__(self, random: Random, clock: Clock, project: Project) -> None:
        super().__init__(random, clock, project)
        begin_journal(self._memory, TENANT, PROJECT)
        self._memory.catch_up_with_all()
        catalog = Catalogs().get(self._memory, TENANT, PROJECT)
        self._loaded = replace(self._loaded, catalog=catalog, cache=Kept())
        self._folds: list[Run] = []
        self._names_all = True

    @override
    def play(self) -> tuple[Asked, Counter[str]]:
        """Let things happen, and put a question with the tokens of all of it, some times over."""
        for _ in range(self._random.choice(_QUESTIONS)):
            self._edits = self._random.choice((0, 5, 15))
            for _ in range(self._random.choice((5, 20, 80, 200))):
                self._happen()
                if self._random.random() < _PASSES:
                    self._time_passes()
            self._edits = 0
            paused, self._names_all = self._is_paused, self._random.random() < 0.3
            asked, happened = self.ask()
            self._is_paused = paused
            self.happened["questions"] += 1
        return asked, happened

    @override
    def _named(self) -> Iterable[int]:
        """Sometimes those alone that the journal does not tell yet, or that a late copy of it may lack."""
        if self._names_all:
            return super()._named()
        return self._history.moved(self._now - self._behind - 1)

    @override
    def _carrier(self, loaded: Loaded) -> Carrier:
        return replace(super()._carrier(loaded), rest=self._rest)

    @override
    def _cache(self) -> BlockCache:
        """That of another container, now and then."""
        share = 0.7 if self._journal_is_late else 0.1
        return Kept() if self._readers.random() < share else super()._cache()

    @override
    def _states_ago(self, key: Key, count: int) -> int:
        """Where a question says how far it has seen the journal, copies of it may lack all of the last half a minute."""
        of_the_journal = key[0] == keys.journal(TENANT, PROJECT) and key[1] != keys.FOLD
        if (
            self._journal_is_late
            and of_the_journal
            and self._written.get(key)
            and self._readers.random() < 0.5
        ):
            return count
        return super()._states_ago(key, count)

    def _rest(self) -> None:
        """A minute passes, in which nobody writes."""
        for _ in range(_RESTS):
            for _ in range(self._readers.choice((0, 10, 40))):
                self._happen()
            self._time_passes()

    @override
    def _others(self) -> list[tuple[Callable[[], None], float]]:
        self._folds = [run for run in self._folds if not run.invocation.ended]
        if not self._folds:
            return [(self._begin_fold, 0.5), (self._fold, 0.1)]
        return [(self._go_on_folding, 8), (self._kill_fold, 0.1)]

    def _begin_fold(self) -> None:
        self._folds.append(self._world.fold(self._random.choice(self._containers)))
        self.happened["folds"] += 1

    def _fold(self) -> None:
        self._world.fold_all()
        self.happened["times that all was folded"] += 1

    def _go_on_folding(self) -> None:
        self._world.step(self._folds[0], then=self._random.choice((0, 0, 1, 4)))

    def _kill_fold(self) -> None:
        self._world.kill(self._folds[0], lands=False)
        self.happened["folds killed"] += 1
