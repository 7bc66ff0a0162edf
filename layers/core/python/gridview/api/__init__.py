"""The HTTP surface: routes and how endpoints state them, requests and answers, the resolver, the environment.

I/O: config, endpoints, http, invocation, resolver, snapshots, tokens.
"""
