"""Stored forms: every version reads those up to `NEWEST`, and a process may be told to write none after an older one.

    1    from the beginning
    2    indexes without sort entries, packed sets in blocks
    3    what is listed of changes, in groups

A deployment that brings a form to a stack writes it nowhere yet: while it lasts, containers of the older version read the same
items. `./dev deploy` sees to that, and the next deployment writes the form.
"""

from typing import Final

OLDEST: Final = 1
ENTRYLESS: Final = 2
"""From this form on, indexes of fields with few values are begun without sort entries."""
PACKED: Final = 2
"""From this form on, sets in blocks are packed."""
GROUPED: Final = 3
"""From this form on, changes of the same moment are listed together, as versions of the same change are."""
NEWEST: Final = 3

_written = NEWEST


def writes(form: int) -> bool:
    """Whether this process writes a form. What is stored in a newer one is read all the same."""
    return form <= _written


def write_up_to(form: int) -> None:
    """Have this process write no form after this one. ValueError if this version does not know the form."""
    global _written
    if not OLDEST <= form <= NEWEST:
        raise ValueError(f"a form from {OLDEST} to {NEWEST}")
    _written = form
