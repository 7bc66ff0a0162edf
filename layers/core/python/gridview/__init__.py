"""gridview: a multi-tenant database grid view on one DynamoDB table.

The pure modules (keys, values, sortstrings, ranks, catalog, documents, ledger, indexing, cursors, plan) do no I/O;
`storage` is the only module that talks to AWS; the others (projects, attributes, issues, grid, consumer) put the two together.
"""
