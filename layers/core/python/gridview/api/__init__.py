"""The HTTP surface: routes and how endpoints state them, requests and answers, the resolver, the environment, the
secrets.

I/O: config, endpoints, http, invocation, resolver, sealing, snapshots, tokens.
"""
