"""The right outcome of an undo, in plain terms: from all versions that an issue ever had, and nothing else.

A change made some versions of an issue, its *parts*. After the undo, a field has the value from before the last
unbroken row of parts that set it. An issue that they created or restored is gone; one that they deleted is there.
Later changes of others stay. If an issue already is, or is not, as the undo wants it, that part is done.

The core decides the same from documents and histories; this looks at the documents themselves.
"""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from devtools.proof.faults.lives import NOTHING, Life, Maker, kind_of, steps, touched

CREATED = "create", "restore"


class Step(NamedTuple):
    """The next version of an issue that an undo makes: whether the issue is there then, and its values."""

    is_alive: bool
    values: dict[str, Any]


class Plan(NamedTuple):
    """The remaining work for an issue (None: nothing), and whether anything of the change has to stay."""

    step: Step | None
    stays: bool


def plan(lives: Sequence[Life], parts: Collection[int], own: Maker) -> Plan:
    """Plan the undo of an issue.

    `parts`: the versions of the change; `own`: the user who undoes it, under which change.
    """
    kinds = {after.version: kind_of(before, after) for before, after in steps(lives)}
    now, wanted, stays = lives[-1], {}, False
    existence = [version for version in kinds if version in parts and kinds[version] != "update"]
    flip = False
    was = not existence or kinds[existence[0]] not in CREATED
    if existence and was != (kinds[existence[-1]] in CREATED):
        since = [life for life in lives if life.version > existence[-1] and life.version not in parts]
        is_back, strange = _since(since, kinds, own, "restore" if was else "delete")
        stays = strange and not is_back and now.is_alive != was
        flip = not stays and not is_back and now.is_alive != was
    if now.is_alive and (not flip or kinds[existence[0]] == "restore"):
        for name in {name for _, after in steps(lives) for name in after.values}:
            target, last = _before(lives, parts, kinds, name)
            if last is None:
                continue  # the change has not set it
            value = now.values.get(name)
            if value == target.value:
                stays = stays or target.is_foreign
            elif last in parts and kinds[last] == "update":
                wanted[name] = target.value
                stays = stays or target.is_foreign
            else:
                stays = True
    elif not flip and not now.is_alive and was and not stays:
        stays = True  # another user has deleted it
    if wanted:
        values = {**now.values, **wanted}
        return Plan(Step(True, {name: one for name, one in values.items() if one is not None}), stays)
    return Plan(Step(not now.is_alive, dict(now.values)) if flip else None, stays)


def _since(since: Sequence[Life], kinds: dict[int, str], own: Maker, back: str) -> tuple[bool, bool]:
    """Whether the undo has brought an issue back (or deleted it) before others came; whether others have come."""
    strange = False
    for life in since:
        if life.maker != own:
            strange = True
        elif not strange and kinds[life.version] == back:
            return True, False
    return False, strange


class _Target(NamedTuple):
    """The value that a field gets; `is_foreign`: another user set it, between two parts."""

    value: Any
    is_foreign: bool


def _before(
    lives: Sequence[Life], parts: Collection[int], kinds: dict[int, str], name: str
) -> tuple[_Target, int | None]:
    """The value of a field before the parts that set it last in a row, and the version that set it last.

    None in place of the version: no part has set it.
    """
    setters = [(before, after) for before, after in steps(lives) if name in touched(before, after)]
    mine = [
        place
        for place, (_, after) in enumerate(setters)
        if after.version in parts and kinds[after.version] == "update"
    ]
    if not mine:
        return _Target(None, False), None
    first = mine[-1]
    while first - 1 in mine:
        first -= 1
    value = setters[first][0].values.get(name)
    return _Target(value, first != mine[0]), setters[-1][1].version


def carried_out(lives: Sequence[Life], parts: Collection[int], own: Maker) -> tuple[Life, bool]:
    """The issue after an undisturbed undo, and whether anything of the change stays."""
    done = list(lives)
    for _ in range(4):
        step, stays = plan(done, parts, own)
        if step is None:
            return done[-1], stays
        done.append(Life(done[-1].version + 1, own, step.is_alive, step.values, {}))
    raise AssertionError("an undo that does not come to an end")


def wrong_version(lives: Sequence[Life], at: int, change: Maker, own: Maker) -> str | None:
    """Return the fault of the version at this place, which an undo of `change` made; None: it is one that the undo
    may make.

    The undo may not have known the last parts, if they came while it was at work.
    """
    before, after = (lives[at - 1] if at else NOTHING), lives[at]
    known = [life.version for life in lives[:at] if life.maker == change]
    for count in range(len(known), 0, -1):
        step, _ = plan(lives[:at], known[:count], own)
        if step is not None and (after.is_alive, after.values) == (step.is_alive, step.values):
            return None
    return f"version {after.version} makes of {before.is_alive, before.values} {after.is_alive, after.values}"
