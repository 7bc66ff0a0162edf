"""How a tool tells a person that it cannot go on."""


class Failure(Exception):
    """One clear sentence for the person at the terminal; the command ends with status 1 and without a traceback."""


class FunctionError(Exception):
    """An invocation of a Lambda function failed: the handler raised, ran out of time, or took its process down."""
