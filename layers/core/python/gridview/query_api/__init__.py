"""The endpoints of the query function, which read: one module and one router for each resource.

I/O: answers, attributes, comments, container, grid, history, indexes, issues, jobs, projects, resources,
service, trash, users, views, webhooks.
"""
