"""Drawings of the graph: whatever a label says, it stays a label."""

from __future__ import annotations

import html
import json
import random
import re
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID
from xml.etree import ElementTree as ET
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.graph.draw import MEDIA_TYPES, SHAPES, as_graph, as_mermaid, draw, one_line, since, xml_text
from memsvc.graph.overview import GraphPage
from memsvc.graph.traverse import Graph, GraphEdge, GraphNode, Path, Paths

BERLIN = ZoneInfo("Europe/Berlin")
SPRING = datetime(2026, 3, 14, 23, 30, tzinfo=UTC)
XMLNS = "{http://graphml.graphdrawing.org/xmlns}"
HOSTILE = [
    '"] click n1 "javascript:alert(1)"', "<img src=x onerror=alert(1)>", "<script>alert(1)</script>",
    "</foreignObject>", "`code` **bold** _italic_ ~~gone~~", '"`markdown`"', "end", "subgraph x", "a\nb\nclass n1 evil",
    "a\r\nb\tc", '%%{init: {"theme": "dark"}}%%', "%% comment", "---\ntitle: x\n---", "#quot;#60;b#62;",
    "&lt;b&gt;&#60;",
    "\ufb02°°60 x", "style x: #fff;", "classDef a fill:#f00;", "linkStyle 0 stroke:#f00;", "\u202egnissel\u202c",
    "שלום עולם",
    "مرحبا", "👩\u200d👩\u200d👧 🇵🇹", "]]>", "1. first", "2) second", "- list", "+ list", "> quote", "# heading",
    "www.example.com", "https://example.com/a?b=c&d=e", "fa:fa-car", "$$x^2$$", "| pipe |", "{{x}}", "n1 --> n2",
    "@{ shape: circle }", "a;b", "C:\\N\\l\\", '\\"', "x" * 5_000, "\x1b[31mred\x07", "é e\u0301",
    "\ufffe\uffff", "a\u2028b",
]  # fmt: skip
TYPES = [*SHAPES, "Object", None]


def node(number: int, label: str | None, **more: Any) -> GraphNode:
    given = {"type": "Person", "description": "", "data": {}, "importance": 5.0, "hop": min(number, 1)}
    return GraphNode(node_id=UUID(int=number), label=label, **{**given, **more})


def edge(number: int, start: int, end: int, **more: Any) -> GraphEdge:
    given = {"type": "KNOWS", "fact": "", "weight": 1.0, "confidence": 1.0, "valid_from": None, "valid_to": None}
    version, thread = UUID(int=1_000_000 + number), UUID(int=2_000_000 + number)
    return GraphEdge(
        version_id=version, edge_id=thread, from_node=UUID(int=start), to_node=UUID(int=end), **{**given, **more}
    )


def around(*labels: str) -> Graph:
    """A star: the first node knows all others, in words that say the same as their labels."""
    nodes = [
        node(number, label, type=TYPES[number % len(TYPES)], description=label, data={label: [label]})
        for number, label in enumerate(labels)
    ]
    edges = [edge(n, 0, n, type=label, fact=label, valid_from=SPRING) for n, label in enumerate(labels) if n]
    return Graph(nodes=nodes, edges=edges, truncated=False)


# GraphML


def read_graphml(text: str) -> tuple[dict[str, dict[str, str]], dict[str, dict[str, str]]]:
    """Attributes of nodes and edges by id, as any reader of GraphML sees them; keys must be declared."""
    root = ET.fromstring(text.encode())
    keys = {key.get("id"): (key.get("for"), key.get("attr.name")) for key in root.iter(f"{XMLNS}key")}
    assert len(keys) == len(list(root.iter(f"{XMLNS}key")))
    found: dict[str, dict[str, dict[str, str]]] = {"node": {}, "edge": {}}
    for kind, items in found.items():
        for item in root.iter(f"{XMLNS}{kind}"):
            about = {name: item.get(name, "") for name in ("source", "target") if item.get(name)}
            for datum in item:
                owner, name = keys[datum.get("key")]
                assert owner == kind
                about[str(name)] = datum.text or ""
            items[item.get("id", "")] = about
    return found["node"], found["edge"]


def held_by_xml(text: str) -> str:
    return re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", "\ufffd", text)


def test_graphml_has_every_field() -> None:
    nodes = [
        node(1, "Marcel", hop=0),
        node(2, "Porto", type="Place", description="A city.", data={"x": 1}, importance=7),
    ]
    lives = edge(1, 1, 2, type="LIVES_IN", fact="He lives there.", weight=0.5, confidence=0.9, valid_from=SPRING)
    places, facts = read_graphml(draw(Graph(nodes=nodes, edges=[lives], truncated=True), "graphml"))
    assert places[str(UUID(int=1))] == {"label": "Marcel", "type": "Person", "importance": "5.0", "hop": "0"}
    assert places[str(UUID(int=2))] == {
        "label": "Porto", "type": "Place", "description": "A city.", "data": '{"x":1}', "importance": "7", "hop": "1",
    }  # fmt: skip
    assert facts[str(lives.version_id)] == {
        "source": str(UUID(int=1)), "target": str(UUID(int=2)), "label": "LIVES_IN", "fact": "He lives there.",
        "edge_id": str(lives.edge_id), "weight": "0.5", "confidence": "0.9", "valid_from": "2026-03-14T23:30:00+00:00",
    }  # fmt: skip


def test_graphml_keeps_hostile_labels_as_they_are() -> None:
    nodes, edges = read_graphml(draw(around(*HOSTILE), "graphml"))
    assert [nodes[str(UUID(int=n))]["label"] for n in range(len(HOSTILE))] == [held_by_xml(label) for label in HOSTILE]
    for number, label in enumerate(HOSTILE):
        about = nodes[str(UUID(int=number))]
        assert about["description"] == about["label"]
        assert list(json.loads(about["data"])) in ([label], [held_by_xml(label)])
    assert {about["fact"] for about in edges.values()} == {held_by_xml(label) for label in HOSTILE[1:]}


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_goes_through_xml(text: str) -> None:
    assert (ET.fromstring(f"<a>{xml_text(text)}</a>").text or "") == held_by_xml(text)


def test_graphml_declares_ends_that_are_not_among_the_nodes() -> None:
    nodes, edges = read_graphml(draw(Graph(nodes=[node(1, "A")], edges=[edge(1, 1, 9)], truncated=False), "graphml"))
    assert nodes[str(UUID(int=9))] == {}
    assert len(edges) == 1


# Mermaid

LEFT, RIGHT = zip(*{*SHAPES.values(), ('["', '"]')}, strict=True)
MERMAID_NODE = re.compile(
    rf'  (?P<id>n\d+)(?P<left>{"|".join(map(re.escape, LEFT))})(?P<label>[^"\n]*)'
    rf"(?P<right>{'|'.join(map(re.escape, RIGHT))})"
)
MERMAID_EDGE = re.compile(r'  (?P<start>n\d+) -->\|"(?P<label>[^"\n]*)"\| (?P<end>n\d+)')
MERMAID_STYLE = re.compile(r"  classDef start stroke-width:3px|  class n\d+(?:,n\d+)* start")
ENTITY = re.compile(r"#(\d+);")


def shown(label: str) -> str:
    """A label as Mermaid shows it; what has a meaning in Mermaid, Markdown or HTML must be written as an entity."""
    assert not re.search(r"[^\w ,'?!/().-]", re.sub(r"[^\x00-\x7f]", "", ENTITY.sub("", label))), label
    assert not re.search(r"(?<!\w)[_-]|[_-](?!\w)|__|\d[.)]|www\.|\.\w", ENTITY.sub(" ", label)), label
    return html.unescape(ENTITY.sub(r"&#\1;", label))


def read_mermaid(text: str) -> tuple[dict[str, str], list[tuple[str, str, str]]]:
    """Labels by id, and edges; every line must be one that we write ourselves."""
    first, *lines = text.splitlines()
    assert first == "flowchart LR"
    nodes: dict[str, str] = {}
    edges = []
    for line in lines:
        if found := MERMAID_NODE.fullmatch(line):
            assert (found["left"], found["right"]) in {*SHAPES.values(), ('["', '"]')}
            assert found["id"] not in nodes
            nodes[found["id"]] = shown(found["label"])
        elif found := MERMAID_EDGE.fullmatch(line):
            said = ", ".join(map(shown, found["label"].split("<br/>")))
            edges.append((found["start"], said, found["end"]))
        else:
            assert MERMAID_STYLE.fullmatch(line), line
    assert {end for start, _, end in edges} | {start for start, _, end in edges} <= set(nodes)
    return nodes, edges


def test_a_small_mermaid_drawing_to_the_letter() -> None:
    nodes = [
        node(2, "Porto", type="Place"),
        node(1, "Marcel", hop=0),
        node(3, "Dr. Çelik & Söhne", type="Organization"),
    ]
    edges = [
        edge(1, 1, 2, type="LIVES_IN", valid_from=SPRING),
        edge(2, 1, 3, type="WORKS_AT", valid_from=SPRING, valid_to=SPRING + timedelta(days=30)),
    ]
    assert as_mermaid(Graph(nodes=nodes, edges=edges, truncated=False), BERLIN) == (
        "flowchart LR\n"
        '  n1(["Marcel"])\n'
        '  n2[["Dr. Çelik #38; Söhne"]]\n'
        '  n3{{"Porto"}}\n'
        '  n1 -->|"works at<br/>2026-03-15 to 2026-04-14"| n2\n'
        '  n1 -->|"lives in<br/>since 2026-03-15"| n3\n'
        "  classDef start stroke-width:3px\n"
        "  class n1 start\n"
    )


@pytest.mark.parametrize("label", HOSTILE)
def test_no_label_breaks_out_of_mermaid(label: str) -> None:
    nodes, edges = read_mermaid(as_mermaid(around("Marcel", label)))
    expected = one_line(label, 40).replace("\ufb02", "fl") or "node 000001"
    assert sorted(nodes.values()) == sorted(["Marcel", expected])
    assert len(edges) == 1


@given(st.lists(st.text(max_size=60), max_size=5))
def test_no_text_breaks_out_of_mermaid(labels: list[str]) -> None:
    nodes, edges = read_mermaid(as_mermaid(around("Marcel", *labels)))
    assert len(nodes) == len(labels) + 1
    assert len(edges) == len(labels)


# All of them


@pytest.mark.parametrize("form", MEDIA_TYPES)
def test_the_same_graph_gives_the_same_drawing_in_any_order(form: Any) -> None:
    graph = around(*HOSTILE)
    chance = random.Random(4)
    nodes, edges = list(graph.nodes), list(graph.edges)
    chance.shuffle(nodes)
    chance.shuffle(edges)
    again = draw(Graph(nodes=nodes, edges=edges, truncated=False), form)
    assert form == "json" or again == draw(graph, form)
    assert draw(graph, form) == draw(graph, form)


def test_json_is_the_graph() -> None:
    graph = around(*HOSTILE)
    read = json.loads(draw(graph, "json"))
    assert [item["label"] for item in read["nodes"]] == HOSTILE
    assert set(read["nodes"][0]) == set(GraphNode.__struct_fields__)
    assert set(read["edges"][0]) == set(GraphEdge.__struct_fields__)
    assert read["truncated"] is False


def test_nothing_can_be_drawn() -> None:
    nothing = Graph(nodes=[], edges=[], truncated=False)
    assert json.loads(draw(nothing, "json")) == {"nodes": [], "edges": [], "truncated": False}
    assert read_graphml(draw(nothing, "graphml")) == ({}, {})
    assert as_mermaid(nothing) == "flowchart LR\n"
    assert draw(nothing, "dot") == "digraph memsvc {\n  rankdir=LR\n}\n"


def test_dot_quotes_labels() -> None:
    text = draw(around("Marcel", *HOSTILE), "dot")
    inside = r"(?:[^\"\\\n]|\\[\\\"])*"
    line = re.compile(rf'  n\d+(?: -> n\d+)? \[label="(?P<label>{inside})"\]')
    first, second, *lines, last = text.splitlines()
    assert (first, second, last) == ("digraph memsvc {", "  rankdir=LR", "}")
    assert len(lines) == len(HOSTILE) * 2 + 1
    labels = [found["label"] for found in map(line.fullmatch, lines) if found]
    assert len(labels) == len(lines)
    said = {html.unescape(re.sub(r"\\(.)", r"\1", label)) for label in labels}
    assert {one_line(label, 40) for label in HOSTILE} - {""} <= said


def test_text_for_one_line_has_no_controls_and_no_overrides() -> None:
    assert one_line(" a\n\tb\x1b[31m\u202ec\u2028d ") == "a b [31m c d"
    assert one_line("x" * 50, 10) == "xxxxxxxxx…"
    assert one_line("\n \u200b") == "\u200b"


@pytest.mark.parametrize(
    ("begin", "end", "said"),
    [
        (None, None, ""),
        (SPRING, None, "since 2026-03-15 00:30"),
        (None, SPRING - timedelta(minutes=30), "until 2026-03-15"),
        (SPRING, SPRING, "2026-03-15 00:30 to 2026-03-15 00:30"),
        (datetime(1, 1, 1, tzinfo=UTC), datetime.max.replace(tzinfo=UTC), "0001-01-01 00:53 to 9999-12-31 23:59"),
    ],
)
def test_times_in_words(begin: datetime | None, end: datetime | None, said: str) -> None:
    assert since(edge(1, 1, 2, valid_from=begin, valid_to=end), BERLIN) == said


def test_times_that_nobody_told_are_drawn_as_that() -> None:
    known = edge(1, 1, 2, valid_from=SPRING, begin_untold=True)
    ended = edge(2, 1, 2, valid_from=SPRING - timedelta(days=1), valid_to=SPRING, end_untold=True)
    over = edge(3, 1, 2, valid_to=SPRING, end_untold=True)
    assert [since(one, BERLIN, clock=False) for one in (known, ended, over)] == [
        "known since 2026-03-15", "since 2026-03-14, ended by 2026-03-15, day unknown",
        "ended by 2026-03-15, day unknown",
    ]  # fmt: skip
    graph = Graph(nodes=[node(1, "A"), node(2, "B")], edges=[known, over], truncated=False)
    for form in ("mermaid", "dot"):
        drawn = draw(graph, form, BERLIN)
        assert "known since 2026-03-15" in drawn, form
        assert "ended by 2026-03-15, day unknown" in drawn, form
    _, edges = read_graphml(draw(graph, "graphml"))
    marks = [{key for key in one if key.endswith("_untold")} for one in edges.values()]
    assert sorted(marks, key=sorted) == [{"begin_untold"}, {"end_untold"}]


def test_pages_and_ways_become_one_graph() -> None:
    a, b, c = node(1, "A"), node(2, "B"), node(3, "C")
    first, second = edge(1, 1, 2), edge(2, 2, 3)
    ways = Paths(
        paths=[Path(nodes=[a, b, c], edges=[first, second]), Path(nodes=[a, b], edges=[first])],
        complete=False,
        truncated=False,
    )
    joined = as_graph(ways)
    assert ({item.label for item in joined.nodes}, joined.edges, joined.truncated) == (
        {"A", "B", "C"},
        [first, second],
        True,
    )
    assert as_graph(GraphPage(nodes=[a], edges=[], next_cursor="x")).truncated
