"""What matters for a query: arms, scores, reasons, and the context block that an assistant is given."""
