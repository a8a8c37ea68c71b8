"""IPython magics: parse options, call build, show the record. Nothing here knows a toolchain."""

__all__: list[str] = []
