"""`sam local` on the local stack's engine: a template for SAM, made from the synthesized one, and an entry before each handler."""
