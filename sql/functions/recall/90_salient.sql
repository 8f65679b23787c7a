-- Memories without a query: what is salient, and one by chance. And how a memory is shown, for whoever has its id.

-- The document of a chunk, and the chunk's place in it: in the last version that has the chunk (by p_known_at). gone: its
-- file is not there any more.
CREATE OR REPLACE FUNCTION memsvc.document_told(p_user_id uuid, p_passage_id uuid, p_known_at timestamptz) RETURNS jsonb
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
AS $$
BEGIN
  RETURN (
    SELECT jsonb_build_object(
      'document_id', p.source_id, 'title', v.title, 'path', v.path, 'version', v.version,
      'headings', coalesce(p.metadata -> 'headings', '[]'), 'origin', coalesce(p.metadata -> 'origin', '{}'),
      'gone', NOT EXISTS (
        SELECT FROM document_versions AS n
        WHERE n.user_id = p_user_id AND n.source_id = p.source_id AND n.recorded_to = 'infinity'
      )
    )
    FROM passages AS p
    CROSS JOIN LATERAL (
      SELECT o.title, o.path, o.version FROM document_versions AS o
      WHERE o.user_id = p_user_id AND o.source_id = p.source_id AND o.recorded_from < p.recorded_to
        AND (p_known_at IS NULL OR o.recorded_from <= p_known_at)
      ORDER BY o.version DESC LIMIT 1
    ) AS v
    WHERE p.user_id = p_user_id AND p.passage_id = p_passage_id
  );
END
$$;
COMMENT ON FUNCTION memsvc.document_told(uuid, uuid, timestamptz) IS 'The document of a chunk, and its place there.';

-- Messages and facts as they are shown, each with its place in p_ids; ids of nothing are left out. A fact has the place
-- of the first message that supports it, and its ends as they are known (merges resolved, labels) at the two times.
-- Messages come first, and many answers have no others: looking for facts takes five times as long.
CREATE OR REPLACE FUNCTION memsvc.memories_shown(
  p_user_id uuid, p_ids uuid[], p_as_of timestamptz DEFAULT NULL, p_known_at timestamptz DEFAULT NULL
) RETURNS TABLE (
  place bigint, kind text, memory_id uuid, passage_id uuid, source_id uuid, conversation text, session text,
  ordinal integer, part smallint, client_id text, speaker text, role text, text text, caption text,
  said_at timestamptz, said_offset smallint, recorded_at timestamptz, version_id uuid, edge_id uuid, edge_type text,
  from_node uuid, from_label text, to_node uuid, to_label text, valid_from timestamptz, valid_to timestamptz,
  confidence real, node_id uuid, node_type text, contested boolean, exactness jsonb, document jsonb,
  certainty double precision
)
LANGUAGE plpgsql STABLE ROWS 10
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
AS $$
#variable_conflict use_column
DECLARE
  messages bigint;
BEGIN
  IF coalesce(cardinality(p_ids), 0) = 0 THEN
    RETURN;
  END IF;
  RETURN QUERY
  SELECT i.nth, p.kind, i.id, p.passage_id, p.source_id, coalesce(s.identifier, ''), p.session, p.ordinal, p.part,
    p.client_id, p.speaker, p.role, p.text, p.caption, p.said_at, p.said_offset, p.recorded_at, NULL::uuid, NULL::uuid,
    NULL::text, NULL::uuid, NULL::text, NULL::uuid, NULL::text, nullif(p.valid_from, '-infinity'),
    nullif(p.valid_to, 'infinity'), NULL::real,
    CASE WHEN p.subject_id IS NOT NULL THEN (memsvc.canonical_ids(p_user_id, ARRAY[p.subject_id], p_known_at))[1] END,
    p.subject_type, false, NULL::jsonb,
    CASE WHEN p.kind = 'chunk' THEN memsvc.document_told(p_user_id, p.passage_id, p_known_at) END,
    NULL::double precision
  FROM unnest(p_ids) WITH ORDINALITY AS i (id, nth)
  CROSS JOIN LATERAL (
    SELECT r.* FROM passages AS r
    WHERE r.user_id = p_user_id AND r.passage_id = i.id AND r.kind <> 'fact' OFFSET 0
  ) AS p
  LEFT JOIN LATERAL (
    SELECT r.identifier FROM sources AS r WHERE r.user_id = p_user_id AND r.source_id = p.source_id OFFSET 0
  ) AS s ON true;
  GET DIAGNOSTICS messages = ROW_COUNT;
  IF messages = cardinality(p_ids) THEN
    RETURN;
  END IF;
  RETURN QUERY
  WITH version AS MATERIALIZED (
    SELECT i.nth, v.*
    FROM unnest(p_ids) WITH ORDINALITY AS i (id, nth)
    CROSS JOIN LATERAL (
      SELECT r.version_id, r.edge_id, r.type, r.from_node, r.to_node, r.fact, r.asserted_by, r.valid_from, r.valid_to,
        r.recorded_from, r.confidence, r.data -> 'times' AS exactness,
        memsvc.is_contested(p_user_id, r, coalesce(p_as_of, now()), p_known_at) AS contested
      FROM edge_versions AS r WHERE r.user_id = p_user_id AND r.version_id = i.id OFFSET 0
    ) AS v
  ),
  card AS MATERIALIZED (
    SELECT c.node_id, c.canonical_id, c.label
    FROM memsvc.node_cards(p_user_id, ARRAY(
      SELECT e.from_node FROM version AS e UNION SELECT e.to_node FROM version AS e
    ), p_as_of, p_known_at) AS c
  ),
  fact AS MATERIALIZED (
    SELECT v.nth, v.version_id, v.edge_id, v.type, f.canonical_id AS from_node, f.label AS from_label,
      t.canonical_id AS to_node, t.label AS to_label, v.fact, v.asserted_by, v.valid_from, v.valid_to, v.recorded_from,
      v.confidence, v.contested, v.exactness, (
        SELECT p.passage_id
        FROM (
          -- As links_of does; a call for each fact takes longer than all else.
          SELECT s.passage_id, s.stance FROM source_links AS s
          WHERE s.user_id = p_user_id AND s.edge_version_id = v.version_id
            AND s.recorded_from <= coalesce(p_known_at, 'infinity')
            AND (s.recorded_to = 'infinity' OR s.recorded_to > p_known_at)
          OFFSET 0
        ) AS l
        CROSS JOIN LATERAL (
          SELECT r.passage_id, r.said_at FROM passages AS r
          WHERE r.user_id = p_user_id AND r.passage_id = l.passage_id OFFSET 0
        ) AS p
        WHERE l.stance = 'supports'
        ORDER BY p.said_at, p.passage_id LIMIT 1
      ) AS passage_id
    FROM version AS v
    INNER JOIN card AS f ON f.node_id = v.from_node
    INNER JOIN card AS t ON t.node_id = v.to_node
  )
  SELECT f.nth, 'fact', f.version_id, p.passage_id, p.source_id, coalesce(s.identifier, ''), coalesce(p.session, ''),
    coalesce(p.ordinal, 0), coalesce(p.part, 0::smallint), p.client_id,
    CASE WHEN p.passage_id IS NULL THEN f.asserted_by ELSE p.speaker END, coalesce(p.role, 'other'), f.fact, NULL,
    coalesce(p.said_at, f.recorded_from), coalesce(p.said_offset, 0::smallint), f.recorded_from, f.version_id, f.edge_id,
    f.type, f.from_node, coalesce(f.from_label, f.from_node::text), f.to_node, coalesce(f.to_label, f.to_node::text),
    nullif(f.valid_from, '-infinity'), nullif(f.valid_to, 'infinity'), f.confidence, NULL::uuid, NULL::text,
    f.contested, f.exactness, NULL::jsonb, CASE WHEN f.contested THEN (
      SELECT c.certainty FROM memsvc.fact_certainty(p_user_id, ARRAY[f.version_id], p_known_at) AS c
    ) END
  FROM fact AS f
  LEFT JOIN LATERAL (
    SELECT r.* FROM passages AS r WHERE r.user_id = p_user_id AND r.passage_id = f.passage_id OFFSET 0
  ) AS p ON true
  LEFT JOIN LATERAL (
    SELECT r.identifier FROM sources AS r WHERE r.user_id = p_user_id AND r.source_id = p.source_id OFFSET 0
  ) AS s ON true;
END
$$;
COMMENT ON FUNCTION memsvc.memories_shown(uuid, uuid[], timestamptz, timestamptz) IS
  'Messages and facts as they are shown, each with its place among the ids; in no order.';

-- What is salient without a query: ids, best first, with the points of each factor and what they were made of.
-- Candidates: the 200 messages said last (part 0 of each, of p_kinds), the 100 open facts learnt last, and of
-- memory_signals 50 pinned ones, the 100 recalled last and the 100 most important ones, notes and cards of nodes too, as
-- their present versions; and cards of the 50 most salient nodes (memsvc.node_salience). Points: recency by p_half_life
-- since it was said or learnt (1 at most; none for a card that is here for its node's salience), importance (a tenth of
-- 1 to 10, nothing where nobody has judged), recall strength (1), usefulness (-1/2 to 1/2), pinned (2), salience (of a
-- card its node's, of a fact half the sum of its ends'; 1 at most). Of a message in parts the best one.
-- p_as_of: messages said by then, facts valid then, ages counted back from then. p_known_at: what was recorded by then;
-- signals are not kept for past times, so none counts there, and ages are counted from then, where p_as_of is null.
-- Bounded: of what was said last it looks at 2,000 rows, of facts at 1,000, whatever filters leave.
CREATE OR REPLACE FUNCTION memsvc.top_of_mind(
  p_user_id uuid, p_limit integer, p_as_of timestamptz DEFAULT NULL, p_known_at timestamptz DEFAULT NULL,
  p_kinds text[] DEFAULT '{message}', p_facts boolean DEFAULT true, p_half_life interval DEFAULT '14 days'
) RETURNS TABLE (
  memory_id uuid, score double precision, recency double precision, importance double precision,
  strength double precision, usefulness double precision, pinned double precision, recalls integer, used integer,
  irrelevant integer, judged smallint, at timestamptz, salience double precision
)
LANGUAGE plpgsql STABLE ROWS 10
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-sort, no-incremental-sort, no-bitmap; names the indexes, as in graph/10_traverse.sql
AS $$
#variable_conflict use_column
DECLARE
  today CONSTANT timestamptz := clock_timestamp();
  moment CONSTANT timestamptz := coalesce(p_as_of, p_known_at, today);
  holds CONSTANT timestamptz := coalesce(p_as_of, today);
  known CONSTANT timestamptz := coalesce(p_known_at, 'infinity');
  -- Clocks of clients may be ahead; what is said to be said later than tomorrow is not on anybody's mind.
  latest CONSTANT timestamptz := least(
    coalesce(p_as_of, today + interval '1 day'), coalesce(p_known_at + interval '1 day', 'infinity')
  );
BEGIN
  RETURN QUERY
  WITH said AS MATERIALIZED (
    SELECT n.passage_id AS id, n.source_id, n.session, n.ordinal, n.said_at AS at
    FROM (
      SELECT p.passage_id, p.source_id, p.session, p.ordinal, p.part, p.kind, p.said_at, p.recorded_at, p.archived_at
      FROM passages AS p WHERE p.user_id = p_user_id AND p.version_id IS NULL AND p.said_at <= latest
      ORDER BY p.said_at DESC LIMIT 2000
    ) AS n
    WHERE n.part = 0 AND n.kind = ANY (p_kinds) AND n.recorded_at <= known AND n.archived_at IS NULL
    LIMIT 200
  ),
  learnt AS MATERIALIZED (
    SELECT n.version_id AS id, n.recorded_from AS at, n.from_node, n.to_node
    FROM (
      SELECT v.version_id, v.type, v.recorded_from, v.recorded_to, v.valid_from, v.valid_to, v.from_node, v.to_node
      FROM edge_versions AS v WHERE p_facts AND v.user_id = p_user_id AND v.recorded_from <= known
      ORDER BY v.recorded_from DESC LIMIT 1000
    ) AS n
    WHERE n.valid_from <= holds AND n.valid_to > holds AND n.recorded_from <= known AND n.type <> 'LINKS_TO'
      AND (n.recorded_to = 'infinity' OR n.recorded_to > known) AND NOT memsvc.is_archived(p_user_id, n.version_id)
    LIMIT 100
  ),
  signal AS MATERIALIZED (
    (SELECT s.* FROM memory_signals AS s
    WHERE p_known_at IS NULL AND s.user_id = p_user_id AND s.pinned ORDER BY s.memory_id DESC LIMIT 50)
    UNION
    (SELECT s.* FROM memory_signals AS s
    WHERE p_known_at IS NULL AND s.user_id = p_user_id AND s.last_recalled_at IS NOT NULL
    ORDER BY s.last_recalled_at DESC LIMIT 100)
    UNION
    (SELECT s.* FROM memory_signals AS s
    WHERE p_known_at IS NULL AND s.user_id = p_user_id AND s.importance IS NOT NULL
    ORDER BY s.importance DESC LIMIT 100)
  ),
  salient AS MATERIALIZED (
    SELECT s.node_id, s.salience FROM node_salience AS s
    WHERE p_known_at IS NULL AND s.user_id = p_user_id AND s.salience > 0 ORDER BY s.salience DESC LIMIT 50
  ),
  described AS MATERIALIZED (
    SELECT p.passage_id AS id, p.source_id, p.session, p.ordinal, p.recorded_at AS at, n.node_id
    FROM salient AS n
    CROSS JOIN LATERAL (
      SELECT v.version_id FROM node_versions AS v
      WHERE v.user_id = p_user_id AND v.node_id = n.node_id AND v.recorded_to = 'infinity'
        AND v.valid_from <= holds AND v.valid_to > holds OFFSET 0
    ) AS v
    CROSS JOIN LATERAL (
      SELECT r.* FROM passages AS r WHERE r.user_id = p_user_id AND r.passage_id = v.version_id OFFSET 0
    ) AS p
    WHERE p.kind = 'card' AND p.kind = ANY (p_kinds) AND p.archived_at IS NULL
      AND p.passage_id NOT IN (SELECT g.memory_id FROM signal AS g)
  ),
  candidate AS (
    SELECT n.id, n.source_id, n.session, n.ordinal, n.at, s.recalls, s.last_recalled_at, s.used, s.irrelevant,
      s.importance, s.pinned, n.from_node, n.to_node, n.ages
    FROM (
      SELECT d.*, NULL::uuid AS from_node, NULL::uuid AS to_node, true AS ages FROM said AS d
      UNION ALL SELECT l.id, NULL, NULL, NULL, l.at, l.from_node, l.to_node, true FROM learnt AS l
      UNION ALL SELECT d.id, d.source_id, d.session, d.ordinal, d.at, d.node_id, NULL, false FROM described AS d
    ) AS n
    LEFT JOIN LATERAL (
      SELECT r.* FROM memory_signals AS r
      WHERE p_known_at IS NULL AND r.user_id = p_user_id AND r.memory_id = n.id OFFSET 0
    ) AS s ON true
    UNION ALL
    SELECT g.memory_id, m.source_id, m.session, m.ordinal, m.at, g.recalls, g.last_recalled_at, g.used, g.irrelevant,
      g.importance, g.pinned, m.from_node, m.to_node, true
    FROM signal AS g
    CROSS JOIN LATERAL (
      (SELECT r.source_id, r.session, r.ordinal, r.said_at AS at, r.kind,
        CASE WHEN r.kind = 'card' THEN r.subject_id END AS from_node, NULL::uuid AS to_node,
        r.said_at <= latest AND r.archived_at IS NULL AND (r.version_id IS NULL
          OR (r.recorded_to = 'infinity' AND r.valid_from <= holds AND r.valid_to > holds)) AS visible
      FROM passages AS r WHERE g.kind = 'passage' AND r.user_id = p_user_id AND r.passage_id = g.memory_id OFFSET 0)
      UNION ALL
      (SELECT NULL, NULL, NULL, r.recorded_from, NULL, r.from_node, r.to_node,
        p_facts AND r.recorded_to = 'infinity' AND r.valid_from <= holds AND r.valid_to > holds
          AND NOT memsvc.is_archived(p_user_id, r.version_id)
      FROM edge_versions AS r WHERE g.kind = 'fact' AND r.user_id = p_user_id AND r.version_id = g.memory_id OFFSET 0)
    ) AS m
    WHERE m.visible AND (m.kind IS NULL OR m.kind = ANY (p_kinds))
      AND g.memory_id NOT IN (SELECT n.id FROM said AS n) AND g.memory_id NOT IN (SELECT n.id FROM learnt AS n)
  ),
  rated AS (
    SELECT c.id, c.source_id, c.session, c.ordinal, c.at,
      CASE WHEN c.ages THEN memsvc.recency(moment - c.at, p_half_life) ELSE 0 END AS recency,
      coalesce(c.importance / 10.0::double precision, 0) AS importance,
      memsvc.recall_strength(c.recalls, moment - c.last_recalled_at, p_half_life) AS strength,
      memsvc.usefulness(c.used, c.irrelevant) / 2 AS usefulness,
      CASE WHEN c.pinned THEN 2 ELSE 0 END::double precision AS pinned, c.recalls, c.used, c.irrelevant,
      c.importance AS judged, coalesce((
        SELECT sum(n.salience) / CASE WHEN c.to_node IS NULL THEN 1 ELSE 2 END FROM salient AS n
        WHERE n.node_id IN (c.from_node, c.to_node)
      ), 0)::double precision AS salience
    FROM candidate AS c
  ),
  best AS (
    SELECT r.*, r.recency + r.importance + r.strength + r.usefulness + r.pinned + r.salience AS score FROM rated AS r
  ),
  placed AS (
    SELECT b.*, row_number() OVER (
      PARTITION BY coalesce(b.source_id, b.id), b.session, b.ordinal ORDER BY b.score DESC, b.id
    ) AS nth
    FROM best AS b
  )
  SELECT b.id, b.score, b.recency, b.importance, b.strength, b.usefulness, b.pinned, coalesce(b.recalls, 0),
    coalesce(b.used, 0), coalesce(b.irrelevant, 0), b.judged, b.at, b.salience
  FROM placed AS b
  WHERE b.nth = 1
  ORDER BY b.score DESC, b.at DESC, b.id
  LIMIT p_limit;
END
$$;
COMMENT ON FUNCTION memsvc.top_of_mind(
  uuid, integer, timestamptz, timestamptz, text[], boolean, interval
) IS 'What is salient without a query: ids, best first, with the points of each factor.';

-- A number from 0 up to 1 that follows from a seed and a word, evenly spread.
CREATE OR REPLACE FUNCTION memsvc.seeded(p_seed bigint, p_word text) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN (hashtextextended(p_word, p_seed) & 9007199254740991)::double precision / 9007199254740992;
COMMENT ON FUNCTION memsvc.seeded(bigint, text) IS 'A number from 0 up to 1 that follows from a seed and a word.';

-- A message by chance, the same for the same seed and data; null where there is none. A moment is drawn between the
-- first message and the last, and of the 8 said from then on one is drawn. So each stretch of time is as likely as
-- another, however much was said in it, and a look costs the same at any size; ORDER BY random() would read all. Where
-- the moment falls into a gap of more than a 64th of the span (one message from 1066, the rest of this year), the gap
-- is cut out and it is drawn again, on the side that it falls to.
CREATE OR REPLACE FUNCTION memsvc.random_memory(
  p_user_id uuid, p_seed bigint, p_as_of timestamptz DEFAULT NULL, p_known_at timestamptz DEFAULT NULL
) RETURNS uuid
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-sort, no-bitmap
AS $$
DECLARE
  latest CONSTANT timestamptz := least(
    coalesce(p_as_of, 'infinity'), coalesce(p_known_at + interval '1 day', 'infinity')
  );
  known CONSTANT timestamptz := coalesce(p_known_at, 'infinity');
  first_at timestamptz := (
    SELECT p.said_at FROM passages AS p WHERE p.user_id = p_user_id AND p.version_id IS NULL AND p.said_at <= latest
    ORDER BY p.said_at LIMIT 1
  );
  last_at timestamptz := (
    SELECT p.said_at FROM passages AS p WHERE p.user_id = p_user_id AND p.version_id IS NULL AND p.said_at <= latest
    ORDER BY p.said_at DESC LIMIT 1
  );
  drawn timestamptz;
  gap_from timestamptz;
  gap_to timestamptz;
  chosen uuid;
BEGIN
  IF first_at IS NULL THEN
    RETURN NULL;
  END IF;
  FOR round IN 1..12 LOOP
    drawn := first_at + (last_at - first_at) * memsvc.seeded(p_seed, 'moment ' || round);
    SELECT p.said_at INTO gap_to FROM passages AS p
    WHERE p.user_id = p_user_id AND p.version_id IS NULL AND p.said_at >= drawn AND p.said_at <= last_at
    ORDER BY p.said_at LIMIT 1;
    SELECT p.said_at INTO gap_from FROM passages AS p
    WHERE p.user_id = p_user_id AND p.version_id IS NULL AND p.said_at <= drawn AND p.said_at >= first_at
    ORDER BY p.said_at DESC LIMIT 1;
    EXIT WHEN (gap_to - gap_from) * 64 <= last_at - first_at;
    -- A microsecond for each side, for a message that stands alone has no span.
    IF memsvc.seeded(p_seed, 'side ' || round) * (extract(epoch FROM (gap_from - first_at) + (last_at - gap_to)) + 2e-6)
      < extract(epoch FROM gap_from - first_at) + 1e-6
    THEN
      last_at := gap_from;
    ELSE
      first_at := gap_to;
    END IF;
    drawn := gap_to;
  END LOOP;
  SELECT w.passage_id INTO chosen
  FROM (
    SELECT p.passage_id, p.kind, p.part, p.recorded_at, p.archived_at FROM passages AS p
    WHERE p.user_id = p_user_id AND p.version_id IS NULL AND p.said_at >= drawn AND p.said_at <= latest
    ORDER BY p.said_at LIMIT 8
  ) AS w
  WHERE w.kind = 'message' AND w.part = 0 AND w.recorded_at <= known AND w.archived_at IS NULL
  ORDER BY hashtextextended(w.passage_id::text, p_seed), w.passage_id
  LIMIT 1;
  IF chosen IS NULL THEN -- traces alone stand there, or what was recorded later: the next message, else the last one
    SELECT p.passage_id INTO chosen FROM passages AS p
    WHERE p.user_id = p_user_id AND p.version_id IS NULL AND p.said_at >= drawn AND p.said_at <= latest
      AND p.kind = 'message' AND p.part = 0 AND p.recorded_at <= known AND p.archived_at IS NULL
    ORDER BY p.said_at LIMIT 1;
  END IF;
  IF chosen IS NULL THEN
    SELECT p.passage_id INTO chosen FROM passages AS p
    WHERE p.user_id = p_user_id AND p.version_id IS NULL AND p.said_at < drawn AND p.kind = 'message' AND p.part = 0
      AND p.recorded_at <= known AND p.archived_at IS NULL
    ORDER BY p.said_at DESC LIMIT 1;
  END IF;
  RETURN chosen;
END
$$;
COMMENT ON FUNCTION memsvc.random_memory(uuid, bigint, timestamptz, timestamptz) IS
  'A message by chance, the same for the same seed and data.';
