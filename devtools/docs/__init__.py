"""The parts of the pages that code makes: the reference of the API, the table of alarms, and numbers in sentences.

`./dev python -m devtools.docs` writes them all. Tests compare the pages with what it would write.
"""
