"""The formats of documents that memsvc itself reads: what the entry points of ``catalogue`` name."""

from __future__ import annotations

from memsvc.documents.catalogue import Format

READERS = "memsvc.documents.readers."
SOURCES = (
    "py", "pyi", "js", "mjs", "cjs", "jsx", "ts", "mts", "tsx", "java", "kt", "kts", "scala", "c", "h", "cc", "cpp",
    "cxx", "hpp", "hh", "cs", "go", "rs", "rb", "php", "swift", "m", "mm", "lua", "pl", "pm", "r", "jl", "hs", "ml",
    "mli", "ex", "exs", "erl", "clj", "cljs", "lisp", "el", "dart", "zig", "nim", "f90", "pas", "sql", "sh", "bash",
    "zsh", "fish", "ps1", "bat", "css", "scss", "less", "vue", "svelte", "proto", "graphql", "tf", "nix", "tex",
    "toml", "yaml", "yml", "ini", "cfg",
)  # fmt: skip
"""Extensions of source code and of files of settings."""

PDF = Format(name="pdf", reader=f"{READERS}pdf", shown="PDF", extensions=("pdf",))
WORD = Format(
    name="docx", reader=f"{READERS}word", shown="Word", extensions=("docx", "docm", "dotx", "dotm"),
    member="word/document.xml",
)  # fmt: skip
SLIDES = Format(
    name="pptx", reader=f"{READERS}slides", shown="PowerPoint", extensions=("pptx", "pptm", "ppsx", "ppsm", "potx"),
    member="ppt/presentation.xml",
)  # fmt: skip
SHEETS = Format(
    name="xlsx", reader=f"{READERS}sheets", shown="Excel", extensions=("xlsx", "xlsm", "xltx", "xltm"),
    member="xl/workbook.xml",
)  # fmt: skip
OPEN_DOCUMENT = Format(
    name="odt", reader=f"{READERS}opendocument", shown="OpenDocument text", extensions=("odt", "ott"),
    mimetypes=("application/vnd.oasis.opendocument.text", "application/vnd.oasis.opendocument.text-template"),
)  # fmt: skip
EPUB = Format(
    name="epub", reader=f"{READERS}epub", shown="EPUB", extensions=("epub",), member="META-INF/container.xml",
    mimetypes=("application/epub+zip",),
)  # fmt: skip
OLE = Format(name="ole", reader=f"{READERS}ole", shown="Office")
RTF = Format(name="rtf", reader=f"{READERS}rtf", shown="RTF", extensions=("rtf",))
HTML = Format(name="html", reader=f"{READERS}html", shown="HTML", extensions=("html", "htm", "xhtml"), is_text=True)
NOTEBOOK = Format(
    name="ipynb", reader=f"{READERS}notebook", shown="Jupyter notebook", extensions=("ipynb",), is_text=True
)
MARKDOWN = Format(
    name="md", reader=f"{READERS}markdown", shown="Markdown", extensions=("md", "markdown", "mdown"), is_text=True
)
TEXT = Format(
    name="txt", reader=f"{READERS}plain", shown="text", extensions=("txt", "text", "rst", "adoc", "org"), is_text=True
)
CSV = Format(name="csv", reader=f"{READERS}delimited", shown="CSV", extensions=("csv",), is_text=True)
TSV = Format(name="tsv", reader=f"{READERS}delimited", shown="TSV", extensions=("tsv", "tab"), is_text=True)
CODE = Format(name="code", reader=f"{READERS}code", shown="source code", extensions=SOURCES, is_text=True)
