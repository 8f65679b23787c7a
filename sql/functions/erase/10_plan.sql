-- Plans what an erasure removes; nothing is deleted here.

-- Versions of nodes, edges, names and locations, and merges, that these passages support, and whether other passages
-- do. alone: no open link from a passage outside supports them. All passages of p_source_id count as inside, so that
-- the order in which they are erased does not matter. A summary, a concept or a reflection has words of each passage that
-- it rests on, so it counts as supported by any of them alone. last: no other passage of it supports the version any more.
CREATE OR REPLACE FUNCTION memsvc.spoken_for(p_user_id uuid, p_passages uuid[], p_source_id uuid)
RETURNS TABLE (kind text, id uuid, alone boolean, last boolean)
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, eraser
-- plans: by-key
BEGIN ATOMIC
  WITH spoken AS MATERIALIZED (
    SELECT DISTINCT v.kind, v.id
    FROM memsvc.source_links AS l
    CROSS JOIN LATERAL (
      VALUES ('node', l.node_version_id), ('edge', l.edge_version_id), ('alias', l.alias_id),
        ('place', l.location_id), ('merge', l.merge_id)
    ) AS v (kind, id)
    WHERE l.user_id = p_user_id AND l.passage_id = ANY (p_passages) AND l.stance = 'supports'
      AND l.recorded_to = 'infinity' AND v.id IS NOT NULL
  ),
  other AS MATERIALIZED (
    SELECT s.kind, s.id, coalesce(p_source_id = (
      SELECT p.source_id FROM memsvc.passages AS p
      WHERE p_source_id IS NOT NULL AND p.user_id = p_user_id AND p.passage_id = k.passage_id
    ), false) AS inside
    FROM spoken AS s CROSS JOIN LATERAL memsvc.links_of(p_user_id, s.kind, s.id) AS k
    WHERE k.stance = 'supports' AND k.passage_id NOT IN (SELECT unnest(p_passages))
  )
  SELECT s.kind, s.id, NOT coalesce(bool_or(NOT o.inside), false) OR (
      s.kind = 'node' AND EXISTS (
        SELECT FROM memsvc.node_versions AS v
        WHERE v.user_id = p_user_id AND v.version_id = s.id AND memsvc.tells_of_all(p_user_id, v.type)
      )
    ), NOT coalesce(bool_or(o.inside), false)
  FROM spoken AS s LEFT JOIN other AS o ON o.kind = s.kind AND o.id = s.id
  GROUP BY s.kind, s.id;
END;
COMMENT ON FUNCTION memsvc.spoken_for(uuid, uuid[], uuid) IS 'Versions that passages support, and whether others do.';

-- Versions of edges between the summaries and reflections that these versions of nodes are of and what those are about, and
-- from what concepts hold:
-- they say nothing without them.
CREATE OR REPLACE FUNCTION memsvc.summary_edges(p_user_id uuid, p_node_versions uuid[]) RETURNS uuid[]
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, eraser
-- plans: by-key
BEGIN ATOMIC
  SELECT ARRAY(
    SELECT e.version_id
    FROM memsvc.node_versions AS v
    CROSS JOIN LATERAL (
      SELECT o.version_id FROM memsvc.edge_versions AS o
      WHERE o.user_id = p_user_id AND o.from_node = v.node_id
        AND (o.type IN ('SUMMARIZES', 'REFLECTS_ON') OR (o.type = 'EXAMPLE_OF' AND o.asserted_by = 'concepts'))
      UNION
      SELECT o.version_id FROM memsvc.edge_versions AS o
      WHERE o.user_id = p_user_id AND o.to_node = v.node_id
        AND (
          o.type IN ('SUMMARIZES', 'REFLECTS_ON')
          OR (o.type IN ('EXAMPLE_OF', 'PART_OF') AND o.asserted_by = 'concepts')
        )
    ) AS e
    WHERE v.user_id = p_user_id AND v.version_id = ANY (p_node_versions)
      AND memsvc.tells_of_all(p_user_id, v.type)
  );
END;
COMMENT ON FUNCTION memsvc.summary_edges(uuid, uuid[]) IS 'Versions of edges that go with versions of summaries and reflections.';

-- Versions of concepts that hold a node, whose name stands in their text: what these edges lead to.
CREATE OR REPLACE FUNCTION memsvc.concepts_naming(p_user_id uuid, p_edges uuid[], p_node_id uuid) RETURNS uuid[]
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, eraser
-- plans: by-key
BEGIN ATOMIC
  SELECT ARRAY(
    SELECT v.version_id
    FROM memsvc.edges AS e
    INNER JOIN memsvc.node_versions AS v ON v.user_id = p_user_id AND v.node_id = e.to_node
    WHERE e.user_id = p_user_id AND e.edge_id = ANY (p_edges) AND e.type IN ('EXAMPLE_OF', 'PART_OF')
      AND e.to_node IS DISTINCT FROM p_node_id AND v.asserted_by = 'concepts'
  );
END;
COMMENT ON FUNCTION memsvc.concepts_naming(uuid, uuid[], uuid) IS 'Versions of concepts at which edges end.';

-- Ids of all rows that are deleted with some passages, edges and a node (erasure_scope); reduced: versions that stay
-- with less evidence. Nodes and edges that become empty by the erasure are deleted; those that were empty before are
-- not.
CREATE OR REPLACE FUNCTION memsvc.plan_erasure(
  p_user_id uuid, p_passages uuid[], p_source_id uuid, p_edges uuid[], p_node_id uuid
) RETURNS TABLE (
  links uuid[], node_versions uuid[], edge_versions uuid[], aliases uuid[], locations uuid[], merges uuid[],
  edges uuid[], nodes uuid[], reduced uuid[]
)
LANGUAGE plpgsql STABLE ROWS 1
SET search_path = memsvc, pg_temp
-- callers: app, eraser
-- plans: by-key
AS $$
#variable_conflict use_column
DECLARE
  ends uuid[]; -- nodes that lose something
  others uuid[]; -- versions that others support too
  taken_over uuid[] := '{}'; -- links of versions that stay, taken over from versions that are deleted
BEGIN
  SELECT
    coalesce(array_agg(s.id) FILTER (WHERE s.alone AND s.kind = 'node'), '{}'),
    coalesce(array_agg(s.id) FILTER (WHERE s.alone AND s.kind = 'edge'), '{}'),
    coalesce(array_agg(s.id) FILTER (WHERE s.alone AND s.kind = 'alias'), '{}'),
    coalesce(array_agg(s.id) FILTER (WHERE s.alone AND s.kind = 'place'), '{}'),
    coalesce(array_agg(s.id) FILTER (WHERE s.alone AND s.kind = 'merge'), '{}'),
    coalesce(array_agg(s.id) FILTER (WHERE NOT s.alone AND s.last), '{}'),
    coalesce(array_agg(s.id) FILTER (WHERE NOT s.alone AND s.kind <> 'merge'), '{}')
  INTO node_versions, edge_versions, aliases, locations, merges, reduced, others
  FROM memsvc.spoken_for(p_user_id, p_passages, p_source_id) AS s;
  IF others <> '{}' THEN
    SELECT
      node_versions || coalesce(array_agg(u.id) FILTER (WHERE u.kind = 'node'), '{}'),
      edge_versions || coalesce(array_agg(u.id) FILTER (WHERE u.kind = 'edge'), '{}'),
      aliases || coalesce(array_agg(u.id) FILTER (WHERE u.kind = 'alias'), '{}'),
      locations || coalesce(array_agg(u.id) FILTER (WHERE u.kind = 'place'), '{}')
    INTO node_versions, edge_versions, aliases, locations
    FROM memsvc.versions_undone(
      p_user_id, p_passages, p_source_id, node_versions || edge_versions || aliases || locations, others
    ) AS u;
    reduced := ARRAY(
      SELECT r.id FROM unnest(reduced) AS r (id)
      WHERE r.id NOT IN (SELECT unnest(node_versions || edge_versions || aliases || locations))
    );
    taken_over := memsvc.evidence_lost(
      p_user_id, p_passages, others, node_versions || edge_versions || aliases || locations
    );
  END IF;

  edge_versions := edge_versions || ARRAY(
    SELECT v.version_id FROM memsvc.edge_versions AS v WHERE v.user_id = p_user_id AND v.edge_id = ANY (p_edges)
  );
  IF p_node_id IS NOT NULL THEN
    node_versions := ARRAY(
      SELECT v.version_id FROM memsvc.node_versions AS v WHERE v.user_id = p_user_id AND v.node_id = p_node_id
    );
    aliases := ARRAY(SELECT a.alias_id FROM memsvc.aliases AS a WHERE a.user_id = p_user_id AND a.node_id = p_node_id);
    locations := ARRAY(
      SELECT a.location_id FROM memsvc.locations AS a WHERE a.user_id = p_user_id AND a.node_id = p_node_id
    );
    merges := ARRAY(
      SELECT m.merge_id FROM memsvc.merges AS m WHERE m.user_id = p_user_id AND m.node_id = p_node_id
      UNION
      SELECT m.merge_id FROM memsvc.merges AS m WHERE m.user_id = p_user_id AND m.canonical_id = p_node_id
    );
  END IF;

  node_versions := node_versions || memsvc.concepts_naming(p_user_id, p_edges, p_node_id);
  edge_versions := edge_versions || memsvc.summary_edges(p_user_id, node_versions);

  links := ARRAY(
    SELECT l.link_id FROM source_links AS l WHERE l.user_id = p_user_id AND l.passage_id = ANY (p_passages)
    UNION
    SELECT unnest(taken_over)
    UNION
    SELECT l.link_id FROM source_links AS l WHERE l.user_id = p_user_id AND l.node_version_id = ANY (node_versions)
    UNION
    SELECT l.link_id FROM source_links AS l WHERE l.user_id = p_user_id AND l.edge_version_id = ANY (edge_versions)
    UNION
    SELECT l.link_id FROM source_links AS l WHERE l.user_id = p_user_id AND l.alias_id = ANY (aliases)
    UNION
    SELECT l.link_id FROM source_links AS l WHERE l.user_id = p_user_id AND l.location_id = ANY (locations)
    UNION
    SELECT l.link_id FROM source_links AS l WHERE l.user_id = p_user_id AND l.merge_id = ANY (merges)
    UNION
    SELECT l.link_id FROM source_links AS l WHERE l.user_id = p_user_id AND l.node_id = p_node_id
  );
  edges := ARRAY(
    SELECT e.edge_id
    FROM (
      SELECT v.edge_id FROM memsvc.edge_versions AS v
      WHERE v.user_id = p_user_id AND v.version_id = ANY (edge_versions)
      UNION
      SELECT unnest(p_edges)
    ) AS e
    WHERE NOT EXISTS (
      SELECT FROM memsvc.edge_versions AS o
      WHERE o.user_id = p_user_id AND o.edge_id = e.edge_id AND o.version_id NOT IN (SELECT unnest(edge_versions))
    )
  );
  ends := ARRAY(
    SELECT v.node_id FROM memsvc.node_versions AS v
    WHERE v.user_id = p_user_id AND v.version_id = ANY (node_versions)
    UNION
    SELECT a.node_id FROM memsvc.aliases AS a WHERE a.user_id = p_user_id AND a.alias_id = ANY (aliases)
    UNION
    SELECT a.node_id FROM memsvc.locations AS a WHERE a.user_id = p_user_id AND a.location_id = ANY (locations)
    UNION
    SELECT n.node_id FROM memsvc.merges AS m CROSS JOIN unnest(ARRAY[m.node_id, m.canonical_id]) AS n (node_id)
    WHERE m.user_id = p_user_id AND m.merge_id = ANY (merges)
    UNION
    SELECT n.node_id FROM memsvc.edges AS e CROSS JOIN unnest(ARRAY[e.from_node, e.to_node]) AS n (node_id)
    WHERE e.user_id = p_user_id AND e.edge_id = ANY (edges)
    UNION
    SELECT l.node_id FROM source_links AS l
    WHERE l.user_id = p_user_id AND l.link_id = ANY (links) AND l.node_id IS NOT NULL
    UNION
    SELECT p_node_id WHERE p_node_id IS NOT NULL
  );
  nodes := ARRAY(
    SELECT n.node_id FROM unnest(ends) AS n (node_id)
    WHERE NOT EXISTS (
      SELECT FROM memsvc.node_versions AS v
      WHERE v.user_id = p_user_id AND v.node_id = n.node_id AND v.version_id NOT IN (SELECT unnest(node_versions))
    ) AND NOT EXISTS (
      SELECT FROM memsvc.aliases AS a
      WHERE a.user_id = p_user_id AND a.node_id = n.node_id AND a.alias_id NOT IN (SELECT unnest(aliases))
    ) AND NOT EXISTS (
      SELECT FROM memsvc.locations AS a
      WHERE a.user_id = p_user_id AND a.node_id = n.node_id AND a.location_id NOT IN (SELECT unnest(locations))
    ) AND NOT EXISTS (
      SELECT FROM memsvc.edges AS e
      WHERE e.user_id = p_user_id AND e.from_node = n.node_id AND e.edge_id NOT IN (SELECT unnest(edges))
    ) AND NOT EXISTS (
      SELECT FROM memsvc.edges AS e
      WHERE e.user_id = p_user_id AND e.to_node = n.node_id AND e.edge_id NOT IN (SELECT unnest(edges))
    ) AND NOT EXISTS (
      SELECT FROM memsvc.merges AS m
      WHERE m.user_id = p_user_id AND m.node_id = n.node_id AND m.merge_id NOT IN (SELECT unnest(merges))
    ) AND NOT EXISTS (
      SELECT FROM memsvc.merges AS m
      WHERE m.user_id = p_user_id AND m.canonical_id = n.node_id AND m.merge_id NOT IN (SELECT unnest(merges))
    ) AND NOT EXISTS (
      SELECT FROM source_links AS l
      WHERE l.user_id = p_user_id AND l.node_id = n.node_id AND l.link_id NOT IN (SELECT unnest(links))
    )
  );
  RETURN NEXT;
END
$$;
COMMENT ON FUNCTION memsvc.plan_erasure(uuid, uuid[], uuid, uuid[], uuid) IS
  'Ids of all rows that are deleted with some passages, edges and a node.';

-- Lines of blocks of the profile that only these passages support, which are deleted with them.
CREATE OR REPLACE FUNCTION memsvc.lines_lost(p_user_id uuid, p_passages uuid[])
RETURNS TABLE (version_id uuid, place smallint)
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, eraser
-- plans: by-key
BEGIN ATOMIC
  WITH touched AS MATERIALIZED (
    SELECT DISTINCT e.version_id FROM memsvc.profile_evidence AS e
    WHERE e.user_id = p_user_id AND e.passage_id = ANY (p_passages)
  )
  SELECT e.version_id, l.place
  FROM touched AS t
  INNER JOIN memsvc.profile_evidence AS e ON e.user_id = p_user_id AND e.version_id = t.version_id
  CROSS JOIN LATERAL unnest(e.lines) AS l (place)
  GROUP BY e.version_id, l.place
  HAVING bool_and(e.passage_id IN (SELECT unnest(p_passages)));
END;
COMMENT ON FUNCTION memsvc.lines_lost(uuid, uuid[]) IS 'Lines of blocks that only these passages support.';

-- Other passages, of archival blocks (profiles/30_filed_blocks.sql), whose text changes with an erasure: some of their
-- lines have only these passages as evidence, or they describe nodes that are deleted.
CREATE OR REPLACE FUNCTION memsvc.filed_with(p_user_id uuid, p_passages uuid[], p_nodes uuid[]) RETURNS uuid[]
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, eraser
-- plans: by-key
BEGIN ATOMIC
  SELECT ARRAY(
    SELECT p.passage_id
    FROM (
      SELECT v.block_id, v.version
      FROM memsvc.lines_lost(p_user_id, p_passages) AS l
      INNER JOIN memsvc.profile_versions AS v ON v.user_id = p_user_id AND v.version_id = l.version_id
      UNION
      SELECT v.block_id, v.version FROM memsvc.profile_versions AS v
      WHERE v.user_id = p_user_id AND v.node_id = ANY (p_nodes)
    ) AS b
    INNER JOIN memsvc.passages AS p
      ON p.user_id = p_user_id AND p.source_id = b.block_id AND p.session = '' AND p.ordinal = b.version
    WHERE p.passage_id NOT IN (SELECT unnest(p_passages))
  );
END;
COMMENT ON FUNCTION memsvc.filed_with(uuid, uuid[], uuid[]) IS
  'Passages of archival blocks whose text changes with an erasure.';

-- Turns that go with these passages, and with a conversation of an agent; and documents that only they knew: no other call
-- touched them, and no text of theirs is stored.
CREATE OR REPLACE FUNCTION memsvc.turns_lost(p_user_id uuid, p_passages uuid[], p_source_id uuid)
RETURNS TABLE (turns uuid[], documents uuid[])
LANGUAGE plpgsql STABLE ROWS 1
SET search_path = memsvc, pg_temp
-- callers: app, eraser
-- plans: by-key
AS $$
#variable_conflict use_column
BEGIN
  turns := ARRAY(
    SELECT t.turn_id
    FROM (
      SELECT DISTINCT p.source_id, p.session FROM passages AS p
      WHERE p.user_id = p_user_id AND p.passage_id = ANY (p_passages) AND p.kind = 'turn'
    ) AS s
    INNER JOIN turns AS t ON t.user_id = p_user_id AND t.source_id = s.source_id AND t.session = s.session
    UNION
    SELECT t.turn_id FROM turns AS t
    WHERE t.user_id = p_user_id AND p_source_id IN (t.source_id, t.chat_id) AND NOT EXISTS (
      SELECT FROM passages AS p
      WHERE p.user_id = p_user_id AND p.source_id = t.source_id AND p.session = t.session
    )
  );
  documents := ARRAY(
    SELECT d.document_id
    FROM (
      SELECT DISTINCT c.document_id FROM tool_calls AS c
      WHERE c.user_id = p_user_id AND c.turn_id = ANY (turns) AND c.document_id IS NOT NULL
    ) AS d
    WHERE NOT EXISTS (
      SELECT FROM tool_calls AS o
      WHERE o.user_id = p_user_id AND o.document_id = d.document_id AND o.turn_id <> ALL (turns)
    ) AND NOT EXISTS (
      SELECT FROM document_versions AS v
      WHERE v.user_id = p_user_id AND v.source_id = d.document_id AND v.chunked
    ) AND NOT EXISTS (
      SELECT FROM passages AS p WHERE p.user_id = p_user_id AND p.source_id = d.document_id
    )
  );
  RETURN NEXT;
END
$$;
COMMENT ON FUNCTION memsvc.turns_lost(uuid, uuid[], uuid) IS
  'Turns that go with some passages, and documents that only they knew.';

-- Archival blocks with passages among these, except p_source_id, of which no version is left when these passages, the
-- nodes and the source are deleted.
CREATE OR REPLACE FUNCTION memsvc.blocks_emptied(p_user_id uuid, p_passages uuid[], p_nodes uuid[], p_source_id uuid)
RETURNS SETOF uuid
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
BEGIN ATOMIC
  WITH lost AS MATERIALIZED (
    SELECT l.version_id, l.place::bigint AS line_number FROM memsvc.lines_lost(p_user_id, p_passages) AS l
  )
  SELECT b.source_id
  FROM (
    SELECT DISTINCT p.source_id FROM memsvc.passages AS p
    WHERE p.user_id = p_user_id AND p.passage_id = ANY (p_passages) AND p.kind IN ('block', 'former')
  ) AS b
  WHERE b.source_id IS DISTINCT FROM p_source_id AND NOT EXISTS (
    SELECT FROM memsvc.profile_versions AS v
    CROSS JOIN LATERAL string_to_table(v.text, E'\n') WITH ORDINALITY AS t (line, line_number)
    WHERE v.user_id = p_user_id AND v.block_id = b.source_id AND (v.node_id = ANY (p_nodes)) IS NOT TRUE
      AND (v.source_id = p_source_id) IS NOT TRUE AND btrim(t.line) <> ''
      AND (v.version_id, t.line_number) NOT IN (SELECT l.version_id, l.line_number FROM lost AS l)
  );
END;
COMMENT ON FUNCTION memsvc.blocks_emptied(uuid, uuid[], uuid[], uuid) IS
  'Archival blocks of which nothing is left after an erasure.';

-- The scope of an erasure (erasure_scope) and the passages of blocks that change with it, repeated until no further
-- block depends on one of them.
CREATE OR REPLACE FUNCTION memsvc.erasure_reach(p_user_id uuid, p_kind text, p_subject_id uuid, p_limit integer)
RETURNS TABLE (passages uuid[], source_id uuid, edges uuid[], node_id uuid)
LANGUAGE plpgsql STABLE ROWS 1
SET search_path = memsvc, pg_temp
-- callers: app, eraser
-- plans: by-key
AS $$
#variable_conflict use_column
DECLARE
  filed uuid[];
BEGIN
  SELECT s.* INTO passages, source_id, edges, node_id
  FROM memsvc.erasure_scope(p_user_id, p_kind, p_subject_id, p_limit) AS s;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  WHILE EXISTS (SELECT FROM sources AS s WHERE s.user_id = p_user_id AND s.kind = 'block') LOOP
    SELECT memsvc.filed_with(p_user_id, passages, p.nodes) INTO filed
    FROM memsvc.plan_erasure(p_user_id, passages, source_id, edges, node_id) AS p;
    EXIT WHEN filed = '{}';
    passages := passages || filed;
  END LOOP;
  RETURN NEXT;
END
$$;
COMMENT ON FUNCTION memsvc.erasure_reach(uuid, text, uuid, integer) IS
  'The scope of an erasure, with the passages of blocks that change with it.';

-- Passages that repeat versions of edges and nodes, and go with them.
CREATE OR REPLACE FUNCTION memsvc.known_with(p_user_id uuid, p_versions uuid[]) RETURNS uuid[]
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, eraser
-- plans: by-key
BEGIN ATOMIC
  SELECT coalesce(array_agg(p.passage_id), '{}') FROM memsvc.passages AS p
  WHERE p.user_id = p_user_id AND p.version_id = ANY (p_versions);
END;
COMMENT ON FUNCTION memsvc.known_with(uuid, uuid[]) IS 'Passages that repeat versions, and go with them.';

-- Proposals that rest on what goes: passages, nodes, versions of edges, a source.
CREATE OR REPLACE FUNCTION memsvc.proposals_about(
  p_user_id uuid, p_passages uuid[], p_nodes uuid[], p_versions uuid[], p_source_id uuid
) RETURNS TABLE (proposal_id uuid)
LANGUAGE sql STABLE ROWS 10
SET search_path = memsvc, pg_temp
-- callers: app, eraser
-- plans: by-key
BEGIN ATOMIC
  SELECT r.proposal_id FROM memsvc.proposals AS r WHERE r.user_id = p_user_id AND r.passage_id = ANY (p_passages)
  UNION
  SELECT r.proposal_id FROM memsvc.proposals AS r WHERE r.user_id = p_user_id AND r.node_id = ANY (p_nodes)
  UNION
  SELECT r.proposal_id FROM memsvc.proposals AS r WHERE r.user_id = p_user_id AND r.other_id = ANY (p_nodes)
  UNION
  SELECT r.proposal_id FROM memsvc.proposals AS r WHERE r.user_id = p_user_id AND r.version_id = ANY (p_versions)
  UNION
  SELECT r.proposal_id FROM memsvc.proposals AS r
  WHERE r.user_id = p_user_id AND r.kind = 'split' AND p_source_id = ANY (r.sources);
END;
COMMENT ON FUNCTION memsvc.proposals_about(uuid, uuid[], uuid[], uuid[], uuid) IS 'Proposals that rest on what goes.';
