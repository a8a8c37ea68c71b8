"""What a cell's text says: signatures, intents, advice, and the unit that is compiled."""
