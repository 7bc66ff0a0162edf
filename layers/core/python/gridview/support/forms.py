"""Stored forms: every version reads those from `OLDEST` to `NEWEST`, and a process may be limited to write an
older one.

    1    from the beginning

A deployment that brings a form does not write it yet, because containers of the version before read the same
items until it is over. `./dev deploy` holds the form back, and the next deployment writes it.
docs/stored-forms.md says how to add one.
"""

from typing import Final

OLDEST: Final = 1
NEWEST: Final = 1

_written = NEWEST


def writes(form: int) -> bool:
    """Return whether this process writes a form. It reads items of a newer one all the same."""
    return form <= _written


def write_up_to(form: int) -> None:
    """Have this process write no form after this one. ValueError if this version does not know the form."""
    global _written
    if not OLDEST <= form <= NEWEST:
        raise ValueError(f"a form from {OLDEST} to {NEWEST}")
    _written = form
