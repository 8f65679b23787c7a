-- Whom and what some turns may speak of.

-- All runs of one to four words of a text, in their normal form, each once. What stands between two words is one space;
-- a possessive ending belongs to no name. Of a long text the first 2,000 words are looked at.
CREATE OR REPLACE FUNCTION memsvc.word_runs(p_text text) RETURNS text[]
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
DECLARE
  words CONSTANT text[] := ARRAY(
    SELECT w.found[1]
    FROM regexp_matches(
      regexp_replace(memsvc.normal_form(left(p_text, 20000)), '[''’]s\M', '', 'g'),
      '[^\W_]+(?:[''’.&-][^\W_]+)*', 'g'
    ) WITH ORDINALITY AS w (found, nth)
    ORDER BY w.nth LIMIT 2000
  );
BEGIN
  RETURN ARRAY(
    SELECT DISTINCT array_to_string(words[w.nth : w.nth + n.more], ' ')
    FROM generate_subscripts(words, 1) AS w (nth) CROSS JOIN generate_series(0, 3) AS n (more)
    WHERE w.nth + n.more <= cardinality(words)
  );
END
$$;
COMMENT ON FUNCTION memsvc.word_runs(text) IS 'All runs of one to four words of a text, in their normal form.';

-- Stored nodes that some passages speak for: of their properties and names, and both ends of their facts, with how many
-- links each has.
CREATE OR REPLACE FUNCTION memsvc.nodes_behind(p_user_id uuid, p_passages uuid[])
RETURNS TABLE (node_id uuid, links bigint)
LANGUAGE plpgsql STABLE ROWS 50
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key, no-hash, no-merge; a few rows by key; estimates know nothing of how few
AS $$
BEGIN
  RETURN QUERY
  SELECT n.node_id, count(*)
  FROM source_links AS l
  CROSS JOIN LATERAL (
    SELECT v.node_id FROM node_versions AS v WHERE v.user_id = p_user_id AND v.version_id = l.node_version_id
    UNION ALL
    SELECT a.node_id FROM aliases AS a WHERE a.user_id = p_user_id AND a.alias_id = l.alias_id
    UNION ALL
    SELECT e.node_id
    FROM edge_versions AS v CROSS JOIN LATERAL unnest(ARRAY[v.from_node, v.to_node]) AS e (node_id)
    WHERE v.user_id = p_user_id AND v.version_id = l.edge_version_id AND v.recorded_to = 'infinity'
  ) AS n
  WHERE l.user_id = p_user_id AND l.passage_id = ANY (p_passages) AND l.stance = 'supports'
    AND l.recorded_to = 'infinity'
  GROUP BY n.node_id;
END
$$;
COMMENT ON FUNCTION memsvc.nodes_behind(uuid, uuid[]) IS 'Stored nodes that some passages speak for.';

-- People who are somebody's relatives, friends or colleagues: the other end of current edges that say what they are
-- (data.relation), the 50 that were learnt last.
CREATE OR REPLACE FUNCTION memsvc.relatives(p_user_id uuid, p_nodes uuid[])
RETURNS TABLE (node_id uuid, relation text)
LANGUAGE plpgsql STABLE ROWS 20
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
BEGIN
  RETURN QUERY
  SELECT v.to_node, v.data ->> 'relation' FROM edge_versions AS v
  WHERE v.user_id = p_user_id AND v.from_node = ANY (p_nodes) AND v.recorded_to = 'infinity'
    AND v.type IN ('FAMILY_OF', 'KNOWS', 'OWNS') AND v.data ->> 'relation' <> ''
    AND v.valid_from <= clock_timestamp() AND v.valid_to > clock_timestamp()
  ORDER BY v.recorded_from DESC LIMIT 50;
END
$$;
COMMENT ON FUNCTION memsvc.relatives(uuid, uuid[]) IS 'What people are to somebody, by edges that say so.';

-- The passages that are nearest to some others by the active model: by the mean of their vectors, those themselves left
-- out.
CREATE OR REPLACE FUNCTION memsvc.passages_near(p_user_id uuid, p_passages uuid[], p_limit integer)
RETURNS TABLE (passage_id uuid)
LANGUAGE plpgsql STABLE ROWS 20
SET search_path = memsvc, public, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  model smallint;
  middle halfvec;
BEGIN
  SELECT m.model_id INTO model FROM embedding_models AS m WHERE m.state = 'active';
  SELECT l2_normalize(avg(e.vector)) INTO middle FROM embeddings AS e
  WHERE e.user_id = p_user_id AND e.model_id = model AND e.passage_id = ANY (p_passages);
  IF middle IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY
  SELECT m.matched_id
  FROM memsvc.match_vectors(
    p_user_id, model, middle, p_limit + cardinality(p_passages), memsvc.scope('{message}')
  ) AS m
  WHERE m.matched_id <> ALL (p_passages)
  ORDER BY m.similarity DESC LIMIT p_limit;
END
$$;
COMMENT ON FUNCTION memsvc.passages_near(uuid, uuid[], integer) IS 'Passages whose vectors are near to those of others.';

-- What turns may speak of, merges resolved, the likeliest first: the owner (how 'owner'); who speaks (speaker: whose
-- name it is); what the words name ('named', longer names first); the owner's relatives; what the passages before
-- (p_before) were about, and the p_near nearest ones to the turns themselves (p_passages). A name of several people,
-- one of whom these passages were about, is that one's; else all come, and nobody is the speaker. The owner and the
-- speakers come whatever p_limit says. roles: what it is to these, [[node, relation], …].
CREATE OR REPLACE FUNCTION memsvc.grounding(
  p_user_id uuid, p_text text, p_speakers text[], p_passages uuid[], p_before uuid[], p_near integer, p_limit integer
) RETURNS TABLE (
  node_id uuid, label text, type text, named boolean, aliases text[], relations text[], how text, speakers text[],
  roles jsonb
)
LANGUAGE plpgsql STABLE ROWS 20
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
#variable_conflict use_column
DECLARE
  runs CONSTANT text[] := memsvc.word_runs(p_text);
  own uuid[] := ARRAY(
    SELECT s.node_id FROM memsvc.forms_called(p_user_id, '{i}', NULL, NULL) AS f
    CROSS JOIN LATERAL memsvc.same_nodes(p_user_id, ARRAY[f.node_id]) AS s
  );
  found_nodes uuid[];
  found_ranks integer[];
  found_speakers text[];
BEGIN
  SELECT array_agg(g.node_id), array_agg(g.rank), array_agg(g.speaker)
  INTO found_nodes, found_ranks, found_speakers
  FROM (
    SELECT o.node_id, 0 AS rank, NULL::text AS speaker FROM unnest(own) AS o (node_id)
    UNION ALL
    SELECT c.node_id, 1, s.name
    FROM (SELECT u.name, memsvc.normal_form(u.name) AS form FROM unnest(p_speakers) AS u (name)) AS s
    INNER JOIN memsvc.forms_called(
      p_user_id, ARRAY(SELECT memsvc.normal_form(u.name) FROM unnest(p_speakers) AS u (name)), NULL, NULL
    ) AS c ON c.form = s.form
    UNION ALL
    SELECT c.node_id, 100 - least(length(c.form), 50), NULL FROM memsvc.forms_called(p_user_id, runs, NULL, NULL) AS c
    UNION ALL
    SELECT r.node_id, 200, NULL FROM memsvc.relatives(p_user_id, own) AS r
    UNION ALL
    SELECT b.node_id, 300 - least(b.links, 50)::integer, NULL FROM memsvc.nodes_behind(p_user_id, p_before) AS b
    UNION ALL
    SELECT b.node_id, 400 - least(b.links, 50)::integer, NULL
    FROM memsvc.nodes_behind(
      p_user_id, ARRAY(SELECT n.passage_id FROM memsvc.passages_near(p_user_id, p_passages, p_near) AS n)
    ) AS b
  ) AS g;
  IF found_nodes IS NULL THEN
    RETURN;
  END IF;

  RETURN QUERY
  WITH card AS MATERIALIZED (
    SELECT c.node_id, c.canonical_id, c.label, c.type, c.data
    FROM memsvc.node_cards(p_user_id, found_nodes, NULL, NULL) AS c WHERE c.label IS NOT NULL
  ),
  hit AS MATERIALIZED (
    SELECT c.canonical_id, min(f.rank) AS rank, max(f.rank) FILTER (WHERE f.rank BETWEEN 200 AND 400) AS about,
      array_agg(DISTINCT f.speaker) FILTER (WHERE f.speaker IS NOT NULL AND c.type = 'Person') AS speakers
    FROM unnest(found_nodes, found_ranks, found_speakers) AS f (node_id, rank, speaker)
    INNER JOIN card AS c ON c.node_id = f.node_id
    GROUP BY c.canonical_id
  ),
  role AS MATERIALIZED (
    SELECT DISTINCT k.canonical_id, s.canonical_id AS whose, r.relation
    FROM memsvc.same_nodes(
      p_user_id,
      ARRAY(SELECT u.node_id FROM unnest(found_nodes, found_ranks) AS u (node_id, rank) WHERE u.rank <= 1)
    ) AS s
    CROSS JOIN LATERAL memsvc.relatives(p_user_id, ARRAY[s.node_id]) AS r
    INNER JOIN card AS k ON k.node_id = r.node_id
  ),
  spoken AS MATERIALIZED (
    SELECT h.canonical_id, s.name,
      count(*) OVER (PARTITION BY s.name) AS people,
      count(h.about) OVER (PARTITION BY s.name) AS known, h.about IS NOT NULL AS is_known
    FROM hit AS h CROSS JOIN LATERAL unnest(h.speakers) AS s (name)
  ),
  best AS MATERIALIZED (
    SELECT h.canonical_id, h.rank FROM hit AS h
    ORDER BY h.rank, h.canonical_id DESC
    LIMIT greatest(p_limit, (SELECT count(*) FROM hit AS o WHERE o.rank <= 1))
  )
  SELECT b.canonical_id, c.label, c.type, coalesce(c.data ->> 'named', 'true') <> 'false',
    ARRAY(
      SELECT DISTINCT n.alias FROM memsvc.node_names(p_user_id, ARRAY[b.canonical_id]) AS n
      WHERE n.valid_to > clock_timestamp() AND n.alias <> c.label ORDER BY n.alias LIMIT 12
    ),
    ARRAY(
      SELECT DISTINCT r.relation FROM memsvc.relatives(p_user_id, own) AS r
      INNER JOIN card AS k ON k.node_id = r.node_id
      WHERE k.canonical_id = b.canonical_id ORDER BY r.relation
    ),
    CASE WHEN b.rank = 0 THEN 'owner' WHEN b.rank = 1 THEN 'speaker' WHEN b.rank <= 100 THEN 'named'
      WHEN b.rank = 200 THEN 'relative' WHEN b.rank <= 300 THEN 'recent' ELSE 'near' END,
    ARRAY(
      SELECT s.name FROM spoken AS s
      WHERE s.canonical_id = b.canonical_id AND (s.people = 1 OR (s.known = 1 AND s.is_known))
    ),
    (
      SELECT coalesce(jsonb_agg(jsonb_build_array(r.whose, r.relation) ORDER BY r.whose, r.relation), '[]')
      FROM role AS r WHERE r.canonical_id = b.canonical_id
    )
  FROM best AS b
  INNER JOIN (
    SELECT DISTINCT ON (d.canonical_id) d.canonical_id, d.label, d.type, d.data FROM card AS d
    ORDER BY d.canonical_id
  ) AS c ON c.canonical_id = b.canonical_id
  ORDER BY b.rank, b.canonical_id DESC;
END
$$;
COMMENT ON FUNCTION memsvc.grounding(uuid, text, text[], uuid[], uuid[], integer, integer) IS
  'What turns may speak of, the likeliest first.';
