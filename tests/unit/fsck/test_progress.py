"""A tally is unchanged after a store and a read."""

from gridview.fsck.progress import Suspect, Tally, Visit


def test_the_tally_of_a_check_survives_its_state() -> None:
    suspects = {
        one.key: one for one in (Suspect("issue-a", "f1", "2024", 2, 1), Suspect("issue-b", "f2", "2025"))
    }
    tally = Tally(7, 5, 6, 3, 1, suspects, [Visit("acme", "bridge", "a1.1", "m"), Visit("acme", "tower")])
    assert Tally.from_state(tally.to_state()) == tally
