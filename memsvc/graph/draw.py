"""Drawings of a part of the graph: JSON, GraphML, Mermaid and DOT.

Pure functions of a ``Graph``: the same nodes and edges give the same text, in whatever order they come. Labels are
users' text, so nothing in them may act as syntax in the drawing: XML is escaped, and characters that XML forbids are
replaced; in Mermaid and DOT all characters except letters, digits and harmless punctuation become numeric entities.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, time, tzinfo
from functools import lru_cache
from typing import Literal
from uuid import UUID

import msgspec

from memsvc.graph.overview import GraphPage
from memsvc.graph.traverse import Graph, GraphEdge, GraphNode, Paths
from memsvc.times.untold import span_in_words

Format = Literal["json", "graphml", "mermaid", "dot"]
MEDIA_TYPES: Mapping[Format, str] = {
    "json": "application/json",
    "graphml": "application/graphml+xml",
    "mermaid": "text/vnd.mermaid",
    "dot": "text/vnd.graphviz",
}
LAST_OF_PLANES = "".join(chr(plane << 16 | last) for plane in range(17) for last in (0xFFFE, 0xFFFF))
# Control characters, line breaks, changes of writing direction, surrogates, and code points without a character.
STEERING = re.compile(
    f"[\0-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef{LAST_OF_PLANES}]"
)
UNREACHED = -1
LABEL_CHARS = 40
"""Longest label in Mermaid and DOT; GraphML and JSON hold the whole label."""


def draw(graph: Graph, form: Format, zone: tzinfo = UTC) -> str:
    """Draw a graph in one of the formats; dates in Mermaid and DOT are in ``zone``."""
    match form:
        case "json":
            return as_json(graph)
        case "graphml":
            return as_graphml(graph)
        case "mermaid":
            return as_mermaid(graph, zone)
        case "dot":
            return as_dot(graph, zone)


def as_json(graph: Graph) -> str:
    """Return the graph's own fields in their own order, indented; ids as strings, times in ISO 8601."""
    return msgspec.json.format(msgspec.json.encode(graph), indent=2).decode() + "\n"


# What the drawings have in common


def as_graph(found: Graph | GraphPage | Paths) -> Graph:
    """Return the nodes and edges of a result, each once."""
    match found:
        case Graph():
            return found
        case GraphPage():
            return Graph(nodes=found.nodes, edges=found.edges, truncated=found.next_cursor is not None)
        case Paths():
            nodes = {node.node_id: node for path in reversed(found.paths) for node in path.nodes}
            edges = {edge.version_id: edge for path in found.paths for edge in path.edges}
            truncated = found.truncated or not found.complete
            return Graph(nodes=list(nodes.values()), edges=list(edges.values()), truncated=truncated)


def in_order(graph: Graph) -> Graph:
    """Sort a graph by its content alone, and add a nameless node for each end of an edge that has no node."""
    known = {node.node_id for node in graph.nodes}
    ends = {end for edge in graph.edges for end in (edge.from_node, edge.to_node)} - known
    nodes = sorted(
        [*graph.nodes, *map(_unknown, ends)],
        key=lambda node: (node.hop == UNREACHED, node.hop, node.label or "\U0010ffff", node.node_id),
    )
    position = {node.node_id: number for number, node in enumerate(nodes)}
    edges = sorted(
        graph.edges,
        key=lambda edge: (position[edge.from_node], position[edge.to_node], edge.type, _moment(edge), edge.version_id),
    )
    return msgspec.structs.replace(graph, nodes=nodes, edges=edges)


def _unknown(node_id: UUID) -> GraphNode:
    return GraphNode(node_id=node_id, type=None, label=None, description="", data={}, importance=None, hop=UNREACHED)


def _moment(edge: GraphEdge) -> datetime:
    return edge.valid_from or datetime.min.replace(tzinfo=UTC)


def one_line(text: str, most: int | None = None) -> str:
    """Make a text safe for one line of a drawing or a terminal.

    Line breaks, control characters and changes of writing direction become spaces, and runs of spaces become one. Text
    longer than ``most`` characters is cut and ends in an ellipsis.
    """
    line = text if text.isalnum() else " ".join(STEERING.sub(" ", text).split())
    return line if most is None or len(line) <= most else line[: most - 1].rstrip() + "…"


def name_of(node: GraphNode, most: int | None = LABEL_CHARS) -> str:
    """Return a node's label in a drawing; for a nameless node, a part of its id."""
    return one_line(node.label or "", most) or f"node {str(node.node_id)[-6:]}"


@lru_cache(maxsize=1024)
def relation(type_: str) -> str:
    """Return an edge's type in words, such as "lives in"."""
    return one_line(type_.replace("_", " "), LABEL_CHARS).lower()


def day(moment: datetime, zone: tzinfo = UTC, *, clock: bool = True) -> str:
    """Return a moment's date in a zone, with the time of day if ``clock`` is true and it is not midnight."""
    try:
        local = moment.astimezone(zone)
    except OverflowError:  # at the ends of the calendar
        local = moment
    date = local.date().isoformat()
    return date if not clock or local.time() == time.min else f"{date} {local:%H:%M}"


def since(edge: GraphEdge, zone: tzinfo = UTC, *, clock: bool = True) -> str:
    """Return a fact's valid time in words; empty if neither bound is known."""
    begin = None if edge.valid_from is None else day(edge.valid_from, zone, clock=clock)
    end = None if edge.valid_to is None else day(edge.valid_to, zone, clock=clock)
    return span_in_words(begin, end, begin_untold=edge.begin_untold, end_untold=edge.end_untold)


def _edge_lines(edge: GraphEdge, zone: tzinfo) -> list[str]:
    return [line for line in (relation(edge.type), since(edge, zone, clock=False)) if line]


# GraphML ------------------------------------------------------------------------------------------------------------

NOT_PLAIN_IN_XML = re.compile("[^ !#-%'-;=?-\ud7ff\ue000-\ufffd]")
GRAPHML = "http://graphml.graphdrawing.org/xmlns"
SCHEMA = (
    f'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="{GRAPHML} {GRAPHML}/1.0/graphml.xsd"'
)
FORBIDDEN_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
XML_SIGNS = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;", "\n": "&#10;", "\t": "&#9;"}
)
NODE_KEYS: Mapping[str, tuple[str, Callable[[GraphNode], object]]] = {
    "label": ("string", lambda node: node.label),
    "type": ("string", lambda node: node.type),
    "description": ("string", lambda node: node.description or None),
    "data": ("string", lambda node: msgspec.json.encode(node.data).decode() if node.data else None),
    "importance": ("double", lambda node: node.importance),
    "hop": ("int", lambda node: None if node.hop == UNREACHED else node.hop),
}
EDGE_KEYS: Mapping[str, tuple[str, Callable[[GraphEdge], object]]] = {
    "label": ("string", lambda edge: edge.type),
    "fact": ("string", lambda edge: edge.fact),
    "edge_id": ("string", lambda edge: edge.edge_id),
    "weight": ("double", lambda edge: edge.weight),
    "confidence": ("double", lambda edge: edge.confidence),
    "valid_from": ("string", lambda edge: edge.valid_from and edge.valid_from.isoformat()),
    "valid_to": ("string", lambda edge: edge.valid_to and edge.valid_to.isoformat()),
    "begin_untold": ("boolean", lambda edge: edge.begin_untold or None),
    "end_untold": ("boolean", lambda edge: edge.end_untold or None),
}


def as_graphml(graph: Graph) -> str:
    """Draw GraphML 1.0, http://graphml.graphdrawing.org: ids of nodes and of edge versions, all fields as attributes.

    An edge's ``label`` is its type, times are ISO 8601, and ``data`` is JSON; unknown values are left out. Characters
    that XML 1.0 cannot hold, not even escaped, become U+FFFD.
    """
    drawn = in_order(graph)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<graphml xmlns="{GRAPHML}" {SCHEMA}>',
        *(_key("node", name, kind) for name, (kind, _) in NODE_KEYS.items()),
        *(_key("edge", name, kind) for name, (kind, _) in EDGE_KEYS.items()),
        _key("graph", "truncated", "boolean"),
        '  <graph id="memsvc" edgedefault="directed">',
        *_data("    ", {"g.truncated": graph.truncated}),
    ]
    for node in drawn.nodes:
        lines.append(f'    <node id="{node.node_id}">')
        lines += _data("      ", {f"n.{name}": of(node) for name, (_, of) in NODE_KEYS.items()})
        lines.append("    </node>")
    for edge in drawn.edges:
        lines.append(f'    <edge id="{edge.version_id}" source="{edge.from_node}" target="{edge.to_node}">')
        lines += _data("      ", {f"e.{name}": of(edge) for name, (_, of) in EDGE_KEYS.items()})
        lines.append("    </edge>")
    return "\n".join([*lines, "  </graph>", "</graphml>", ""])


def _key(owner: str, name: str, kind: str) -> str:
    return f'  <key id="{owner[0]}.{name}" for="{owner}" attr.name="{name}" attr.type="{kind}"/>'


def _data(indent: str, values: Mapping[str, object]) -> Iterator[str]:
    """Yield a line for each value that is not None."""
    for key, value in values.items():
        if value is not None:
            written = str(value).lower() if isinstance(value, bool) else str(value)
            yield f'{indent}<data key="{key}">{xml_text(written)}</data>'


def xml_text(text: str) -> str:
    """Escape text for an XML element, and replace characters that XML 1.0 cannot hold."""
    return FORBIDDEN_IN_XML.sub("\ufffd", text).translate(XML_SIGNS) if NOT_PLAIN_IN_XML.search(text) else text


# Mermaid ------------------------------------------------------------------------------------------------------------

SHAPES = {
    "Person": ('(["', '"])'),
    "Organization": ('[["', '"]]'),
    "Place": ('{{"', '"}}'),
    "Event": ('>"', '"]'),
    "Task": ('[/"', '"/]'),
    "Document": ('[("', '")]'),
    "DocumentVersion": ('[("', '")]'),
    "Note": ('("', '")'),
    "Concept": ('(("', '"))'),
    "ConceptGroup": ('(("', '"))'),
}
BOX = ('["', '"]')
LIGATURE = "\ufb02"
"""Mermaid's internal sign for the start of an entity; in text it is replaced by the letters "fl"."""
DOUBTFUL = re.compile(r"[^\w ,'?!/(]|_")
ENDS_A_WORD = re.compile(r"(?<=[^\W\d_])#(?:46|41);(?= |$)")
HYPHEN_WITHIN = re.compile(r"(?<=[^\W_])#45;(?=[^\W_])")


def as_mermaid(graph: Graph, zone: tzinfo = UTC) -> str:
    """Draw a flowchart from left to right: nodes n1, n2 … with a shape for their type, facts with type and time.

    Nodes at which the walk started have a thick border.
    """
    drawn = in_order(graph)
    ids = {node.node_id: f"n{number}" for number, node in enumerate(drawn.nodes, 1)}
    lines = ["flowchart LR"]
    for node in drawn.nodes:
        left, right = SHAPES.get(node.type or "", BOX)
        lines.append(f"  {ids[node.node_id]}{left}{mermaid_text(name_of(node))}{right}")
    for edge in drawn.edges:
        said = "<br/>".join(map(mermaid_text, _edge_lines(edge, zone)))
        lines.append(f'  {ids[edge.from_node]} -->|"{said}"| {ids[edge.to_node]}')
    starts = [ids[node.node_id] for node in drawn.nodes if node.hop == 0]
    if 0 < len(starts) < len(drawn.nodes):
        lines += ["  classDef start stroke-width:3px", f"  class {','.join(starts)} start"]
    return "\n".join([*lines, ""])


def mermaid_text(text: str) -> str:
    """Escape text for a quoted Mermaid label, so that nothing in it is syntax, HTML or Markdown.

    Mermaid looks for directives and styles in the text, then reads it as Markdown, then as HTML. So ASCII punctuation
    is written as entities, with few exceptions: a hyphen within a word, and a dot or a bracket at its end. Invisible
    characters are written as entities too.
    """
    plain = one_line(text).replace(LIGATURE, "fl")
    safe = DOUBTFUL.sub(_entity, plain)
    return HYPHEN_WITHIN.sub("-", ENDS_A_WORD.sub(lambda found: chr(int(found[0][1:-1])), safe))


def _entity(found: re.Match[str]) -> str:
    sign = found[0]
    if sign.isascii() or unicodedata.category(sign) in {"Cf", "Cn", "Co"}:
        return f"#{ord(sign)};"
    return sign


# DOT ----------------------------------------------------------------------------------------------------------------

DOT_SIGNS = str.maketrans({"\\": "\\\\", '"': '\\"', "&": "&amp;", "<": "&lt;", ">": "&gt;"})


def as_dot(graph: Graph, zone: tzinfo = UTC) -> str:
    """Draw a directed graph for Graphviz, with the same ids and labels as the Mermaid drawing."""
    drawn = in_order(graph)
    ids = {node.node_id: f"n{number}" for number, node in enumerate(drawn.nodes, 1)}
    nodes = [f'  {ids[node.node_id]} [label="{name_of(node).translate(DOT_SIGNS)}"]' for node in drawn.nodes]
    lines = ["digraph memsvc {", "  rankdir=LR", *nodes]
    for edge in drawn.edges:
        said = ", ".join(_edge_lines(edge, zone)).translate(DOT_SIGNS)
        lines.append(f'  {ids[edge.from_node]} -> {ids[edge.to_node]} [label="{said}"]')
    return "\n".join([*lines, "}", ""])
