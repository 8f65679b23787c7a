-- write_history and its parts: check, identify edges, turn operations into steps, merge, check the ontology.
--
-- An operation: {"position": 0, "op": …, "evidence": [{"passage_id": …, "span_from": n, "span_to": n,
-- "confidence": 0.9}], …}, with valid_from and valid_to if it has a valid time (absent: unbounded):
--   node     node_id, fresh (true: make it if it does not exist), type, label, description, data, importance
--   edge     from_node, type, to_node, key, fact, data, weight, confidence
--   alias    node_id, alias, confidence
--   place    node_id, latitude, longitude, radius_m
--   retract  one of: edge_id; node_id and alias; node_id and place (true: its location); node_id (its properties)
--   close    the same, with valid_from as the moment at which it ended
--   correct  version_id, content (what is replaced), refines (true: the version's evidence supports the correction too),
--            with valid_from where it began earlier
--   merge    node_id, canonical_id, reason, confidence
--   unmerge  node_id
--   annotate version_id, stance (validated or disputed), evidence: the reason

-- The first error in a batch, checked after its nodes are locked.
CREATE OR REPLACE FUNCTION memsvc.check_operations(p_user_id uuid, p_operations jsonb)
RETURNS TABLE (code text, nth integer, message text)
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
BEGIN
  RETURN QUERY
  SELECT w.code, o.position, w.message
  FROM jsonb_to_recordset(p_operations) AS o (
    position integer, op text, node_id uuid, from_node uuid, to_node uuid, canonical_id uuid, edge_id uuid,
    version_id uuid, type text, alias text, content jsonb, valid_from timestamptz, valid_to timestamptz, evidence jsonb
  )
  CROSS JOIN LATERAL (
    SELECT 'node_unknown', format('There is no node %s.', n.node_id)
    FROM unnest(ARRAY[o.node_id, o.from_node, o.to_node, o.canonical_id]) AS n (node_id)
    WHERE n.node_id IS NOT NULL
      AND NOT EXISTS (SELECT FROM nodes AS k WHERE k.user_id = p_user_id AND k.node_id = n.node_id)
    UNION ALL
    SELECT 'fact_unknown', format('There is no edge %s.', o.edge_id)
    WHERE o.edge_id IS NOT NULL
      AND NOT EXISTS (SELECT FROM edges AS k WHERE k.user_id = p_user_id AND k.edge_id = o.edge_id)
    UNION ALL
    SELECT CASE WHEN v.recorded_to IS NULL THEN 'fact_unknown' ELSE 'version_superseded' END,
      CASE
        WHEN v.recorded_to IS NULL THEN format('There is no version %s.', o.version_id)
        ELSE format('Version %s was superseded or taken back.', o.version_id)
      END
    FROM (SELECT max(k.recorded_to) AS recorded_to FROM memsvc.version_of(p_user_id, o.version_id) AS k) AS v
    WHERE o.version_id IS NOT NULL AND v.recorded_to IS DISTINCT FROM 'infinity'
    UNION ALL
    SELECT 'invalid_request', format('The object of version %s has no field %s.', o.version_id, f.name)
    FROM memsvc.version_of(p_user_id, o.version_id) AS k CROSS JOIN jsonb_object_keys(o.content) AS f (name)
    WHERE o.op = 'correct' AND NOT k.content ? f.name
    UNION ALL
    SELECT 'fact_unknown', format('Version %s is not of a fact.', o.version_id)
    FROM memsvc.version_of(p_user_id, o.version_id) AS k WHERE o.op = 'annotate' AND k.kind <> 'edge'
    UNION ALL
    SELECT CASE k.status WHEN 'proposed' THEN 'type_proposed' WHEN 'deprecated' THEN 'type_deprecated'
        ELSE 'type_unknown' END,
      format(CASE k.status WHEN 'proposed' THEN 'The %s type %s is a proposal that waits for approval.'
        WHEN 'deprecated' THEN 'The %s type %s is deprecated: it cannot be used any more.'
        ELSE 'The ontology has no %s type %s.' END, k.kind, k.name)
    FROM (
      SELECT 'node' AS kind, coalesce(o.content ->> 'type', o.type) AS name, (
        SELECT t.status FROM node_types AS t
        WHERE t.user_id IN (memsvc.core_user_id(), p_user_id) AND t.name = coalesce(o.content ->> 'type', o.type)
      ) AS status
      WHERE o.op = 'node' OR (o.op = 'correct' AND o.content ? 'type')
      UNION ALL
      SELECT 'edge', o.type, (
        SELECT t.status FROM edge_types AS t
        WHERE t.user_id IN (memsvc.core_user_id(), p_user_id) AND t.name = o.type
      )
      WHERE o.op = 'edge'
    ) AS k
    WHERE coalesce(k.status NOT IN ('core', 'approved'), true)
    UNION ALL
    SELECT 'invalid_interval', 'The time span ends before it begins.' WHERE o.valid_to <= o.valid_from
    UNION ALL
    SELECT 'invalid_alias', 'The name is empty.' WHERE memsvc.normal_form(o.alias) = ''
    UNION ALL
    SELECT CASE WHEN p.passage_id IS NULL THEN 'passage_unknown' ELSE 'invalid_span' END,
      CASE
        WHEN p.passage_id IS NULL THEN format('There is no passage %s.', e.passage_id)
        ELSE format('Passage %s has no characters %s to %s.', e.passage_id, e.span_from, e.span_to)
      END
    FROM jsonb_to_recordset(o.evidence) AS e (passage_id uuid, span_from integer, span_to integer)
    LEFT JOIN LATERAL (
      SELECT k.passage_id, length(k.text) AS length FROM passages AS k
      WHERE k.user_id = p_user_id AND k.passage_id = e.passage_id AND k.version_id IS NULL OFFSET 0
    ) AS p ON true
    WHERE p.passage_id IS NULL OR (e.span_from IS NULL) <> (e.span_to IS NULL) OR e.span_from < 0
      OR e.span_to <= e.span_from OR e.span_to > p.length
  ) AS w (code, message)
  ORDER BY o.position
  LIMIT 1;
END
$$;
COMMENT ON FUNCTION memsvc.check_operations(uuid, jsonb) IS 'The first error in a batch of changes.';

-- A version of any kind by its id: node (the one to lock), subject and line as in plan_history.
CREATE OR REPLACE FUNCTION memsvc.version_of(p_user_id uuid, p_version_id uuid)
RETURNS TABLE (
  kind text, node_id uuid, subject uuid, line uuid, form text, content jsonb, valid_from timestamptz,
  valid_to timestamptz, recorded_to timestamptz
)
LANGUAGE plpgsql STABLE STRICT ROWS 1
SET search_path = memsvc, pg_temp
-- callers: app, eraser
-- plans: by-key
AS $$
BEGIN
  RETURN QUERY
  SELECT 'node', v.node_id, v.node_id, v.node_id, '', memsvc.content_of(v), v.valid_from, v.valid_to, v.recorded_to
  FROM node_versions AS v WHERE v.user_id = p_user_id AND v.version_id = p_version_id
  UNION ALL
  SELECT 'alias', v.node_id, v.node_id, v.node_id, v.normal_form, memsvc.content_of(v), v.valid_from, v.valid_to,
    v.recorded_to
  FROM aliases AS v WHERE v.user_id = p_user_id AND v.alias_id = p_version_id
  UNION ALL
  SELECT 'place', v.node_id, v.node_id, v.node_id, '', memsvc.content_of(v), v.valid_from, v.valid_to, v.recorded_to
  FROM locations AS v WHERE v.user_id = p_user_id AND v.location_id = p_version_id
  UNION ALL
  SELECT 'edge', v.from_node, v.edge_id, CASE WHEN v.functional THEN v.from_node ELSE v.edge_id END,
    CASE WHEN v.functional THEN v.type ELSE '' END, memsvc.content_of(v), v.valid_from, v.valid_to, v.recorded_to
  FROM edge_versions AS v
  WHERE v.user_id = p_user_id AND v.version_id = p_version_id;
END
$$;
COMMENT ON FUNCTION memsvc.version_of(uuid, uuid) IS 'A version of any kind by its id.';

-- Operations as steps of plan_history. Their edges exist already.
CREATE OR REPLACE FUNCTION memsvc.history_steps(p_user_id uuid, p_operations jsonb) RETURNS jsonb
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
BEGIN
  RETURN (
    SELECT coalesce(jsonb_agg(jsonb_build_object(
      'position', o.position, 'op', o.op, 'kind', coalesce(v.kind, o.kind),
      'subject', coalesce(v.subject, e.edge_id, o.node_id),
      'line', coalesce(v.line, CASE WHEN e.functional THEN e.from_node END, e.edge_id, o.node_id),
      'form', coalesce(v.form, CASE WHEN e.functional THEN e.type END, memsvc.normal_form(o.alias), ''),
      -- a correction may say that it began earlier
      'valid_from', coalesce(least(v.valid_from, o.valid_from), '-infinity'),
      'valid_to', coalesce(v.valid_to, o.valid_to, 'infinity'),
      'content', CASE
        WHEN o.op = 'correct' THEN v.content || o.content
        WHEN o.op IN ('close', 'retract') THEN NULL
        WHEN o.kind = 'node' THEN jsonb_build_object(
          'type', o.type, 'label', o.label, 'description', coalesce(o.description, ''),
          'data', coalesce(o.data, '{}'), 'importance', coalesce(o.importance, 5)
        )
        WHEN o.kind = 'edge' THEN jsonb_build_object(
          'fact', o.fact, 'data', coalesce(o.data, '{}'), 'weight', coalesce(o.weight, 1),
          'confidence', coalesce(o.confidence, 1)
        )
        WHEN o.kind = 'place' THEN jsonb_build_object(
          'latitude', o.latitude, 'longitude', o.longitude, 'radius_m', coalesce(o.radius_m, 0)
        )
        ELSE jsonb_build_object('alias', o.alias, 'confidence', coalesce(o.confidence, 1))
      END,
      'evidence', coalesce(o.evidence, '[]'),
      -- A correction without evidence of its own, or one that keeps words, has the evidence of the corrected version.
      'derived_from', CASE
        WHEN o.op = 'correct' AND (
          o.refines OR coalesce(o.evidence, '[]') = '[]' OR memsvc.keeps_words(v.content, v.content || o.content)
        ) THEN o.version_id
      END
    )), '[]')
    FROM (
      SELECT p.*, CASE
        WHEN p.op = 'edge' OR p.edge_id IS NOT NULL THEN 'edge' WHEN p.alias IS NOT NULL THEN 'alias'
        WHEN p.op = 'place' OR p.place THEN 'place' ELSE 'node'
      END AS kind
      FROM jsonb_to_recordset(p_operations) AS p (
        position integer, op text, node_id uuid, from_node uuid, to_node uuid, key text, edge_id uuid, version_id uuid,
        type text, label text, description text, data jsonb, importance real, fact text, weight real, confidence real,
        alias text, place boolean, latitude double precision, longitude double precision, radius_m double precision,
        content jsonb, refines boolean, valid_from timestamptz, valid_to timestamptz, evidence jsonb
      )
      WHERE p.op NOT IN ('merge', 'unmerge', 'annotate')
    ) AS o
    LEFT JOIN LATERAL memsvc.version_of(p_user_id, o.version_id) AS v ON o.version_id IS NOT NULL
    LEFT JOIN LATERAL (
      SELECT i.edge_id, i.from_node, i.type, t.functional AND i.key <> 'beside' AS functional
      FROM (
        SELECT k.edge_id, k.from_node, k.type, k.key FROM edges AS k
        WHERE o.op = 'edge' AND k.user_id = p_user_id AND k.from_node = o.from_node AND k.type = o.type
          AND k.to_node = o.to_node AND k.key = coalesce(o.key, '')
        UNION ALL
        SELECT k.edge_id, k.from_node, k.type, k.key FROM edges AS k
        WHERE k.user_id = p_user_id AND k.edge_id = o.edge_id
      ) AS i
      INNER JOIN edge_types AS t ON t.user_id IN (memsvc.core_user_id(), p_user_id) AND t.name = i.type
      OFFSET 0
    ) AS e ON o.kind = 'edge'
  );
END
$$;
COMMENT ON FUNCTION memsvc.history_steps(uuid, jsonb) IS 'Operations of a batch as steps of plan_history.';

-- Merges nodes and ends merges, one after another: each sees the effect of the previous one. Result as of apply_steps.
CREATE OR REPLACE FUNCTION memsvc.apply_merges(p_user_id uuid, p_actor text, p_at timestamptz, p_operations jsonb)
RETURNS TABLE (nth integer, outcome text, versions uuid[])
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  o record;
  open merges;
BEGIN
  FOR o IN
    SELECT p.* FROM jsonb_to_recordset(p_operations) AS p (
      position integer, op text, node_id uuid, canonical_id uuid, reason text, confidence real, evidence jsonb
    )
    WHERE p.op IN ('merge', 'unmerge') ORDER BY p.position
  LOOP
    nth := o.position;
    SELECT m.* INTO open FROM merges AS m
    WHERE m.user_id = p_user_id AND m.node_id = o.node_id AND m.recorded_to = 'infinity';
    IF o.op = 'unmerge' THEN
      outcome := CASE WHEN open.merge_id IS NULL THEN 'unchanged' ELSE 'closed' END;
      UPDATE merges AS m SET recorded_to = p_at WHERE m.user_id = p_user_id AND m.merge_id = open.merge_id;
    ELSIF o.node_id = o.canonical_id OR o.node_id = (
      SELECT r.canonical_id FROM memsvc.resolve_nodes(p_user_id, ARRAY[o.canonical_id]) AS r
    ) THEN
      PERFORM memsvc.refuse_change('merge_cycle', o.position, format(
        'Node %s already represents %s.', o.node_id, o.canonical_id
      ));
    ELSIF open.canonical_id <> o.canonical_id THEN
      PERFORM memsvc.refuse_change('already_merged', o.position, format(
        'Node %s is merged into %s.', o.node_id, open.canonical_id
      ));
    ELSIF open.merge_id IS NULL THEN
      outcome := 'written';
      INSERT INTO merges (user_id, node_id, canonical_id, reason, confidence, asserted_by, recorded_from)
      VALUES (
        p_user_id, o.node_id, o.canonical_id, coalesce(o.reason, ''), coalesce(o.confidence, 1), p_actor, p_at
      )
      RETURNING * INTO open;
    ELSE
      outcome := 'known';
    END IF;
    versions := array_remove(ARRAY[open.merge_id], NULL);
    INSERT INTO source_links (
      user_id, passage_id, span_from, span_to, merge_id, stance, confidence, asserted_by, recorded_from
    )
    SELECT p_user_id, e.passage_id, e.span_from, e.span_to, open.merge_id,
      CASE o.op WHEN 'merge' THEN 'supports' ELSE 'ends' END, coalesce(e.confidence, 1), p_actor, p_at
    FROM jsonb_to_recordset(o.evidence) AS e (passage_id uuid, span_from integer, span_to integer, confidence real)
    WHERE open.merge_id IS NOT NULL
      AND NOT EXISTS (SELECT FROM memsvc.links_of(p_user_id, 'merge', open.merge_id) AS k
        WHERE (k.passage_id, k.span_from, k.span_to) IS NOT DISTINCT FROM (e.passage_id, e.span_from, e.span_to));
    RETURN NEXT;
  END LOOP;
END
$$;
COMMENT ON FUNCTION memsvc.apply_merges(uuid, text, timestamptz, jsonb) IS 'Merges nodes and ends merges, in order.';

-- The type of each node now, or the last one that was known; the canonical node's comes first.
CREATE OR REPLACE FUNCTION memsvc.types_now(p_user_id uuid, p_nodes uuid[]) RETURNS TABLE (node_id uuid, type text)
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
BEGIN ATOMIC
  SELECT r.node_id, (
    SELECT v.type FROM memsvc.node_versions AS v
    WHERE v.user_id = p_user_id AND v.node_id = ANY (ARRAY[r.canonical_id, r.node_id]) AND v.recorded_to = 'infinity'
    ORDER BY v.node_id = r.canonical_id DESC,
      v.valid_from <= clock_timestamp() AND v.valid_to > clock_timestamp() DESC, v.valid_from DESC
    LIMIT 1
  )
  FROM memsvc.resolve_nodes(p_user_id, p_nodes) AS r;
END;
COMMENT ON FUNCTION memsvc.types_now(uuid, uuid[]) IS 'The current type of each node, merges resolved.';

-- Refuses edges between types of nodes that the ontology does not allow.
CREATE OR REPLACE FUNCTION memsvc.check_endpoints(p_user_id uuid, p_operations jsonb) RETURNS void
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  wrong record;
BEGIN
  WITH asserted AS MATERIALIZED (
    SELECT o.position, o.type, n.node_id, n.allowed, n.side
    FROM jsonb_to_recordset(p_operations) AS o (position integer, op text, from_node uuid, type text, to_node uuid)
    INNER JOIN edge_types AS t ON t.user_id IN (memsvc.core_user_id(), p_user_id) AND t.name = o.type
    CROSS JOIN LATERAL (
      VALUES (o.from_node, t.from_types, 'start'), (o.to_node, t.to_types, 'end')
    ) AS n (node_id, allowed, side)
    WHERE o.op = 'edge' AND n.allowed <> '{}'
  )
  SELECT a.position, format(
    '%s cannot %s at a node %s.', a.type, a.side, coalesce('of type ' || n.type, 'without a type')
  ) AS message INTO wrong
  FROM asserted AS a
  INNER JOIN memsvc.types_now(p_user_id, ARRAY(SELECT DISTINCT d.node_id FROM asserted AS d)) AS n
    ON n.node_id = a.node_id
  WHERE coalesce(n.type <> ALL (a.allowed), true)
    AND NOT EXISTS (SELECT FROM node_types AS t -- a type of the user that refines an allowed one
      WHERE t.user_id = p_user_id AND t.name = n.type AND t.parent = ANY (a.allowed))
  ORDER BY a.position LIMIT 1;
  IF FOUND THEN
    PERFORM memsvc.refuse_change('endpoint_forbidden', wrong.position, wrong.message);
  END IF;
END
$$;
COMMENT ON FUNCTION memsvc.check_endpoints(uuid, jsonb) IS 'Refuses edges between types that the ontology forbids.';

-- The history API: all operations of a batch, in their order, at one recorded time; all of them or none. Operations
-- that would only bring back erased knowledge are left out (erased_operations).
CREATE OR REPLACE FUNCTION memsvc.write_history(p_user_id uuid, p_actor text, p_operations jsonb)
RETURNS TABLE (
  nth integer, outcome text, node_id uuid, edge_id uuid, versions uuid[], change_id uuid, recorded_at timestamptz
)
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
#variable_conflict use_column
DECLARE
  change changes;
  steps jsonb;
  wrong record;
  erased integer[];
  kept jsonb := p_operations;
BEGIN
  PERFORM memsvc.keep_memories(p_user_id);
  erased := memsvc.erased_operations(p_user_id, p_operations);
  IF erased <> '{}' THEN
    SELECT coalesce(jsonb_agg(o.value ORDER BY o.nth), '[]') INTO kept
    FROM jsonb_array_elements(p_operations) WITH ORDINALITY AS o (value, nth)
    WHERE (o.value ->> 'position')::integer <> ALL (erased);
  END IF;
  -- Before the change gets its time: a writer that makes the same node waits here, and its change is later.
  INSERT INTO nodes (user_id, node_id)
  SELECT DISTINCT p_user_id, o.node_id
  FROM jsonb_to_recordset(kept) AS o (op text, node_id uuid, fresh boolean) WHERE o.op = 'node' AND o.fresh
  ORDER BY 2
  ON CONFLICT (user_id, node_id) DO NOTHING;

  change := memsvc.begin_change(
    p_user_id, p_actor,
    ARRAY(SELECT DISTINCT o.op FROM jsonb_to_recordset(p_operations) AS o (op text) ORDER BY o.op),
    ARRAY(
      SELECT n.node_id
      FROM jsonb_to_recordset(p_operations) AS o (
        node_id uuid, from_node uuid, canonical_id uuid, edge_id uuid, version_id uuid
      )
      CROSS JOIN LATERAL (
        SELECT g.node_id FROM unnest(ARRAY[o.node_id, o.from_node, o.canonical_id]) AS g (node_id)
        UNION ALL
        SELECT e.from_node FROM edges AS e
        WHERE o.edge_id IS NOT NULL AND e.user_id = p_user_id AND e.edge_id = o.edge_id
        UNION ALL
        SELECT v.node_id FROM memsvc.version_of(p_user_id, o.version_id) AS v WHERE o.version_id IS NOT NULL
      ) AS n
      WHERE n.node_id IS NOT NULL
    )
  );
  SELECT * INTO wrong FROM memsvc.check_operations(p_user_id, kept) AS w;
  IF FOUND THEN
    PERFORM memsvc.refuse_change(wrong.code, wrong.nth, wrong.message);
  END IF;

  INSERT INTO edges (user_id, from_node, type, to_node, key)
  SELECT DISTINCT p_user_id, o.from_node, o.type, o.to_node, coalesce(o.key, '')
  FROM jsonb_to_recordset(kept) AS o (op text, from_node uuid, type text, to_node uuid, key text)
  WHERE o.op = 'edge'
  ON CONFLICT (user_id, from_node, type, to_node, key) DO NOTHING;

  steps := memsvc.history_steps(p_user_id, kept);
  PERFORM memsvc.check_closes(p_user_id, steps);

  RETURN QUERY
  WITH done AS MATERIALIZED (
    SELECT a.* FROM memsvc.apply_steps(p_user_id, p_actor, change.recorded_at, steps) AS a
    UNION ALL
    SELECT a.* FROM memsvc.apply_merges(p_user_id, p_actor, change.recorded_at, kept) AS a
    UNION ALL
    SELECT a.* FROM memsvc.apply_annotations(p_user_id, p_actor, change.recorded_at, kept) AS a
  )
  SELECT d.nth, d.outcome, CASE WHEN s.kind IS DISTINCT FROM 'edge' THEN coalesce(s.subject, o.node_id) END,
    CASE WHEN s.kind = 'edge' THEN s.subject END, coalesce(d.versions, '{}'), change.change_id, change.recorded_at
  FROM done AS d
  INNER JOIN (
    SELECT p.* FROM jsonb_to_recordset(kept) AS p (position integer, node_id uuid)
  ) AS o ON o.position = d.nth
  LEFT JOIN (
    SELECT p.* FROM jsonb_to_recordset(steps) AS p (position integer, kind text, subject uuid)
  ) AS s ON s.position = d.nth
  UNION ALL
  SELECT e.nth, 'erased', NULL, NULL, '{}', change.change_id, change.recorded_at FROM unnest(erased) AS e (nth)
  ORDER BY nth;
  PERFORM memsvc.check_endpoints(p_user_id, kept);
END
$$;
COMMENT ON FUNCTION memsvc.write_history(uuid, text, jsonb) IS
  'Changes the graph: a batch of operations at one recorded time; one result row for each operation.';

-- Refuses to end a thread before it began: nothing of it begins before that moment, but something begins later.
CREATE OR REPLACE FUNCTION memsvc.check_closes(p_user_id uuid, p_steps jsonb) RETURNS void
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  wrong integer;
BEGIN
  WITH step AS MATERIALIZED (
    SELECT p.* FROM jsonb_to_recordset(p_steps) AS p (
      position integer, op text, kind text, subject uuid, line uuid, form text, content jsonb, valid_from timestamptz
    )
  )
  SELECT c.position INTO wrong
  FROM step AS c
  CROSS JOIN LATERAL (
    SELECT min(b.valid_from) AS first FROM (
      SELECT v.valid_from FROM memsvc.open_versions(p_user_id, c.kind, c.line, c.form) AS v WHERE v.subject = c.subject
      UNION ALL
      SELECT s.valid_from FROM step AS s
      WHERE s.position < c.position AND s.content IS NOT NULL AND s.kind = c.kind AND s.subject = c.subject
        AND s.form = c.form
    ) AS b
  ) AS h
  WHERE c.op = 'close' AND h.first >= c.valid_from
  ORDER BY c.position LIMIT 1;
  IF FOUND THEN
    PERFORM memsvc.refuse_change('invalid_interval', wrong, 'It cannot end before it began.');
  END IF;
END
$$;
COMMENT ON FUNCTION memsvc.check_closes(uuid, jsonb) IS 'Refuses to end a thread before it began.';
