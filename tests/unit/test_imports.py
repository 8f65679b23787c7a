"""No module imports itself by way of others: at the top, inside a function, or for type checking only."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import grimp


def test_no_import_goes_round() -> None:
    """import-linter's contract knows siblings only; this knows a package and its own modules, too."""
    graph = grimp.build_graph("memsvc", "jobs", cache_dir=None)
    imported = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert len(imported) > 300
    found: list[str] = []
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        found = error.args[1]
    assert found == [], "these import each other"
