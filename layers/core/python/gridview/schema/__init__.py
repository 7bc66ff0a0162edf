"""The data model: projects, attributes and issue documents, and the store that reads and writes definitions.

I/O: document_store, epoch, store.
"""
