"""Blocks of issue numbers: how a family's keys are cut into a chain, and how it is read and written.

I/O: block_writer, column_writer, family_removal.
"""
