"""One argument, decided: layouts, scalars, containers, sharing, and the text of refusals."""
