"""The text of a CUDA cell: tokens, macros, ``#if``, and what its syntax tree shows."""
