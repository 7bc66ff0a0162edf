"""The smoke test: one short tour through a stack, local or deployed, that shows whether its parts work together."""
