"""Costs of reads in read units, for comparing plans and for estimates."""

ITEM = 0.5
"""An item of up to 4 KB that is read by its key: a document, a block, a page of a directory."""

ENTRY = 0.02
"""A sort entry: a Query reads about thirty for half a unit."""

LISTED = 0.125
"""A document of about 1 KB that a Query reads among others."""

COLUMN_PAGE = 0.12
"""A page of 256 numbers of 24 bits that a Query reads among others."""
