"""The error of a formula that cannot be defined, with its place. Pure."""


class FormulaError(Exception):
    """A formula is refused. `reason` is a sentence for people, and says what to do instead.

    `position` counts characters (code points) from 0 to the place of the error in the text of the formula.
    """

    def __init__(self, position: int, reason: str) -> None:
        super().__init__(reason)
        self.position = position
        self.reason = reason
