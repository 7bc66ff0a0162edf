"""Blocks of issue numbers: how a family of keys is cut into a chain of them, how they are listed, written, split and merged.

I/O: block_writer.
"""
