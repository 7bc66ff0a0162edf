"""What reads cost, in read units, as plans are compared by and estimates add up."""

ITEM = 0.5
"""Of an item of up to 4 KB that is read by its key: a document, a block, a page of a directory."""

ENTRY = 0.02
"""Of a sort entry, of which a Query reads some thirty for half a unit."""

LISTED = 0.125
"""Of a document of about 1 KB that a Query reads among others."""
