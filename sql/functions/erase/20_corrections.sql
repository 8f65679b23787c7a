-- The effect of erasing on versions that derive from others: corrections and remainders.

-- The version from which each of these versions derives, if any: the corrected one, or the whole of a remainder.
CREATE OR REPLACE FUNCTION memsvc.derivations_of(p_user_id uuid, p_versions uuid[])
RETURNS TABLE (
  kind text, version_id uuid, derived_from uuid, content jsonb, recorded_from timestamptz, recorded_to timestamptz
)
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, eraser
-- plans: by-key
AS $$
BEGIN
  RETURN QUERY
  SELECT 'node', v.version_id, v.derived_from, memsvc.content_of(v), v.recorded_from, v.recorded_to
  FROM node_versions AS v
  WHERE v.user_id = p_user_id AND v.version_id = ANY (p_versions) AND v.derived_from IS NOT NULL
  UNION ALL
  SELECT 'edge', v.version_id, v.derived_from, memsvc.content_of(v), v.recorded_from, v.recorded_to
  FROM edge_versions AS v
  WHERE v.user_id = p_user_id AND v.version_id = ANY (p_versions) AND v.derived_from IS NOT NULL
  UNION ALL
  SELECT 'alias', v.alias_id, v.derived_from, memsvc.content_of(v), v.recorded_from, v.recorded_to
  FROM aliases AS v
  WHERE v.user_id = p_user_id AND v.alias_id = ANY (p_versions) AND v.derived_from IS NOT NULL
  UNION ALL
  SELECT 'place', v.location_id, v.derived_from, memsvc.content_of(v), v.recorded_from, v.recorded_to
  FROM locations AS v
  WHERE v.user_id = p_user_id AND v.location_id = ANY (p_versions) AND v.derived_from IS NOT NULL;
END
$$;
COMMENT ON FUNCTION memsvc.derivations_of(uuid, uuid[]) IS 'The version from which each of these versions derives.';

-- The nearest version from which each of these derives (derivations_of) and that is not in p_gone; null: there is none.
CREATE OR REPLACE FUNCTION memsvc.origins_of(p_user_id uuid, p_versions uuid[], p_gone uuid[])
RETURNS TABLE (kind text, version_id uuid, derived_from uuid, recorded_from timestamptz, origin uuid)
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, eraser
-- plans: by-key
AS $$
BEGIN
  RETURN QUERY
  WITH RECURSIVE made AS MATERIALIZED (
    SELECT d.* FROM memsvc.derivations_of(p_user_id, p_versions) AS d
  ),
  up AS (
    SELECT m.version_id, m.derived_from AS origin FROM made AS m
    UNION ALL
    SELECT u.version_id, d.derived_from
    FROM up AS u CROSS JOIN LATERAL memsvc.derivations_of(p_user_id, ARRAY[u.origin]) AS d
    WHERE u.origin = ANY (p_gone)
  )
  SELECT m.kind, m.version_id, m.derived_from, m.recorded_from, u.origin
  FROM made AS m LEFT JOIN up AS u ON u.version_id = m.version_id AND u.origin <> ALL (p_gone);
END
$$;
COMMENT ON FUNCTION memsvc.origins_of(uuid, uuid[], uuid[]) IS
  'The nearest version from which each of these derives and that stays.';

-- Evidence of a version that does not come from the version it derives from (null: none), nor from passages of that one
-- that were read again since: those support its content, not the new one.
CREATE OR REPLACE FUNCTION memsvc.own_links(
  p_user_id uuid, p_kind text, p_version_id uuid, p_recorded_from timestamptz, p_derived_from uuid
) RETURNS SETOF memsvc.source_links
LANGUAGE plpgsql STABLE ROWS 2
SET search_path = memsvc, pg_temp
-- callers: app, eraser
-- plans: by-key
AS $$
BEGIN
  RETURN QUERY
  SELECT l.* FROM memsvc.links_of(p_user_id, p_kind, p_version_id) AS l
  WHERE l.stance = 'supports' AND NOT EXISTS (
    SELECT FROM memsvc.links_of(p_user_id, p_kind, p_derived_from) AS o
    WHERE o.stance = 'supports' AND o.passage_id = l.passage_id AND (
      l.recorded_from > p_recorded_from
      OR (o.span_from, o.span_to, o.asserted_by) IS NOT DISTINCT FROM (l.span_from, l.span_to, l.asserted_by)
    )
  );
END
$$;
COMMENT ON FUNCTION memsvc.own_links(uuid, text, uuid, timestamptz, uuid) IS
  'Evidence of a version that does not come from the version it derives from.';

-- Versions that are deleted even though other sources support them. A correction mixes the words of the corrected
-- version with those of its own evidence. It is deleted with the passages that it was made with, unless other sources
-- said it afterwards; and with the corrected version, if it keeps words that only that one has, or has no other
-- evidence. Words of an older version that stays are no reason. A remainder that no other source supports is deleted
-- with the whole. Tombstones record which versions began with evidence that is deleted (keep_derivations).
CREATE OR REPLACE FUNCTION memsvc.versions_undone(
  p_user_id uuid, p_passages uuid[], p_source_id uuid, p_gone uuid[], p_others uuid[]
) RETURNS TABLE (kind text, id uuid)
LANGUAGE plpgsql STABLE ROWS 2
SET search_path = memsvc, pg_temp
-- callers: app, eraser
-- plans: by-key
AS $$
DECLARE
  gone uuid[] := p_gone;
  before jsonb := '{}'; -- for each deleted version, the nearest one that it derives from and that stays
  origin uuid;
  m record;
BEGIN
  FOR m IN -- versions come after those that they derive from
    SELECT d.kind, d.version_id, d.derived_from, d.content, b.content AS was,
      -- what its times are called is no correction of a remainder (memsvc.content_of_remainder)
      b.content #- '{data,times}' IS DISTINCT FROM d.content #- '{data,times}' AS corrects, k.born OR t.marked AS born, k.stays,
      b.kind IS NOT NULL OR t.marked AS known
    FROM memsvc.derivations_of(p_user_id, p_others || p_gone) AS d
    CROSS JOIN LATERAL (
      SELECT count(*) > 0 AS marked FROM tombstones AS s
      WHERE s.user_id = p_user_id AND s.digest = memsvc.tombstone_digest(jsonb_build_array('version', d.version_id))
    ) AS t
    LEFT JOIN LATERAL memsvc.version_of(p_user_id, d.derived_from) AS b ON true
    CROSS JOIN LATERAL (
      SELECT coalesce(bool_or(l.recorded_from = d.recorded_from), false) AS born, coalesce(bool_or(
        l.passage_id NOT IN (SELECT unnest(p_passages)) AND (p_source_id IS NULL OR p_source_id <> (
          SELECT p.source_id FROM passages AS p WHERE p.user_id = p_user_id AND p.passage_id = l.passage_id
        ))
      ), false) AS stays
      FROM memsvc.own_links(p_user_id, d.kind, d.version_id, d.recorded_from, d.derived_from) AS l
    ) AS k
    ORDER BY d.recorded_from
  LOOP
    origin := coalesce((before ->> m.derived_from::text)::uuid, m.derived_from);
    IF m.known AND m.version_id <> ALL (gone) AND (CASE
      WHEN m.derived_from = ANY (gone) THEN NOT m.stays OR (
        m.corrects AND memsvc.keeps_words(memsvc.words_beyond(m.was, (
          SELECT o.content FROM memsvc.version_of(p_user_id, origin) AS o WHERE origin <> ALL (gone)
        )), m.content)
      )
      ELSE m.corrects AND m.born AND NOT m.stays
    END) THEN
      gone := gone || m.version_id;
      kind := m.kind;
      id := m.version_id;
      RETURN NEXT;
    END IF;
    IF m.version_id = ANY (gone) THEN
      before := before || jsonb_build_object(m.version_id, origin);
    END IF;
  END LOOP;
END
$$;
COMMENT ON FUNCTION memsvc.versions_undone(uuid, uuid[], uuid, uuid[], uuid[]) IS
  'Versions that are deleted with the version or evidence they were made from, though other sources support them.';

-- Evidence that remaining versions took over from deleted ones, and that no version which they derive from then has: it
-- does not support their words. Without links from p_passages, which are deleted anyway.
CREATE OR REPLACE FUNCTION memsvc.evidence_lost(p_user_id uuid, p_passages uuid[], p_versions uuid[], p_gone uuid[])
RETURNS uuid[]
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, eraser
-- plans: by-key
AS $$
BEGIN
  RETURN ARRAY(
    WITH RECURSIVE made AS MATERIALIZED (
      SELECT o.* FROM memsvc.origins_of(p_user_id, ARRAY(
        SELECT v.id FROM unnest(p_versions) AS v (id) WHERE v.id NOT IN (SELECT unnest(p_gone))
      ), p_gone) AS o
    ),
    lost AS (
      SELECT m.version_id, l.passage_id, l.link_id
      FROM made AS m
      CROSS JOIN LATERAL (
        SELECT o.passage_id, o.link_id
        FROM memsvc.own_links(p_user_id, m.kind, m.version_id, m.recorded_from, m.origin) AS o
        EXCEPT
        SELECT o.passage_id, o.link_id
        FROM memsvc.own_links(p_user_id, m.kind, m.version_id, m.recorded_from, m.derived_from) AS o
      ) AS l
      WHERE m.derived_from = ANY (p_gone) AND l.passage_id NOT IN (SELECT unnest(p_passages))
      UNION
      SELECT m.version_id, l.passage_id, l.link_id
      FROM lost AS b
      INNER JOIN made AS m ON m.origin = b.version_id
      CROSS JOIN LATERAL (
        SELECT k.passage_id, k.link_id FROM memsvc.links_of(p_user_id, m.kind, m.version_id) AS k
        WHERE k.stance = 'supports' AND k.passage_id = b.passage_id
        EXCEPT
        SELECT o.passage_id, o.link_id
        FROM memsvc.own_links(p_user_id, m.kind, m.version_id, m.recorded_from, m.origin) AS o
      ) AS l
    )
    SELECT b.link_id FROM lost AS b
  );
END
$$;
COMMENT ON FUNCTION memsvc.evidence_lost(uuid, uuid[], uuid[], uuid[]) IS
  'Evidence that remaining versions took over from deleted ones.';

-- Runs before links and versions are deleted. A version that derives from a deleted one then derives from the nearest
-- earlier one that stays. A version that stays although all evidence that it was made with is deleted gets a tombstone
-- for that: it is deleted with the last source that said it afterwards.
CREATE OR REPLACE FUNCTION memsvc.keep_derivations(p_user_id uuid, p_links uuid[], p_gone uuid[]) RETURNS void
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: eraser
-- plans: by-key
AS $$
DECLARE
  made jsonb; -- versions that stay and lose evidence (origins_of)
BEGIN
  SELECT jsonb_agg(to_jsonb(o)) INTO made
  FROM memsvc.origins_of(p_user_id, ARRAY(
    SELECT v.id
    FROM source_links AS l
    CROSS JOIN unnest(ARRAY[l.node_version_id, l.edge_version_id, l.alias_id, l.location_id]) AS v (id)
    WHERE l.user_id = p_user_id AND l.link_id = ANY (p_links) AND l.stance = 'supports'
      AND v.id IS NOT NULL AND v.id NOT IN (SELECT unnest(p_gone))
  ), p_gone) AS o;
  IF made IS NULL THEN
    RETURN;
  END IF;
  INSERT INTO tombstones AS t (user_id, digest, recorded_at)
  SELECT p_user_id, memsvc.tombstone_digest(jsonb_build_array('version', m.version_id)), clock_timestamp()
  FROM jsonb_to_recordset(made) AS m (kind text, version_id uuid, recorded_from timestamptz, origin uuid)
  WHERE (
    SELECT bool_and(l.link_id IN (SELECT unnest(p_links)))
    FROM memsvc.own_links(p_user_id, m.kind, m.version_id, m.recorded_from, m.origin) AS l
    WHERE l.recorded_from = m.recorded_from
  )
  ON CONFLICT (user_id, digest) DO NOTHING;

  UPDATE node_versions AS v SET derived_from = m.origin
  FROM jsonb_to_recordset(made) AS m (version_id uuid, derived_from uuid, origin uuid)
  WHERE v.user_id = p_user_id AND v.version_id = m.version_id AND m.origin <> m.derived_from;
  UPDATE edge_versions AS v SET derived_from = m.origin
  FROM jsonb_to_recordset(made) AS m (version_id uuid, derived_from uuid, origin uuid)
  WHERE v.user_id = p_user_id AND v.version_id = m.version_id AND m.origin <> m.derived_from;
  UPDATE aliases AS v SET derived_from = m.origin
  FROM jsonb_to_recordset(made) AS m (version_id uuid, derived_from uuid, origin uuid)
  WHERE v.user_id = p_user_id AND v.alias_id = m.version_id AND m.origin <> m.derived_from;
  UPDATE locations AS v SET derived_from = m.origin
  FROM jsonb_to_recordset(made) AS m (version_id uuid, derived_from uuid, origin uuid)
  WHERE v.user_id = p_user_id AND v.location_id = m.version_id AND m.origin <> m.derived_from;
END
$$;
COMMENT ON FUNCTION memsvc.keep_derivations(uuid, uuid[], uuid[]) IS
  'Records the origins of versions that stay, before an erasure deletes these.';

-- Versions that may have to be restored after the next batch of an erasure: open versions that its passages support and
-- that derive from others, with the ids of those, nearest first, that will still be supported without the passages.
CREATE OR REPLACE FUNCTION memsvc.versions_built(p_user_id uuid, p_kind text, p_subject_id uuid, p_limit integer)
RETURNS jsonb
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  passages uuid[];
  source uuid;
BEGIN
  SELECT s.passages, s.source_id INTO passages, source
  FROM memsvc.erasure_scope(p_user_id, p_kind, p_subject_id, p_limit) AS s;
  RETURN (
    WITH RECURSIVE built AS (
      SELECT d.version_id, d.derived_from AS origin, 1 AS steps
      FROM memsvc.derivations_of(p_user_id, ARRAY(
        SELECT s.id FROM memsvc.spoken_for(p_user_id, passages, source) AS s WHERE s.kind <> 'merge'
      )) AS d
      WHERE d.recorded_to = 'infinity'
      UNION ALL
      SELECT b.version_id, d.derived_from, b.steps + 1
      FROM built AS b CROSS JOIN LATERAL memsvc.derivations_of(p_user_id, ARRAY[b.origin]) AS d
    )
    SELECT jsonb_agg(to_jsonb(v) || jsonb_build_object('version_id', g.version_id, 'origins', g.origins))
    FROM (
      SELECT b.version_id, jsonb_agg(b.origin ORDER BY b.steps) AS origins
      FROM built AS b CROSS JOIN LATERAL memsvc.version_of(p_user_id, b.origin) AS o
      WHERE NOT EXISTS ( -- entered by hand: it never had evidence
        SELECT FROM source_links AS l WHERE l.user_id = p_user_id AND l.node_version_id = b.origin AND l.stance = 'supports'
        UNION ALL
        SELECT FROM source_links AS l WHERE l.user_id = p_user_id AND l.edge_version_id = b.origin AND l.stance = 'supports'
        UNION ALL
        SELECT FROM source_links AS l WHERE l.user_id = p_user_id AND l.alias_id = b.origin AND l.stance = 'supports'
        UNION ALL
        SELECT FROM source_links AS l WHERE l.user_id = p_user_id AND l.location_id = b.origin AND l.stance = 'supports'
      ) OR EXISTS (
        SELECT FROM memsvc.links_of(p_user_id, o.kind, b.origin) AS l
        WHERE l.stance = 'supports' AND l.passage_id NOT IN (SELECT unnest(passages)) AND (source IS NULL OR source <> (
          SELECT p.source_id FROM passages AS p WHERE p.user_id = p_user_id AND p.passage_id = l.passage_id
        ))
      )
      GROUP BY b.version_id
    ) AS g
    CROSS JOIN LATERAL memsvc.version_of(p_user_id, g.version_id) AS v
  );
END
$$;
COMMENT ON FUNCTION memsvc.versions_built(uuid, text, uuid, integer) IS
  'Derived versions that a batch of an erasure may delete, with the versions they derive from.';

-- If such a version is deleted, the nearest version that it derives from becomes current again, over its valid time,
-- with the evidence that it has left.
CREATE OR REPLACE FUNCTION memsvc.restore_origins(p_user_id uuid, p_actor text, p_built jsonb) RETURNS void
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  steps jsonb;
  change changes;
BEGIN
  SELECT jsonb_agg(to_jsonb(s)) INTO steps
  FROM (
    SELECT row_number() OVER () AS position, o.kind, o.node_id, o.subject, o.line, o.form, o.content,
      b.valid_from, b.valid_to, o.origin AS derived_from, '{}'::jsonb[] AS evidence, coalesce(
        (SELECT v.asserted_by FROM node_versions AS v WHERE v.user_id = p_user_id AND v.version_id = o.origin),
        (SELECT v.asserted_by FROM edge_versions AS v WHERE v.user_id = p_user_id AND v.version_id = o.origin),
        (SELECT v.asserted_by FROM aliases AS v WHERE v.user_id = p_user_id AND v.alias_id = o.origin),
        (SELECT v.asserted_by FROM locations AS v WHERE v.user_id = p_user_id AND v.location_id = o.origin)
      ) AS asserted_by
    FROM jsonb_to_recordset(p_built) AS b (
      version_id uuid, valid_from timestamptz, valid_to timestamptz, origins jsonb
    )
    CROSS JOIN LATERAL (
      SELECT v.*, a.id::uuid AS origin
      FROM jsonb_array_elements_text(b.origins) WITH ORDINALITY AS a (id, nth)
      CROSS JOIN LATERAL memsvc.version_of(p_user_id, a.id::uuid) AS v
      ORDER BY a.nth LIMIT 1
    ) AS o
    WHERE NOT EXISTS (SELECT FROM memsvc.version_of(p_user_id, b.version_id))
  ) AS s;
  IF steps IS NULL THEN
    RETURN;
  END IF;
  change := memsvc.begin_change(
    p_user_id, p_actor, '{restore}',
    ARRAY(SELECT s.node_id FROM jsonb_to_recordset(steps) AS s (node_id uuid))
  );
  PERFORM memsvc.apply_steps(p_user_id, p_actor, change.recorded_at, steps);
END
$$;
COMMENT ON FUNCTION memsvc.restore_origins(uuid, text, jsonb) IS
  'Restores the versions from which deleted versions derive.';
