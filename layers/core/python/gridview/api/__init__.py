"""The HTTP surface: routes, events and responses, the OpenAPI document, the environment.

I/O: config, http, snapshots, tokens.
"""
