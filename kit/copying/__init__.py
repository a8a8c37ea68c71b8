"""How elements are copied: in tiles, by several threads where that pays, into memory kept ready."""
