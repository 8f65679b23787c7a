-- Statements of memsvc.recall.agenda: what may fall into a span of time.

-- name: agenda_said
SELECT
  p.passage_id, p.source_id, p.session, p.ordinal, p.part, p.speaker, p.role, p.text, p.said_at, p.said_offset,
  p.nth, s.identifier
FROM memsvc.agenda_said(
  :user_id, CAST(:said_from AS timestamptz), CAST(:said_to AS timestamptz), CAST(:telling AS text[]), :look, :limit
) AS p
INNER JOIN memsvc.sources AS s ON s.user_id = :user_id AND s.source_id = p.source_id
ORDER BY p.said_at DESC, p.passage_id DESC;

-- name: agenda_facts
SELECT f.version_id, f.type, f.fact, nullif(f.valid_from, '-infinity') AS valid_from,
  nullif(f.valid_to, 'infinity') AS valid_to, f.sort
FROM memsvc.agenda_facts(
  :user_id, CAST(:valid_from AS timestamptz), CAST(:valid_to AS timestamptz), CAST(:longest AS interval),
  CAST(:known_at AS timestamptz), :limit
) AS f;

-- name: agenda_nodes
SELECT n.node_id, n.kind, n.label, n.description, n.data, nullif(n.valid_from, '-infinity') AS valid_from,
  nullif(n.valid_to, 'infinity') AS valid_to, n.nth
FROM memsvc.agenda_nodes(:user_id, CAST(:known_at AS timestamptz), :look) AS n;
