"""gridview: a multi-tenant database grid view on one DynamoDB table.

The pure modules (keys, values, sortstrings, ranks, catalog, options, documents, indexing, ledger, walk, gridrequest, cursors) do
no I/O; `storage` is the only module that talks to DynamoDB, `deadletters` to SQS; the others (catalogs, projects, attributes,
issues, batch, idempotency, grid, consumer) put the two together, and `http` puts them behind API Gateway.
"""
