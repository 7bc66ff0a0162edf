"""gridview: a multi-tenant database grid view on one DynamoDB table.

Its packages, from the bottom up; each imports those before it and none after it:

support < encoding < dynamodb < schema < derive < chains < journal < view < query, commands, fsck < maintenance, live < api

`query`, `commands` and `fsck` do not import each other, nor do `maintenance` and `live`. The docstring of each package names its
modules that do I/O; all others compute, and import none of those.
"""
