"""Errors that a tool reports to a person in one sentence."""


class Failure(Exception):
    """One clear sentence for the person at the terminal. The command ends with status 1 and no traceback."""


class FunctionError(Exception):
    """An invocation of a Lambda function failed: the handler raised, timed out, or killed its process."""
