"""Which extents a function's source relies on: rules that a call is checked for."""
