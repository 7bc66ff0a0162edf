"""Projects, attributes and documents as data, and the store that reads and writes definitions.

I/O: document_store, store.
"""
