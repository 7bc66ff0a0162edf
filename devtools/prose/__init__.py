"""A check of the English: docs, docstrings, comments, errors, help, and the texts and names that users see."""
