-- What is known as passages, so that recall finds it by words and by vectors like what was said: facts, notes,
-- instructions, and the description of any other node as its card. A passage repeats a version of an edge or a node: it
-- has the version's id (part 0), its bounds of valid and of recorded time, and a node's label as the speaker. All of a
-- user's come from one source of kind 'graph', under the user's id, with the edge's or node's id as the session.
--
-- Triggers keep them in the transaction that writes the version, whoever writes it; erasing a version takes its
-- passages along (erase/10_plan.sql). Versions from before this existed are filed by the job 'tidy'.

-- Parts of a text that fit an embedder's window: cut behind a paragraph, else a sentence, else a word, and in any case
-- after p_chars characters. Joined, they are the text.
CREATE OR REPLACE FUNCTION memsvc.parts_of(p_text text, p_chars integer) RETURNS TABLE (part smallint, text text)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE ROWS 3
SET search_path = pg_catalog, pg_temp
-- callers: app
AS $$
#variable_conflict use_column
DECLARE
  size CONSTANT integer := length(p_text);
  least_chars CONSTANT integer := p_chars / 3; -- of a part
  begun integer := 1;
  nth smallint := 0;
  piece text;
  tail text;
  cut integer;
BEGIN
  LOOP
    piece := substr(p_text, begun, p_chars);
    cut := length(piece);
    IF begun + cut <= size THEN
      tail := substr(piece, least_chars + 1);
      cut := coalesce(
        least_chars + length(substring(tail FROM '^(.*\n\s*\n)')),
        least_chars + length(substring(tail FROM '^(.*(?:[.!?…]["”’)]?\s|[。！？]|\n))')),
        least_chars + length(substring(tail FROM '^(.*\s)')),
        cut
      );
    END IF;
    RETURN QUERY SELECT nth, left(piece, cut);
    begun := begun + cut;
    nth := nth + 1::smallint;
    EXIT WHEN begun > size;
  END LOOP;
END
$$;
COMMENT ON FUNCTION memsvc.parts_of(text, integer) IS 'A text in parts that fit an embedder''s window.';

-- The kind of passage for a type of node: a note, an instruction and a task may be of types that refine these.
CREATE OR REPLACE FUNCTION memsvc.known_kind(p_user_id uuid, p_type text) RETURNS text
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
BEGIN ATOMIC
  SELECT coalesce((
    SELECT CASE
        WHEN 'Note' IN (t.name, t.parent) THEN 'note'
        WHEN 'Instruction' IN (t.name, t.parent) THEN 'instruction'
        WHEN 'Task' IN (t.name, t.parent) THEN 'task'
        WHEN 'Summary' IN (t.name, t.parent) THEN 'summary'
        WHEN 'ConceptGroup' IN (t.name, t.parent) THEN 'concept'
        WHEN 'Reflection' IN (t.name, t.parent) THEN 'reflection'
        WHEN 'Critique' IN (t.name, t.parent) THEN 'critique'
        WHEN 'Plan' IN (t.name, t.parent) THEN 'plan'
      END
    FROM memsvc.node_types AS t
    WHERE t.user_id IN (memsvc.core_user_id(), p_user_id) AND t.name = p_type
    LIMIT 1
  ), 'card');
END;
COMMENT ON FUNCTION memsvc.known_kind(uuid, text) IS 'The kind of passage for what is known about a node of some type.';

-- What versions of edges and nodes say, each kind by its branch: a fact its sentence; a note or an instruction its
-- text, and its label where it has none; a summary, a concept and any other node its description, the latter as a card; a
-- task without one its label. Versions that never stood (written and superseded at once) say nothing, nor do links between
-- notes, because the notes say them, nor edges of summaries and reflections and from what concepts hold, which their text
-- names. Nor do open loops: such a reflection repeats one message, which would take two places in an answer.
CREATE OR REPLACE FUNCTION memsvc.known_texts(p_user_id uuid, p_versions uuid[]) RETURNS TABLE (
  version_id uuid, kind text, subject_id uuid, subject_type text, title text, text text, metadata jsonb,
  valid_from timestamptz, valid_to timestamptz, recorded_from timestamptz, recorded_to timestamptz
)
LANGUAGE plpgsql STABLE ROWS 10
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT v.version_id, 'fact', v.edge_id, v.type, '', v.fact, v.data, v.valid_from, v.valid_to, v.recorded_from,
    v.recorded_to
  FROM edge_versions AS v
  WHERE v.user_id = p_user_id AND v.version_id = ANY (p_versions) AND v.recorded_to > v.recorded_from
    AND btrim(v.fact, E' \n\t') <> '' AND v.type NOT IN ('LINKS_TO', 'SUMMARIZES', 'REFLECTS_ON')
    AND v.asserted_by <> 'concepts'
  UNION ALL
  SELECT v.version_id, CASE WHEN t.said AND k.kind = 'task' THEN 'card' ELSE k.kind END, v.node_id, v.type,
    CASE WHEN t.said THEN left(v.label, 200) ELSE '' END,
    CASE WHEN t.said THEN v.description ELSE v.label END, v.data, v.valid_from, v.valid_to, v.recorded_from,
    v.recorded_to
  FROM node_versions AS v
  CROSS JOIN LATERAL (SELECT btrim(v.description, E' \n\t') <> '' AS said) AS t
  CROSS JOIN LATERAL (SELECT memsvc.known_kind(p_user_id, v.type) AS kind) AS k
  WHERE v.user_id = p_user_id AND v.version_id = ANY (p_versions) AND v.recorded_to > v.recorded_from
    AND (t.said OR k.kind NOT IN ('card', 'summary', 'concept'))
    AND NOT (k.kind = 'reflection' AND v.data @> '{"kind": "open_loop"}');
END
$$;
COMMENT ON FUNCTION memsvc.known_texts(uuid, uuid[]) IS 'What versions of edges and nodes say.';

-- The id of a part: of the first one the version's, of the others one that follows from it, wherever it is stored
-- again.
CREATE OR REPLACE FUNCTION memsvc.part_id(p_version_id uuid, p_part smallint) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app
RETURN CASE p_part WHEN 0 THEN p_version_id ELSE left(
  encode(sha256(convert_to(p_version_id::text || ' ' || p_part, 'UTF8')), 'hex'), 32
)::uuid END;
COMMENT ON FUNCTION memsvc.part_id(uuid, smallint) IS 'The id of a part of what a version says.';

-- Stores what versions say as passages; what has some already is left alone. Returns how many were stored.
CREATE OR REPLACE FUNCTION memsvc.file_known(p_user_id uuid, p_versions uuid[]) RETURNS integer
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  filed uuid[];
BEGIN
  IF NOT EXISTS (SELECT FROM memsvc.known_texts(p_user_id, p_versions)) THEN
    RETURN 0;
  END IF;
  IF NOT EXISTS (SELECT FROM sources AS s WHERE s.user_id = p_user_id AND s.source_id = p_user_id) THEN
    INSERT INTO sources (user_id, source_id, kind, identifier, status)
    VALUES (p_user_id, p_user_id, 'graph', 'graph', 'completed')
    ON CONFLICT DO NOTHING;
  END IF;
  WITH said AS MATERIALIZED (
    SELECT k.*, u.language, coalesce(l.ordinal + 1, 0)
        + row_number() OVER (PARTITION BY k.subject_id ORDER BY k.version_id) - 1 AS ordinal,
      (
        extract(epoch FROM k.recorded_from AT TIME ZONE u.time_zone - k.recorded_from AT TIME ZONE 'UTC') / 60
      )::smallint AS said_offset
    FROM memsvc.known_texts(p_user_id, p_versions) AS k
    INNER JOIN users AS u ON u.user_id = p_user_id
    CROSS JOIN LATERAL (
      SELECT max(p.ordinal) AS ordinal FROM passages AS p
      WHERE p.user_id = p_user_id AND p.source_id = p_user_id AND p.session = k.subject_id::text
    ) AS l
    WHERE NOT EXISTS (SELECT FROM passages AS p WHERE p.user_id = p_user_id AND p.passage_id = k.version_id)
  ),
  stored AS (
    INSERT INTO passages (
      passage_id, user_id, source_id, kind, session, ordinal, part, speaker, role, text, said_at, said_offset, language,
      tsv, tsv_simple, length, length_simple, metadata, recorded_at, recorded_to, subject_id, subject_type, version_id,
      valid_from, valid_to
    )
    SELECT memsvc.part_id(s.version_id, w.part), p_user_id, p_user_id, s.kind, s.subject_id::text,
      s.ordinal, w.part, s.title, 'other', w.text, s.recorded_from, s.said_offset, s.language, w.tsv, w.tsv_simple,
      memsvc.word_count(w.tsv), memsvc.word_count(w.tsv_simple), s.metadata, s.recorded_from, s.recorded_to,
      s.subject_id, s.subject_type, s.version_id, s.valid_from, s.valid_to
    FROM said AS s
    CROSS JOIN LATERAL (
      SELECT c.part, c.text,
        memsvc.to_words('stemmed', s.language, memsvc.searched_text(s.title, c.text, NULL)) AS tsv,
        memsvc.to_words('simple', s.language, memsvc.searched_text(s.title, c.text, NULL)) AS tsv_simple
      -- 900 letters are about 240 tokens, as are 240 signs of Chinese.
      FROM memsvc.parts_of(s.text, CASE
        WHEN s.kind = 'fact' THEN length(s.text) -- one version, one memory
        WHEN octet_length(s.text) > 2 * length(s.text) THEN 240
        ELSE 900
      END) AS c
    ) AS w
    RETURNING passage_id
  )
  SELECT array_agg(n.passage_id) INTO filed FROM stored AS n;
  IF filed IS NOT NULL THEN
    PERFORM memsvc.count_words(p_user_id, filed);
  END IF;
  RETURN coalesce(cardinality(filed), 0);
END
$$;
COMMENT ON FUNCTION memsvc.file_known(uuid, uuid[]) IS 'Stores what versions say as passages; returns how many.';

CREATE OR REPLACE FUNCTION memsvc.project_known() RETURNS trigger
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
DECLARE
  batch record;
BEGIN
  FOR batch IN SELECT w.user_id, array_agg(w.version_id) AS versions FROM written AS w GROUP BY w.user_id LOOP
    PERFORM memsvc.file_known(batch.user_id, batch.versions);
  END LOOP;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION memsvc.project_known() IS 'Trigger: stores what new versions say as passages.';

CREATE OR REPLACE TRIGGER project_known AFTER INSERT ON memsvc.node_versions
REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION memsvc.project_known();
CREATE OR REPLACE TRIGGER project_known AFTER INSERT ON memsvc.edge_versions
REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION memsvc.project_known();

-- Closes passages (13_known_closed.sql), for whoever may.
CREATE OR REPLACE FUNCTION memsvc.close_passages(p_user_id uuid, p_versions uuid[], p_at timestamptz[]) RETURNS void
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: eraser
-- plans: by-key
AS $$
DECLARE
  closed uuid[];
BEGIN
  WITH closing AS (
    UPDATE passages AS p SET recorded_to = g.at
    FROM unnest(p_versions, p_at) AS g (version_id, at)
    WHERE p.user_id = p_user_id AND p.version_id = g.version_id AND p.recorded_to <> g.at
    RETURNING p.passage_id
  )
  SELECT coalesce(array_agg(c.passage_id), '{}') INTO closed FROM closing AS c;
  DELETE FROM token_vectors AS d WHERE d.user_id = p_user_id AND d.passage_id = ANY (closed);
  DELETE FROM embeddings AS d WHERE d.user_id = p_user_id AND d.passage_id = ANY (closed);
END
$$;
COMMENT ON FUNCTION memsvc.close_passages(uuid, uuid[], timestamptz[]) IS 'Closes passages, for whoever may.';

CREATE OR REPLACE FUNCTION memsvc.project_closed() RETURNS trigger
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app, eraser
AS $$
DECLARE
  batch record;
BEGIN
  FOR batch IN
    SELECT n.user_id, array_agg(n.version_id) AS versions, array_agg(n.recorded_to) AS moments
    FROM now_so AS n
    INNER JOIN before AS b ON b.version_id = n.version_id
    WHERE n.recorded_to <> b.recorded_to
    GROUP BY n.user_id
  LOOP
    IF row_security_active('passages') THEN
      PERFORM memsvc.close_known(batch.user_id, batch.versions, batch.moments);
    ELSE -- an administrator proves nobody's identity
      PERFORM memsvc.close_passages(batch.user_id, batch.versions, batch.moments);
    END IF;
  END LOOP;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION memsvc.project_closed() IS 'Trigger: closes passages with the versions that they repeat.';

CREATE OR REPLACE TRIGGER project_closed AFTER UPDATE ON memsvc.node_versions
REFERENCING OLD TABLE AS before NEW TABLE AS now_so FOR EACH STATEMENT EXECUTE FUNCTION memsvc.project_closed();
CREATE OR REPLACE TRIGGER project_closed AFTER UPDATE ON memsvc.edge_versions
REFERENCING OLD TABLE AS before NEW TABLE AS now_so FOR EACH STATEMENT EXECUTE FUNCTION memsvc.project_closed();

-- Asks for vectors when the transaction commits, so that writers wait for each other's job no longer than that. Once
-- for each transaction.
CREATE OR REPLACE FUNCTION memsvc.want_vectors() RETURNS trigger
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  now_and_user CONSTANT text := pg_current_xact_id()::text || ' ' || NEW.user_id;
BEGIN
  IF current_setting('memsvc.vectors_wanted', true) IS DISTINCT FROM now_and_user THEN
    PERFORM set_config('memsvc.vectors_wanted', now_and_user, true), memsvc.ask_job(NEW.user_id, 'embed', NEW.user_id);
  END IF;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION memsvc.want_vectors() IS 'Trigger: asks for the vectors of what is known.';

DO $once$
BEGIN -- making it anew would stop all readers of passages
  IF NOT EXISTS (
    SELECT FROM pg_trigger AS t WHERE t.tgrelid = 'memsvc.passages'::regclass AND t.tgname = 'want_vectors'
  ) THEN
    CREATE CONSTRAINT TRIGGER want_vectors AFTER INSERT ON memsvc.passages
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.version_id IS NOT NULL)
    EXECUTE FUNCTION memsvc.want_vectors();
  END IF;
END
$once$;

-- Versions without passages that should have some, from before this existed: at most p_limit.
CREATE OR REPLACE FUNCTION memsvc.unfiled_known(p_user_id uuid, p_limit integer) RETURNS SETOF uuid
LANGUAGE sql STABLE ROWS 100
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  SELECT v.version_id
  FROM (
    SELECT n.version_id FROM memsvc.node_versions AS n
    WHERE n.user_id = p_user_id AND n.recorded_to > n.recorded_from
      AND (
        btrim(n.description, E' \n\t') <> ''
        OR memsvc.known_kind(p_user_id, n.type) NOT IN ('card', 'summary', 'concept')
      )
    UNION ALL
    SELECT e.version_id FROM memsvc.edge_versions AS e
    WHERE e.user_id = p_user_id AND e.recorded_to > e.recorded_from AND btrim(e.fact, E' \n\t') <> ''
      AND e.type NOT IN ('LINKS_TO', 'SUMMARIZES', 'REFLECTS_ON') AND e.asserted_by <> 'concepts'
  ) AS v
  WHERE NOT EXISTS (SELECT FROM memsvc.passages AS p WHERE p.user_id = p_user_id AND p.passage_id = v.version_id)
  LIMIT p_limit;
END;
COMMENT ON FUNCTION memsvc.unfiled_known(uuid, integer) IS 'Versions of edges and nodes that should have passages.';
