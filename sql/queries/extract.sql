-- Statements of memsvc.extract.

-- name: turns_to_read
-- With the first part of the message, where they are later ones.
SELECT t.passage_id, t.speaker, t.role, t.text, t.caption, t.said_at, t.said_offset, t.language,
  coalesce(o.text, '') AS opening, t.read
FROM memsvc.turns_to_read(:user_id, :source_id, :extractor, :before, :limit) AS t
INNER JOIN memsvc.passages AS p ON p.user_id = :user_id AND p.passage_id = t.passage_id
LEFT JOIN memsvc.passages AS o
  ON o.user_id = p.user_id AND o.source_id = p.source_id AND o.session = p.session AND o.ordinal = p.ordinal
  AND o.part = 0 AND p.part > 0
ORDER BY t.passage_id;

-- name: grounding
SELECT g.node_id, g.label, g.type, g.named, g.aliases, g.relations, g.how, g.speakers, g.roles
FROM memsvc.grounding(
  :user_id, :text, CAST(:speakers AS text []), CAST(:passages AS uuid []), CAST(:before AS uuid []), :near, :limit
) AS g;

-- name: stems
-- What Snowball cuts words down to, by the language's stemmer; a stop word stays as it is.
SELECT
  w.language, w.word, coalesce(
    (
      ts_lexize(
        CAST(CASE w.language WHEN 'simple' THEN 'simple' ELSE w.language || '_stem' END AS regdictionary), w.word
      )
    )[1], w.word
  ) AS stem
FROM unnest(CAST(:languages AS text []), CAST(:words AS text [])) AS w (language, word);

-- name: usable_types
-- Types of the core and approved ones of the user; ends as they are written there.
SELECT 'node' AS kind, t.name, t.parent, CAST('{}' AS text []) AS from_types, CAST('{}' AS text []) AS to_types,
  FALSE AS functional, t.description
FROM memsvc.node_types AS t
WHERE t.user_id IN (memsvc.core_user_id(), :user_id) AND t.status IN ('core', 'approved')
UNION ALL
SELECT 'edge', t.name, t.parent, t.from_types, t.to_types, t.functional, t.description
FROM memsvc.edge_types AS t
WHERE t.user_id IN (memsvc.core_user_id(), :user_id) AND t.status IN ('core', 'approved');

-- name: turns_there
SELECT count(*)
FROM memsvc.passages AS p
WHERE p.user_id = :user_id AND p.passage_id = any(CAST(:passages AS uuid []));

-- name: nodes_as_known
-- How nodes are known now, each with its stored version that shows it, its names, and whether passages speak for it:
-- what was entered by hand has none and must not get any, or it would go with them.
SELECT DISTINCT ON (s.canonical_id)
  s.canonical_id AS node_id, s.node_id AS stored_id, s.version_id, s.type, s.label, s.description, s.data, s.importance,
  nullif(s.valid_from, '-infinity') AS valid_from, nullif(s.valid_to, 'infinity') AS valid_to,
  (
    SELECT coalesce(array_agg(n.alias), '{}')
    FROM memsvc.node_names(:user_id, ARRAY[s.canonical_id]) AS n
  ) AS names, (
    SELECT count(*) > 0
    FROM memsvc.links_of(:user_id, 'node', s.version_id) AS k
    WHERE k.stance = 'supports'
  ) AS supported
FROM memsvc.node_states(:user_id, CAST(:nodes AS uuid []), clock_timestamp()) AS s
ORDER BY s.canonical_id ASC, (s.node_id = s.canonical_id) DESC, s.valid_from DESC;

-- name: facts_to_compare
SELECT * FROM memsvc.facts_to_compare(
  :user_id, :source_id, CAST(:from_nodes AS uuid []), CAST(:types AS text []), CAST(:to_nodes AS uuid []),
  CAST(:passages AS uuid []), :extractor
);

-- name: begin_reading
SELECT memsvc.begin_reading(:user_id, :source_id, :extractor, :backend);

-- name: end_reading
UPDATE memsvc.extractions AS e
SET upto = :upto, turns = e.turns + :turns, facts = e.facts + :facts, refused = e.refused + :refused,
  last_at = clock_timestamp()
WHERE e.user_id = :user_id AND e.source_id = :source_id AND e.extractor = :extractor;

-- name: pass_over
-- Turns that cannot be read while others can: each gets a job of its own.
UPDATE memsvc.extractions AS e SET passed_over = e.passed_over || CAST(:over AS uuid [])
WHERE e.user_id = :user_id AND e.source_id = :source_id AND e.extractor = :extractor
RETURNING (
  SELECT count(memsvc.ask_job(:user_id, 'extract', o.passage_id))
  FROM unnest(CAST(:over AS uuid [])) AS o (passage_id)
);

-- name: passed_over_by
-- Who could not read a passage; with the re-reading that met it, where it is one that goes on or is done.
SELECT
  e.source_id, e.extractor, e.backend, (
    SELECT r.rereading_id
    FROM memsvc.rereadings AS r
    WHERE r.user_id = :user_id AND r.extractor = e.extractor AND r.state IN ('open', 'done')
      AND p.passage_id <= e.begun_after
  ) AS rereading_id
FROM memsvc.passages AS p
INNER JOIN memsvc.extractions AS e ON e.user_id = :user_id AND e.source_id = p.source_id
WHERE p.user_id = :user_id AND p.passage_id = :passage_id AND p.passage_id = any(e.passed_over)
ORDER BY e.extractor;

-- name: turn_to_read
SELECT p.passage_id, p.speaker, p.role, p.text, p.caption, p.said_at, p.said_offset, p.language,
  coalesce(o.text, '') AS opening
FROM memsvc.passages AS p
LEFT JOIN memsvc.passages AS o
  ON o.user_id = p.user_id AND o.source_id = p.source_id AND o.session = p.session AND o.ordinal = p.ordinal
  AND o.part = 0 AND p.part > 0
WHERE p.user_id = :user_id AND p.passage_id = :passage_id;

-- name: end_reading_again
UPDATE memsvc.extractions AS e
SET passed_over = array_remove(e.passed_over, CAST(:passage_id AS uuid)), turns = e.turns + 1,
  facts = e.facts + :facts, refused = e.refused + :refused, last_at = clock_timestamp()
WHERE e.user_id = :user_id AND e.source_id = :source_id AND e.extractor = :extractor
  AND :passage_id = any(e.passed_over);

-- name: keep_signs
-- Only where nobody has judged before.
INSERT INTO memsvc.memory_signals AS s (user_id, memory_id, kind, importance, sentiment)
SELECT :user_id, g.memory_id, 'passage', g.importance, g.sentiment
FROM jsonb_to_recordset(CAST(:signs AS jsonb)) AS g (memory_id uuid, importance smallint, sentiment real)
ORDER BY g.memory_id
ON CONFLICT (user_id, memory_id) DO UPDATE SET
  importance = coalesce(s.importance, excluded.importance), sentiment = coalesce(s.sentiment, excluded.sentiment);

-- name: keep_reviews
-- Each fact of a passage once, so many of a passage at most, as who found it last put it; what was refused may become
-- doubtful, what a person decided stays, and what a judge was unsure about is not judged again.
INSERT INTO memsvc.fact_reviews AS r (
  user_id, passage_id, extractor, state, reason, proposal, digest, span_from, span_to
)
SELECT
  :user_id, g.passage_id, :extractor, g.state, g.reason, g.proposal, decode(g.digest, 'hex'), g.span_from, g.span_to
FROM jsonb_to_recordset(CAST(:reviews AS jsonb)) AS g (
  passage_id uuid, state text, reason text, proposal jsonb, digest text, span_from integer, span_to integer,
  place integer
)
WHERE g.place + (
  SELECT count(*)
  FROM memsvc.fact_reviews AS k
  WHERE k.user_id = :user_id AND k.passage_id = g.passage_id
) < :most
ORDER BY g.passage_id, g.digest
ON CONFLICT (user_id, passage_id, digest) DO UPDATE SET
  state = excluded.state, reason = CASE r.reason WHEN 'unsure' THEN r.reason ELSE excluded.reason END,
  proposal = excluded.proposal, extractor = excluded.extractor,
  span_from = excluded.span_from, span_to = excluded.span_to
  WHERE r.state IN ('refused', excluded.state) AND r.state IN ('refused', 'doubtful');

-- name: rejected_facts
SELECT r.passage_id, encode(r.digest, 'hex') AS digest
FROM memsvc.fact_reviews AS r
WHERE r.user_id = :user_id AND r.passage_id = any(CAST(:passages AS uuid [])) AND r.state = 'rejected';

-- name: retracted_facts
-- Facts from passages that a person retracted, or undid the writing of, and that do not hold at any time now; their
-- ends are the nodes that stand for the stored ones, by all their labels where undoing took the nodes too, for then new
-- ones get other ids. A version that was replaced has another of that time.
WITH retracted AS MATERIALIZED (
  SELECT DISTINCT l.passage_id, v.from_node, v.type, v.to_node
  FROM memsvc.source_links AS l
  INNER JOIN memsvc.edge_versions AS v ON v.user_id = :user_id AND v.version_id = l.edge_version_id
  INNER JOIN memsvc.changes AS c ON c.user_id = :user_id AND c.recorded_at = v.recorded_to
  WHERE l.user_id = :user_id AND l.passage_id = any(CAST(:passages AS uuid [])) AND l.stance = 'supports'
    AND v.recorded_from < v.recorded_to AND c.asserted_by IN ('user', 'app') AND c.operations && '{retract,undo}'
    AND NOT EXISTS ( -- who takes a whole re-reading back has not judged each of its facts
      SELECT
      FROM memsvc.changes AS r
      WHERE r.user_id = :user_id AND r.change_id = c.undoes AND r.rereading_id IS NOT NULL
    )
    AND NOT EXISTS (
      SELECT
      FROM memsvc.edge_versions AS o
      WHERE o.user_id = :user_id AND o.edge_id = v.edge_id
        AND (o.recorded_to = 'infinity' OR (o.recorded_from = v.recorded_to AND o.recorded_to > o.recorded_from))
    )
)
SELECT
  r.passage_id, f.canonical_id AS from_node, r.type, t.canonical_id AS to_node, (
    SELECT CASE WHEN bool_or(n.recorded_to = 'infinity') THEN '{}' ELSE coalesce(array_agg(n.label), '{}') END
    FROM memsvc.node_versions AS n
    WHERE n.user_id = :user_id AND n.node_id = f.canonical_id
  ) AS from_names, (
    SELECT CASE WHEN bool_or(n.recorded_to = 'infinity') THEN '{}' ELSE coalesce(array_agg(n.label), '{}') END
    FROM memsvc.node_versions AS n
    WHERE n.user_id = :user_id AND n.node_id = t.canonical_id
  ) AS to_names
FROM retracted AS r
CROSS JOIN LATERAL memsvc.resolve_nodes(:user_id, ARRAY[r.from_node]) AS f
CROSS JOIN LATERAL memsvc.resolve_nodes(:user_id, ARRAY[r.to_node]) AS t;

-- name: read_by_others
-- Extractors that have read a source besides one.
SELECT e.extractor FROM memsvc.extractions AS e
WHERE e.user_id = :user_id AND e.source_id = :source_id AND e.extractor <> :extractor AND e.turns > 0;

-- name: read_again
-- What one extractor found as another had found it before: the same words get a link of their own, for a link tells who
-- read it so.
INSERT INTO memsvc.source_links (
  user_id, passage_id, span_from, span_to, node_version_id, edge_version_id, alias_id, stance, confidence,
  asserted_by, recorded_from
)
SELECT DISTINCT ON (l.node_version_id, l.edge_version_id, l.alias_id, l.passage_id)
  :user_id, l.passage_id, l.span_from, l.span_to, l.node_version_id, l.edge_version_id, l.alias_id, l.stance,
  l.confidence, :extractor, CAST(:recorded_at AS timestamptz)
FROM memsvc.source_links AS l
WHERE l.user_id = :user_id AND l.passage_id = any(CAST(:passages AS uuid [])) AND l.stance = 'supports'
  AND l.recorded_to = 'infinity' AND l.asserted_by = any(CAST(:others AS text []))
  AND coalesce(l.node_version_id, l.edge_version_id, l.alias_id) = any(CAST(:versions AS uuid []))
  AND NOT EXISTS (
    SELECT FROM memsvc.source_links AS m
    WHERE m.user_id = :user_id AND m.passage_id = l.passage_id AND m.asserted_by = :extractor
      AND m.recorded_to = 'infinity' AND m.stance = 'supports'
      AND coalesce(m.node_version_id, m.edge_version_id, m.alias_id)
      = coalesce(l.node_version_id, l.edge_version_id, l.alias_id)
  );

-- name: found_by_others_alone
SELECT * FROM memsvc.found_by_others_alone(
  :user_id, :source_id, :upto, CAST(:passages AS uuid []), CAST(:others AS text [])
);

-- name: ask_reading
-- A job that reads a source, where there is anything to read and its kind is not one that is left out.
SELECT memsvc.ask_job(:user_id, 'extract', :source_id)
WHERE memsvc.anything_to_read(:user_id, :source_id, :extractor)
  AND coalesce(memsvc.kind_of_source(:user_id, :source_id) <> all(CAST(:left_out AS text [])), TRUE);

-- name: readers_asked
-- Who was asked to read a source, besides who reads by itself. And whether nobody reads sources of its kind by itself.
SELECT
  coalesce(memsvc.kind_of_source(:user_id, :source_id) = any(CAST(:left_out AS text [])), FALSE) AS is_left_out, array(
    SELECT DISTINCT e.backend FROM memsvc.extractions AS e
    WHERE e.user_id = :user_id AND e.source_id = :source_id AND e.asked
  ) AS backends;

-- name: reading_answered
-- All was read that was asked for; what arrived and was asked for since stays asked for.
UPDATE memsvc.extractions AS e SET asked = FALSE
WHERE e.user_id = :user_id AND e.source_id = :source_id AND e.backend = :backend AND e.asked
  AND NOT memsvc.anything_to_read(:user_id, :source_id, :extractor);

-- name: ask_readings
-- Asks an extractor to read all that it has not read of one source, or of all whose kind is not left out; one that has
-- not begun begins behind what was said before a time. What it could not read is tried again. The jobs.
WITH wanted AS MATERIALIZED (
  SELECT s.source_id, (
    SELECT p.passage_id FROM memsvc.passages AS p
    WHERE p.user_id = :user_id AND p.source_id = s.source_id AND p.kind = 'message'
      AND p.said_at < CAST(:since AS timestamptz) AND p.passage_id < all(
        SELECT n.passage_id FROM memsvc.passages AS n
        WHERE n.user_id = :user_id AND n.source_id = s.source_id AND n.kind = 'message'
          AND n.said_at >= CAST(:since AS timestamptz)
        ORDER BY n.passage_id LIMIT 1
      )
    ORDER BY p.passage_id DESC LIMIT 1
  ) AS upto
  FROM memsvc.sources AS s
  WHERE s.user_id = :user_id AND CASE
      WHEN CAST(:source_id AS uuid) IS NOT NULL THEN s.source_id = :source_id
      ELSE memsvc.kind_of_source(:user_id, s.source_id) <> all(CAST(:left_out AS text []))
    END
),
asked AS (
  INSERT INTO memsvc.extractions AS e (user_id, source_id, extractor, backend, upto, asked)
  SELECT :user_id, w.source_id, :extractor, :backend, w.upto, TRUE FROM wanted AS w
  WHERE EXISTS (
    SELECT FROM memsvc.passages AS p
    WHERE p.user_id = :user_id AND p.source_id = w.source_id AND p.kind = 'message'
      AND p.passage_id > coalesce(
        (
          SELECT k.upto FROM memsvc.extractions AS k
          WHERE k.user_id = :user_id AND k.source_id = w.source_id AND k.extractor = :extractor
        ), w.upto, '00000000-0000-0000-0000-000000000000'
      )
  )
  ORDER BY w.source_id
  ON CONFLICT (user_id, source_id, extractor) DO UPDATE SET asked = TRUE, backend = excluded.backend
  RETURNING e.source_id
)
SELECT memsvc.ask_job(:user_id, 'extract', a.source_id) FROM asked AS a
UNION ALL
SELECT memsvc.ask_job(:user_id, 'extract', o.passage_id)
FROM wanted AS w
INNER JOIN memsvc.extractions AS e
  ON e.user_id = :user_id AND e.source_id = w.source_id AND e.extractor = :extractor
CROSS JOIN LATERAL unnest(e.passed_over) AS o (passage_id);

-- name: pause_readings
UPDATE memsvc.jobs AS j
SET state = 'cancelled', finished_at = clock_timestamp()
WHERE j.user_id = :user_id AND j.kind = 'extract' AND j.state = 'pending'
  AND (CAST(:source_id AS uuid) IS NULL OR j.subject_id = :source_id)
RETURNING j.job_id;

-- name: reading_progress
SELECT
  e.source_id, s.identifier, e.extractor, e.turns, (
    SELECT count(*) FROM memsvc.passages AS p
    WHERE p.user_id = :user_id AND p.source_id = e.source_id AND p.kind = 'message'
      AND p.passage_id > coalesce(e.upto, '00000000-0000-0000-0000-000000000000')
  ) + cardinality(e.passed_over) AS unread,
  CASE WHEN e.begun_after IS NULL THEN 0 ELSE (
    SELECT count(*) FROM memsvc.passages AS p
    WHERE p.user_id = :user_id AND p.source_id = e.source_id AND p.kind = 'message'
      AND p.passage_id > coalesce(e.again_upto, '00000000-0000-0000-0000-000000000000')
      AND p.passage_id <= e.begun_after
  ) END AS again,
  e.facts,
  e.refused,
  e.asked,
  e.last_at,
  j.job_id,
  j.state AS job_state,
  j.error_code
FROM memsvc.extractions AS e
INNER JOIN memsvc.sources AS s ON s.user_id = :user_id AND s.source_id = e.source_id
LEFT JOIN LATERAL (
  SELECT w.job_id, w.state, w.error_code FROM memsvc.jobs AS w
  WHERE w.user_id = :user_id AND w.kind = 'extract' AND w.subject_id = any(e.source_id || e.passed_over)
    AND w.state IN ('pending', 'failed')
  ORDER BY w.state DESC, w.job_id DESC LIMIT 1
) AS j ON TRUE
WHERE e.user_id = :user_id AND (CAST(:source_id AS uuid) IS NULL OR e.source_id = :source_id)
  AND (CAST(:after_source AS uuid) IS NULL OR (e.source_id, e.extractor) > (:after_source, :after_extractor))
ORDER BY e.source_id, e.extractor
LIMIT :limit;

-- name: reading_totals
SELECT
  count(e.source_id) AS sources, coalesce(sum(e.turns), 0) AS turns, CAST(coalesce(sum((
    SELECT count(*) FROM memsvc.passages AS p
    WHERE p.user_id = :user_id AND p.source_id = e.source_id AND p.kind = 'message'
      AND p.passage_id > coalesce(e.upto, '00000000-0000-0000-0000-000000000000')
  ) + cardinality(e.passed_over)), 0) AS bigint) AS unread,
  coalesce(sum(e.facts), 0) AS facts,
  coalesce(sum(e.refused), 0) AS refused,
  (
    SELECT count(*) FROM memsvc.jobs AS j
    WHERE j.user_id = :user_id AND j.kind = 'extract' AND j.state = 'pending'
  ) AS pending, (
    SELECT count(DISTINCT j.subject_id) FROM memsvc.jobs AS j
    WHERE j.user_id = :user_id AND j.kind = 'extract' AND j.state = 'failed'
      AND EXISTS (
        SELECT FROM memsvc.extractions AS f
        WHERE f.user_id = :user_id AND f.extractor = :extractor AND (
          j.subject_id = any(f.passed_over)
          OR (f.source_id = j.subject_id AND memsvc.anything_to_read(:user_id, f.source_id, f.extractor))
        )
      )
  ) AS failed, (
    SELECT coalesce(sum(CAST(c.tokens_in AS bigint) + c.tokens_out), 0) FROM memsvc.model_calls AS c
    WHERE c.user_id = :user_id AND c.task = 'facts' AND 'llm:' || c.model || '/' || c.prompt_version = :extractor
  ) AS tokens
FROM memsvc.extractions AS e
WHERE e.user_id = :user_id AND e.extractor = :extractor;

-- name: list_reviews
-- Newest first; review_id is time-ordered and serves as the cursor.
SELECT
  r.review_id, r.state, r.reason, r.proposal, r.passage_id, p.source_id, p.speaker, p.role, p.text, p.caption,
  r.span_from,
  r.span_to, p.said_at, p.said_offset, p.language, r.extractor, r.found_at, r.decided_at, r.decided_by
FROM memsvc.fact_reviews AS r
INNER JOIN memsvc.passages AS p ON p.user_id = :user_id AND p.passage_id = r.passage_id
WHERE r.user_id = :user_id
  AND (CAST(:review_id AS uuid) IS NULL OR r.review_id = :review_id)
  AND (CAST(:state AS text) IS NULL OR r.state = :state)
  AND (CAST(:source_id AS uuid) IS NULL OR p.source_id = :source_id)
  AND (CAST(:after AS uuid) IS NULL OR r.review_id < :after)
ORDER BY r.review_id DESC
LIMIT :limit;

-- name: reviews_to_judge
-- Doubtful facts that were not judged yet, those from the most recalled sources first, then the oldest; a judge that is
-- unsure leaves another reason.
SELECT r.review_id FROM memsvc.fact_reviews AS r
INNER JOIN memsvc.passages AS p ON p.user_id = :user_id AND r.passage_id = p.passage_id
LEFT JOIN memsvc.recalled_sources(:user_id, clock_timestamp()) AS s ON p.source_id = s.source_id
WHERE r.user_id = :user_id AND r.state = 'doubtful' AND r.reason = 'doubtful'
ORDER BY coalesce(s.strength, 0) DESC, r.review_id
LIMIT :limit;

-- name: put_review_aside
UPDATE memsvc.fact_reviews AS r SET state = :state, reason = :reason
WHERE r.user_id = :user_id AND r.review_id = :review_id AND r.state = 'doubtful'
RETURNING r.review_id;

-- name: lock_review
SELECT r.state FROM memsvc.fact_reviews AS r
WHERE r.user_id = :user_id AND r.review_id = :review_id
FOR UPDATE;

-- name: decide_review
UPDATE memsvc.fact_reviews AS r
SET state = :decision, decided_at = clock_timestamp(), decided_by = :by, proposal = CAST(:proposal AS jsonb)
WHERE r.user_id = :user_id AND r.review_id = :review_id;

-- name: reopen_review
UPDATE memsvc.fact_reviews AS r SET state = 'doubtful', decided_at = NULL, decided_by = NULL
WHERE r.user_id = :user_id AND r.review_id = :review_id AND r.decided_at IS NOT NULL;

-- name: read_upto
SELECT e.upto FROM memsvc.extractions AS e
WHERE e.user_id = :user_id AND e.source_id = :source_id AND e.extractor = :extractor;

-- name: write_facts_alone
-- Whoever writes facts of a user takes turns with extraction (memsvc.begin_reading); nobody erases meanwhile.
SELECT memsvc.keep_memories(:user_id), pg_advisory_xact_lock(hashtextextended('memsvc facts of ' || :user_id, 0));
