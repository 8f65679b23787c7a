-- Statements of memsvc.graph. Infinite times are returned as null, because Python has no such time.

-- name: facts
-- Facts about nodes and all nodes merged with them.
SELECT
  f.version_id, f.edge_id, f.from_node, f.type, f.to_node, f.key, f.fact, f.data, f.weight, f.confidence, f.asserted_by,
  nullif(f.valid_from, '-infinity') AS valid_from, nullif(f.valid_to, 'infinity') AS valid_to, f.recorded_from,
  nullif(f.recorded_to, 'infinity') AS recorded_to, f.contested, f.stored_from, f.stored_to
FROM memsvc.facts(
  :user_id, CAST(:nodes AS uuid []), CAST(:types AS text []), :as_of, :known_at, :side
) AS f;

-- name: node_states
-- Properties of nodes and all nodes merged with them.
SELECT
  s.canonical_id, s.node_id, s.version_id, s.type, s.label, s.description, s.data, s.importance, s.asserted_by,
  nullif(s.valid_from, '-infinity') AS valid_from, nullif(s.valid_to, 'infinity') AS valid_to, s.recorded_from,
  nullif(s.recorded_to, 'infinity') AS recorded_to
FROM memsvc.node_states(:user_id, CAST(:nodes AS uuid []), :as_of, :known_at) AS s;

-- name: node_names
-- Names of nodes and all nodes merged with them.
SELECT
  a.canonical_id, a.node_id, a.alias_id, a.alias, a.normal_form, a.confidence, a.asserted_by,
  nullif(a.valid_from, '-infinity') AS valid_from, nullif(a.valid_to, 'infinity') AS valid_to, a.recorded_from,
  nullif(a.recorded_to, 'infinity') AS recorded_to
FROM memsvc.node_names(:user_id, CAST(:nodes AS uuid []), :as_of, :known_at) AS a;

-- name: node_locations
-- Locations of nodes and all nodes merged with them.
SELECT
  a.canonical_id, a.node_id, a.location_id, a.latitude, a.longitude, a.radius_m, a.asserted_by,
  nullif(a.valid_from, '-infinity') AS valid_from, nullif(a.valid_to, 'infinity') AS valid_to, a.recorded_from,
  nullif(a.recorded_to, 'infinity') AS recorded_to
FROM memsvc.node_locations(:user_id, CAST(:nodes AS uuid []), :as_of, :known_at) AS a;

-- name: nearby
-- Locations near a point, nearest first.
SELECT
  n.canonical_id AS node_id, n.node_id AS stored_id, n.location_id, n.label, n.type, n.latitude, n.longitude,
  n.radius_m, n.metres, nullif(n.valid_from, '-infinity') AS valid_from, nullif(n.valid_to, 'infinity') AS valid_to,
  n.recorded_from, n.recorded_to
FROM memsvc.nearby(
  :user_id, :latitude, :longitude, CAST(:radius_m AS double precision), CAST(:box AS double precision []),
  CAST(:types AS text []), CAST(:valid_from AS timestamptz), CAST(:valid_to AS timestamptz),
  CAST(:as_of AS timestamptz), CAST(:known_at AS timestamptz), :limit
) AS n
ORDER BY n.metres, n.location_id;

-- name: stored_nodes
-- Some nodes and all nodes merged with them, as they are stored.
SELECT s.node_id FROM memsvc.same_nodes(:user_id, CAST(:nodes AS uuid []), CAST(:known_at AS timestamptz)) AS s;

-- name: nodes_called
-- Nodes that have one of these names.
SELECT c.name, c.canonical_id, c.node_id, c.alias, c.confidence
FROM memsvc.nodes_called(:user_id, CAST(:names AS text []), :as_of, :known_at) AS c;

-- name: resolve_nodes
-- The canonical node of each node.
SELECT r.node_id, r.canonical_id
FROM memsvc.resolve_nodes(:user_id, CAST(:nodes AS uuid []), :known_at) AS r;

-- name: known_nodes
-- Those of these nodes that exist.
SELECT n.node_id
FROM memsvc.nodes AS n
WHERE n.user_id = :user_id AND n.node_id = any(CAST(:nodes AS uuid []));

-- name: nodes_between
-- Nodes with ids in a range, which is the meaning of a short id: seldom more than one.
SELECT n.node_id
FROM memsvc.nodes AS n
WHERE n.user_id = :user_id AND n.node_id >= CAST(:first AS uuid) AND n.node_id <= CAST(:last AS uuid)
ORDER BY n.node_id
LIMIT 20;

-- name: node_history
-- What was recorded of a node and the nodes merged with it now, newest first.
SELECT
  h.at, h.event, h.kind, h.id, h.subject, h.content, h.asserted_by, nullif(h.valid_from, '-infinity') AS valid_from,
  nullif(h.valid_to, 'infinity') AS valid_to, h.change_id, h.changed_by
FROM memsvc.history_of(:user_id, :node_id, :before, :limit) AS h;

-- name: evidence
-- Passages that support versions of one kind.
SELECT
  v.version_id, l.passage_id, l.span_from, l.span_to, l.stance, l.confidence, l.asserted_by, l.recorded_from
FROM unnest(CAST(:versions AS uuid [])) AS v (version_id)
CROSS JOIN LATERAL memsvc.links_of(:user_id, :kind, v.version_id, :known_at) AS l
ORDER BY v.version_id, l.link_id;

-- name: node_cards
-- Label, type and description of nodes.
SELECT c.node_id, c.canonical_id, c.type, c.label, c.description, c.data, c.importance, c.holds
FROM memsvc.node_cards(:user_id, CAST(:nodes AS uuid []), :as_of, :known_at) AS c;

-- name: nodes_seen
-- When the first and the newest passage was said that supports anything about each node.
SELECT s.canonical_id, s.first_seen, s.last_seen
FROM memsvc.nodes_seen(:user_id, CAST(:nodes AS uuid []), CAST(:known_at AS timestamptz)) AS s;

-- name: graph_around
-- Nodes within some hops, with the facts that lead to them.
SELECT g.unknown, CAST(g.nodes AS text) AS nodes, CAST(g.edges AS text) AS edges, g.truncated
FROM memsvc.graph_around(
  :user_id, CAST(:nodes AS uuid []), :hops, CAST(:types AS text []), :side, :fan_out, :most, :as_of, :known_at
) AS g;

-- name: graph_among
-- Nodes, their neighbours, and all facts among them.
SELECT g.unknown, CAST(g.nodes AS text) AS nodes, CAST(g.edges AS text) AS edges, g.truncated
FROM memsvc.graph_among(
  :user_id, CAST(:nodes AS uuid []), :hops, CAST(:types AS text []), :fan_out, :most, :as_of, :known_at
) AS g;

-- name: graph_told
-- Facts that passages of a source support, with the nodes at their ends.
SELECT CAST(g.nodes AS text) AS nodes, CAST(g.edges AS text) AS edges, g.truncated
FROM memsvc.graph_told(
  :user_id, :source_id, CAST(:types AS text []), :most, CAST(:as_of AS timestamptz), CAST(:known_at AS timestamptz)
) AS g;

-- name: nodes_told
-- Nodes that passages speak of, in the order of the passages.
SELECT t.node_id
FROM memsvc.nodes_told(:user_id, CAST(:passages AS uuid []), :most) AS t (node_id);

-- name: graph_paths
-- Shortest paths between two nodes.
SELECT
  g.unknown, CAST(g.nodes AS text) AS nodes, CAST(g.edges AS text) AS edges, CAST(g.paths AS text) AS paths, g.complete,
  g.truncated
FROM memsvc.graph_paths(
  :user_id, :from_node, :to_node, :max_hops, CAST(:types AS text []), :side, :most, :work, :as_of, :known_at
) AS g;

-- name: graph_stats
-- Statistics of the graph.
SELECT
  s.nodes, s.facts, s.names, s.merges, s.evidence, s.isolated, CAST(s.types AS text) AS types,
  CAST(s.edge_types AS text) AS edge_types, CAST(s.most_connected AS text) AS most_connected,
  CAST(s.degrees AS text) AS degrees,
  o.turns, o.tool_calls, o.documents, o.document_versions
FROM memsvc.graph_stats(:user_id, :as_of, :known_at) AS s
CROSS JOIN (
  SELECT
    (
      SELECT count(*) FROM memsvc.turns AS t
      WHERE t.user_id = :user_id
    ) AS turns,
    (
      SELECT count(*) FROM memsvc.tool_calls AS c
      WHERE c.user_id = :user_id
    ) AS tool_calls,
    (
      SELECT count(*) FROM memsvc.sources AS d
      WHERE d.user_id = :user_id AND d.kind = 'document'
    ) AS documents,
    (
      SELECT count(*) FROM memsvc.document_versions AS v
      WHERE v.user_id = :user_id
    ) AS document_versions
) AS o;

-- name: graph_page
-- A page of the whole graph.
SELECT CAST(g.nodes AS text) AS nodes, CAST(g.edges AS text) AS edges, g.next_part, g.next_edge, g.next_id
FROM memsvc.graph_page(
  :user_id, :part, :after_edge, :after_id, :most, CAST(:types AS text []), :as_of, :known_at
) AS g;

-- name: facts_page
-- Facts about nodes and all nodes merged with them, after a fact; asked_at: the recorded time of the following pages.
SELECT
  f.version_id, f.edge_id, f.from_node, f.type, f.to_node, f.key, f.fact, f.data, f.weight, f.confidence, f.asserted_by,
  nullif(f.valid_from, '-infinity') AS valid_from, nullif(f.valid_to, 'infinity') AS valid_to, f.recorded_from,
  nullif(f.recorded_to, 'infinity') AS recorded_to, f.contested, f.stored_from, f.stored_to, (
    SELECT greatest(clock_timestamp(), max(c.recorded_at))
    FROM memsvc.changes AS c
    WHERE c.user_id = :user_id
  ) AS asked_at
FROM memsvc.facts(
  :user_id, CAST(:nodes AS uuid []), CAST(:types AS text []), :as_of, :known_at, :side
) AS f
WHERE
  CAST(:after_id AS uuid) IS NULL
  OR (f.valid_from, f.recorded_from)
  < (coalesce(CAST(:after_valid AS timestamptz), '-infinity'), CAST(:after_recorded AS timestamptz))
  OR (
    (f.valid_from, f.recorded_from)
    = (coalesce(CAST(:after_valid AS timestamptz), '-infinity'), CAST(:after_recorded AS timestamptz))
    AND f.version_id > CAST(:after_id AS uuid)
  )
ORDER BY f.valid_from DESC, f.recorded_from DESC, f.version_id ASC
LIMIT :limit;

-- name: contested_facts
-- Facts that hold now and are contested. Those that exclude each other are one group: values for the same node, of a
-- type that allows one at a time. A fact that somebody disputes is alone in its group. Where to look: at nodes that
-- others are merged with, and at the starts of facts that somebody disputed; the reasons are the messages of the
-- conversation :marks.
WITH starts AS MATERIALIZED (
  SELECT m.canonical_id AS node_id
  FROM memsvc."merges" AS m
  WHERE m.user_id = :user_id AND m.recorded_to = 'infinity'
  UNION
  SELECT v.from_node
  FROM memsvc.sources AS s
  INNER JOIN memsvc.passages AS p ON p.user_id = :user_id AND s.source_id = p.source_id
  INNER JOIN memsvc.source_links AS l
    ON l.user_id = :user_id AND p.passage_id = l.passage_id AND l.stance = 'disputed' AND l.recorded_to = 'infinity'
  INNER JOIN memsvc.edge_versions AS v ON v.user_id = :user_id AND l.edge_version_id = v.version_id
  WHERE s.user_id = :user_id AND s.kind = 'conversation' AND s.identifier = :marks
),
found AS MATERIALIZED (
  SELECT
    f.*,
    CASE
      WHEN v.functional THEN f.from_node || f.type
      ELSE CAST(f.version_id AS text)
    END AS grouped
  FROM memsvc.facts(:user_id, array(SELECT b.node_id FROM starts AS b), NULL, clock_timestamp(), NULL, 'from') AS f
  INNER JOIN memsvc.edge_versions AS v ON v.user_id = :user_id AND f.version_id = v.version_id
  WHERE f.contested
)
SELECT
  f.version_id, f.edge_id, f.from_node, f.type, f.to_node, f.key, f.fact, f.data, f.weight, f.confidence, f.asserted_by,
  nullif(f.valid_from, '-infinity') AS valid_from, nullif(f.valid_to, 'infinity') AS valid_to, f.recorded_from,
  nullif(f.recorded_to, 'infinity') AS recorded_to, f.contested, f.stored_from, f.stored_to, f.grouped
FROM found AS f
WHERE f.grouped IN (
  SELECT DISTINCT g.grouped
  FROM found AS g
  ORDER BY g.grouped
  LIMIT :limit
)
ORDER BY f.grouped ASC, f.valid_from DESC, f.version_id ASC;

-- name: pinned_among
-- Those of some memories that are pinned.
SELECT s.memory_id
FROM memsvc.memory_signals AS s
WHERE s.user_id = :user_id AND s.memory_id = any(CAST(:memories AS uuid [])) AND s.pinned;

-- name: edge_versions
-- Versions of an edge, newest first: all recorded ones, or those known at a time.
SELECT
  v.version_id, v.edge_id, v.from_node, v.type, v.to_node, e.key, v.fact, v.data, v.weight, v.confidence, v.asserted_by,
  nullif(v.valid_from, '-infinity') AS valid_from, nullif(v.valid_to, 'infinity') AS valid_to, v.recorded_from,
  nullif(v.recorded_to, 'infinity') AS recorded_to,
  memsvc.is_contested(:user_id, v.version, NULL, CAST(:known_at AS timestamptz)) AS contested
FROM memsvc.edges AS e
CROSS JOIN LATERAL (
  SELECT
    o.*, o AS version
  FROM memsvc.edge_versions AS o
  WHERE o.user_id = :user_id AND o.edge_id = e.edge_id AND o.recorded_to = 'infinity'
  UNION ALL
  SELECT
    o.*, o AS version
  FROM memsvc.edge_versions AS o
  WHERE o.user_id = :user_id AND o.edge_id = e.edge_id AND o.recorded_to < 'infinity'
) AS v
WHERE e.user_id = :user_id AND e.edge_id = :edge_id
  AND (
    CAST(:known_at AS timestamptz) IS NULL
    OR (v.recorded_from <= CAST(:known_at AS timestamptz) AND v.recorded_to > CAST(:known_at AS timestamptz))
  )
ORDER BY v.recorded_from DESC, v.valid_from DESC, v.version_id ASC
LIMIT :limit;

-- name: known_edge
-- An edge, if one with this id exists.
SELECT e.edge_id
FROM memsvc.edges AS e
WHERE e.user_id = :user_id AND e.edge_id = :edge_id;

-- name: quotes
-- The first few passages that support or end each of some versions of one kind, with the quoted words.
SELECT
  v.version_id, l.passage_id, p.source_id, l.span_from, l.span_to, l.stance, l.confidence, l.asserted_by,
  l.recorded_from, l.total,
  CASE
    WHEN l.span_from IS NULL THEN left(p.text, :chars)
    ELSE substr(p.text, l.span_from + 1, least(l.span_to - l.span_from, :chars))
  END AS quote
FROM unnest(CAST(:versions AS uuid [])) AS v (version_id)
CROSS JOIN LATERAL (
  SELECT k.*, row_number() OVER (ORDER BY k.link_id) AS nth, count(*) OVER () AS total
  FROM memsvc.links_of(:user_id, :kind, v.version_id, :known_at) AS k
) AS l
CROSS JOIN LATERAL (
  SELECT o.source_id, o.text
  FROM memsvc.passages AS o
  WHERE o.user_id = :user_id AND o.passage_id = l.passage_id OFFSET 0
) AS p
WHERE l.nth <= :most
ORDER BY v.version_id, l.nth;

-- name: moment
-- Now, but not before the last recorded time, because clocks may go back.
SELECT greatest(clock_timestamp(), max(c.recorded_at)) AS moment
FROM memsvc.changes AS c
WHERE c.user_id = :user_id;

-- name: search_nodes
-- Nodes by label or name, best matches first.
SELECT s.canonical_id, s.tier, s.form, s.node_id, s.name
FROM memsvc.search_nodes(
  :user_id, :wanted, :type, :as_of, :known_at, :after_tier, :after_form, :after_node, :limit
) AS s;

-- name: nodes_named
-- Nodes with one of these labels or names, at any valid time.
SELECT DISTINCT w.name, r.canonical_id
FROM unnest(CAST(:names AS text [])) AS w (name)
CROSS JOIN LATERAL memsvc.names_matching(
  :user_id, memsvc.normal_form(w.name), 0, NULL, NULL, :known_at, '', NULL, :limit
) AS m
CROSS JOIN LATERAL memsvc.resolve_nodes(:user_id, ARRAY[m.node_id], :known_at) AS r
WHERE memsvc.normal_form(w.name) <> ''
ORDER BY w.name, r.canonical_id;

-- name: types_of_texts
-- Of these types, those of documents, notes and other texts.
SELECT t.name
FROM unnest(CAST(:types AS text [])) AS t (name)
WHERE memsvc.is_text_type(:user_id, t.name);

-- name: merges_among
-- The merges between nodes.
SELECT m.merge_id, m.node_id, m.canonical_id, m.reason, m.confidence, m.asserted_by, m.recorded_from
FROM memsvc.merges_among(:user_id, CAST(:nodes AS uuid []), :known_at) AS m;

-- name: list_changes
-- Batches of changes, newest first, before a time.
SELECT
  c.change_id, c.recorded_at, c.asserted_by, c.operations, c.undoes, (
    SELECT u.change_id
    FROM memsvc.changes AS u
    WHERE u.user_id = :user_id AND u.undoes = c.change_id
    ORDER BY u.recorded_at DESC
    LIMIT 1
  ) AS undone_by
FROM memsvc.changes AS c
WHERE c.user_id = :user_id AND (CAST(:before AS timestamptz) IS NULL OR c.recorded_at < CAST(:before AS timestamptz))
ORDER BY c.recorded_at DESC
LIMIT :limit;

-- name: get_change
-- One batch of changes.
SELECT
  c.change_id, c.recorded_at, c.asserted_by, c.operations, c.undoes, (
    SELECT u.change_id
    FROM memsvc.changes AS u
    WHERE u.user_id = :user_id AND u.undoes = c.change_id
    ORDER BY u.recorded_at DESC
    LIMIT 1
  ) AS undone_by
FROM memsvc.changes AS c
WHERE c.user_id = :user_id AND c.change_id = :change_id;

-- name: events_of_change
-- What a change wrote and closed, after an item. No two changes of a user have the same time.
SELECT
  t.kind, t.id, s.subject, t.recorded_from = :at AS written, t.recorded_to = :at AS closed, s.asserted_by,
  s.content || jsonb_strip_nulls(
    jsonb_build_object('from_node', s.from_node, 'type', s.type, 'to_node', s.to_node)
  ) AS content,
  nullif(s.valid_from, '-infinity') AS valid_from, nullif(s.valid_to, 'infinity') AS valid_to
FROM memsvc.versions_touched(:user_id, CAST(:at AS timestamptz) - interval '1 microsecond', :at) AS t
CROSS JOIN LATERAL memsvc.version_shown(:user_id, t.kind, t.id) AS s
WHERE CAST(:after_kind AS text) IS NULL OR (t.kind, t.id) > (CAST(:after_kind AS text), CAST(:after_id AS uuid))
ORDER BY t.kind, t.id
LIMIT :limit;

-- name: graph_diff
-- What differs between two moments, by thread, newest first.
SELECT d.at, d.kind, d.subject, d.form, d.before, d.after, d.between_them
FROM memsvc.graph_diff(
  :user_id, :axis, :from_, :to_, :known_at, CAST(:kinds AS text []), :after_at, :after_kind, :after_subject,
  :after_form, :limit
) AS d;

-- name: versions_shown
-- The contents of versions, names and merges.
SELECT
  w.kind, w.id, s.subject, s.content, s.from_node, s.type, s.to_node, s.asserted_by,
  nullif(s.valid_from, '-infinity') AS valid_from, nullif(s.valid_to, 'infinity') AS valid_to, s.recorded_from,
  nullif(s.recorded_to, 'infinity') AS recorded_to
FROM unnest(CAST(:kinds AS text []), CAST(:ids AS uuid [])) AS w (kind, id)
CROSS JOIN LATERAL memsvc.version_shown(:user_id, w.kind, w.id) AS s;

-- name: known_node_type
-- Whether the ontology has this type of nodes.
SELECT count(*) > 0 AS known
FROM memsvc.node_types AS t
WHERE t.name = :name;

-- name: known_edge_type
-- Whether the ontology has this type of edges.
SELECT count(*) > 0 AS known
FROM memsvc.edge_types AS t
WHERE t.name = :name;

-- name: normal_form
-- The common form of all spellings of a name.
SELECT memsvc.normal_form(:name) AS form;

-- name: open_edge_versions
-- Versions of an edge that are known now: the one that is true at a time first, then the latest.
SELECT v.version_id
FROM memsvc.edge_versions AS v
WHERE v.user_id = :user_id AND v.edge_id = :edge_id AND v.recorded_to = 'infinity'
ORDER BY (v.valid_from <= :at AND v.valid_to > :at) DESC, v.valid_from DESC;

-- name: bind_cypher
-- Binds a session of memsvc_cypher to a user; returns whether the token is valid, the user and the graph exist.
SELECT
  set_config('memsvc.identity', :token, TRUE),
  memsvc.current_user_id() AS believed,
  memsvc.user_is_here(memsvc.current_user_id()) AS here,
  CASE
    WHEN memsvc.has_projection() THEN
      has_schema_privilege('memory', 'USAGE') AND current_setting('age.enable_containment', TRUE) IS NOT NULL
  END AS there;

-- name: fact_certainty
-- How sure one can be of versions of facts.
SELECT c.version_id, c.certainty
FROM memsvc.fact_certainty(:user_id, CAST(:versions AS uuid []), CAST(:known_at AS timestamptz)) AS c;
