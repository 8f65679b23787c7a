"""Documents: PDF, Office, HTML, Markdown and others become chunks of text with headings and a locator each."""
