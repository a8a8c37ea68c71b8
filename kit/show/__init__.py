"""Plain values as text and HTML; pure, and below everything that has records to show."""
