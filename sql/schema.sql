-- The schema of memsvc as the migrations (alembic/versions) and sql/ build it. For reading only: 'make schema' writes
-- this file from pg_dump, a test compares it, and nothing runs it.

CREATE SCHEMA memsvc;

ALTER SCHEMA memsvc OWNER TO memsvc_owner;

COMMENT ON SCHEMA memsvc IS 'memsvc: long-term memory for AI assistants.';

CREATE FUNCTION memsvc.act_for(p_user_id uuid, p_token text, p_keep_plans boolean, p_erasing boolean) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  said text; -- what is assigned costs a tenth of what is performed
BEGIN
  IF p_keep_plans THEN -- at first: it counts for what is asked below
    said := set_config('plan_cache_mode', 'force_generic_plan', true);
    said := set_config('enable_seqscan', 'off', true);
  END IF;
  said := set_config('memsvc.identity', p_token, true);
  IF (memsvc.current_user_id() = p_user_id) IS NOT TRUE THEN
    RAISE EXCEPTION 'the identity token does not prove this user' USING ERRCODE = 'MS004';
  END IF;
  IF NOT (p_erasing OR memsvc.user_is_here(p_user_id)) THEN
    RAISE EXCEPTION 'this user does not exist any more' USING ERRCODE = 'MS003';
  END IF;
END
$$;

ALTER FUNCTION memsvc.act_for(p_user_id uuid, p_token text, p_keep_plans boolean, p_erasing boolean) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.act_for(p_user_id uuid, p_token text, p_keep_plans boolean, p_erasing boolean) IS 'Binds the transaction to the user whom the token proves; an error where it proves another one or nobody.';

CREATE FUNCTION memsvc.add_counts(p_counts jsonb, p_more jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 SELECT COALESCE(jsonb_object_agg(s.key, s.total), '{}'::jsonb) AS "coalesce"
    FROM ( SELECT c.key,
             sum((c.value)::bigint) AS total
            FROM ( SELECT jsonb_each_text.key,
                     jsonb_each_text.value
                    FROM jsonb_each_text(add_counts.p_counts) jsonb_each_text(key, value)
                 UNION ALL
                  SELECT jsonb_each_text.key,
                     jsonb_each_text.value
                    FROM jsonb_each_text(add_counts.p_more) jsonb_each_text(key, value)) c
           GROUP BY c.key) s
   WHERE (s.total > (0)::numeric);
END;

ALTER FUNCTION memsvc.add_counts(p_counts jsonb, p_more jsonb) OWNER TO memsvc_eraser;

COMMENT ON FUNCTION memsvc.add_counts(p_counts jsonb, p_more jsonb) IS 'Adds numbers key by key.';

CREATE FUNCTION memsvc.all_edges(p_user_id uuid, p_as_of timestamp with time zone, p_known_at timestamp with time zone) RETURNS TABLE(version_id uuid, type text, from_node uuid, to_node uuid)
    LANGUAGE plpgsql STABLE ROWS 10000
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_nestloop TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  merged CONSTANT boolean := memsvc.any_merges(p_user_id, p_known_at);
BEGIN
  RETURN QUERY
  WITH edge AS MATERIALIZED (
    SELECT v.version_id, v.type, v.from_node, v.to_node FROM edge_versions AS v
    WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.recorded_from <= coalesce(p_known_at, 'infinity')
      AND (p_as_of IS NULL OR (v.valid_from <= p_as_of AND v.valid_to > p_as_of))
    UNION ALL
    SELECT v.version_id, v.type, v.from_node, v.to_node FROM edge_versions AS v
    WHERE p_known_at IS NOT NULL AND v.user_id = p_user_id AND v.recorded_to < 'infinity'
      AND v.recorded_from <= p_known_at AND v.recorded_to > p_known_at
      AND (p_as_of IS NULL OR (v.valid_from <= p_as_of AND v.valid_to > p_as_of))
  ),
  resolved AS MATERIALIZED (
    SELECT r.* FROM memsvc.resolve_nodes(p_user_id, CASE WHEN merged THEN ARRAY(
      SELECT m.node_id FROM merges AS m WHERE m.user_id = p_user_id
    ) END, p_known_at) AS r
  )
  SELECT e.version_id, e.type, coalesce(f.canonical_id, e.from_node), coalesce(t.canonical_id, e.to_node)
  FROM edge AS e
  LEFT JOIN resolved AS f ON f.node_id = e.from_node
  LEFT JOIN resolved AS t ON t.node_id = e.to_node;
END
$$;

ALTER FUNCTION memsvc.all_edges(p_user_id uuid, p_as_of timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.all_edges(p_user_id uuid, p_as_of timestamp with time zone, p_known_at timestamp with time zone) IS 'All edges of a user at two times.';

CREATE FUNCTION memsvc.all_nodes(p_user_id uuid, p_known_at timestamp with time zone) RETURNS SETOF uuid
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
  RETURN QUERY
  SELECT n.node_id FROM nodes AS n
  WHERE n.user_id = p_user_id AND n.created_at <= coalesce(p_known_at, 'infinity') AND n.node_id NOT IN (
    SELECT m.node_id FROM merges AS m
    WHERE m.user_id = p_user_id AND m.recorded_from <= coalesce(p_known_at, 'infinity')
      AND (m.recorded_to = 'infinity' OR m.recorded_to > p_known_at)
  );
END
$$;

ALTER FUNCTION memsvc.all_nodes(p_user_id uuid, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.all_nodes(p_user_id uuid, p_known_at timestamp with time zone) IS 'All nodes of a user; those that are the same are one.';

CREATE FUNCTION memsvc.day_before(p_days integer) RETURNS timestamp with time zone
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN ((date_trunc('day'::text, (now() AT TIME ZONE 'UTC'::text)) - make_interval(days => GREATEST(p_days, 0))) AT TIME ZONE 'UTC'::text);

ALTER FUNCTION memsvc.day_before(p_days integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.day_before(p_days integer) IS 'When the day (UTC) so many days ago began.';

CREATE FUNCTION memsvc.least_group() RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN 5;

ALTER FUNCTION memsvc.least_group() OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.least_group() IS 'Of how many users a group has at least, of which an analyst sees anything.';

CREATE TABLE memsvc.jobs (
    user_id uuid NOT NULL,
    job_id uuid DEFAULT uuidv7() NOT NULL,
    kind text NOT NULL,
    subject_id uuid NOT NULL,
    state text DEFAULT 'pending'::text NOT NULL,
    requests integer DEFAULT 1 NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL,
    error_code text,
    error text,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    run_after timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    finished_at timestamp with time zone,
    started_at timestamp with time zone,
    outages smallint DEFAULT 0 NOT NULL,
    CONSTRAINT jobs_kind_check CHECK ((kind = ANY (ARRAY['process'::text, 'embed'::text, 'tidy'::text, 'erase'::text, 'extract'::text, 'sleep'::text, 'analyse'::text]))),
    CONSTRAINT jobs_outages_check CHECK ((outages >= 0)),
    CONSTRAINT jobs_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'done'::text, 'failed'::text, 'cancelled'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='500');

ALTER TABLE ONLY memsvc.jobs FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.jobs OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.jobs IS 'The truth about background work. A job commits together with the text that it will process.';

COMMENT ON COLUMN memsvc.jobs.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.jobs.job_id IS 'Time-ordered id.';

COMMENT ON COLUMN memsvc.jobs.kind IS 'process: bring a source up to now; extract: read facts out of it; embed: vectors for all that a user''s memories lack; tidy: upkeep of a user; erase: the rest of a large erasure.';

COMMENT ON COLUMN memsvc.jobs.subject_id IS 'What it is about: a source; of extract also a passage that was passed over; of erase the erasure; else the user.';

COMMENT ON COLUMN memsvc.jobs.state IS 'pending, done, failed or cancelled. A running job is pending under an advisory lock, so a killed worker leaves it pending.';

COMMENT ON COLUMN memsvc.jobs.requests IS 'Counts up when more work joins a pending job; a worker that sees it change leaves the job pending.';

COMMENT ON COLUMN memsvc.jobs.attempts IS 'How often it was tried.';

COMMENT ON COLUMN memsvc.jobs.error_code IS 'Stable code of the last failure.';

COMMENT ON COLUMN memsvc.jobs.error IS 'What went wrong last, without text of memories.';

COMMENT ON COLUMN memsvc.jobs.created_at IS 'When it was asked for.';

COMMENT ON COLUMN memsvc.jobs.run_after IS 'Not to be tried before.';

COMMENT ON COLUMN memsvc.jobs.finished_at IS 'When it was done, failed for good or was cancelled.';

COMMENT ON COLUMN memsvc.jobs.started_at IS 'When a worker last began with it.';

COMMENT ON COLUMN memsvc.jobs.outages IS 'Of the attempts, those that met what passes by itself (a model that is down): they delay a job and never end it.';

CREATE FUNCTION memsvc.all_users_jobs(p_days integer) RETURNS TABLE(day date, kind text, users bigint, jobs bigint, failed bigint, tries bigint, waited_p50_s double precision, took_p50_s double precision, took_p95_s double precision)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 SELECT ((j.finished_at AT TIME ZONE 'UTC'::text))::date AS timezone,
     j.kind,
     count(DISTINCT j.user_id) AS count,
     count(*) AS count,
     count(*) FILTER (WHERE (j.state = 'failed'::text)) AS count,
     sum(j.attempts) AS sum,
     percentile_cont((0.5)::double precision) WITHIN GROUP (ORDER BY ((EXTRACT(epoch FROM (j.started_at - j.created_at)))::double precision)) AS percentile_cont,
     percentile_cont((0.5)::double precision) WITHIN GROUP (ORDER BY ((EXTRACT(epoch FROM (j.finished_at - j.started_at)))::double precision)) AS percentile_cont,
     percentile_cont((0.95)::double precision) WITHIN GROUP (ORDER BY ((EXTRACT(epoch FROM (j.finished_at - j.started_at)))::double precision)) AS percentile_cont
    FROM memsvc.jobs j
   WHERE ((j.finished_at >= memsvc.day_before(all_users_jobs.p_days)) AND (j.finished_at < memsvc.day_before(0)))
   GROUP BY (((j.finished_at AT TIME ZONE 'UTC'::text))::date), j.kind
  HAVING (count(DISTINCT j.user_id) >= memsvc.least_group());
END;

ALTER FUNCTION memsvc.all_users_jobs(p_days integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.all_users_jobs(p_days integer) IS 'Jobs that ended, by day and kind, of groups of users: counts and seconds.';

CREATE TABLE memsvc.passages (
    user_id uuid NOT NULL,
    passage_id uuid DEFAULT uuidv7() NOT NULL,
    source_id uuid NOT NULL,
    kind text NOT NULL,
    session text DEFAULT ''::text NOT NULL,
    ordinal integer NOT NULL,
    part smallint DEFAULT 0 NOT NULL,
    client_id text,
    speaker text DEFAULT ''::text NOT NULL,
    role text NOT NULL,
    text text NOT NULL,
    caption text,
    said_at timestamp with time zone NOT NULL,
    said_offset smallint NOT NULL,
    language text NOT NULL,
    tsv tsvector NOT NULL,
    tsv_simple tsvector NOT NULL,
    length integer NOT NULL,
    length_simple integer NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    recorded_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT passages_client_id_check CHECK (((client_id <> ''::text) AND (length(client_id) <= 500))),
    CONSTRAINT passages_kind_check CHECK ((kind = ANY (ARRAY['message'::text, 'trace'::text, 'block'::text, 'former'::text]))),
    CONSTRAINT passages_length_check CHECK ((length >= 0)),
    CONSTRAINT passages_length_simple_check CHECK ((length_simple >= 0)),
    CONSTRAINT passages_metadata_check CHECK ((jsonb_typeof(metadata) = 'object'::text)),
    CONSTRAINT passages_ordinal_check CHECK ((ordinal >= 0)),
    CONSTRAINT passages_part_check CHECK ((part >= 0)),
    CONSTRAINT passages_role_check CHECK ((role = ANY (ARRAY['user'::text, 'assistant'::text, 'other'::text, 'system'::text, 'tool'::text, 'thinking'::text]))),
    CONSTRAINT passages_said_offset_check CHECK (((said_offset >= '-1440'::integer) AND (said_offset <= 1440))),
    CONSTRAINT passages_session_check CHECK ((length(session) <= 500)),
    CONSTRAINT passages_speaker_check CHECK ((length(speaker) <= 200))
)
WITH (toast_tuple_target='8160', autovacuum_vacuum_scale_factor='0.05');
ALTER TABLE ONLY memsvc.passages ALTER COLUMN session SET STATISTICS 0;
ALTER TABLE ONLY memsvc.passages ALTER COLUMN client_id SET STATISTICS 0;
ALTER TABLE ONLY memsvc.passages ALTER COLUMN speaker SET STATISTICS 0;
ALTER TABLE ONLY memsvc.passages ALTER COLUMN text SET STATISTICS 0;
ALTER TABLE ONLY memsvc.passages ALTER COLUMN caption SET STATISTICS 0;
ALTER TABLE ONLY memsvc.passages ALTER COLUMN tsv SET STATISTICS 0;
ALTER TABLE ONLY memsvc.passages ALTER COLUMN tsv SET STORAGE EXTERNAL;
ALTER TABLE ONLY memsvc.passages ALTER COLUMN tsv_simple SET STATISTICS 0;
ALTER TABLE ONLY memsvc.passages ALTER COLUMN tsv_simple SET STORAGE EXTERNAL;
ALTER TABLE ONLY memsvc.passages ALTER COLUMN metadata SET STATISTICS 0;

ALTER TABLE ONLY memsvc.passages FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.passages OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.passages IS 'The one searchable table. A message, or a part of a long one: the parts'' texts, in order, are the message to the letter.';

COMMENT ON COLUMN memsvc.passages.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.passages.passage_id IS 'Time-ordered id.';

COMMENT ON COLUMN memsvc.passages.source_id IS 'Where it comes from.';

COMMENT ON COLUMN memsvc.passages.kind IS 'message (recalled by default), trace (system, tool, thinking: kept, recalled when asked for), block (what a block of the profile says in the archive; recalled by default) or former (what it said there before; by known_at).';

COMMENT ON COLUMN memsvc.passages.session IS 'The sitting within the conversation; empty where the client knows none.';

COMMENT ON COLUMN memsvc.passages.ordinal IS 'Place of the message in its session, from 0; of a block its version.';

COMMENT ON COLUMN memsvc.passages.part IS 'Place of the part in a split message, from 0.';

COMMENT ON COLUMN memsvc.passages.client_id IS 'The client''s own id of the message, unique in its source; null: (source, session, ordinal) is the identity.';

COMMENT ON COLUMN memsvc.passages.speaker IS 'Who said it, in the client''s words; of a block its name.';

COMMENT ON COLUMN memsvc.passages.role IS 'user, assistant, other, system, tool or thinking.';

COMMENT ON COLUMN memsvc.passages.text IS 'What was said, unchanged.';

COMMENT ON COLUMN memsvc.passages.caption IS 'What a shared picture shows.';

COMMENT ON COLUMN memsvc.passages.said_at IS 'When it was said.';

COMMENT ON COLUMN memsvc.passages.said_offset IS 'Minutes east of UTC on the speaker''s clock then.';

COMMENT ON COLUMN memsvc.passages.language IS 'Text search configuration that made tsv; as text, for regconfig blocks pg_upgrade.';

COMMENT ON COLUMN memsvc.passages.tsv IS 'Stemmed lexemes of speaker, text and caption.';

COMMENT ON COLUMN memsvc.passages.tsv_simple IS 'The same words lower-cased only, stop words kept.';

COMMENT ON COLUMN memsvc.passages.length IS 'Words in tsv with repetitions: BM25''s document length.';

COMMENT ON COLUMN memsvc.passages.length_simple IS 'The same for tsv_simple.';

COMMENT ON COLUMN memsvc.passages.metadata IS 'What else the client said about the message.';

COMMENT ON COLUMN memsvc.passages.recorded_at IS 'When memsvc stored it.';

CREATE FUNCTION memsvc.all_users_messages(p_days integer) RETURNS TABLE(day date, users bigint, messages bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 SELECT ((p.recorded_at AT TIME ZONE 'UTC'::text))::date AS timezone,
     count(DISTINCT p.user_id) AS count,
     count(*) AS count
    FROM memsvc.passages p
   WHERE ((p.kind = 'message'::text) AND (p.part = 0) AND (p.recorded_at >= memsvc.day_before(all_users_messages.p_days)) AND (p.recorded_at < memsvc.day_before(0)))
   GROUP BY (((p.recorded_at AT TIME ZONE 'UTC'::text))::date)
  HAVING (count(DISTINCT p.user_id) >= memsvc.least_group());
END;

ALTER FUNCTION memsvc.all_users_messages(p_days integer) OWNER TO memsvc_recall;

COMMENT ON FUNCTION memsvc.all_users_messages(p_days integer) IS 'Messages that came in, by day, of groups of users.';

CREATE TABLE memsvc.model_calls (
    user_id uuid NOT NULL,
    call_id uuid DEFAULT uuidv7() NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    task text NOT NULL,
    model text NOT NULL,
    prompt_version text NOT NULL,
    outcome text NOT NULL,
    tokens_in integer NOT NULL,
    tokens_out integer NOT NULL,
    ms integer NOT NULL,
    cost numeric,
    tries smallint NOT NULL,
    CONSTRAINT model_calls_cost_check CHECK (((cost >= (0)::numeric) AND (cost < 'Infinity'::numeric))),
    CONSTRAINT model_calls_model_check CHECK (((length(model) >= 1) AND (length(model) <= 200))),
    CONSTRAINT model_calls_ms_check CHECK ((ms >= 0)),
    CONSTRAINT model_calls_outcome_check CHECK ((outcome = ANY (ARRAY['answered'::text, 'unusable'::text, 'refused'::text, 'failed'::text]))),
    CONSTRAINT model_calls_prompt_version_check CHECK ((prompt_version ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$'::text)),
    CONSTRAINT model_calls_task_check CHECK ((task ~ '^[a-z][a-z0-9_-]{0,39}$'::text)),
    CONSTRAINT model_calls_tokens_in_check CHECK ((tokens_in >= 0)),
    CONSTRAINT model_calls_tokens_out_check CHECK ((tokens_out >= 0)),
    CONSTRAINT model_calls_tries_check CHECK ((tries > 0))
);

ALTER TABLE ONLY memsvc.model_calls FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.model_calls OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.model_calls IS 'A question to the language model: what it cost and how it ended. No text of either side.';

COMMENT ON COLUMN memsvc.model_calls.user_id IS 'Owner: for whom it was asked.';

COMMENT ON COLUMN memsvc.model_calls.call_id IS 'Time-ordered id.';

COMMENT ON COLUMN memsvc.model_calls.at IS 'When it ended.';

COMMENT ON COLUMN memsvc.model_calls.task IS 'What for: facts …';

COMMENT ON COLUMN memsvc.model_calls.model IS 'The model''s name, as it was asked for.';

COMMENT ON COLUMN memsvc.model_calls.prompt_version IS 'Version of the task''s prompt.';

COMMENT ON COLUMN memsvc.model_calls.outcome IS 'answered; unusable: not in the form that was asked for; refused: by the server; failed: no answer came.';

COMMENT ON COLUMN memsvc.model_calls.tokens_in IS 'Tokens of the question, as the server counts; estimated where it does not; 0 without an answer.';

COMMENT ON COLUMN memsvc.model_calls.tokens_out IS 'Tokens of the answer, likewise.';

COMMENT ON COLUMN memsvc.model_calls.ms IS 'Milliseconds from the first try to the end, pauses included.';

COMMENT ON COLUMN memsvc.model_calls.cost IS 'In the server''s currency, where it tells; null: it does not.';

COMMENT ON COLUMN memsvc.model_calls.tries IS 'Requests that it took: repeated ones, and those in unknown forms.';

CREATE FUNCTION memsvc.all_users_model_calls(p_days integer) RETURNS TABLE(day date, task text, model text, users bigint, calls bigint, answered bigint, tokens_in bigint, tokens_out bigint, cost numeric, took_p50_ms double precision, took_p95_ms double precision)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 SELECT ((c.at AT TIME ZONE 'UTC'::text))::date AS timezone,
     c.task,
     c.model,
     count(DISTINCT c.user_id) AS count,
     count(*) AS count,
     count(*) FILTER (WHERE (c.outcome = 'answered'::text)) AS count,
     sum(c.tokens_in) AS sum,
     sum(c.tokens_out) AS sum,
     sum(c.cost) AS sum,
     percentile_cont((0.5)::double precision) WITHIN GROUP (ORDER BY ((c.ms)::double precision)) AS percentile_cont,
     percentile_cont((0.95)::double precision) WITHIN GROUP (ORDER BY ((c.ms)::double precision)) AS percentile_cont
    FROM memsvc.model_calls c
   WHERE ((c.at >= memsvc.day_before(all_users_model_calls.p_days)) AND (c.at < memsvc.day_before(0)))
   GROUP BY (((c.at AT TIME ZONE 'UTC'::text))::date), c.task, c.model
  HAVING (count(DISTINCT c.user_id) >= memsvc.least_group());
END;

ALTER FUNCTION memsvc.all_users_model_calls(p_days integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.all_users_model_calls(p_days integer) IS 'Calls of the language model by day, task and model, of groups of users: counts, tokens, cost, milliseconds.';

CREATE TABLE memsvc.corpora (
    user_id uuid NOT NULL,
    kind text NOT NULL,
    form text NOT NULL,
    passages bigint NOT NULL,
    length bigint NOT NULL,
    CONSTRAINT corpora_form_check CHECK ((form = ANY (ARRAY['stemmed'::text, 'simple'::text]))),
    CONSTRAINT corpora_length_check CHECK ((length >= 0)),
    CONSTRAINT corpora_passages_check CHECK ((passages >= 0))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='500');

ALTER TABLE ONLY memsvc.corpora FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.corpora OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.corpora IS 'Size of a user''s passages of one kind, in one form of words; folded from term_deltas.';

COMMENT ON COLUMN memsvc.corpora.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.corpora.kind IS 'As passages.kind.';

COMMENT ON COLUMN memsvc.corpora.form IS 'stemmed (passages.tsv) or simple (passages.tsv_simple).';

COMMENT ON COLUMN memsvc.corpora.passages IS 'N of BM25.';

COMMENT ON COLUMN memsvc.corpora.length IS 'Sum of document lengths; divided by passages it is avgdl of BM25.';

CREATE FUNCTION memsvc.all_users_sizes() RETURNS TABLE(kind text, at_least bigint, users bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 SELECT c.kind,
     (((10)::numeric ^ floor(log(c.passages))))::bigint AS int8,
     ((count(*) / memsvc.least_group()) * memsvc.least_group())
    FROM ( SELECT k.user_id,
             k.kind,
             (max(k.passages))::numeric AS passages
            FROM memsvc.corpora k
           GROUP BY k.user_id, k.kind) c
   WHERE (c.passages > (0)::numeric)
   GROUP BY c.kind, ((((10)::numeric ^ floor(log(c.passages))))::bigint)
  HAVING (count(*) >= memsvc.least_group());
END;

ALTER FUNCTION memsvc.all_users_sizes() OWNER TO memsvc_recall;

COMMENT ON FUNCTION memsvc.all_users_sizes() IS 'How many users have how many passages of a kind, by powers of ten, in groups of users.';

CREATE FUNCTION memsvc.altered_by(p_user_id uuid, p_at timestamp with time zone) RETURNS TABLE(kind text, node_id uuid, subject uuid, form text, valid_from timestamp with time zone, valid_to timestamp with time zone, was_id uuid, was jsonb, was_asserted_by text, became jsonb)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
  RETURN QUERY
  WITH touched AS MATERIALIZED (
    SELECT 'node' AS kind, v.node_id, v.node_id AS subject, '' AS form, v.version_id, memsvc.content_of(v) AS content,
      v.asserted_by, v.valid_from, v.valid_to, v.recorded_from < p_at AS past
    FROM node_versions AS v
    WHERE v.user_id = p_user_id AND (v.recorded_from = p_at OR v.recorded_to = p_at) AND v.recorded_from < v.recorded_to
    UNION ALL
    SELECT 'alias', v.node_id, v.node_id, v.normal_form, v.alias_id, memsvc.content_of(v), v.asserted_by, v.valid_from,
      v.valid_to, v.recorded_from < p_at
    FROM aliases AS v
    WHERE v.user_id = p_user_id AND (v.recorded_from = p_at OR v.recorded_to = p_at) AND v.recorded_from < v.recorded_to
    UNION ALL
    SELECT 'place', v.node_id, v.node_id, '', v.location_id, memsvc.content_of(v), v.asserted_by, v.valid_from,
      v.valid_to, v.recorded_from < p_at
    FROM locations AS v
    WHERE v.user_id = p_user_id AND (v.recorded_from = p_at OR v.recorded_to = p_at) AND v.recorded_from < v.recorded_to
    UNION ALL
    SELECT 'edge', v.from_node, v.edge_id, '', v.version_id, memsvc.content_of(v), v.asserted_by, v.valid_from,
      v.valid_to, v.recorded_from < p_at
    FROM edge_versions AS v
    WHERE v.user_id = p_user_id AND (v.recorded_from = p_at OR v.recorded_to = p_at) AND v.recorded_from < v.recorded_to
  ),
  cell AS MATERIALIZED (
    SELECT p.kind, p.node_id, p.subject, p.form, p.place AS cell_from, lead(p.place) OVER (
      PARTITION BY p.kind, p.subject, p.form ORDER BY p.place
    ) AS cell_to
    FROM (
      SELECT t.kind, t.node_id, t.subject, t.form, t.valid_from AS place FROM touched AS t
      UNION SELECT t.kind, t.node_id, t.subject, t.form, t.valid_to FROM touched AS t
    ) AS p
  )
  SELECT c.kind, c.node_id, c.subject, c.form, c.cell_from, c.cell_to, b.version_id, b.content, b.asserted_by, a.content
  FROM cell AS c
  LEFT JOIN touched AS b
    ON b.past AND b.kind = c.kind AND b.subject = c.subject AND b.form = c.form AND b.valid_from <= c.cell_from
    AND b.valid_to >= c.cell_to
  LEFT JOIN touched AS a
    ON NOT a.past AND a.kind = c.kind AND a.subject = c.subject AND a.form = c.form AND a.valid_from <= c.cell_from
    AND a.valid_to >= c.cell_to
  WHERE c.cell_to IS NOT NULL AND b.content IS DISTINCT FROM a.content;
END
$$;

ALTER FUNCTION memsvc.altered_by(p_user_id uuid, p_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.altered_by(p_user_id uuid, p_at timestamp with time zone) IS 'What a change altered, with what held before.';

CREATE FUNCTION memsvc.analysed_facts(p_user_id uuid) RETURNS TABLE(version_id uuid, type text, from_node uuid, to_node uuid, functional boolean, weight real, confidence real, relation text, valid_from timestamp with time zone, valid_to timestamp with time zone, recorded_from timestamp with time zone)
    LANGUAGE plpgsql STABLE ROWS 10000
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_nestloop TO 'off'
    AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT v.version_id, v.type, e.from_node, e.to_node, v.functional, v.weight, v.confidence,
    lower(v.data ->> 'relation'), v.valid_from, v.valid_to, v.recorded_from
  FROM memsvc.all_edges(p_user_id, NULL, NULL) AS e
  INNER JOIN edge_versions AS v ON v.user_id = p_user_id AND v.version_id = e.version_id;
END
$$;

ALTER FUNCTION memsvc.analysed_facts(p_user_id uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.analysed_facts(p_user_id uuid) IS 'All facts of a user that are known now, ends resolved.';

CREATE FUNCTION memsvc.any_merges(p_user_id uuid, p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
  IF p_known_at IS NULL THEN
    RETURN EXISTS (SELECT FROM merges AS m WHERE m.user_id = p_user_id AND m.recorded_to = 'infinity');
  END IF;
  RETURN EXISTS (SELECT FROM merges AS m WHERE m.user_id = p_user_id AND m.recorded_from <= p_known_at);
END
$$;

ALTER FUNCTION memsvc.any_merges(p_user_id uuid, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.any_merges(p_user_id uuid, p_known_at timestamp with time zone) IS 'Whether a merge can count at a recorded time; false: nodes stand for themselves.';

CREATE FUNCTION memsvc.turns_to_read(p_user_id uuid, p_source_id uuid, p_extractor text, p_before integer, p_limit integer) RETURNS TABLE(passage_id uuid, speaker text, role text, text text, caption text, said_at timestamp with time zone, said_offset smallint, language text, read boolean)
    LANGUAGE plpgsql STABLE ROWS 20
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_incremental_sort TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  place CONSTANT uuid := coalesce((
    SELECT e.upto FROM extractions AS e
    WHERE e.user_id = p_user_id AND e.source_id = p_source_id AND e.extractor = p_extractor
  ), '00000000-0000-0000-0000-000000000000');
  passed_over CONSTANT uuid[] := coalesce((
    SELECT e.passed_over FROM extractions AS e
    WHERE e.user_id = p_user_id AND e.source_id = p_source_id AND e.extractor = p_extractor
  ), '{}');
BEGIN
  RETURN QUERY
  SELECT p.passage_id, p.speaker, p.role, p.text, p.caption, p.said_at, p.said_offset, p.language, false
  FROM passages AS p
  WHERE p.user_id = p_user_id AND p.source_id = p_source_id AND p.kind = 'message' AND p.passage_id > place
  ORDER BY p.user_id, p.source_id, p.passage_id
  LIMIT p_limit;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  RETURN QUERY
  SELECT p.passage_id, p.speaker, p.role, p.text, p.caption, p.said_at, p.said_offset, p.language, true
  FROM passages AS p
  WHERE p.user_id = p_user_id AND p.source_id = p_source_id AND p.kind = 'message' AND p.passage_id <= place
    AND p.passage_id <> ALL (passed_over)
  ORDER BY p.user_id DESC, p.source_id DESC, p.passage_id DESC
  LIMIT p_before;
END
$$;

ALTER FUNCTION memsvc.turns_to_read(p_user_id uuid, p_source_id uuid, p_extractor text, p_before integer, p_limit integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.turns_to_read(p_user_id uuid, p_source_id uuid, p_extractor text, p_before integer, p_limit integer) IS 'What an extractor reads next of a source, and what stands before it.';

CREATE FUNCTION memsvc.anything_to_read(p_user_id uuid, p_source_id uuid, p_extractor text) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    BEGIN ATOMIC
 SELECT (EXISTS ( SELECT
            FROM memsvc.turns_to_read(anything_to_read.p_user_id, anything_to_read.p_source_id, anything_to_read.p_extractor, 0, 1) turns_to_read(passage_id, speaker, role, text, caption, said_at, said_offset, language, read))) AS "exists";
END;

ALTER FUNCTION memsvc.anything_to_read(p_user_id uuid, p_source_id uuid, p_extractor text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.anything_to_read(p_user_id uuid, p_source_id uuid, p_extractor text) IS 'Whether an extractor has anything left of a source.';

CREATE FUNCTION memsvc.append_messages(p_user_id uuid, p_rows jsonb) RETURNS TABLE(message integer, outcome text, source_id uuid, passage_id uuid, session text, ordinal integer, job_id uuid, known_said_at timestamp with time zone, known_said_offset smallint)
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
#variable_conflict use_column
DECLARE
  today timestamptz;
  conversations uuid[];
  names CONSTANT text[] := ARRAY(
    SELECT DISTINCT r.conversation FROM jsonb_to_recordset(p_rows) AS r (conversation text) ORDER BY r.conversation
  );
  held bigint := -1;
BEGIN
  -- Again, where a conversation was not there yet, or its source was erased between being found and being locked. All
  -- are there before any is locked: two who lock and wait for what the other one makes would wait in a circle.
  WHILE held < cardinality(names) LOOP
    SELECT array_agg((
      SELECT CASE WHEN s.kind = 'conversation' AND s.identifier = n.name THEN s.source_id END FROM sources AS s
      WHERE s.user_id = p_user_id AND (s.kind, s.identifier) >= ('conversation', n.name)
      ORDER BY s.kind, s.identifier
      LIMIT 1
    )) INTO conversations
    FROM unnest(names) AS n (name);

    IF array_position(conversations, NULL) IS NOT NULL THEN
      INSERT INTO sources AS s (user_id, kind, identifier)
      SELECT p_user_id, 'conversation', n.name FROM unnest(names) AS n (name)
      ORDER BY n.name
      ON CONFLICT (user_id, kind, identifier) DO NOTHING;
      CONTINUE;
    END IF;

    SELECT count(*) INTO held
    FROM (
      SELECT s.identifier FROM sources AS s
      WHERE s.user_id = p_user_id AND s.source_id = ANY (conversations)
      ORDER BY s.source_id
      FOR NO KEY UPDATE
    ) AS l
    WHERE l.identifier = ANY (names);
  END LOOP;
  today := clock_timestamp();

  RETURN QUERY
  WITH part AS MATERIALIZED (
    SELECT r.*, c.source_id
    FROM jsonb_to_recordset(p_rows) AS r (
      message integer, part smallint, conversation text, session text, ordinal integer, client_id text, speaker text,
      role text, text text, caption text, said_at timestamptz, said_offset smallint, language text, metadata jsonb,
      injected boolean
    )
    INNER JOIN unnest(names, conversations) AS c (name, source_id) ON c.name = r.conversation
  ),
  incoming AS (
    SELECT
      p.message, p.source_id, p.conversation, p.session, p.ordinal, p.client_id, p.speaker, p.role,
      string_agg(p.text, '' ORDER BY p.part) AS text, string_agg(p.caption, '' ORDER BY p.part) AS caption
    FROM part AS p
    GROUP BY p.message, p.source_id, p.conversation, p.session, p.ordinal, p.client_id, p.speaker, p.role
  ),
  met AS (
    SELECT i.*, coalesce(k.passage_id, o.passage_id) AS known_id, k.ordinal AS known_ordinal,
      k.session AS known_session,
      k.said_at AS known_said_at, k.said_offset AS known_said_offset,
      coalesce(t.outcome, k.outcome, o.outcome) AS outcome
    FROM incoming AS i
    LEFT JOIN LATERAL (
      SELECT f.passage_id, f.session, f.ordinal, f.said_at, f.said_offset, CASE
        WHEN (
          SELECT (
            string_agg(w.text, '' ORDER BY w.part), string_agg(w.caption, '' ORDER BY w.part),
            min(w.speaker), min(w.role)
          )
          FROM (
            SELECT v.* FROM passages AS v
            WHERE v.user_id = p_user_id
              AND (v.source_id, v.session, v.ordinal) >= (i.source_id, f.session, f.ordinal)
              AND (v.source_id, v.session, v.ordinal) <= (i.source_id, f.session, f.ordinal)
            ORDER BY v.source_id, v.session, v.ordinal, v.part
          ) AS w
        ) IS NOT DISTINCT FROM (i.text, i.caption, i.speaker, i.role) THEN 'existing'
        ELSE 'conflict'
      END AS outcome
      FROM (
        (
          SELECT m.passage_id, m.source_id, m.session, m.ordinal, m.client_id, m.part, m.said_at, m.said_offset
          FROM passages AS m
          WHERE m.user_id = p_user_id AND m.client_id IS NOT NULL AND i.client_id IS NOT NULL
            AND (m.source_id, m.client_id) >= (i.source_id, i.client_id)
          ORDER BY m.source_id, m.client_id, m.part
          LIMIT 1
        )
        UNION ALL
        (
          SELECT m.passage_id, m.source_id, m.session, m.ordinal, i.client_id, m.part, m.said_at, m.said_offset
          FROM passages AS m
          WHERE m.user_id = p_user_id AND i.client_id IS NULL AND i.ordinal IS NOT NULL
            AND (m.source_id, m.session, m.ordinal) >= (i.source_id, i.session, i.ordinal)
          ORDER BY m.source_id, m.session, m.ordinal, m.part
          LIMIT 1
        )
      ) AS f
      WHERE f.source_id = i.source_id AND f.part = 0
        AND CASE
          WHEN i.client_id IS NULL THEN f.session = i.session AND f.ordinal = i.ordinal
          ELSE f.client_id = i.client_id
        END
      LIMIT 1
    ) AS k ON true
    LEFT JOIN LATERAL (
      SELECT 'erased' AS outcome FROM tombstones AS e
      WHERE e.user_id = p_user_id AND coalesce(i.client_id, i.ordinal::text) IS NOT NULL
        AND e.digest = memsvc.message_digest(i.conversation, i.session, i.ordinal, i.client_id)
      LIMIT 1
    ) AS t ON true
    LEFT JOIN LATERAL (
      SELECT 'conflict' AS outcome, n.passage_id
      FROM (
        SELECT m.passage_id, m.source_id, m.session, m.ordinal FROM passages AS m
        WHERE m.user_id = p_user_id AND i.client_id IS NOT NULL AND i.ordinal IS NOT NULL
          AND (m.source_id, m.session, m.ordinal) >= (i.source_id, i.session, i.ordinal)
        ORDER BY m.source_id, m.session, m.ordinal, m.part
        LIMIT 1
      ) AS n
      WHERE n.source_id = i.source_id AND n.session = i.session AND n.ordinal = i.ordinal
    ) AS o ON true
  ),
  -- A place that another message has, stored or earlier in the batch, is a conflict too.
  judged AS MATERIALIZED (
    SELECT j.message, j.source_id, j.session, j.ordinal, j.known_id, j.known_ordinal, j.known_session,
      j.known_said_at, j.known_said_offset,
      coalesce(j.outcome, j.taken, 'created') AS outcome, coalesce(j.outcome, j.taken) IS NULL AS fresh
    FROM (
      SELECT m.*, CASE
        WHEN m.ordinal IS NOT NULL
          AND row_number() OVER (PARTITION BY m.outcome, m.source_id, m.session, m.ordinal ORDER BY m.message) > 1
          THEN 'conflict'
      END AS taken
      FROM met AS m
    ) AS j
  ),
  -- Messages without an ordinal go behind everything that their session has, and behind what the batch places there.
  behind AS (
    SELECT j.source_id, j.session, greatest(max(j.ordinal), (
      SELECT CASE WHEN w.source_id = j.source_id AND w.session = j.session THEN w.ordinal END
      FROM passages AS w
      WHERE w.user_id = p_user_id AND (w.source_id, w.session) <= (j.source_id, j.session)
      ORDER BY w.source_id DESC, w.session DESC, w.ordinal DESC
      LIMIT 1
    )) AS last_ordinal
    FROM judged AS j
    WHERE j.fresh
    GROUP BY j.source_id, j.session
  ),
  placed AS (
    SELECT j.message, coalesce(
      j.ordinal,
      coalesce(b.last_ordinal, -1)
        + row_number() OVER (PARTITION BY j.source_id, j.session, j.ordinal IS NULL ORDER BY j.message)::integer
    ) AS ordinal
    FROM judged AS j
    INNER JOIN behind AS b ON b.source_id = j.source_id AND b.session = j.session
    WHERE j.fresh
  ),
  -- Ids are given here, in order, because RETURNING could not say which message a new row is.
  worded AS MATERIALIZED (
    SELECT o.*, uuidv7() AS passage_id,
      CASE WHEN o.role IN ('system', 'tool', 'thinking') OR o.injected THEN 'trace' ELSE 'message' END AS kind,
      memsvc.word_count(o.tsv) AS length, memsvc.word_count(o.tsv_simple) AS length_simple
    FROM (
      SELECT p.*, o.ordinal AS place,
        memsvc.to_words('stemmed', p.language, memsvc.searched_text(p.speaker, p.text, p.caption)) AS tsv,
        memsvc.to_words('simple', p.language, memsvc.searched_text(p.speaker, p.text, p.caption)) AS tsv_simple
      FROM part AS p
      INNER JOIN placed AS o ON o.message = p.message
      ORDER BY p.message, p.part
    ) AS o
  ),
  added AS (
    INSERT INTO passages (
      user_id, passage_id, source_id, kind, session, ordinal, part, client_id, speaker, role, text, caption, said_at,
      said_offset, language, tsv, tsv_simple, length, length_simple, metadata, recorded_at
    )
    SELECT
      p_user_id, w.passage_id, w.source_id, w.kind, w.session, w.place, w.part, w.client_id, w.speaker, w.role, w.text,
      w.caption, w.said_at, w.said_offset, w.language, w.tsv, w.tsv_simple, w.length, w.length_simple, w.metadata, today
    FROM worded AS w
  ),
  counted AS (
    SELECT a.kind, f.form, count(*) AS passages, sum(f.length) AS length
    FROM worded AS a CROSS JOIN LATERAL (VALUES ('stemmed', a.length), ('simple', a.length_simple)) AS f (form, length)
    GROUP BY a.kind, f.form
  ),
  frequencies AS (
    SELECT t.kind, t.form, array_agg(t.term) AS terms, array_agg(t.passages) AS changes
    FROM (
      SELECT a.kind, f.form, f.term, count(*)::integer AS passages
      FROM worded AS a CROSS JOIN LATERAL (
        SELECT 'stemmed' AS form, s.term FROM unnest(tsvector_to_array(a.tsv)) AS s (term)
        UNION ALL
        SELECT 'simple' AS form, s.term FROM unnest(tsvector_to_array(a.tsv_simple)) AS s (term)
      ) AS f
      GROUP BY a.kind, f.form, f.term
    ) AS t
    GROUP BY t.kind, t.form
  ),
  statistics AS (
    INSERT INTO term_deltas (user_id, kind, form, passages, length, terms, changes)
    SELECT p_user_id, c.kind, c.form, c.passages, c.length, coalesce(f.terms, '{}'), coalesce(f.changes, '{}')
    FROM counted AS c
    LEFT JOIN frequencies AS f ON f.kind = c.kind AND f.form = c.form
  ),
  -- One pending job a source: it brings the source up to the moment in which it runs. One that waits for another try
  -- is brought forward; 035_queue.sql sends its message.
  work AS (
    INSERT INTO jobs AS j (user_id, kind, subject_id)
    SELECT DISTINCT p_user_id, 'process', a.source_id FROM worded AS a
    ON CONFLICT (user_id, kind, subject_id) WHERE state = 'pending'
    DO UPDATE SET requests = j.requests + 1, run_after = least(j.run_after, clock_timestamp())
    RETURNING j.subject_id, j.job_id
  ),
  events AS (
    INSERT INTO outbox (user_id, kind, subject_id)
    SELECT DISTINCT p_user_id, 'passages.added', a.source_id FROM worded AS a
  ),
  reopened AS (
    UPDATE sources AS s SET status = 'pending'
    FROM (SELECT DISTINCT a.source_id FROM worded AS a) AS d
    WHERE s.user_id = p_user_id AND s.source_id = d.source_id AND s.status <> 'pending'
  )
  SELECT j.message, j.outcome, j.source_id, coalesce(j.known_id, a.passage_id), coalesce(j.known_session, j.session),
    coalesce(j.known_ordinal, a.place), w.job_id, j.known_said_at, j.known_said_offset
  FROM judged AS j
  LEFT JOIN (SELECT d.message, d.passage_id, d.place, d.source_id FROM worded AS d WHERE d.part < 1) AS a
    ON a.message = j.message
  LEFT JOIN work AS w ON w.subject_id = a.source_id
  ORDER BY j.message;

  -- Each recall reads what is not folded. Every job folds; where none did for some sixty writes, the writer does. It
  -- waits for no other folder, and so in no circle. What would take long it leaves to jobs: many, or words of large
  -- batches (250,000 bytes are some 20,000 words).
  IF (
    SELECT count(*) BETWEEN 128 AND 255 AND sum(pg_column_size(o.terms)) < 250000
    FROM (SELECT d.terms FROM term_deltas AS d WHERE d.user_id = p_user_id ORDER BY d.delta_id LIMIT 256) AS o
  ) AND pg_try_advisory_xact_lock(hashtextextended('memsvc.fold_statistics ' || p_user_id::text, 0))
  THEN
    PERFORM memsvc.fold_statistics(p_user_id);
  END IF;
END
$$;

ALTER FUNCTION memsvc.append_messages(p_user_id uuid, p_rows jsonb) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.append_messages(p_user_id uuid, p_rows jsonb) IS 'Appends messages with statistics, job and event in the caller''s transaction; one result row per message.';

CREATE FUNCTION memsvc.append_recall(p_user_id uuid, p_recall_id uuid, p_door text, p_mode text, p_memories uuid[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
  PERFORM memsvc.keep_memories(p_user_id);
  WITH noted AS (
    INSERT INTO recall_events (user_id, recall_id, door, mode, memories)
    SELECT p_user_id, p_recall_id, p_door, p_mode, coalesce(array_agg(k.memory_id ORDER BY m.place), '{}')
    FROM unnest(p_memories) WITH ORDINALITY AS m (id, place)
    LEFT JOIN memsvc.kinds_of(p_user_id, p_memories) AS k ON k.memory_id = m.id
    ON CONFLICT (user_id, recall_id) DO NOTHING
    RETURNING recall_id
  )
  INSERT INTO outbox (user_id, kind, subject_id)
  SELECT p_user_id, 'memory.recalled', n.recall_id FROM noted AS n WHERE p_memories <> '{}';
END
$$;

ALTER FUNCTION memsvc.append_recall(p_user_id uuid, p_recall_id uuid, p_door text, p_mode text, p_memories uuid[]) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.append_recall(p_user_id uuid, p_recall_id uuid, p_door text, p_mode text, p_memories uuid[]) IS 'Notes what was recalled.';

CREATE FUNCTION memsvc.apply_merges(p_user_id uuid, p_actor text, p_at timestamp with time zone, p_operations jsonb) RETURNS TABLE(nth integer, outcome text, versions uuid[])
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
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
        'Node %s already stands for %s.', o.node_id, o.canonical_id
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

ALTER FUNCTION memsvc.apply_merges(p_user_id uuid, p_actor text, p_at timestamp with time zone, p_operations jsonb) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.apply_merges(p_user_id uuid, p_actor text, p_at timestamp with time zone, p_operations jsonb) IS 'Merges nodes and ends merges, in order.';

CREATE FUNCTION memsvc.apply_steps(p_user_id uuid, p_actor text, p_at timestamp with time zone, p_steps jsonb) RETURNS TABLE(nth integer, outcome text, versions uuid[])
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  plan CONSTANT jsonb := (
    SELECT coalesce(jsonb_agg(to_jsonb(p)), '[]') FROM memsvc.plan_history(p_user_id, p_steps) AS p
  );
  closed uuid[] := (
    SELECT array_agg((p.value ->> 'version_id')::uuid) FROM jsonb_array_elements(plan) AS p
    WHERE p.value ->> 'action' = 'close'
  );
BEGIN
  IF closed IS NOT NULL THEN
    UPDATE node_versions AS v SET recorded_to = p_at
    WHERE v.user_id = p_user_id AND v.version_id = ANY (closed) AND v.recorded_to = 'infinity';
    UPDATE edge_versions AS v SET recorded_to = p_at
    WHERE v.user_id = p_user_id AND v.version_id = ANY (closed) AND v.recorded_to = 'infinity';
    UPDATE aliases AS v SET recorded_to = p_at
    WHERE v.user_id = p_user_id AND v.alias_id = ANY (closed) AND v.recorded_to = 'infinity';
    UPDATE locations AS v SET recorded_to = p_at
    WHERE v.user_id = p_user_id AND v.location_id = ANY (closed) AND v.recorded_to = 'infinity';
  END IF;
  PERFORM memsvc.write_versions(p_user_id, p_actor, p_at, plan);
  PERFORM memsvc.link_evidence(p_user_id, p_actor, p_at, p_steps, plan);

  RETURN QUERY
  SELECT s.position,
    CASE
      WHEN s.takes THEN CASE WHEN bool_or(p.action = 'end') THEN 'closed' ELSE 'unchanged' END
      WHEN bool_or(p.action = 'write') THEN 'written'
      WHEN bool_or(p.action = 'past') THEN 'superseded'
      ELSE 'known'
    END,
    array_agg(p.version_id) FILTER (WHERE p.action IN ('bear', 'end'))
  FROM (
    SELECT g.position, g.content IS NULL AS takes
    FROM jsonb_to_recordset(p_steps) AS g (position integer, content jsonb)
  ) AS s
  LEFT JOIN (
    SELECT w.* FROM jsonb_to_recordset(plan) AS w (action text, version_id uuid, nth integer)
  ) AS p ON p.nth = s.position
  GROUP BY s.position, s.takes;
END
$$;

ALTER FUNCTION memsvc.apply_steps(p_user_id uuid, p_actor text, p_at timestamp with time zone, p_steps jsonb) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.apply_steps(p_user_id uuid, p_actor text, p_at timestamp with time zone, p_steps jsonb) IS 'Closes and writes versions as planned, with their evidence; one result row a step.';

CREATE FUNCTION memsvc.as_tsquery(p_lexeme text) RETURNS tsquery
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (((''''::text || replace(replace(p_lexeme, '\'::text, '\\'::text), ''''::text, ''''''::text)) || ''''::text))::tsquery;

ALTER FUNCTION memsvc.as_tsquery(p_lexeme text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.as_tsquery(p_lexeme text) IS 'A lexeme as a query for exactly itself.';

CREATE FUNCTION memsvc.ask_job(p_user_id uuid, p_kind text, p_subject_id uuid) RETURNS uuid
    LANGUAGE sql
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
  INSERT INTO memsvc.jobs AS j (user_id, kind, subject_id) VALUES (p_user_id, p_kind, p_subject_id)
  ON CONFLICT (user_id, kind, subject_id) WHERE state = 'pending'
  DO UPDATE SET requests = j.requests + 1, run_after = least(j.run_after, clock_timestamp())
  RETURNING j.job_id;
$$;

ALTER FUNCTION memsvc.ask_job(p_user_id uuid, p_kind text, p_subject_id uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.ask_job(p_user_id uuid, p_kind text, p_subject_id uuid) IS 'Asks for a job in the caller''s transaction; its id.';

CREATE FUNCTION memsvc.ask_vectors(p_model_id smallint) RETURNS bigint
    LANGUAGE sql
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
  WITH asked AS (
    INSERT INTO memsvc.jobs AS j (user_id, kind, subject_id)
    SELECT l.user_id, 'embed', l.user_id
    FROM memsvc.users_lacking(p_model_id) AS l (user_id)
    INNER JOIN memsvc.users AS u ON u.user_id = l.user_id AND u.erasing_since IS NULL
    ORDER BY l.user_id
    ON CONFLICT (user_id, kind, subject_id) WHERE state = 'pending'
    DO UPDATE SET requests = j.requests + 1, run_after = least(j.run_after, clock_timestamp())
    RETURNING 1
  )
  SELECT count(*) FROM asked;
$$;

ALTER FUNCTION memsvc.ask_vectors(p_model_id smallint) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.ask_vectors(p_model_id smallint) IS 'Asks for jobs that give a model''s vectors to all who lack them.';

CREATE TABLE memsvc.audit_log (
    audit_id uuid DEFAULT uuidv7() NOT NULL,
    app_id uuid,
    user_id uuid,
    actor text NOT NULL,
    action text NOT NULL,
    subject text DEFAULT ''::text NOT NULL,
    recorded_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    details jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT audit_log_details_object CHECK ((jsonb_typeof(details) = 'object'::text))
);

ALTER TABLE ONLY memsvc.audit_log FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.audit_log OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.audit_log IS 'Who did what to accounts and keys. Holds no text of memories; written by definer functions only.';

COMMENT ON COLUMN memsvc.audit_log.audit_id IS 'Time-ordered id.';

COMMENT ON COLUMN memsvc.audit_log.app_id IS 'The application concerned.';

COMMENT ON COLUMN memsvc.audit_log.user_id IS 'The user concerned.';

COMMENT ON COLUMN memsvc.audit_log.actor IS 'The database login that acted.';

COMMENT ON COLUMN memsvc.audit_log.action IS 'For example user.create, key.create, key.revoke, identity_key.retire.';

COMMENT ON COLUMN memsvc.audit_log.subject IS 'Id of what was acted on.';

COMMENT ON COLUMN memsvc.audit_log.recorded_at IS 'When.';

COMMENT ON COLUMN memsvc.audit_log.details IS 'Of a user''s erasure: by which door it was asked for, and how many rows of each table went. No names, no text.';

CREATE FUNCTION memsvc.audit(p_action text, p_app_id uuid, p_user_id uuid, p_subject text) RETURNS void
    LANGUAGE sql
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 INSERT INTO memsvc.audit_log (app_id, user_id, actor, action, subject)
   VALUES (audit.p_app_id, audit.p_user_id, SESSION_USER, audit.p_action, audit.p_subject);
END;

ALTER FUNCTION memsvc.audit(p_action text, p_app_id uuid, p_user_id uuid, p_subject text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.audit(p_action text, p_app_id uuid, p_user_id uuid, p_subject text) IS 'Records who did what; called by the functions below.';

CREATE FUNCTION memsvc.authenticate_key(p_key_id text, p_secret_hash bytea, p_user_ref text) RETURNS TABLE(app_id uuid, scopes text[], bound_user_id uuid, user_id uuid, user_name text, time_zone text, language text, requests_per_minute integer, messages_per_day integer)
    LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 1
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT k.app_id, k.scopes, k.user_id, u.user_id, u.name, u.time_zone, u.language, k.requests_per_minute,
    k.messages_per_day
  FROM api_keys AS k
  LEFT JOIN LATERAL (
    SELECT i.* FROM users AS i
    WHERE (p_user_ref IS NULL OR i.user_id::text = p_user_ref)
      AND i.user_id = CASE
        WHEN p_user_ref IS NULL THEN k.user_id WHEN pg_input_is_valid(p_user_ref, 'uuid') THEN p_user_ref::uuid
      END
    UNION ALL
    SELECT e.* FROM users AS e WHERE e.app_id = k.app_id AND e.external_id = p_user_ref
  ) AS u ON u.app_id = k.app_id AND u.erasing_since IS NULL AND (k.user_id IS NULL OR u.user_id = k.user_id)
  WHERE k.key_id = p_key_id
    AND k.secret_hash = p_secret_hash
    AND k.revoked_at IS NULL
    AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())
    AND memsvc.require_restored() -- keys of a backup may have been revoked since
  ORDER BY (u.user_id::text = p_user_ref) DESC
  LIMIT 1;
END
$$;

ALTER FUNCTION memsvc.authenticate_key(p_key_id text, p_secret_hash bytea, p_user_ref text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.authenticate_key(p_key_id text, p_secret_hash bytea, p_user_ref text) IS 'What a key may do and for whom; no row for a key that does not work.';

CREATE FUNCTION memsvc.job_queue(p_kind text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN (p_kind = ANY (ARRAY['process'::text, 'embed'::text])) THEN 'models'::text WHEN (p_kind = 'extract'::text) THEN 'facts'::text WHEN (p_kind = ANY (ARRAY['sleep'::text, 'analyse'::text])) THEN 'sleep'::text ELSE 'upkeep'::text END;

ALTER FUNCTION memsvc.job_queue(p_kind text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.job_queue(p_kind text) IS 'The queue that carries a kind of job.';

CREATE TABLE memsvc.dramatiq_queue (
    message_id uuid NOT NULL,
    queue_name text DEFAULT 'default'::text NOT NULL,
    state text DEFAULT 'queued'::text NOT NULL,
    mtime timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    message jsonb,
    "position" bigint NOT NULL,
    available_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    worker_id uuid,
    consumed_at timestamp with time zone,
    user_id uuid DEFAULT 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid NOT NULL,
    deliveries integer DEFAULT 0 NOT NULL,
    CONSTRAINT dramatiq_queue_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'consumed'::text, 'rejected'::text])))
)
WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.01', autovacuum_vacuum_threshold='1000');
ALTER TABLE ONLY memsvc.dramatiq_queue ALTER COLUMN message SET STATISTICS 0;

ALTER TABLE ONLY memsvc.dramatiq_queue FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.dramatiq_queue OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.dramatiq_queue IS 'Messages on their way to workers: one for each pending job, kept in step by a trigger on jobs. Ids only; jobs is the truth, and what is lost here is sent again.';

COMMENT ON COLUMN memsvc.dramatiq_queue.message_id IS 'The job''s id: one job, one message.';

COMMENT ON COLUMN memsvc.dramatiq_queue.queue_name IS 'models (slow: one at a time and process) or upkeep.';

COMMENT ON COLUMN memsvc.dramatiq_queue.state IS 'queued; consumed: a worker has it; rejected: no worker understood it, kept as a dead letter.';

COMMENT ON COLUMN memsvc.dramatiq_queue.mtime IS 'When the state last changed.';

COMMENT ON COLUMN memsvc.dramatiq_queue.message IS 'As Dramatiq reads it: actor, and the ids of user and job.';

COMMENT ON COLUMN memsvc.dramatiq_queue."position" IS 'Order of arrival.';

COMMENT ON COLUMN memsvc.dramatiq_queue.available_at IS 'Not handed out before.';

COMMENT ON COLUMN memsvc.dramatiq_queue.worker_id IS 'Who has it.';

COMMENT ON COLUMN memsvc.dramatiq_queue.consumed_at IS 'Since when.';

COMMENT ON COLUMN memsvc.dramatiq_queue.user_id IS 'Whose job it is: users take turns; all ones: nobody''s.';

COMMENT ON COLUMN memsvc.dramatiq_queue.deliveries IS 'How often it was handed out without an answer; a job whose workers keep dying ends by it.';

CREATE TABLE memsvc.dramatiq_worker (
    worker_id uuid NOT NULL,
    heartbeat_at timestamp with time zone NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='500');

ALTER TABLE ONLY memsvc.dramatiq_worker FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.dramatiq_worker OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.dramatiq_worker IS 'Worker processes that live; what a silent one had is handed out again.';

COMMENT ON COLUMN memsvc.dramatiq_worker.worker_id IS 'Made anew by each process.';

COMMENT ON COLUMN memsvc.dramatiq_worker.heartbeat_at IS 'Its last sign of life.';

CREATE FUNCTION memsvc.work_hands() RETURNS TABLE(worker_id uuid, silent_seconds double precision, running bigint)
    LANGUAGE sql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 SELECT w.worker_id,
     (EXTRACT(epoch FROM (clock_timestamp() - w.heartbeat_at)))::double precision AS "extract",
     ( SELECT count(*) AS count
            FROM memsvc.dramatiq_queue q
           WHERE ((q.state = 'consumed'::text) AND (q.worker_id = w.worker_id))) AS count
    FROM memsvc.dramatiq_worker w
   ORDER BY w.heartbeat_at DESC;
END;

ALTER FUNCTION memsvc.work_hands() OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.work_hands() IS 'Worker processes, when each gave its last sign of life, and what it has.';

CREATE FUNCTION memsvc.work_now() RETURNS TABLE(queue text, kind text, waiting bigint, running bigint, retrying bigint, failed bigint, dead bigint, done_last_minute bigint, failed_last_hour bigint, oldest_seconds double precision)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 WITH found(queue, kind, part, jobs, oldest) AS (
          SELECT memsvc.job_queue(j.kind) AS job_queue,
             j.kind,
                 CASE
                     WHEN (j.attempts > 0) THEN 'retrying'::text
                     ELSE 'waiting'::text
                 END AS "case",
             count(*) AS count,
             min(j.created_at) AS min
            FROM memsvc.jobs j
           WHERE (j.state = 'pending'::text)
           GROUP BY j.kind, (j.attempts > 0)
         UNION ALL
          SELECT memsvc.job_queue(j.kind) AS job_queue,
             j.kind,
             p.part,
             sum(p.jobs) AS sum,
             NULL::timestamp with time zone
            FROM ((memsvc.dramatiq_queue q
              JOIN memsvc.jobs j ON (((j.user_id = q.user_id) AND (j.job_id = q.message_id))))
              CROSS JOIN LATERAL ( VALUES ('running'::text,1), (
                         CASE
                             WHEN (j.attempts > 0) THEN 'retrying'::text
                             ELSE 'waiting'::text
                         END,'-1'::integer)) p(part, jobs))
           WHERE ((q.state = 'consumed'::text) AND (j.state = 'pending'::text))
           GROUP BY j.kind, p.part
         UNION ALL
          SELECT memsvc.job_queue(j.kind) AS job_queue,
             j.kind,
             'failed'::text,
             count(*) AS count,
             NULL::timestamp with time zone
            FROM memsvc.jobs j
           WHERE (j.state = 'failed'::text)
           GROUP BY j.kind
         UNION ALL
          SELECT memsvc.job_queue(j.kind) AS job_queue,
             j.kind,
             'failed last hour'::text,
             count(*) AS count,
             NULL::timestamp with time zone
            FROM memsvc.jobs j
           WHERE ((j.state = 'failed'::text) AND (j.finished_at > (now() - '01:00:00'::interval)))
           GROUP BY j.kind
         UNION ALL
          SELECT memsvc.job_queue(j.kind) AS job_queue,
             j.kind,
             'done last minute'::text,
             count(*) AS count,
             NULL::timestamp with time zone
            FROM memsvc.jobs j
           WHERE ((j.state = 'done'::text) AND (j.finished_at > (now() - '00:01:00'::interval)))
           GROUP BY j.kind
         UNION ALL
          SELECT q.queue_name,
             COALESCE(j.kind, '?'::text) AS "coalesce",
             'dead'::text,
             count(*) AS count,
             NULL::timestamp with time zone
            FROM (memsvc.dramatiq_queue q
              LEFT JOIN memsvc.jobs j ON (((j.user_id = q.user_id) AND (j.job_id = q.message_id))))
           WHERE (q.state = 'rejected'::text)
           GROUP BY q.queue_name, COALESCE(j.kind, '?'::text)
         )
  SELECT f.queue,
     f.kind,
     (COALESCE(sum(f.jobs) FILTER (WHERE (f.part = 'waiting'::text)), (0)::numeric))::bigint AS "coalesce",
     (COALESCE(sum(f.jobs) FILTER (WHERE (f.part = 'running'::text)), (0)::numeric))::bigint AS "coalesce",
     (COALESCE(sum(f.jobs) FILTER (WHERE (f.part = 'retrying'::text)), (0)::numeric))::bigint AS "coalesce",
     (COALESCE(sum(f.jobs) FILTER (WHERE (f.part = 'failed'::text)), (0)::numeric))::bigint AS "coalesce",
     (COALESCE(sum(f.jobs) FILTER (WHERE (f.part = 'dead'::text)), (0)::numeric))::bigint AS "coalesce",
     (COALESCE(sum(f.jobs) FILTER (WHERE (f.part = 'done last minute'::text)), (0)::numeric))::bigint AS "coalesce",
     (COALESCE(sum(f.jobs) FILTER (WHERE (f.part = 'failed last hour'::text)), (0)::numeric))::bigint AS "coalesce",
     (EXTRACT(epoch FROM (clock_timestamp() - min(f.oldest))))::double precision AS "extract"
    FROM found f
   GROUP BY f.queue, f.kind
   ORDER BY f.queue, f.kind;
END;

ALTER FUNCTION memsvc.work_now() OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.work_now() IS 'What waits, runs, failed and was done, over all users, by queue and kind.';

CREATE TABLE memsvc.term_deltas (
    user_id uuid NOT NULL,
    delta_id uuid DEFAULT uuidv7() NOT NULL,
    kind text NOT NULL,
    form text NOT NULL,
    passages bigint NOT NULL,
    length bigint NOT NULL,
    terms text[] NOT NULL,
    changes integer[] NOT NULL,
    CONSTRAINT term_deltas_check CHECK ((cardinality(changes) = cardinality(terms))),
    CONSTRAINT term_deltas_form_check CHECK ((form = ANY (ARRAY['stemmed'::text, 'simple'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='500');
ALTER TABLE ONLY memsvc.term_deltas ALTER COLUMN terms SET STATISTICS 0;

ALTER TABLE ONLY memsvc.term_deltas FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.term_deltas OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.term_deltas IS 'What one write changed in the statistics. Writers only insert here (counters in the write path deadlock and block); fold_statistics() moves the rows into corpora and terms; recall sums all three.';

COMMENT ON COLUMN memsvc.term_deltas.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.term_deltas.delta_id IS 'Time-ordered id.';

COMMENT ON COLUMN memsvc.term_deltas.kind IS 'As passages.kind.';

COMMENT ON COLUMN memsvc.term_deltas.form IS 'stemmed or simple.';

COMMENT ON COLUMN memsvc.term_deltas.passages IS 'Passages more (or, negative, fewer).';

COMMENT ON COLUMN memsvc.term_deltas.length IS 'Words more or fewer.';

COMMENT ON COLUMN memsvc.term_deltas.terms IS 'Terms whose document frequency changed.';

COMMENT ON COLUMN memsvc.term_deltas.changes IS 'By how much each did.';

CREATE FUNCTION memsvc.backlog() RETURNS TABLE(pending bigint, running bigint, retrying bigint, failed bigint, dead_letters bigint, workers bigint, oldest_pending_seconds double precision, embedding_lag_seconds double precision, extraction_lag_seconds double precision, unfolded_deltas bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 SELECT (COALESCE(sum(((n.waiting + n.running) + n.retrying)), (0)::numeric))::bigint AS "coalesce",
     (COALESCE(sum(n.running), (0)::numeric))::bigint AS "coalesce",
     (COALESCE(sum(n.retrying), (0)::numeric))::bigint AS "coalesce",
     (COALESCE(sum(n.failed), (0)::numeric))::bigint AS "coalesce",
     (COALESCE(sum(n.dead), (0)::numeric))::bigint AS "coalesce",
     ( SELECT count(*) AS count
            FROM memsvc.work_hands() work_hands(worker_id, silent_seconds, running)) AS count,
     COALESCE(max(n.oldest_seconds), (0)::double precision) AS "coalesce",
     COALESCE(max(n.oldest_seconds) FILTER (WHERE (n.queue = 'models'::text)), (0)::double precision) AS "coalesce",
     COALESCE(max(n.oldest_seconds) FILTER (WHERE (n.queue = 'facts'::text)), (0)::double precision) AS "coalesce",
     ( SELECT count(*) AS count
            FROM memsvc.term_deltas d) AS count
    FROM memsvc.work_now() n(queue, kind, waiting, running, retrying, failed, dead, done_last_minute, failed_last_hour, oldest_seconds);
END;

ALTER FUNCTION memsvc.backlog() OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.backlog() IS 'How much background work waits, over all users.';

CREATE TABLE memsvc.changes (
    user_id uuid NOT NULL,
    change_id uuid DEFAULT uuidv7() NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    asserted_by text NOT NULL,
    operations text[] NOT NULL,
    undoes uuid,
    CONSTRAINT changes_asserted_by_check CHECK (((asserted_by <> ''::text) AND (length(asserted_by) <= 200)))
);
ALTER TABLE ONLY memsvc.changes ALTER COLUMN asserted_by SET STATISTICS 0;

ALTER TABLE ONLY memsvc.changes FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.changes OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.changes IS 'One row for each batch of changes to the graph. Its recorded_at is the recorded_from of all that it wrote and the recorded_to of all that it closed, and no other change of the user has the same. Holds no text.';

COMMENT ON COLUMN memsvc.changes.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.changes.change_id IS 'Time-ordered id.';

COMMENT ON COLUMN memsvc.changes.recorded_at IS 'When memsvc learnt it; later than every earlier change of the user.';

COMMENT ON COLUMN memsvc.changes.asserted_by IS 'Who changed it: user, app, or the name of an extractor.';

COMMENT ON COLUMN memsvc.changes.operations IS 'Which kinds of operations it held.';

COMMENT ON COLUMN memsvc.changes.undoes IS 'The change that it undoes.';

CREATE FUNCTION memsvc.begin_change(p_user_id uuid, p_actor text, p_operations text[], p_nodes uuid[], p_undoes uuid DEFAULT NULL::uuid) RETURNS memsvc.changes
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  made changes;
  floor timestamptz;
BEGIN
  PERFORM memsvc.keep_memories(p_user_id);
  IF p_operations && '{merge,unmerge,undo}' THEN
    -- Two merges far apart can close a circle together: they take turns over all of a user's nodes.
    PERFORM pg_advisory_xact_lock(hashtextextended('memsvc merges of ' || p_user_id, 0));
  END IF;
  PERFORM FROM nodes AS n WHERE n.user_id = p_user_id AND n.node_id = ANY (p_nodes) ORDER BY n.node_id
  FOR NO KEY UPDATE;
  LOOP
    SELECT max(c.recorded_at) + interval '1 microsecond' INTO floor FROM changes AS c WHERE c.user_id = p_user_id;
    SELECT greatest(floor, max(v.recorded_from) + interval '1 microsecond') INTO floor FROM node_versions AS v
    WHERE v.user_id = p_user_id AND v.node_id = ANY (p_nodes) AND v.recorded_to = 'infinity';
    SELECT greatest(floor, max(v.recorded_from) + interval '1 microsecond') INTO floor FROM aliases AS v
    WHERE v.user_id = p_user_id AND v.node_id = ANY (p_nodes) AND v.recorded_to = 'infinity';
    SELECT greatest(floor, max(v.recorded_from) + interval '1 microsecond') INTO floor FROM locations AS v
    WHERE v.user_id = p_user_id AND v.node_id = ANY (p_nodes) AND v.recorded_to = 'infinity';
    INSERT INTO changes (user_id, recorded_at, asserted_by, operations, undoes)
    VALUES (p_user_id, greatest(clock_timestamp(), floor), p_actor, p_operations, p_undoes)
    ON CONFLICT (user_id, recorded_at) DO NOTHING RETURNING * INTO made;
    EXIT WHEN FOUND;
  END LOOP;
  INSERT INTO outbox (user_id, kind, subject_id) VALUES (p_user_id, 'graph.changed', made.change_id);
  RETURN made;
END
$$;

ALTER FUNCTION memsvc.begin_change(p_user_id uuid, p_actor text, p_operations text[], p_nodes uuid[], p_undoes uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.begin_change(p_user_id uuid, p_actor text, p_operations text[], p_nodes uuid[], p_undoes uuid) IS 'Locks nodes and records a change, with the time that all it writes gets.';

CREATE TABLE memsvc.erasures (
    user_id uuid NOT NULL,
    erasure_id uuid DEFAULT uuidv7() NOT NULL,
    kind text NOT NULL,
    subject_id uuid NOT NULL,
    state text DEFAULT 'pending'::text NOT NULL,
    requested_by text NOT NULL,
    counts jsonb DEFAULT '{}'::jsonb NOT NULL,
    ids uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    finished_at timestamp with time zone,
    verified_at timestamp with time zone,
    leftovers jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT erasures_counts_check CHECK ((jsonb_typeof(counts) = 'object'::text)),
    CONSTRAINT erasures_kind_check CHECK ((kind = ANY (ARRAY['message'::text, 'passage'::text, 'source'::text, 'fact'::text, 'node'::text, 'block'::text]))),
    CONSTRAINT erasures_leftovers_check CHECK ((jsonb_typeof(leftovers) = 'object'::text)),
    CONSTRAINT erasures_requested_by_check CHECK (((requested_by <> ''::text) AND (length(requested_by) <= 200))),
    CONSTRAINT erasures_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'done'::text])))
);

ALTER TABLE ONLY memsvc.erasures FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.erasures OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.erasures IS 'Receipts: what was erased, by whom, when, and how much it was. Holds no text.';

COMMENT ON COLUMN memsvc.erasures.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.erasures.erasure_id IS 'Time-ordered id.';

COMMENT ON COLUMN memsvc.erasures.kind IS 'message (all its parts), passage (one part), source, fact (an edge with all its versions), node, or block (of the profile, with all its versions).';

COMMENT ON COLUMN memsvc.erasures.subject_id IS 'Id of what was erased: a passage, source, edge, node or block.';

COMMENT ON COLUMN memsvc.erasures.state IS 'pending: batches are left, which the job erase removes; done.';

COMMENT ON COLUMN memsvc.erasures.requested_by IS 'Who wanted it: user, app, or a name.';

COMMENT ON COLUMN memsvc.erasures.counts IS 'Rows removed, by table; evidence_reduced: versions that stayed with less evidence.';

COMMENT ON COLUMN memsvc.erasures.ids IS 'Ids of the passages, sources, edges, nodes and blocks that went, for looking again.';

COMMENT ON COLUMN memsvc.erasures.created_at IS 'When the first batch was removed.';

COMMENT ON COLUMN memsvc.erasures.finished_at IS 'When the last batch was.';

COMMENT ON COLUMN memsvc.erasures.verified_at IS 'When somebody last looked for leftovers; null: nobody has.';

COMMENT ON COLUMN memsvc.erasures.leftovers IS 'What was found then: rows by table and column; empty: nothing.';

CREATE FUNCTION memsvc.begin_erasure(p_user_id uuid, p_kind text, p_subject_id uuid, p_requested_by text, p_limit integer) RETURNS SETOF memsvc.erasures
    LANGUAGE plpgsql SECURITY DEFINER ROWS 1
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  proved CONSTANT uuid := memsvc.require_identity(p_user_id);
  made uuid;
BEGIN
  PERFORM memsvc.lock_memories(proved, p_kind, p_subject_id);
  IF NOT EXISTS (SELECT FROM memsvc.erasure_scope(proved, p_kind, p_subject_id, 1)) THEN
    RETURN;
  END IF;
  SELECT e.erasure_id INTO made FROM erasures AS e
  WHERE e.user_id = proved AND e.kind = p_kind AND e.subject_id = p_subject_id AND e.state = 'pending';
  IF NOT FOUND THEN
    PERFORM memsvc.bury(proved, p_kind, p_subject_id);
    INSERT INTO erasures AS e (user_id, kind, subject_id, requested_by)
    VALUES (proved, p_kind, p_subject_id, p_requested_by) RETURNING e.erasure_id INTO made;
    UPDATE sources AS s SET identifier = s.source_id::text, title = '', metadata = '{}'
    WHERE s.user_id = proved AND p_kind = 'source' AND s.source_id = p_subject_id;
  END IF;
  RETURN QUERY SELECT b.* FROM memsvc.erase_batch(proved, made, p_limit) AS b;
END
$$;

ALTER FUNCTION memsvc.begin_erasure(p_user_id uuid, p_kind text, p_subject_id uuid, p_requested_by text, p_limit integer) OWNER TO memsvc_eraser;

COMMENT ON FUNCTION memsvc.begin_erasure(p_user_id uuid, p_kind text, p_subject_id uuid, p_requested_by text, p_limit integer) IS 'Begins to erase: tombstones, receipt, the first batch; the receipt.';

CREATE TABLE memsvc.users (
    user_id uuid DEFAULT uuidv7() NOT NULL,
    app_id uuid NOT NULL,
    external_id text NOT NULL,
    name text NOT NULL,
    time_zone text DEFAULT 'UTC'::text NOT NULL,
    language text DEFAULT 'english'::text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    erasing_since timestamp with time zone,
    erased_rows jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT users_erased_rows_object CHECK ((jsonb_typeof(erased_rows) = 'object'::text)),
    CONSTRAINT users_external_id_check CHECK (((external_id <> ''::text) AND (length(external_id) <= 200))),
    CONSTRAINT users_name_check CHECK (((name <> ''::text) AND (length(name) <= 200)))
);
ALTER TABLE ONLY memsvc.users ALTER COLUMN external_id SET STATISTICS 0;
ALTER TABLE ONLY memsvc.users ALTER COLUMN name SET STATISTICS 0;

ALTER TABLE ONLY memsvc.users FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.users OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.users IS 'An owner of memories. Everything that is remembered belongs to exactly one user.';

COMMENT ON COLUMN memsvc.users.user_id IS 'Leads every key of every table with memories.';

COMMENT ON COLUMN memsvc.users.app_id IS 'The application that this user belongs to.';

COMMENT ON COLUMN memsvc.users.external_id IS 'What the application calls the user; unique within it.';

COMMENT ON COLUMN memsvc.users.name IS 'What people call the user.';

COMMENT ON COLUMN memsvc.users.time_zone IS 'IANA zone that times without an offset are read in.';

COMMENT ON COLUMN memsvc.users.language IS 'Text search configuration that stems the user''s words.';

COMMENT ON COLUMN memsvc.users.created_at IS 'When the user was added.';

COMMENT ON COLUMN memsvc.users.erasing_since IS 'Since when the user is being erased: nobody acts for the user any more. Null: as usual.';

COMMENT ON COLUMN memsvc.users.erased_rows IS 'How many rows of each table are erased so far.';

CREATE FUNCTION memsvc.begin_job(p_user_id uuid, p_job_id uuid) RETURNS TABLE(subject_id uuid, requests integer, started_at timestamp with time zone)
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 SELECT j.subject_id,
     j.requests,
     clock_timestamp() AS clock_timestamp
    FROM memsvc.jobs j
   WHERE ((j.user_id = begin_job.p_user_id) AND (j.job_id = begin_job.p_job_id) AND (j.state = 'pending'::text) AND (NOT (EXISTS ( SELECT
            FROM memsvc.users u
           WHERE ((u.user_id = begin_job.p_user_id) AND (u.erasing_since IS NOT NULL))))));
END;

ALTER FUNCTION memsvc.begin_job(p_user_id uuid, p_job_id uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.begin_job(p_user_id uuid, p_job_id uuid) IS 'What a pending job is about; no row where it is not pending.';

CREATE FUNCTION memsvc.begin_reading(p_user_id uuid, p_source_id uuid, p_extractor text, p_backend text) RETURNS uuid
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  place uuid;
BEGIN
  PERFORM memsvc.keep_memories(p_user_id);
  PERFORM pg_advisory_xact_lock(hashtextextended('memsvc facts of ' || p_user_id, 0));
  INSERT INTO extractions (user_id, source_id, extractor, backend)
  SELECT p_user_id, s.source_id, p_extractor, p_backend FROM sources AS s
  WHERE s.user_id = p_user_id AND s.source_id = p_source_id
  ON CONFLICT (user_id, source_id, extractor) DO NOTHING;
  SELECT coalesce(e.upto, '00000000-0000-0000-0000-000000000000') INTO place FROM extractions AS e
  WHERE e.user_id = p_user_id AND e.source_id = p_source_id AND e.extractor = p_extractor
  FOR UPDATE;
  RETURN place;
END
$$;

ALTER FUNCTION memsvc.begin_reading(p_user_id uuid, p_source_id uuid, p_extractor text, p_backend text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.begin_reading(p_user_id uuid, p_source_id uuid, p_extractor text, p_backend text) IS 'Begins to write what was read of a source; how far it had been read.';

CREATE FUNCTION memsvc.begin_user_erasure(p_app_id uuid, p_ref text, p_by text) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    SET lock_timeout TO '5s'
    AS $$
DECLARE
  mine users%ROWTYPE;
BEGIN
  IF p_by IS DISTINCT FROM 'restore' THEN -- a word of who calls, and no boundary
    PERFORM memsvc.require_restored();
  END IF;
  SELECT * INTO mine FROM users AS u
  WHERE u.app_id = p_app_id AND (u.external_id = p_ref OR u.user_id::text = p_ref)
  ORDER BY (u.user_id::text = p_ref) DESC
  LIMIT 1
  FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  IF mine.erasing_since IS NULL THEN
    UPDATE users AS u SET erasing_since = clock_timestamp() WHERE u.user_id = mine.user_id;
    UPDATE api_keys AS k SET revoked_at = clock_timestamp() WHERE k.user_id = mine.user_id AND k.revoked_at IS NULL;
    UPDATE schedules AS s SET enabled = false WHERE s.user_id = mine.user_id;
    INSERT INTO audit_log (app_id, user_id, actor, action, subject, details)
    VALUES (p_app_id, mine.user_id, session_user, 'user.erase', mine.user_id::text,
      jsonb_build_object('requested_by', p_by));
  END IF;
  RETURN mine.user_id;
END
$$;

ALTER FUNCTION memsvc.begin_user_erasure(p_app_id uuid, p_ref text, p_by text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.begin_user_erasure(p_app_id uuid, p_ref text, p_by text) IS 'Marks a user of an app for erasing, so that nobody acts for the user any more; the user''s id.';

CREATE TABLE memsvc.merges (
    user_id uuid NOT NULL,
    merge_id uuid DEFAULT uuidv7() NOT NULL,
    node_id uuid NOT NULL,
    canonical_id uuid NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    confidence real DEFAULT 1 NOT NULL,
    asserted_by text NOT NULL,
    recorded_from timestamp with time zone NOT NULL,
    recorded_to timestamp with time zone DEFAULT 'infinity'::timestamp with time zone NOT NULL,
    CONSTRAINT merges_asserted_by_check CHECK ((asserted_by <> ''::text)),
    CONSTRAINT merges_check CHECK ((canonical_id <> node_id)),
    CONSTRAINT merges_check1 CHECK ((recorded_to >= recorded_from)),
    CONSTRAINT merges_confidence_check CHECK (((confidence > (0)::double precision) AND (confidence <= (1)::double precision)))
)
WITH (autovacuum_vacuum_scale_factor='0.05');
ALTER TABLE ONLY memsvc.merges ALTER COLUMN reason SET STATISTICS 0;
ALTER TABLE ONLY memsvc.merges ALTER COLUMN asserted_by SET STATISTICS 0;

ALTER TABLE ONLY memsvc.merges FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.merges OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.merges IS 'This node is the same as that one. Reads resolve through it; nothing is moved, so closing the row takes it back.';

COMMENT ON COLUMN memsvc.merges.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.merges.merge_id IS 'Time-ordered id.';

COMMENT ON COLUMN memsvc.merges.node_id IS 'The node that is seen as another.';

COMMENT ON COLUMN memsvc.merges.canonical_id IS 'The node that stands for it; it may be merged itself.';

COMMENT ON COLUMN memsvc.merges.reason IS 'Why, for people.';

COMMENT ON COLUMN memsvc.merges.confidence IS 'Above 0, at most 1.';

COMMENT ON COLUMN memsvc.merges.asserted_by IS 'Who says so: user, app, or the name of a judge.';

COMMENT ON COLUMN memsvc.merges.recorded_from IS 'When memsvc learnt it.';

COMMENT ON COLUMN memsvc.merges.recorded_to IS 'When memsvc learnt better; infinity: it has not.';

CREATE FUNCTION memsvc.resolve_nodes(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(node_id uuid, canonical_id uuid)
    LANGUAGE sql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    BEGIN ATOMIC
 WITH RECURSIVE walk AS (
          SELECT n.node_id AS start,
             n.node_id AS reached,
             0 AS steps
            FROM unnest(resolve_nodes.p_nodes) n(node_id)
         UNION
          SELECT w_1.start,
             m.canonical_id,
             (w_1.steps + 1)
            FROM (walk w_1
              CROSS JOIN LATERAL ( SELECT o.canonical_id
                    FROM memsvc.merges o
                   WHERE ((o.user_id = resolve_nodes.p_user_id) AND (o.node_id = w_1.reached) AND (o.recorded_from <= COALESCE(resolve_nodes.p_known_at, 'infinity'::timestamp with time zone)) AND ((o.recorded_to = 'infinity'::timestamp with time zone) OR (o.recorded_to > resolve_nodes.p_known_at)))
                  OFFSET 0) m)
         )
  SELECT DISTINCT ON (w.start) w.start,
     w.reached
    FROM walk w
   ORDER BY w.start, w.steps DESC;
END;

ALTER FUNCTION memsvc.resolve_nodes(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.resolve_nodes(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone) IS 'For each node the one that stands for it, as known at a time.';

CREATE FUNCTION memsvc.same_nodes(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(canonical_id uuid, node_id uuid)
    LANGUAGE sql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    BEGIN ATOMIC
 WITH RECURSIVE walk AS (
          SELECT DISTINCT r.canonical_id AS root,
             r.canonical_id AS reached
            FROM memsvc.resolve_nodes(same_nodes.p_user_id, same_nodes.p_nodes, same_nodes.p_known_at) r(node_id, canonical_id)
         UNION
          SELECT w_1.root,
             m.node_id
            FROM (walk w_1
              CROSS JOIN LATERAL ( SELECT o.node_id
                    FROM memsvc.merges o
                   WHERE ((o.user_id = same_nodes.p_user_id) AND (o.canonical_id = w_1.reached) AND (o.recorded_from <= COALESCE(same_nodes.p_known_at, 'infinity'::timestamp with time zone)) AND ((o.recorded_to = 'infinity'::timestamp with time zone) OR (o.recorded_to > same_nodes.p_known_at)))
                  OFFSET 0) m)
         )
  SELECT w.root,
     w.reached
    FROM walk w;
END;

ALTER FUNCTION memsvc.same_nodes(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.same_nodes(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone) IS 'All nodes that are the same as the given ones, by the node that stands for them, as known at a time.';

CREATE TABLE memsvc.node_versions (
    user_id uuid NOT NULL,
    version_id uuid DEFAULT uuidv7() NOT NULL,
    node_id uuid NOT NULL,
    type text NOT NULL,
    label text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    data jsonb DEFAULT '{}'::jsonb NOT NULL,
    importance real DEFAULT 5 NOT NULL,
    valid_from timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    valid_to timestamp with time zone DEFAULT 'infinity'::timestamp with time zone NOT NULL,
    recorded_from timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    recorded_to timestamp with time zone DEFAULT 'infinity'::timestamp with time zone NOT NULL,
    asserted_by text DEFAULT 'app'::text NOT NULL,
    derived_from uuid,
    label_form text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT node_versions_asserted CHECK ((asserted_by <> ''::text)),
    CONSTRAINT node_versions_check CHECK ((valid_to > valid_from)),
    CONSTRAINT node_versions_check1 CHECK ((recorded_to >= recorded_from)),
    CONSTRAINT node_versions_data_check CHECK ((jsonb_typeof(data) = 'object'::text)),
    CONSTRAINT node_versions_importance_check CHECK (((importance >= (1)::double precision) AND (importance <= (10)::double precision))),
    CONSTRAINT node_versions_label_check CHECK ((label <> ''::text))
)
WITH (autovacuum_vacuum_scale_factor='0.05');
ALTER TABLE ONLY memsvc.node_versions ALTER COLUMN label SET STATISTICS 0;
ALTER TABLE ONLY memsvc.node_versions ALTER COLUMN description SET STATISTICS 0;
ALTER TABLE ONLY memsvc.node_versions ALTER COLUMN data SET STATISTICS 0;
ALTER TABLE ONLY memsvc.node_versions ALTER COLUMN asserted_by SET STATISTICS 0;
ALTER TABLE ONLY memsvc.node_versions ALTER COLUMN label_form SET STATISTICS 0;

ALTER TABLE ONLY memsvc.node_versions FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.node_versions OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.node_versions IS 'What was known about a node: append-only, the only update closes recorded_to. Valid time is the world''s, recorded time is ours.';

COMMENT ON COLUMN memsvc.node_versions.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.node_versions.version_id IS 'Time-ordered id of this version.';

COMMENT ON COLUMN memsvc.node_versions.node_id IS 'The node described.';

COMMENT ON COLUMN memsvc.node_versions.type IS 'Its type in the ontology.';

COMMENT ON COLUMN memsvc.node_versions.label IS 'Its display name.';

COMMENT ON COLUMN memsvc.node_versions.description IS 'A sentence or two.';

COMMENT ON COLUMN memsvc.node_versions.data IS 'Further properties.';

COMMENT ON COLUMN memsvc.node_versions.importance IS '1 (trivial) to 10 (life-changing).';

COMMENT ON COLUMN memsvc.node_versions.valid_from IS 'From when it was true; -infinity: as far as known, always.';

COMMENT ON COLUMN memsvc.node_versions.valid_to IS 'Until when it was true; infinity: it still is.';

COMMENT ON COLUMN memsvc.node_versions.recorded_from IS 'When memsvc learnt it.';

COMMENT ON COLUMN memsvc.node_versions.recorded_to IS 'When memsvc learnt better; infinity: it has not.';

COMMENT ON COLUMN memsvc.node_versions.asserted_by IS 'Who says so: user, app, or the name of an extractor.';

COMMENT ON COLUMN memsvc.node_versions.derived_from IS 'The version that this one is a remainder or a restoration of; its evidence was copied.';

COMMENT ON COLUMN memsvc.node_versions.label_form IS 'normal_form(label), kept by a trigger: what searches compare.';

CREATE FUNCTION memsvc.node_states(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone DEFAULT NULL::timestamp with time zone, p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(canonical_id uuid, node_id uuid, version_id uuid, type text, label text, description text, data jsonb, importance real, asserted_by text, valid_from timestamp with time zone, valid_to timestamp with time zone, recorded_from timestamp with time zone, recorded_to timestamp with time zone)
    LANGUAGE sql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_incremental_sort TO 'off'
    BEGIN ATOMIC
 SELECT s.canonical_id,
     v.node_id,
     v.version_id,
     v.type,
     v.label,
     v.description,
     v.data,
     v.importance,
     v.asserted_by,
     v.valid_from,
     v.valid_to,
     v.recorded_from,
     v.recorded_to
    FROM (memsvc.same_nodes(node_states.p_user_id, node_states.p_nodes, node_states.p_known_at) s(canonical_id, node_id)
      CROSS JOIN LATERAL (( SELECT o.user_id,
             o.version_id,
             o.node_id,
             o.type,
             o.label,
             o.description,
             o.data,
             o.importance,
             o.valid_from,
             o.valid_to,
             o.recorded_from,
             o.recorded_to,
             o.asserted_by,
             o.derived_from,
             o.label_form
            FROM memsvc.node_versions o
           WHERE ((o.user_id = node_states.p_user_id) AND (o.node_id = ANY (ARRAY[s.node_id])) AND (o.recorded_to = 'infinity'::timestamp with time zone) AND (o.recorded_from <= COALESCE(node_states.p_known_at, 'infinity'::timestamp with time zone)))
           ORDER BY o.node_id
          OFFSET 0)
         UNION ALL
         ( SELECT o.user_id,
             o.version_id,
             o.node_id,
             o.type,
             o.label,
             o.description,
             o.data,
             o.importance,
             o.valid_from,
             o.valid_to,
             o.recorded_from,
             o.recorded_to,
             o.asserted_by,
             o.derived_from,
             o.label_form
            FROM memsvc.node_versions o
           WHERE ((node_states.p_known_at IS NOT NULL) AND (o.user_id = node_states.p_user_id) AND (o.node_id = ANY (ARRAY[s.node_id])) AND (o.recorded_to < 'infinity'::timestamp with time zone) AND (o.recorded_from <= node_states.p_known_at) AND (o.recorded_to > node_states.p_known_at))
           ORDER BY o.node_id
          OFFSET 0)) v)
   WHERE ((node_states.p_as_of IS NULL) OR ((v.valid_from <= node_states.p_as_of) AND (v.valid_to > node_states.p_as_of)))
   ORDER BY s.canonical_id, (v.node_id = s.canonical_id) DESC, v.valid_from DESC, v.version_id;
END;

ALTER FUNCTION memsvc.node_states(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.node_states(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) IS 'Properties of nodes and all that are the same, at a valid and a recorded time.';

CREATE TABLE memsvc.profile_evidence (
    user_id uuid NOT NULL,
    version_id uuid NOT NULL,
    passage_id uuid NOT NULL,
    lines smallint[] NOT NULL,
    CONSTRAINT profile_evidence_lines_check CHECK (((cardinality(lines) > 0) AND (array_ndims(lines) = 1) AND (array_position(lines, NULL::smallint) IS NULL) AND (0 < ALL (lines))))
);

ALTER TABLE ONLY memsvc.profile_evidence FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.profile_evidence OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.profile_evidence IS 'Which lines of a block rest on which passages: a line goes with the last of its passages that is erased.';

COMMENT ON COLUMN memsvc.profile_evidence.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.profile_evidence.version_id IS 'The version of the block.';

COMMENT ON COLUMN memsvc.profile_evidence.passage_id IS 'The passage that speaks for it.';

COMMENT ON COLUMN memsvc.profile_evidence.lines IS 'For which of its lines, from 1.';

CREATE FUNCTION memsvc.behind_block(p_user_id uuid, p_version_id uuid, p_node_id uuid) RETURNS TABLE(node text, evidence jsonb)
    LANGUAGE sql STABLE ROWS 1
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    BEGIN ATOMIC
 SELECT ( SELECT s.label
            FROM memsvc.node_states(behind_block.p_user_id, ARRAY[behind_block.p_node_id], clock_timestamp()) s(canonical_id, node_id, version_id, type, label, description, data, importance, asserted_by, valid_from, valid_to, recorded_from, recorded_to)
           WHERE (behind_block.p_node_id IS NOT NULL)
          LIMIT 1) AS label,
     COALESCE(( SELECT jsonb_agg(jsonb_build_object('passage_id', e.passage_id, 'lines', e.lines) ORDER BY e.passage_id) AS jsonb_agg
            FROM memsvc.profile_evidence e
           WHERE ((e.user_id = behind_block.p_user_id) AND (e.version_id = behind_block.p_version_id))), '[]'::jsonb) AS "coalesce";
END;

ALTER FUNCTION memsvc.behind_block(p_user_id uuid, p_version_id uuid, p_node_id uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.behind_block(p_user_id uuid, p_version_id uuid, p_node_id uuid) IS 'What a version of a block is about, and what its lines rest on.';

CREATE FUNCTION memsvc.name_tier(p_name text, p_wanted text) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN (strpos(p_name, p_wanted) = 0) THEN NULL::integer WHEN (p_name = p_wanted) THEN 0 WHEN starts_with(p_name, p_wanted) THEN 1 WHEN (strpos(p_name, (' '::text || p_wanted)) > 0) THEN 2 ELSE 3 END;

ALTER FUNCTION memsvc.name_tier(p_name text, p_wanted text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.name_tier(p_name text, p_wanted text) IS 'How well a name fits what is looked for: 0 (the same) to 3.';

CREATE TABLE memsvc.aliases (
    user_id uuid NOT NULL,
    alias_id uuid DEFAULT uuidv7() NOT NULL,
    node_id uuid NOT NULL,
    alias text NOT NULL,
    normal_form text NOT NULL,
    confidence real DEFAULT 1 NOT NULL,
    asserted_by text NOT NULL,
    valid_from timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    valid_to timestamp with time zone DEFAULT 'infinity'::timestamp with time zone NOT NULL,
    recorded_from timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    recorded_to timestamp with time zone DEFAULT 'infinity'::timestamp with time zone NOT NULL,
    derived_from uuid,
    CONSTRAINT aliases_alias_check CHECK (((alias <> ''::text) AND (length(alias) <= 200))),
    CONSTRAINT aliases_check CHECK ((valid_to > valid_from)),
    CONSTRAINT aliases_check1 CHECK ((recorded_to >= recorded_from)),
    CONSTRAINT aliases_confidence_check CHECK (((confidence > (0)::double precision) AND (confidence <= (1)::double precision))),
    CONSTRAINT aliases_normal_form_check CHECK ((normal_form <> ''::text))
)
WITH (autovacuum_vacuum_scale_factor='0.05');
ALTER TABLE ONLY memsvc.aliases ALTER COLUMN alias SET STATISTICS 0;
ALTER TABLE ONLY memsvc.aliases ALTER COLUMN normal_form SET STATISTICS 0;
ALTER TABLE ONLY memsvc.aliases ALTER COLUMN asserted_by SET STATISTICS 0;

ALTER TABLE ONLY memsvc.aliases FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.aliases OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.aliases IS 'What a node is called, by whom, and when. Two nodes may share a name: it is then ambiguous, not wrong.';

COMMENT ON COLUMN memsvc.aliases.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.aliases.alias_id IS 'Time-ordered id.';

COMMENT ON COLUMN memsvc.aliases.node_id IS 'The node that is called so.';

COMMENT ON COLUMN memsvc.aliases.alias IS 'The name as it was written.';

COMMENT ON COLUMN memsvc.aliases.normal_form IS 'normal_form(alias): what look-ups compare.';

COMMENT ON COLUMN memsvc.aliases.confidence IS 'Above 0, at most 1.';

COMMENT ON COLUMN memsvc.aliases.asserted_by IS 'Who says so: user, app, or the name of an extractor.';

COMMENT ON COLUMN memsvc.aliases.valid_from IS 'From when it was called so.';

COMMENT ON COLUMN memsvc.aliases.valid_to IS 'Until when.';

COMMENT ON COLUMN memsvc.aliases.recorded_from IS 'When memsvc learnt it.';

COMMENT ON COLUMN memsvc.aliases.recorded_to IS 'When memsvc learnt better.';

COMMENT ON COLUMN memsvc.aliases.derived_from IS 'The alias row that this one is a remainder or a restoration of; its evidence was copied.';

CREATE FUNCTION memsvc.node_names(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone DEFAULT NULL::timestamp with time zone, p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(canonical_id uuid, node_id uuid, alias_id uuid, alias text, normal_form text, confidence real, asserted_by text, valid_from timestamp with time zone, valid_to timestamp with time zone, recorded_from timestamp with time zone, recorded_to timestamp with time zone)
    LANGUAGE sql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_incremental_sort TO 'off'
    BEGIN ATOMIC
 SELECT s.canonical_id,
     v.node_id,
     v.alias_id,
     v.alias,
     v.normal_form,
     v.confidence,
     v.asserted_by,
     v.valid_from,
     v.valid_to,
     v.recorded_from,
     v.recorded_to
    FROM (memsvc.same_nodes(node_names.p_user_id, node_names.p_nodes, node_names.p_known_at) s(canonical_id, node_id)
      CROSS JOIN LATERAL ( SELECT o.user_id,
             o.alias_id,
             o.node_id,
             o.alias,
             o.normal_form,
             o.confidence,
             o.asserted_by,
             o.valid_from,
             o.valid_to,
             o.recorded_from,
             o.recorded_to,
             o.derived_from
            FROM memsvc.aliases o
           WHERE ((o.user_id = node_names.p_user_id) AND (o.node_id = s.node_id) AND (o.recorded_from <= COALESCE(node_names.p_known_at, 'infinity'::timestamp with time zone)) AND ((o.recorded_to = 'infinity'::timestamp with time zone) OR (o.recorded_to > node_names.p_known_at)) AND ((node_names.p_as_of IS NULL) OR ((o.valid_from <= node_names.p_as_of) AND (o.valid_to > node_names.p_as_of))))
           ORDER BY o.normal_form
          OFFSET 0) v)
   ORDER BY v.recorded_from, v.alias_id;
END;

ALTER FUNCTION memsvc.node_names(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.node_names(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) IS 'Names of nodes and all that are the same, at a valid and a recorded time.';

CREATE FUNCTION memsvc.normal_form(p_name text) RETURNS text
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN btrim(regexp_replace(lower(public.unaccent(NORMALIZE(p_name, NFKC))), '\s+'::text, ' '::text, 'g'::text));

ALTER FUNCTION memsvc.normal_form(p_name text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.normal_form(p_name text) IS 'A name without case, accents, width and surplus spaces.';

CREATE FUNCTION memsvc.best_names(p_user_id uuid, p_wanted text, p_tier integer, p_forms text[], p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) RETURNS TABLE(place integer, canonical_id uuid, form text, node_id uuid, name text)
    LANGUAGE sql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    BEGIN ATOMIC
 WITH called AS MATERIALIZED (
          SELECT s.canonical_id,
             s.node_id,
             s.label AS name,
             memsvc.normal_form(s.label) AS form
            FROM memsvc.node_states(best_names.p_user_id, best_names.p_nodes, best_names.p_as_of, best_names.p_known_at) s(canonical_id, node_id, version_id, type, label, description, data, importance, asserted_by, valid_from, valid_to, recorded_from, recorded_to)
         UNION ALL
          SELECT a.canonical_id,
             a.node_id,
             a.alias,
             a.normal_form
            FROM memsvc.node_names(best_names.p_user_id, best_names.p_nodes, best_names.p_as_of, best_names.p_known_at) a(canonical_id, node_id, alias_id, alias, normal_form, confidence, asserted_by, valid_from, valid_to, recorded_from, recorded_to)
           WHERE (best_names.p_wanted <> ''::text)
         ), best AS MATERIALIZED (
          SELECT DISTINCT ON (c.canonical_id) c.canonical_id,
             c.node_id,
             c.name,
             c.form,
             memsvc.name_tier(c.form, best_names.p_wanted) AS tier
            FROM called c
           WHERE (memsvc.name_tier(c.form, best_names.p_wanted) IS NOT NULL)
           ORDER BY c.canonical_id, (memsvc.name_tier(c.form, best_names.p_wanted)), (c.form COLLATE "C"), c.node_id
         )
  SELECT (g.place)::integer AS place,
     b.canonical_id,
     g.form,
     g.node_id,
     b.name
    FROM (UNNEST(best_names.p_forms, best_names.p_nodes) WITH ORDINALITY g(form, node_id, place)
      JOIN best b ON (((b.node_id = g.node_id) AND (b.form = g.form) AND (b.tier = best_names.p_tier))));
END;

ALTER FUNCTION memsvc.best_names(p_user_id uuid, p_wanted text, p_tier integer, p_forms text[], p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.best_names(p_user_id uuid, p_wanted text, p_tier integer, p_forms text[], p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) IS 'Of some names those that are the best of all that their node is called.';

CREATE FUNCTION memsvc.lines_lost(p_user_id uuid, p_passages uuid[]) RETURNS TABLE(version_id uuid, place smallint)
    LANGUAGE sql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    BEGIN ATOMIC
 WITH touched AS MATERIALIZED (
          SELECT DISTINCT e_1.version_id
            FROM memsvc.profile_evidence e_1
           WHERE ((e_1.user_id = lines_lost.p_user_id) AND (e_1.passage_id = ANY (lines_lost.p_passages)))
         )
  SELECT e.version_id,
     l.place
    FROM ((touched t
      JOIN memsvc.profile_evidence e ON (((e.user_id = lines_lost.p_user_id) AND (e.version_id = t.version_id))))
      CROSS JOIN LATERAL unnest(e.lines) l(place))
   GROUP BY e.version_id, l.place
  HAVING bool_and((e.passage_id IN ( SELECT unnest(lines_lost.p_passages) AS unnest)));
END;

ALTER FUNCTION memsvc.lines_lost(p_user_id uuid, p_passages uuid[]) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.lines_lost(p_user_id uuid, p_passages uuid[]) IS 'Lines of blocks that rest on these passages and on no others.';

CREATE TABLE memsvc.profile_versions (
    user_id uuid NOT NULL,
    version_id uuid DEFAULT uuidv7() NOT NULL,
    block_id uuid DEFAULT uuidv7() NOT NULL,
    version integer NOT NULL,
    name text NOT NULL,
    kind text NOT NULL,
    text text NOT NULL,
    tokens integer NOT NULL,
    token_limit integer NOT NULL,
    node_id uuid,
    source_id uuid,
    expires_at timestamp with time zone,
    asserted_by text NOT NULL,
    recorded_from timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    recorded_to timestamp with time zone DEFAULT 'infinity'::timestamp with time zone NOT NULL,
    CONSTRAINT profile_versions_asserted_by_check CHECK (((asserted_by <> ''::text) AND (length(asserted_by) <= 200))),
    CONSTRAINT profile_versions_fit CHECK ((tokens <= token_limit)),
    CONSTRAINT profile_versions_kind_check CHECK ((kind = ANY (ARRAY['core'::text, 'working'::text, 'archival'::text]))),
    CONSTRAINT profile_versions_name_check CHECK ((name ~ '^[a-z][a-z0-9_-]{0,59}$'::text)),
    CONSTRAINT profile_versions_recorded CHECK ((recorded_from <= recorded_to)),
    CONSTRAINT profile_versions_text_check CHECK ((length(text) <= 8000)),
    CONSTRAINT profile_versions_token_limit_check CHECK (((token_limit >= 1) AND (token_limit <= 2000))),
    CONSTRAINT profile_versions_tokens_check CHECK ((tokens >= 0)),
    CONSTRAINT profile_versions_version_check CHECK ((version > 0)),
    CONSTRAINT profile_versions_working CHECK ((((kind = 'working'::text) = (source_id IS NOT NULL)) AND ((kind = 'working'::text) = (expires_at IS NOT NULL)) AND (num_nonnulls(node_id, source_id) < 2)))
);
ALTER TABLE ONLY memsvc.profile_versions ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE ONLY memsvc.profile_versions ALTER COLUMN text SET STATISTICS 0;

ALTER TABLE ONLY memsvc.profile_versions FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.profile_versions OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.profile_versions IS 'What a block of the profile said, version by version: the user''s, about a node, or of a conversation.';

COMMENT ON COLUMN memsvc.profile_versions.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.profile_versions.version_id IS 'Time-ordered id of this version.';

COMMENT ON COLUMN memsvc.profile_versions.block_id IS 'The block, whatever it says and wherever it stands.';

COMMENT ON COLUMN memsvc.profile_versions.version IS 'Counts the versions of the block; who changes it can name the one that was read.';

COMMENT ON COLUMN memsvc.profile_versions.name IS 'What it is called; fixed_traits, preferences and current_state are the sections of the profile.';

COMMENT ON COLUMN memsvc.profile_versions.kind IS 'core: in every context; working: in those of one conversation, for a while; archival: in none, kept to be read.';

COMMENT ON COLUMN memsvc.profile_versions.text IS 'What it says, in lines.';

COMMENT ON COLUMN memsvc.profile_versions.tokens IS 'How long it was when it was written, as memsvc estimates.';

COMMENT ON COLUMN memsvc.profile_versions.token_limit IS 'How long it may be.';

COMMENT ON COLUMN memsvc.profile_versions.node_id IS 'The person, project or other node that it describes; null: none.';

COMMENT ON COLUMN memsvc.profile_versions.source_id IS 'Of working memory: the conversation.';

COMMENT ON COLUMN memsvc.profile_versions.expires_at IS 'Of working memory: from then on it is not read any more.';

COMMENT ON COLUMN memsvc.profile_versions.asserted_by IS 'Who wrote it: user, app, or the name of a program.';

COMMENT ON COLUMN memsvc.profile_versions.recorded_from IS 'Since when it says this.';

COMMENT ON COLUMN memsvc.profile_versions.recorded_to IS 'Until when it did; infinity: it does.';

CREATE FUNCTION memsvc.blocks_emptied(p_user_id uuid, p_passages uuid[], p_nodes uuid[], p_source_id uuid) RETURNS SETOF uuid
    LANGUAGE sql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    BEGIN ATOMIC
 WITH lost AS MATERIALIZED (
          SELECT l.version_id,
             (l.place)::bigint AS place
            FROM memsvc.lines_lost(blocks_emptied.p_user_id, blocks_emptied.p_passages) l(version_id, place)
         )
  SELECT b.source_id
    FROM ( SELECT DISTINCT p.source_id
            FROM memsvc.passages p
           WHERE ((p.user_id = blocks_emptied.p_user_id) AND (p.passage_id = ANY (blocks_emptied.p_passages)) AND (p.kind = ANY (ARRAY['block'::text, 'former'::text])))) b
   WHERE ((b.source_id IS DISTINCT FROM blocks_emptied.p_source_id) AND (NOT (EXISTS ( SELECT
            FROM (memsvc.profile_versions v
              CROSS JOIN LATERAL string_to_table(v.text, '
'::text) WITH ORDINALITY t(line, place))
           WHERE ((v.user_id = blocks_emptied.p_user_id) AND (v.block_id = b.source_id) AND ((v.node_id = ANY (blocks_emptied.p_nodes)) IS NOT TRUE) AND ((v.source_id = blocks_emptied.p_source_id) IS NOT TRUE) AND (btrim(t.line) <> ''::text) AND (NOT ((v.version_id, t.place) IN ( SELECT l.version_id,
                     l.place
                    FROM lost l))))))));
END;

ALTER FUNCTION memsvc.blocks_emptied(p_user_id uuid, p_passages uuid[], p_nodes uuid[], p_source_id uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.blocks_emptied(p_user_id uuid, p_passages uuid[], p_nodes uuid[], p_source_id uuid) IS 'Blocks in the archive of which nothing is left after an erasure.';

CREATE FUNCTION memsvc.build_model(p_name text, p_dimensions integer) RETURNS TABLE(model_id smallint, state text, jobs bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'memsvc', 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
DECLARE
  known embedding_models%ROWTYPE;
  begun CONSTANT text := CASE WHEN EXISTS (
    SELECT FROM embedding_models AS m WHERE m.state = 'active'
  ) THEN 'building' ELSE 'active' END;
  in_the_way text;
BEGIN
  PERFORM memsvc.change_models();
  SELECT * INTO known FROM embedding_models AS m WHERE m.name = p_name;
  IF known.state IS NULL OR known.state = 'retired' THEN
    SELECT m.name INTO in_the_way FROM embedding_models AS m WHERE m.state = 'building';
    IF FOUND THEN
      RAISE EXCEPTION 'The model % is being built already.', in_the_way
        USING ERRCODE = 'MS001',
          HINT = 'One at a time: switch to it, or give it up with ''memsvc models retire''.';
    ELSIF EXISTS (SELECT FROM embeddings AS e WHERE e.model_id = known.model_id) THEN
      RAISE EXCEPTION 'Old vectors of the model % are still there.', p_name
        USING ERRCODE = 'MS001',
          HINT = 'Let ''memsvc models retire'' come to its end first.';
    END IF;
    IF known.model_id IS NOT NULL THEN
      EXECUTE format('DROP INDEX IF EXISTS memsvc.embeddings_near_%s', known.model_id);
      DELETE FROM embedding_models AS m WHERE m.model_id = known.model_id;
    END IF;
    INSERT INTO embedding_models AS m (name, dimensions, state) VALUES (p_name, p_dimensions, begun)
    RETURNING * INTO known;
    PERFORM memsvc.make_model_index(known.model_id, p_dimensions);
    PERFORM memsvc.audit('model.build', NULL, NULL, p_name);
  ELSIF known.dimensions <> p_dimensions THEN
    RAISE EXCEPTION 'model % has vectors of length %, not %', p_name, known.dimensions, p_dimensions
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN QUERY SELECT known.model_id, known.state,
    CASE WHEN known.paused THEN 0 ELSE memsvc.ask_vectors(known.model_id) END;
END
$$;

ALTER FUNCTION memsvc.build_model(p_name text, p_dimensions integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.build_model(p_name text, p_dimensions integer) IS 'Begins, or goes on, to give messages a model''s vectors.';

CREATE FUNCTION memsvc.bury(p_user_id uuid, p_kind text, p_subject_id uuid) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
  INSERT INTO tombstones AS t (user_id, digest, recorded_at)
  SELECT p_user_id, d.digest, clock_timestamp()
  FROM ( -- each once: parts of a message have one identity
    SELECT memsvc.message_digest(s.identifier, p.session, p.ordinal, p.client_id) AS digest
    FROM passages AS p INNER JOIN sources AS s ON s.user_id = p_user_id AND s.source_id = p.source_id
    WHERE p.user_id = p_user_id AND p_kind IN ('message', 'passage') AND p.passage_id = p_subject_id
    UNION
    SELECT memsvc.message_digest(s.identifier, p.session, p.ordinal, p.client_id)
    FROM passages AS p INNER JOIN sources AS s ON s.user_id = p_user_id AND s.source_id = p.source_id
    WHERE p.user_id = p_user_id AND p_kind = 'source' AND p.source_id = p_subject_id
    UNION
    SELECT memsvc.tombstone_digest(jsonb_build_array('edge', e.from_node, e.type, e.to_node, e.key))
    FROM edges AS e
    WHERE e.user_id = p_user_id AND p_kind = 'fact' AND e.edge_id = p_subject_id
    UNION
    SELECT memsvc.tombstone_digest(jsonb_build_array('name', n.form))
    FROM (
      SELECT a.normal_form AS form FROM aliases AS a WHERE a.user_id = p_user_id AND a.node_id = p_subject_id
      UNION
      SELECT memsvc.normal_form(v.label) FROM node_versions AS v
      WHERE v.user_id = p_user_id AND v.node_id = p_subject_id
    ) AS n
    WHERE p_kind = 'node'
  ) AS d
  ON CONFLICT (user_id, digest) DO UPDATE SET recorded_at = excluded.recorded_at;
END
$$;

ALTER FUNCTION memsvc.bury(p_user_id uuid, p_kind text, p_subject_id uuid) OWNER TO memsvc_eraser;

COMMENT ON FUNCTION memsvc.bury(p_user_id uuid, p_kind text, p_subject_id uuid) IS 'Leaves tombstones of what is about to go.';

CREATE FUNCTION memsvc.busiest_weeks(p_user_id uuid, p_least integer) RETURNS TABLE(node_id uuid, week date, said bigint, weeks bigint, best_other bigint, said_other bigint, week_total bigint, other_total bigint)
    LANGUAGE plpgsql STABLE ROWS 100
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_nestloop TO 'off'
    AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH spoken AS MATERIALIZED (
    SELECT m.node_id, m.passage_id, date_trunc('week', m.day::timestamp)::date AS week
    FROM memsvc.mentions(p_user_id) AS m
  ),
  weekly AS MATERIALIZED (SELECT s.node_id, s.week, count(*) AS said FROM spoken AS s GROUP BY s.node_id, s.week),
  total AS MATERIALIZED (SELECT s.week, count(DISTINCT s.passage_id) AS said FROM spoken AS s GROUP BY s.week),
  best AS MATERIALIZED (
    SELECT DISTINCT ON (w.node_id) w.node_id, w.week, w.said FROM weekly AS w
    ORDER BY w.node_id, w.said DESC, w.week
  ),
  other AS (
    SELECT b.node_id, count(*) AS weeks, max(w.said) AS best, sum(w.said) AS said
    FROM best AS b INNER JOIN weekly AS w ON w.node_id = b.node_id
    WHERE b.said >= p_least AND abs(w.week - b.week) > 7
    GROUP BY b.node_id
  )
  SELECT b.node_id, b.week, b.said, o.weeks, o.best, o.said::bigint, t.said, (
      SELECT sum(u.said) FROM total AS u WHERE abs(u.week - b.week) > 7
    )::bigint
  FROM best AS b
  INNER JOIN other AS o ON o.node_id = b.node_id
  INNER JOIN total AS t ON t.week = b.week
  ORDER BY b.node_id;
END
$$;

ALTER FUNCTION memsvc.busiest_weeks(p_user_id uuid, p_least integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.busiest_weeks(p_user_id uuid, p_least integer) IS 'The week in which most was said of each node.';

CREATE FUNCTION memsvc.busy_days(p_user_id uuid, p_least integer, p_distance double precision) RETURNS TABLE(day date, messages bigint, usual double precision, distance double precision, around bigint[])
    LANGUAGE plpgsql STABLE ROWS 100
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
#variable_conflict use_column
DECLARE
  least_days CONSTANT integer := 10;
BEGIN
  RETURN QUERY
  WITH active AS MATERIALIZED (
    SELECT a.day, a.messages, sqrt(a.messages + 0.375) AS root FROM memsvc.daily_activity AS a
    WHERE a.user_id = p_user_id AND a.messages > 0
  )
  SELECT a.day, a.messages, greatest(power(o.middle, 2) - 0.375, 0), (a.root - o.middle) / o.spread, ARRAY(
      SELECT coalesce(b.messages, 0)
      FROM generate_series(-7, 7) AS d (away) LEFT JOIN active AS b ON b.day = a.day + d.away
      ORDER BY d.away
    )
  FROM active AS a
  CROSS JOIN LATERAL (
    SELECT count(*) AS days, percentile_cont(0.5) WITHIN GROUP (ORDER BY b.root) AS middle, greatest(
        0.5, (percentile_cont(0.9) WITHIN GROUP (ORDER BY b.root) - percentile_cont(0.5) WITHIN GROUP (ORDER BY b.root))
        / 1.2816 -- by which a normal distribution's ninth decile lies above its middle
      ) AS spread
    FROM active AS b WHERE b.day BETWEEN a.day - 42 AND a.day + 42 AND b.day <> a.day
  ) AS o
  WHERE a.messages >= p_least AND o.days >= least_days AND a.root > o.middle + p_distance * o.spread
  ORDER BY a.day;
END
$$;

ALTER FUNCTION memsvc.busy_days(p_user_id uuid, p_least integer, p_distance double precision) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.busy_days(p_user_id uuid, p_least integer, p_distance double precision) IS 'Days of many more messages than were usual around them.';

CREATE FUNCTION memsvc.change_models() RETURNS void
    LANGUAGE sql
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 SELECT pg_advisory_xact_lock(hashtextextended('memsvc.models'::text, (0)::bigint)) AS pg_advisory_xact_lock;
END;

ALTER FUNCTION memsvc.change_models() OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.change_models() IS 'Lets nobody else change models, or store vectors, in this transaction.';

CREATE FUNCTION memsvc.change_shown(p_user_id uuid, p_change_id uuid, p_most integer) RETURNS TABLE(nodes json, edges json, gone_nodes uuid[], gone_edges uuid[], complete boolean)
    LANGUAGE plpgsql STABLE ROWS 1
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_sort TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  moment CONSTANT timestamptz := clock_timestamp();
  at timestamptz;
  touched_nodes uuid[];
  touched_edges uuid[];
  moved uuid[];
  facts uuid[];
  shown uuid[];
BEGIN
  SELECT c.recorded_at INTO at FROM changes AS c WHERE c.user_id = p_user_id AND c.change_id = p_change_id;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  SELECT coalesce(array_agg(DISTINCT t.subject) FILTER (WHERE t.kind <> 'edge'), '{}'),
    coalesce(array_agg(DISTINCT t.subject) FILTER (WHERE t.kind = 'edge'), '{}'),
    coalesce(array_agg(DISTINCT t.subject) FILTER (WHERE t.kind = 'merge'), '{}'), count(*) <= p_most
  INTO touched_nodes, touched_edges, moved, complete
  FROM (
    SELECT v.kind, v.subject FROM memsvc.versions_touched(p_user_id, at - interval '1 microsecond', at) AS v
    LIMIT p_most + 1
  ) AS t;
  IF complete THEN
    SELECT coalesce(array_agg(v.version_id ORDER BY v.version_id), '{}'), count(*) <= p_most INTO facts, complete
    FROM (
      (SELECT o.version_id FROM edge_versions AS o
      WHERE o.user_id = p_user_id AND o.edge_id = ANY (touched_edges) AND o.recorded_to = 'infinity'
        AND o.valid_from <= moment AND o.valid_to > moment
      ORDER BY o.edge_id)
      UNION
      SELECT o.version_id
      FROM memsvc.edges_known(p_user_id, ARRAY(
        SELECT s.node_id FROM memsvc.same_nodes(p_user_id, moved) AS s WHERE moved <> '{}'
      ), 'both', NULL) AS o
      WHERE moved <> '{}' AND o.valid_from <= moment AND o.valid_to > moment
      LIMIT p_most + 1
    ) AS v;
  END IF;
  IF NOT complete THEN
    RETURN QUERY SELECT '[]'::json, '[]'::json, '{}'::uuid[], '{}'::uuid[], false;
    RETURN;
  END IF;
  shown := memsvc.standing_for(p_user_id, touched_nodes || ARRAY(
    SELECT n.node_id
    FROM (
      SELECT o.from_node, o.to_node FROM edge_versions AS o
      WHERE o.user_id = p_user_id AND o.version_id = ANY (facts) ORDER BY o.version_id OFFSET 0
    ) AS v
    CROSS JOIN LATERAL (VALUES (v.from_node), (v.to_node)) AS n (node_id)
  ));
  RETURN QUERY
  SELECT g.nodes, g.edges, ARRAY(
    SELECT n.node_id FROM unnest(touched_nodes) AS n (node_id) WHERE n.node_id <> ALL (shown)
  ), ARRAY(
    SELECT n.edge_id FROM unnest(touched_edges) AS n (edge_id)
    WHERE NOT EXISTS (
      SELECT FROM edge_versions AS o
      WHERE o.user_id = p_user_id AND o.edge_id = n.edge_id AND o.recorded_to = 'infinity'
        AND o.valid_from <= moment AND o.valid_to > moment
      ORDER BY o.edge_id OFFSET 0
    )
  ), true
  FROM memsvc.graph_shown(
    p_user_id, shown, array_fill(0, ARRAY[cardinality(shown)]), facts, moment, NULL
  ) AS g;
END
$$;

ALTER FUNCTION memsvc.change_shown(p_user_id uuid, p_change_id uuid, p_most integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.change_shown(p_user_id uuid, p_change_id uuid, p_most integer) IS 'What a change of the graph means to somebody who draws it.';

CREATE FUNCTION memsvc.check_added_types() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    AS $_$
DECLARE
  wrong text;
BEGIN
  EXECUTE format(
    'SELECT t.name FROM added AS a INNER JOIN memsvc.%I AS t ON lower(t.name) = lower(a.name) '
    'WHERE t.user_id = $1 AND a.user_id <> $1 LIMIT 1', TG_TABLE_NAME
  ) INTO wrong USING memsvc.core_user_id();
  IF wrong IS NOT NULL THEN
    PERFORM memsvc.refuse_change('already_exists', NULL, format('The core ontology has the type %s.', wrong));
  END IF;
  EXECUTE format(
    'DELETE FROM memsvc.%I AS t USING added AS a WHERE a.user_id = $1 AND t.user_id <> $1 AND t.name = a.name',
    TG_TABLE_NAME
  ) USING memsvc.core_user_id();
  RETURN NULL;
END
$_$;

ALTER FUNCTION memsvc.check_added_types() OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.check_added_types() IS 'Trigger: no user has a type that the core has.';

CREATE FUNCTION memsvc.check_closes(p_user_id uuid, p_steps jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
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

ALTER FUNCTION memsvc.check_closes(p_user_id uuid, p_steps jsonb) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.check_closes(p_user_id uuid, p_steps jsonb) IS 'Refuses the end of something that had not begun.';

CREATE FUNCTION memsvc.check_endpoints(p_user_id uuid, p_operations jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  wrong record;
BEGIN
  WITH asserted AS MATERIALIZED (
    SELECT o.position, o.type, n.node_id, n.allowed, n.place
    FROM jsonb_to_recordset(p_operations) AS o (position integer, op text, from_node uuid, type text, to_node uuid)
    INNER JOIN edge_types AS t ON t.user_id IN (memsvc.core_user_id(), p_user_id) AND t.name = o.type
    CROSS JOIN LATERAL (
      VALUES (o.from_node, t.from_types, 'start'), (o.to_node, t.to_types, 'end')
    ) AS n (node_id, allowed, place)
    WHERE o.op = 'edge' AND n.allowed <> '{}'
  )
  SELECT a.position, format(
    '%s cannot %s at a node %s.', a.type, a.place, coalesce('of type ' || n.type, 'without a type')
  ) AS message INTO wrong
  FROM asserted AS a
  INNER JOIN memsvc.types_now(p_user_id, ARRAY(SELECT DISTINCT d.node_id FROM asserted AS d)) AS n
    ON n.node_id = a.node_id
  WHERE coalesce(n.type <> ALL (a.allowed), true)
    AND NOT EXISTS (SELECT FROM node_types AS t -- a type of the user that refines one which is allowed
      WHERE t.user_id = p_user_id AND t.name = n.type AND t.parent = ANY (a.allowed))
  ORDER BY a.position LIMIT 1;
  IF FOUND THEN
    PERFORM memsvc.refuse_change('endpoint_forbidden', wrong.position, wrong.message);
  END IF;
END
$$;

ALTER FUNCTION memsvc.check_endpoints(p_user_id uuid, p_operations jsonb) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.check_endpoints(p_user_id uuid, p_operations jsonb) IS 'Refuses edges between types that the ontology forbids.';

CREATE FUNCTION memsvc.check_operations(p_user_id uuid, p_operations jsonb) RETURNS TABLE(code text, nth integer, message text)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
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
    SELECT 'invalid_request', format('What version %s describes has no %s.', o.version_id, f.name)
    FROM memsvc.version_of(p_user_id, o.version_id) AS k CROSS JOIN jsonb_object_keys(o.content) AS f (name)
    WHERE o.op = 'correct' AND NOT k.content ? f.name
    UNION ALL
    SELECT CASE k.status WHEN 'proposed' THEN 'type_proposed' WHEN 'deprecated' THEN 'type_deprecated'
        ELSE 'type_unknown' END,
      format(CASE k.status WHEN 'proposed' THEN 'The %s type %s is a proposal that waits for approval.'
        WHEN 'deprecated' THEN 'The %s type %s is deprecated: nothing new gets it.'
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
      WHERE k.user_id = p_user_id AND k.passage_id = e.passage_id OFFSET 0
    ) AS p ON true
    WHERE p.passage_id IS NULL OR (e.span_from IS NULL) <> (e.span_to IS NULL) OR e.span_from < 0
      OR e.span_to <= e.span_from OR e.span_to > p.length
  ) AS w (code, message)
  ORDER BY o.position
  LIMIT 1;
END
$$;

ALTER FUNCTION memsvc.check_operations(p_user_id uuid, p_operations jsonb) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.check_operations(p_user_id uuid, p_operations jsonb) IS 'The first thing that is wrong with a batch of changes.';

CREATE FUNCTION memsvc.check_written_edge_types() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  wrong text;
BEGIN
  SELECT w.type INTO wrong FROM (SELECT DISTINCT n.user_id, n.type FROM written AS n) AS w
  WHERE NOT EXISTS (
    SELECT FROM edge_types AS t
    WHERE t.user_id IN (memsvc.core_user_id(), w.user_id) AND t.name = w.type
      AND t.status IN ('core', 'approved', 'deprecated')
  );
  IF FOUND THEN
    RAISE EXCEPTION 'the ontology has no edge type %', wrong USING ERRCODE = 'foreign_key_violation';
  END IF;
  RETURN NULL;
END
$$;

ALTER FUNCTION memsvc.check_written_edge_types() OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.check_written_edge_types() IS 'Trigger: types of edges are in the ontology of their user.';

CREATE FUNCTION memsvc.check_written_node_types() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  wrong text;
BEGIN
  SELECT w.type INTO wrong FROM (SELECT DISTINCT n.user_id, n.type FROM written AS n) AS w
  WHERE NOT EXISTS (
    SELECT FROM node_types AS t
    WHERE t.user_id IN (memsvc.core_user_id(), w.user_id) AND t.name = w.type
      AND t.status IN ('core', 'approved', 'deprecated')
  );
  IF FOUND THEN
    RAISE EXCEPTION 'the ontology has no node type %', wrong USING ERRCODE = 'foreign_key_violation';
  END IF;
  RETURN NULL;
END
$$;

ALTER FUNCTION memsvc.check_written_node_types() OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.check_written_node_types() IS 'Trigger: types of nodes are in the ontology of their user.';

CREATE FUNCTION memsvc.due_messages(p_queue text, p_after uuid, p_limit integer) RETURNS TABLE(message_id uuid)
    LANGUAGE sql ROWS 100
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 WITH RECURSIVE turn AS (
         ( SELECT q.user_id,
             1 AS place
            FROM memsvc.dramatiq_queue q
           WHERE ((q.queue_name = due_messages.p_queue) AND (q.state = 'queued'::text) AND (q.available_at <= now()) AND (q.user_id > due_messages.p_after))
           ORDER BY q.user_id
          LIMIT 1)
         UNION ALL
          SELECT n.user_id,
             (t_1.place + 1)
            FROM (turn t_1
              CROSS JOIN LATERAL ( SELECT q.user_id
                    FROM memsvc.dramatiq_queue q
                   WHERE ((q.queue_name = due_messages.p_queue) AND (q.state = 'queued'::text) AND (q.available_at <= now()) AND (q.user_id > t_1.user_id))
                   ORDER BY q.user_id
                  LIMIT 1) n)
           WHERE (t_1.place < due_messages.p_limit)
         )
  SELECT c.message_id
    FROM (turn t
      CROSS JOIN LATERAL ( SELECT q.message_id
            FROM memsvc.dramatiq_queue q
           WHERE ((q.queue_name = due_messages.p_queue) AND (q.state = 'queued'::text) AND (q.available_at <= now()) AND (q.user_id = t.user_id))
           ORDER BY q.available_at, q."position"
          LIMIT (ceil(((due_messages.p_limit)::numeric / (( SELECT count(*) AS count
                    FROM turn))::numeric)))::integer
          FOR UPDATE OF q SKIP LOCKED) c)
  LIMIT due_messages.p_limit;
END;

ALTER FUNCTION memsvc.due_messages(p_queue text, p_after uuid, p_limit integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.due_messages(p_queue text, p_after uuid, p_limit integer) IS 'Due messages of a queue, locked for the caller; users take turns.';

CREATE FUNCTION memsvc.claim_messages(p_queue text, p_worker_id uuid, p_after uuid, p_limit integer) RETURNS TABLE(message_id uuid, user_id uuid, message text)
    LANGUAGE sql
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 UPDATE memsvc.dramatiq_queue q SET state = 'consumed'::text, worker_id = claim_messages.p_worker_id, consumed_at = clock_timestamp(), mtime = clock_timestamp(), deliveries = (q.deliveries + 1)
   WHERE (q.message_id = ANY (ARRAY( SELECT d.message_id
            FROM memsvc.due_messages(claim_messages.p_queue, claim_messages.p_after, claim_messages.p_limit) d(message_id))))
   RETURNING q.message_id,
     q.user_id,
     (q.message)::text AS message;
END;

ALTER FUNCTION memsvc.claim_messages(p_queue text, p_worker_id uuid, p_after uuid, p_limit integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.claim_messages(p_queue text, p_worker_id uuid, p_after uuid, p_limit integer) IS 'Hands messages of a queue to a worker; users take turns.';

CREATE FUNCTION memsvc.clock_reaches(p_zone text, p_local timestamp without time zone) RETURNS timestamp with time zone
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    AS $$
DECLARE
  reached timestamptz := p_local AT TIME ZONE p_zone;
  too_early timestamptz := reached - interval '1 day';
  excess interval := (reached AT TIME ZONE p_zone) - p_local;
  middle timestamptz;
BEGIN
  IF excess = interval '0' THEN
    -- With the offset of the day before, which is that of the first of two.
    middle := too_early + (p_local - (too_early AT TIME ZONE p_zone));
    RETURN CASE WHEN middle < reached AND middle AT TIME ZONE p_zone = p_local THEN middle ELSE reached END;
  END IF;
  -- Clocks are turned at a whole second: halve the span that holds it.
  too_early := reached - excess;
  WHILE reached - too_early > interval '1 second' LOOP
    middle := too_early + (reached - too_early) / 2;
    IF middle AT TIME ZONE p_zone < p_local THEN
      too_early := middle;
    ELSE
      reached := middle;
    END IF;
  END LOOP;
  reached := date_trunc('second', reached);
  IF ((reached - interval '1 microsecond') AT TIME ZONE p_zone)::date < p_local::date
    AND (reached AT TIME ZONE p_zone)::date > p_local::date
  THEN
    RETURN NULL;
  END IF;
  RETURN reached;
END
$$;

ALTER FUNCTION memsvc.clock_reaches(p_zone text, p_local timestamp without time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.clock_reaches(p_zone text, p_local timestamp without time zone) IS 'The first moment at which a zone''s clock has reached a time; null: its date never comes.';

CREATE FUNCTION memsvc.compare_projection(p_user_id uuid) RETURNS TABLE(kind text, stored bigint, missing bigint, surplus bigint, different bigint)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
BEGIN
  RETURN QUERY
  WITH wanted AS (
    SELECT w.kind, w.subject, w.place, ag_catalog.agtype_in(textout(w.properties)) AS properties
    FROM memsvc.projection_wanted(p_user_id) AS w
  ),
  vertex AS (
    SELECT v.*, c.relname AS label, c.relname IN ('Passage', 'Conversation') AS of_messages
    FROM memory._ag_label_vertex AS v INNER JOIN pg_class AS c ON c.oid = v.tableoid
    WHERE v.user_id = p_user_id
  ),
  edge AS (
    SELECT e.*, c.relname AS label,
      ag_catalog._extract_label_id(e.start_id) = ag_catalog._label_id('memory', 'Passage') AS of_messages
    FROM memory._ag_label_edge AS e INNER JOIN pg_class AS c ON c.oid = e.tableoid
    WHERE e.user_id = p_user_id
  ),
  found AS (
    SELECT CASE WHEN v.of_messages THEN 'passage' ELSE 'node' END AS kind, v.node_id::text AS subject,
      concat_ws(' ', v.label, CASE WHEN NOT v.of_messages THEN v.id END) AS place, v.properties
    FROM vertex AS v
    UNION ALL
    SELECT CASE WHEN e.of_messages THEN 'order' ELSE 'edge' END,
      concat_ws(' ', CASE WHEN e.of_messages THEN e.label END, e.version_id),
      concat_ws(' ', e.label, ag_catalog._extract_label_id(e.id), e.start_id, e.end_id), e.properties
    FROM edge AS e
  )
  SELECT k.kind, count(f.subject), count(*) FILTER (WHERE f.subject IS NULL AND w.subject IS NOT NULL),
    count(*) FILTER (WHERE w.subject IS NULL AND f.subject IS NOT NULL),
    count(*) FILTER (
      WHERE w.place <> f.place OR w.properties OPERATOR(ag_catalog.<>) f.properties
    )
  FROM (VALUES (1, 'node'), (2, 'edge'), (3, 'passage'), (4, 'order')) AS k (place, kind)
  LEFT JOIN (wanted AS w FULL JOIN found AS f ON f.kind = w.kind AND f.subject = w.subject)
    ON coalesce(w.kind, f.kind) = k.kind
  GROUP BY k.place, k.kind
  ORDER BY k.place;
END
$$;

ALTER FUNCTION memsvc.compare_projection(p_user_id uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.compare_projection(p_user_id uuid) IS 'What is wrong with the projection of a user.';

CREATE FUNCTION memsvc.content_of(p_version memsvc.aliases) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN jsonb_build_object('alias', (p_version).alias, 'confidence', (p_version).confidence);

ALTER FUNCTION memsvc.content_of(p_version memsvc.aliases) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.content_of(p_version memsvc.aliases) IS 'What an alias says.';

CREATE TABLE memsvc.edge_versions (
    user_id uuid NOT NULL,
    version_id uuid DEFAULT uuidv7() NOT NULL,
    edge_id uuid NOT NULL,
    from_node uuid NOT NULL,
    type text NOT NULL,
    to_node uuid NOT NULL,
    functional boolean NOT NULL,
    fact text NOT NULL,
    data jsonb DEFAULT '{}'::jsonb NOT NULL,
    weight real DEFAULT 1 NOT NULL,
    confidence real DEFAULT 1 NOT NULL,
    asserted_by text NOT NULL,
    derived_from uuid,
    valid_from timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    valid_to timestamp with time zone DEFAULT 'infinity'::timestamp with time zone NOT NULL,
    recorded_from timestamp with time zone NOT NULL,
    recorded_to timestamp with time zone DEFAULT 'infinity'::timestamp with time zone NOT NULL,
    tsv tsvector DEFAULT ''::tsvector NOT NULL,
    length integer DEFAULT 0 NOT NULL,
    CONSTRAINT edge_versions_asserted_by_check CHECK ((asserted_by <> ''::text)),
    CONSTRAINT edge_versions_check CHECK ((valid_to > valid_from)),
    CONSTRAINT edge_versions_check1 CHECK ((recorded_to >= recorded_from)),
    CONSTRAINT edge_versions_confidence_check CHECK (((confidence > (0)::double precision) AND (confidence <= (1)::double precision))),
    CONSTRAINT edge_versions_data_check CHECK ((jsonb_typeof(data) = 'object'::text)),
    CONSTRAINT edge_versions_fact_check CHECK ((btrim(fact) <> ''::text)),
    CONSTRAINT edge_versions_length_check CHECK ((length >= 0)),
    CONSTRAINT edge_versions_weight_check CHECK (((weight >= (0)::double precision) AND (weight < 'Infinity'::real)))
)
WITH (autovacuum_vacuum_scale_factor='0.05');
ALTER TABLE ONLY memsvc.edge_versions ALTER COLUMN fact SET STATISTICS 0;
ALTER TABLE ONLY memsvc.edge_versions ALTER COLUMN data SET STATISTICS 0;
ALTER TABLE ONLY memsvc.edge_versions ALTER COLUMN asserted_by SET STATISTICS 0;
ALTER TABLE ONLY memsvc.edge_versions ALTER COLUMN tsv SET STATISTICS 0;

ALTER TABLE ONLY memsvc.edge_versions FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.edge_versions OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.edge_versions IS 'What was known about a relation: append-only, the only update closes recorded_to. Valid time is the world''s, recorded time is ours.';

COMMENT ON COLUMN memsvc.edge_versions.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.edge_versions.version_id IS 'Time-ordered id of this version.';

COMMENT ON COLUMN memsvc.edge_versions.edge_id IS 'The relation described.';

COMMENT ON COLUMN memsvc.edge_versions.from_node IS 'The relation''s start, as in edges.';

COMMENT ON COLUMN memsvc.edge_versions.type IS 'The relation''s type, as in edges.';

COMMENT ON COLUMN memsvc.edge_versions.to_node IS 'The relation''s end, as in edges.';

COMMENT ON COLUMN memsvc.edge_versions.functional IS 'Whether the type allowed one value at a time when this was written: two such of one start never overlap.';

COMMENT ON COLUMN memsvc.edge_versions.fact IS 'The fact as a sentence.';

COMMENT ON COLUMN memsvc.edge_versions.data IS 'Further properties.';

COMMENT ON COLUMN memsvc.edge_versions.weight IS 'How strong the relation is; 1 where nobody says.';

COMMENT ON COLUMN memsvc.edge_versions.confidence IS 'Above 0, at most 1.';

COMMENT ON COLUMN memsvc.edge_versions.asserted_by IS 'Who says so: user, app, or the name of an extractor.';

COMMENT ON COLUMN memsvc.edge_versions.derived_from IS 'The version that this one is a remainder or a restoration of; its evidence was copied.';

COMMENT ON COLUMN memsvc.edge_versions.valid_from IS 'From when it was true; -infinity: as far as known, always.';

COMMENT ON COLUMN memsvc.edge_versions.valid_to IS 'Until when it was true; infinity: it still is.';

COMMENT ON COLUMN memsvc.edge_versions.recorded_from IS 'When memsvc learnt it.';

COMMENT ON COLUMN memsvc.edge_versions.recorded_to IS 'When memsvc learnt better; infinity: it has not.';

COMMENT ON COLUMN memsvc.edge_versions.tsv IS 'Stemmed lexemes of the fact, by the user''s language; kept by a trigger. What recall searches.';

COMMENT ON COLUMN memsvc.edge_versions.length IS 'Words of the fact with repetitions: document length of BM25.';

CREATE FUNCTION memsvc.content_of(p_version memsvc.edge_versions) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN jsonb_build_object('fact', (p_version).fact, 'data', (p_version).data, 'weight', (p_version).weight, 'confidence', (p_version).confidence);

ALTER FUNCTION memsvc.content_of(p_version memsvc.edge_versions) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.content_of(p_version memsvc.edge_versions) IS 'What a version of an edge says.';

CREATE TABLE memsvc.locations (
    user_id uuid NOT NULL,
    location_id uuid DEFAULT uuidv7() NOT NULL,
    node_id uuid NOT NULL,
    latitude double precision NOT NULL,
    longitude double precision NOT NULL,
    radius_m double precision DEFAULT 0 NOT NULL,
    asserted_by text NOT NULL,
    derived_from uuid,
    valid_from timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    valid_to timestamp with time zone DEFAULT 'infinity'::timestamp with time zone NOT NULL,
    recorded_from timestamp with time zone NOT NULL,
    recorded_to timestamp with time zone DEFAULT 'infinity'::timestamp with time zone NOT NULL,
    CONSTRAINT locations_asserted_by_check CHECK ((asserted_by <> ''::text)),
    CONSTRAINT locations_check CHECK ((valid_to > valid_from)),
    CONSTRAINT locations_check1 CHECK ((recorded_to >= recorded_from)),
    CONSTRAINT locations_latitude_check CHECK (((latitude >= ('-90'::integer)::double precision) AND (latitude <= (90)::double precision))),
    CONSTRAINT locations_longitude_check CHECK (((longitude >= ('-180'::integer)::double precision) AND (longitude < (180)::double precision))),
    CONSTRAINT locations_radius_m_check CHECK (((radius_m >= (0)::double precision) AND (radius_m <= (20015115)::double precision)))
)
WITH (autovacuum_vacuum_scale_factor='0.05');
ALTER TABLE ONLY memsvc.locations ALTER COLUMN latitude SET STATISTICS 0;
ALTER TABLE ONLY memsvc.locations ALTER COLUMN longitude SET STATISTICS 0;

ALTER TABLE ONLY memsvc.locations FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.locations OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.locations IS 'Where nodes are, or were: append-only, the only update closes recorded_to. A node is at one place at a time.';

COMMENT ON COLUMN memsvc.locations.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.locations.location_id IS 'Time-ordered id of this version.';

COMMENT ON COLUMN memsvc.locations.node_id IS 'What is there.';

COMMENT ON COLUMN memsvc.locations.latitude IS 'Degrees north (WGS 84).';

COMMENT ON COLUMN memsvc.locations.longitude IS 'Degrees east (WGS 84); the antimeridian is -180.';

COMMENT ON COLUMN memsvc.locations.radius_m IS 'How far around that point it reaches, or how sure it is, in metres.';

COMMENT ON COLUMN memsvc.locations.asserted_by IS 'Who says so: user, app, or the name of an extractor.';

COMMENT ON COLUMN memsvc.locations.derived_from IS 'The version that this one is a remainder or a restoration of; its evidence was copied.';

COMMENT ON COLUMN memsvc.locations.valid_from IS 'From when it was there; -infinity: as far as known, always.';

COMMENT ON COLUMN memsvc.locations.valid_to IS 'Until when it was there; infinity: it still is.';

COMMENT ON COLUMN memsvc.locations.recorded_from IS 'When memsvc learnt it.';

COMMENT ON COLUMN memsvc.locations.recorded_to IS 'When memsvc learnt better; infinity: it has not.';

CREATE FUNCTION memsvc.content_of(p_version memsvc.locations) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN jsonb_build_object('latitude', (p_version).latitude, 'longitude', (p_version).longitude, 'radius_m', (p_version).radius_m);

ALTER FUNCTION memsvc.content_of(p_version memsvc.locations) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.content_of(p_version memsvc.locations) IS 'What a version of a location says.';

CREATE FUNCTION memsvc.content_of(p_version memsvc.node_versions) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN jsonb_build_object('type', (p_version).type, 'label', (p_version).label, 'description', (p_version).description, 'data', (p_version).data, 'importance', (p_version).importance);

ALTER FUNCTION memsvc.content_of(p_version memsvc.node_versions) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.content_of(p_version memsvc.node_versions) IS 'What a version of a node says.';

CREATE FUNCTION memsvc.continue_erasure(p_user_id uuid, p_erasure_id uuid, p_limit integer, p_in_job boolean) RETURNS SETOF memsvc.erasures
    LANGUAGE plpgsql ROWS 1
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
DECLARE
  before CONSTANT text := (
    SELECT e.state FROM erasures AS e WHERE e.user_id = p_user_id AND e.erasure_id = p_erasure_id
  );
  receipt erasures;
BEGIN
  SELECT b.* INTO receipt FROM memsvc.erase_batch(p_user_id, p_erasure_id, p_limit) AS b;
  IF receipt.erasure_id IS NULL THEN
    RETURN;
  END IF;
  UPDATE jobs AS j SET state = 'cancelled', finished_at = clock_timestamp()
  WHERE j.user_id = p_user_id AND j.state = 'pending' AND j.subject_id = ANY (receipt.ids);
  PERFORM memsvc.file_later(p_user_id);
  IF receipt.state = 'done' AND before = 'pending' THEN
    INSERT INTO outbox (user_id, kind, subject_id) VALUES (p_user_id, 'memory.erased', p_erasure_id);
  END IF;
  IF receipt.state = 'done' AND NOT p_in_job THEN
    UPDATE jobs AS j SET state = 'cancelled', finished_at = clock_timestamp()
    WHERE j.user_id = p_user_id AND j.kind = 'erase' AND j.subject_id = p_erasure_id AND j.state = 'pending';
  END IF;
  RETURN NEXT receipt;
END
$$;

ALTER FUNCTION memsvc.continue_erasure(p_user_id uuid, p_erasure_id uuid, p_limit integer, p_in_job boolean) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.continue_erasure(p_user_id uuid, p_erasure_id uuid, p_limit integer, p_in_job boolean) IS 'Removes the next batch of an erasure; the receipt.';

CREATE FUNCTION memsvc.contradictions(p_user_id uuid) RETURNS TABLE(what text, nodes uuid[], facts uuid[], confidence real)
    LANGUAGE plpgsql STABLE ROWS 100
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_nestloop TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  directed CONSTANT text[] := ARRAY[
    'PART_OF', 'PRECEDES', 'CAUSED_BY', 'DERIVED_FROM', 'SUPERSEDES', 'EXAMPLE_OF', 'VERSION_OF', 'CREATED'
  ];
  -- What A is to B and B cannot be to A.
  elders CONSTANT text[] := ARRAY[
    'mother', 'father', 'parent', 'son', 'daughter', 'child', 'grandmother', 'grandfather', 'grandparent', 'grandson',
    'granddaughter', 'grandchild', 'aunt', 'uncle', 'niece', 'nephew'
  ];
BEGIN
  RETURN QUERY
  WITH fact AS MATERIALIZED (SELECT f.* FROM memsvc.analysed_facts(p_user_id) AS f),
  pair AS (
    SELECT 'two_values' AS what, a.version_id AS one, b.version_id AS two
    FROM fact AS a
    INNER JOIN fact AS b ON b.from_node = a.from_node AND b.type = a.type
      AND b.version_id > a.version_id AND b.to_node <> a.to_node
    WHERE a.functional AND b.functional AND a.valid_from < b.valid_to AND b.valid_from < a.valid_to
    UNION ALL
    SELECT 'opposites', a.version_id, b.version_id
    FROM fact AS a
    INNER JOIN fact AS b ON b.from_node = a.from_node AND b.to_node = a.to_node
    WHERE a.type = 'LIKES' AND b.type = 'DISLIKES' AND a.valid_from < b.valid_to AND b.valid_from < a.valid_to
    UNION ALL
    SELECT 'both_ways', a.version_id, b.version_id
    FROM fact AS a
    INNER JOIN fact AS b ON b.from_node = a.to_node AND b.to_node = a.from_node AND b.type = a.type
      AND b.version_id > a.version_id
    WHERE a.from_node <> a.to_node AND a.valid_from < b.valid_to AND b.valid_from < a.valid_to
      AND (a.type = ANY (directed) OR (a.type = 'FAMILY_OF' AND a.relation = ANY (elders) AND b.relation = a.relation))
    UNION ALL
    SELECT 'of_itself', a.version_id, NULL
    FROM fact AS a
    WHERE a.from_node = a.to_node AND (a.type = ANY (directed) OR a.type IN ('KNOWS', 'FAMILY_OF'))
  )
  SELECT p.what,
    ARRAY(
      SELECT n.id FROM (
        VALUES (a.from_node, 1), (a.to_node, 2), (b.from_node, 3), (b.to_node, 4)
      ) AS n (id, place)
      WHERE n.id IS NOT NULL GROUP BY n.id ORDER BY min(n.place)
    ),
    array_remove(ARRAY[p.one, p.two], NULL), least(a.confidence, b.confidence)
  FROM pair AS p
  INNER JOIN fact AS a ON a.version_id = p.one
  LEFT JOIN fact AS b ON b.version_id = p.two
  ORDER BY p.what, p.one, p.two;
END
$$;

ALTER FUNCTION memsvc.contradictions(p_user_id uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.contradictions(p_user_id uuid) IS 'Facts that exclude each other.';

CREATE FUNCTION memsvc.core_user_id() RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN '00000000-0000-0000-0000-000000000000'::uuid;

ALTER FUNCTION memsvc.core_user_id() OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.core_user_id() IS 'What stands for an owner at types of the core.';

CREATE FUNCTION memsvc.count_facts(p_user_id uuid) RETURNS TABLE(type text, facts bigint)
    LANGUAGE plpgsql STABLE ROWS 50
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  moment CONSTANT timestamptz := clock_timestamp();
BEGIN
  RETURN QUERY
  SELECT v.type, count(*) FROM edge_versions AS v
  WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.valid_from <= moment
    AND v.valid_to > moment
  GROUP BY v.type;
END
$$;

ALTER FUNCTION memsvc.count_facts(p_user_id uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.count_facts(p_user_id uuid) IS 'How many facts of each type hold now.';

CREATE FUNCTION memsvc.count_messages(p_key_id text, p_messages integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
DECLARE
  moment CONSTANT timestamp := clock_timestamp() AT TIME ZONE 'UTC';
  today CONSTANT date := moment::date;
  most bigint; -- null: the key has no limit
  used bigint;
BEGIN
  PERFORM memsvc.require_restored();
  PERFORM set_config('synchronous_commit', 'off', true);
  SELECT k.messages_per_day, CASE WHEN k.day = today THEN k.messages ELSE 0 END INTO most, used
  FROM memsvc.api_keys AS k
  WHERE k.key_id = p_key_id AND k.messages_per_day IS NOT NULL
  FOR UPDATE;
  IF used + p_messages > most THEN
    RETURN ceil(extract(epoch FROM today + interval '1 day' - moment));
  END IF;
  UPDATE memsvc.api_keys AS k SET day = today, messages = used + p_messages
  WHERE k.key_id = p_key_id AND k.messages_per_day IS NOT NULL;
  RETURN 0;
END
$$;

ALTER FUNCTION memsvc.count_messages(p_key_id text, p_messages integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.count_messages(p_key_id text, p_messages integer) IS 'Counts messages of a key; seconds to wait where they are too many.';

CREATE FUNCTION memsvc.count_nodes(p_user_id uuid) RETURNS TABLE(type text, nodes bigint)
    LANGUAGE plpgsql STABLE ROWS 50
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_nestloop TO 'off'
    AS $$
DECLARE
  moment CONSTANT timestamptz := clock_timestamp();
BEGIN
  RETURN QUERY
  SELECT v.type, count(*) FROM node_versions AS v
  WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.valid_from <= moment
    AND v.valid_to > moment AND NOT EXISTS (
      SELECT FROM merges AS m
      WHERE m.user_id = p_user_id AND m.node_id = v.node_id AND m.recorded_to = 'infinity'
    )
  GROUP BY v.type;
END
$$;

ALTER FUNCTION memsvc.count_nodes(p_user_id uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.count_nodes(p_user_id uuid) IS 'How many nodes of each type there are now.';

CREATE FUNCTION memsvc.count_request(p_key_id text) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
DECLARE
  moment CONSTANT timestamptz := clock_timestamp();
  this_minute CONSTANT timestamptz := date_trunc('minute', moment);
  too_many boolean;
BEGIN
  PERFORM memsvc.require_restored();
  PERFORM set_config('synchronous_commit', 'off', true);
  UPDATE memsvc.api_keys AS k
  SET minute = this_minute,
    requests = CASE WHEN k.minute = this_minute THEN least(k.requests, k.requests_per_minute) + 1 ELSE 1 END
  WHERE k.key_id = p_key_id AND k.requests_per_minute IS NOT NULL
  RETURNING k.requests > k.requests_per_minute INTO too_many;
  RETURN CASE WHEN too_many THEN ceil(extract(epoch FROM this_minute + interval '1 minute' - moment)) ELSE 0 END;
END
$$;

ALTER FUNCTION memsvc.count_request(p_key_id text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.count_request(p_key_id text) IS 'Counts a request of a key; seconds to wait where it is one too many.';

CREATE FUNCTION memsvc.terms_of(p_user_id uuid, p_passages uuid[]) RETURNS TABLE(kind text, form text, term text, passages bigint)
    LANGUAGE sql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    BEGIN ATOMIC
 SELECT p.kind,
     f.form,
     f.term,
     count(*) AS count
    FROM (memsvc.passages p
      CROSS JOIN LATERAL ( SELECT 'stemmed'::text AS form,
             s.term
            FROM unnest(tsvector_to_array(p.tsv)) s(term)
         UNION ALL
          SELECT 'simple'::text,
             s.term
            FROM unnest(tsvector_to_array(p.tsv_simple)) s(term)) f)
   WHERE ((p.user_id = terms_of.p_user_id) AND (p.passage_id = ANY (terms_of.p_passages)))
   GROUP BY p.kind, f.form, f.term;
END;

ALTER FUNCTION memsvc.terms_of(p_user_id uuid, p_passages uuid[]) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.terms_of(p_user_id uuid, p_passages uuid[]) IS 'In how many of these passages each term stands.';

CREATE FUNCTION memsvc.count_words(p_user_id uuid, p_passages uuid[]) RETURNS void
    LANGUAGE sql
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 INSERT INTO memsvc.term_deltas (user_id, kind, form, passages, length, terms, changes)  SELECT count_words.p_user_id AS p_user_id,
             c.kind,
             c.form,
             c.passages,
             c.length,
             COALESCE(t.terms, '{}'::text[]) AS "coalesce",
             COALESCE(t.changes, '{}'::integer[]) AS "coalesce"
            FROM (( SELECT p.kind,
                     f.form,
                     count(*) AS passages,
                     sum(f.length) AS length
                    FROM (memsvc.passages p
                      CROSS JOIN LATERAL ( VALUES ('stemmed'::text,p.length), ('simple'::text,p.length_simple)) f(form, length))
                   WHERE ((p.user_id = count_words.p_user_id) AND (p.passage_id = ANY (count_words.p_passages)))
                   GROUP BY p.kind, f.form) c
              LEFT JOIN ( SELECT o.kind,
                     o.form,
                     array_agg(o.term) AS terms,
                     array_agg((o.passages)::integer) AS changes
                    FROM memsvc.terms_of(count_words.p_user_id, count_words.p_passages) o(kind, form, term, passages)
                   GROUP BY o.kind, o.form) t ON (((t.kind = c.kind) AND (t.form = c.form))));
END;

ALTER FUNCTION memsvc.count_words(p_user_id uuid, p_passages uuid[]) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.count_words(p_user_id uuid, p_passages uuid[]) IS 'Counts words of passages that were just stored.';

CREATE FUNCTION memsvc.create_key(p_app_id uuid, p_key_id text, p_secret_hash bytea, p_user_id uuid, p_scopes text[], p_label text, p_expires_at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
BEGIN
  PERFORM memsvc.require_restored();
  INSERT INTO memsvc.api_keys (app_id, key_id, secret_hash, user_id, scopes, label, expires_at)
  VALUES (p_app_id, p_key_id, p_secret_hash, p_user_id, p_scopes, p_label, p_expires_at);
  PERFORM memsvc.audit('key.create', p_app_id, p_user_id, p_key_id);
END
$$;

ALTER FUNCTION memsvc.create_key(p_app_id uuid, p_key_id text, p_secret_hash bytea, p_user_id uuid, p_scopes text[], p_label text, p_expires_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.create_key(p_app_id uuid, p_key_id text, p_secret_hash bytea, p_user_id uuid, p_scopes text[], p_label text, p_expires_at timestamp with time zone) IS 'Stores a key''s hash and scopes.';

CREATE FUNCTION memsvc.create_user(p_app_id uuid, p_external_id text, p_name text, p_time_zone text, p_language text) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
DECLARE
  made uuid;
BEGIN
  PERFORM memsvc.require_restored();
  INSERT INTO memsvc.users (app_id, external_id, name, time_zone, language)
  VALUES (p_app_id, p_external_id, p_name, p_time_zone, p_language)
  ON CONFLICT (app_id, external_id) DO NOTHING
  RETURNING user_id INTO made;
  IF made IS NOT NULL THEN
    PERFORM memsvc.seed_schedules(made);
    PERFORM memsvc.audit('user.create', p_app_id, made, made::text);
  END IF;
  RETURN made;
END
$$;

ALTER FUNCTION memsvc.create_user(p_app_id uuid, p_external_id text, p_name text, p_time_zone text, p_language text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.create_user(p_app_id uuid, p_external_id text, p_name text, p_time_zone text, p_language text) IS 'A new user of the app, or null where the external id is taken.';

CREATE FUNCTION memsvc.current_user_id() RETURNS uuid
    LANGUAGE plpgsql STABLE SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
DECLARE
  field CONSTANT text[] := string_to_array(current_setting('memsvc.identity', true), '.');
  inner_pad bytea;
  outer_pad bytea;
  claim bytea;
  signed bytea;
BEGIN
  IF cardinality(field) IS DISTINCT FROM 4 THEN
    RETURN NULL;
  END IF;
  SELECT k.inner_pad, k.outer_pad INTO inner_pad, outer_pad
  FROM memsvc.identity_keys AS k
  WHERE k.key_id = field[3] AND k.retired_at IS NULL;
  claim := convert_to(field[1] || '.' || field[2] || '.' || field[3], 'UTF8');
  signed := sha256(convert_to(encode(sha256(outer_pad || sha256(inner_pad || claim)), 'hex'), 'UTF8'));
  IF signed IS NULL OR signed <> sha256(convert_to(field[4], 'UTF8')) THEN
    RETURN NULL;
  END IF;
  -- The mac is right, so the fields are as we wrote them and the casts cannot fail.
  IF to_timestamp(field[2]::double precision) <= clock_timestamp() THEN
    RETURN NULL;
  END IF;
  RETURN field[1]::uuid;
END
$$;

ALTER FUNCTION memsvc.current_user_id() OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.current_user_id() IS 'The user proved by the signed token in memsvc.identity, or null.';

CREATE FUNCTION memsvc.data_shown(p_data jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN (p_data = '{}'::jsonb) THEN NULL::jsonb WHEN ((length((p_data)::text) > 4000) OR jsonb_path_exists(p_data, '$.**?((@ >= 9223372036854775808 || @ < -9223372036854775808) || (@ > -0.000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001 && @ < 0.000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001) && @ != 0)'::jsonpath)) THEN to_jsonb((p_data)::text) ELSE p_data END;

ALTER FUNCTION memsvc.data_shown(p_data jsonb) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.data_shown(p_data jsonb) IS 'Further properties as AGE can keep them.';

CREATE FUNCTION memsvc.days_of_facts(p_user_id uuid, p_zone text, p_least integer) RETURNS TABLE(from_node uuid, type text, to_node uuid, days date[], facts uuid[])
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_nestloop TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  zone CONSTANT text := memsvc.known_zone(p_zone);
BEGIN
  RETURN QUERY
  WITH fact AS MATERIALIZED (
    SELECT f.*, f.valid_from > '-infinity' AND f.valid_to <= f.valid_from + interval '36 hours' AS moment
    FROM memsvc.analysed_facts(p_user_id) AS f
  ),
  told AS (
    SELECT f.from_node, f.type, f.to_node, f.version_id, (f.valid_from AT TIME ZONE zone)::date AS day
    FROM fact AS f WHERE f.moment
    UNION ALL
    SELECT f.from_node, f.type, f.to_node, f.version_id,
      (p.said_at AT TIME ZONE make_interval(mins => p.said_offset))::date
    FROM fact AS f
    INNER JOIN source_links AS l ON l.user_id = p_user_id AND l.edge_version_id = f.version_id
      AND l.recorded_to = 'infinity' AND l.stance = 'supports'
    INNER JOIN passages AS p ON p.user_id = p_user_id AND p.passage_id = l.passage_id
    WHERE NOT f.moment
  )
  SELECT t.from_node, t.type, t.to_node, array_agg(DISTINCT t.day ORDER BY t.day),
    array_agg(DISTINCT t.version_id ORDER BY t.version_id)
  FROM told AS t
  GROUP BY t.from_node, t.type, t.to_node
  HAVING count(DISTINCT t.day) >= p_least
  ORDER BY t.from_node, t.type, t.to_node;
END
$$;

ALTER FUNCTION memsvc.days_of_facts(p_user_id uuid, p_zone text, p_least integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.days_of_facts(p_user_id uuid, p_zone text, p_least integer) IS 'Days on which relations happened or were told of.';

CREATE FUNCTION memsvc.days_of_people(p_user_id uuid, p_least integer) RETURNS TABLE(node_id uuid, other_id uuid, days date[])
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_nestloop TO 'off'
    AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH person AS MATERIALIZED (
    SELECT DISTINCT coalesce(r.canonical_id, v.node_id) AS node_id
    FROM node_versions AS v
    LEFT JOIN memsvc.resolve_nodes(p_user_id, ARRAY(
      SELECT m.node_id FROM merges AS m WHERE m.user_id = p_user_id AND m.recorded_to = 'infinity'
    )) AS r ON r.node_id = v.node_id
    WHERE v.user_id = p_user_id AND v.type = 'Person' AND v.recorded_to = 'infinity'
  ),
  spoken AS MATERIALIZED (
    SELECT m.node_id, m.passage_id, m.day, count(*) OVER (PARTITION BY m.passage_id) AS people
    FROM memsvc.mentions(p_user_id) AS m
    INNER JOIN person AS p ON p.node_id = m.node_id
  ),
  together AS (
    SELECT a.node_id, b.node_id AS other_id, array_agg(DISTINCT a.day ORDER BY a.day) AS days
    FROM spoken AS a
    INNER JOIN spoken AS b ON b.passage_id = a.passage_id
    WHERE a.node_id < b.node_id AND a.people <= 12 AND b.people <= 12
    GROUP BY a.node_id, b.node_id
    HAVING count(DISTINCT a.day) >= p_least
  )
  SELECT s.node_id, NULL::uuid, array_agg(DISTINCT s.day ORDER BY s.day) FROM spoken AS s GROUP BY s.node_id
  UNION ALL
  SELECT t.node_id, t.other_id, t.days FROM together AS t
  ORDER BY 1, 2;
END
$$;

ALTER FUNCTION memsvc.days_of_people(p_user_id uuid, p_least integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.days_of_people(p_user_id uuid, p_least integer) IS 'Days on which people are spoken of, each and two together.';

CREATE TABLE memsvc.duplicate_candidates (
    user_id uuid NOT NULL,
    node_a uuid NOT NULL,
    node_b uuid NOT NULL,
    score real NOT NULL,
    evidence jsonb DEFAULT '{}'::jsonb NOT NULL,
    found_by text NOT NULL,
    found_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    state text DEFAULT 'open'::text NOT NULL,
    decided_at timestamp with time zone,
    decided_by text,
    CONSTRAINT duplicate_candidates_decided CHECK ((((state = 'open'::text) = (decided_at IS NULL)) AND ((decided_at IS NULL) = (decided_by IS NULL)))),
    CONSTRAINT duplicate_candidates_decided_by_check CHECK (((decided_by <> ''::text) AND (length(decided_by) <= 200))),
    CONSTRAINT duplicate_candidates_evidence_check CHECK ((jsonb_typeof(evidence) = 'object'::text)),
    CONSTRAINT duplicate_candidates_found_by_check CHECK (((found_by <> ''::text) AND (length(found_by) <= 200))),
    CONSTRAINT duplicate_candidates_order CHECK ((node_a < node_b)),
    CONSTRAINT duplicate_candidates_score_check CHECK (((score >= (0)::double precision) AND (score <= (1)::double precision))),
    CONSTRAINT duplicate_candidates_state_check CHECK ((state = ANY (ARRAY['open'::text, 'merged'::text, 'rejected'::text, 'split'::text])))
);

ALTER TABLE ONLY memsvc.duplicate_candidates FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.duplicate_candidates OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.duplicate_candidates IS 'Pairs of nodes that may be the same, and what was decided of them. Holds ids and numbers, no text of memories.';

COMMENT ON COLUMN memsvc.duplicate_candidates.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.duplicate_candidates.node_a IS 'One of them, the smaller id.';

COMMENT ON COLUMN memsvc.duplicate_candidates.node_b IS 'The other.';

COMMENT ON COLUMN memsvc.duplicate_candidates.score IS 'How likely they are the same, 0 to 1, when it was last judged.';

COMMENT ON COLUMN memsvc.duplicate_candidates.evidence IS 'What spoke for it (above 0) and against it (below), in bits by comparison: {"name": 9.1}.';

COMMENT ON COLUMN memsvc.duplicate_candidates.found_by IS 'Who found it first: an extractor or a task of sleep.';

COMMENT ON COLUMN memsvc.duplicate_candidates.found_at IS 'When it was found first.';

COMMENT ON COLUMN memsvc.duplicate_candidates.state IS 'open; merged: they are the same; rejected: they are not, for ever; split: they had been one and were parted.';

COMMENT ON COLUMN memsvc.duplicate_candidates.decided_at IS 'When it was decided; null: it is open.';

COMMENT ON COLUMN memsvc.duplicate_candidates.decided_by IS 'Who decided; null: it is open.';

CREATE FUNCTION memsvc.decide_duplicates(p_user_id uuid, p_node uuid, p_other uuid, p_state text, p_decided_by text) RETURNS bigint
    LANGUAGE sql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    BEGIN ATOMIC
 WITH decided AS (
          INSERT INTO memsvc.duplicate_candidates AS d_1 (user_id, node_a, node_b, score, found_by, state, decided_at, decided_by)  SELECT decide_duplicates.p_user_id AS p_user_id,
                     LEAST(decide_duplicates.p_node, decide_duplicates.p_other) AS "least",
                     GREATEST(decide_duplicates.p_node, decide_duplicates.p_other) AS "greatest",
                         CASE decide_duplicates.p_state
                             WHEN 'merged'::text THEN 1
                             ELSE 0
                         END AS "case",
                     decide_duplicates.p_decided_by AS p_decided_by,
                     decide_duplicates.p_state AS p_state,
                     clock_timestamp() AS clock_timestamp,
                     decide_duplicates.p_decided_by AS p_decided_by ON CONFLICT(user_id, node_a, node_b) DO UPDATE SET state = excluded.state, decided_at = excluded.decided_at, decided_by = excluded.decided_by
           RETURNING 1 AS "?column?"
         )
  SELECT count(*) AS count
    FROM decided d;
END;

ALTER FUNCTION memsvc.decide_duplicates(p_user_id uuid, p_node uuid, p_other uuid, p_state text, p_decided_by text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.decide_duplicates(p_user_id uuid, p_node uuid, p_other uuid, p_state text, p_decided_by text) IS 'Decides of a pair, for ever or until undone.';

CREATE FUNCTION memsvc.decide_type(p_user_id uuid, p_kind text, p_name text, p_status text, p_actor text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
DECLARE
  was text;
  wrong text;
BEGIN
  IF p_kind = 'node' THEN
    SELECT t.status INTO was FROM node_types AS t
    WHERE t.user_id = p_user_id AND t.name = p_name FOR NO KEY UPDATE;
  ELSE
    SELECT t.status INTO was FROM edge_types AS t
    WHERE t.user_id = p_user_id AND t.name = p_name FOR NO KEY UPDATE;
  END IF;
  PERFORM memsvc.refuse_undecidable(p_kind, p_name, was);
  IF was = p_status THEN
    RETURN;
  ELSIF (was, p_status) NOT IN (
    ('proposed', 'approved'), ('rejected', 'approved'), ('deprecated', 'approved'), ('proposed', 'rejected'),
    ('approved', 'deprecated')
  ) THEN
    PERFORM memsvc.refuse_change(
      'type_state', NULL, format('%s is %s, so it cannot become %s.', p_name, was, p_status)
    );
  END IF;
  IF p_kind = 'edge' AND p_status = 'approved' THEN
    SELECT a.name INTO wrong
    FROM edge_types AS e CROSS JOIN LATERAL unnest(e.from_types || e.to_types) AS a (name)
    WHERE e.user_id = p_user_id AND e.name = p_name AND NOT EXISTS (
      SELECT FROM node_types AS t
      WHERE t.user_id IN (memsvc.core_user_id(), p_user_id) AND t.name = a.name
        AND t.status IN ('core', 'approved', 'deprecated')
    );
    IF FOUND THEN
      PERFORM memsvc.refuse_change(
        'type_state', NULL, format('%s joins nodes of type %s, which nobody has approved.', p_name, wrong)
      );
    END IF;
  END IF;
  IF p_kind = 'node' THEN
    UPDATE node_types AS t SET status = p_status, decided_by = p_actor, decided_at = clock_timestamp()
    WHERE t.user_id = p_user_id AND t.name = p_name;
  ELSE
    UPDATE edge_types AS t SET status = p_status, decided_by = p_actor, decided_at = clock_timestamp()
    WHERE t.user_id = p_user_id AND t.name = p_name;
  END IF;
END
$$;

ALTER FUNCTION memsvc.decide_type(p_user_id uuid, p_kind text, p_name text, p_status text, p_actor text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.decide_type(p_user_id uuid, p_kind text, p_name text, p_status text, p_actor text) IS 'Approves, rejects or deprecates a type of a user.';

CREATE FUNCTION memsvc.default_weights() RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN '{"kind": 0, "late": 0.5, "time": 1.5, "names": 0.5, "order": 0, "place": 2, "words": 0.5, "nearby": 0.1, "vector": 0.4, "recency": 0, "session": 0.25, "speaker": 1.25, "distance": 0.25, "strength": 0, "sentiment": 0, "staleness": 0.5, "importance": 0, "usefulness": 0.3, "familiarity": 0, "nearby_vector": 0.1, "session_vector": 0.5}'::jsonb;

ALTER FUNCTION memsvc.default_weights() OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.default_weights() IS 'What each arm and factor of recall counts by default.';

CREATE FUNCTION memsvc.delete_ended(p_user_id uuid, p_jobs_kept interval, p_events_kept interval, p_limit integer) RETURNS TABLE(jobs bigint, events bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
DECLARE
  proved CONSTANT uuid := memsvc.require_identity(p_user_id);
  today CONSTANT timestamptz := clock_timestamp();
  jobs_kept CONSTANT interval := greatest(p_jobs_kept, interval '1 day');
  events_kept CONSTANT interval := greatest(p_events_kept, interval '1 day');
  first_job CONSTANT uuid := uuidv7(-jobs_kept);
  first_event CONSTANT uuid := uuidv7(-events_kept);
BEGIN
  WITH old AS MATERIALIZED (
    SELECT j.job_id FROM memsvc.jobs AS j
    WHERE j.user_id = proved AND j.job_id < first_job AND (
      (j.state IN ('done', 'cancelled') AND j.finished_at < today - jobs_kept)
      OR (j.state = 'failed' AND j.finished_at < today - 6 * jobs_kept)
    )
    ORDER BY j.job_id
    LIMIT p_limit
    FOR UPDATE SKIP LOCKED
  )
  DELETE FROM memsvc.jobs AS j USING old AS o WHERE j.user_id = proved AND j.job_id = o.job_id;
  GET DIAGNOSTICS jobs = ROW_COUNT;

  WITH old AS MATERIALIZED (
    SELECT e.event_id FROM memsvc.outbox AS e
    WHERE e.user_id = proved AND e.event_id < first_event AND e.recorded_at < today - events_kept
    ORDER BY e.event_id
    LIMIT p_limit
    FOR UPDATE SKIP LOCKED
  )
  DELETE FROM memsvc.outbox AS e USING old AS o WHERE e.user_id = proved AND e.event_id = o.event_id;
  GET DIAGNOSTICS events = ROW_COUNT;
  RETURN NEXT;
END
$$;

ALTER FUNCTION memsvc.delete_ended(p_user_id uuid, p_jobs_kept interval, p_events_kept interval, p_limit integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.delete_ended(p_user_id uuid, p_jobs_kept interval, p_events_kept interval, p_limit integer) IS 'Deletes a user''s old jobs that ended and old events, so many at most; how many of each.';

CREATE FUNCTION memsvc.delete_recalls(p_user_id uuid, p_kept interval, p_limit integer) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  kept CONSTANT interval := greatest(p_kept, interval '1 day');
  first_kept CONSTANT uuid := uuidv7(-kept);
  deleted integer;
BEGIN
  WITH old AS MATERIALIZED (
    SELECT e.recall_id FROM recall_events AS e
    WHERE e.user_id = p_user_id AND e.recall_id < first_kept AND e.at < clock_timestamp() - kept
      AND e.folded_at IS NOT NULL
    ORDER BY e.recall_id
    LIMIT p_limit
    FOR UPDATE SKIP LOCKED
  )
  DELETE FROM recall_events AS e USING old AS o WHERE e.user_id = p_user_id AND e.recall_id = o.recall_id;
  GET DIAGNOSTICS deleted = ROW_COUNT;
  RETURN deleted;
END
$$;

ALTER FUNCTION memsvc.delete_recalls(p_user_id uuid, p_kept interval, p_limit integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.delete_recalls(p_user_id uuid, p_kept interval, p_limit integer) IS 'Deletes a user''s old events that are folded, so many at most; how many.';

CREATE FUNCTION memsvc.open_versions(p_user_id uuid, p_kind text, p_line uuid, p_form text) RETURNS TABLE(version_id uuid, subject uuid, content jsonb, asserted_by text, valid_from timestamp with time zone, valid_to timestamp with time zone, recorded_from timestamp with time zone)
    LANGUAGE plpgsql STABLE ROWS 2
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
  CASE
  WHEN p_kind = 'node' THEN
    RETURN QUERY SELECT v.version_id, v.node_id, memsvc.content_of(v), v.asserted_by, v.valid_from, v.valid_to,
      v.recorded_from
    FROM node_versions AS v WHERE v.user_id = p_user_id AND v.node_id = p_line AND v.recorded_to = 'infinity';
  WHEN p_kind = 'alias' THEN
    RETURN QUERY SELECT v.alias_id, v.node_id, memsvc.content_of(v), v.asserted_by, v.valid_from, v.valid_to,
      v.recorded_from
    FROM aliases AS v
    WHERE v.user_id = p_user_id AND v.node_id = p_line AND v.normal_form = p_form AND v.recorded_to = 'infinity';
  WHEN p_kind = 'place' THEN
    RETURN QUERY SELECT v.location_id, v.node_id, memsvc.content_of(v), v.asserted_by, v.valid_from, v.valid_to,
      v.recorded_from
    FROM locations AS v WHERE v.user_id = p_user_id AND v.node_id = p_line AND v.recorded_to = 'infinity';
  WHEN p_form = '' THEN
    RETURN QUERY SELECT v.version_id, v.edge_id, memsvc.content_of(v), v.asserted_by, v.valid_from, v.valid_to,
      v.recorded_from
    FROM edge_versions AS v WHERE v.user_id = p_user_id AND v.edge_id = p_line AND v.recorded_to = 'infinity';
  ELSE
    RETURN QUERY SELECT v.version_id, v.edge_id, memsvc.content_of(v), v.asserted_by, v.valid_from, v.valid_to,
      v.recorded_from
    FROM edge_versions AS v
    WHERE v.user_id = p_user_id AND v.from_node = p_line AND v.type = p_form AND v.recorded_to = 'infinity';
  END CASE;
END
$$;

ALTER FUNCTION memsvc.open_versions(p_user_id uuid, p_kind text, p_line uuid, p_form text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.open_versions(p_user_id uuid, p_kind text, p_line uuid, p_form text) IS 'Versions that are open now on a line of valid time.';

CREATE FUNCTION memsvc.differs_now(p_user_id uuid, p_kind text, p_subject uuid, p_form text, p_valid_from timestamp with time zone, p_valid_to timestamp with time zone, p_content jsonb) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 SELECT
         CASE
             WHEN (differs_now.p_content IS NULL) THEN (count(*) > 0)
             ELSE (COALESCE(bool_or((v.content <> differs_now.p_content)), true) OR ((range_agg(tstzrange(v.valid_from, v.valid_to)) @> tstzrange(differs_now.p_valid_from, differs_now.p_valid_to)) IS NOT TRUE))
         END AS "case"
    FROM memsvc.open_versions(differs_now.p_user_id, differs_now.p_kind, differs_now.p_subject, differs_now.p_form) v(version_id, subject, content, asserted_by, valid_from, valid_to, recorded_from)
   WHERE ((v.valid_from < differs_now.p_valid_to) AND (v.valid_to > differs_now.p_valid_from));
END;

ALTER FUNCTION memsvc.differs_now(p_user_id uuid, p_kind text, p_subject uuid, p_form text, p_valid_from timestamp with time zone, p_valid_to timestamp with time zone, p_content jsonb) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.differs_now(p_user_id uuid, p_kind text, p_subject uuid, p_form text, p_valid_from timestamp with time zone, p_valid_to timestamp with time zone, p_content jsonb) IS 'Whether anything but this holds now in a span of valid time.';

CREATE FUNCTION memsvc.drop_model_index(p_model_id smallint) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    SET lock_timeout TO '200ms'
    AS $$
BEGIN
  PERFORM memsvc.change_models();
  IF EXISTS (SELECT FROM embedding_models AS m WHERE m.model_id = p_model_id AND m.state = 'retired') THEN
    EXECUTE format('DROP INDEX IF EXISTS memsvc.embeddings_near_%s', p_model_id);
  END IF;
END
$$;

ALTER FUNCTION memsvc.drop_model_index(p_model_id smallint) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.drop_model_index(p_model_id smallint) IS 'Drops a retired model''s index.';

CREATE TABLE memsvc.embeddings (
    user_id uuid NOT NULL,
    model_id smallint NOT NULL,
    passage_id uuid NOT NULL,
    vector public.halfvec NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
)
PARTITION BY HASH (user_id);

ALTER TABLE ONLY memsvc.embeddings FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.embeddings OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.embeddings IS 'A passage''s vector by one model, of length 1; several models side by side. Partitioned for the vector indexes.';

COMMENT ON COLUMN memsvc.embeddings.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.embeddings.model_id IS 'Which model gave it.';

COMMENT ON COLUMN memsvc.embeddings.passage_id IS 'Whose vector it is.';

COMMENT ON COLUMN memsvc.embeddings.vector IS 'Half precision, length 1: the inner product is the cosine.';

COMMENT ON COLUMN memsvc.embeddings.created_at IS 'When it was stored.';

CREATE TABLE memsvc.token_vectors (
    user_id uuid NOT NULL,
    model_id smallint NOT NULL,
    passage_id uuid NOT NULL,
    tokens bit(128)[] NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.05');
ALTER TABLE ONLY memsvc.token_vectors ALTER COLUMN tokens SET STATISTICS 0;
ALTER TABLE ONLY memsvc.token_vectors ALTER COLUMN tokens SET STORAGE EXTERNAL;

ALTER TABLE ONLY memsvc.token_vectors FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.token_vectors OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.token_vectors IS 'The telling tokens of a passage as one model sees them, for late interaction.';

COMMENT ON COLUMN memsvc.token_vectors.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.token_vectors.model_id IS 'Which model gave them.';

COMMENT ON COLUMN memsvc.token_vectors.passage_id IS 'Whose tokens they are.';

COMMENT ON COLUMN memsvc.token_vectors.tokens IS 'At most 32, in their order: the signs of each one''s projected vector. Empty: the passage has no token.';

CREATE FUNCTION memsvc.drop_vectors(p_model_id smallint, p_from uuid, p_limit integer) RETURNS TABLE(dropped bigint, last_user_id uuid)
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 WITH chosen AS MATERIALIZED (
          SELECT e.user_id,
             e.passage_id
            FROM memsvc.embeddings e
           WHERE ((e.model_id = drop_vectors.p_model_id) AND (e.user_id >= drop_vectors.p_from))
           ORDER BY e.user_id
          LIMIT drop_vectors.p_limit
         ), beside AS (
          DELETE FROM memsvc.token_vectors t
            USING chosen c
           WHERE ((t.user_id = c.user_id) AND (t.model_id = drop_vectors.p_model_id) AND (t.passage_id = c.passage_id))
         ), gone AS (
          DELETE FROM memsvc.embeddings e
            USING chosen c
           WHERE ((e.user_id = c.user_id) AND (e.model_id = drop_vectors.p_model_id) AND (e.passage_id = c.passage_id))
           RETURNING e.user_id
         )
  SELECT count(*) AS count,
     (max((g.user_id)::text))::uuid AS max
    FROM gone g
  HAVING (count(*) > 0);
END;

ALTER FUNCTION memsvc.drop_vectors(p_model_id smallint, p_from uuid, p_limit integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.drop_vectors(p_model_id smallint, p_from uuid, p_limit integer) IS 'Deletes some vectors of a retired model.';

CREATE FUNCTION memsvc.due_jobs(p_limit integer) RETURNS TABLE(user_id uuid, job_id uuid, kind text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 SELECT j.user_id,
     j.job_id,
     j.kind
    FROM memsvc.jobs j
   WHERE ((j.state = 'pending'::text) AND (j.run_after <= clock_timestamp()) AND (NOT (EXISTS ( SELECT
            FROM memsvc.users u
           WHERE ((u.user_id = j.user_id) AND (u.erasing_since IS NOT NULL))))))
   ORDER BY j.run_after
  LIMIT due_jobs.p_limit;
END;

ALTER FUNCTION memsvc.due_jobs(p_limit integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.due_jobs(p_limit integer) IS 'Ids of due jobs of all users, oldest first.';

CREATE TABLE memsvc.schedules (
    user_id uuid NOT NULL,
    kind text NOT NULL,
    at_local time(0) without time zone NOT NULL,
    weekdays smallint[],
    enabled boolean DEFAULT true NOT NULL,
    next_at timestamp with time zone NOT NULL,
    last_at timestamp with time zone,
    CONSTRAINT schedules_at_local_check CHECK ((at_local < '24:00:00'::time without time zone)),
    CONSTRAINT schedules_kind_check CHECK ((kind = ANY (ARRAY['tidy'::text, 'sleep'::text]))),
    CONSTRAINT schedules_weekdays_check CHECK ((((cardinality(weekdays) >= 1) AND (cardinality(weekdays) <= 7)) AND (weekdays <@ '{1,2,3,4,5,6,7}'::smallint[])))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='500');

ALTER TABLE ONLY memsvc.schedules FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.schedules OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.schedules IS 'Recurring work of a user, by the clock of the user''s zone. One process claims a row when it is due, asks for the job and says when it is due next, in one transaction.';

COMMENT ON COLUMN memsvc.schedules.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.schedules.kind IS 'The job that is asked for. tidy: upkeep of a user; sleep: the night''s work.';

COMMENT ON COLUMN memsvc.schedules.at_local IS 'Time of day on the clock of the user''s zone (users.time_zone).';

COMMENT ON COLUMN memsvc.schedules.weekdays IS 'Days on which it runs, 1 (Monday) to 7 (Sunday); null: every day.';

COMMENT ON COLUMN memsvc.schedules.enabled IS 'False: it does not run.';

COMMENT ON COLUMN memsvc.schedules.next_at IS 'When it is due next; kept in step with zone and rule by next_run().';

COMMENT ON COLUMN memsvc.schedules.last_at IS 'When it ran last; null: never.';

CREATE FUNCTION memsvc.due_schedules(p_limit integer) RETURNS TABLE(user_id uuid, kind text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
( SELECT s.user_id,
     s.kind
    FROM memsvc.schedules s
   WHERE (s.enabled AND (s.next_at <= now()))
   ORDER BY s.next_at
  LIMIT due_schedules.p_limit)
 UNION ALL
 ( SELECT s.user_id,
     s.kind
    FROM memsvc.schedules s
   WHERE (s.enabled AND (s.next_at > (now() + '8 days'::interval)))
   ORDER BY s.next_at
  LIMIT due_schedules.p_limit)
 LIMIT due_schedules.p_limit;
END;

ALTER FUNCTION memsvc.due_schedules(p_limit integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.due_schedules(p_limit integer) IS 'Ids of due schedules of all users, oldest first.';

CREATE FUNCTION memsvc.edge_type_weight(p_type text) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN (p_type = ANY (ARRAY['LIVES_IN'::text, 'WORKS_AT'::text, 'FAMILY_OF'::text])) THEN 1.0 WHEN (p_type = ANY (ARRAY['KNOWS'::text, 'LIKES'::text, 'DISLIKES'::text, 'WANTS'::text, 'FEELS'::text, 'OWNS'::text, 'PARTICIPATED_IN'::text, 'HAPPENED_ON'::text])) THEN 0.9 WHEN (p_type = ANY (ARRAY['CREATED'::text, 'USES'::text, 'LOCATED_AT'::text, 'PART_OF'::text])) THEN 0.7 WHEN (p_type = ANY (ARRAY['DEPENDS_ON'::text, 'CAUSED_BY'::text, 'ANSWERS'::text, 'SUPPORTS'::text, 'CONTRADICTS'::text, 'EXTENDS'::text, 'EXAMPLE_OF'::text, 'PRECEDES'::text])) THEN 0.5 WHEN (p_type = ANY (ARRAY['RELATED_TO'::text, 'ABOUT'::text, 'MENTIONS'::text])) THEN 0.3 WHEN (p_type = ANY (ARRAY['SUPERSEDES'::text, 'DERIVED_FROM'::text, 'SUMMARIZES'::text, 'REFLECTS_ON'::text, 'VERSION_OF'::text, 'TOOL_CALL'::text])) THEN 0.2 ELSE 0.7 END;

ALTER FUNCTION memsvc.edge_type_weight(p_type text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.edge_type_weight(p_type text) IS 'How much an edge of a type tells about its ends, 0 to 1.';

CREATE FUNCTION memsvc.edges_between(p_user_id uuid, p_nodes uuid[], p_types text[] DEFAULT NULL::text[], p_limit integer DEFAULT NULL::integer, p_as_of timestamp with time zone DEFAULT NULL::timestamp with time zone, p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(version_id uuid, from_node uuid, to_node uuid, weight real)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_incremental_sort TO 'off'
    SET enable_nestloop TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  canonical uuid[] := p_nodes;
  stored uuid[] := p_nodes;
BEGIN
  IF memsvc.any_merges(p_user_id, p_known_at) THEN
    SELECT array_agg(s.canonical_id), array_agg(s.node_id) INTO canonical, stored
    FROM memsvc.same_nodes(p_user_id, p_nodes, p_known_at) AS s;
  END IF;
  RETURN QUERY
  WITH same AS MATERIALIZED (
    SELECT DISTINCT s.canonical_id, s.node_id FROM unnest(canonical, stored) AS s (canonical_id, node_id)
  ),
  -- The identities of edges are sorted by start, type and end, so that neither end's list is read through.
  edge AS MATERIALIZED (
    SELECT e.edge_id, e.from_node, e.to_node FROM edges AS e
    WHERE e.user_id = p_user_id AND e.from_node = ANY (stored) AND e.to_node = ANY (stored)
      AND (p_types IS NULL OR e.type = ANY (p_types))
    ORDER BY e.from_node, e.type, e.to_node
  )
  SELECT v.version_id, f.canonical_id, t.canonical_id, v.weight
  FROM edge AS e
  INNER JOIN (
    (SELECT o.* FROM edge_versions AS o
    WHERE o.user_id = p_user_id AND o.edge_id = ANY (ARRAY(SELECT i.edge_id FROM edge AS i))
      AND o.recorded_to = 'infinity' AND o.recorded_from <= coalesce(p_known_at, 'infinity')
    ORDER BY o.edge_id OFFSET 0)
    UNION ALL
    (SELECT o.* FROM edge_versions AS o
    WHERE p_known_at IS NOT NULL AND o.user_id = p_user_id
      AND o.edge_id = ANY (ARRAY(SELECT i.edge_id FROM edge AS i)) AND o.recorded_to < 'infinity'
      AND o.recorded_from <= p_known_at AND o.recorded_to > p_known_at
    ORDER BY o.edge_id OFFSET 0)
  ) AS v ON v.edge_id = e.edge_id
  INNER JOIN same AS f ON f.node_id = e.from_node
  INNER JOIN same AS t ON t.node_id = e.to_node
  WHERE p_as_of IS NULL OR (v.valid_from <= p_as_of AND v.valid_to > p_as_of)
  ORDER BY v.weight DESC, v.version_id DESC
  LIMIT p_limit;
END
$$;

ALTER FUNCTION memsvc.edges_between(p_user_id uuid, p_nodes uuid[], p_types text[], p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.edges_between(p_user_id uuid, p_nodes uuid[], p_types text[], p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) IS 'All facts among some nodes.';

CREATE FUNCTION memsvc.edges_known(p_user_id uuid, p_nodes uuid[], p_side text, p_known_at timestamp with time zone) RETURNS SETOF memsvc.edge_versions
    LANGUAGE plpgsql STABLE ROWS 50
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_incremental_sort TO 'off'
    AS $$
BEGIN
  IF p_side <> 'to' THEN
    RETURN QUERY SELECT v.* FROM edge_versions AS v
    WHERE v.user_id = p_user_id AND v.from_node = ANY (p_nodes) AND v.recorded_to = 'infinity'
      AND v.recorded_from <= coalesce(p_known_at, 'infinity')
    ORDER BY v.from_node;
  END IF;
  IF p_side <> 'from' THEN
    RETURN QUERY SELECT v.* FROM edge_versions AS v
    WHERE v.user_id = p_user_id AND v.to_node = ANY (p_nodes) AND v.recorded_to = 'infinity'
      AND v.recorded_from <= coalesce(p_known_at, 'infinity') AND (p_side = 'to' OR v.from_node <> ALL (p_nodes))
    ORDER BY v.to_node;
  END IF;
  IF p_known_at IS NULL THEN
    RETURN;
  END IF;
  IF p_side <> 'to' THEN
    RETURN QUERY SELECT v.* FROM edge_versions AS v
    WHERE v.user_id = p_user_id AND v.from_node = ANY (p_nodes) AND v.recorded_to < 'infinity'
      AND v.recorded_from <= p_known_at AND v.recorded_to > p_known_at
    ORDER BY v.from_node;
  END IF;
  IF p_side <> 'from' THEN
    RETURN QUERY SELECT v.* FROM edge_versions AS v
    WHERE v.user_id = p_user_id AND v.to_node = ANY (p_nodes) AND v.recorded_to < 'infinity'
      AND v.recorded_from <= p_known_at AND v.recorded_to > p_known_at
      AND (p_side = 'to' OR v.from_node <> ALL (p_nodes))
    ORDER BY v.to_node;
  END IF;
END
$$;

ALTER FUNCTION memsvc.edges_known(p_user_id uuid, p_nodes uuid[], p_side text, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.edges_known(p_user_id uuid, p_nodes uuid[], p_side text, p_known_at timestamp with time zone) IS 'Versions of edges at some stored nodes, as known at a time.';

CREATE FUNCTION memsvc.edges_wanted(p_user_id uuid, p_versions uuid[]) RETURNS TABLE(version_id uuid, label text, start_label text, start_gid bigint, end_label text, end_gid bigint, properties text)
    LANGUAGE plpgsql STABLE ROWS 100
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
  RETURN QUERY
  WITH edge AS MATERIALIZED (
    SELECT v.*
    FROM (SELECT DISTINCT u.version_id FROM unnest(p_versions) AS u (version_id)) AS w
    CROSS JOIN LATERAL (
      SELECT o.* FROM edge_versions AS o
      WHERE o.user_id = p_user_id AND o.version_id = w.version_id AND o.recorded_to = 'infinity' OFFSET 0
    ) AS v
  ),
  vertex AS MATERIALIZED (
    SELECT n.node_id, n.gid, n.label
    FROM memsvc.vertices_of(p_user_id, ARRAY(
      SELECT e.from_node FROM edge AS e UNION SELECT e.to_node FROM edge AS e
    )) AS n
  ),
  labelled AS MATERIALIZED (
    SELECT t.type, t.label FROM memsvc.labels_of(p_user_id, 'edge') AS t
  )
  SELECT e.version_id, coalesce(l.label, memsvc.other_label('edge')), s.label, s.gid, o.label, o.gid, (
      jsonb_strip_nulls(jsonb_build_object(
        'id', e.edge_id, 'version', e.version_id, 'type', e.type, 'fact', e.fact, 'weight', e.weight,
        'confidence', e.confidence, 'asserted_by', e.asserted_by, 'valid_from', memsvc.moment_shown(e.valid_from),
        'valid_to', memsvc.moment_shown(e.valid_to), 'recorded_from', memsvc.moment_shown(e.recorded_from)
      )) || coalesce(jsonb_build_object('data', memsvc.data_shown(e.data)), '{}')
    )::text
  FROM edge AS e
  INNER JOIN vertex AS s ON s.node_id = e.from_node
  INNER JOIN vertex AS o ON o.node_id = e.to_node
  LEFT JOIN labelled AS l ON l.type = e.type;
END
$$;

ALTER FUNCTION memsvc.edges_wanted(p_user_id uuid, p_versions uuid[]) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.edges_wanted(p_user_id uuid, p_versions uuid[]) IS 'Edges that there should be of these versions.';

CREATE TABLE memsvc.embedding_models (
    model_id smallint NOT NULL,
    name text NOT NULL,
    dimensions integer NOT NULL,
    state text DEFAULT 'building'::text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    paused boolean DEFAULT false NOT NULL,
    projection bytea,
    CONSTRAINT embedding_models_dimensions_check CHECK (((dimensions >= 1) AND (dimensions <= 4000))),
    CONSTRAINT embedding_models_name_check CHECK (((name <> ''::text) AND (length(name) <= 200))),
    CONSTRAINT embedding_models_paused_check CHECK (((NOT paused) OR (state = 'building'::text))),
    CONSTRAINT embedding_models_projection_check CHECK (((octet_length(projection) % 256) = 0)),
    CONSTRAINT embedding_models_state_check CHECK ((state = ANY (ARRAY['building'::text, 'active'::text, 'leaving'::text, 'retired'::text])))
);

ALTER TABLE ONLY memsvc.embedding_models FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.embedding_models OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.embedding_models IS 'Models that gave vectors. The same for everybody; not a memory.';

COMMENT ON COLUMN memsvc.embedding_models.model_id IS 'Small number that vectors carry.';

COMMENT ON COLUMN memsvc.embedding_models.name IS 'As MEMSVC_EMBEDDING_MODEL and ''memsvc models'' name it, backend first.';

COMMENT ON COLUMN memsvc.embedding_models.dimensions IS 'Length of its vectors.';

COMMENT ON COLUMN memsvc.embedding_models.state IS 'active: queries are compared by it; building: passages get its vectors beside the active one''s; leaving: was active before, still gets vectors and answers for passages that the active one lacks; retired: its vectors go.';

COMMENT ON COLUMN memsvc.embedding_models.created_at IS 'When it was first used.';

COMMENT ON COLUMN memsvc.embedding_models.paused IS 'building, and no passage gets its vector for now.';

COMMENT ON COLUMN memsvc.embedding_models.projection IS 'From its token vectors to 128 numbers, whose signs are kept: half precision, little-endian, row by row. NULL: none yet, or it gives no token vectors.';

CREATE FUNCTION memsvc.embedding_progress(p_user_id uuid) RETURNS TABLE(model_id smallint, name text, dimensions integer, state text, paused boolean, embedded bigint, lacking bigint)
    LANGUAGE sql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 SELECT m.model_id,
     m.name,
     m.dimensions,
     m.state,
     m.paused,
     e.embedded,
     (p.embeddable - e.embedded)
    FROM ((memsvc.embedding_models m
      CROSS JOIN ( SELECT count(*) AS embeddable
            FROM memsvc.passages s
           WHERE ((s.user_id = embedding_progress.p_user_id) AND (s.kind = ANY (ARRAY['message'::text, 'block'::text])))) p)
      CROSS JOIN LATERAL ( SELECT count(*) AS embedded
            FROM memsvc.embeddings v
           WHERE ((v.user_id = embedding_progress.p_user_id) AND (v.model_id = m.model_id))) e)
   ORDER BY m.model_id;
END;

ALTER FUNCTION memsvc.embedding_progress(p_user_id uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.embedding_progress(p_user_id uuid) IS 'How many of a user''s messages and blocks have each model''s vector.';

CREATE FUNCTION memsvc.embedding_totals() RETURNS TABLE(model_id smallint, embedded bigint, messages bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 SELECT NULL::smallint AS int2,
     0,
     count(*) AS count
    FROM memsvc.passages p
   WHERE (p.kind = ANY (ARRAY['message'::text, 'block'::text]))
 UNION ALL
  SELECT e.model_id,
     count(*) AS count,
     0
    FROM memsvc.embeddings e
   GROUP BY e.model_id;
END;

ALTER FUNCTION memsvc.embedding_totals() OWNER TO memsvc_recall;

COMMENT ON FUNCTION memsvc.embedding_totals() IS 'How many vectors each model gave, over all users; in a row without model how many passages of messages and archived blocks there are.';

CREATE FUNCTION memsvc.empty_projection(p_user_id uuid, p_part text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  passage CONSTANT integer := ag_catalog._label_id('memory', 'Passage');
  conversation CONSTANT integer := ag_catalog._label_id('memory', 'Conversation');
BEGIN
  DELETE FROM memory._ag_label_edge AS d
  WHERE d.user_id = p_user_id AND (ag_catalog._extract_label_id(d.start_id) = passage) = (p_part = 'messages');
  DELETE FROM memory._ag_label_vertex AS d
  WHERE d.user_id = p_user_id
    AND (ag_catalog._extract_label_id(d.id) IN (passage, conversation)) = (p_part = 'messages');
END
$$;

ALTER FUNCTION memsvc.empty_projection(p_user_id uuid, p_part text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.empty_projection(p_user_id uuid, p_part text) IS 'Deletes a part of the projection of a user.';

CREATE FUNCTION memsvc.end_analysis(p_user_id uuid, p_run_id uuid, p_found bigint, p_figures jsonb, p_seconds real, p_results jsonb) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  gone uuid[];
BEGIN
  PERFORM memsvc.keep_memories(p_user_id);
  UPDATE analysis_runs AS r
  SET state = 'done', found = p_found, figures = p_figures, seconds = p_seconds, finished_at = clock_timestamp()
  WHERE r.user_id = p_user_id AND r.run_id = p_run_id AND r.state = 'open';
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  WITH result AS MATERIALIZED (
    SELECT r.* FROM jsonb_to_recordset(p_results) AS r (nodes uuid[], facts uuid[], passages uuid[])
  ),
  lost AS (
    SELECT i.id FROM result AS r CROSS JOIN LATERAL unnest(r.nodes) AS i (id)
    WHERE NOT EXISTS (SELECT FROM nodes AS n WHERE n.user_id = p_user_id AND n.node_id = i.id OFFSET 0)
    UNION ALL
    SELECT i.id FROM result AS r CROSS JOIN LATERAL unnest(r.facts) AS i (id)
    WHERE NOT EXISTS (SELECT FROM edge_versions AS v WHERE v.user_id = p_user_id AND v.version_id = i.id OFFSET 0)
    UNION ALL
    SELECT i.id FROM result AS r CROSS JOIN LATERAL unnest(r.passages) AS i (id)
    WHERE NOT EXISTS (SELECT FROM passages AS p WHERE p.user_id = p_user_id AND p.passage_id = i.id OFFSET 0)
  )
  SELECT coalesce(array_agg(l.id), '{}') INTO gone FROM lost AS l;
  INSERT INTO analysis_results (user_id, run_id, place, what, score, nodes, facts, passages, figures)
  SELECT p_user_id, p_run_id, r.place, r.what, r.score, r.nodes, r.facts, r.passages, r.figures
  FROM jsonb_to_recordset(p_results) AS r (
    place integer, what text, score double precision, nodes uuid[], facts uuid[], passages uuid[], figures jsonb
  )
  WHERE NOT (r.nodes && gone OR r.facts && gone OR r.passages && gone);
  RETURN true;
END
$$;

ALTER FUNCTION memsvc.end_analysis(p_user_id uuid, p_run_id uuid, p_found bigint, p_figures jsonb, p_seconds real, p_results jsonb) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.end_analysis(p_user_id uuid, p_run_id uuid, p_found bigint, p_figures jsonb, p_seconds real, p_results jsonb) IS 'Ends a run of an analysis with what it found; false: it was not open.';

CREATE FUNCTION memsvc.ensure_app(p_name text) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
DECLARE
  found uuid;
BEGIN
  PERFORM memsvc.require_restored();
  SELECT a.app_id INTO found FROM memsvc.apps AS a WHERE a.name = p_name;
  IF found IS NULL THEN
    INSERT INTO memsvc.apps (name) VALUES (p_name) ON CONFLICT (name) DO NOTHING RETURNING app_id INTO found;
    IF found IS NULL THEN
      SELECT a.app_id INTO found FROM memsvc.apps AS a WHERE a.name = p_name;
    ELSE
      PERFORM memsvc.audit('app.create', found, NULL, p_name);
    END IF;
  END IF;
  RETURN found;
END
$$;

ALTER FUNCTION memsvc.ensure_app(p_name text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.ensure_app(p_name text) IS 'The id of the app with this name, made on first use.';

CREATE FUNCTION memsvc.ensure_model(p_name text, p_dimensions integer) RETURNS TABLE(model_id smallint, state text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'memsvc', 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
DECLARE
  known embedding_models%ROWTYPE;
BEGIN
  SELECT * INTO known FROM embedding_models AS m WHERE m.name = p_name;
  IF NOT FOUND THEN
    PERFORM memsvc.change_models();
    SELECT * INTO known FROM embedding_models AS m WHERE m.name = p_name;
  END IF;
  IF known.model_id IS NULL THEN
    IF EXISTS (SELECT FROM embedding_models AS m WHERE m.state = 'active') THEN
      RAISE EXCEPTION 'The model % is not one of this database''s.', p_name
        USING ERRCODE = 'MS001', HINT = 'Run ''memsvc models build'' with its name.';
    END IF;
    INSERT INTO embedding_models AS m (name, dimensions, state) VALUES (p_name, p_dimensions, 'active')
    RETURNING * INTO known;
    PERFORM memsvc.make_model_index(known.model_id, p_dimensions);
    PERFORM memsvc.audit('model.first', NULL, NULL, p_name);
  END IF;
  IF known.dimensions <> p_dimensions THEN
    RAISE EXCEPTION 'model % has vectors of length %, not %', p_name, known.dimensions, p_dimensions
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN QUERY SELECT known.model_id, known.state;
END
$$;

ALTER FUNCTION memsvc.ensure_model(p_name text, p_dimensions integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.ensure_model(p_name text, p_dimensions integer) IS 'The embedding model with this name; the first one of a database is registered by it.';

CREATE FUNCTION memsvc.erase(p_user_id uuid, p_kind text, p_subject_id uuid, p_requested_by text, p_limit integer) RETURNS SETOF memsvc.erasures
    LANGUAGE plpgsql ROWS 1
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
DECLARE
  receipt erasures;
BEGIN
  SELECT b.* INTO receipt FROM memsvc.begin_erasure(p_user_id, p_kind, p_subject_id, p_requested_by, p_limit) AS b;
  IF receipt.erasure_id IS NULL THEN
    RETURN;
  END IF;
  UPDATE jobs AS j SET state = 'cancelled', finished_at = clock_timestamp()
  WHERE j.user_id = p_user_id AND j.state = 'pending'
    AND ((p_kind IN ('source', 'block') AND j.subject_id = p_subject_id) OR j.subject_id = ANY (receipt.ids));
  PERFORM memsvc.file_later(p_user_id); -- what is left of blocks that lost lines
  IF receipt.state = 'pending' THEN
    PERFORM memsvc.ask_job(p_user_id, 'erase', receipt.erasure_id);
  ELSE
    INSERT INTO outbox (user_id, kind, subject_id) VALUES (p_user_id, 'memory.erased', receipt.erasure_id);
  END IF;
  RETURN NEXT receipt;
END
$$;

ALTER FUNCTION memsvc.erase(p_user_id uuid, p_kind text, p_subject_id uuid, p_requested_by text, p_limit integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.erase(p_user_id uuid, p_kind text, p_subject_id uuid, p_requested_by text, p_limit integer) IS 'Begins to erase; the receipt.';

CREATE FUNCTION memsvc.erase_batch(p_user_id uuid, p_erasure_id uuid, p_limit integer) RETURNS SETOF memsvc.erasures
    LANGUAGE plpgsql SECURITY DEFINER ROWS 1
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  proved CONSTANT uuid := memsvc.require_identity(p_user_id);
  receipt erasures;
  scope record;
  plan record;
  place record;
  more boolean := false;
  terms bigint := 0;
  vectors bigint := 0;
  whole bigint := 0;
  signals bigint := 0;
  reviews bigint := 0;
  pairs bigint := 0;
  block CONSTANT uuid := (
    SELECT e.subject_id FROM erasures AS e
    WHERE e.user_id = proved AND e.erasure_id = p_erasure_id AND e.kind = 'block'
  );
  profile bigint := 0;
  results bigint := 0;
  emptied uuid[]; -- blocks in the archive of which nothing is left
BEGIN
  SELECT e.* INTO receipt FROM erasures AS e WHERE e.user_id = proved AND e.erasure_id = p_erasure_id;
  IF receipt.state IS DISTINCT FROM 'pending' THEN
    RETURN QUERY SELECT e.* FROM erasures AS e WHERE e.user_id = proved AND e.erasure_id = p_erasure_id;
    RETURN;
  END IF;
  PERFORM memsvc.lock_memories(proved, receipt.kind, receipt.subject_id);
  SELECT e.* INTO receipt FROM erasures AS e
  WHERE e.user_id = proved AND e.erasure_id = p_erasure_id AND e.state = 'pending'
  FOR UPDATE;
  SELECT * INTO scope FROM memsvc.erasure_reach(proved, receipt.kind, receipt.subject_id, p_limit);
  IF receipt.erasure_id IS NULL OR scope.passages IS NULL THEN -- somebody else did the last batch meanwhile
    UPDATE erasures AS e SET state = 'done', finished_at = clock_timestamp()
    WHERE e.user_id = proved AND e.erasure_id = p_erasure_id AND e.state = 'pending';
    RETURN QUERY SELECT e.* FROM erasures AS e WHERE e.user_id = proved AND e.erasure_id = p_erasure_id;
    RETURN;
  END IF;
  SELECT * INTO plan
  FROM memsvc.plan_erasure(proved, scope.passages, scope.source_id, scope.edges, scope.node_id);

  signals := memsvc.forget_recalls(proved, scope.passages || plan.edge_versions);
  reviews := memsvc.forget_readings(proved, scope.passages);
  results := memsvc.forget_analysis(proved, scope.passages || plan.edge_versions || plan.nodes);
  profile := memsvc.forget_profile(proved, scope.passages, plan.nodes, scope.source_id, block);
  DELETE FROM source_links AS d WHERE d.user_id = proved AND d.link_id = ANY (plan.links);
  DELETE FROM edge_versions AS d WHERE d.user_id = proved AND d.version_id = ANY (plan.edge_versions);
  DELETE FROM edges AS d WHERE d.user_id = proved AND d.edge_id = ANY (plan.edges);
  DELETE FROM node_versions AS d WHERE d.user_id = proved AND d.version_id = ANY (plan.node_versions);
  DELETE FROM aliases AS d WHERE d.user_id = proved AND d.alias_id = ANY (plan.aliases);
  DELETE FROM locations AS d WHERE d.user_id = proved AND d.location_id = ANY (plan.locations);
  DELETE FROM merges AS d WHERE d.user_id = proved AND d.merge_id = ANY (plan.merges);
  IF plan.nodes <> '{}' THEN
    DELETE FROM duplicate_candidates AS d
    WHERE d.user_id = proved AND (d.node_a = ANY (plan.nodes) OR d.node_b = ANY (plan.nodes));
    GET DIAGNOSTICS pairs = ROW_COUNT;
  END IF;
  DELETE FROM nodes AS d WHERE d.user_id = proved AND d.node_id = ANY (plan.nodes);
  IF scope.passages <> '{}' THEN
    terms := memsvc.forget_words(proved, scope.passages);
    DELETE FROM token_vectors AS d WHERE d.user_id = proved AND d.passage_id = ANY (scope.passages);
    DELETE FROM embeddings AS d WHERE d.user_id = proved AND d.passage_id = ANY (scope.passages);
    GET DIAGNOSTICS vectors = ROW_COUNT;
    SELECT p.source_id, p.session, p.ordinal INTO place FROM passages AS p
    WHERE p.user_id = proved AND receipt.kind = 'passage' AND p.passage_id = receipt.subject_id AND p.part = 0;
    DELETE FROM passages AS d WHERE d.user_id = proved AND d.passage_id = ANY (scope.passages);
    -- A message is found by its part 0: what is left of one keeps having it.
    UPDATE passages AS p SET part = 0
    WHERE p.user_id = proved AND (p.source_id, p.session, p.ordinal) = (place.source_id, place.session, place.ordinal)
      AND p.part = (
        SELECT min(m.part) FROM passages AS m
        WHERE m.user_id = proved
          AND (m.source_id, m.session, m.ordinal) = (place.source_id, place.session, place.ordinal)
      );
  END IF;

  WITH deleted AS (
    DELETE FROM sources AS d
    WHERE d.user_id = proved AND d.kind = 'block' AND d.source_id IS DISTINCT FROM scope.source_id
      AND NOT EXISTS (SELECT FROM profile_versions AS v WHERE v.user_id = proved AND v.block_id = d.source_id)
      AND NOT EXISTS (SELECT FROM passages AS p WHERE p.user_id = proved AND p.source_id = d.source_id)
    RETURNING d.source_id
  )
  SELECT coalesce(array_agg(d.source_id), '{}') INTO emptied FROM deleted AS d;
  IF scope.source_id IS NOT NULL THEN
    more := EXISTS (SELECT FROM passages AS p WHERE p.user_id = proved AND p.source_id = scope.source_id);
    IF NOT more THEN
      DELETE FROM extractions AS d WHERE d.user_id = proved AND d.source_id = scope.source_id;
      DELETE FROM sources AS d WHERE d.user_id = proved AND d.source_id = scope.source_id;
      GET DIAGNOSTICS whole = ROW_COUNT;
    END IF;
  ELSIF scope.node_id IS NOT NULL THEN
    more := NOT scope.node_id = ANY (plan.nodes);
  END IF;
  RETURN QUERY
  UPDATE erasures AS e
  SET
    state = CASE WHEN more THEN 'pending' ELSE 'done' END,
    finished_at = CASE WHEN NOT more THEN clock_timestamp() END,
    ids = e.ids || scope.passages || plan.edges || plan.nodes || emptied
      || CASE WHEN whole > 0 THEN ARRAY[scope.source_id] ELSE '{}' END
      || CASE WHEN block IS NOT NULL THEN ARRAY[block] ELSE '{}' END,
    counts = memsvc.add_counts(e.counts, jsonb_build_object(
      'source_links', cardinality(plan.links), 'node_versions', cardinality(plan.node_versions),
      'edge_versions', cardinality(plan.edge_versions), 'aliases', cardinality(plan.aliases),
      'locations', cardinality(plan.locations),
      'merges', cardinality(plan.merges), 'edges', cardinality(plan.edges), 'nodes', cardinality(plan.nodes),
      'evidence_reduced', cardinality(plan.reduced), 'passages', cardinality(scope.passages),
      'embeddings', vectors, 'memory_signals', signals, 'fact_reviews', reviews,
      'duplicate_candidates', pairs, 'profile_versions', profile, 'analysis_results', results, 'terms', terms,
      'sources', whole + cardinality(emptied)
    ))
  WHERE e.user_id = proved AND e.erasure_id = p_erasure_id
  RETURNING e.*;
END
$$;

ALTER FUNCTION memsvc.erase_batch(p_user_id uuid, p_erasure_id uuid, p_limit integer) OWNER TO memsvc_eraser;

COMMENT ON FUNCTION memsvc.erase_batch(p_user_id uuid, p_erasure_id uuid, p_limit integer) IS 'Removes one batch of an erasure; the receipt.';

CREATE FUNCTION memsvc.erase_user(p_user_id uuid, p_limit integer) RETURNS TABLE(erased bigint, finished boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    SET lock_timeout TO '5s'
    AS $$
DECLARE
  proved CONSTANT uuid := memsvc.require_identity(p_user_id);
  mine users%ROWTYPE;
  gone jsonb;
  total jsonb;
BEGIN
  SELECT * INTO mine FROM users AS u WHERE u.user_id = proved FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN QUERY SELECT 0::bigint, true;
    RETURN;
  ELSIF mine.erasing_since IS NULL THEN
    RAISE EXCEPTION 'the user is not marked for erasing' USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
  gone := memsvc.erase_user_rows(proved, p_limit, false);
  IF gone = '{}' THEN
    PERFORM FROM users AS u WHERE u.user_id = proved FOR UPDATE;
    gone := memsvc.erase_user_rows(proved, p_limit, true);
  END IF;
  finished := gone ? 'users';
  SELECT coalesce(sum(g.value::bigint), 0) INTO erased FROM jsonb_each_text(gone) AS g;
  SELECT coalesce(jsonb_object_agg(c.key, c.rows), '{}') INTO total FROM (
    SELECT e.key, sum(e.value::bigint) AS rows
    FROM (SELECT * FROM jsonb_each_text(mine.erased_rows) UNION ALL SELECT * FROM jsonb_each_text(gone)) AS e
    GROUP BY e.key
  ) AS c;
  IF finished THEN
    INSERT INTO audit_log (app_id, user_id, actor, action, subject, details)
    VALUES (mine.app_id, proved, session_user, 'user.erased', proved::text, jsonb_build_object('rows', total));
  ELSE
    UPDATE users AS u SET erased_rows = total WHERE u.user_id = proved;
  END IF;
  RETURN NEXT;
END
$$;

ALTER FUNCTION memsvc.erase_user(p_user_id uuid, p_limit integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.erase_user(p_user_id uuid, p_limit integer) IS 'Erases some rows of a user who was marked, at last the user; how many, and whether that was all.';

CREATE FUNCTION memsvc.erase_user_rows(p_user_id uuid, p_limit integer, p_last boolean) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $_$
DECLARE
  proved CONSTANT uuid := memsvc.require_identity(p_user_id);
  place record;
  deleted bigint;
  room bigint := p_limit;
  gone jsonb := '{}';
BEGIN
  FOR place IN SELECT t.name, t.unreferred FROM memsvc.user_tables() AS t LOOP
    CONTINUE WHEN place.name = 'users' AND NOT p_last;
    EXIT WHEN room <= 0;
    EXECUTE format(
      'DELETE FROM memsvc.%1$I AS d WHERE d.user_id = $1 AND d.ctid = ANY (ARRAY('
      'SELECT r.ctid FROM memsvc.%1$I AS r WHERE r.user_id = $1%2$s LIMIT $2))', place.name, place.unreferred
    ) USING proved, room;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    IF deleted > 0 THEN
      gone := gone || jsonb_build_object(place.name, deleted);
      room := room - deleted;
    END IF;
  END LOOP;
  RETURN gone;
END
$_$;

ALTER FUNCTION memsvc.erase_user_rows(p_user_id uuid, p_limit integer, p_last boolean) OWNER TO memsvc_eraser;

COMMENT ON FUNCTION memsvc.erase_user_rows(p_user_id uuid, p_limit integer, p_last boolean) IS 'Deletes some rows of a user, in the order of foreign keys; how many of each table.';

CREATE FUNCTION memsvc.erased_operations(p_user_id uuid, p_operations jsonb) RETURNS integer[]
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  erased integer[];
  unmade uuid[];
BEGIN
  IF NOT EXISTS (SELECT FROM tombstones AS t WHERE t.user_id = p_user_id) THEN
    RETURN '{}';
  END IF;
  SELECT coalesce(array_agg(o.position), '{}'), coalesce(array_agg(o.node_id) FILTER (WHERE o.op = 'node'), '{}')
  INTO erased, unmade
  FROM jsonb_to_recordset(p_operations) AS o (
    position integer, op text, node_id uuid, fresh boolean, from_node uuid, type text, to_node uuid, key text,
    label text, alias text, evidence jsonb
  )
  CROSS JOIN LATERAL (
    SELECT t.recorded_at FROM tombstones AS t
    WHERE t.user_id = p_user_id AND t.digest = memsvc.tombstone_digest(CASE
      WHEN o.op = 'edge' THEN jsonb_build_array('edge', o.from_node, o.type, o.to_node, coalesce(o.key, ''))
      WHEN o.op = 'node' AND o.fresh THEN jsonb_build_array('name', memsvc.normal_form(o.label))
      WHEN o.op = 'alias' THEN jsonb_build_array('name', memsvc.normal_form(o.alias))
    END)
    OFFSET 0
  ) AS t
  WHERE jsonb_array_length(coalesce(o.evidence, '[]')) > 0 AND NOT EXISTS (
    SELECT FROM jsonb_to_recordset(o.evidence) AS e (passage_id uuid)
    LEFT JOIN LATERAL (
      SELECT p.recorded_at FROM passages AS p WHERE p.user_id = p_user_id AND p.passage_id = e.passage_id OFFSET 0
    ) AS p ON true
    WHERE (p.recorded_at < t.recorded_at) IS NOT TRUE
  );
  IF unmade <> '{}' THEN
    SELECT array_agg(o.position) INTO erased
    FROM jsonb_to_recordset(p_operations) AS o (
      position integer, node_id uuid, from_node uuid, to_node uuid, canonical_id uuid
    )
    WHERE o.position = ANY (erased) OR o.node_id = ANY (unmade) OR o.from_node = ANY (unmade)
      OR o.to_node = ANY (unmade) OR o.canonical_id = ANY (unmade);
  END IF;
  RETURN erased;
END
$$;

ALTER FUNCTION memsvc.erased_operations(p_user_id uuid, p_operations jsonb) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.erased_operations(p_user_id uuid, p_operations jsonb) IS 'Places of operations that would only bring back what was erased.';

CREATE FUNCTION memsvc.erasure_leftovers(p_user_id uuid, p_erasure_id uuid) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    AS $_$
DECLARE
  gone CONSTANT uuid[] := (
    SELECT e.ids FROM erasures AS e WHERE e.user_id = p_user_id AND e.erasure_id = p_erasure_id
  );
  looked record;
  found_rows bigint;
  leftovers jsonb := '{}';
BEGIN
  FOR looked IN
    SELECT c.relname, a.attname, a.atttypid = 'uuid[]'::regtype AS several
    FROM pg_class AS c
    INNER JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relnamespace = 'memsvc'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
      AND a.atttypid IN ('uuid'::regtype, 'uuid[]'::regtype)
      AND a.attname NOT IN ('user_id', 'derived_from', 'subject_id') AND c.relname <> 'erasures'
      AND EXISTS (SELECT FROM pg_attribute AS o WHERE o.attrelid = c.oid AND o.attname = 'user_id')
      AND has_column_privilege(c.oid, a.attnum, 'SELECT')
    ORDER BY c.relname, a.attnum
  LOOP
    EXECUTE format(
      'SELECT count(*) FROM memsvc.%I AS t WHERE t.user_id = $1 AND %s', looked.relname,
      -- && would compare each with each; = ANY hashes them.
      format(CASE WHEN looked.several THEN 'EXISTS (SELECT FROM unnest(t.%I) AS i (id) WHERE i.id = ANY ($2))'
        ELSE 't.%I = ANY ($2)' END, looked.attname)
    ) INTO found_rows USING p_user_id, gone;
    IF found_rows > 0 THEN
      leftovers := leftovers || jsonb_build_object(looked.relname || '.' || looked.attname, found_rows);
    END IF;
  END LOOP;
  SELECT count(*) INTO found_rows FROM jobs AS j
  WHERE j.user_id = p_user_id AND j.state = 'pending' AND j.subject_id = ANY (gone);
  IF found_rows > 0 THEN
    leftovers := leftovers || jsonb_build_object('jobs.subject_id', found_rows);
  END IF;
  SELECT count(*) INTO found_rows FROM terms AS t WHERE t.user_id = p_user_id AND t.passages <= 0;
  IF found_rows > 0 THEN
    leftovers := leftovers || jsonb_build_object('terms.passages', found_rows);
  END IF;
  RETURN leftovers;
END
$_$;

ALTER FUNCTION memsvc.erasure_leftovers(p_user_id uuid, p_erasure_id uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.erasure_leftovers(p_user_id uuid, p_erasure_id uuid) IS 'What still speaks of what was erased, by table and column.';

CREATE FUNCTION memsvc.erasure_reach(p_user_id uuid, p_kind text, p_subject_id uuid, p_limit integer) RETURNS TABLE(passages uuid[], source_id uuid, edges uuid[], node_id uuid)
    LANGUAGE plpgsql STABLE ROWS 1
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
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

ALTER FUNCTION memsvc.erasure_reach(p_user_id uuid, p_kind text, p_subject_id uuid, p_limit integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.erasure_reach(p_user_id uuid, p_kind text, p_subject_id uuid, p_limit integer) IS 'What an erasure is about, with passages of blocks that change by it.';

CREATE FUNCTION memsvc.erasure_scope(p_user_id uuid, p_kind text, p_subject_id uuid, p_limit integer) RETURNS TABLE(passages uuid[], source_id uuid, edges uuid[], node_id uuid)
    LANGUAGE plpgsql STABLE ROWS 1
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
BEGIN
  CASE p_kind
  WHEN 'message' THEN
    RETURN QUERY SELECT ARRAY(
      SELECT k.passage_id FROM passages AS k
      WHERE k.user_id = p_user_id AND (k.source_id, k.session, k.ordinal) = (p.source_id, p.session, p.ordinal)
    ), NULL::uuid, '{}'::uuid[], NULL::uuid
    FROM passages AS p WHERE p.user_id = p_user_id AND p.passage_id = p_subject_id;
  WHEN 'passage' THEN
    RETURN QUERY SELECT ARRAY[p.passage_id], NULL::uuid, '{}'::uuid[], NULL::uuid
    FROM passages AS p WHERE p.user_id = p_user_id AND p.passage_id = p_subject_id;
  WHEN 'source' THEN
    RETURN QUERY SELECT ARRAY(
      SELECT k.passage_id FROM passages AS k WHERE k.user_id = p_user_id AND k.source_id = p_subject_id
      ORDER BY k.session, k.ordinal, k.part LIMIT p_limit
    ), s.source_id, '{}'::uuid[], NULL::uuid
    FROM sources AS s WHERE s.user_id = p_user_id AND s.source_id = p_subject_id;
  WHEN 'fact' THEN
    RETURN QUERY SELECT '{}'::uuid[], NULL::uuid, ARRAY[e.edge_id], NULL::uuid
    FROM edges AS e WHERE e.user_id = p_user_id AND e.edge_id = p_subject_id;
  WHEN 'node' THEN
    RETURN QUERY SELECT '{}'::uuid[], NULL::uuid, ARRAY(
      SELECT e.edge_id FROM edges AS e WHERE e.user_id = p_user_id AND e.from_node = p_subject_id
      UNION
      SELECT e.edge_id FROM edges AS e WHERE e.user_id = p_user_id AND e.to_node = p_subject_id
      LIMIT p_limit
    ), n.node_id
    FROM nodes AS n WHERE n.user_id = p_user_id AND n.node_id = p_subject_id;
  WHEN 'block' THEN
    RETURN QUERY SELECT ARRAY(
      SELECT k.passage_id FROM passages AS k
      WHERE k.user_id = p_user_id AND k.source_id = p_subject_id AND k.kind IN ('block', 'former')
      ORDER BY k.session, k.ordinal, k.part LIMIT p_limit
    ), (
      SELECT s.source_id FROM sources AS s
      WHERE s.user_id = p_user_id AND s.source_id = p_subject_id AND s.kind = 'block'
    ), '{}'::uuid[], NULL::uuid
    WHERE EXISTS (SELECT FROM profile_versions AS v WHERE v.user_id = p_user_id AND v.block_id = p_subject_id)
      OR EXISTS (
        SELECT FROM sources AS s
        WHERE s.user_id = p_user_id AND s.source_id = p_subject_id AND s.kind = 'block'
      );
  END CASE;
END
$$;

ALTER FUNCTION memsvc.erasure_scope(p_user_id uuid, p_kind text, p_subject_id uuid, p_limit integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.erasure_scope(p_user_id uuid, p_kind text, p_subject_id uuid, p_limit integer) IS 'What an erasure is about, some of it or all.';

CREATE FUNCTION memsvc.exact_words(p_form text, p_language text, p_text text) RETURNS text[]
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN ARRAY(SELECT DISTINCT CASE WHEN (m.word[1] ~ '[+#_]'::text) THEN lower(m.word[1]) ELSE m.word[1] END AS word FROM regexp_matches(exact_words.p_text, '(?<![A-Za-z0-9_])(?:[A-Za-z][A-Za-z0-9]*(?:\+\+|#)|[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+|[A-Z]{2,5}(?![A-Za-z0-9_]))'::text, 'g'::text) m(word) WHERE ((length(m.word[1]) <= 200) AND ((m.word[1] ~ '[+#_]'::text) OR ((exact_words.p_form = 'stemmed'::text) AND (to_tsvector((('pg_catalog.'::text || quote_ident(exact_words.p_language)))::regconfig, m.word[1]) = ''::tsvector)))));

ALTER FUNCTION memsvc.exact_words(p_form text, p_language text, p_text text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.exact_words(p_form text, p_language text, p_text text) IS 'Names that the parser would cut or drop: C++, snake_case, IT.';

CREATE FUNCTION memsvc.expand_names(p_user_id uuid, p_nodes uuid[], p_hops integer, p_fan_out integer, p_as_of timestamp with time zone DEFAULT NULL::timestamp with time zone, p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(node_id uuid, distance integer, reach double precision, path text[])
    LANGUAGE plpgsql STABLE ROWS 50
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_incremental_sort TO 'off'
    SET enable_nestloop TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  moment CONSTANT timestamptz := coalesce(p_as_of, clock_timestamp());
  nodes uuid[];
  distances integer[];
  reaches double precision[];
  parents uuid[];
  types text[];
  frontier uuid[];
  frontier_reach double precision[];
  same record;
  step record;
BEGIN
  IF coalesce(cardinality(p_nodes), 0) = 0 THEN
    RETURN;
  END IF;
  same := memsvc.stored_nodes(p_user_id, p_nodes, p_known_at);
  nodes := same.starts;
  IF same.merged THEN
    nodes := ARRAY(SELECT DISTINCT u.* FROM unnest(same.starts) AS u);
  END IF;
  distances := array_fill(0, ARRAY[cardinality(nodes)]);
  reaches := array_fill(1::double precision, ARRAY[cardinality(nodes)]);
  parents := array_fill(NULL::uuid, ARRAY[cardinality(nodes)]);
  types := array_fill(NULL::text, ARRAY[cardinality(nodes)]);
  frontier := nodes;
  frontier_reach := reaches;
  FOR number IN 1 .. least(p_hops, 2) LOOP
    WITH met AS MATERIALIZED (
      SELECT f.* FROM memsvc.facts_at(
        p_user_id, same.starts, same.nodes,
        array_fill(CASE number WHEN 1 THEN 2 * p_fan_out ELSE p_fan_out END, ARRAY[cardinality(same.nodes)]),
        array_fill(moment, ARRAY[cardinality(same.nodes)]), p_known_at
      ) AS f
    ),
    edge AS (
      SELECT m.start_id, coalesce(r.canonical_id, m.other_id) AS reached_id, m.type,
        memsvc.edge_type_weight(m.type) * least(1, m.weight) AS strength,
        row_number() OVER (PARTITION BY m.start_id ORDER BY m.weight DESC, m.version_id DESC) AS nth,
        count(*) OVER (PARTITION BY m.start_id) AS degree
      FROM met AS m
      LEFT JOIN ( -- by itself: else the condition becomes the join's, and the function is called all the same
        SELECT n.* FROM memsvc.resolve_nodes(
          p_user_id, ARRAY(SELECT DISTINCT o.other_id FROM met AS o), p_known_at
        ) AS n WHERE same.merged OFFSET 0
      ) AS r ON r.node_id = m.other_id
    ),
    telling AS (
      SELECT e.start_id, e.reached_id, e.type, e.nth, e.strength / (1 + ln(e.degree)) AS share,
        row_number() OVER (PARTITION BY e.start_id ORDER BY e.strength DESC, e.nth) AS place
      FROM edge AS e
    ),
    fresh AS (
      SELECT DISTINCT ON (l.reached_id) l.reached_id, l.start_id, l.type, f.reach * l.share AS reach
      FROM telling AS l
      INNER JOIN unnest(frontier, frontier_reach) AS f (node_id, reach) ON f.node_id = l.start_id
      WHERE l.place <= p_fan_out AND l.reached_id <> ALL (nodes)
      ORDER BY l.reached_id, f.reach * l.share DESC, l.nth, l.start_id
    )
    SELECT array_agg(f.reached_id ORDER BY f.reach DESC, f.reached_id) AS nodes,
      array_agg(f.start_id ORDER BY f.reach DESC, f.reached_id) AS parents,
      array_agg(f.type ORDER BY f.reach DESC, f.reached_id) AS types,
      array_agg(f.reach ORDER BY f.reach DESC, f.reached_id) AS reaches
    INTO step FROM fresh AS f;
    EXIT WHEN step.nodes IS NULL;
    nodes := nodes || step.nodes;
    distances := distances || array_fill(number, ARRAY[cardinality(step.nodes)]);
    reaches := reaches || step.reaches;
    parents := parents || step.parents;
    types := types || step.types;
    frontier := step.nodes[:2 * p_fan_out];
    frontier_reach := step.reaches[:2 * p_fan_out];
    CONTINUE WHEN number = least(p_hops, 2);
    same := memsvc.stored_nodes(p_user_id, frontier, p_known_at);
  END LOOP;

  RETURN QUERY
  WITH walked AS MATERIALIZED (
    SELECT w.*, coalesce(c.label, '') AS label
    FROM unnest(nodes, distances, reaches, parents, types) AS w (node_id, distance, reach, parent_id, type)
    LEFT JOIN memsvc.node_cards(p_user_id, nodes, p_as_of, p_known_at) AS c ON c.node_id = w.node_id
  )
  SELECT w.node_id, w.distance, w.reach, CASE w.distance
      WHEN 0 THEN ARRAY[w.label]
      WHEN 1 THEN ARRAY[p.label, w.type, w.label]
      ELSE ARRAY[g.label, p.type, p.label, w.type, w.label]
    END
  FROM walked AS w
  LEFT JOIN walked AS p ON p.node_id = w.parent_id
  LEFT JOIN walked AS g ON g.node_id = p.parent_id
  ORDER BY w.distance, w.reach DESC, w.node_id;
END
$$;

ALTER FUNCTION memsvc.expand_names(p_user_id uuid, p_nodes uuid[], p_hops integer, p_fan_out integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.expand_names(p_user_id uuid, p_nodes uuid[], p_hops integer, p_fan_out integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) IS 'Nodes within some steps of what a query names, with how well they are reached and by which way.';

CREATE FUNCTION memsvc.fact_is_from(p_user_id uuid, p_version_id uuid, p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_known_at timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $$
DECLARE
  known CONSTANT timestamptz := coalesce(p_known_at, 'infinity');
BEGIN
  RETURN EXISTS (
    SELECT FROM source_links AS l
    CROSS JOIN LATERAL (
      SELECT i.* FROM passages AS i WHERE i.user_id = p_user_id AND i.passage_id = ANY (ARRAY[l.passage_id])
      ORDER BY i.passage_id OFFSET 0
    ) AS p
    WHERE l.user_id = p_user_id AND l.edge_version_id = p_version_id AND l.stance = 'supports'
      AND l.recorded_from <= known AND (l.recorded_to = 'infinity' OR l.recorded_to > known)
      AND (p_sources IS NULL OR p.source_id = ANY (p_sources))
      AND (p_not_sources IS NULL OR p.source_id <> ALL (p_not_sources))
      AND (p_said_from IS NULL OR p.said_at >= p_said_from)
      AND (p_said_to IS NULL OR p.said_at < p_said_to)
  );
END
$$;

ALTER FUNCTION memsvc.fact_is_from(p_user_id uuid, p_version_id uuid, p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.fact_is_from(p_user_id uuid, p_version_id uuid, p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_known_at timestamp with time zone) IS 'Whether a passage of some sources and times supports a fact.';

CREATE TABLE memsvc.edges (
    user_id uuid NOT NULL,
    edge_id uuid DEFAULT uuidv7() NOT NULL,
    from_node uuid NOT NULL,
    type text NOT NULL,
    to_node uuid NOT NULL,
    key text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT edges_key_check CHECK ((length(key) <= 200))
)
WITH (autovacuum_vacuum_scale_factor='0.05');
ALTER TABLE ONLY memsvc.edges ALTER COLUMN key SET STATISTICS 0;

ALTER TABLE ONLY memsvc.edges FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.edges OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.edges IS 'Identity of a relation between two nodes as they are stored. What is known about it stands in edge_versions; merges change nothing here.';

COMMENT ON COLUMN memsvc.edges.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.edges.edge_id IS 'Stable for ever.';

COMMENT ON COLUMN memsvc.edges.from_node IS 'Where it starts.';

COMMENT ON COLUMN memsvc.edges.type IS 'Its type in the ontology.';

COMMENT ON COLUMN memsvc.edges.to_node IS 'Where it ends.';

COMMENT ON COLUMN memsvc.edges.key IS 'Tells several relations of one type between the same two nodes apart.';

COMMENT ON COLUMN memsvc.edges.created_at IS 'When it was first recorded.';

CREATE FUNCTION memsvc.facts(p_user_id uuid, p_about uuid[], p_types text[] DEFAULT NULL::text[], p_as_of timestamp with time zone DEFAULT NULL::timestamp with time zone, p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone, p_side text DEFAULT 'both'::text) RETURNS TABLE(version_id uuid, edge_id uuid, from_node uuid, type text, to_node uuid, key text, fact text, data jsonb, weight real, confidence real, asserted_by text, valid_from timestamp with time zone, valid_to timestamp with time zone, recorded_from timestamp with time zone, recorded_to timestamp with time zone, contested boolean, stored_from uuid, stored_to uuid)
    LANGUAGE sql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    BEGIN ATOMIC
 WITH about AS MATERIALIZED (
          SELECT array_agg(s.node_id) AS nodes
            FROM memsvc.same_nodes(facts.p_user_id, facts.p_about, facts.p_known_at) s(canonical_id, node_id)
         ), found AS MATERIALIZED (
          SELECT v.user_id,
             v.version_id,
             v.edge_id,
             v.from_node,
             v.type,
             v.to_node,
             v.functional,
             v.fact,
             v.data,
             v.weight,
             v.confidence,
             v.asserted_by,
             v.derived_from,
             v.valid_from,
             v.valid_to,
             v.recorded_from,
             v.recorded_to,
             v.tsv,
             v.length
            FROM (about a
              CROSS JOIN LATERAL memsvc.edges_known(facts.p_user_id, a.nodes, facts.p_side, facts.p_known_at) v(user_id, version_id, edge_id, from_node, type, to_node, functional, fact, data, weight, confidence, asserted_by, derived_from, valid_from, valid_to, recorded_from, recorded_to, tsv, length))
           WHERE (((facts.p_types IS NULL) OR (v.type = ANY (facts.p_types))) AND ((facts.p_as_of IS NULL) OR ((v.valid_from <= facts.p_as_of) AND (v.valid_to > facts.p_as_of))))
         ), starts AS MATERIALIZED (
          SELECT s.canonical_id,
             s.node_id
            FROM memsvc.same_nodes(facts.p_user_id, ARRAY( SELECT DISTINCT f_1.from_node
                    FROM found f_1
                   WHERE f_1.functional), facts.p_known_at) s(canonical_id, node_id)
         ), rival AS MATERIALIZED (
          SELECT v.from_node,
             v.to_node,
             v.type,
             v.valid_from,
             v.valid_to
            FROM memsvc.edges_known(facts.p_user_id, ARRAY( SELECT s.node_id
                    FROM starts s
                   WHERE (s.canonical_id IN ( SELECT d.canonical_id
                            FROM starts d
                           GROUP BY d.canonical_id
                          HAVING (count(*) > 1)))), 'from'::text, facts.p_known_at) v(user_id, version_id, edge_id, from_node, type, to_node, functional, fact, data, weight, confidence, asserted_by, derived_from, valid_from, valid_to, recorded_from, recorded_to, tsv, length)
           WHERE v.functional
         ), resolved AS MATERIALIZED (
          SELECT r.node_id,
             r.canonical_id
            FROM memsvc.resolve_nodes(facts.p_user_id, ARRAY( SELECT f_1.from_node
                    FROM found f_1
                 UNION
                  SELECT f_1.to_node
                    FROM found f_1
                 UNION
                  SELECT v.from_node
                    FROM rival v
                 UNION
                  SELECT v.to_node
                    FROM rival v), facts.p_known_at) r(node_id, canonical_id)
         )
  SELECT f.version_id,
     f.edge_id,
     rf.canonical_id,
     f.type,
     rt.canonical_id,
     e.key,
     f.fact,
     f.data,
     f.weight,
     f.confidence,
     f.asserted_by,
     f.valid_from,
     f.valid_to,
     f.recorded_from,
     f.recorded_to,
     (f.functional AND (EXISTS ( SELECT
            FROM ((rival v
              JOIN resolved vf ON ((vf.node_id = v.from_node)))
              JOIN resolved vt ON ((vt.node_id = v.to_node)))
           WHERE ((v.type = f.type) AND (vf.canonical_id = rf.canonical_id) AND (vt.canonical_id <> rt.canonical_id) AND (v.valid_from < f.valid_to) AND (v.valid_to > f.valid_from) AND ((facts.p_as_of IS NULL) OR ((v.valid_from <= facts.p_as_of) AND (v.valid_to > facts.p_as_of))))))),
     f.from_node,
     f.to_node
    FROM (((found f
      JOIN resolved rf ON ((rf.node_id = f.from_node)))
      JOIN resolved rt ON ((rt.node_id = f.to_node)))
      CROSS JOIN LATERAL ( SELECT i.key
            FROM memsvc.edges i
           WHERE ((i.user_id = facts.p_user_id) AND (i.edge_id = f.edge_id))
          OFFSET 0) e)
   ORDER BY f.valid_from DESC, f.recorded_from DESC, f.version_id;
END;

ALTER FUNCTION memsvc.facts(p_user_id uuid, p_about uuid[], p_types text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_side text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.facts(p_user_id uuid, p_about uuid[], p_types text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_side text) IS 'Facts about nodes and all that are the same, at a valid and a recorded time.';

CREATE FUNCTION memsvc.facts_at(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_fan_outs integer[], p_moments timestamp with time zone[], p_known_at timestamp with time zone) RETURNS TABLE(start_id uuid, other_id uuid, version_id uuid, from_node uuid, to_node uuid, type text, weight real, recorded_from timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 300
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_incremental_sort TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  asker CONSTANT uuid := memsvc.require_identity(p_user_id);
  known CONSTANT timestamptz := coalesce(p_known_at, 'infinity');
BEGIN
  RETURN QUERY
  SELECT s.start_id, x.*
  FROM (
    SELECT u.start_id, u.node_id, u.fan_out + 1 AS most, coalesce(u.moment, 'infinity') AS moment,
      coalesce(u.moment, '-infinity') AS ended, array_agg(u.node_id) OVER (PARTITION BY u.start_id) AS same
    FROM unnest(p_starts, p_nodes, p_fan_outs, p_moments) AS u (start_id, node_id, fan_out, moment)
  ) AS s
  CROSS JOIN LATERAL (
    (SELECT v.to_node, v.version_id, v.from_node, v.to_node, v.type, v.weight, v.recorded_from FROM edge_versions AS v
    WHERE v.user_id = asker AND v.from_node = s.node_id AND v.recorded_to = 'infinity' AND v.valid_to = 'infinity'
      AND v.valid_from <= s.moment AND v.recorded_from <= known AND v.to_node <> ALL (s.same)
    ORDER BY v.weight DESC, v.version_id DESC LIMIT s.most)
    UNION ALL
    (SELECT e.* FROM (
      SELECT v.to_node, v.version_id, v.from_node, v.to_node, v.type, v.weight, v.recorded_from
      FROM edge_versions AS v
      WHERE v.user_id = asker AND v.from_node = s.node_id AND v.recorded_to = 'infinity' AND v.valid_to < 'infinity'
        AND v.valid_to > s.ended AND v.valid_from <= s.moment AND v.recorded_from <= known
        AND v.to_node <> ALL (s.same)
      ORDER BY v.valid_to, v.weight DESC, v.version_id DESC
    ) AS e ORDER BY e.weight DESC, e.version_id DESC LIMIT s.most)
    UNION ALL
    (SELECT v.from_node, v.version_id, v.from_node, v.to_node, v.type, v.weight, v.recorded_from
    FROM edge_versions AS v
    WHERE v.user_id = asker AND v.to_node = s.node_id AND v.recorded_to = 'infinity' AND v.valid_to = 'infinity'
      AND v.valid_from <= s.moment AND v.recorded_from <= known AND v.from_node <> ALL (s.same)
    ORDER BY v.weight DESC, v.version_id DESC LIMIT s.most)
    UNION ALL
    (SELECT e.* FROM (
      SELECT v.from_node, v.version_id, v.from_node, v.to_node, v.type, v.weight, v.recorded_from
      FROM edge_versions AS v
      WHERE v.user_id = asker AND v.to_node = s.node_id AND v.recorded_to = 'infinity' AND v.valid_to < 'infinity'
        AND v.valid_to > s.ended AND v.valid_from <= s.moment AND v.recorded_from <= known
        AND v.from_node <> ALL (s.same)
      ORDER BY v.valid_to, v.weight DESC, v.version_id DESC
    ) AS e ORDER BY e.weight DESC, e.version_id DESC LIMIT s.most)
  ) AS x (other_id, version_id, from_node, to_node, type, weight, recorded_from);
  IF p_known_at IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY
  SELECT s.start_id, x.*
  FROM (
    SELECT u.*, array_agg(u.node_id) OVER (PARTITION BY u.start_id) AS same
    FROM unnest(p_starts, p_nodes, p_fan_outs, p_moments) AS u (start_id, node_id, fan_out, moment)
  ) AS s
  CROSS JOIN LATERAL (
    SELECT b.* FROM (
      (SELECT v.to_node AS other_id, v.version_id, v.from_node, v.to_node, v.type, v.weight, v.recorded_from
      FROM edge_versions AS v
      WHERE v.user_id = asker AND v.from_node = s.node_id AND v.recorded_to < 'infinity' AND v.recorded_to > p_known_at
        AND v.recorded_from <= p_known_at
        AND (s.moment IS NULL OR (v.valid_from <= s.moment AND v.valid_to > s.moment)) AND v.to_node <> ALL (s.same)
      ORDER BY v.type OFFSET 0)
      UNION ALL
      (SELECT v.from_node, v.version_id, v.from_node, v.to_node, v.type, v.weight, v.recorded_from
      FROM edge_versions AS v
      WHERE v.user_id = asker AND v.to_node = s.node_id AND v.recorded_to < 'infinity' AND v.recorded_to > p_known_at
        AND v.recorded_from <= p_known_at
        AND (s.moment IS NULL OR (v.valid_from <= s.moment AND v.valid_to > s.moment)) AND v.from_node <> ALL (s.same)
      ORDER BY v.type OFFSET 0)
    ) AS b
    ORDER BY b.weight DESC, b.version_id DESC LIMIT s.fan_out + 1
  ) AS x;
END
$$;

ALTER FUNCTION memsvc.facts_at(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_fan_outs integer[], p_moments timestamp with time zone[], p_known_at timestamp with time zone) OWNER TO memsvc_recall;

COMMENT ON FUNCTION memsvc.facts_at(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_fan_outs integer[], p_moments timestamp with time zone[], p_known_at timestamp with time zone) IS 'Facts at stored nodes, the strongest of each.';

CREATE FUNCTION memsvc.facts_to_compare(p_user_id uuid, p_source_id uuid, p_from uuid[], p_types text[], p_to uuid[], p_passages uuid[], p_extractor text) RETURNS TABLE(version_id uuid, edge_id uuid, from_node uuid, type text, to_node uuid, stored_from uuid, stored_to uuid, key text, fact text, data jsonb, weight real, confidence real, asserted_by text, valid_from timestamp with time zone, valid_to timestamp with time zone, said timestamp with time zone[], supported boolean, here uuid)
    LANGUAGE plpgsql STABLE ROWS 20
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH wanted AS MATERIALIZED (
    SELECT DISTINCT w.from_node, w.type, w.to_node FROM unnest(p_from, p_types, p_to) AS w (from_node, type, to_node)
  ),
  same AS MATERIALIZED (
    SELECT s.canonical_id, s.node_id FROM memsvc.same_nodes(p_user_id, p_from) AS s
  ),
  found AS MATERIALIZED (
    SELECT DISTINCT ON (f.version_id) f.*, s.canonical_id AS start
    FROM wanted AS w
    INNER JOIN same AS s ON s.canonical_id = w.from_node
    CROSS JOIN LATERAL (
      SELECT v.* FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.from_node = s.node_id AND v.type = w.type AND v.recorded_to = 'infinity'
        AND (w.to_node IS NULL OR v.to_node IN (
          SELECT o.node_id FROM memsvc.same_nodes(p_user_id, ARRAY[w.to_node]) AS o
        ))
      ORDER BY v.recorded_from DESC LIMIT 200
    ) AS f
  ),
  ends AS MATERIALIZED (
    SELECT r.node_id, r.canonical_id
    FROM memsvc.resolve_nodes(p_user_id, ARRAY(SELECT DISTINCT f.to_node FROM found AS f)) AS r
  )
  SELECT f.version_id, f.edge_id, f.start, f.type, e.canonical_id, f.from_node, f.to_node, g.key, f.fact, f.data,
    f.weight, f.confidence, f.asserted_by, nullif(f.valid_from, '-infinity'), nullif(f.valid_to, 'infinity'),
    coalesce(k.said, ARRAY[f.recorded_from]), coalesce(k.supported, false), k.here
  FROM found AS f
  INNER JOIN ends AS e ON e.node_id = f.to_node
  INNER JOIN edges AS g ON g.user_id = p_user_id AND g.edge_id = f.edge_id
  LEFT JOIN LATERAL (
    SELECT true AS supported,
      coalesce(array_agg(DISTINCT p.said_at) FILTER (WHERE NOT (l.passage_id = ANY (p_passages) AND l.asserted_by IN (
        SELECT x.extractor FROM extractions AS x
        WHERE x.user_id = p_user_id AND x.source_id = p_source_id AND x.extractor <> p_extractor
      ))), '{}') AS said,
      (array_agg(p.passage_id ORDER BY p.passage_id DESC) FILTER (WHERE p.source_id = p_source_id))[1] AS here
    FROM source_links AS l
    INNER JOIN passages AS p ON p.user_id = p_user_id AND p.passage_id = l.passage_id
    WHERE l.user_id = p_user_id AND l.edge_version_id = f.version_id AND l.stance = 'supports'
      AND l.recorded_to = 'infinity'
    GROUP BY ()
    HAVING count(*) > 0
  ) AS k ON true;
END
$$;

ALTER FUNCTION memsvc.facts_to_compare(p_user_id uuid, p_source_id uuid, p_from uuid[], p_types text[], p_to uuid[], p_passages uuid[], p_extractor text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.facts_to_compare(p_user_id uuid, p_source_id uuid, p_from uuid[], p_types text[], p_to uuid[], p_passages uuid[], p_extractor text) IS 'Open versions that new facts meet, with when each was said.';

CREATE FUNCTION memsvc.fold_statistics(p_user_id uuid) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
DECLARE
  folded integer;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('memsvc.fold_statistics ' || p_user_id::text, 0));
  WITH taken AS MATERIALIZED (
    DELETE FROM term_deltas AS d WHERE d.user_id = p_user_id
    RETURNING d.kind, d.form, d.passages, d.length, d.terms, d.changes
  ),
  sizes AS (
    INSERT INTO corpora AS c (user_id, kind, form, passages, length)
    SELECT p_user_id, t.kind, t.form, sum(t.passages), sum(t.length) FROM taken AS t GROUP BY t.kind, t.form
    ON CONFLICT (user_id, kind, form) DO UPDATE
    SET passages = c.passages + excluded.passages, length = c.length + excluded.length
  ),
  frequencies AS (
    INSERT INTO terms AS f (user_id, kind, form, term, passages)
    SELECT p_user_id, t.kind, t.form, u.term, sum(u.change)
    FROM taken AS t CROSS JOIN LATERAL unnest(t.terms, t.changes) AS u (term, change)
    GROUP BY t.kind, t.form, u.term
    ORDER BY t.kind, t.form, u.term
    ON CONFLICT (user_id, kind, form, term) DO UPDATE SET passages = f.passages + excluded.passages
  )
  SELECT count(*) INTO folded FROM taken;
  RETURN folded;
END
$$;

ALTER FUNCTION memsvc.fold_statistics(p_user_id uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.fold_statistics(p_user_id uuid) IS 'Moves a user''s term deltas into corpora and terms; how many there were.';

CREATE FUNCTION memsvc.fail_job(p_user_id uuid, p_job_id uuid, p_error_code text, p_error text, p_passing boolean, p_started_at timestamp with time zone) RETURNS void
    LANGUAGE sql
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 SELECT memsvc.fold_statistics(p_user_id) AS fold_statistics;
 UPDATE memsvc.jobs j SET attempts = LEAST((j.attempts + 1), 32767), outages = LEAST((j.outages + (fail_job.p_passing)::integer), 32767), state =
         CASE
             WHEN (((j.attempts - j.outages) >= 3) AND (NOT fail_job.p_passing)) THEN 'failed'::text
             ELSE 'pending'::text
         END, finished_at =
         CASE
             WHEN (((j.attempts - j.outages) >= 3) AND (NOT fail_job.p_passing)) THEN clock_timestamp()
             ELSE NULL::timestamp with time zone
         END, started_at = COALESCE(fail_job.p_started_at, now()), run_after = (clock_timestamp() + ('00:00:01'::interval * LEAST((300)::double precision, power((5)::double precision, ((LEAST((j.attempts)::integer, 9) + 1))::double precision)))), error_code = fail_job.p_error_code, error = fail_job.p_error
   WHERE ((j.user_id = fail_job.p_user_id) AND (j.job_id = fail_job.p_job_id) AND (j.state = 'pending'::text));
END;

ALTER FUNCTION memsvc.fail_job(p_user_id uuid, p_job_id uuid, p_error_code text, p_error text, p_passing boolean, p_started_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.fail_job(p_user_id uuid, p_job_id uuid, p_error_code text, p_error text, p_passing boolean, p_started_at timestamp with time zone) IS 'Notes why a job failed and when to try again.';

CREATE FUNCTION memsvc.familiarity(p_recalls integer) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ((GREATEST(COALESCE(p_recalls, 0), 0))::double precision / ((GREATEST(COALESCE(p_recalls, 0), 0))::double precision + (5)::double precision));

ALTER FUNCTION memsvc.familiarity(p_recalls integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.familiarity(p_recalls integer) IS 'How often it was recalled, 0 to 1, saturating: n / (n + 5).';

CREATE FUNCTION memsvc.file_block(p_user_id uuid, p_block_id uuid, p_parts jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
DECLARE
  closed CONSTANT uuid[] := ARRAY(
    SELECT p.passage_id FROM passages AS p
    WHERE p.user_id = p_user_id AND p.source_id = p_block_id AND p.session = '' AND p.kind = 'block'
      AND p.ordinal = ( -- those before it are 'former' since it was filed
        SELECT max(m.ordinal) FROM passages AS m
        WHERE m.user_id = p_user_id AND m.source_id = p_block_id AND m.session = ''
      )
      AND NOT EXISTS (
        SELECT FROM profile_versions AS v
        WHERE v.user_id = p_user_id AND v.block_id = p_block_id AND v.version = p.ordinal AND v.kind = 'archival'
          AND v.recorded_to = 'infinity'
      )
  );
  given CONSTANT integer[] := ARRAY(SELECT k.version::integer FROM jsonb_object_keys(p_parts) AS k (version));
  filed uuid[];
BEGIN
  IF closed <> '{}' THEN
    PERFORM memsvc.retire_passages(p_user_id, closed);
    PERFORM memsvc.count_words(p_user_id, closed);
  END IF;
  IF given = '{}' THEN
    RETURN;
  END IF;
  INSERT INTO sources (user_id, source_id, kind, identifier, title)
  SELECT p_user_id, p_block_id, 'block', p_block_id::text, v.name
  FROM profile_versions AS v
  WHERE v.user_id = p_user_id AND v.block_id = p_block_id
  ORDER BY v.version DESC
  LIMIT 1
  ON CONFLICT DO NOTHING;
  WITH stored AS (
    INSERT INTO passages (
      user_id, source_id, kind, ordinal, part, speaker, role, text, said_at, said_offset, language, tsv, tsv_simple,
      length, length_simple, recorded_at
    )
    SELECT p_user_id, p_block_id, w.kind, w.version, w.part, w.name, 'other', w.text, w.recorded_from,
      w.said_offset, w.language, w.tsv, w.tsv_simple, memsvc.word_count(w.tsv), memsvc.word_count(w.tsv_simple),
      w.recorded_from
    FROM (
      SELECT CASE WHEN v.recorded_to = 'infinity' THEN 'block' ELSE 'former' END AS kind, v.version, v.name,
        v.recorded_from, u.language, p.text, (p.place - 1)::smallint AS part,
        (
          extract(epoch FROM v.recorded_from AT TIME ZONE u.time_zone - v.recorded_from AT TIME ZONE 'UTC') / 60
        )::smallint AS said_offset,
        memsvc.to_words('stemmed', u.language, memsvc.searched_text(v.name, p.text, NULL)) AS tsv,
        memsvc.to_words('simple', u.language, memsvc.searched_text(v.name, p.text, NULL)) AS tsv_simple
      FROM profile_versions AS v
      INNER JOIN users AS u ON u.user_id = p_user_id
      CROSS JOIN LATERAL jsonb_array_elements_text(p_parts -> v.version::text) WITH ORDINALITY AS p (text, place)
      WHERE v.user_id = p_user_id AND v.block_id = p_block_id AND v.version = ANY (given) AND v.kind = 'archival'
        AND v.text = (
          SELECT string_agg(j.text, '' ORDER BY j.place)
          FROM jsonb_array_elements_text(p_parts -> v.version::text) WITH ORDINALITY AS j (text, place)
        )
        AND ( -- no EXISTS, which might be answered by reading all of the block
          SELECT min(k.part) FROM passages AS k
          WHERE k.user_id = p_user_id AND k.source_id = p_block_id AND k.session = '' AND k.ordinal = v.version
        ) IS NULL
    ) AS w
    RETURNING passage_id
  )
  SELECT coalesce(array_agg(s.passage_id), '{}') INTO filed FROM stored AS s;
  PERFORM memsvc.count_words(p_user_id, filed);
  IF filed <> '{}' THEN
    PERFORM memsvc.ask_job(p_user_id, 'process', p_block_id);
  END IF;
END
$$;

ALTER FUNCTION memsvc.file_block(p_user_id uuid, p_block_id uuid, p_parts jsonb) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.file_block(p_user_id uuid, p_block_id uuid, p_parts jsonb) IS 'Brings the passages of a block in line with what it says in the archive.';

CREATE FUNCTION memsvc.unfiled_versions(p_user_id uuid, p_block_id uuid) RETURNS TABLE(block_id uuid, version integer, text text)
    LANGUAGE sql STABLE
    BEGIN ATOMIC
 SELECT v.block_id,
     v.version,
     v.text
    FROM memsvc.profile_versions v
   WHERE ((v.user_id = unfiled_versions.p_user_id) AND (v.kind = 'archival'::text) AND ((unfiled_versions.p_block_id IS NULL) OR (v.block_id = unfiled_versions.p_block_id)) AND
         CASE
             WHEN (( SELECT min(p.part) AS min
                FROM memsvc.passages p
               WHERE ((p.user_id = unfiled_versions.p_user_id) AND (p.source_id = v.block_id) AND (p.session = ''::text) AND (p.ordinal = v.version))) IS NULL) THEN (btrim(v.text, ' 
	'::text) <> ''::text)
             ELSE false
         END);
END;

ALTER FUNCTION memsvc.unfiled_versions(p_user_id uuid, p_block_id uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.unfiled_versions(p_user_id uuid, p_block_id uuid) IS 'Versions of blocks in the archive that have no passages yet.';

CREATE FUNCTION memsvc.file_later(p_user_id uuid) RETURNS void
    LANGUAGE sql
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 SELECT memsvc.ask_job(p_user_id, 'tidy'::text, p_user_id) AS ask_job
   WHERE (EXISTS ( SELECT
            FROM memsvc.unfiled_versions(file_later.p_user_id, NULL::uuid) unfiled_versions(block_id, version, text)));
END;

ALTER FUNCTION memsvc.file_later(p_user_id uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.file_later(p_user_id uuid) IS 'Asks for the job that files blocks of the archive.';

CREATE FUNCTION memsvc.filed_with(p_user_id uuid, p_passages uuid[], p_nodes uuid[]) RETURNS uuid[]
    LANGUAGE sql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    BEGIN ATOMIC
 SELECT ARRAY( SELECT p.passage_id
            FROM (( SELECT v.block_id,
                     v.version
                    FROM (memsvc.lines_lost(filed_with.p_user_id, filed_with.p_passages) l(version_id, place)
                      JOIN memsvc.profile_versions v ON (((v.user_id = filed_with.p_user_id) AND (v.version_id = l.version_id))))
                 UNION
                  SELECT v.block_id,
                     v.version
                    FROM memsvc.profile_versions v
                   WHERE ((v.user_id = filed_with.p_user_id) AND (v.node_id = ANY (filed_with.p_nodes)))) b
              JOIN memsvc.passages p ON (((p.user_id = filed_with.p_user_id) AND (p.source_id = b.block_id) AND (p.session = ''::text) AND (p.ordinal = b.version))))
           WHERE (NOT (p.passage_id IN ( SELECT unnest(filed_with.p_passages) AS unnest)))) AS "array";
END;

ALTER FUNCTION memsvc.filed_with(p_user_id uuid, p_passages uuid[], p_nodes uuid[]) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.filed_with(p_user_id uuid, p_passages uuid[], p_nodes uuid[]) IS 'Passages of blocks in the archive whose text changes with what goes.';

CREATE FUNCTION memsvc.require_restored() RETURNS boolean
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  IF to_regclass('memsvc.unfinished_restore') IS NOT NULL THEN
    RAISE EXCEPTION 'a backup was restored into this database, but not to the end' USING ERRCODE = 'MS006';
  END IF;
  RETURN true;
END
$$;

ALTER FUNCTION memsvc.require_restored() OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.require_restored() IS 'True; an error while a restore into this database is unfinished.';

CREATE TABLE memsvc.apps (
    app_id uuid DEFAULT uuidv7() NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT apps_name_check CHECK (((name <> ''::text) AND (length(name) <= 200)))
);

ALTER TABLE ONLY memsvc.apps FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.apps OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.apps IS 'An application; its keys may act for its users and no others.';

COMMENT ON COLUMN memsvc.apps.app_id IS 'Stable id.';

COMMENT ON COLUMN memsvc.apps.name IS 'Unique name, for people and the command line.';

COMMENT ON COLUMN memsvc.apps.created_at IS 'When it was created.';

CREATE FUNCTION memsvc.find_app(p_name text) RETURNS uuid
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    RETURN (SELECT a.app_id FROM memsvc.apps a WHERE ((a.name = find_app.p_name) AND memsvc.require_restored()));

ALTER FUNCTION memsvc.find_app(p_name text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.find_app(p_name text) IS 'The id of the app with this name, or null.';

CREATE FUNCTION memsvc.finish_job(p_user_id uuid, p_job_id uuid, p_requests integer, p_more boolean, p_started_at timestamp with time zone) RETURNS text
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  job jobs%ROWTYPE;
  settled boolean;
BEGIN
  -- Folders of one user take turns until they commit: who has nothing to fold does not queue up.
  IF EXISTS (SELECT FROM term_deltas AS d WHERE d.user_id = p_user_id) THEN
    PERFORM memsvc.fold_statistics(p_user_id);
  END IF;
  SELECT * INTO job FROM jobs AS j WHERE j.user_id = p_user_id AND j.job_id = p_job_id AND j.state = 'pending';
  IF NOT FOUND THEN
    RETURN 'gone';
  END IF;
  PERFORM FROM sources AS s WHERE s.user_id = p_user_id AND s.source_id = job.subject_id FOR NO KEY UPDATE;
  SELECT NOT p_more AND (p_requests IS NULL OR j.requests = p_requests) INTO settled
  FROM jobs AS j WHERE j.user_id = p_user_id AND j.job_id = p_job_id AND j.state = 'pending'
  FOR UPDATE;
  IF NOT FOUND THEN
    RETURN 'gone';
  END IF;
  UPDATE jobs AS j
  SET
    state = CASE WHEN settled THEN 'done' ELSE 'pending' END,
    finished_at = CASE WHEN settled THEN clock_timestamp() END,
    started_at = coalesce(p_started_at, now()),
    run_after = CASE WHEN settled THEN j.run_after ELSE clock_timestamp() END,
    -- What was asked for meanwhile is a new piece of work, with tries of its own.
    attempts = CASE WHEN settled THEN least(j.attempts + 1, 32767) ELSE 0 END,
    outages = CASE WHEN settled THEN j.outages ELSE 0 END,
    error = NULL, error_code = NULL
  WHERE j.user_id = p_user_id AND j.job_id = p_job_id;
  IF NOT settled THEN
    RETURN 'again';
  END IF;
  IF job.kind = 'process' THEN
    UPDATE sources AS s SET status = 'completed', last_ingested_at = clock_timestamp()
    WHERE s.user_id = p_user_id AND s.source_id = job.subject_id;
    INSERT INTO outbox (user_id, kind, subject_id) VALUES (p_user_id, 'source.completed', job.subject_id);
  END IF;
  RETURN 'done';
END
$$;

ALTER FUNCTION memsvc.finish_job(p_user_id uuid, p_job_id uuid, p_requests integer, p_more boolean, p_started_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.finish_job(p_user_id uuid, p_job_id uuid, p_requests integer, p_more boolean, p_started_at timestamp with time zone) IS 'Ends one pending job in the caller''s transaction: done, again or gone.';

CREATE FUNCTION memsvc.first_day(p_written text) RETURNS date
    LANGUAGE sql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    RETURN CASE WHEN ((p_written ~ '^[0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?$'::text) AND pg_input_is_valid(rpad(p_written, 10, substr('0001-01-01'::text, (length(p_written) + 1))), 'date'::text)) THEN (rpad(p_written, 10, substr('0001-01-01'::text, (length(p_written) + 1))))::date ELSE NULL::date END;

ALTER FUNCTION memsvc.first_day(p_written text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.first_day(p_written text) IS 'The first day of a written year, month or day; null where it is none.';

CREATE FUNCTION memsvc.first_person_words() RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ARRAY['i'::text, 'me'::text, 'my'::text, 'mine'::text, 'myself'::text, 'ich'::text, 'mich'::text, 'mir'::text, 'mein'::text, 'meine'::text, 'meinen'::text, 'meinem'::text, 'meiner'::text, 'je'::text, 'moi'::text, 'yo'::text, 'eu'::text, 'meu'::text, 'minha'::text, '我'::text, '私'::text, '僕'::text, '俺'::text];

ALTER FUNCTION memsvc.first_person_words() OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.first_person_words() IS 'Words by which people speak of themselves, in their normal form; none that is a common name, as Mia.';

CREATE FUNCTION memsvc.fold_recalls(p_user_id uuid, p_limit integer) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  folded integer;
BEGIN
  PERFORM memsvc.keep_memories(p_user_id);
  WITH taken AS MATERIALIZED (
    SELECT e.recall_id, e.at, e.memories FROM recall_events AS e
    WHERE e.user_id = p_user_id AND e.folded_at IS NULL
    ORDER BY e.recall_id
    LIMIT p_limit
    FOR UPDATE SKIP LOCKED
  ),
  marked AS (
    UPDATE recall_events AS e SET folded_at = clock_timestamp()
    FROM taken AS t WHERE e.user_id = p_user_id AND e.recall_id = t.recall_id
  ),
  counted AS MATERIALIZED (
    SELECT m.id, count(*)::integer AS recalls, max(t.at) AS last_at
    FROM taken AS t CROSS JOIN LATERAL unnest(t.memories) AS m (id)
    WHERE m.id IS NOT NULL
    GROUP BY m.id
  ),
  added AS (
    INSERT INTO memory_signals AS s (user_id, memory_id, kind, recalls, last_recalled_at)
    SELECT p_user_id, c.id, k.kind, c.recalls, c.last_at
    FROM counted AS c
    INNER JOIN memsvc.kinds_of(p_user_id, ARRAY(SELECT d.id FROM counted AS d)) AS k ON k.memory_id = c.id
    ORDER BY c.id
    ON CONFLICT (user_id, memory_id) DO UPDATE
    SET recalls = s.recalls + excluded.recalls,
      last_recalled_at = greatest(s.last_recalled_at, excluded.last_recalled_at)
  )
  SELECT count(*) INTO folded FROM taken;
  RETURN folded;
END
$$;

ALTER FUNCTION memsvc.fold_recalls(p_user_id uuid, p_limit integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.fold_recalls(p_user_id uuid, p_limit integer) IS 'Adds a user''s recalls to memory_signals, so many events at most; how many.';

CREATE FUNCTION memsvc.forget_analysis(p_user_id uuid, p_ids uuid[]) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  runs CONSTANT uuid[] := ARRAY(
    SELECT r.run_id FROM analysis_runs AS r
    WHERE r.user_id = p_user_id AND EXISTS (SELECT FROM unnest(r.seeds) AS i (id) WHERE i.id = ANY (p_ids))
  );
  gone bigint;
BEGIN
  DELETE FROM analysis_results AS d
  WHERE d.user_id = p_user_id AND (
    d.run_id = ANY (runs)
    OR EXISTS (SELECT FROM unnest(d.nodes || d.facts || d.passages) AS i (id) WHERE i.id = ANY (p_ids))
  );
  GET DIAGNOSTICS gone = ROW_COUNT;
  DELETE FROM analysis_runs AS d WHERE d.user_id = p_user_id AND d.run_id = ANY (runs);
  RETURN gone;
END
$$;

ALTER FUNCTION memsvc.forget_analysis(p_user_id uuid, p_ids uuid[]) OWNER TO memsvc_eraser;

COMMENT ON FUNCTION memsvc.forget_analysis(p_user_id uuid, p_ids uuid[]) IS 'Takes what is erased out of what analyses found; how many results went.';

CREATE FUNCTION memsvc.forget_edges() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
  DELETE FROM memory._ag_label_edge AS d
  USING gone AS g WHERE d.user_id = g.user_id AND d.version_id = g.version_id;
  RETURN NULL;
END
$$;

ALTER FUNCTION memsvc.forget_edges() OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.forget_edges() IS 'Trigger: edges of deleted versions go.';

CREATE FUNCTION memsvc.forget_passages() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  mine uuid;
  forgotten uuid[];
  conversations uuid[];
  followers uuid[];
BEGIN
  SELECT min(g.user_id::text)::uuid, array_agg(g.passage_id), array_agg(DISTINCT g.source_id)
    INTO mine, forgotten, conversations
  FROM gone AS g WHERE g.kind = 'message';
  IF forgotten IS NULL THEN
    RETURN NULL;
  END IF;
  PERFORM memsvc.lock_projection(mine, 'messages', p_alone => false);
  SELECT array_agg(n.version_id) INTO followers
  FROM memory."Passage" AS v
  CROSS JOIN LATERAL (
    SELECT o.version_id FROM memory."NEXT" AS o
    WHERE o.user_id = mine AND o.start_id OPERATOR(ag_catalog.=) v.id OFFSET 0
  ) AS n
  WHERE v.user_id = mine AND v.node_id = ANY (forgotten) AND n.version_id <> ALL (forgotten);
  DELETE FROM memory."NEXT" AS d WHERE d.user_id = mine AND d.version_id = ANY (forgotten || followers);
  DELETE FROM memory."PART_OF" AS d WHERE d.user_id = mine AND d.version_id = ANY (forgotten);
  DELETE FROM memory."Passage" AS d WHERE d.user_id = mine AND d.node_id = ANY (forgotten);
  DELETE FROM memory."Conversation" AS d
  WHERE d.user_id = mine AND d.node_id = ANY (conversations) AND NOT EXISTS (
    SELECT FROM passages AS p WHERE p.user_id = mine AND p.source_id = d.node_id AND p.kind = 'message'
  );
  IF EXISTS (SELECT FROM users AS u WHERE u.user_id = mine AND u.erasing_since IS NULL) THEN
    PERFORM memsvc.link_passages(mine, followers);
  END IF;
  RETURN NULL;
END
$$;

ALTER FUNCTION memsvc.forget_passages() OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.forget_passages() IS 'Trigger: deleted passages go, and their neighbours are linked.';

CREATE FUNCTION memsvc.forget_profile(p_user_id uuid, p_passages uuid[], p_nodes uuid[], p_source_id uuid, p_block_id uuid) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  gone CONSTANT uuid[] := ARRAY(
    SELECT v.version_id FROM profile_versions AS v WHERE v.user_id = p_user_id AND v.node_id = ANY (p_nodes)
    UNION
    SELECT v.version_id FROM profile_versions AS v WHERE v.user_id = p_user_id AND v.source_id = p_source_id
    UNION
    SELECT v.version_id FROM profile_versions AS v WHERE v.user_id = p_user_id AND v.block_id = p_block_id
  );
  touched uuid[];
BEGIN
  DELETE FROM profile_evidence AS d WHERE d.user_id = p_user_id AND d.version_id = ANY (gone);
  DELETE FROM profile_versions AS d WHERE d.user_id = p_user_id AND d.version_id = ANY (gone);
  touched := ARRAY(
    SELECT DISTINCT e.version_id FROM profile_evidence AS e
    WHERE e.user_id = p_user_id AND e.passage_id = ANY (p_passages)
  );
  IF touched = '{}' THEN
    RETURN cardinality(gone);
  END IF;
  WITH lost AS MATERIALIZED (
    SELECT l.version_id, l.place::bigint AS place FROM memsvc.lines_lost(p_user_id, p_passages) AS l
  ),
  kept AS MATERIALIZED (
    SELECT v.version_id, t.line, t.place, row_number() OVER (PARTITION BY v.version_id ORDER BY t.place) AS new_place
    FROM profile_versions AS v
    CROSS JOIN LATERAL string_to_table(v.text, E'\n') WITH ORDINALITY AS t (line, place)
    WHERE v.user_id = p_user_id AND v.version_id = ANY (touched)
      AND (v.version_id, t.place) NOT IN (SELECT l.version_id, l.place FROM lost AS l)
  ),
  renumbered AS (
    UPDATE profile_evidence AS e
    SET lines = coalesce(nullif(ARRAY( -- an import may have named lines that there are not
      SELECT k.new_place::smallint FROM kept AS k
      WHERE k.version_id = e.version_id AND k.place = ANY (e.lines) ORDER BY k.place
    ), '{}'), e.lines)
    WHERE e.user_id = p_user_id AND e.version_id = ANY (touched) AND e.passage_id NOT IN (SELECT unnest(p_passages))
  ),
  dropped AS (
    DELETE FROM profile_evidence AS d WHERE d.user_id = p_user_id AND d.passage_id = ANY (p_passages)
  ),
  said AS (
    SELECT v.version_id, coalesce(string_agg(k.line, E'\n' ORDER BY k.place), '') AS text
    FROM profile_versions AS v LEFT JOIN kept AS k ON k.version_id = v.version_id
    WHERE v.user_id = p_user_id AND v.version_id = ANY (touched)
    GROUP BY v.version_id
  )
  UPDATE profile_versions AS v
  SET text = s.text, version = CASE WHEN v.recorded_to < 'infinity' THEN v.version ELSE (
    SELECT max(m.version) + 1 FROM profile_versions AS m WHERE m.user_id = p_user_id AND m.block_id = v.block_id
  ) END
  FROM said AS s
  WHERE v.user_id = p_user_id AND v.version_id = s.version_id AND v.text <> s.text;
  DELETE FROM profile_versions AS d
  WHERE d.user_id = p_user_id AND d.version_id = ANY (touched) AND btrim(d.text, E' \n') = '';
  RETURN cardinality(gone) + cardinality(touched);
END
$$;

ALTER FUNCTION memsvc.forget_profile(p_user_id uuid, p_passages uuid[], p_nodes uuid[], p_source_id uuid, p_block_id uuid) OWNER TO memsvc_eraser;

COMMENT ON FUNCTION memsvc.forget_profile(p_user_id uuid, p_passages uuid[], p_nodes uuid[], p_source_id uuid, p_block_id uuid) IS 'Takes out of the profile what an erasure takes away; how many versions went or were cut.';

CREATE FUNCTION memsvc.forget_readings(p_user_id uuid, p_passages uuid[]) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  gone bigint;
BEGIN
  DELETE FROM fact_reviews AS d WHERE d.user_id = p_user_id AND d.passage_id = ANY (p_passages);
  GET DIAGNOSTICS gone = ROW_COUNT;
  UPDATE extractions AS e
  SET upto = (
    SELECT p.passage_id FROM passages AS p
    WHERE p.user_id = p_user_id AND p.source_id = e.source_id AND p.kind = 'message' AND p.passage_id < e.upto
      AND p.passage_id NOT IN (SELECT unnest(p_passages))
    ORDER BY p.user_id DESC, p.source_id DESC, p.passage_id DESC
    LIMIT 1
  )
  WHERE e.user_id = p_user_id AND e.upto = ANY (p_passages)
    AND e.source_id IN (
      SELECT p.source_id FROM passages AS p WHERE p.user_id = p_user_id AND p.passage_id = ANY (p_passages)
    );
  UPDATE extractions AS e
  SET passed_over = ARRAY(
    SELECT o.id FROM unnest(e.passed_over) WITH ORDINALITY AS o (id, place)
    WHERE o.id NOT IN (SELECT unnest(p_passages))
    ORDER BY o.place
  )
  WHERE e.user_id = p_user_id AND e.passed_over <> '{}'
    AND e.source_id IN (
      SELECT p.source_id FROM passages AS p WHERE p.user_id = p_user_id AND p.passage_id = ANY (p_passages)
    );
  RETURN gone;
END
$$;

ALTER FUNCTION memsvc.forget_readings(p_user_id uuid, p_passages uuid[]) OWNER TO memsvc_eraser;

COMMENT ON FUNCTION memsvc.forget_readings(p_user_id uuid, p_passages uuid[]) IS 'Takes passages out of what extraction keeps; how many facts under review went.';

CREATE FUNCTION memsvc.forget_recalls(p_user_id uuid, p_ids uuid[]) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  recalled CONSTANT boolean := EXISTS (
    SELECT FROM memory_signals AS s WHERE s.user_id = p_user_id AND s.memory_id = ANY (p_ids) AND s.recalls > 0
  );
  named uuid[];
  gone bigint;
BEGIN
  IF recalled THEN
    named := ARRAY(
      SELECT e.recall_id FROM recall_events AS e CROSS JOIN LATERAL unnest(e.memories) AS m (id)
      WHERE e.user_id = p_user_id AND m.id IN (SELECT unnest(p_ids))
    );
  ELSE
    named := ARRAY(
      SELECT e.recall_id FROM recall_events AS e CROSS JOIN LATERAL unnest(e.memories) AS m (id)
      WHERE e.user_id = p_user_id AND e.folded_at IS NULL AND m.id IN (SELECT unnest(p_ids))
    );
  END IF;
  UPDATE recall_events AS e
  SET memories = ARRAY(
    SELECT CASE WHEN m.id NOT IN (SELECT unnest(p_ids)) THEN m.id END
    FROM unnest(e.memories) WITH ORDINALITY AS m (id, place) ORDER BY m.place
  )
  WHERE e.user_id = p_user_id AND e.recall_id = ANY (named);
  DELETE FROM memory_signals AS d WHERE d.user_id = p_user_id AND d.memory_id = ANY (p_ids);
  GET DIAGNOSTICS gone = ROW_COUNT;
  RETURN gone;
END
$$;

ALTER FUNCTION memsvc.forget_recalls(p_user_id uuid, p_ids uuid[]) OWNER TO memsvc_eraser;

COMMENT ON FUNCTION memsvc.forget_recalls(p_user_id uuid, p_ids uuid[]) IS 'Takes memories out of recalls and signals; how many had signals.';

CREATE FUNCTION memsvc.forget_vertices() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
  DELETE FROM memory._ag_label_vertex AS d
  USING gone AS g WHERE d.user_id = g.user_id AND d.node_id = g.node_id;
  RETURN NULL;
END
$$;

ALTER FUNCTION memsvc.forget_vertices() OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.forget_vertices() IS 'Trigger: vertices of deleted nodes go.';

CREATE FUNCTION memsvc.forget_words(p_user_id uuid, p_passages uuid[]) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  gone bigint;
BEGIN
  PERFORM memsvc.fold_statistics(p_user_id);
  UPDATE corpora AS c
  SET passages = greatest(c.passages - s.passages, 0), length = greatest(c.length - s.length, 0)
  FROM (
    SELECT p.kind, f.form, count(*) AS passages, sum(f.length) AS length
    FROM passages AS p
    CROSS JOIN LATERAL (VALUES ('stemmed', p.length), ('simple', p.length_simple)) AS f (form, length)
    WHERE p.user_id = p_user_id AND p.passage_id = ANY (p_passages)
    GROUP BY p.kind, f.form
  ) AS s
  WHERE c.user_id = p_user_id AND c.kind = s.kind AND c.form = s.form;
  DELETE FROM corpora AS c WHERE c.user_id = p_user_id AND c.passages = 0;

  WITH lost AS MATERIALIZED (
    SELECT * FROM memsvc.terms_of(p_user_id, p_passages)
  ),
  lowered AS (
    UPDATE terms AS t SET passages = t.passages - l.passages
    FROM lost AS l
    WHERE t.user_id = p_user_id AND t.kind = l.kind AND t.form = l.form AND t.term = l.term AND t.passages > l.passages
  ),
  deleted AS (
    DELETE FROM terms AS t USING lost AS l
    WHERE t.user_id = p_user_id AND t.kind = l.kind AND t.form = l.form AND t.term = l.term AND t.passages <= l.passages
    RETURNING t.term
  )
  SELECT count(*) INTO gone FROM deleted;
  RETURN gone;
END
$$;

ALTER FUNCTION memsvc.forget_words(p_user_id uuid, p_passages uuid[]) OWNER TO memsvc_eraser;

COMMENT ON FUNCTION memsvc.forget_words(p_user_id uuid, p_passages uuid[]) IS 'Takes words of passages out of the statistics; how many terms are gone.';

CREATE FUNCTION memsvc.form_fact() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
  NEW.tsv := memsvc.to_words(
    'stemmed', coalesce((SELECT u.language FROM users AS u WHERE u.user_id = NEW.user_id), 'simple'), NEW.fact
  );
  NEW.length := memsvc.word_count(NEW.tsv);
  RETURN NEW;
END
$$;

ALTER FUNCTION memsvc.form_fact() OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.form_fact() IS 'Trigger: keeps the words of a fact.';

CREATE FUNCTION memsvc.form_label() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
BEGIN
  NEW.label_form := memsvc.normal_form(NEW.label);
  RETURN NEW;
END
$$;

ALTER FUNCTION memsvc.form_label() OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.form_label() IS 'Trigger: keeps the normal form of a label.';

CREATE FUNCTION memsvc.forms_called(p_user_id uuid, p_forms text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) RETURNS TABLE(form text, node_id uuid)
    LANGUAGE plpgsql STABLE ROWS 10
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  moment CONSTANT timestamptz := coalesce(p_as_of, clock_timestamp());
  known CONSTANT timestamptz := coalesce(p_known_at, 'infinity');
BEGIN
  RETURN QUERY
  SELECT v.label_form, v.node_id FROM node_versions AS v
  WHERE v.user_id = p_user_id AND v.label_form = ANY (p_forms) AND v.recorded_to = 'infinity'
    AND v.valid_from <= moment AND v.valid_to > moment AND v.recorded_from <= known
  ORDER BY v.label_form, v.node_id;
  RETURN QUERY
  SELECT v.normal_form, v.node_id FROM aliases AS v
  WHERE v.user_id = p_user_id AND v.normal_form COLLATE "C" = ANY (p_forms) AND v.recorded_to = 'infinity'
    AND v.valid_from <= moment AND v.valid_to > moment AND v.recorded_from <= known
  ORDER BY v.normal_form COLLATE "C", v.node_id;
  IF p_known_at IS NOT NULL THEN
    RETURN QUERY
    SELECT v.label_form, v.node_id FROM node_versions AS v
    WHERE v.user_id = p_user_id AND v.label_form = ANY (p_forms) AND v.recorded_to < 'infinity'
      AND v.valid_from <= moment AND v.valid_to > moment AND v.recorded_from <= known AND v.recorded_to > known
    ORDER BY v.label_form, v.node_id;
    RETURN QUERY
    SELECT v.normal_form, v.node_id FROM aliases AS v
    WHERE v.user_id = p_user_id AND v.normal_form = ANY (p_forms) AND v.recorded_to < 'infinity'
      AND v.valid_from <= moment AND v.valid_to > moment AND v.recorded_from <= known AND v.recorded_to > known
    ORDER BY v.normal_form;
  END IF;
END
$$;

ALTER FUNCTION memsvc.forms_called(p_user_id uuid, p_forms text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.forms_called(p_user_id uuid, p_forms text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) IS 'Stored nodes that have one of these labels or names.';

CREATE FUNCTION memsvc.found_by_others_alone(p_user_id uuid, p_source_id uuid, p_upto uuid, p_passages uuid[], p_others text[]) RETURNS TABLE(kind text, edge_id uuid, node_id uuid, alias text, valid_from timestamp with time zone, valid_to timestamp with time zone)
    LANGUAGE plpgsql STABLE ROWS 20
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH touched AS MATERIALIZED (
    SELECT DISTINCT v.kind, v.id
    FROM source_links AS l
    CROSS JOIN LATERAL (
      VALUES ('node', l.node_version_id), ('edge', l.edge_version_id), ('alias', l.alias_id)
    ) AS v (kind, id)
    WHERE l.user_id = p_user_id AND l.passage_id = ANY (p_passages) AND l.stance = 'supports'
      AND l.recorded_to = 'infinity' AND l.asserted_by = ANY (p_others) AND v.id IS NOT NULL
  ),
  stale AS MATERIALIZED (
    SELECT t.kind, t.id FROM touched AS t
    WHERE NOT EXISTS (
      SELECT FROM memsvc.links_of(p_user_id, t.kind, t.id) AS k
      WHERE k.stance = 'supports' AND NOT (
        k.asserted_by = ANY (p_others) AND k.passage_id <= p_upto AND p_source_id = (
          SELECT p.source_id FROM passages AS p WHERE p.user_id = p_user_id AND p.passage_id = k.passage_id
        )
      )
    )
  ),
  gone AS MATERIALIZED (
    SELECT v.version_id, v.edge_id, v.valid_from, v.valid_to
    FROM stale AS s INNER JOIN edge_versions AS v ON v.user_id = p_user_id AND v.version_id = s.id
    WHERE s.kind = 'edge' AND v.recorded_to = 'infinity'
  )
  SELECT 'edge', g.edge_id, NULL::uuid, NULL::text, nullif(g.valid_from, '-infinity'), nullif(g.valid_to, 'infinity')
  FROM gone AS g
  UNION ALL
  SELECT 'alias', NULL, a.node_id, a.alias, nullif(a.valid_from, '-infinity'), nullif(a.valid_to, 'infinity')
  FROM stale AS s INNER JOIN aliases AS a ON a.user_id = p_user_id AND a.alias_id = s.id
  WHERE s.kind = 'alias' AND a.recorded_to = 'infinity'
  UNION ALL
  SELECT 'node', NULL, n.node_id, NULL, nullif(n.valid_from, '-infinity'), nullif(n.valid_to, 'infinity')
  FROM stale AS s INNER JOIN node_versions AS n ON n.user_id = p_user_id AND n.version_id = s.id
  WHERE s.kind = 'node' AND n.recorded_to = 'infinity'
    AND NOT EXISTS (
      SELECT FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.from_node = n.node_id AND v.recorded_to = 'infinity'
        AND v.version_id NOT IN (SELECT g.version_id FROM gone AS g)
    )
    AND NOT EXISTS (
      SELECT FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.to_node = n.node_id AND v.recorded_to = 'infinity'
        AND v.version_id NOT IN (SELECT g.version_id FROM gone AS g)
    );
END
$$;

ALTER FUNCTION memsvc.found_by_others_alone(p_user_id uuid, p_source_id uuid, p_upto uuid, p_passages uuid[], p_others text[]) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.found_by_others_alone(p_user_id uuid, p_source_id uuid, p_upto uuid, p_passages uuid[], p_others text[]) IS 'What only other extractors found in what one has read again.';

CREATE FUNCTION memsvc.give_feedback(p_user_id uuid, p_recall_id uuid, p_used uuid[], p_irrelevant uuid[]) RETURNS TABLE(memory_id uuid, outcome text, changed boolean)
    LANGUAGE plpgsql ROWS 10
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  recalled uuid[];
  before smallint[];
  places integer[];
  ids uuid[];
  judged smallint[];
  outcomes text[];
BEGIN
  PERFORM memsvc.keep_memories(p_user_id);
  SELECT e.memories, coalesce(e.verdicts, array_fill(0::smallint, ARRAY[cardinality(e.memories)]))
  INTO recalled, before
  FROM recall_events AS e WHERE e.user_id = p_user_id AND e.recall_id = p_recall_id
  FOR UPDATE;
  IF NOT FOUND THEN
    RETURN QUERY SELECT NULL::uuid, 'unknown_recall', false;
    RETURN;
  END IF;

  SELECT array_agg(s.id), array_agg(s.verdict), array_agg(array_position(recalled, s.id)) INTO ids, judged, places
  FROM (
    SELECT DISTINCT u.id, 1::smallint AS verdict FROM unnest(p_used) AS u (id)
    UNION ALL
    SELECT DISTINCT u.id, (-1)::smallint FROM unnest(p_irrelevant) AS u (id)
  ) AS s;
  SELECT array_agg(CASE
      WHEN s.place IS NOT NULL THEN CASE s.verdict WHEN 1 THEN 'used' ELSE 'irrelevant' END
      -- Erasing leaves an empty place, and no id to compare with.
      WHEN array_position(recalled, NULL) IS NOT NULL AND k.memory_id IS NULL THEN 'erased'
      ELSE 'not_recalled'
    END ORDER BY s.nth) INTO outcomes
  FROM unnest(ids, judged, places) WITH ORDINALITY AS s (id, verdict, place, nth)
  LEFT JOIN memsvc.kinds_of(p_user_id, ids) AS k ON k.memory_id = s.id;
  RETURN QUERY
  SELECT s.id, s.outcome, s.place IS NOT NULL AND before[s.place] <> s.verdict
  FROM unnest(ids, outcomes, judged, places) AS s (id, outcome, verdict, place);
  IF ids IS NULL OR 'not_recalled' = ANY (outcomes) THEN
    RETURN;
  END IF;

  UPDATE recall_events AS e
  SET verdicts = ARRAY(
    SELECT coalesce(s.verdict, b.verdict)
    FROM unnest(before) WITH ORDINALITY AS b (verdict, place)
    LEFT JOIN unnest(judged, places) AS s (verdict, place) ON s.place = b.place
    ORDER BY b.place
  )
  WHERE e.user_id = p_user_id AND e.recall_id = p_recall_id;
  INSERT INTO memory_signals (user_id, memory_id, kind)
  SELECT p_user_id, k.memory_id, k.kind FROM memsvc.kinds_of(p_user_id, ids) AS k ORDER BY k.memory_id
  ON CONFLICT (user_id, memory_id) DO NOTHING;
  -- In one order, so that two who judge the same memories never wait for each other in a circle.
  PERFORM FROM memory_signals AS s WHERE s.user_id = p_user_id AND s.memory_id = ANY (ids)
  ORDER BY s.memory_id FOR NO KEY UPDATE;
  UPDATE memory_signals AS s
  SET used = greatest(s.used + c.used, 0), irrelevant = greatest(s.irrelevant + c.irrelevant, 0)
  FROM (
    SELECT u.id, (u.verdict = 1)::integer - (before[u.place] = 1)::integer AS used,
      (u.verdict = -1)::integer - (before[u.place] = -1)::integer AS irrelevant
    FROM unnest(ids, judged, places) AS u (id, verdict, place)
    WHERE before[u.place] <> u.verdict
  ) AS c
  WHERE s.user_id = p_user_id AND s.memory_id = c.id;
END
$$;

ALTER FUNCTION memsvc.give_feedback(p_user_id uuid, p_recall_id uuid, p_used uuid[], p_irrelevant uuid[]) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.give_feedback(p_user_id uuid, p_recall_id uuid, p_used uuid[], p_irrelevant uuid[]) IS 'Feedback on a recall: what was used, what was irrelevant; what became of each verdict.';

CREATE FUNCTION memsvc.graph_among(p_user_id uuid, p_nodes uuid[], p_hops integer DEFAULT 0, p_types text[] DEFAULT NULL::text[], p_fan_out integer DEFAULT 25, p_limit integer DEFAULT 500, p_as_of timestamp with time zone DEFAULT NULL::timestamp with time zone, p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(unknown uuid[], nodes json, edges json, truncated boolean)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  walk record;
  facts uuid[];
  most CONSTANT integer := 4 * p_limit;
BEGIN
  SELECT array_agg(n.node_id) AS nodes, array_agg(n.hop) AS hops, bool_or(n.truncated) AS truncated INTO walk
  FROM memsvc.neighbourhood(
    p_user_id, p_nodes, p_hops, p_types, 'both', p_fan_out, p_limit, p_as_of, p_known_at
  ) AS n;
  facts := ARRAY(
    SELECT b.version_id
    FROM memsvc.edges_between(p_user_id, walk.nodes, p_types, most + 1, p_as_of, p_known_at) AS b
  );
  RETURN QUERY
  SELECT memsvc.unknown_nodes(p_user_id, p_nodes), g.nodes, g.edges,
    walk.truncated OR coalesce(cardinality(facts) > most, false)
  FROM memsvc.graph_shown(
    p_user_id, walk.nodes, walk.hops, CASE WHEN most IS NULL THEN facts ELSE facts[:most] END, p_as_of, p_known_at
  ) AS g;
END
$$;

ALTER FUNCTION memsvc.graph_among(p_user_id uuid, p_nodes uuid[], p_hops integer, p_types text[], p_fan_out integer, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.graph_among(p_user_id uuid, p_nodes uuid[], p_hops integer, p_types text[], p_fan_out integer, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) IS 'Nodes, what is near them, and all facts among them, as they are drawn.';

CREATE FUNCTION memsvc.graph_around(p_user_id uuid, p_nodes uuid[], p_hops integer, p_types text[] DEFAULT NULL::text[], p_side text DEFAULT 'both'::text, p_fan_out integer DEFAULT 25, p_limit integer DEFAULT 200, p_as_of timestamp with time zone DEFAULT NULL::timestamp with time zone, p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(unknown uuid[], nodes json, edges json, truncated boolean)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  walk record;
BEGIN
  SELECT array_agg(n.node_id) AS nodes, array_agg(n.hop) AS hops, array_agg(n.version_id) AS versions,
    bool_or(n.truncated) AS truncated
  INTO walk
  FROM memsvc.neighbourhood(
    p_user_id, p_nodes, p_hops, p_types, p_side, p_fan_out, p_limit, p_as_of, p_known_at
  ) AS n;
  RETURN QUERY
  SELECT memsvc.unknown_nodes(p_user_id, p_nodes), g.nodes, g.edges, walk.truncated
  FROM memsvc.graph_shown(p_user_id, walk.nodes, walk.hops, walk.versions, p_as_of, p_known_at) AS g;
END
$$;

ALTER FUNCTION memsvc.graph_around(p_user_id uuid, p_nodes uuid[], p_hops integer, p_types text[], p_side text, p_fan_out integer, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.graph_around(p_user_id uuid, p_nodes uuid[], p_hops integer, p_types text[], p_side text, p_fan_out integer, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) IS 'A neighbourhood as it is drawn.';

CREATE FUNCTION memsvc.versions_touched(p_user_id uuid, p_from timestamp with time zone, p_to timestamp with time zone) RETURNS TABLE(kind text, id uuid, subject uuid, form text, valid_from timestamp with time zone, valid_to timestamp with time zone, recorded_from timestamp with time zone, recorded_to timestamp with time zone)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
  RETURN QUERY
  SELECT 'node', v.version_id, v.node_id, '', v.valid_from, v.valid_to, v.recorded_from, v.recorded_to
  FROM node_versions AS v WHERE v.user_id = p_user_id AND v.recorded_from > p_from AND v.recorded_from <= p_to
  UNION ALL
  SELECT 'node', v.version_id, v.node_id, '', v.valid_from, v.valid_to, v.recorded_from, v.recorded_to
  FROM node_versions AS v
  WHERE v.user_id = p_user_id AND v.recorded_to < 'infinity' AND v.recorded_to > p_from AND v.recorded_to <= p_to
    AND v.recorded_from <= p_from
  UNION ALL
  SELECT 'alias', v.alias_id, v.node_id, v.normal_form, v.valid_from, v.valid_to, v.recorded_from, v.recorded_to
  FROM aliases AS v WHERE v.user_id = p_user_id AND v.recorded_from > p_from AND v.recorded_from <= p_to
  UNION ALL
  SELECT 'alias', v.alias_id, v.node_id, v.normal_form, v.valid_from, v.valid_to, v.recorded_from, v.recorded_to
  FROM aliases AS v
  WHERE v.user_id = p_user_id AND v.recorded_to < 'infinity' AND v.recorded_to > p_from AND v.recorded_to <= p_to
    AND v.recorded_from <= p_from
  UNION ALL
  SELECT 'place', v.location_id, v.node_id, '', v.valid_from, v.valid_to, v.recorded_from, v.recorded_to
  FROM locations AS v WHERE v.user_id = p_user_id AND v.recorded_from > p_from AND v.recorded_from <= p_to
  UNION ALL
  SELECT 'place', v.location_id, v.node_id, '', v.valid_from, v.valid_to, v.recorded_from, v.recorded_to
  FROM locations AS v
  WHERE v.user_id = p_user_id AND v.recorded_to < 'infinity' AND v.recorded_to > p_from AND v.recorded_to <= p_to
    AND v.recorded_from <= p_from
  UNION ALL
  SELECT 'edge', v.version_id, v.edge_id, '', v.valid_from, v.valid_to, v.recorded_from, v.recorded_to
  FROM edge_versions AS v WHERE v.user_id = p_user_id AND v.recorded_from > p_from AND v.recorded_from <= p_to
  UNION ALL
  SELECT 'edge', v.version_id, v.edge_id, '', v.valid_from, v.valid_to, v.recorded_from, v.recorded_to
  FROM edge_versions AS v
  WHERE v.user_id = p_user_id AND v.recorded_to < 'infinity' AND v.recorded_to > p_from AND v.recorded_to <= p_to
    AND v.recorded_from <= p_from
  UNION ALL
  SELECT 'merge', m.merge_id, m.node_id, '', '-infinity', 'infinity', m.recorded_from, m.recorded_to
  FROM merges AS m WHERE m.user_id = p_user_id AND m.recorded_from > p_from AND m.recorded_from <= p_to
  UNION ALL
  SELECT 'merge', m.merge_id, m.node_id, '', '-infinity', 'infinity', m.recorded_from, m.recorded_to
  FROM merges AS m
  WHERE m.user_id = p_user_id AND m.recorded_to < 'infinity' AND m.recorded_to > p_from AND m.recorded_to <= p_to
    AND m.recorded_from <= p_from;
END
$$;

ALTER FUNCTION memsvc.versions_touched(p_user_id uuid, p_from timestamp with time zone, p_to timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.versions_touched(p_user_id uuid, p_from timestamp with time zone, p_to timestamp with time zone) IS 'Versions, names and merges that were recorded or closed in a span of recorded time.';

CREATE FUNCTION memsvc.versions_turning(p_user_id uuid, p_from timestamp with time zone, p_to timestamp with time zone, p_known_at timestamp with time zone) RETURNS TABLE(kind text, id uuid, subject uuid, form text, valid_from timestamp with time zone, valid_to timestamp with time zone)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
  RETURN QUERY
  SELECT 'node', v.version_id, v.node_id, '', v.valid_from, v.valid_to FROM node_versions AS v
  WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.recorded_from <= coalesce(p_known_at, 'infinity')
    AND v.valid_from > '-infinity' AND v.valid_from > p_from AND v.valid_from <= p_to
  UNION ALL
  SELECT 'node', v.version_id, v.node_id, '', v.valid_from, v.valid_to FROM node_versions AS v
  WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.recorded_from <= coalesce(p_known_at, 'infinity')
    AND v.valid_to < 'infinity' AND v.valid_to > p_from AND v.valid_to <= p_to AND v.valid_from <= p_from
  UNION ALL
  SELECT 'alias', v.alias_id, v.node_id, v.normal_form, v.valid_from, v.valid_to FROM aliases AS v
  WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.recorded_from <= coalesce(p_known_at, 'infinity')
    AND v.valid_from > '-infinity' AND v.valid_from > p_from AND v.valid_from <= p_to
  UNION ALL
  SELECT 'alias', v.alias_id, v.node_id, v.normal_form, v.valid_from, v.valid_to FROM aliases AS v
  WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.recorded_from <= coalesce(p_known_at, 'infinity')
    AND v.valid_to < 'infinity' AND v.valid_to > p_from AND v.valid_to <= p_to AND v.valid_from <= p_from
  UNION ALL
  SELECT 'place', v.location_id, v.node_id, '', v.valid_from, v.valid_to FROM locations AS v
  WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.recorded_from <= coalesce(p_known_at, 'infinity')
    AND v.valid_from > '-infinity' AND v.valid_from > p_from AND v.valid_from <= p_to
  UNION ALL
  SELECT 'place', v.location_id, v.node_id, '', v.valid_from, v.valid_to FROM locations AS v
  WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.recorded_from <= coalesce(p_known_at, 'infinity')
    AND v.valid_to < 'infinity' AND v.valid_to > p_from AND v.valid_to <= p_to AND v.valid_from <= p_from
  UNION ALL
  SELECT 'edge', v.version_id, v.edge_id, '', v.valid_from, v.valid_to FROM edge_versions AS v
  WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.recorded_from <= coalesce(p_known_at, 'infinity')
    AND v.valid_from > '-infinity' AND v.valid_from > p_from AND v.valid_from <= p_to
  UNION ALL
  SELECT 'edge', v.version_id, v.edge_id, '', v.valid_from, v.valid_to FROM edge_versions AS v
  WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.recorded_from <= coalesce(p_known_at, 'infinity')
    AND v.valid_to < 'infinity' AND v.valid_to > p_from AND v.valid_to <= p_to AND v.valid_from <= p_from;
  IF p_known_at IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY -- what was closed since then, whatever its valid time
  SELECT c.* FROM (
    SELECT 'node', v.version_id, v.node_id, '', v.valid_from, v.valid_to FROM node_versions AS v
    WHERE v.user_id = p_user_id AND v.recorded_to < 'infinity' AND v.recorded_to > p_known_at
      AND v.recorded_from <= p_known_at
    UNION ALL
    SELECT 'alias', v.alias_id, v.node_id, v.normal_form, v.valid_from, v.valid_to FROM aliases AS v
    WHERE v.user_id = p_user_id AND v.recorded_to < 'infinity' AND v.recorded_to > p_known_at
      AND v.recorded_from <= p_known_at
    UNION ALL
    SELECT 'place', v.location_id, v.node_id, '', v.valid_from, v.valid_to FROM locations AS v
    WHERE v.user_id = p_user_id AND v.recorded_to < 'infinity' AND v.recorded_to > p_known_at
      AND v.recorded_from <= p_known_at
    UNION ALL
    SELECT 'edge', v.version_id, v.edge_id, '', v.valid_from, v.valid_to FROM edge_versions AS v
    WHERE v.user_id = p_user_id AND v.recorded_to < 'infinity' AND v.recorded_to > p_known_at
      AND v.recorded_from <= p_known_at
  ) AS c (kind, id, subject, form, valid_from, valid_to)
  WHERE (c.valid_from > p_from AND c.valid_from <= p_to) OR (c.valid_to > p_from AND c.valid_to <= p_to);
END
$$;

ALTER FUNCTION memsvc.versions_turning(p_user_id uuid, p_from timestamp with time zone, p_to timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.versions_turning(p_user_id uuid, p_from timestamp with time zone, p_to timestamp with time zone, p_known_at timestamp with time zone) IS 'Versions and names that began or ended in a span of valid time, as known at a time.';

CREATE FUNCTION memsvc.graph_diff(p_user_id uuid, p_axis text, p_from timestamp with time zone, p_to timestamp with time zone, p_known_at timestamp with time zone, p_kinds text[], p_after_at timestamp with time zone, p_after_kind text, p_after_subject uuid, p_after_form text, p_limit integer) RETURNS TABLE(at timestamp with time zone, kind text, subject uuid, form text, before uuid[], after uuid[], between_them uuid[])
    LANGUAGE sql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    BEGIN ATOMIC
 WITH touched AS MATERIALIZED (
          SELECT t.kind,
             t.id,
             t.subject,
             t.form,
             t.valid_from,
             (t.recorded_from <= graph_diff.p_from) AS past,
             (t.recorded_to > graph_diff.p_to) AS present,
                 CASE
                     WHEN (t.recorded_to <= graph_diff.p_to) THEN t.recorded_to
                     ELSE t.recorded_from
                 END AS at
            FROM memsvc.versions_touched(graph_diff.p_user_id, graph_diff.p_from, graph_diff.p_to) t(kind, id, subject, form, valid_from, valid_to, recorded_from, recorded_to)
           WHERE ((graph_diff.p_axis = 'known'::text) AND ((t.recorded_from <= graph_diff.p_from) OR (t.recorded_to > graph_diff.p_to)))
         UNION ALL
          SELECT t.kind,
             t.id,
             t.subject,
             t.form,
             t.valid_from,
             (t.valid_from <= graph_diff.p_from),
             (t.valid_to > graph_diff.p_to),
                 CASE
                     WHEN (t.valid_to <= graph_diff.p_to) THEN t.valid_to
                     ELSE t.valid_from
                 END AS valid_from
            FROM memsvc.versions_turning(graph_diff.p_user_id, graph_diff.p_from, graph_diff.p_to, graph_diff.p_known_at) t(kind, id, subject, form, valid_from, valid_to)
           WHERE (graph_diff.p_axis = 'valid'::text)
         ), thread AS (
          SELECT max(t.at) AS at,
             t.kind,
             t.subject,
             t.form,
             COALESCE(array_agg(t.id ORDER BY t.valid_from, t.id) FILTER (WHERE t.past), '{}'::uuid[]) AS before,
             COALESCE(array_agg(t.id ORDER BY t.valid_from, t.id) FILTER (WHERE ((NOT t.past) AND t.present)), '{}'::uuid[]) AS after,
             COALESCE(array_agg(t.id ORDER BY t.valid_from, t.id) FILTER (WHERE ((NOT t.past) AND (NOT t.present))), '{}'::uuid[]) AS between_them
            FROM touched t
           WHERE ((graph_diff.p_kinds IS NULL) OR (t.kind = ANY (graph_diff.p_kinds)))
           GROUP BY t.kind, t.subject, t.form
         )
  SELECT d.at,
     d.kind,
     d.subject,
     d.form,
     d.before,
     d.after,
     d.between_them
    FROM thread d
   WHERE ((graph_diff.p_after_at IS NULL) OR (d.at < graph_diff.p_after_at) OR ((d.at = graph_diff.p_after_at) AND (ROW(d.kind, d.subject, d.form) > ROW(graph_diff.p_after_kind, graph_diff.p_after_subject, graph_diff.p_after_form))))
   ORDER BY d.at DESC, d.kind, d.subject, d.form
  LIMIT graph_diff.p_limit;
END;

ALTER FUNCTION memsvc.graph_diff(p_user_id uuid, p_axis text, p_from timestamp with time zone, p_to timestamp with time zone, p_known_at timestamp with time zone, p_kinds text[], p_after_at timestamp with time zone, p_after_kind text, p_after_subject uuid, p_after_form text, p_limit integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.graph_diff(p_user_id uuid, p_axis text, p_from timestamp with time zone, p_to timestamp with time zone, p_known_at timestamp with time zone, p_kinds text[], p_after_at timestamp with time zone, p_after_kind text, p_after_subject uuid, p_after_form text, p_limit integer) IS 'What is different between two moments, in our knowledge or in the world.';

CREATE FUNCTION memsvc.other_label(p_kind text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE p_kind WHEN 'node'::text THEN 'Thing'::text ELSE 'RELATION'::text END;

ALTER FUNCTION memsvc.other_label(p_kind text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.other_label(p_kind text) IS 'The label of nodes or edges that are of no type of the core.';

CREATE TABLE memsvc.edge_types (
    name text NOT NULL,
    category text NOT NULL,
    from_types text[] NOT NULL,
    to_types text[] NOT NULL,
    functional boolean DEFAULT false NOT NULL,
    description text NOT NULL,
    user_id uuid DEFAULT '00000000-0000-0000-0000-000000000000'::uuid NOT NULL,
    parent text,
    status text DEFAULT 'core'::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    proposed_by text,
    proposed_at timestamp with time zone,
    decided_by text,
    decided_at timestamp with time zone,
    own_user_id uuid GENERATED ALWAYS AS (NULLIF(user_id, '00000000-0000-0000-0000-000000000000'::uuid)) STORED,
    CONSTRAINT edge_types_core CHECK (((user_id = '00000000-0000-0000-0000-000000000000'::uuid) = (status = 'core'::text))),
    CONSTRAINT edge_types_described CHECK ((btrim(description) <> ''::text)),
    CONSTRAINT edge_types_proposed CHECK ((((status = 'core'::text) = (proposed_by IS NULL)) AND ((proposed_by IS NULL) = (proposed_at IS NULL)))),
    CONSTRAINT edge_types_shape CHECK ((name ~ '^[A-Z][A-Z0-9_]{0,59}$'::text)),
    CONSTRAINT edge_types_status CHECK ((status = ANY (ARRAY['core'::text, 'proposed'::text, 'approved'::text, 'rejected'::text, 'deprecated'::text])))
);
ALTER TABLE ONLY memsvc.edge_types ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE ONLY memsvc.edge_types ALTER COLUMN category SET STATISTICS 0;
ALTER TABLE ONLY memsvc.edge_types ALTER COLUMN from_types SET STATISTICS 0;
ALTER TABLE ONLY memsvc.edge_types ALTER COLUMN to_types SET STATISTICS 0;
ALTER TABLE ONLY memsvc.edge_types ALTER COLUMN description SET STATISTICS 0;
ALTER TABLE ONLY memsvc.edge_types ALTER COLUMN parent SET STATISTICS 0;
ALTER TABLE ONLY memsvc.edge_types ALTER COLUMN reason SET STATISTICS 0;

ALTER TABLE ONLY memsvc.edge_types FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.edge_types OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.edge_types IS 'Ontology: how two nodes can be related. The core, the same for everybody, and what users added for themselves.';

COMMENT ON COLUMN memsvc.edge_types.name IS 'For example LIVES_IN.';

COMMENT ON COLUMN memsvc.edge_types.category IS 'social, place, time, preference, work, logic, provenance or general.';

COMMENT ON COLUMN memsvc.edge_types.from_types IS 'Node types it may start at; empty: any.';

COMMENT ON COLUMN memsvc.edge_types.to_types IS 'Node types it may end at; empty: any.';

COMMENT ON COLUMN memsvc.edge_types.functional IS 'True: one current value for each start node, so a new one closes the old.';

COMMENT ON COLUMN memsvc.edge_types.description IS 'How the sentence reads.';

COMMENT ON COLUMN memsvc.edge_types.user_id IS 'Owner; all zeros: the core, the same for everybody.';

COMMENT ON COLUMN memsvc.edge_types.parent IS 'The core type that it refines; null: none.';

COMMENT ON COLUMN memsvc.edge_types.status IS 'core; proposed: it waits and cannot be used; approved; rejected; deprecated: what has it keeps it, nothing new gets it.';

COMMENT ON COLUMN memsvc.edge_types.reason IS 'Why it was proposed, for people.';

COMMENT ON COLUMN memsvc.edge_types.proposed_by IS 'Who proposed it: user, app, or the name of an extractor.';

COMMENT ON COLUMN memsvc.edge_types.proposed_at IS 'When.';

COMMENT ON COLUMN memsvc.edge_types.decided_by IS 'Who approved, rejected or deprecated it last.';

COMMENT ON COLUMN memsvc.edge_types.decided_at IS 'When.';

COMMENT ON COLUMN memsvc.edge_types.own_user_id IS 'The owner again, null for the core: what refers to users, so that no type outlives its owner.';

CREATE TABLE memsvc.node_types (
    name text NOT NULL,
    category text NOT NULL,
    description text NOT NULL,
    user_id uuid DEFAULT '00000000-0000-0000-0000-000000000000'::uuid NOT NULL,
    parent text,
    status text DEFAULT 'core'::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    proposed_by text,
    proposed_at timestamp with time zone,
    decided_by text,
    decided_at timestamp with time zone,
    own_user_id uuid GENERATED ALWAYS AS (NULLIF(user_id, '00000000-0000-0000-0000-000000000000'::uuid)) STORED,
    CONSTRAINT node_types_core CHECK (((user_id = '00000000-0000-0000-0000-000000000000'::uuid) = (status = 'core'::text))),
    CONSTRAINT node_types_described CHECK ((btrim(description) <> ''::text)),
    CONSTRAINT node_types_proposed CHECK ((((status = 'core'::text) = (proposed_by IS NULL)) AND ((proposed_by IS NULL) = (proposed_at IS NULL)))),
    CONSTRAINT node_types_shape CHECK ((name ~ '^[A-Z][A-Za-z0-9]{0,59}$'::text)),
    CONSTRAINT node_types_status CHECK ((status = ANY (ARRAY['core'::text, 'proposed'::text, 'approved'::text, 'rejected'::text, 'deprecated'::text])))
);
ALTER TABLE ONLY memsvc.node_types ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE ONLY memsvc.node_types ALTER COLUMN category SET STATISTICS 0;
ALTER TABLE ONLY memsvc.node_types ALTER COLUMN description SET STATISTICS 0;
ALTER TABLE ONLY memsvc.node_types ALTER COLUMN parent SET STATISTICS 0;
ALTER TABLE ONLY memsvc.node_types ALTER COLUMN reason SET STATISTICS 0;

ALTER TABLE ONLY memsvc.node_types FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.node_types OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.node_types IS 'Ontology: what a node can be. The core, the same for everybody, and what users added for themselves.';

COMMENT ON COLUMN memsvc.node_types.name IS 'For example Person.';

COMMENT ON COLUMN memsvc.node_types.category IS 'entity, knowledge, record, derived or procedure.';

COMMENT ON COLUMN memsvc.node_types.description IS 'What belongs under it, and what does not.';

COMMENT ON COLUMN memsvc.node_types.user_id IS 'Owner; all zeros: the core, the same for everybody.';

COMMENT ON COLUMN memsvc.node_types.parent IS 'The core type that it refines; null: none.';

COMMENT ON COLUMN memsvc.node_types.status IS 'core; proposed: it waits and cannot be used; approved; rejected; deprecated: what has it keeps it, nothing new gets it.';

COMMENT ON COLUMN memsvc.node_types.reason IS 'Why it was proposed, for people.';

COMMENT ON COLUMN memsvc.node_types.proposed_by IS 'Who proposed it: user, app, or the name of an extractor.';

COMMENT ON COLUMN memsvc.node_types.proposed_at IS 'When.';

COMMENT ON COLUMN memsvc.node_types.decided_by IS 'Who approved, rejected or deprecated it last.';

COMMENT ON COLUMN memsvc.node_types.decided_at IS 'When.';

COMMENT ON COLUMN memsvc.node_types.own_user_id IS 'The owner again, null for the core: what refers to users, so that no type outlives its owner.';

CREATE FUNCTION memsvc.graph_labels() RETURNS TABLE(kind text, label text)
    LANGUAGE sql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 SELECT 'node'::text,
     t.name
    FROM memsvc.node_types t
   WHERE (t.user_id = memsvc.core_user_id())
 UNION ALL
  SELECT 'edge'::text,
     t.name
    FROM memsvc.edge_types t
   WHERE (t.user_id = memsvc.core_user_id())
 UNION ALL
  SELECT k.kind,
     memsvc.other_label(k.kind) AS other_label
    FROM ( VALUES ('node'::text), ('edge'::text)) k(kind)
 UNION ALL
  SELECT p.kind,
     p.label
    FROM ( VALUES ('node'::text,'Passage'::text), ('node'::text,'Conversation'::text), ('edge'::text,'NEXT'::text)) p(kind, label)
  ORDER BY 1, 2;
END;

ALTER FUNCTION memsvc.graph_labels() OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.graph_labels() IS 'Labels of the graph that Cypher sees.';

CREATE FUNCTION memsvc.graph_page(p_user_id uuid, p_part text DEFAULT 'edges'::text, p_after_edge uuid DEFAULT NULL::uuid, p_after_id uuid DEFAULT NULL::uuid, p_limit integer DEFAULT 500, p_types text[] DEFAULT NULL::text[], p_as_of timestamp with time zone DEFAULT NULL::timestamp with time zone, p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(nodes json, edges json, next_part text, next_edge uuid, next_id uuid)
    LANGUAGE plpgsql STABLE ROWS 1
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_sort TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  facts uuid[] := '{}';
  shown uuid[] := '{}';
  part text := p_part;
  edge uuid;
  id uuid;
  ended boolean;
BEGIN
  IF p_part = 'edges' THEN
    SELECT p.versions, p.last_edge, p.last_version, p.ended INTO facts, edge, id, ended
    FROM memsvc.page_of_edges(
      p_user_id, p_after_edge, p_after_id, p_limit, p_types, p_as_of, p_known_at
    ) AS p;
    SELECT memsvc.standing_for(p_user_id, array_agg(DISTINCT n.node_id), p_known_at) INTO shown
    FROM (
      SELECT o.from_node, o.to_node FROM edge_versions AS o
      WHERE o.user_id = p_user_id AND o.version_id = ANY (facts) ORDER BY o.version_id OFFSET 0
    ) AS v
    CROSS JOIN LATERAL (VALUES (v.from_node), (v.to_node)) AS n (node_id);
    IF ended THEN
      part := CASE WHEN p_types IS NULL THEN 'nodes' END;
      edge := NULL;
      id := NULL;
    END IF;
  ELSE
    SELECT p.nodes, p.last_node, p.ended INTO shown, id, ended
    FROM memsvc.page_of_nodes(p_user_id, p_after_id, p_limit, p_as_of, p_known_at) AS p;
    IF ended THEN
      part := NULL;
      id := NULL;
    END IF;
  END IF;
  RETURN QUERY SELECT g.nodes, g.edges, part, edge, id
  FROM memsvc.graph_shown(
    p_user_id, shown, array_fill(0, ARRAY[cardinality(shown)]), facts, p_as_of, p_known_at
  ) AS g;
END
$$;

ALTER FUNCTION memsvc.graph_page(p_user_id uuid, p_part text, p_after_edge uuid, p_after_id uuid, p_limit integer, p_types text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.graph_page(p_user_id uuid, p_part text, p_after_edge uuid, p_after_id uuid, p_limit integer, p_types text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) IS 'A page of the whole graph.';

CREATE FUNCTION memsvc.graph_paths(p_user_id uuid, p_from uuid, p_to uuid, p_max_hops integer DEFAULT 4, p_types text[] DEFAULT NULL::text[], p_side text DEFAULT 'both'::text, p_limit integer DEFAULT 5, p_work integer DEFAULT 50000, p_as_of timestamp with time zone DEFAULT NULL::timestamp with time zone, p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(unknown uuid[], nodes json, edges json, paths json, complete boolean, truncated boolean)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  found record;
  nodes uuid[];
  hops integer[];
BEGIN
  SELECT bool_and(w.complete) AS complete, bool_or(w.truncated) AS truncated,
    coalesce(
      json_agg(json_build_object('nodes', w.nodes, 'versions', w.versions) ORDER BY w.path) FILTER (WHERE w.path > 0),
      '[]'
    ) AS paths,
    json_agg(w.nodes) AS nodes, json_agg(w.versions) AS versions
  INTO found
  FROM memsvc.paths(
    p_user_id, p_from, p_to, p_max_hops, p_types, p_side, p_limit, p_work, p_as_of, p_known_at
  ) AS w;
  SELECT array_agg(d.node_id ORDER BY d.hop, d.node_id), array_agg(d.hop ORDER BY d.hop, d.node_id) INTO nodes, hops
  FROM (
    SELECT n.node_id::uuid AS node_id, min(n.hop)::integer - 1 AS hop
    FROM json_array_elements(found.nodes) AS w (nodes)
    CROSS JOIN LATERAL json_array_elements_text(w.nodes) WITH ORDINALITY AS n (node_id, hop)
    GROUP BY n.node_id
  ) AS d;
  RETURN QUERY
  SELECT memsvc.unknown_nodes(p_user_id, ARRAY[p_from, p_to]), g.nodes, g.edges, found.paths, found.complete,
    found.truncated
  FROM memsvc.graph_shown(
    p_user_id, coalesce(nodes, '{}'), coalesce(hops, '{}'), ARRAY(
      SELECT DISTINCT v.version_id::uuid
      FROM json_array_elements(found.versions) AS w (versions)
      CROSS JOIN LATERAL json_array_elements_text(w.versions) AS v (version_id)
    ), p_as_of, p_known_at
  ) AS g;
END
$$;

ALTER FUNCTION memsvc.graph_paths(p_user_id uuid, p_from uuid, p_to uuid, p_max_hops integer, p_types text[], p_side text, p_limit integer, p_work integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.graph_paths(p_user_id uuid, p_from uuid, p_to uuid, p_max_hops integer, p_types text[], p_side text, p_limit integer, p_work integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) IS 'Shortest paths between two nodes as they are drawn.';

CREATE FUNCTION memsvc.graph_shown(p_user_id uuid, p_nodes uuid[], p_hops integer[], p_versions uuid[], p_as_of timestamp with time zone DEFAULT NULL::timestamp with time zone, p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(nodes json, edges json)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_incremental_sort TO 'off'
    SET enable_nestloop TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  merged CONSTANT boolean := memsvc.any_merges(p_user_id, p_known_at);
BEGIN
  RETURN QUERY
  WITH fact AS MATERIALIZED (
    SELECT w.place, v.*
    FROM unnest(p_versions) WITH ORDINALITY AS w (version_id, place)
    INNER JOIN (
      SELECT o.version_id, o.edge_id, o.from_node, o.type, o.to_node, o.fact, o.weight, o.confidence,
        nullif(o.valid_from, '-infinity') AS valid_from, nullif(o.valid_to, 'infinity') AS valid_to
      FROM edge_versions AS o WHERE o.user_id = p_user_id AND o.version_id = ANY (p_versions)
      ORDER BY o.version_id OFFSET 0
    ) AS v ON v.version_id = w.version_id
  ),
  resolved AS MATERIALIZED (
    SELECT r.node_id, r.canonical_id
    FROM memsvc.resolve_nodes(p_user_id, CASE WHEN merged THEN ARRAY(
      SELECT f.from_node FROM fact AS f UNION SELECT f.to_node FROM fact AS f
    ) END, p_known_at) AS r
  )
  SELECT (
    SELECT coalesce(json_agg(json_object(
      'node_id': n.node_id, 'type': c.type, 'label': c.label, 'description': coalesce(c.description, ''),
      'data': coalesce(c.data, '{}'), 'importance': c.importance, 'hop': n.hop
    ) ORDER BY n.place), '[]')
    FROM unnest(p_nodes, p_hops) WITH ORDINALITY AS n (node_id, hop, place)
    INNER JOIN memsvc.node_cards(p_user_id, p_nodes, p_as_of, p_known_at) AS c ON c.node_id = n.node_id
  ), (
    SELECT coalesce(json_agg(json_object(
      'version_id': f.version_id, 'edge_id': f.edge_id, 'from_node': coalesce(s.canonical_id, f.from_node),
      'type': f.type, 'to_node': coalesce(e.canonical_id, f.to_node), 'fact': f.fact, 'weight': f.weight,
      'confidence': f.confidence, 'valid_from': f.valid_from, 'valid_to': f.valid_to
    ) ORDER BY f.place), '[]')
    FROM fact AS f
    LEFT JOIN resolved AS s ON s.node_id = f.from_node
    LEFT JOIN resolved AS e ON e.node_id = f.to_node
  );
END
$$;

ALTER FUNCTION memsvc.graph_shown(p_user_id uuid, p_nodes uuid[], p_hops integer[], p_versions uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.graph_shown(p_user_id uuid, p_nodes uuid[], p_hops integer[], p_versions uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) IS 'Nodes and facts as they are drawn.';

CREATE FUNCTION memsvc.graph_stats(p_user_id uuid, p_as_of timestamp with time zone DEFAULT NULL::timestamp with time zone, p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(nodes bigint, facts bigint, names bigint, merges bigint, evidence bigint, isolated bigint, types json, edge_types json, most_connected json, degrees json)
    LANGUAGE plpgsql STABLE ROWS 1
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_nestloop TO 'off'
    AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH edge AS MATERIALIZED (SELECT e.* FROM memsvc.all_edges(p_user_id, p_as_of, p_known_at) AS e),
  node AS MATERIALIZED (SELECT n.node_id FROM memsvc.all_nodes(p_user_id, p_known_at) AS n (node_id)),
  card AS MATERIALIZED (
    SELECT c.* FROM memsvc.node_cards(p_user_id, ARRAY(SELECT n.node_id FROM node AS n), p_as_of, p_known_at) AS c
  ),
  degree AS MATERIALIZED (
    SELECT n.node_id, count(d.node_id) AS facts
    FROM node AS n
    LEFT JOIN (
      SELECT e.from_node AS node_id FROM edge AS e
      UNION ALL SELECT e.to_node FROM edge AS e WHERE e.to_node <> e.from_node
    ) AS d ON d.node_id = n.node_id
    GROUP BY n.node_id
  ),
  bucket AS (
    SELECT CASE WHEN d.facts > 0 THEN 64 - position('1' IN d.facts::bit(64)::text) END AS power, count(*) AS nodes
    FROM degree AS d GROUP BY power
  )
  SELECT (SELECT count(*) FROM node AS n), (SELECT count(*) FROM edge AS e), o.names, o.merges, o.evidence,
    (SELECT count(*) FROM degree AS d WHERE d.facts = 0), (
      SELECT coalesce(json_object_agg(t.type, t.nodes ORDER BY t.nodes DESC, t.type), '{}')
      FROM (SELECT c.type, count(*) AS nodes FROM card AS c WHERE c.type IS NOT NULL GROUP BY c.type) AS t
    ), (
      SELECT coalesce(json_object_agg(t.type, t.facts ORDER BY t.facts DESC, t.type), '{}')
      FROM (SELECT e.type, count(*) AS facts FROM edge AS e GROUP BY e.type) AS t
    ), (
      SELECT coalesce(json_agg(json_build_object(
        'node_id', d.node_id, 'type', c.type, 'label', c.label, 'facts', d.facts
      ) ORDER BY d.facts DESC, d.node_id), '[]')
      FROM (SELECT o.* FROM degree AS o WHERE o.facts > 0 ORDER BY o.facts DESC, o.node_id LIMIT 10) AS d
      INNER JOIN card AS c ON c.node_id = d.node_id
    ), (
      SELECT coalesce(json_agg(json_build_object(
        'from', CASE WHEN b.power IS NULL THEN 0 ELSE 2 ^ b.power END::bigint,
        'to', CASE WHEN b.power IS NULL THEN 0 ELSE 2 ^ (b.power + 1) - 1 END::bigint, 'nodes', b.nodes
      ) ORDER BY b.power NULLS FIRST), '[]')
      FROM bucket AS b
    )
  FROM memsvc.other_counts(p_user_id, p_as_of, p_known_at) AS o;
END
$$;

ALTER FUNCTION memsvc.graph_stats(p_user_id uuid, p_as_of timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.graph_stats(p_user_id uuid, p_as_of timestamp with time zone, p_known_at timestamp with time zone) IS 'Sizes of a user''s graph.';

CREATE FUNCTION memsvc.grounding(p_user_id uuid, p_text text, p_speakers text[], p_passages uuid[], p_before uuid[], p_near integer, p_limit integer) RETURNS TABLE(node_id uuid, label text, type text, named boolean, aliases text[], relations text[], how text, speakers text[])
    LANGUAGE plpgsql STABLE ROWS 20
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
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
    )
  FROM best AS b
  INNER JOIN (
    SELECT DISTINCT ON (d.canonical_id) d.canonical_id, d.label, d.type, d.data FROM card AS d
    ORDER BY d.canonical_id
  ) AS c ON c.canonical_id = b.canonical_id
  ORDER BY b.rank, b.canonical_id DESC;
END
$$;

ALTER FUNCTION memsvc.grounding(p_user_id uuid, p_text text, p_speakers text[], p_passages uuid[], p_before uuid[], p_near integer, p_limit integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.grounding(p_user_id uuid, p_text text, p_speakers text[], p_passages uuid[], p_before uuid[], p_near integer, p_limit integer) IS 'What turns may speak of, the likeliest first.';

CREATE FUNCTION memsvc.has_exact_words(p_text text) RETURNS boolean
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (p_text ~ '[A-Z]{2}|[A-Za-z0-9](\+\+|#|_[A-Za-z0-9])'::text);

ALTER FUNCTION memsvc.has_exact_words(p_text text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.has_exact_words(p_text text) IS 'Whether a text can hold names that the parser would cut or drop.';

CREATE FUNCTION memsvc.has_projection() RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    BEGIN ATOMIC
 SELECT (EXISTS ( SELECT
            FROM (pg_class c
              JOIN pg_namespace n ON ((n.oid = c.relnamespace)))
           WHERE ((n.nspname = 'memory'::name) AND (c.relname = '_ag_label_vertex'::name)))) AS "exists";
END;

ALTER FUNCTION memsvc.has_projection() OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.has_projection() IS 'Whether this database has a graph for Cypher.';

CREATE FUNCTION memsvc.signs() RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN '\u2E80-\u2FDF\u3005-\u3007\u3041-\u3096\u309D-\u309F\u30A1-\u30FA\u30FC-\u30FF\u31F0-\u31FF\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF\U00020000-\U0003FFFF'::text;

ALTER FUNCTION memsvc.signs() OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.signs() IS 'Chinese and Japanese signs, as ranges within the brackets of a pattern.';

CREATE FUNCTION memsvc.has_signs(p_text text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ((octet_length(p_text) > length(p_text)) AND (p_text ~ (('['::text || memsvc.signs()) || '\uAC00-\uD7A3]'::text)));

ALTER FUNCTION memsvc.has_signs(p_text text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.has_signs(p_text text) IS 'Whether a text has Chinese, Japanese or Korean signs.';

CREATE FUNCTION memsvc.history_of(p_user_id uuid, p_node uuid, p_before timestamp with time zone, p_limit integer) RETURNS TABLE(at timestamp with time zone, event text, kind text, id uuid, subject uuid, content jsonb, asserted_by text, valid_from timestamp with time zone, valid_to timestamp with time zone, change_id uuid, changed_by text)
    LANGUAGE sql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    BEGIN ATOMIC
 WITH same AS MATERIALIZED (
          SELECT array_agg(s.node_id) AS nodes
            FROM memsvc.same_nodes(history_of.p_user_id, ARRAY[history_of.p_node]) s(canonical_id, node_id)
         ), version AS (
          SELECT 'node'::text AS kind,
             v.version_id AS id,
             v.node_id AS subject,
             memsvc.content_of(v.*) AS content,
             v.asserted_by,
             v.valid_from,
             v.valid_to,
             v.recorded_from,
             v.recorded_to
            FROM memsvc.node_versions v
           WHERE ((v.user_id = history_of.p_user_id) AND (v.node_id IN ( SELECT unnest(s.nodes) AS unnest
                    FROM same s)))
         UNION ALL
          SELECT 'alias'::text,
             v.alias_id,
             v.node_id,
             memsvc.content_of(v.*) AS content_of,
             v.asserted_by,
             v.valid_from,
             v.valid_to,
             v.recorded_from,
             v.recorded_to
            FROM memsvc.aliases v
           WHERE ((v.user_id = history_of.p_user_id) AND (v.node_id IN ( SELECT unnest(s.nodes) AS unnest
                    FROM same s)))
         UNION ALL
          SELECT 'place'::text,
             v.location_id,
             v.node_id,
             memsvc.content_of(v.*) AS content_of,
             v.asserted_by,
             v.valid_from,
             v.valid_to,
             v.recorded_from,
             v.recorded_to
            FROM memsvc.locations v
           WHERE ((v.user_id = history_of.p_user_id) AND (v.node_id IN ( SELECT unnest(s.nodes) AS unnest
                    FROM same s)))
         UNION ALL
          SELECT 'edge'::text,
             v.version_id,
             v.edge_id,
             (memsvc.content_of(v.*) || jsonb_build_object('from_node', v.from_node, 'type', v.type, 'to_node', v.to_node)),
             v.asserted_by,
             v.valid_from,
             v.valid_to,
             v.recorded_from,
             v.recorded_to
            FROM memsvc.edge_versions v
           WHERE ((v.user_id = history_of.p_user_id) AND (v.from_node IN ( SELECT unnest(s.nodes) AS unnest
                    FROM same s)))
         UNION ALL
          SELECT 'edge'::text,
             v.version_id,
             v.edge_id,
             (memsvc.content_of(v.*) || jsonb_build_object('from_node', v.from_node, 'type', v.type, 'to_node', v.to_node)),
             v.asserted_by,
             v.valid_from,
             v.valid_to,
             v.recorded_from,
             v.recorded_to
            FROM memsvc.edge_versions v
           WHERE ((v.user_id = history_of.p_user_id) AND (v.to_node IN ( SELECT unnest(s.nodes) AS unnest
                    FROM same s)) AND (v.from_node <> ALL ( SELECT unnest(s.nodes) AS unnest
                    FROM same s)))
         UNION ALL
          SELECT 'merge'::text,
             m.merge_id,
             m.node_id,
             jsonb_build_object('canonical_id', m.canonical_id, 'reason', m.reason, 'confidence', m.confidence) AS jsonb_build_object,
             m.asserted_by,
             NULL::timestamp with time zone,
             NULL::timestamp with time zone,
             m.recorded_from,
             m.recorded_to
            FROM memsvc.merges m
           WHERE ((m.user_id = history_of.p_user_id) AND ((m.node_id IN ( SELECT unnest(s.nodes) AS unnest
                    FROM same s)) OR (m.canonical_id IN ( SELECT unnest(s.nodes) AS unnest
                    FROM same s))))
         ), event AS (
          SELECT v.recorded_from AS at,
             'written'::text AS event,
             v.kind,
             v.id,
             v.subject,
             v.content,
             v.asserted_by,
             v.valid_from,
             v.valid_to,
             v.recorded_from,
             v.recorded_to
            FROM version v
         UNION ALL
          SELECT v.recorded_to,
             'closed'::text,
             v.kind,
             v.id,
             v.subject,
             v.content,
             v.asserted_by,
             v.valid_from,
             v.valid_to,
             v.recorded_from,
             v.recorded_to
            FROM version v
           WHERE (v.recorded_to < 'infinity'::timestamp with time zone)
         )
  SELECT e.at,
     e.event,
     e.kind,
     e.id,
     e.subject,
     e.content,
     e.asserted_by,
     e.valid_from,
     e.valid_to,
     c.change_id,
     c.asserted_by
    FROM (( SELECT d.at,
             d.event,
             d.kind,
             d.id,
             d.subject,
             d.content,
             d.asserted_by,
             d.valid_from,
             d.valid_to,
             d.recorded_from,
             d.recorded_to
            FROM event d
           WHERE ((history_of.p_before IS NULL) OR (d.at < history_of.p_before))
           ORDER BY d.at DESC
          FETCH FIRST (history_of.p_limit) ROWS WITH TIES) e
      LEFT JOIN memsvc.changes c ON (((c.user_id = history_of.p_user_id) AND (c.recorded_at = e.at))))
   ORDER BY e.at DESC, e.event, e.id;
END;

ALTER FUNCTION memsvc.history_of(p_user_id uuid, p_node uuid, p_before timestamp with time zone, p_limit integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.history_of(p_user_id uuid, p_node uuid, p_before timestamp with time zone, p_limit integer) IS 'What was ever recorded of a node and all that are the same now, newest first.';

CREATE FUNCTION memsvc.history_steps(p_user_id uuid, p_operations jsonb) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
  RETURN (
    SELECT coalesce(jsonb_agg(jsonb_build_object(
      'position', o.position, 'op', o.op, 'kind', coalesce(v.kind, o.kind),
      'subject', coalesce(v.subject, e.edge_id, o.node_id),
      'line', coalesce(v.line, CASE WHEN e.functional THEN e.from_node END, e.edge_id, o.node_id),
      'form', coalesce(v.form, CASE WHEN e.functional THEN e.type END, memsvc.normal_form(o.alias), ''),
      'valid_from', coalesce(v.valid_from, o.valid_from, '-infinity'),
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
      -- A correction that brings no evidence of its own stands on what the corrected version stood on.
      'derived_from', CASE WHEN o.op = 'correct' AND coalesce(o.evidence, '[]') = '[]' THEN o.version_id END
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
        content jsonb, valid_from timestamptz, valid_to timestamptz, evidence jsonb
      )
      WHERE p.op NOT IN ('merge', 'unmerge')
    ) AS o
    LEFT JOIN LATERAL memsvc.version_of(p_user_id, o.version_id) AS v ON o.version_id IS NOT NULL
    LEFT JOIN LATERAL (
      SELECT i.edge_id, i.from_node, i.type, t.functional
      FROM (
        SELECT k.edge_id, k.from_node, k.type FROM edges AS k
        WHERE o.op = 'edge' AND k.user_id = p_user_id AND k.from_node = o.from_node AND k.type = o.type
          AND k.to_node = o.to_node AND k.key = coalesce(o.key, '')
        UNION ALL
        SELECT k.edge_id, k.from_node, k.type FROM edges AS k
        WHERE k.user_id = p_user_id AND k.edge_id = o.edge_id
      ) AS i
      INNER JOIN edge_types AS t ON t.user_id IN (memsvc.core_user_id(), p_user_id) AND t.name = i.type
      OFFSET 0
    ) AS e ON o.kind = 'edge'
  );
END
$$;

ALTER FUNCTION memsvc.history_steps(p_user_id uuid, p_operations jsonb) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.history_steps(p_user_id uuid, p_operations jsonb) IS 'Operations of a batch as steps of plan_history.';

CREATE FUNCTION memsvc.hop(p_user_id uuid, p_nodes uuid[], p_types text[], p_side text, p_fan_out integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_merged boolean, p_weight real DEFAULT 0, p_version uuid DEFAULT '00000000-0000-0000-0000-000000000000'::uuid) RETURNS TABLE(start_id uuid, reached_id uuid, version_id uuid, weight real, nth bigint)
    LANGUAGE plpgsql STABLE ROWS 500
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
BEGIN
  IF NOT p_merged THEN
    RETURN QUERY SELECT h.* FROM memsvc.stored_hop(
      p_user_id, p_nodes, p_nodes, p_types, p_side, p_fan_out, p_total, p_as_of, p_known_at, p_weight, p_version
    ) AS h;
    RETURN;
  END IF;
  RETURN QUERY
  WITH start AS MATERIALIZED (
    SELECT array_agg(s.canonical_id) AS starts, array_agg(s.node_id) AS nodes
    FROM memsvc.same_nodes(p_user_id, p_nodes, p_known_at) AS s
  ),
  found AS MATERIALIZED (
    SELECT h.* FROM start AS s CROSS JOIN LATERAL memsvc.stored_hop(
      p_user_id, s.starts, s.nodes, p_types, p_side, p_fan_out, p_total, p_as_of, p_known_at, p_weight, p_version
    ) AS h
  )
  SELECT f.start_id, r.canonical_id, f.version_id, f.weight, f.nth
  FROM found AS f
  INNER JOIN memsvc.resolve_nodes(
    p_user_id, ARRAY(SELECT DISTINCT o.other_id FROM found AS o), p_known_at
  ) AS r ON r.node_id = f.other_id;
END
$$;

ALTER FUNCTION memsvc.hop(p_user_id uuid, p_nodes uuid[], p_types text[], p_side text, p_fan_out integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_merged boolean, p_weight real, p_version uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.hop(p_user_id uuid, p_nodes uuid[], p_types text[], p_side text, p_fan_out integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_merged boolean, p_weight real, p_version uuid) IS 'One hop from nodes: the strongest edges of each and where they lead.';

CREATE FUNCTION memsvc.hubs(p_user_id uuid, p_limit integer) RETURNS TABLE(node_id uuid, facts bigint, neighbours bigint, strength double precision, total bigint)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH pair AS MATERIALIZED (SELECT w.* FROM memsvc.weighted_pairs(p_user_id) AS w)
  SELECT s.node_id, sum(s.facts)::bigint, count(*), sum(s.weight), count(*) OVER ()
  FROM (
    SELECT p.node_id, p.facts, p.weight FROM pair AS p
    UNION ALL SELECT p.other_id, p.facts, p.weight FROM pair AS p
  ) AS s
  GROUP BY s.node_id
  ORDER BY sum(s.weight) DESC, s.node_id
  LIMIT p_limit;
END
$$;

ALTER FUNCTION memsvc.hubs(p_user_id uuid, p_limit integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.hubs(p_user_id uuid, p_limit integer) IS 'Nodes by the strength of their facts.';

CREATE TABLE memsvc.source_links (
    user_id uuid NOT NULL,
    link_id uuid DEFAULT uuidv7() NOT NULL,
    passage_id uuid NOT NULL,
    span_from integer,
    span_to integer,
    node_id uuid,
    node_version_id uuid,
    edge_version_id uuid,
    alias_id uuid,
    merge_id uuid,
    stance text DEFAULT 'supports'::text NOT NULL,
    confidence real DEFAULT 1 NOT NULL,
    asserted_by text NOT NULL,
    recorded_from timestamp with time zone NOT NULL,
    recorded_to timestamp with time zone DEFAULT 'infinity'::timestamp with time zone NOT NULL,
    location_id uuid,
    CONSTRAINT source_links_asserted_by_check CHECK ((asserted_by <> ''::text)),
    CONSTRAINT source_links_check CHECK ((recorded_to >= recorded_from)),
    CONSTRAINT source_links_confidence_check CHECK (((confidence > (0)::double precision) AND (confidence <= (1)::double precision))),
    CONSTRAINT source_links_one_subject CHECK ((num_nonnulls(node_id, node_version_id, edge_version_id, alias_id, merge_id, location_id) = 1)),
    CONSTRAINT source_links_span CHECK ((((span_from IS NULL) = (span_to IS NULL)) AND (span_to > span_from))),
    CONSTRAINT source_links_span_from_check CHECK ((span_from >= 0)),
    CONSTRAINT source_links_stance_check CHECK ((stance = ANY (ARRAY['supports'::text, 'ends'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0.05');
ALTER TABLE ONLY memsvc.source_links ALTER COLUMN asserted_by SET STATISTICS 0;

ALTER TABLE ONLY memsvc.source_links FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.source_links OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.source_links IS 'Evidence: which passage, and which span of it, speaks for what the graph holds. Append-only, as versions are.';

COMMENT ON COLUMN memsvc.source_links.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.source_links.link_id IS 'Time-ordered id.';

COMMENT ON COLUMN memsvc.source_links.passage_id IS 'The passage.';

COMMENT ON COLUMN memsvc.source_links.span_from IS 'First character of the span, from 0; null: the whole passage.';

COMMENT ON COLUMN memsvc.source_links.span_to IS 'The character behind the span.';

COMMENT ON COLUMN memsvc.source_links.node_id IS 'What it speaks for: a node as such.';

COMMENT ON COLUMN memsvc.source_links.node_version_id IS 'What it speaks for: properties of a node.';

COMMENT ON COLUMN memsvc.source_links.edge_version_id IS 'What it speaks for: a fact.';

COMMENT ON COLUMN memsvc.source_links.alias_id IS 'What it speaks for: a name.';

COMMENT ON COLUMN memsvc.source_links.merge_id IS 'What it speaks for: that two nodes are the same.';

COMMENT ON COLUMN memsvc.source_links.stance IS 'supports; ends: it says that this is not so, or not any more, and is the reason why the version was closed.';

COMMENT ON COLUMN memsvc.source_links.confidence IS 'How well the passage shows it: above 0, at most 1.';

COMMENT ON COLUMN memsvc.source_links.asserted_by IS 'Who read it so.';

COMMENT ON COLUMN memsvc.source_links.recorded_from IS 'When memsvc learnt it.';

COMMENT ON COLUMN memsvc.source_links.recorded_to IS 'When it was taken back; infinity: it was not.';

COMMENT ON COLUMN memsvc.source_links.location_id IS 'What it speaks for: where a node is.';

CREATE FUNCTION memsvc.identity_cards(p_user_id uuid, p_nodes uuid[]) RETURNS TABLE(node_id uuid, type text, names text[], named boolean, fact_types text[], fact_sides text[], fact_nodes uuid[], relations text[], attributes jsonb, sources uuid[], last_at timestamp with time zone)
    LANGUAGE sql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_incremental_sort TO 'off'
    BEGIN ATOMIC
 WITH same AS MATERIALIZED (
          SELECT s.canonical_id,
             s.node_id
            FROM memsvc.same_nodes(identity_cards.p_user_id, identity_cards.p_nodes) s(canonical_id, node_id)
         ), state AS MATERIALIZED (
          SELECT s.canonical_id,
             s.node_id,
             v.version_id,
             v.type,
             v.label,
             v.label_form,
             v.data,
             ((v.data -> 'named'::text) IS DISTINCT FROM 'false'::jsonb) AS named,
             row_number() OVER (PARTITION BY s.canonical_id ORDER BY (s.node_id = s.canonical_id) DESC, v.valid_from DESC, v.version_id) AS nth
            FROM (same s
              CROSS JOIN LATERAL ( SELECT o.user_id,
                     o.version_id,
                     o.node_id,
                     o.type,
                     o.label,
                     o.description,
                     o.data,
                     o.importance,
                     o.valid_from,
                     o.valid_to,
                     o.recorded_from,
                     o.recorded_to,
                     o.asserted_by,
                     o.derived_from,
                     o.label_form
                    FROM memsvc.node_versions o
                   WHERE ((o.user_id = identity_cards.p_user_id) AND (o.node_id = ANY (ARRAY[s.node_id])) AND (o.recorded_to = 'infinity'::timestamp with time zone))
                   ORDER BY o.node_id
                  OFFSET 0) v)
         ), called AS MATERIALIZED (
          SELECT s.canonical_id,
             a.alias_id,
             a.alias,
             a.normal_form
            FROM (same s
              CROSS JOIN LATERAL ( SELECT o.user_id,
                     o.alias_id,
                     o.node_id,
                     o.alias,
                     o.normal_form,
                     o.confidence,
                     o.asserted_by,
                     o.valid_from,
                     o.valid_to,
                     o.recorded_from,
                     o.recorded_to,
                     o.derived_from
                    FROM memsvc.aliases o
                   WHERE ((o.user_id = identity_cards.p_user_id) AND (o.node_id = s.node_id) AND (o.recorded_to = 'infinity'::timestamp with time zone))
                   ORDER BY o.normal_form
                  OFFSET 0) a)
         ), naming AS (
          SELECT n_1.canonical_id,
             array_agg(n_1.name ORDER BY n_1.place, n_1.name) AS names
            FROM ( SELECT DISTINCT ON (b.canonical_id, b.form) b.canonical_id,
                     b.name,
                     b.place
                    FROM ( SELECT t_1.canonical_id,
                             t_1.label AS name,
                             t_1.label_form AS form,
                             t_1.nth AS place
                            FROM state t_1
                         UNION ALL
                          SELECT c.canonical_id,
                             c.alias,
                             c.normal_form,
                             1000
                            FROM called c) b
                   WHERE (b.form <> ALL (memsvc.first_person_words()))
                   ORDER BY b.canonical_id, b.form, b.place) n_1
           GROUP BY n_1.canonical_id
         ), edge AS MATERIALIZED (
          SELECT s.canonical_id,
             e.version_id,
             e.type,
             e.side,
             e.other,
             e.relation
            FROM (same s
              CROSS JOIN LATERAL (( SELECT v.version_id,
                     v.type,
                     'out'::text AS side,
                     v.to_node AS other,
                     COALESCE((v.data ->> 'relation'::text), ''::text) AS relation
                    FROM memsvc.edge_versions v
                   WHERE ((v.user_id = identity_cards.p_user_id) AND (v.from_node = s.node_id) AND (v.recorded_to = 'infinity'::timestamp with time zone) AND (v.valid_from <= clock_timestamp()) AND (v.valid_to > clock_timestamp()))
                  LIMIT 200)
                 UNION ALL
                 ( SELECT v.version_id,
                     v.type,
                     'in'::text,
                     v.from_node,
                     COALESCE((v.data ->> 'relation'::text), ''::text) AS "coalesce"
                    FROM memsvc.edge_versions v
                   WHERE ((v.user_id = identity_cards.p_user_id) AND (v.to_node = s.node_id) AND (v.recorded_to = 'infinity'::timestamp with time zone) AND (v.valid_from <= clock_timestamp()) AND (v.valid_to > clock_timestamp()))
                  LIMIT 200)) e)
         ), other AS MATERIALIZED (
          SELECT r.node_id,
             r.canonical_id
            FROM memsvc.resolve_nodes(identity_cards.p_user_id, ARRAY( SELECT DISTINCT d.other
                    FROM edge d)) r(node_id, canonical_id)
         ), fact AS (
          SELECT e.canonical_id,
             array_agg(e.type ORDER BY e.version_id) AS types,
             array_agg(e.side ORDER BY e.version_id) AS sides,
             array_agg(o.canonical_id ORDER BY e.version_id) AS nodes,
             array_agg(e.relation ORDER BY e.version_id) AS relations
            FROM (edge e
              JOIN other o ON ((o.node_id = e.other)))
           WHERE (o.canonical_id <> e.canonical_id)
           GROUP BY e.canonical_id
         ), property AS (
          SELECT p_1.canonical_id,
             jsonb_object_agg(p_1.key, p_1.value) AS attributes
            FROM ( SELECT DISTINCT ON (t_1.canonical_id, d.key) t_1.canonical_id,
                     d.key,
                     (d.value #>> '{}'::text[]) AS value
                    FROM (state t_1
                      CROSS JOIN LATERAL jsonb_each(t_1.data) d(key, value))
                   WHERE ((jsonb_typeof(d.value) = ANY (ARRAY['string'::text, 'number'::text])) AND ((length((d.value #>> '{}'::text[])) >= 1) AND (length((d.value #>> '{}'::text[])) <= 200)))
                   ORDER BY t_1.canonical_id, d.key, t_1.nth) p_1
           GROUP BY p_1.canonical_id
         ), speaks AS (
          SELECT s.canonical_id,
             l.passage_id
            FROM (same s
              CROSS JOIN LATERAL ( SELECT o.passage_id
                    FROM memsvc.source_links o
                   WHERE ((o.user_id = identity_cards.p_user_id) AND (o.node_id = s.node_id) AND (o.recorded_to = 'infinity'::timestamp with time zone))
                   ORDER BY o.link_id DESC
                  LIMIT 200) l)
         UNION
          SELECT t_1.canonical_id,
             l.passage_id
            FROM (state t_1
              CROSS JOIN LATERAL ( SELECT o.passage_id
                    FROM memsvc.source_links o
                   WHERE ((o.user_id = identity_cards.p_user_id) AND (o.node_version_id = t_1.version_id) AND (o.recorded_to = 'infinity'::timestamp with time zone))
                  LIMIT 200) l)
         UNION
          SELECT c.canonical_id,
             l.passage_id
            FROM (called c
              CROSS JOIN LATERAL ( SELECT o.passage_id
                    FROM memsvc.source_links o
                   WHERE ((o.user_id = identity_cards.p_user_id) AND (o.alias_id = c.alias_id) AND (o.recorded_to = 'infinity'::timestamp with time zone))
                  LIMIT 200) l)
         UNION
          SELECT e.canonical_id,
             l.passage_id
            FROM (edge e
              CROSS JOIN LATERAL ( SELECT o.passage_id
                    FROM memsvc.source_links o
                   WHERE ((o.user_id = identity_cards.p_user_id) AND (o.edge_version_id = e.version_id) AND (o.recorded_to = 'infinity'::timestamp with time zone))
                  LIMIT 20) l)
         ), heard AS (
          SELECT h_1.canonical_id,
             (array_agg(h_1.source_id ORDER BY h_1.last_at DESC))[:50] AS sources,
             max(h_1.last_at) AS last_at
            FROM ( SELECT k.canonical_id,
                     p_1.source_id,
                     max(p_1.said_at) AS last_at
                    FROM (speaks k
                      CROSS JOIN LATERAL ( SELECT o.source_id,
                             o.said_at
                            FROM memsvc.passages o
                           WHERE ((o.user_id = identity_cards.p_user_id) AND (o.passage_id = k.passage_id))
                          OFFSET 0) p_1)
                   GROUP BY k.canonical_id, p_1.source_id) h_1
           GROUP BY h_1.canonical_id
         ), standing AS (
          SELECT t_1.canonical_id,
             (array_agg(t_1.type ORDER BY t_1.nth))[1] AS type,
             bool_or(t_1.named) AS named
            FROM state t_1
           GROUP BY t_1.canonical_id
         )
  SELECT t.canonical_id,
     t.type,
     COALESCE(n.names, '{}'::text[]) AS "coalesce",
     t.named,
     COALESCE(f.types, '{}'::text[]) AS "coalesce",
     COALESCE(f.sides, '{}'::text[]) AS "coalesce",
     COALESCE(f.nodes, '{}'::uuid[]) AS "coalesce",
     COALESCE(f.relations, '{}'::text[]) AS "coalesce",
     COALESCE(p.attributes, '{}'::jsonb) AS "coalesce",
     COALESCE(h.sources, '{}'::uuid[]) AS "coalesce",
     h.last_at
    FROM ((((standing t
      LEFT JOIN naming n ON ((n.canonical_id = t.canonical_id)))
      LEFT JOIN fact f ON ((f.canonical_id = t.canonical_id)))
      LEFT JOIN property p ON ((p.canonical_id = t.canonical_id)))
      LEFT JOIN heard h ON ((h.canonical_id = t.canonical_id)));
END;

ALTER FUNCTION memsvc.identity_cards(p_user_id uuid, p_nodes uuid[]) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.identity_cards(p_user_id uuid, p_nodes uuid[]) IS 'What a judge of identity needs to know about nodes.';

CREATE FUNCTION memsvc.impossible_dates(p_user_id uuid) RETURNS TABLE(what text, nodes uuid[], facts uuid[], passages uuid[], day date, confidence real)
    LANGUAGE plpgsql STABLE ROWS 100
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_nestloop TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  lived CONSTANT text[] := ARRAY[
    'KNOWS', 'WORKS_AT', 'LIVES_IN', 'LOCATED_AT', 'PARTICIPATED_IN', 'OWNS', 'LIKES', 'DISLIKES', 'FEELS', 'WANTS',
    'CREATED', 'USES'
  ];
BEGIN
  RETURN QUERY
  WITH resolved AS MATERIALIZED (
    SELECT r.* FROM memsvc.resolve_nodes(p_user_id, ARRAY(
      SELECT m.node_id FROM merges AS m WHERE m.user_id = p_user_id AND m.recorded_to = 'infinity'
    )) AS r
  ),
  written AS (
    SELECT coalesce(r.canonical_id, v.node_id) AS node_id,
      coalesce(v.data ->> 'born', v.data ->> 'birth_date', v.data ->> 'date_of_birth') AS born,
      coalesce(v.data ->> 'died', v.data ->> 'death_date', v.data ->> 'date_of_death') AS died
    FROM node_versions AS v
    LEFT JOIN resolved AS r ON r.node_id = v.node_id
    WHERE v.user_id = p_user_id AND v.type = 'Person' AND v.recorded_to = 'infinity'
  ),
  person AS MATERIALIZED (
    SELECT w.node_id, min(memsvc.first_day(w.born)) AS born, max(
      memsvc.first_day(w.died)
      + CASE length(w.died) WHEN 4 THEN interval '1 year' WHEN 7 THEN interval '1 month' ELSE interval '1 day' END
    ) AS died
    FROM written AS w GROUP BY w.node_id
  ),
  dated AS (
    SELECT f.*, p.born, p.died FROM memsvc.analysed_facts(p_user_id) AS f
    INNER JOIN person AS p ON p.node_id = f.from_node
    WHERE f.type = ANY (lived) AND f.valid_from > '-infinity'
  ),
  wrong AS (
    SELECT CASE
        WHEN d.valid_from < d.born - interval '1 day' THEN 'before_birth'
        WHEN d.valid_from > d.died + interval '1 day' THEN 'after_death'
        WHEN d.born IS NULL AND d.valid_from < d.recorded_from - interval '150 years' THEN 'long_ago'
        WHEN d.valid_from > d.recorded_from + interval '30 years' THEN 'far_ahead'
      END AS what, ARRAY[d.from_node, d.to_node] AS nodes, ARRAY[d.version_id] AS facts, '{}'::uuid[] AS passages,
      d.valid_from AS at, d.confidence
    FROM dated AS d
    UNION ALL
    SELECT CASE WHEN p.said_at > p.recorded_at THEN 'said_ahead' ELSE 'said_at_zero' END, '{}', '{}',
      ARRAY[p.passage_id], p.said_at, 1
    FROM passages AS p
    WHERE p.user_id = p_user_id AND p.part = 0 AND (
      p.said_at > p.recorded_at + interval '1 day'
      OR p.said_at BETWEEN timestamptz '1969-12-31 00:00Z' AND timestamptz '1970-01-02 00:00Z'
    )
  )
  SELECT w.what, w.nodes, w.facts, w.passages, (w.at AT TIME ZONE 'UTC')::date, w.confidence
  FROM wrong AS w
  WHERE w.what IS NOT NULL
  ORDER BY w.what, w.at;
END
$$;

ALTER FUNCTION memsvc.impossible_dates(p_user_id uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.impossible_dates(p_user_id uuid) IS 'Facts and messages whose times cannot be right.';

CREATE FUNCTION memsvc.job_message(p_user_id uuid, p_job_id uuid, p_kind text) RETURNS jsonb
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN jsonb_build_object('queue_name', memsvc.job_queue(p_kind), 'actor_name', p_kind, 'args', jsonb_build_array(p_user_id, p_job_id), 'kwargs', CASE WHEN (current_setting('memsvc.traceparent'::text, true) ~ '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$'::text) THEN jsonb_build_object('traceparent', current_setting('memsvc.traceparent'::text, true)) ELSE jsonb_build_object() END, 'options', jsonb_build_object(), 'message_id', p_job_id, 'message_timestamp', floor((EXTRACT(epoch FROM clock_timestamp()) * (1000)::numeric)));

ALTER FUNCTION memsvc.job_message(p_user_id uuid, p_job_id uuid, p_kind text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.job_message(p_user_id uuid, p_job_id uuid, p_kind text) IS 'The message that carries a job''s id to a worker.';

CREATE FUNCTION memsvc.keep_memories(p_user_id uuid) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtextextended('memsvc memories of ' || p_user_id, 0));
END
$$;

ALTER FUNCTION memsvc.keep_memories(p_user_id uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.keep_memories(p_user_id uuid) IS 'Keeps others from erasing memories of a user until the commit.';

CREATE FUNCTION memsvc.keep_projection(p_model_id smallint, p_projection bytea) RETURNS bytea
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
DECLARE
  kept bytea;
BEGIN
  PERFORM memsvc.change_models();
  UPDATE embedding_models AS m SET projection = p_projection
  WHERE m.model_id = p_model_id AND m.projection IS NULL AND m.state <> 'retired';
  IF FOUND THEN
    INSERT INTO jobs AS j (user_id, kind, subject_id)
    SELECT l.user_id, 'embed', l.user_id
    FROM memsvc.users_lacking_tokens(p_model_id) AS l (user_id)
    INNER JOIN users AS u ON u.user_id = l.user_id AND u.erasing_since IS NULL
    ORDER BY l.user_id
    ON CONFLICT (user_id, kind, subject_id) WHERE state = 'pending' DO UPDATE SET requests = j.requests + 1;
  END IF;
  SELECT m.projection INTO kept FROM embedding_models AS m WHERE m.model_id = p_model_id;
  RETURN kept;
END
$$;

ALTER FUNCTION memsvc.keep_projection(p_model_id smallint, p_projection bytea) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.keep_projection(p_model_id smallint, p_projection bytea) IS 'Keeps a model''s projection; the one that counts.';

CREATE FUNCTION memsvc.keep_queue(p_silence interval) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
DECLARE
  most_deaths CONSTANT integer := 5;
  longest_wait CONSTANT interval := '5 minutes';
  today CONSTANT timestamptz := clock_timestamp();
  touched integer;
  again integer;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended('memsvc.keep_queue', 0)) THEN
    RETURN 0;
  END IF;
  DELETE FROM dramatiq_worker AS w WHERE w.heartbeat_at NOT BETWEEN today - p_silence AND today + p_silence;

  WITH silent AS (
    SELECT q.message_id FROM dramatiq_queue AS q
    WHERE q.state = 'consumed'
      AND NOT EXISTS (SELECT FROM dramatiq_worker AS w WHERE w.worker_id = q.worker_id)
    FOR UPDATE SKIP LOCKED
  )
  UPDATE dramatiq_queue AS q
  SET state = 'queued', worker_id = NULL, consumed_at = NULL, mtime = today, available_at = least(q.available_at, today)
  FROM silent AS s
  WHERE q.message_id = s.message_id;
  GET DIAGNOSTICS touched = ROW_COUNT;

  UPDATE jobs AS j
  SET state = 'failed', finished_at = today, error_code = 'worker_died',
    error = 'Its workers died or broke off ' || q.deliveries || ' times while they had it; see their logs.'
  FROM dramatiq_queue AS q
  WHERE q.message_id = j.job_id AND q.user_id = j.user_id AND q.deliveries >= most_deaths AND q.state = 'queued'
    AND j.state = 'pending';

  UPDATE jobs AS j
  SET run_after = today
  WHERE j.state = 'pending' AND j.run_after > today + 2 * longest_wait;
  UPDATE dramatiq_queue AS q
  SET available_at = today
  WHERE q.state = 'queued' AND q.available_at > today + 2 * longest_wait;

  UPDATE jobs AS j
  SET run_after = today
  WHERE j.state = 'pending' AND j.run_after < today - interval '2 minutes'
    AND NOT EXISTS (
      SELECT FROM dramatiq_queue AS q
      WHERE q.message_id = j.job_id AND q.queue_name = memsvc.job_queue(j.kind) AND q.state IN ('queued', 'consumed')
    );
  GET DIAGNOSTICS again = ROW_COUNT;

  DELETE FROM dramatiq_queue AS q WHERE q.state = 'rejected' AND q.mtime < today - interval '30 days';
  RETURN touched + again;
END
$$;

ALTER FUNCTION memsvc.keep_queue(p_silence interval) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.keep_queue(p_silence interval) IS 'Upkeep of the queue: hands out again what dead workers had and what was lost.';

CREATE TABLE memsvc.api_keys (
    key_id text NOT NULL,
    app_id uuid NOT NULL,
    user_id uuid,
    secret_hash bytea NOT NULL,
    scopes text[] NOT NULL,
    label text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    requests_per_minute integer,
    messages_per_day integer,
    minute timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    requests integer DEFAULT 0 NOT NULL,
    day date DEFAULT '-infinity'::date NOT NULL,
    messages integer DEFAULT 0 NOT NULL,
    CONSTRAINT api_keys_key_id_check CHECK ((key_id <> ''::text)),
    CONSTRAINT api_keys_messages_check CHECK ((messages >= 0)),
    CONSTRAINT api_keys_messages_per_day_check CHECK ((messages_per_day > 0)),
    CONSTRAINT api_keys_requests_check CHECK ((requests >= 0)),
    CONSTRAINT api_keys_requests_per_minute_check CHECK ((requests_per_minute > 0)),
    CONSTRAINT api_keys_scopes_check CHECK (((cardinality(scopes) > 0) AND (scopes <@ ARRAY['read'::text, 'write'::text, 'forget'::text, 'admin'::text]))),
    CONSTRAINT api_keys_secret_hash_check CHECK ((octet_length(secret_hash) = 32))
);
ALTER TABLE ONLY memsvc.api_keys ALTER COLUMN label SET STATISTICS 0;

ALTER TABLE ONLY memsvc.api_keys FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.api_keys OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.api_keys IS 'Keys as id.secret. The secret has 128 random bits, so its sha256 is kept and looked up by id (argon2 would add 185 ms).';

COMMENT ON COLUMN memsvc.api_keys.key_id IS 'Public half of the key.';

COMMENT ON COLUMN memsvc.api_keys.app_id IS 'The application whose users it may act for.';

COMMENT ON COLUMN memsvc.api_keys.user_id IS 'The only user it may act for; null: any user of the app.';

COMMENT ON COLUMN memsvc.api_keys.secret_hash IS 'sha256 of the secret half.';

COMMENT ON COLUMN memsvc.api_keys.scopes IS 'What it may do: read, write, forget (erase memories), admin.';

COMMENT ON COLUMN memsvc.api_keys.label IS 'What the key is for, in its maker''s words.';

COMMENT ON COLUMN memsvc.api_keys.created_at IS 'When it was made.';

COMMENT ON COLUMN memsvc.api_keys.expires_at IS 'When it stops working by itself; null: never.';

COMMENT ON COLUMN memsvc.api_keys.revoked_at IS 'When it was revoked; null while it works.';

COMMENT ON COLUMN memsvc.api_keys.requests_per_minute IS 'Most requests in one minute of the clock; null: any number.';

COMMENT ON COLUMN memsvc.api_keys.messages_per_day IS 'Most messages in one day (UTC); null: any number.';

COMMENT ON COLUMN memsvc.api_keys.minute IS 'The minute that requests counts; only where there is a limit.';

COMMENT ON COLUMN memsvc.api_keys.requests IS 'Requests in that minute, refused ones too.';

COMMENT ON COLUMN memsvc.api_keys.day IS 'The day (UTC) that messages counts; only where there is a limit.';

COMMENT ON COLUMN memsvc.api_keys.messages IS 'Messages on that day.';

CREATE FUNCTION memsvc.keys_of_app(p_app_id uuid) RETURNS TABLE(key_id text, user_id uuid, scopes text[], label text, created_at timestamp with time zone, expires_at timestamp with time zone, revoked_at timestamp with time zone, requests_per_minute integer, messages_per_day integer, messages_today integer)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 SELECT k.key_id,
     k.user_id,
     k.scopes,
     k.label,
     k.created_at,
     k.expires_at,
     k.revoked_at,
     k.requests_per_minute,
     k.messages_per_day,
         CASE
             WHEN (k.messages_per_day IS NOT NULL) THEN
             CASE
                 WHEN (k.day = ((clock_timestamp() AT TIME ZONE 'UTC'::text))::date) THEN k.messages
                 ELSE 0
             END
             ELSE NULL::integer
         END AS "case"
    FROM memsvc.api_keys k
   WHERE ((k.app_id = keys_of_app.p_app_id) AND memsvc.require_restored())
   ORDER BY k.created_at, k.key_id;
END;

ALTER FUNCTION memsvc.keys_of_app(p_app_id uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.keys_of_app(p_app_id uuid) IS 'Keys of one app, without their hashes.';

CREATE FUNCTION memsvc.kinds_of(p_user_id uuid, p_ids uuid[]) RETURNS TABLE(memory_id uuid, kind text)
    LANGUAGE plpgsql STABLE ROWS 20
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
  RETURN QUERY
  SELECT i.id, CASE WHEN p.found THEN 'passage' ELSE 'fact' END
  FROM (SELECT DISTINCT u.id FROM unnest(p_ids) AS u (id) WHERE u.id IS NOT NULL) AS i
  LEFT JOIN LATERAL (
    SELECT true AS found FROM passages AS r WHERE r.user_id = p_user_id AND r.passage_id = i.id OFFSET 0
  ) AS p ON true
  LEFT JOIN LATERAL (
    SELECT true AS found FROM edge_versions AS r
    WHERE p.found IS NULL AND r.user_id = p_user_id AND r.version_id = i.id OFFSET 0
  ) AS v ON true
  WHERE p.found OR v.found;
END
$$;

ALTER FUNCTION memsvc.kinds_of(p_user_id uuid, p_ids uuid[]) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.kinds_of(p_user_id uuid, p_ids uuid[]) IS 'What ids are ids of: a passage or a fact.';

CREATE FUNCTION memsvc.known_model(p_name text) RETURNS memsvc.embedding_models
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
DECLARE
  known embedding_models%ROWTYPE;
BEGIN
  SELECT * INTO known FROM embedding_models AS m WHERE m.name = p_name;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'There is no embedding model % in this database.', quote_literal(p_name)
      USING ERRCODE = 'undefined_object', HINT = '''memsvc models'' lists them.';
  END IF;
  RETURN known;
END
$$;

ALTER FUNCTION memsvc.known_model(p_name text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.known_model(p_name text) IS 'The model with this name; an error where there is none.';

CREATE FUNCTION memsvc.known_zone(p_zone text) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  PERFORM now() AT TIME ZONE p_zone;
  RETURN p_zone;
EXCEPTION WHEN invalid_parameter_value THEN
  RETURN 'UTC';
END
$$;

ALTER FUNCTION memsvc.known_zone(p_zone text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.known_zone(p_zone text) IS 'A time zone, or UTC where this server does not know it.';

CREATE FUNCTION memsvc.labels_of(p_user_id uuid, p_kind text) RETURNS TABLE(type text, label text)
    LANGUAGE sql STABLE ROWS 20
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 SELECT t.name,
     t.label
    FROM ((( SELECT n.name,
                 CASE
                     WHEN (n.user_id = memsvc.core_user_id()) THEN n.name
                     ELSE n.parent
                 END AS label
            FROM memsvc.node_types n
           WHERE ((labels_of.p_kind = 'node'::text) AND (n.user_id = ANY (ARRAY[memsvc.core_user_id(), labels_of.p_user_id])))
         UNION ALL
          SELECT e.name,
                 CASE
                     WHEN (e.user_id = memsvc.core_user_id()) THEN e.name
                     ELSE e.parent
                 END AS parent
            FROM memsvc.edge_types e
           WHERE ((labels_of.p_kind = 'edge'::text) AND (e.user_id = ANY (ARRAY[memsvc.core_user_id(), labels_of.p_user_id])))) t
      JOIN pg_class c ON ((c.relname = t.label)))
      JOIN pg_namespace s ON (((s.oid = c.relnamespace) AND (s.nspname = 'memory'::name))));
END;

ALTER FUNCTION memsvc.labels_of(p_user_id uuid, p_kind text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.labels_of(p_user_id uuid, p_kind text) IS 'Under which label each type of a user shows.';

CREATE FUNCTION memsvc.last_spoken(p_user_id uuid, p_now timestamp with time zone, p_known_at timestamp with time zone, p_sitting interval) RETURNS TABLE(said_at timestamp with time zone, said_offset smallint)
    LANGUAGE plpgsql STABLE ROWS 2
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_sort TO 'off'
    AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH latest AS MATERIALIZED (
    SELECT p.said_at, p.said_offset, p.kind, p.role
    FROM passages AS p
    WHERE p.user_id = p_user_id AND p.said_at <= p_now AND (p_known_at IS NULL OR p.recorded_at <= p_known_at)
    ORDER BY p.user_id DESC, p.said_at DESC
    LIMIT 200
  ),
  said AS (
    SELECT l.said_at, l.said_offset, row_number() OVER newest AS place,
      lag(l.said_at, 1, p_now) OVER newest - l.said_at > p_sitting AS before
    FROM latest AS l
    WHERE l.kind = 'message' AND l.role = 'user'
    WINDOW newest AS (ORDER BY l.said_at DESC)
  )
  SELECT s.said_at, s.said_offset FROM said AS s
  WHERE s.place = 1 OR s.before
  ORDER BY s.said_at DESC
  LIMIT 2;
END
$$;

ALTER FUNCTION memsvc.last_spoken(p_user_id uuid, p_now timestamp with time zone, p_known_at timestamp with time zone, p_sitting interval) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.last_spoken(p_user_id uuid, p_now timestamp with time zone, p_known_at timestamp with time zone, p_sitting interval) IS 'When the user spoke last, and last before the present sitting.';

CREATE FUNCTION memsvc.late_scores(p_user_id uuid, p_model_id smallint, p_query bit[], p_passages uuid[]) RETURNS TABLE(passage_id uuid, late double precision)
    LANGUAGE sql STABLE ROWS 50
    SET search_path TO 'memsvc', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    BEGIN ATOMIC
 WITH asked AS MATERIALIZED (
          SELECT (late_scores.p_query)[f.at] AS q1,
             (late_scores.p_query)[(f.at + 1)] AS q2,
             (late_scores.p_query)[(f.at + 2)] AS q3,
             (late_scores.p_query)[(f.at + 3)] AS q4,
             (late_scores.p_query)[(f.at + 4)] AS q5,
             (late_scores.p_query)[(f.at + 5)] AS q6,
             (late_scores.p_query)[(f.at + 6)] AS q7,
             (late_scores.p_query)[(f.at + 7)] AS q8
            FROM generate_series(1, cardinality(late_scores.p_query), 8) f(at)
         )
  SELECT c.passage_id,
     s.late
    FROM ((unnest(late_scores.p_passages) c(passage_id)
      CROSS JOIN LATERAL ( SELECT t_1.tokens
            FROM memsvc.token_vectors t_1
           WHERE ((t_1.user_id = late_scores.p_user_id) AND (t_1.model_id = late_scores.p_model_id) AND (t_1.passage_id = c.passage_id))
          OFFSET 0) t)
      CROSS JOIN LATERAL ( SELECT ((1)::double precision - (((2)::double precision * sum(m.bits)) / ((128 * cardinality(late_scores.p_query)))::double precision)) AS late
            FROM (asked a
              CROSS JOIN LATERAL ( SELECT (((((((COALESCE(min((k.token OPERATOR(public.<~>) a.q1)), (0)::double precision) + COALESCE(min((k.token OPERATOR(public.<~>) a.q2)), (0)::double precision)) + COALESCE(min((k.token OPERATOR(public.<~>) a.q3)), (0)::double precision)) + COALESCE(min((k.token OPERATOR(public.<~>) a.q4)), (0)::double precision)) + COALESCE(min((k.token OPERATOR(public.<~>) a.q5)), (0)::double precision)) + COALESCE(min((k.token OPERATOR(public.<~>) a.q6)), (0)::double precision)) + COALESCE(min((k.token OPERATOR(public.<~>) a.q7)), (0)::double precision)) + COALESCE(min((k.token OPERATOR(public.<~>) a.q8)), (0)::double precision)) AS bits
                    FROM ( SELECT unnest(t.tokens) AS token) k) m)) s)
   WHERE ((t.tokens <> '{}'::"bit"[]) AND (s.late IS NOT NULL));
END;

ALTER FUNCTION memsvc.late_scores(p_user_id uuid, p_model_id smallint, p_query bit[], p_passages uuid[]) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.late_scores(p_user_id uuid, p_model_id smallint, p_query bit[], p_passages uuid[]) IS 'Late interaction of a query''s tokens with passages'': mean of largest similarities, -1 to 1; no tokens, no row.';

CREATE FUNCTION memsvc.limit_key(p_app_id uuid, p_key_id text, p_requests_per_minute integer, p_messages_per_day integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
BEGIN
  PERFORM memsvc.require_restored();
  UPDATE memsvc.api_keys AS k
  SET requests_per_minute = p_requests_per_minute, messages_per_day = p_messages_per_day
  WHERE k.app_id = p_app_id AND k.key_id = p_key_id AND k.revoked_at IS NULL;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  PERFORM memsvc.audit('key.limit', p_app_id, NULL, p_key_id);
  RETURN true;
END
$$;

ALTER FUNCTION memsvc.limit_key(p_app_id uuid, p_key_id text, p_requests_per_minute integer, p_messages_per_day integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.limit_key(p_app_id uuid, p_key_id text, p_requests_per_minute integer, p_messages_per_day integer) IS 'Sets the limits of a key of the app.';

CREATE FUNCTION memsvc.link_evidence(p_user_id uuid, p_actor text, p_at timestamp with time zone, p_steps jsonb, p_plan jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
  INSERT INTO source_links (
    user_id, passage_id, span_from, span_to, node_version_id, edge_version_id, alias_id, location_id, stance,
    confidence, asserted_by, recorded_from
  )
  SELECT p_user_id, l.passage_id, l.span_from, l.span_to, CASE l.kind WHEN 'node' THEN l.version_id END,
    CASE l.kind WHEN 'edge' THEN l.version_id END, CASE l.kind WHEN 'alias' THEN l.version_id END,
    CASE l.kind WHEN 'place' THEN l.version_id END, l.stance, l.confidence, coalesce(l.asserted_by, p_actor), p_at
  FROM (
    SELECT DISTINCT ON (w.version_id, e.passage_id, e.span_from, e.span_to, w.action) w.kind, w.version_id,
      e.passage_id, e.span_from, e.span_to, CASE w.action WHEN 'end' THEN 'ends' ELSE 'supports' END AS stance,
      coalesce(e.confidence, 1) AS confidence, NULL AS asserted_by
    FROM jsonb_to_recordset(p_steps) AS s (position integer, evidence jsonb)
    CROSS JOIN LATERAL jsonb_to_recordset(s.evidence) AS e (
      passage_id uuid, span_from integer, span_to integer, confidence real
    )
    INNER JOIN (
      SELECT p.* FROM jsonb_to_recordset(p_plan) AS p (action text, kind text, version_id uuid, nth integer)
    ) AS w ON w.nth = s.position AND w.action IN ('bear', 'end')
    ORDER BY w.version_id, e.passage_id, e.span_from, e.span_to, w.action, s.position
  ) AS l
  WHERE NOT EXISTS (SELECT FROM memsvc.links_of(p_user_id, l.kind, l.version_id) AS k
    WHERE (k.passage_id, k.span_from, k.span_to, k.stance)
      IS NOT DISTINCT FROM (l.passage_id, l.span_from, l.span_to, l.stance));

  INSERT INTO source_links (
    user_id, passage_id, span_from, span_to, node_version_id, edge_version_id, alias_id, location_id, stance,
    confidence, asserted_by, recorded_from
  )
  SELECT p_user_id, k.passage_id, k.span_from, k.span_to, CASE w.kind WHEN 'node' THEN w.version_id END,
    CASE w.kind WHEN 'edge' THEN w.version_id END, CASE w.kind WHEN 'alias' THEN w.version_id END,
    CASE w.kind WHEN 'place' THEN w.version_id END, k.stance, k.confidence, k.asserted_by, p_at
  FROM jsonb_to_recordset(p_plan) AS w (action text, kind text, version_id uuid, derived_from uuid)
  CROSS JOIN LATERAL memsvc.links_of(p_user_id, w.kind, w.derived_from) AS k
  WHERE w.action = 'write' AND w.derived_from IS NOT NULL AND k.stance = 'supports'
    AND NOT EXISTS (SELECT FROM memsvc.links_of(p_user_id, w.kind, w.version_id) AS d
      WHERE (d.passage_id, d.span_from, d.span_to, d.stance)
        IS NOT DISTINCT FROM (k.passage_id, k.span_from, k.span_to, k.stance));
END
$$;

ALTER FUNCTION memsvc.link_evidence(p_user_id uuid, p_actor text, p_at timestamp with time zone, p_steps jsonb, p_plan jsonb) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.link_evidence(p_user_id uuid, p_actor text, p_at timestamp with time zone, p_steps jsonb, p_plan jsonb) IS 'Links the versions of a plan with their evidence.';

CREATE FUNCTION memsvc.link_passages(p_user_id uuid, p_passages uuid[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
  DELETE FROM memory."NEXT" AS d WHERE d.user_id = p_user_id AND d.version_id = ANY (p_passages);
  INSERT INTO memory."NEXT" (start_id, end_id, properties, user_id, version_id)
  SELECT b.id, v.id, ag_catalog.agtype_in('{}'), p_user_id, w.passage_id
  FROM (
    SELECT p.passage_id, p.source_id, p.session, p.ordinal, p.part FROM passages AS p
    WHERE p.user_id = p_user_id AND p.passage_id = ANY (p_passages) AND p.kind = 'message'
  ) AS w
  CROSS JOIN LATERAL (
    SELECT p.passage_id FROM passages AS p
    WHERE p.user_id = p_user_id AND p.source_id = w.source_id AND p.session = w.session
      AND (p.ordinal, p.part) < (w.ordinal, w.part) AND p.kind = 'message'
    ORDER BY p.ordinal DESC, p.part DESC
    LIMIT 1
  ) AS before
  CROSS JOIN LATERAL (
    SELECT o.id FROM memory."Passage" AS o WHERE o.user_id = p_user_id AND o.node_id = before.passage_id OFFSET 0
  ) AS b
  CROSS JOIN LATERAL (
    SELECT o.id FROM memory."Passage" AS o WHERE o.user_id = p_user_id AND o.node_id = w.passage_id OFFSET 0
  ) AS v;
END
$$;

ALTER FUNCTION memsvc.link_passages(p_user_id uuid, p_passages uuid[]) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.link_passages(p_user_id uuid, p_passages uuid[]) IS 'Lets NEXT lead to passages from the ones before them.';

CREATE FUNCTION memsvc.links_of(p_user_id uuid, p_kind text, p_version_id uuid, p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS SETOF memsvc.source_links
    LANGUAGE plpgsql STABLE ROWS 2
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  known CONSTANT timestamptz := coalesce(p_known_at, 'infinity');
BEGIN
  CASE p_kind
  WHEN 'node' THEN
    RETURN QUERY SELECT l.* FROM source_links AS l
    WHERE l.user_id = p_user_id AND l.node_version_id = p_version_id AND l.recorded_from <= known
      AND (l.recorded_to = 'infinity' OR l.recorded_to > known);
  WHEN 'edge' THEN
    RETURN QUERY SELECT l.* FROM source_links AS l
    WHERE l.user_id = p_user_id AND l.edge_version_id = p_version_id AND l.recorded_from <= known
      AND (l.recorded_to = 'infinity' OR l.recorded_to > known);
  WHEN 'alias' THEN
    RETURN QUERY SELECT l.* FROM source_links AS l
    WHERE l.user_id = p_user_id AND l.alias_id = p_version_id AND l.recorded_from <= known
      AND (l.recorded_to = 'infinity' OR l.recorded_to > known);
  WHEN 'place' THEN
    RETURN QUERY SELECT l.* FROM source_links AS l
    WHERE l.user_id = p_user_id AND l.location_id = p_version_id AND l.recorded_from <= known
      AND (l.recorded_to = 'infinity' OR l.recorded_to > known);
  WHEN 'merge' THEN
    RETURN QUERY SELECT l.* FROM source_links AS l
    WHERE l.user_id = p_user_id AND l.merge_id = p_version_id AND l.recorded_from <= known
      AND (l.recorded_to = 'infinity' OR l.recorded_to > known);
  END CASE;
END
$$;

ALTER FUNCTION memsvc.links_of(p_user_id uuid, p_kind text, p_version_id uuid, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.links_of(p_user_id uuid, p_kind text, p_version_id uuid, p_known_at timestamp with time zone) IS 'Evidence of one version or merge, as known at a time.';

CREATE FUNCTION memsvc.live_end() RETURNS xid8
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    RETURN pg_snapshot_xmin(pg_current_snapshot());

ALTER FUNCTION memsvc.live_end() OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.live_end() IS 'The oldest transaction that still runs: events below it are all there.';

CREATE FUNCTION memsvc.live_events(p_user_id uuid, p_transaction xid8, p_event uuid, p_limit integer) RETURNS TABLE(event_id uuid, kind text, subject_id uuid, transaction_id xid8, recorded_at timestamp with time zone)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_sort TO 'off'
    AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT e.event_id, e.kind, e.subject_id, e.transaction_id, e.recorded_at
  FROM outbox AS e
  WHERE e.user_id = p_user_id AND (e.transaction_id, e.event_id) > (p_transaction, p_event)
    AND e.transaction_id < memsvc.live_end()
  ORDER BY e.transaction_id, e.event_id
  LIMIT p_limit;
END
$$;

ALTER FUNCTION memsvc.live_events(p_user_id uuid, p_transaction xid8, p_event uuid, p_limit integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.live_events(p_user_id uuid, p_transaction xid8, p_event uuid, p_limit integer) IS 'A user''s events behind a place, in their order.';

CREATE FUNCTION memsvc.location_counts(p_location memsvc.locations, p_box double precision[], p_from timestamp with time zone, p_to timestamp with time zone, p_known timestamp with time zone) RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (((p_location).valid_from < p_to) AND ((p_location).valid_to > p_from) AND ((p_location).recorded_from <= p_known) AND (((p_location).recorded_to = 'infinity'::timestamp with time zone) OR ((p_location).recorded_to > p_known)) AND ((p_box IS NULL) OR ((((p_location).latitude >= (p_box)[1]) AND ((p_location).latitude <= (p_box)[3])) AND ((abs((p_location).latitude) = (90)::double precision) OR (((p_box)[4] = (180)::double precision) AND ((p_location).longitude = ('-180'::integer)::double precision)) OR CASE WHEN ((p_box)[2] <= (p_box)[4]) THEN (((p_location).longitude >= (p_box)[2]) AND ((p_location).longitude <= (p_box)[4])) ELSE (((p_location).longitude >= (p_box)[2]) OR ((p_location).longitude <= (p_box)[4])) END))));

ALTER FUNCTION memsvc.location_counts(p_location memsvc.locations, p_box double precision[], p_from timestamp with time zone, p_to timestamp with time zone, p_known timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.location_counts(p_location memsvc.locations, p_box double precision[], p_from timestamp with time zone, p_to timestamp with time zone, p_known timestamp with time zone) IS 'Whether a location holds in a span of time and lies in a box.';

CREATE FUNCTION memsvc.lock_memories(p_user_id uuid, p_kind text, p_subject_id uuid) RETURNS uuid
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  source uuid;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('memsvc memories of ' || p_user_id, 0));
  PERFORM pg_advisory_xact_lock(hashtextextended('memsvc.fold_statistics ' || p_user_id::text, 0));
  IF p_kind IN ('source', 'block') THEN
    source := p_subject_id;
  ELSIF p_kind IN ('message', 'passage') THEN
    SELECT p.source_id INTO source FROM passages AS p WHERE p.user_id = p_user_id AND p.passage_id = p_subject_id;
  END IF;
  PERFORM FROM sources AS s WHERE s.user_id = p_user_id AND s.source_id = source FOR UPDATE;
  RETURN source;
END
$$;

ALTER FUNCTION memsvc.lock_memories(p_user_id uuid, p_kind text, p_subject_id uuid) OWNER TO memsvc_eraser;

COMMENT ON FUNCTION memsvc.lock_memories(p_user_id uuid, p_kind text, p_subject_id uuid) IS 'Locks what an erasure may meet.';

CREATE FUNCTION memsvc.lock_projection(p_user_id uuid, p_part text, p_alone boolean) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
  key CONSTANT bigint := hashtextextended(
    'memsvc projection of ' || CASE p_part WHEN 'messages' THEN 'passages of ' ELSE '' END || p_user_id, 0
  );
BEGIN
  IF p_alone THEN
    PERFORM pg_advisory_xact_lock(key);
  ELSE
    PERFORM pg_advisory_xact_lock_shared(key);
  END IF;
END
$$;

ALTER FUNCTION memsvc.lock_projection(p_user_id uuid, p_part text, p_alone boolean) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.lock_projection(p_user_id uuid, p_part text, p_alone boolean) IS 'Lets those who write a part of a user''s projection, and who makes it anew, take turns.';

CREATE FUNCTION memsvc.make_model_index(p_model_id smallint, p_dimensions integer) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'public', 'pg_temp'
    AS $_$
BEGIN
  EXECUTE format(
    'CREATE INDEX IF NOT EXISTS embeddings_near_%1$s ON memsvc.embeddings '
    'USING hnsw ((vector::halfvec(%2$s)) halfvec_ip_ops) WITH (ef_construction = 128) WHERE model_id = %1$s',
    p_model_id, p_dimensions
  );
END
$_$;

ALTER FUNCTION memsvc.make_model_index(p_model_id smallint, p_dimensions integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.make_model_index(p_model_id smallint, p_dimensions integer) IS 'Makes a model''s vector index.';

CREATE FUNCTION memsvc.match_evidence(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_reach double precision[], p_distances integer[], p_fan_outs integer[], p_moments timestamp with time zone[], p_fact_starts uuid[], p_facts uuid[], p_limit integer, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone) RETURNS TABLE(matched_id uuid, node_id uuid, reach double precision, distance integer)
    LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 50
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_incremental_sort TO 'off'
    SET enable_nestloop TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  most_links CONSTANT integer := 500; -- of one version, name, place or node; the last ones that were stored
  asker CONSTANT uuid := memsvc.require_identity(p_user_id);
  known CONSTANT timestamptz := coalesce(p_known_at, 'infinity');
  filtered CONSTANT boolean := p_sources IS NOT NULL OR p_not_sources IS NOT NULL OR p_said_from IS NOT NULL
    OR p_said_to IS NOT NULL OR p_as_of IS NOT NULL OR p_known_at IS NOT NULL;
BEGIN
  RETURN QUERY
  WITH subject AS MATERIALIZED (
    SELECT u.* FROM unnest(p_starts, p_nodes, p_reach, p_distances, p_fan_outs, p_moments)
      AS u (start_id, node_id, reach, distance, fan_out, moment)
  ),
  linked AS (
    SELECT f.start_id, l.passage_id, l.stance, l.recorded_from, l.recorded_to
    FROM unnest(p_fact_starts, p_facts) AS f (start_id, version_id)
    CROSS JOIN LATERAL (
      SELECT i.* FROM source_links AS i WHERE i.user_id = asker AND i.edge_version_id = ANY (ARRAY[f.version_id])
      ORDER BY i.edge_version_id DESC LIMIT most_links
    ) AS l
    UNION ALL
    SELECT s.start_id, l.passage_id, l.stance, l.recorded_from, l.recorded_to
    FROM subject AS s
    CROSS JOIN LATERAL (
      (SELECT i.* FROM source_links AS i WHERE i.user_id = asker AND i.node_id = ANY (ARRAY[s.node_id])
      ORDER BY i.node_id DESC LIMIT most_links)
      UNION ALL
      SELECT m.* FROM (
        (SELECT v.version_id FROM node_versions AS v
        WHERE v.user_id = asker AND v.node_id = ANY (ARRAY[s.node_id]) AND v.recorded_to = 'infinity'
          AND v.recorded_from <= known
        ORDER BY v.node_id OFFSET 0)
        UNION ALL
        (SELECT v.version_id FROM node_versions AS v
        WHERE p_known_at IS NOT NULL AND v.user_id = asker AND v.node_id = ANY (ARRAY[s.node_id])
          AND v.recorded_to < 'infinity' AND v.recorded_from <= known AND v.recorded_to > known
        ORDER BY v.node_id OFFSET 0)
      ) AS k
      CROSS JOIN LATERAL (
        SELECT i.* FROM source_links AS i WHERE i.user_id = asker AND i.node_version_id = ANY (ARRAY[k.version_id])
        ORDER BY i.node_version_id DESC LIMIT most_links
      ) AS m
      UNION ALL
      SELECT m.* FROM (
        SELECT v.alias_id FROM aliases AS v
        WHERE v.user_id = asker AND v.node_id = s.node_id AND v.recorded_from <= known
          AND (v.recorded_to = 'infinity' OR v.recorded_to > known)
        ORDER BY v.normal_form OFFSET 0
      ) AS k
      CROSS JOIN LATERAL (
        SELECT i.* FROM source_links AS i WHERE i.user_id = asker AND i.alias_id = ANY (ARRAY[k.alias_id])
        ORDER BY i.alias_id DESC LIMIT most_links
      ) AS m
      UNION ALL
      SELECT m.* FROM (
        SELECT v.location_id FROM locations AS v
        WHERE v.user_id = asker AND v.node_id = s.node_id AND v.recorded_from <= known
          AND (v.recorded_to = 'infinity' OR v.recorded_to > known)
          AND (s.moment IS NULL OR (v.valid_from <= s.moment AND v.valid_to > s.moment))
        ORDER BY v.user_id DESC, v.node_id DESC, v.valid_from DESC LIMIT s.fan_out
      ) AS k
      CROSS JOIN LATERAL (
        SELECT i.* FROM source_links AS i WHERE i.user_id = asker AND i.location_id = ANY (ARRAY[k.location_id])
        ORDER BY i.location_id DESC LIMIT most_links
      ) AS m
    ) AS l
  ),
  first AS MATERIALIZED ( -- ids are in the order in which messages came: the newest of equal reach
    SELECT b.* FROM (
      SELECT DISTINCT ON (l.passage_id) l.passage_id, s.start_id, s.reach, s.distance
      FROM linked AS l
      INNER JOIN (SELECT DISTINCT o.start_id, o.reach, o.distance FROM subject AS o) AS s ON s.start_id = l.start_id
      WHERE l.stance = 'supports' AND l.recorded_from <= known AND (l.recorded_to = 'infinity' OR l.recorded_to > known)
      ORDER BY l.passage_id, s.reach DESC, s.distance, s.start_id
    ) AS b
    ORDER BY b.reach DESC, b.distance, b.passage_id DESC
    LIMIT CASE WHEN NOT filtered THEN 2 * p_limit END
  )
  SELECT b.passage_id, b.start_id, b.reach, b.distance
  FROM first AS b
  INNER JOIN (
    SELECT i.* FROM passages AS i
    WHERE i.user_id = asker AND i.passage_id = ANY (ARRAY(SELECT o.passage_id FROM first AS o))
    ORDER BY i.passage_id OFFSET 0
  ) AS p ON p.passage_id = b.passage_id
  WHERE p.kind = ANY (p_kinds) AND p.recorded_at <= known
    AND (p_as_of IS NULL OR p.said_at <= p_as_of)
    AND (p_sources IS NULL OR p.source_id = ANY (p_sources))
    AND (p_not_sources IS NULL OR p.source_id <> ALL (p_not_sources))
    AND (p_said_from IS NULL OR p.said_at >= p_said_from)
    AND (p_said_to IS NULL OR p.said_at < p_said_to)
  ORDER BY b.reach DESC, b.distance, p.said_at DESC, b.passage_id DESC
  LIMIT p_limit;
END
$$;

ALTER FUNCTION memsvc.match_evidence(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_reach double precision[], p_distances integer[], p_fan_outs integer[], p_moments timestamp with time zone[], p_fact_starts uuid[], p_facts uuid[], p_limit integer, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_recall;

COMMENT ON FUNCTION memsvc.match_evidence(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_reach double precision[], p_distances integer[], p_fan_outs integer[], p_moments timestamp with time zone[], p_fact_starts uuid[], p_facts uuid[], p_limit integer, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone) IS 'Passages that support what is known about stored nodes.';

CREATE FUNCTION memsvc.match_fact_times(p_user_id uuid, p_begins timestamp with time zone[], p_ends timestamp with time zone[], p_limit integer, p_as_of timestamp with time zone DEFAULT NULL::timestamp with time zone, p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(version_id uuid, fit double precision)
    LANGUAGE plpgsql STABLE ROWS 100
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_incremental_sort TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  windows CONSTANT integer := coalesce(cardinality(p_begins), 0);
  tick CONSTANT interval := interval '1 microsecond'; -- makes one bound of two: a scan begins at either of them
  first timestamptz; -- for what was known once
  last timestamptz;
  reach integer;
  share integer;
BEGIN
  IF windows = 0 OR p_limit <= 0 THEN
    RETURN;
  END IF;
  share := (p_limit - 1) / (2 * windows) + 1;
  reach := greatest(2000 / windows, share);
  IF p_known_at IS NOT NULL THEN
    first := (SELECT min(b.begins) FROM unnest(p_begins) AS b (begins));
    last := (SELECT max(e.ends) FROM unnest(p_ends) AS e (ends));
  END IF;
  RETURN QUERY
  SELECT f.version_id, 1::double precision
  FROM (
    SELECT o.version_id, o.turned
    FROM unnest(p_begins, p_ends) AS w (begins, ends)
    CROSS JOIN LATERAL (
      (SELECT c.version_id, c.valid_from AS turned
      FROM (
        SELECT v.version_id, v.valid_from, v.valid_to, v.recorded_from FROM edge_versions AS v
        WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.valid_from > '-infinity'
          AND v.valid_from >= w.begins AND v.valid_from < least(w.ends, p_as_of + tick)
        ORDER BY v.valid_from DESC LIMIT reach
      ) AS c
      WHERE (p_known_at IS NULL OR c.recorded_from <= p_known_at)
        AND (p_as_of IS NULL OR c.valid_to > p_as_of)
      LIMIT share)
      UNION ALL
      (SELECT c.version_id, c.valid_to
      FROM (
        SELECT v.version_id, v.valid_from, v.valid_to, v.recorded_from FROM edge_versions AS v
        WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.valid_to < 'infinity'
          AND v.valid_to >= greatest(w.begins, p_as_of + tick) AND v.valid_to < w.ends
        ORDER BY v.valid_to DESC LIMIT reach
      ) AS c
      WHERE (p_known_at IS NULL OR c.recorded_from <= p_known_at)
        AND (p_as_of IS NULL OR c.valid_from <= p_as_of)
      LIMIT share)
    ) AS o
    UNION ALL
    SELECT c.version_id, t.turned
    FROM (
      SELECT v.version_id, v.valid_from, v.valid_to, v.recorded_from FROM edge_versions AS v
      WHERE p_known_at IS NOT NULL AND v.user_id = p_user_id AND v.recorded_to < 'infinity'
        AND v.recorded_to > p_known_at
      ORDER BY v.recorded_to LIMIT 2000
    ) AS c
    CROSS JOIN LATERAL (
      SELECT max(e.turned) AS turned FROM (VALUES (c.valid_from), (c.valid_to)) AS e (turned)
      WHERE EXISTS (
        SELECT FROM unnest(p_begins, p_ends) AS w (begins, ends) WHERE e.turned >= w.begins AND e.turned < w.ends
      )
    ) AS t
    WHERE t.turned IS NOT NULL AND c.recorded_from <= p_known_at
      AND ((c.valid_from >= first AND c.valid_from < last) OR (c.valid_to >= first AND c.valid_to < last))
      AND (p_as_of IS NULL OR (c.valid_from <= p_as_of AND c.valid_to > p_as_of))
  ) AS f
  GROUP BY f.version_id -- it may have begun and ended in the windows
  ORDER BY max(f.turned) DESC, f.version_id
  LIMIT p_limit;
END
$$;

ALTER FUNCTION memsvc.match_fact_times(p_user_id uuid, p_begins timestamp with time zone[], p_ends timestamp with time zone[], p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.match_fact_times(p_user_id uuid, p_begins timestamp with time zone[], p_ends timestamp with time zone[], p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) IS 'The time arm for facts: versions that began or ended inside windows of time, the latest first.';

CREATE FUNCTION memsvc.match_fact_words(p_user_id uuid, p_query text, p_language text, p_versions uuid[], p_limit integer, p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone) RETURNS TABLE(version_id uuid, score double precision, matched_terms text[])
    LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 50
    SET search_path TO 'memsvc', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    AS $$
#variable_conflict use_column
DECLARE
  sample CONSTANT integer := 200;
  each CONSTANT integer := greatest(300, p_limit);
  budget CONSTANT integer := 2 * each;
  most_terms CONSTANT integer := 16;
  share CONSTANT double precision := 0.02; -- of all facts, may be read from the index
  usual_length CONSTANT double precision := 10; -- where there are no messages
  -- As in match_words.
  steps CONSTANT double precision[] := ARRAY[
    0.5, 1.125, 1.3056, 1.3924, 1.4436, 1.4775, 1.5016, 1.5196, 1.5336, 1.5448, 1.5539, 1.5615
  ];
  scale CONSTANT double precision := pi() ^ 2 / 6;
  asker CONSTANT uuid := memsvc.require_identity(p_user_id);
  moment CONSTANT timestamptz := coalesce(p_as_of, clock_timestamp());
  known CONSTANT timestamptz := coalesce(p_known_at, clock_timestamp());
  filtered CONSTANT boolean := p_sources IS NOT NULL OR p_not_sources IS NOT NULL OR p_said_from IS NOT NULL
    OR p_said_to IS NOT NULL;
  walk CONSTANT integer := CASE WHEN filtered OR p_as_of IS NOT NULL THEN 5000 ELSE 2000 END;
  wanted text[] := tsvector_to_array(memsvc.to_words('stemmed', p_language, p_query));
  seen integer;
  sampled tsvector[]; -- those that have any of the words
  size double precision;
  mean_length double precision;
  terms text[];
  weights double precision[];
  needles tsquery[];
  every tsquery; -- any of the terms
  rare tsquery[];
  common tsquery; -- any of the terms that are not rare
  several boolean; -- there are two of these or more
  soon boolean; -- one of them is met in the sample
  ids uuid[] := '{}';
  texts tsvector[] := '{}';
  lengths integer[] := '{}';
  walks boolean;
  more record;
BEGIN
  IF wanted = '{}' THEN
    RETURN;
  END IF;
  needles := ARRAY(SELECT memsvc.as_tsquery(w.term) FROM unnest(wanted) AS w (term));
  -- By its text: put together word by word, it would be copied for each, and a query may be a whole document.
  every := (SELECT string_agg(n.needle::text, ' | ')::tsquery FROM unnest(needles) AS n (needle));
  SELECT count(*), array_agg(n.tsv) FILTER (WHERE n.tsv @@ every) INTO seen, sampled
  FROM (
    SELECT v.tsv FROM edge_versions AS v WHERE v.user_id = asker ORDER BY v.recorded_from DESC LIMIT sample
  ) AS n;
  IF sampled IS NULL THEN
    IF seen < sample THEN
      RETURN;
    END IF;
    PERFORM FROM edge_versions AS e WHERE ARRAY[e.user_id] @> ARRAY[asker] AND e.tsv @@ every LIMIT 1;
    IF NOT FOUND THEN
      RETURN;
    END IF;
  END IF;

  SELECT coalesce(sum(c.passages), 0), coalesce(sum(c.length) / nullif(sum(c.passages), 0), usual_length)
  INTO size, mean_length
  FROM (
    SELECT passages, length FROM corpora WHERE user_id = asker AND kind = 'message' AND form = 'stemmed'
    UNION ALL
    SELECT passages, length FROM term_deltas WHERE user_id = asker AND kind = 'message' AND form = 'stemmed'
  ) AS c;
  WITH counted AS (
    SELECT c.term, sum(c.passages) AS passages
    FROM (
      SELECT t.term, t.passages FROM terms AS t
      WHERE t.user_id = asker AND t.kind = 'message' AND t.form = 'stemmed' AND t.term = ANY (wanted)
      UNION ALL
      SELECT u.term, u.change FROM term_deltas AS d CROSS JOIN LATERAL unnest(d.terms, d.changes) AS u (term, change)
      WHERE d.user_id = asker AND d.kind = 'message' AND d.form = 'stemmed' AND d.terms && wanted
        AND u.term = ANY (wanted)
    ) AS c
    GROUP BY c.term
  ),
  held AS (
    SELECT t.term, count(*) AS facts
    FROM unnest(sampled) AS s (tsv) CROSS JOIN LATERAL unnest(tsvector_to_array(s.tsv)) AS t (term)
    GROUP BY t.term
  ),
  weighed AS (
    SELECT w.term, w.needle, greatest(0, coalesce(c.passages, 0))::double precision AS passages,
      greatest((coalesce(h.facts, 0) + 0.5) / sample, c.passages / nullif(size, 0)) AS part, h.facts > 0 AS recent
    FROM unnest(wanted, needles) AS w (term, needle)
    LEFT JOIN held AS h ON h.term = w.term
    LEFT JOIN counted AS c ON c.term = w.term
    WHERE seen = sample OR h.facts > 0
    ORDER BY passages, w.term LIMIT most_terms
  ),
  placed AS (
    SELECT w.*, ln(1 + greatest(0, size - w.passages + 0.5) / (w.passages + 0.5)) AS weight,
      sum(w.part) OVER (ORDER BY w.part, w.passages, w.term) > share AS common
    FROM weighed AS w
  )
  SELECT array_agg(p.term), array_agg(p.weight), array_agg(p.needle), string_agg(p.needle::text, ' | ')::tsquery,
    array_agg(p.needle ORDER BY p.part, p.passages, p.term) FILTER (WHERE NOT p.common),
    string_agg(p.needle::text, ' | ') FILTER (WHERE p.common)::tsquery, count(*) FILTER (WHERE p.common) > 1,
    bool_or(p.common AND p.recent)
  INTO terms, weights, needles, every, rare, common, several, soon
  FROM placed AS p;

  IF seen = sample AND rare IS NOT NULL THEN
    SELECT coalesce(array_agg(c.version_id), '{}'), coalesce(array_agg(c.tsv), '{}'),
      coalesce(array_agg(c.length), '{}')
    INTO ids, texts, lengths
    FROM (
      SELECT DISTINCT ON (f.version_id) f.* FROM (
        SELECT m.* FROM unnest(rare) AS r (needle)
        CROSS JOIN LATERAL (
          SELECT v.version_id, v.tsv, v.length
          FROM ( -- by itself: only the index of words has this, whatever is estimated
            SELECT e.* FROM edge_versions AS e WHERE ARRAY[e.user_id] @> ARRAY[asker] AND e.tsv @@ r.needle OFFSET 0
          ) AS v
          WHERE v.user_id = asker AND v.valid_from <= moment AND v.valid_to > moment AND v.recorded_from <= known
            AND (v.recorded_to = 'infinity' OR v.recorded_to > known)
            AND (NOT filtered OR memsvc.fact_is_from(
              asker, v.version_id, p_sources, p_not_sources, p_said_from, p_said_to, p_known_at
            ))
          LIMIT each
        ) AS m
        LIMIT budget
      ) AS f
      ORDER BY f.version_id
    ) AS c;
  END IF;
  -- Where fewer than p_limit were found, all that have a rare word are: what is still to be met has a common one.
  walks := seen < sample OR (common IS NOT NULL AND cardinality(ids) < p_limit);
  IF walks AND seen = sample AND NOT soon THEN
    walks := EXISTS (SELECT FROM edge_versions AS e WHERE ARRAY[e.user_id] @> ARRAY[asker] AND e.tsv @@ common);
  END IF;
  IF walks THEN
    SELECT array_agg(c.version_id) AS ids, array_agg(c.tsv) AS texts, array_agg(c.length) AS lengths INTO more
    FROM (
      SELECT v.version_id, v.tsv, v.length
      FROM (
        SELECT n.* FROM edge_versions AS n WHERE n.user_id = asker AND n.recorded_from <= known
        ORDER BY n.recorded_from DESC LIMIT walk
      ) AS v
      WHERE v.tsv @@ every AND v.version_id <> ALL (ids) AND v.valid_from <= moment AND v.valid_to > moment
        AND (v.recorded_to = 'infinity' OR v.recorded_to > known)
        AND (NOT filtered OR memsvc.fact_is_from(
          asker, v.version_id, p_sources, p_not_sources, p_said_from, p_said_to, p_known_at
        ))
      LIMIT CASE WHEN seen < sample OR several THEN greatest(sample, p_limit) ELSE p_limit END
    ) AS c;
    ids := ids || more.ids;
    texts := texts || more.texts;
    lengths := lengths || more.lengths;
  END IF;
  IF p_versions <> '{}' THEN
    SELECT array_agg(v.version_id) AS ids, array_agg(v.tsv) AS texts, array_agg(v.length) AS lengths INTO more
    FROM (
      SELECT g.version_id, g.tsv, g.length FROM edge_versions AS g
      WHERE g.user_id = asker AND g.version_id = ANY (p_versions) OFFSET 0
    ) AS v
    WHERE v.version_id <> ALL (ids) AND v.tsv @@ every;
    ids := ids || more.ids;
    texts := texts || more.texts;
    lengths := lengths || more.lengths;
  END IF;
  IF ids = '{}' THEN
    RETURN;
  END IF;

  RETURN QUERY
  WITH scored AS (
    SELECT c.version_id,
      sum(q.weight * (1 - n.norm / (n.norm + width_bucket(ts_rank('{1,1,1,1}', c.tsv, q.needle) * scale, steps))))
        AS score,
      array_agg(q.term ORDER BY q.weight DESC, q.term) AS held
    FROM unnest(ids, texts, lengths) AS c (version_id, tsv, length)
    CROSS JOIN LATERAL (SELECT 1.2 * (0.25 + 0.75 * c.length / mean_length) AS norm) AS n
    INNER JOIN unnest(terms, weights, needles) AS q (term, weight, needle) ON c.tsv @@ q.needle
    GROUP BY c.version_id
  )
  SELECT s.version_id, s.score, s.held FROM (
    SELECT b.*, row_number() OVER (ORDER BY b.score DESC, b.version_id DESC) AS place FROM scored AS b
  ) AS s
  WHERE s.place <= p_limit OR s.version_id = ANY (p_versions)
  ORDER BY s.place;
END
$$;

ALTER FUNCTION memsvc.match_fact_words(p_user_id uuid, p_query text, p_language text, p_versions uuid[], p_limit integer, p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_recall;

COMMENT ON FUNCTION memsvc.match_fact_words(p_user_id uuid, p_query text, p_language text, p_versions uuid[], p_limit integer, p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone) IS 'The word arm for facts: BM25 over their sentences, best first; p_versions are scored whatever their place.';

CREATE FUNCTION memsvc.match_facts(p_user_id uuid, p_query text, p_language text, p_nodes uuid[], p_distances integer[], p_limit integer, p_sources uuid[] DEFAULT NULL::uuid[], p_not_sources uuid[] DEFAULT NULL::uuid[], p_said_from timestamp with time zone DEFAULT NULL::timestamp with time zone, p_said_to timestamp with time zone DEFAULT NULL::timestamp with time zone, p_as_of timestamp with time zone DEFAULT NULL::timestamp with time zone, p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(version_id uuid, words double precision, matched_terms text[], distance integer, node_id uuid)
    LANGUAGE plpgsql STABLE ROWS 50
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_incremental_sort TO 'off'
    SET enable_nestloop TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  fan_out CONSTANT integer := 50;
  least_fan_out CONSTANT integer := 10;
  moment CONSTANT timestamptz := coalesce(p_as_of, clock_timestamp());
  filtered CONSTANT boolean := p_sources IS NOT NULL OR p_not_sources IS NOT NULL OR p_said_from IS NOT NULL
    OR p_said_to IS NOT NULL;
  same record;
  asked record;
BEGIN
  IF coalesce(cardinality(p_nodes), 0) = 0 THEN
    RETURN QUERY SELECT m.*, NULL::integer, NULL::uuid FROM memsvc.match_fact_words(
      p_user_id, p_query, p_language, '{}', p_limit, p_sources, p_not_sources, p_said_from, p_said_to, p_as_of,
      p_known_at
    ) AS m;
    RETURN;
  END IF;
  same := memsvc.stored_nodes(p_user_id, p_nodes, p_known_at);
  SELECT array_agg(b.start_id) AS starts, array_agg(b.node_id) AS nodes, array_agg(b.distance) AS distances,
    array_agg(
      CASE b.distance WHEN 0 THEN fan_out ELSE least(fan_out, greatest(least_fan_out, p_limit / b.others)) END
    ) AS fan_outs
  INTO asked
  FROM (
    SELECT m.*, greatest(1, count(*) FILTER (WHERE m.distance > 0) OVER ())::integer AS others
    FROM (
      SELECT DISTINCT s.start_id, s.node_id, min(n.distance) OVER (PARTITION BY s.start_id) AS distance
      FROM unnest(same.starts, same.nodes) AS s (start_id, node_id)
      LEFT JOIN unnest(p_nodes, p_distances) AS n (node_id, distance) ON n.node_id = s.node_id
    ) AS m
  ) AS b;
  RETURN QUERY
  WITH near AS MATERIALIZED (
    SELECT DISTINCT ON (f.version_id) f.version_id, f.from_node, f.to_node,
      memsvc.edge_type_weight(f.type) * f.weight AS strength, f.recorded_from
    FROM memsvc.facts_at(
      p_user_id, asked.starts, asked.nodes, asked.fan_outs, array_fill(moment, ARRAY[cardinality(asked.nodes)]),
      p_known_at
    ) AS f
    WHERE NOT filtered OR memsvc.fact_is_from(
      p_user_id, f.version_id, p_sources, p_not_sources, p_said_from, p_said_to, p_known_at
    )
    ORDER BY f.version_id
  ),
  told AS MATERIALIZED (
    SELECT m.* FROM memsvc.match_fact_words(
      p_user_id, p_query, p_language, ARRAY(SELECT n.version_id FROM near AS n), p_limit, p_sources, p_not_sources,
      p_said_from, p_said_to, p_as_of, p_known_at
    ) AS m
  ),
  about AS (
    SELECT f.version_id, f.strength, f.recorded_from, least(o.distance, i.distance) AS distance,
      CASE WHEN i.distance IS NULL OR o.distance <= i.distance THEN o.start_id ELSE i.start_id END AS node_id
    FROM (
      SELECT n.* FROM near AS n
      UNION ALL
      -- EXCEPT: under row security, an index is not used for an array with coalesce or CASE around it.
      (SELECT v.version_id, v.from_node, v.to_node, memsvc.edge_type_weight(v.type) * v.weight, v.recorded_from
      FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.version_id = ANY (ARRAY(
        SELECT t.version_id FROM told AS t EXCEPT SELECT n.version_id FROM near AS n
      ))
      ORDER BY v.version_id OFFSET 0)
    ) AS f
    LEFT JOIN unnest(asked.starts, asked.nodes, asked.distances) AS o (start_id, node_id, distance)
      ON o.node_id = f.from_node
    LEFT JOIN unnest(asked.starts, asked.nodes, asked.distances) AS i (start_id, node_id, distance)
      ON i.node_id = f.to_node
  ),
  ranked AS (
    SELECT a.version_id, t.score, t.matched_terms, a.distance, a.node_id,
      CASE WHEN t.score IS NOT NULL
        THEN row_number() OVER (ORDER BY t.score DESC NULLS LAST, a.recorded_from DESC, a.version_id DESC)
      END AS by_words,
      CASE WHEN a.distance IS NOT NULL THEN row_number() OVER (
        ORDER BY a.distance NULLS LAST, t.score DESC NULLS LAST, a.strength DESC, a.recorded_from DESC,
          a.version_id DESC
      ) END AS by_node
    FROM about AS a LEFT JOIN told AS t ON t.version_id = a.version_id
  )
  SELECT r.version_id, r.score, coalesce(r.matched_terms, '{}'), r.distance, r.node_id
  FROM ranked AS r
  ORDER BY least(r.by_words, r.by_node), r.by_words, r.by_node
  LIMIT p_limit;
END
$$;

ALTER FUNCTION memsvc.match_facts(p_user_id uuid, p_query text, p_language text, p_nodes uuid[], p_distances integer[], p_limit integer, p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.match_facts(p_user_id uuid, p_query text, p_language text, p_nodes uuid[], p_distances integer[], p_limit integer, p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone) IS 'Facts that matter for a query, by their words and by what they are about; best first.';

CREATE FUNCTION memsvc.match_locations(p_user_id uuid, p_latitude double precision, p_longitude double precision, p_radius_m double precision, p_box double precision[], p_types text[], p_merged uuid[], p_fitting uuid[], p_from timestamp with time zone, p_to timestamp with time zone, p_known_at timestamp with time zone, p_limit integer) RETURNS TABLE(location_id uuid, node_id uuid, metres double precision)
    LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 50
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_incremental_sort TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  asker CONSTANT uuid := memsvc.require_identity(p_user_id);
  known CONSTANT timestamptz := coalesce(p_known_at, 'infinity');
  half_way CONSTANT double precision := pi() * 6371008.7714;
  radius CONSTANT double precision := least(p_radius_m, half_way); -- least skips null: everything
  reach CONSTANT double precision := radius * 1.0001 + 1;
  chord CONSTANT double precision := 2 * sin(least(radius / half_way, 1) * pi() / 2) * 1.000001 + 0.0000001;
BEGIN
  CASE memsvc.places_by()
  WHEN 'postgis' THEN
    RETURN QUERY
    SELECT l.location_id, l.node_id, memsvc.metres_between(p_latitude, p_longitude, l.latitude, l.longitude)
    FROM locations AS l
    WHERE l.user_id = asker
      AND public.ST_DWithin(
        public.geography(public.ST_MakePoint(l.longitude, l.latitude)),
        public.geography(public.ST_MakePoint(p_longitude, p_latitude)), reach, false
      )
      AND memsvc.metres_between(p_latitude, p_longitude, l.latitude, l.longitude) <= radius
      AND memsvc.location_counts(l, p_box, p_from, p_to, known)
      AND (p_types IS NULL OR l.node_id = ANY (p_fitting) OR (l.node_id <> ALL (p_merged) AND (
        EXISTS (
          SELECT FROM (
            SELECT o.* FROM node_versions AS o
            WHERE o.user_id = asker AND o.node_id = ANY (ARRAY[l.node_id]) AND o.recorded_to = 'infinity'
            ORDER BY o.node_id OFFSET 0
          ) AS v
          WHERE v.type = ANY (p_types) AND v.valid_from < p_to AND v.valid_to > p_from AND v.recorded_from <= known
        ) OR (p_known_at IS NOT NULL AND EXISTS (
          SELECT FROM (
            SELECT o.* FROM node_versions AS o
            WHERE o.user_id = asker AND o.node_id = ANY (ARRAY[l.node_id]) AND o.recorded_to < 'infinity'
            ORDER BY o.node_id OFFSET 0
          ) AS v
          WHERE v.type = ANY (p_types) AND v.valid_from < p_to AND v.valid_to > p_from AND v.recorded_from <= known
            AND v.recorded_to > known
        ))
      )))
    ORDER BY public.geography(public.ST_MakePoint(l.longitude, l.latitude))
      OPERATOR(public.<->) public.geography(public.ST_MakePoint(p_longitude, p_latitude))
    LIMIT p_limit;
  WHEN 'cube' THEN
    RETURN QUERY
    SELECT l.location_id, l.node_id, memsvc.metres_between(p_latitude, p_longitude, l.latitude, l.longitude)
    FROM locations AS l
    WHERE l.user_id = asker
      AND public.cube(ARRAY[
        cosd(l.latitude) * cosd(l.longitude), cosd(l.latitude) * sind(l.longitude), sind(l.latitude)
      ]) OPERATOR(public.<@) public.cube_enlarge(public.cube(ARRAY[
        cosd(p_latitude) * cosd(p_longitude), cosd(p_latitude) * sind(p_longitude), sind(p_latitude)
      ]), chord, 3)
      AND memsvc.metres_between(p_latitude, p_longitude, l.latitude, l.longitude) <= radius
      AND memsvc.location_counts(l, p_box, p_from, p_to, known)
      AND (p_types IS NULL OR l.node_id = ANY (p_fitting) OR (l.node_id <> ALL (p_merged) AND (
        EXISTS (
          SELECT FROM (
            SELECT o.* FROM node_versions AS o
            WHERE o.user_id = asker AND o.node_id = ANY (ARRAY[l.node_id]) AND o.recorded_to = 'infinity'
            ORDER BY o.node_id OFFSET 0
          ) AS v
          WHERE v.type = ANY (p_types) AND v.valid_from < p_to AND v.valid_to > p_from AND v.recorded_from <= known
        ) OR (p_known_at IS NOT NULL AND EXISTS (
          SELECT FROM (
            SELECT o.* FROM node_versions AS o
            WHERE o.user_id = asker AND o.node_id = ANY (ARRAY[l.node_id]) AND o.recorded_to < 'infinity'
            ORDER BY o.node_id OFFSET 0
          ) AS v
          WHERE v.type = ANY (p_types) AND v.valid_from < p_to AND v.valid_to > p_from AND v.recorded_from <= known
            AND v.recorded_to > known
        ))
      )))
    ORDER BY public.cube(ARRAY[
      cosd(l.latitude) * cosd(l.longitude), cosd(l.latitude) * sind(l.longitude), sind(l.latitude)
    ]) OPERATOR(public.<->) public.cube(ARRAY[
      cosd(p_latitude) * cosd(p_longitude), cosd(p_latitude) * sind(p_longitude), sind(p_latitude)
    ])
    LIMIT p_limit;
  ELSE
    RAISE EXCEPTION 'neither PostGIS nor cube is here' USING ERRCODE = 'MS005';
  END CASE;
END
$$;

ALTER FUNCTION memsvc.match_locations(p_user_id uuid, p_latitude double precision, p_longitude double precision, p_radius_m double precision, p_box double precision[], p_types text[], p_merged uuid[], p_fitting uuid[], p_from timestamp with time zone, p_to timestamp with time zone, p_known_at timestamp with time zone, p_limit integer) OWNER TO memsvc_recall;

COMMENT ON FUNCTION memsvc.match_locations(p_user_id uuid, p_latitude double precision, p_longitude double precision, p_radius_m double precision, p_box double precision[], p_types text[], p_merged uuid[], p_fitting uuid[], p_from timestamp with time zone, p_to timestamp with time zone, p_known_at timestamp with time zone, p_limit integer) IS 'One user''s locations around a point, the nearest first.';

CREATE FUNCTION memsvc.match_mentions(p_user_id uuid, p_nodes uuid[], p_reach double precision[], p_distances integer[], p_limit integer, p_kinds text[] DEFAULT '{message}'::text[], p_sources uuid[] DEFAULT NULL::uuid[], p_not_sources uuid[] DEFAULT NULL::uuid[], p_said_from timestamp with time zone DEFAULT NULL::timestamp with time zone, p_said_to timestamp with time zone DEFAULT NULL::timestamp with time zone, p_as_of timestamp with time zone DEFAULT NULL::timestamp with time zone, p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(matched_id uuid, node_id uuid, reach double precision, distance integer)
    LANGUAGE plpgsql STABLE ROWS 50
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
#variable_conflict use_column
DECLARE
  fan_out CONSTANT integer := 50;
  fan_out_behind CONSTANT integer := 10;
  moment CONSTANT timestamptz := coalesce(p_as_of, clock_timestamp());
  same record;
  asked record;
  fact record;
BEGIN
  IF coalesce(cardinality(p_nodes), 0) = 0 THEN
    RETURN;
  END IF;
  same := memsvc.stored_nodes(p_user_id, p_nodes, p_known_at);
  SELECT array_agg(s.start_id) AS starts, array_agg(s.node_id) AS nodes, array_agg(b.reach) AS reach,
    array_agg(b.distance) AS distances,
    array_agg(CASE WHEN b.named THEN fan_out ELSE fan_out_behind END) AS fan_outs,
    array_agg(CASE WHEN NOT b.named THEN moment END) AS moments
  INTO asked
  FROM unnest(same.starts, same.nodes) AS s (start_id, node_id)
  INNER JOIN (
    SELECT DISTINCT ON (i.start_id) i.start_id, n.reach, n.distance,
      bool_or(n.distance = 0) OVER (PARTITION BY i.start_id) AS named
    FROM unnest(p_nodes, p_reach, p_distances) AS n (node_id, reach, distance)
    INNER JOIN unnest(same.starts, same.nodes) AS i (start_id, node_id) ON i.node_id = n.node_id
    ORDER BY i.start_id, n.reach DESC, n.distance
  ) AS b ON b.start_id = s.start_id;
  SELECT array_agg(f.start_id) AS starts, array_agg(f.version_id) AS versions INTO fact
  FROM memsvc.facts_at(
    p_user_id, asked.starts, asked.nodes, asked.fan_outs, asked.moments, p_known_at
  ) AS f;
  RETURN QUERY SELECT e.* FROM memsvc.match_evidence(
    p_user_id, asked.starts, asked.nodes, asked.reach, asked.distances, asked.fan_outs, asked.moments, fact.starts,
    fact.versions, p_limit, p_kinds, p_sources, p_not_sources, p_said_from, p_said_to, p_as_of, p_known_at
  ) AS e;
END
$$;

ALTER FUNCTION memsvc.match_mentions(p_user_id uuid, p_nodes uuid[], p_reach double precision[], p_distances integer[], p_limit integer, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.match_mentions(p_user_id uuid, p_nodes uuid[], p_reach double precision[], p_distances integer[], p_limit integer, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone) IS 'Passages that support what is known about some nodes.';

CREATE FUNCTION memsvc.match_times(p_user_id uuid, p_begins timestamp with time zone[], p_ends timestamp with time zone[], p_limit integer, p_kinds text[] DEFAULT '{message}'::text[], p_sources uuid[] DEFAULT NULL::uuid[], p_not_sources uuid[] DEFAULT NULL::uuid[], p_said_from timestamp with time zone DEFAULT NULL::timestamp with time zone, p_said_to timestamp with time zone DEFAULT NULL::timestamp with time zone, p_as_of timestamp with time zone DEFAULT NULL::timestamp with time zone, p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(matched_id uuid, fit double precision)
    LANGUAGE plpgsql STABLE ROWS 100
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_incremental_sort TO 'off'
    AS $$
DECLARE
  windows CONSTANT integer := coalesce(cardinality(p_begins), 0);
  tick CONSTANT interval := interval '1 microsecond'; -- makes one bound of two: a scan begins at either of them
  reach integer;
  share integer;
BEGIN
  IF windows = 0 OR p_limit <= 0 THEN
    RETURN;
  END IF;
  share := (p_limit - 1) / windows + 1;
  reach := greatest(3000 / windows, share);
  RETURN QUERY
  SELECT f.passage_id, 1::double precision
  FROM unnest(p_begins, p_ends) AS w (begins, ends)
  CROSS JOIN LATERAL (
    SELECT c.passage_id, c.said_at
    FROM (
      SELECT p.passage_id, p.said_at, p.kind, p.source_id, p.recorded_at FROM passages AS p
      WHERE p.user_id = p_user_id AND p.said_at >= greatest(w.begins, p_said_from)
        AND p.said_at < least(w.ends, p_said_to, p_as_of + tick)
      ORDER BY p.said_at DESC LIMIT reach
    ) AS c
    WHERE c.kind = ANY (p_kinds)
      AND (p_sources IS NULL OR c.source_id = ANY (p_sources))
      AND (p_not_sources IS NULL OR c.source_id <> ALL (p_not_sources))
      AND (p_known_at IS NULL OR c.recorded_at <= p_known_at)
    LIMIT share
  ) AS f
  GROUP BY f.passage_id -- windows may overlap
  ORDER BY max(f.said_at) DESC, f.passage_id
  LIMIT p_limit;
END
$$;

ALTER FUNCTION memsvc.match_times(p_user_id uuid, p_begins timestamp with time zone[], p_ends timestamp with time zone[], p_limit integer, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.match_times(p_user_id uuid, p_begins timestamp with time zone[], p_ends timestamp with time zone[], p_limit integer, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone) IS 'The time arm: passages said inside windows of time, newest first.';

CREATE FUNCTION memsvc.match_vectors(p_user_id uuid, p_model_id smallint, p_vector public.halfvec, p_limit integer, p_kinds text[] DEFAULT '{message}'::text[], p_sources uuid[] DEFAULT NULL::uuid[], p_not_sources uuid[] DEFAULT NULL::uuid[], p_said_from timestamp with time zone DEFAULT NULL::timestamp with time zone, p_said_to timestamp with time zone DEFAULT NULL::timestamp with time zone, p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(matched_id uuid, similarity double precision)
    LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 200
    SET search_path TO 'memsvc', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_sort TO 'off'
    SET jit TO 'off'
    AS $$
DECLARE
  worth_an_index CONSTANT integer := 2500;
  asker CONSTANT uuid := memsvc.require_identity(p_user_id);
  dimensions CONSTANT integer := vector_dims(p_vector);
  filtered CONSTANT boolean := p_sources IS NOT NULL OR p_not_sources IS NOT NULL OR p_said_from IS NOT NULL
    OR p_said_to IS NOT NULL OR p_known_at IS NOT NULL;
  size bigint;
  neighbours double precision;
  found_ids uuid[];
  found_similarities double precision[];
BEGIN
  SELECT coalesce(sum(c.passages), 0) INTO size
  FROM (
    SELECT passages FROM corpora WHERE user_id = asker AND kind = ANY (p_kinds) AND form = 'simple'
    UNION ALL
    SELECT passages FROM term_deltas WHERE user_id = asker AND kind = ANY (p_kinds) AND form = 'simple'
  ) AS c;

  IF size > worth_an_index AND NOT filtered THEN
    SELECT (SELECT c.reltuples FROM pg_class AS c WHERE c.oid = own.tableoid) INTO neighbours
    FROM (
      -- The order is for the plan: without it all of the user's keys went into a bitmap, for one row.
      SELECT e.tableoid FROM embeddings AS e WHERE e.user_id = asker AND e.model_id = p_model_id
      ORDER BY e.passage_id LIMIT 1
    ) AS own;
  END IF;

  IF neighbours <= size * (size::double precision / worth_an_index) THEN
    -- Planned each time: the partial index by expression is only seen where model and length are known.
    PERFORM set_config('hnsw.iterative_scan', 'relaxed_order', true),
      set_config('hnsw.ef_search', least(1000, greatest(
        80, greatest(least(150, 76 + neighbours / 1350), p_limit * 1.25) * greatest(1, neighbours / 150000)
      ))::integer::text, true),
      set_config('plan_cache_mode', 'force_custom_plan', true);
    -- As vector::halfvec(384) of the index, whose length can be no parameter.
    SELECT array_agg(n.passage_id), array_agg(n.similarity) INTO found_ids, found_similarities
    FROM (
      SELECT e.passage_id, -(halfvec(e.vector, dimensions, true) <#> p_vector) AS similarity
      FROM embeddings AS e
      WHERE e.user_id = asker AND e.model_id = p_model_id
      ORDER BY halfvec(e.vector, dimensions, true) <#> p_vector LIMIT p_limit
    ) AS n;
    PERFORM set_config('plan_cache_mode', 'force_generic_plan', true);
    IF cardinality(found_ids) >= least(p_limit, size) THEN
      RETURN QUERY SELECT f.passage_id, f.similarity
      FROM unnest(found_ids, found_similarities) AS f (passage_id, similarity)
      ORDER BY f.similarity DESC, f.passage_id;
      RETURN;
    END IF;
  END IF;

  IF filtered THEN -- how passages are best looked up depends on how many the user has
    PERFORM set_config('plan_cache_mode', 'force_custom_plan', true);
  END IF;
  RETURN QUERY
  SELECT n.passage_id, n.similarity
  FROM (
    SELECT e.passage_id, -(e.vector <#> p_vector) AS similarity
    FROM embeddings AS e
    WHERE e.user_id = asker AND e.model_id = p_model_id
      AND (NOT filtered OR EXISTS (
        SELECT FROM passages AS p
        WHERE p.user_id = asker AND p.passage_id = e.passage_id
          AND (p_sources IS NULL OR p.source_id = ANY (p_sources))
          AND (p_not_sources IS NULL OR p.source_id <> ALL (p_not_sources))
          AND (p_said_from IS NULL OR p.said_at >= p_said_from)
          AND (p_said_to IS NULL OR p.said_at < p_said_to)
          AND (p_known_at IS NULL OR p.recorded_at <= p_known_at)
      ))
  ) AS n
  ORDER BY n.similarity DESC, n.passage_id
  LIMIT p_limit;
END
$$;

ALTER FUNCTION memsvc.match_vectors(p_user_id uuid, p_model_id smallint, p_vector public.halfvec, p_limit integer, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_recall;

COMMENT ON FUNCTION memsvc.match_vectors(p_user_id uuid, p_model_id smallint, p_vector public.halfvec, p_limit integer, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_known_at timestamp with time zone) IS 'The vector arm: passages nearest to the query''s vector, best first.';

CREATE FUNCTION memsvc.match_words(p_user_id uuid, p_query text, p_limit integer, p_form text DEFAULT 'stemmed'::text, p_language text DEFAULT 'english'::text, p_kinds text[] DEFAULT '{message}'::text[], p_sources uuid[] DEFAULT NULL::uuid[], p_not_sources uuid[] DEFAULT NULL::uuid[], p_said_from timestamp with time zone DEFAULT NULL::timestamp with time zone, p_said_to timestamp with time zone DEFAULT NULL::timestamp with time zone, p_enough integer DEFAULT NULL::integer, p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(matched_id uuid, score double precision, matched_terms text[], matched_form text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 10
    SET search_path TO 'memsvc', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  budget CONSTANT integer := 500;
  in_pairs CONSTANT integer := 300;
  walkable CONSTANT integer := 3000;
  most_terms CONSTANT integer := 64; -- each is a bit of found_terms
  -- Middles between sum(1/i^2, i = 1..n) for n = 0, 1, 2, …; beyond 12 BM25 hardly grows.
  steps CONSTANT double precision[] := ARRAY[
    0.5, 1.125, 1.3056, 1.3924, 1.4436, 1.4775, 1.5016, 1.5196, 1.5336, 1.5448, 1.5539, 1.5615
  ];
  scale CONSTANT double precision := pi() ^ 2 / 6;
  asker CONSTANT uuid := memsvc.require_identity(p_user_id);
  wanted text[];
  size double precision;
  mean_length double precision;
  known text[];
  weights double precision[];
  needles tsquery[];
  bits bigint[];
  reach double precision;
  rare tsquery;
  every tsquery;
  common tsquery[];
  holders double precision[]; -- passages that hold each of the common ones
  expected double precision := 0;
  walked double precision; -- entries of the index that the first look goes through
  few boolean;
  partners tsquery;
  first tsquery;
  several tsquery;
  needle tsquery;
  used_form text := p_form;
  found_ids uuid[] := '{}';
  found_scores double precision[] := '{}';
  found_terms bigint[] := '{}';
BEGIN
  wanted := tsvector_to_array(memsvc.to_words(used_form, p_language, p_query));
  IF used_form = 'stemmed' AND wanted = '{}' THEN
    -- Only stop words ("to be or not to be"): the simple form has them.
    used_form := 'simple';
    wanted := tsvector_to_array(memsvc.to_words(used_form, p_language, p_query));
  END IF;

  SELECT sum(c.passages), sum(c.length) / nullif(sum(c.passages), 0) INTO size, mean_length
  FROM (
    SELECT passages, length FROM corpora WHERE user_id = asker AND kind = ANY (p_kinds) AND form = used_form
    UNION ALL
    SELECT passages, length FROM term_deltas WHERE user_id = asker AND kind = ANY (p_kinds) AND form = used_form
  ) AS c;

  WITH counted AS (
    SELECT t.term, t.passages FROM terms AS t
    WHERE t.user_id = asker AND t.kind = ANY (p_kinds) AND t.form = used_form AND t.term = ANY (wanted)
    UNION ALL
    SELECT u.term, u.change FROM term_deltas AS d CROSS JOIN LATERAL unnest(d.terms, d.changes) AS u (term, change)
    WHERE d.user_id = asker AND d.kind = ANY (p_kinds) AND d.form = used_form AND d.terms && wanted
      AND u.term = ANY (wanted)
  ),
  rarest AS (
    SELECT c.term, sum(c.passages)::double precision AS passages FROM counted AS c
    GROUP BY c.term HAVING sum(c.passages) > 0
    ORDER BY passages, c.term LIMIT most_terms
  ),
  weighed AS (
    SELECT r.term, r.passages, memsvc.as_tsquery(r.term) AS needle,
      ln(1 + greatest(0, size - r.passages + 0.5) / (r.passages + 0.5)) AS weight,
      row_number() OVER byrarity AS rank, sum(r.passages) OVER byrarity AS reach
    FROM rarest AS r
    WINDOW byrarity AS (ORDER BY r.passages, r.term)
  )
  SELECT
    array_agg(w.term ORDER BY w.rank), array_agg(w.weight ORDER BY w.rank), array_agg(w.needle ORDER BY w.rank),
    array_agg(1::bigint << (w.rank - 1)::integer ORDER BY w.rank),
    max(w.reach), coalesce(max(w.reach) FILTER (WHERE w.reach <= budget), 0),
    string_agg(w.needle::text, ' | ') FILTER (WHERE w.reach <= budget)::tsquery,
    string_agg(w.needle::text, ' | ')::tsquery,
    array_agg(w.needle ORDER BY w.rank) FILTER (WHERE w.reach > budget),
    array_agg(w.passages ORDER BY w.rank) FILTER (WHERE w.reach > budget)
  INTO known, weights, needles, bits, reach, walked, rare, every, common, holders
  FROM weighed AS w;

  IF known IS NULL THEN
    RETURN;
  END IF;

  few := reach <= budget + in_pairs;
  first := CASE WHEN few THEN every ELSE rare END;
  FOR i IN 1..CASE WHEN few THEN 0 ELSE 2 END LOOP
    walked := walked + holders[i];
    EXIT WHEN walked > walkable;
    partners := NULL;
    FOR j IN i + 1..least(i + 3, cardinality(common)) LOOP
      expected := expected + holders[i] * holders[j] / size;
      EXIT WHEN expected > in_pairs;
      partners := coalesce(partners || common[j], common[j]);
    END LOOP;
    EXIT WHEN partners IS NULL;
    first := coalesce(first || (common[i] && partners), common[i] && partners);
  END LOOP;

  IF cardinality(common) > 1 THEN
    several := common[1];
    expected := holders[1];
    FOR i IN 2..cardinality(common) LOOP
      expected := expected * holders[i] / size;
      EXIT WHEN expected < p_limit;
      several := several && common[i];
    END LOOP;
    IF several = common[1] OR several = first THEN
      several := NULL; -- that look comes anyway
    END IF;
  END IF;

  FOREACH needle IN ARRAY CASE
    WHEN reach <= 2000 THEN ARRAY[first, every]
    ELSE ARRAY[first, several, common[1], every]
  END LOOP
    CONTINUE WHEN needle IS NULL;
    IF needle IS DISTINCT FROM first THEN
      -- How common words are best looked for depends on them and on the user. Planning takes a tenth of the arm's time.
      PERFORM set_config('plan_cache_mode', 'force_custom_plan', true);
    END IF;
    WITH candidate AS MATERIALIZED (
      SELECT p.passage_id, w.words, 1.2 * (0.25 + 0.75 * w.length) AS norm
      FROM passages AS p
      CROSS JOIN LATERAL (
        SELECT
          CASE used_form WHEN 'simple' THEN p.tsv_simple ELSE p.tsv END AS words,
          CASE used_form WHEN 'simple' THEN p.length_simple ELSE p.length END / mean_length AS length
      ) AS w
      WHERE p.user_id = CASE WHEN rare IS NULL THEN asker ELSE (SELECT asker) END
        AND (
          p.tsv @@ CASE used_form WHEN 'stemmed' THEN needle END
          OR p.tsv_simple @@ CASE used_form WHEN 'simple' THEN needle END
        )
        AND p.passage_id <> ALL (found_ids)
        AND p.kind = ANY (p_kinds)
        AND (p_sources IS NULL OR p.source_id = ANY (p_sources))
        AND (p_not_sources IS NULL OR p.source_id <> ALL (p_not_sources))
        AND (p_said_from IS NULL OR p.said_at >= p_said_from)
        AND (p_said_to IS NULL OR p.said_at < p_said_to)
        AND (p_known_at IS NULL OR p.recorded_at <= p_known_at)
      -- As walkable: the first look ends by itself. Of a limit that it does not see, the planner takes a tenth of the
      -- rows to be asked.
      LIMIT 3000
    ),
    scored AS (
      SELECT c.passage_id, bit_or(q.bit) AS terms,
        -- tf / (tf + norm), so written that tf stands there once
        sum(q.weight * (1 - c.norm / (c.norm + width_bucket(c.rank * scale, steps)))) AS score
      FROM unnest(weights, needles, bits) AS q (weight, needle, bit)
      CROSS JOIN LATERAL ( -- by itself: term by term is faster than passage by passage, whatever is estimated
        SELECT d.passage_id, d.norm, ts_rank('{1,1,1,1}', d.words, q.needle) AS rank FROM candidate AS d OFFSET 0
      ) AS c
      WHERE c.rank > 0
      GROUP BY c.passage_id
      UNION ALL
      -- What was found before is scored on all terms already: this look may stop before it meets them.
      SELECT f.passage_id, f.terms, f.score
      FROM unnest(found_ids, found_terms, found_scores) AS f (passage_id, terms, score)
    ),
    best AS (
      SELECT s.passage_id, s.score, s.terms FROM scored AS s ORDER BY s.score DESC, s.passage_id LIMIT p_limit
    )
    SELECT
      coalesce(array_agg(b.passage_id), '{}'), coalesce(array_agg(b.score), '{}'), coalesce(array_agg(b.terms), '{}')
    INTO found_ids, found_scores, found_terms
    FROM best AS b;
    EXIT WHEN cardinality(found_ids) >= coalesce(p_enough, p_limit) OR needle = every;
  END LOOP;
  PERFORM set_config('plan_cache_mode', 'force_generic_plan', true);

  RETURN QUERY
  SELECT f.passage_id, f.score,
    ARRAY(SELECT q.term FROM unnest(known, bits) AS q (term, bit) WHERE q.bit & f.terms <> 0), used_form
  FROM unnest(found_ids, found_scores, found_terms) AS f (passage_id, score, terms)
  ORDER BY f.score DESC, f.passage_id;
END
$$;

ALTER FUNCTION memsvc.match_words(p_user_id uuid, p_query text, p_limit integer, p_form text, p_language text, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_enough integer, p_known_at timestamp with time zone) OWNER TO memsvc_recall;

COMMENT ON FUNCTION memsvc.match_words(p_user_id uuid, p_query text, p_limit integer, p_form text, p_language text, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_enough integer, p_known_at timestamp with time zone) IS 'The word arm: BM25 over one user''s passages, best first.';

CREATE FUNCTION memsvc.memories_shown(p_user_id uuid, p_ids uuid[], p_as_of timestamp with time zone DEFAULT NULL::timestamp with time zone, p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(place bigint, kind text, memory_id uuid, passage_id uuid, source_id uuid, conversation text, session text, ordinal integer, part smallint, client_id text, speaker text, role text, text text, caption text, said_at timestamp with time zone, said_offset smallint, recorded_at timestamp with time zone, version_id uuid, edge_id uuid, edge_type text, from_node uuid, from_label text, to_node uuid, to_label text, valid_from timestamp with time zone, valid_to timestamp with time zone, confidence real)
    LANGUAGE plpgsql STABLE ROWS 10
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
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
    NULL::text, NULL::uuid, NULL::text, NULL::uuid, NULL::text, NULL::timestamptz, NULL::timestamptz, NULL::real
  FROM unnest(p_ids) WITH ORDINALITY AS i (id, nth)
  CROSS JOIN LATERAL (
    SELECT r.* FROM passages AS r WHERE r.user_id = p_user_id AND r.passage_id = i.id OFFSET 0
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
        r.recorded_from, r.confidence
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
      v.confidence, (
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
    nullif(f.valid_from, '-infinity'), nullif(f.valid_to, 'infinity'), f.confidence
  FROM fact AS f
  LEFT JOIN LATERAL (
    SELECT r.* FROM passages AS r WHERE r.user_id = p_user_id AND r.passage_id = f.passage_id OFFSET 0
  ) AS p ON true
  LEFT JOIN LATERAL (
    SELECT r.identifier FROM sources AS r WHERE r.user_id = p_user_id AND r.source_id = p.source_id OFFSET 0
  ) AS s ON true;
END
$$;

ALTER FUNCTION memsvc.memories_shown(p_user_id uuid, p_ids uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.memories_shown(p_user_id uuid, p_ids uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) IS 'Messages and facts as they are shown, each with its place among the ids; in no order.';

CREATE FUNCTION memsvc.mention_candidates(p_user_id uuid, p_keys integer[], p_kinds text[], p_names text[], p_of_keys integer[], p_of_nodes uuid[], p_near uuid[]) RETURNS TABLE(key integer, kind text, node_id uuid, similarity double precision, relation text, fact_type text, outgoing boolean)
    LANGUAGE plpgsql STABLE ROWS 50
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  most CONSTANT integer := 40;
  most_words CONSTANT integer := 200;
  forms CONSTANT text[] := ARRAY(SELECT memsvc.normal_form(n.name) FROM unnest(p_names) AS n (name));
BEGIN
  RETURN QUERY
  WITH asked AS MATERIALIZED (
    SELECT a.key, a.kind, a.form FROM unnest(p_keys, p_kinds, forms) AS a (key, kind, form) WHERE a.form <> ''
  ),
  called AS MATERIALIZED (
    SELECT c.form, c.node_id
    FROM memsvc.forms_called(p_user_id, ARRAY(SELECT DISTINCT a.form FROM asked AS a), NULL, NULL) AS c
  ),
  alike AS MATERIALIZED (
    SELECT 'similar' AS kind, s.form, s.node_id, s.similarity
    FROM memsvc.similar_names(
      p_user_id, ARRAY(SELECT DISTINCT a.form FROM asked AS a WHERE a.kind = 'similar'), NULL, NULL
    ) AS s
    UNION ALL
    SELECT 'part', s.form, s.node_id, s.similarity
    FROM memsvc.names_with_words(
      p_user_id, ARRAY(SELECT DISTINCT a.form FROM asked AS a WHERE a.kind IN ('similar', 'word')), most_words
    ) AS s
  ),
  around AS MATERIALIZED (
    SELECT o.key, e.other, e.relation, e.type, e.outgoing
    FROM unnest(p_of_keys, p_of_nodes) AS o (key, node_id)
    INNER JOIN memsvc.same_nodes(p_user_id, p_of_nodes) AS s
      ON s.canonical_id = (SELECT r.canonical_id FROM memsvc.resolve_nodes(p_user_id, ARRAY[o.node_id]) AS r)
    CROSS JOIN LATERAL (
      (SELECT v.to_node AS other, coalesce(v.data ->> 'relation', '') AS relation, v.type, true AS outgoing
      FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.from_node = s.node_id AND v.recorded_to = 'infinity'
        AND v.valid_from <= clock_timestamp() AND v.valid_to > clock_timestamp()
      LIMIT 500)
      UNION ALL
      (SELECT v.from_node, coalesce(v.data ->> 'relation', ''), v.type, false
      FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.to_node = s.node_id AND v.recorded_to = 'infinity'
        AND v.valid_from <= clock_timestamp() AND v.valid_to > clock_timestamp()
      LIMIT 500)
    ) AS e
  ),
  met AS MATERIALIZED (
    SELECT a.key, a.kind, c.node_id, 1::double precision AS similarity, '' AS relation, '' AS fact_type,
      true AS outgoing
    FROM asked AS a INNER JOIN called AS c ON c.form = a.form
    WHERE a.kind NOT IN ('similar', 'word')
    UNION ALL
    SELECT a.key, l.kind, l.node_id, l.similarity, '', '', true
    FROM asked AS a INNER JOIN alike AS l ON l.form = a.form
    WHERE a.kind = 'similar' OR (a.kind = 'word' AND l.kind = 'part')
    UNION ALL
    SELECT r.key, 'of', r.other, 0, r.relation, r.type, r.outgoing FROM around AS r
  ),
  resolved AS MATERIALIZED (
    SELECT r.node_id, r.canonical_id
    FROM memsvc.resolve_nodes(p_user_id, ARRAY(SELECT DISTINCT m.node_id FROM met AS m)) AS r
  ),
  ranked AS (
    SELECT m.key, m.kind, r.canonical_id, m.similarity, m.relation, m.fact_type, m.outgoing, row_number() OVER (
      PARTITION BY m.key, m.kind = 'of'
      ORDER BY m.kind = 'exact' DESC, r.canonical_id = ANY (p_near) DESC, m.similarity DESC, r.canonical_id
    ) AS nth
    FROM met AS m INNER JOIN resolved AS r ON r.node_id = m.node_id
  )
  SELECT DISTINCT k.key, k.kind, k.canonical_id, k.similarity, k.relation, k.fact_type, k.outgoing
  FROM ranked AS k
  WHERE k.nth <= most OR k.kind = 'of';
END
$$;

ALTER FUNCTION memsvc.mention_candidates(p_user_id uuid, p_keys integer[], p_kinds text[], p_names text[], p_of_keys integer[], p_of_nodes uuid[], p_near uuid[]) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.mention_candidates(p_user_id uuid, p_keys integer[], p_kinds text[], p_names text[], p_of_keys integer[], p_of_nodes uuid[], p_near uuid[]) IS 'Nodes that mentions of a text may mean.';

CREATE FUNCTION memsvc.mentions(p_user_id uuid) RETURNS TABLE(node_id uuid, passage_id uuid, day date)
    LANGUAGE plpgsql STABLE ROWS 10000
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_nestloop TO 'off'
    AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH link AS MATERIALIZED (
    SELECT l.* FROM source_links AS l
    WHERE l.user_id = p_user_id AND l.recorded_to = 'infinity' AND l.stance = 'supports'
  ),
  spoken AS MATERIALIZED (
    SELECT l.passage_id, l.node_id FROM link AS l WHERE l.node_id IS NOT NULL
    UNION
    SELECT l.passage_id, v.node_id FROM link AS l
    INNER JOIN node_versions AS v ON v.user_id = p_user_id AND v.version_id = l.node_version_id
    UNION
    SELECT l.passage_id, a.node_id FROM link AS l
    INNER JOIN aliases AS a ON a.user_id = p_user_id AND a.alias_id = l.alias_id
    UNION
    SELECT l.passage_id, a.node_id FROM link AS l
    INNER JOIN locations AS a ON a.user_id = p_user_id AND a.location_id = l.location_id
    UNION
    SELECT l.passage_id, n.node_id FROM link AS l
    INNER JOIN edge_versions AS v ON v.user_id = p_user_id AND v.version_id = l.edge_version_id
    CROSS JOIN LATERAL (VALUES (v.from_node), (v.to_node)) AS n (node_id)
  ),
  resolved AS MATERIALIZED (
    SELECT r.* FROM memsvc.resolve_nodes(p_user_id, ARRAY(
      SELECT m.node_id FROM merges AS m WHERE m.user_id = p_user_id AND m.recorded_to = 'infinity'
    )) AS r
  )
  SELECT DISTINCT coalesce(r.canonical_id, s.node_id), s.passage_id,
    (p.said_at AT TIME ZONE make_interval(mins => p.said_offset))::date
  FROM spoken AS s
  INNER JOIN passages AS p ON p.user_id = p_user_id AND p.passage_id = s.passage_id
  LEFT JOIN resolved AS r ON r.node_id = s.node_id;
END
$$;

ALTER FUNCTION memsvc.mentions(p_user_id uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.mentions(p_user_id uuid) IS 'Which passages speak of which nodes, and on which day.';

CREATE FUNCTION memsvc.merges_among(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS SETOF memsvc.merges
    LANGUAGE sql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    BEGIN ATOMIC
 SELECT m.user_id,
     m.merge_id,
     m.node_id,
     m.canonical_id,
     m.reason,
     m.confidence,
     m.asserted_by,
     m.recorded_from,
     m.recorded_to
    FROM (memsvc.same_nodes(merges_among.p_user_id, merges_among.p_nodes, merges_among.p_known_at) s(canonical_id, node_id)
      CROSS JOIN LATERAL ( SELECT o.user_id,
             o.merge_id,
             o.node_id,
             o.canonical_id,
             o.reason,
             o.confidence,
             o.asserted_by,
             o.recorded_from,
             o.recorded_to
            FROM memsvc.merges o
           WHERE ((o.user_id = merges_among.p_user_id) AND (o.node_id = s.node_id) AND (o.recorded_from <= COALESCE(merges_among.p_known_at, 'infinity'::timestamp with time zone)) AND ((o.recorded_to = 'infinity'::timestamp with time zone) OR (o.recorded_to > merges_among.p_known_at)))
          OFFSET 0) m)
   ORDER BY m.merge_id;
END;

ALTER FUNCTION memsvc.merges_among(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.merges_among(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone) IS 'By which merges some nodes, and all that are the same, are one.';

CREATE FUNCTION memsvc.merges_back(p_user_id uuid, p_at timestamp with time zone) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  operations jsonb;
  built_upon boolean;
BEGIN
  WITH altered AS (
    SELECT n.node_id, b.merge_id, b.canonical_id AS was, b.reason, b.confidence, a.canonical_id AS became,
      o.canonical_id AS now_is
    FROM (
      SELECT DISTINCT m.node_id FROM merges AS m
      WHERE m.user_id = p_user_id AND (m.recorded_from = p_at OR m.recorded_to = p_at)
    ) AS n
    LEFT JOIN merges AS b
      ON b.user_id = p_user_id AND b.node_id = n.node_id AND b.recorded_to = p_at AND b.recorded_from < p_at
    LEFT JOIN merges AS a
      ON a.user_id = p_user_id AND a.node_id = n.node_id AND a.recorded_from = p_at AND a.recorded_to > p_at
    LEFT JOIN merges AS o ON o.user_id = p_user_id AND o.node_id = n.node_id AND o.recorded_to = 'infinity'
    WHERE b.canonical_id IS DISTINCT FROM a.canonical_id
  ),
  todo AS (
    SELECT 1 AS turn, a.node_id, 'unmerge' AS op, NULL::uuid AS canonical_id, '' AS reason, 1::real AS confidence,
      '[]'::jsonb AS evidence
    FROM altered AS a WHERE a.became IS NOT NULL
    UNION ALL
    SELECT 2, a.node_id, 'merge', a.was, a.reason, a.confidence, (
      SELECT coalesce(jsonb_agg(to_jsonb(l)), '[]') FROM memsvc.links_of(p_user_id, 'merge', a.merge_id) AS l
      WHERE l.stance = 'supports'
    )
    FROM altered AS a WHERE a.was IS NOT NULL
  )
  SELECT (SELECT bool_or(a.became IS DISTINCT FROM a.now_is) FROM altered AS a),
    (SELECT coalesce(jsonb_agg(to_jsonb(t)), '[]') FROM (
      SELECT d.*, row_number() OVER (ORDER BY d.turn, d.node_id) AS position FROM todo AS d
    ) AS t)
  INTO built_upon, operations;
  IF built_upon THEN
    PERFORM memsvc.refuse_change('change_built_upon', NULL, 'A later merge stands on this one.');
  END IF;
  RETURN operations;
END
$$;

ALTER FUNCTION memsvc.merges_back(p_user_id uuid, p_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.merges_back(p_user_id uuid, p_at timestamp with time zone) IS 'Operations that put merges back as they were.';

CREATE FUNCTION memsvc.tombstone_digest(p_what jsonb) RETURNS bytea
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN sha256(convert_to((p_what)::text, 'UTF8'::name));

ALTER FUNCTION memsvc.tombstone_digest(p_what jsonb) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.tombstone_digest(p_what jsonb) IS 'Digest of what was erased, for tombstones.';

CREATE FUNCTION memsvc.message_digest(p_source text, p_session text, p_ordinal integer, p_client_id text) RETURNS bytea
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN memsvc.tombstone_digest(jsonb_build_array(p_source, CASE WHEN (p_client_id IS NULL) THEN p_session ELSE NULL::text END, CASE WHEN (p_client_id IS NULL) THEN p_ordinal ELSE NULL::integer END, p_client_id));

ALTER FUNCTION memsvc.message_digest(p_source text, p_session text, p_ordinal integer, p_client_id text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.message_digest(p_source text, p_session text, p_ordinal integer, p_client_id text) IS 'Digest of a message''s identity, for tombstones.';

CREATE FUNCTION memsvc.metres_between(p_latitude double precision, p_longitude double precision, p_other_latitude double precision, p_other_longitude double precision) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ((((2)::numeric * 6371008.7714))::double precision * asin(sqrt(LEAST((1)::double precision, (power(sin((radians((p_other_latitude - p_latitude)) / (2)::double precision)), (2)::double precision) + ((cos(radians(p_latitude)) * cos(radians(p_other_latitude))) * power(sin((radians((p_other_longitude - p_longitude)) / (2)::double precision)), (2)::double precision)))))));

ALTER FUNCTION memsvc.metres_between(p_latitude double precision, p_longitude double precision, p_other_latitude double precision, p_other_longitude double precision) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.metres_between(p_latitude double precision, p_longitude double precision, p_other_latitude double precision, p_other_longitude double precision) IS 'Metres between two points along a great circle.';

CREATE TABLE memsvc.sources (
    user_id uuid NOT NULL,
    source_id uuid DEFAULT uuidv7() NOT NULL,
    kind text NOT NULL,
    identifier text NOT NULL,
    title text DEFAULT ''::text NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL,
    last_ingested_at timestamp with time zone,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    forget_after interval,
    CONSTRAINT sources_forget_after_check CHECK (((forget_after >= '01:00:00'::interval) AND (forget_after <= '8760:00:00'::interval))),
    CONSTRAINT sources_identifier_check CHECK (((identifier <> ''::text) AND (length(identifier) <= 500))),
    CONSTRAINT sources_kind_check CHECK ((kind = ANY (ARRAY['conversation'::text, 'block'::text]))),
    CONSTRAINT sources_metadata_check CHECK ((jsonb_typeof(metadata) = 'object'::text)),
    CONSTRAINT sources_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'processing'::text, 'completed'::text, 'failed'::text])))
);
ALTER TABLE ONLY memsvc.sources ALTER COLUMN identifier SET STATISTICS 0;
ALTER TABLE ONLY memsvc.sources ALTER COLUMN title SET STATISTICS 0;
ALTER TABLE ONLY memsvc.sources ALTER COLUMN metadata SET STATISTICS 0;

ALTER TABLE ONLY memsvc.sources FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.sources OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.sources IS 'Where passages come from: conversations, and blocks of the profile in the archive.';

COMMENT ON COLUMN memsvc.sources.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.sources.source_id IS 'Time-ordered id; of a block the block''s.';

COMMENT ON COLUMN memsvc.sources.kind IS 'conversation, or block (of the profile, in the archive).';

COMMENT ON COLUMN memsvc.sources.identifier IS 'What the client calls it; unique for its kind.';

COMMENT ON COLUMN memsvc.sources.title IS 'For people.';

COMMENT ON COLUMN memsvc.sources.status IS 'How far background work is: pending, processing, completed, failed. Recall never waits for it.';

COMMENT ON COLUMN memsvc.sources.last_ingested_at IS 'When background work last caught up with it.';

COMMENT ON COLUMN memsvc.sources.metadata IS 'What else the client said about it.';

COMMENT ON COLUMN memsvc.sources.created_at IS 'When it was first seen.';

COMMENT ON COLUMN memsvc.sources.forget_after IS 'It is erased when its session ends, or when nothing came for so long; null: it stays.';

CREATE FUNCTION memsvc.misfiled_passages(p_user_id uuid) RETURNS SETOF uuid
    LANGUAGE sql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 SELECT p.passage_id
    FROM (memsvc.sources s
      JOIN memsvc.passages p ON (((p.user_id = misfiled_passages.p_user_id) AND (p.source_id = s.source_id))))
   WHERE ((s.user_id = misfiled_passages.p_user_id) AND (s.kind = 'block'::text) AND (NOT (EXISTS ( SELECT
            FROM memsvc.profile_versions v
           WHERE ((v.user_id = misfiled_passages.p_user_id) AND (v.block_id = p.source_id) AND (v.version = p.ordinal) AND (v.kind = 'archival'::text) AND (p.kind =
                 CASE
                     WHEN (v.recorded_to = 'infinity'::timestamp with time zone) THEN 'block'::text
                     ELSE 'former'::text
                 END) AND (strpos(v.text, p.text) > 0))))));
END;

ALTER FUNCTION memsvc.misfiled_passages(p_user_id uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.misfiled_passages(p_user_id uuid) IS 'Passages of blocks in the archive that no version says.';

CREATE FUNCTION memsvc.model_spending(p_since timestamp with time zone) RETURNS TABLE(day date, task text, model text, calls bigint, answered bigint, tokens_in bigint, tokens_out bigint, ms bigint, cost numeric)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 SELECT ((c.at AT TIME ZONE 'UTC'::text))::date AS timezone,
     c.task,
     c.model,
     count(*) AS count,
     count(*) FILTER (WHERE (c.outcome = 'answered'::text)) AS count,
     sum(c.tokens_in) AS sum,
     sum(c.tokens_out) AS sum,
     sum(c.ms) AS sum,
     sum(c.cost) AS sum
    FROM memsvc.model_calls c
   WHERE (c.at >= model_spending.p_since)
   GROUP BY (((c.at AT TIME ZONE 'UTC'::text))::date), c.task, c.model
   ORDER BY (((c.at AT TIME ZONE 'UTC'::text))::date) DESC, c.task, c.model;
END;

ALTER FUNCTION memsvc.model_spending(p_since timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.model_spending(p_since timestamp with time zone) IS 'Calls of the language model since a moment by day, task and model, over all users: counts, tokens, time, cost.';

CREATE FUNCTION memsvc.moment_shown(p_moment timestamp with time zone) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN isfinite(p_moment) THEN to_char((p_moment AT TIME ZONE 'UTC'::text), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'::text) ELSE NULL::text END;

ALTER FUNCTION memsvc.moment_shown(p_moment timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.moment_shown(p_moment timestamp with time zone) IS 'A moment in UTC as text; null where it is infinite.';

CREATE FUNCTION memsvc.name_evidence(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone DEFAULT NULL::timestamp with time zone, p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(node_id uuid, evidence text[])
    LANGUAGE plpgsql STABLE ROWS 5
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_incremental_sort TO 'off'
    SET enable_nestloop TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  most CONSTANT integer := 3;
  fan_out CONSTANT integer := 25;
  signs CONSTANT integer := 200;
  moment CONSTANT timestamptz := coalesce(p_as_of, clock_timestamp());
BEGIN
  RETURN QUERY
  WITH met AS MATERIALIZED (
    SELECT h.start_id, h.version_id
    FROM memsvc.hop(
      p_user_id, memsvc.standing_for(p_user_id, p_nodes, p_known_at), NULL, 'both', fan_out, NULL, moment, p_known_at,
      memsvc.any_merges(p_user_id, p_known_at)
    ) AS h
  ),
  fact AS MATERIALIZED (
    SELECT v.version_id, v.fact, v.valid_from, v.recorded_from FROM edge_versions AS v
    WHERE v.user_id = p_user_id AND v.version_id = ANY (ARRAY(SELECT m.version_id FROM met AS m))
    ORDER BY v.version_id OFFSET 0
  ),
  told AS MATERIALIZED (
    SELECT m.start_id, f.fact, row_number() OVER (
      PARTITION BY m.start_id ORDER BY nullif(f.valid_from, '-infinity') DESC NULLS LAST, f.recorded_from DESC,
        f.version_id DESC
    ) AS place
    FROM met AS m INNER JOIN fact AS f ON f.version_id = m.version_id
  )
  SELECT n.node_id, CASE WHEN EXISTS (SELECT FROM told AS t WHERE t.start_id = n.node_id) THEN ARRAY(
      SELECT left(t.fact, signs) FROM told AS t WHERE t.start_id = n.node_id AND t.place <= most ORDER BY t.place
    ) ELSE ARRAY(
      SELECT left(p.text, signs)
      FROM memsvc.match_mentions(
        p_user_id, ARRAY[n.node_id], '{1}', '{0}', most, p_as_of => p_as_of, p_known_at => p_known_at
      ) WITH ORDINALITY AS g (matched_id, node_id, reach, distance, place)
      CROSS JOIN LATERAL (
        SELECT i.text FROM passages AS i WHERE i.user_id = p_user_id AND i.passage_id = ANY (ARRAY[g.matched_id])
        ORDER BY i.passage_id OFFSET 0
      ) AS p
      ORDER BY g.place
    ) END
  FROM unnest(memsvc.standing_for(p_user_id, p_nodes, p_known_at)) WITH ORDINALITY AS n (node_id, place)
  ORDER BY n.place;
END
$$;

ALTER FUNCTION memsvc.name_evidence(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.name_evidence(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) IS 'By what a person can tell nodes apart: a few sentences about each, newest first.';

CREATE FUNCTION memsvc.name_grams(p_query text, p_language text, p_first_person boolean, OUT said text, OUT forms text[], OUT places integer[], OUT endings integer[], OUT loose boolean[]) RETURNS record
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $_$
#variable_conflict use_column
DECLARE
  most_words CONSTANT integer := 64;
  signs CONSTANT text := '\u2E80-\u2FDF\u3040-\u30FF\u31F0-\u31FF\u3400-\u4DBF\u4E00-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF'
    '\U00020000-\U0003FFFF';
  opening text;
  sign CONSTANT text := format('^[%s]', signs);
  own CONSTANT regdictionary := (
    CASE p_language WHEN 'simple' THEN 'simple' ELSE p_language || '_stem' END
  )::regdictionary;
  words text[];
  gaps text[];
  joined text;
  parts text[]; -- words and gaps in their normal form
BEGIN
  -- Chr 1 and 2 part words from what follows them while all of it is brought to its normal form at once.
  said := translate(normalize(left(p_query, 10 * most_words), NFKC), chr(1) || chr(2), '  ');
  opening := substring(said FROM '^\W*');
  SELECT array_agg(m.found[1] ORDER BY m.nth), array_agg(m.found[2] ORDER BY m.nth),
    string_agg(m.found[1] || chr(2) || m.found[2], chr(1) ORDER BY m.nth)
  INTO words, gaps, joined
  FROM (
    SELECT r.*
    FROM regexp_matches(said, format('([%1$s]|[^\W%1$s]+)(\W*)', signs), 'g') WITH ORDINALITY AS r (found, nth)
    LIMIT most_words
  ) AS m;
  IF words IS NULL THEN
    RETURN;
  END IF;
  parts := string_to_array(memsvc.normal_form(joined), chr(1));
  WITH piece AS MATERIALIZED (
    SELECT w.nth::integer AS nth, w.word, w.gap, f.form, split_part(w.part, chr(2), 2) AS form_gap,
      w.word ~ sign AS sign,
      coalesce('{}' IN (ts_lexize(own, f.form), ts_lexize('english_stem', f.form)), false) AS stops,
      w.word <> lower(w.word) AS capital, f.form = ANY (memsvc.first_person_words()) AS self
    FROM unnest(words, gaps, parts) WITH ORDINALITY AS w (word, gap, part, nth)
    CROSS JOIN LATERAL (SELECT split_part(w.part, chr(2), 1) AS form) AS f
  ),
  placed AS MATERIALIZED (
    SELECT i.*, 1 + length(opening) + coalesce(sum(length(i.word || i.gap)) OVER before, 0)::integer AS place,
      1 + coalesce(sum(length(i.form || i.form_gap)) OVER before, 0)::integer AS form_place,
      coalesce(lag(i.gap) OVER before, opening) AS gap_before, substring(i.form_gap FROM '^\S+') AS tail,
      substring(i.form_gap FROM '^(\S*?[^\s.,;:!?)"''])[.,;:!?)"'']+(?=\s|$)') AS short_tail,
      substring(coalesce(lag(i.form_gap) OVER before, opening) FROM '\S+$') AS head,
      coalesce(lag(i.sign) OVER before, false) AS sign_before,
      coalesce(lead(i.sign) OVER before, false) AS sign_behind,
      i.capital AND NOT i.stops AS proper,
      coalesce(lag(i.capital AND NOT i.stops AND i.gap ~ '^[\s''.-]+$') OVER before, false) AS proper_before,
      coalesce(lead(i.capital AND NOT i.stops) OVER before, false) AND i.gap ~ '^[\s''.-]+$' AS proper_behind,
      count(*) FILTER (WHERE i.capital AND NOT i.stops) OVER before AS propers
    FROM piece AS i
    WINDOW before AS (ORDER BY i.nth ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
  ),
  query AS MATERIALIZED (
    SELECT string_agg(i.form || i.form_gap, '' ORDER BY i.nth) AS form,
      bool_or(i.capital AND NOT i.stops AND i.nth > 1) AS with_capitals
    FROM piece AS i
  ),
  gram AS (
    SELECT a.place, z.place + length(z.word) AS ending, a.head, z.tail, z.short_tail, a.self AND a.nth = z.nth AS self,
      substr(q.form, a.form_place, z.form_place + length(z.form) - a.form_place) AS form,
      CASE WHEN q.with_capitals THEN a.proper AND z.proper AND (a.nth = 2 OR NOT a.proper_before)
          AND NOT z.proper_behind
          AND z.nth - a.nth < 3 AND z.propers - a.propers = z.nth - a.nth
        ELSE a.nth = z.nth AND NOT a.stops AND length(a.form) >= 5
      END AND NOT a.sign AS whole
    FROM placed AS a
    INNER JOIN placed AS z ON z.nth BETWEEN a.nth AND a.nth + CASE WHEN a.sign THEN 7 ELSE 5 END
    CROSS JOIN query AS q
    WHERE a.nth < z.nth OR CASE WHEN a.self THEN p_first_person ELSE
      (NOT a.stops OR (a.nth > 1 AND a.capital))
      AND NOT (a.sign AND ((a.sign_before AND a.gap_before = '') OR (a.sign_behind AND a.gap = '')))
    END
  )
  SELECT array_agg(v.form), array_agg(v.place), array_agg(v.ending), array_agg(v.loose)
  INTO forms, places, endings, loose
  FROM (
    SELECT CASE WHEN g.self THEN 'i' ELSE g.form END AS form, g.place, g.ending,
      NOT g.self AND g.whole AND g.form ~ '[^\W\d_]{4}' AND g.form !~ '[,;:!?()"]' AS loose
    FROM gram AS g
    UNION ALL
    -- With the punctuation that touches it: "C++", ".NET".
    SELECT g.form || t.tail, g.place, g.ending + length(t.tail), false
    FROM gram AS g CROSS JOIN LATERAL (VALUES (g.tail), (g.short_tail)) AS t (tail)
    WHERE t.tail IS NOT NULL AND NOT g.self
    UNION ALL
    SELECT g.head || g.form, g.place - length(g.head), g.ending, false FROM gram AS g
    WHERE g.head IS NOT NULL AND NOT g.self
  ) AS v;
END
$_$;

ALTER FUNCTION memsvc.name_grams(p_query text, p_language text, p_first_person boolean, OUT said text, OUT forms text[], OUT places integer[], OUT endings integer[], OUT loose boolean[]) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.name_grams(p_query text, p_language text, p_first_person boolean, OUT said text, OUT forms text[], OUT places integer[], OUT endings integer[], OUT loose boolean[]) IS 'What could be a name in a query.';

CREATE TABLE memsvc.nodes (
    user_id uuid NOT NULL,
    node_id uuid DEFAULT uuidv7() NOT NULL,
    gid bigint NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    lockable boolean DEFAULT true NOT NULL,
    CONSTRAINT nodes_never_change CHECK (lockable)
)
WITH (autovacuum_vacuum_scale_factor='0.05');

ALTER TABLE ONLY memsvc.nodes FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.nodes OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.nodes IS 'Identity only. What is known about a node stands in node_versions and aliases.';

COMMENT ON COLUMN memsvc.nodes.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.nodes.node_id IS 'Stable for ever, also through merges.';

COMMENT ON COLUMN memsvc.nodes.gid IS 'A small number for graph projections.';

COMMENT ON COLUMN memsvc.nodes.created_at IS 'When the node was first recorded.';

COMMENT ON COLUMN memsvc.nodes.lockable IS 'Always true. The right to update it is what lets writers lock the row; nothing about a node changes.';

CREATE FUNCTION memsvc.named_nodes(p_user_id uuid, p_after uuid, p_since timestamp with time zone, p_limit integer) RETURNS TABLE(node_id uuid, label text, names text[], attributes jsonb, touched boolean)
    LANGUAGE sql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    BEGIN ATOMIC
 WITH page AS MATERIALIZED (
          SELECT n.node_id
            FROM memsvc.nodes n
           WHERE ((n.user_id = named_nodes.p_user_id) AND (n.node_id > COALESCE(named_nodes.p_after, '00000000-0000-0000-0000-000000000000'::uuid)) AND (NOT (EXISTS ( SELECT
                    FROM memsvc.merges m
                   WHERE ((m.user_id = named_nodes.p_user_id) AND (m.node_id = n.node_id) AND (m.recorded_to = 'infinity'::timestamp with time zone))))))
           ORDER BY n.node_id
          LIMIT named_nodes.p_limit
         ), same AS MATERIALIZED (
          SELECT s.canonical_id,
             s.node_id
            FROM memsvc.same_nodes(named_nodes.p_user_id, ARRAY( SELECT p.node_id
                    FROM page p)) s(canonical_id, node_id)
         ), called AS (
          SELECT s.canonical_id,
             v.label,
             v.label_form AS form,
             v.data,
             v.recorded_from,
             (s.node_id = s.canonical_id) AS own,
             ((v.type IN ( SELECT t.name
                    FROM memsvc.node_types t
                   WHERE (t.category = 'entity'::text))) AND COALESCE(((v.data -> 'named'::text) <> 'false'::jsonb), true)) AS named
            FROM (same s
              CROSS JOIN LATERAL ( SELECT o.user_id,
                     o.version_id,
                     o.node_id,
                     o.type,
                     o.label,
                     o.description,
                     o.data,
                     o.importance,
                     o.valid_from,
                     o.valid_to,
                     o.recorded_from,
                     o.recorded_to,
                     o.asserted_by,
                     o.derived_from,
                     o.label_form
                    FROM memsvc.node_versions o
                   WHERE ((o.user_id = named_nodes.p_user_id) AND (o.node_id = s.node_id) AND (o.recorded_to = 'infinity'::timestamp with time zone))
                  OFFSET 0) v)
         UNION ALL
          SELECT s.canonical_id,
             NULL::text,
             a.normal_form,
             NULL::jsonb,
             a.recorded_from,
             false,
             true
            FROM (same s
              CROSS JOIN LATERAL ( SELECT o.user_id,
                     o.alias_id,
                     o.node_id,
                     o.alias,
                     o.normal_form,
                     o.confidence,
                     o.asserted_by,
                     o.valid_from,
                     o.valid_to,
                     o.recorded_from,
                     o.recorded_to,
                     o.derived_from
                    FROM memsvc.aliases o
                   WHERE ((o.user_id = named_nodes.p_user_id) AND (o.node_id = s.node_id) AND (o.recorded_to = 'infinity'::timestamp with time zone))
                  OFFSET 0) a)
         UNION ALL
          SELECT s.canonical_id,
             NULL::text,
             NULL::text,
             NULL::jsonb,
             m.recorded_from,
             false,
             false
            FROM (same s
              CROSS JOIN LATERAL ( SELECT o.recorded_from
                    FROM memsvc.merges o
                   WHERE ((o.user_id = named_nodes.p_user_id) AND (o.node_id = s.node_id) AND (o.recorded_to = 'infinity'::timestamp with time zone))
                  OFFSET 0) m)
         UNION ALL
          SELECT p.node_id,
             NULL::text,
             NULL::text,
             NULL::jsonb,
             '-infinity'::timestamp with time zone,
             false,
             false
            FROM page p
         )
  SELECT c.canonical_id,
     (array_agg(c.label ORDER BY c.own DESC, c.recorded_from) FILTER (WHERE (c.label IS NOT NULL)))[1] AS array_agg,
     array_agg(DISTINCT c.form) FILTER (WHERE c.named) AS array_agg,
     COALESCE((array_agg(c.data ORDER BY c.own DESC, c.recorded_from) FILTER (WHERE (c.data <> '{}'::jsonb)))[1], '{}'::jsonb) AS "coalesce",
     ((named_nodes.p_since IS NULL) OR (max(c.recorded_from) >= named_nodes.p_since))
    FROM called c
   GROUP BY c.canonical_id
   ORDER BY c.canonical_id;
END;

ALTER FUNCTION memsvc.named_nodes(p_user_id uuid, p_after uuid, p_since timestamp with time zone, p_limit integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.named_nodes(p_user_id uuid, p_after uuid, p_since timestamp with time zone, p_limit integer) IS 'What nodes with a proper name are called, and their properties; a page.';

CREATE FUNCTION memsvc.names_in_query(p_user_id uuid, p_query text, p_as_of timestamp with time zone DEFAULT NULL::timestamp with time zone, p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone, p_language text DEFAULT 'english'::text, p_first_person boolean DEFAULT false) RETURNS TABLE(name text, node_id uuid, label text, type text, similarity double precision, place integer)
    LANGUAGE plpgsql STABLE ROWS 5
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  most_loose CONSTANT integer := 2;
  moment CONSTANT timestamptz := coalesce(p_as_of, clock_timestamp());
  gram record;
  exact record; -- what is called so
  free record; -- of what these leave, what may be compared by trigrams
  alike uuid[]; -- nodes that nearly are called so, and of each what follows
  alike_forms text[];
  similarities double precision[];
  called_so uuid[];
BEGIN
  PERFORM FROM nodes AS n WHERE n.user_id = p_user_id OFFSET 1 LIMIT 1;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  gram := memsvc.name_grams(p_query, p_language, p_first_person);
  IF gram.forms IS NULL THEN
    RETURN;
  END IF;

  SELECT array_agg(g.form) AS forms, array_agg(c.node_id) AS nodes, array_agg(g.place) AS places,
    array_agg(g.ending) AS endings
  INTO exact FROM memsvc.forms_called(p_user_id, gram.forms, moment, p_known_at) AS c
  INNER JOIN unnest(gram.forms, gram.places, gram.endings) AS g (form, place, ending) ON g.form = c.form;

  SELECT array_agg(f.form) AS forms, array_agg(f.place) AS places, array_agg(f.ending) AS endings
  INTO free FROM (
    SELECT g.* FROM unnest(gram.forms, gram.places, gram.endings, gram.loose) AS g (form, place, ending, loose)
    WHERE g.loose AND NOT EXISTS (
      SELECT FROM unnest(exact.places, exact.endings) AS e (place, ending)
      WHERE e.place < g.ending AND e.ending > g.place
    )
    ORDER BY g.ending - g.place DESC, g.place LIMIT most_loose
  ) AS f;
  IF free.forms IS NOT NULL THEN
    SELECT array_agg(s.node_id), array_agg(s.form), array_agg(s.similarity) INTO alike, alike_forms, similarities
    FROM memsvc.similar_names(
      p_user_id, ARRAY(SELECT DISTINCT f.form FROM unnest(free.forms) AS f (form)), moment, p_known_at
    ) AS s;
  END IF;

  called_so := coalesce(exact.nodes, '{}') || coalesce(alike, '{}');
  IF called_so = '{}' THEN
    RETURN;
  END IF;
  RETURN QUERY
  WITH near AS MATERIALIZED (
    SELECT f.form, f.place, f.ending, a.node_id, a.similarity,
      max(a.similarity) OVER (PARTITION BY f.place, f.ending) AS best
    FROM unnest(alike, alike_forms, similarities) AS a (node_id, form, similarity)
    INNER JOIN unnest(free.forms, free.places, free.endings) AS f (form, place, ending) ON f.form = a.form
  ),
  met AS (
    SELECT e.*, 1::double precision AS similarity
    FROM unnest(exact.forms, exact.nodes, exact.places, exact.endings) AS e (form, node_id, place, ending)
    WHERE NOT EXISTS (
      SELECT FROM unnest(exact.places, exact.endings) AS o (place, ending)
      WHERE o.place <= e.place AND o.ending >= e.ending AND o.ending - o.place > e.ending - e.place
    )
    UNION ALL
    SELECT n.form, n.node_id, n.place, n.ending, n.similarity FROM near AS n
    WHERE n.similarity > n.best - 0.1 AND NOT EXISTS (
      SELECT FROM near AS o
      WHERE o.place < n.ending AND o.ending > n.place
        AND (o.best, o.ending - o.place, -o.place) > (n.best, n.ending - n.place, -n.place)
    )
  )
  SELECT b.name, b.canonical_id, coalesce(b.label, b.name), coalesce(b.type, ''), b.similarity, b.place
  FROM (
    SELECT DISTINCT ON (m.form, c.canonical_id) substr(gram.said, m.place, m.ending - m.place) AS name, c.canonical_id, c.label, c.type, m.similarity, m.place
    FROM met AS m
    INNER JOIN memsvc.node_cards(p_user_id, called_so, p_as_of, p_known_at) AS c ON c.node_id = m.node_id
    ORDER BY m.form, c.canonical_id, m.similarity DESC, m.place
  ) AS b
  ORDER BY b.place, b.similarity DESC, b.label, b.canonical_id;
END
$$;

ALTER FUNCTION memsvc.names_in_query(p_user_id uuid, p_query text, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_language text, p_first_person boolean) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.names_in_query(p_user_id uuid, p_query text, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_language text, p_first_person boolean) IS 'Names in a query and the nodes that are called so, merges resolved.';

CREATE FUNCTION memsvc.names_matching(p_user_id uuid, p_wanted text, p_tier integer, p_type text, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_after_form text, p_after_node uuid, p_limit integer) RETURNS TABLE(form text, node_id uuid)
    LANGUAGE plpgsql STABLE ROWS 50
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    AS $$
DECLARE
  low CONSTANT text := greatest(CASE WHEN p_tier < 2 THEN p_wanted ELSE '' END, p_after_form COLLATE "C");
  high CONSTANT text := CASE p_tier WHEN 0 THEN p_wanted WHEN 1 THEN p_wanted || chr(1114111) ELSE chr(1114111) END;
  behind CONSTANT uuid := coalesce(p_after_node, '00000000-0000-0000-0000-000000000000');
  since CONSTANT timestamptz := coalesce(p_as_of, '-infinity'); -- at any time: begins before the end of time,
  moment CONSTANT timestamptz := coalesce(p_as_of, 'infinity'); -- and ends after its begin
BEGIN
  RETURN QUERY
  SELECT m.form, m.node_id FROM (
    SELECT DISTINCT v.label_form AS form, v.node_id FROM node_versions AS v
    WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.label_form >= low AND v.label_form <= high
      AND (v.label_form, v.node_id) > (p_after_form COLLATE "C", behind)
      AND v.valid_from <= moment AND v.valid_to > since AND v.recorded_from <= coalesce(p_known_at, 'infinity')
      AND memsvc.name_tier(v.label_form, p_wanted) = p_tier
      AND (p_type IS NULL OR v.type = p_type
        OR v.node_id IN (SELECT g.node_id FROM merges AS g WHERE g.user_id = p_user_id))
    ORDER BY v.label_form, v.node_id LIMIT p_limit
  ) AS m;
  IF p_wanted <> '' THEN
    RETURN QUERY
    SELECT m.form, m.node_id FROM (
      SELECT DISTINCT v.normal_form COLLATE "C" AS form, v.node_id FROM aliases AS v
      WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.normal_form COLLATE "C" >= low
        AND v.normal_form COLLATE "C" <= high AND (v.normal_form COLLATE "C", v.node_id) > (p_after_form, behind)
        AND v.valid_from <= moment AND v.valid_to > since AND v.recorded_from <= coalesce(p_known_at, 'infinity')
        AND memsvc.name_tier(v.normal_form, p_wanted) = p_tier
        AND (p_type IS NULL
          OR v.node_id IN (SELECT o.node_id FROM node_versions AS o WHERE o.user_id = p_user_id AND o.type = p_type)
          OR v.node_id IN (SELECT g.node_id FROM merges AS g WHERE g.user_id = p_user_id))
      ORDER BY v.normal_form COLLATE "C", v.node_id LIMIT p_limit
    ) AS m;
  END IF;
  IF p_known_at IS NOT NULL THEN
    RETURN QUERY
    SELECT DISTINCT m.form, m.node_id FROM (
      SELECT v.label_form AS form, v.node_id, v.valid_from, v.valid_to FROM node_versions AS v
      WHERE v.user_id = p_user_id AND v.recorded_to < 'infinity' AND v.recorded_to > p_known_at
        AND v.recorded_from <= p_known_at
      UNION ALL
      SELECT v.normal_form COLLATE "C", v.node_id, v.valid_from, v.valid_to FROM aliases AS v
      WHERE v.user_id = p_user_id AND v.recorded_to < 'infinity' AND v.recorded_to > p_known_at
        AND v.recorded_from <= p_known_at AND p_wanted <> ''
    ) AS m
    WHERE (m.form, m.node_id) > (p_after_form COLLATE "C", behind) AND m.valid_from <= moment AND m.valid_to > since
      AND memsvc.name_tier(m.form, p_wanted) = p_tier
      AND (p_type IS NULL
        OR m.node_id IN (SELECT o.node_id FROM node_versions AS o WHERE o.user_id = p_user_id AND o.type = p_type)
        OR m.node_id IN (SELECT g.node_id FROM merges AS g WHERE g.user_id = p_user_id))
    ORDER BY m.form, m.node_id LIMIT p_limit;
  END IF;
END
$$;

ALTER FUNCTION memsvc.names_matching(p_user_id uuid, p_wanted text, p_tier integer, p_type text, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_after_form text, p_after_node uuid, p_limit integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.names_matching(p_user_id uuid, p_wanted text, p_tier integer, p_type text, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_after_form text, p_after_node uuid, p_limit integer) IS 'Labels and names that fit what is looked for, of one tier; the first few of each kind.';

CREATE FUNCTION memsvc.names_with_words(p_user_id uuid, p_forms text[], p_limit integer) RETURNS TABLE(form text, node_id uuid, similarity double precision)
    LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 10
    SET search_path TO 'memsvc', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    AS $$
#variable_conflict use_column
DECLARE
  asker CONSTANT uuid := memsvc.require_identity(p_user_id);
  -- pg_trgm's setting exists once its library is loaded, by its first call; so no SET above.
  same CONSTANT real := similarity('a', 'a');
  threshold CONSTANT text := current_setting('pg_trgm.word_similarity_threshold');
BEGIN
  PERFORM set_config('pg_trgm.word_similarity_threshold', (0.9 * same)::text, true);
  RETURN QUERY
  SELECT w.form, n.node_id, n.similarity::double precision
  FROM unnest(p_forms) AS w (form)
  CROSS JOIN LATERAL (
    (SELECT v.user_id, v.node_id, similarity(v.label_form, w.form) AS similarity
    FROM node_versions AS v
    WHERE ARRAY[v.user_id] @> ARRAY[asker] AND v.label_form %> w.form AND v.recorded_to = 'infinity'
    LIMIT p_limit)
    UNION ALL
    (SELECT v.user_id, v.node_id, similarity(v.normal_form, w.form)
    FROM aliases AS v
    WHERE ARRAY[v.user_id] @> ARRAY[asker] AND v.normal_form %> w.form AND v.recorded_to = 'infinity'
    LIMIT p_limit)
  ) AS n
  WHERE n.user_id = asker;
  PERFORM set_config('pg_trgm.word_similarity_threshold', threshold, true);
END
$$;

ALTER FUNCTION memsvc.names_with_words(p_user_id uuid, p_forms text[], p_limit integer) OWNER TO memsvc_recall;

COMMENT ON FUNCTION memsvc.names_with_words(p_user_id uuid, p_forms text[], p_limit integer) IS 'Labels and names in which these forms stand as whole words.';

CREATE FUNCTION memsvc.pairs_of_signs(p_text text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN regexp_replace(regexp_replace(p_text, (((((((((('[^'::text || memsvc.signs()) || '\uAC00-\uD7A3]+'::text) || '|(?<!['::text) || memsvc.signs()) || '])['::text) || memsvc.signs()) || '](?!['::text) || memsvc.signs()) || '])'::text) || '|(?<![\uAC00-\uD7A3])[\uAC00-\uD7A3]{1,2}(?![\uAC00-\uD7A3])'::text), ' '::text, 'g'::text), (((((('(?<=['::text || memsvc.signs()) || '\uAC00-\uD7A3])(['::text) || memsvc.signs()) || '\uAC00-\uD7A3])(?=['::text) || memsvc.signs()) || '\uAC00-\uD7A3])'::text), '\1 \1'::text, 'g'::text);

ALTER FUNCTION memsvc.pairs_of_signs(p_text text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.pairs_of_signs(p_text text) IS 'Each two neighbouring Chinese or Japanese signs of a text, and syllables of longer Korean words, as words.';

CREATE FUNCTION memsvc.plain_words(p_text text) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN array_remove(regexp_split_to_array(lower(p_text), '[^[:alnum:]]+'::text), ''::text);

ALTER FUNCTION memsvc.plain_words(p_text text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.plain_words(p_text text) IS 'A text''s words in small letters, without signs.';

CREATE FUNCTION memsvc.set_signs_apart(p_text text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN memsvc.has_signs(p_text) THEN ((regexp_replace(p_text, (('(['::text || memsvc.signs()) || '])'::text), ' \1 '::text, 'g'::text) || ' '::text) || memsvc.pairs_of_signs(p_text)) ELSE p_text END;

ALTER FUNCTION memsvc.set_signs_apart(p_text text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.set_signs_apart(p_text text) IS 'The text with each Chinese or Japanese sign as a word of its own, and the pairs of neighbours behind it.';

CREATE FUNCTION memsvc.stop_signs() RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN string_to_array('的了着过地得吗呢吧啊呀嘛哦嗯么之其我你您他她它们這这那哪谁誰是有在和与與及或但而也都就还還又很太更最不没沒把被给給对對从從向到跟让讓为為于於以所因如若则則且們嗎過ぁあぃいぅうぇえぉおかがきぎくぐけげこごさざしじすずせぜそぞただちぢっつづてでとどなにぬねのはばぱひびぴふぶぷへべぺほぼぽまみむめもゃやゅゆょよらりるれろわをんー'::text, NULL::text);

ALTER FUNCTION memsvc.stop_signs() OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.stop_signs() IS 'Single Chinese and Japanese signs that the stemmed form leaves out.';

CREATE FUNCTION memsvc.to_words(p_form text, p_language text, p_text text) RETURNS tsvector
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (CASE WHEN ((p_form = 'stemmed'::text) AND memsvc.has_signs(p_text)) THEN ts_delete(to_tsvector((('pg_catalog.'::text || quote_ident(p_language)))::regconfig, memsvc.set_signs_apart(p_text)), memsvc.stop_signs()) ELSE to_tsvector(CASE p_form WHEN 'simple'::text THEN 'simple'::regconfig ELSE (('pg_catalog.'::text || quote_ident(p_language)))::regconfig END, memsvc.set_signs_apart(p_text)) END || CASE WHEN memsvc.has_exact_words(p_text) THEN array_to_tsvector(memsvc.exact_words(p_form, p_language, p_text)) ELSE ''::tsvector END);

ALTER FUNCTION memsvc.to_words(p_form text, p_language text, p_text text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.to_words(p_form text, p_language text, p_text text) IS 'Lexemes of a text, stemmed by its language or simple.';

CREATE FUNCTION memsvc.naming_words(p_query text, p_language text) RETURNS text[]
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN ARRAY(SELECT w.word FROM unnest((memsvc.plain_words(naming_words.p_query))[:64]) w(word) WHERE (memsvc.to_words('stemmed'::text, naming_words.p_language, w.word) <> ''::tsvector));

ALTER FUNCTION memsvc.naming_words(p_query text, p_language text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.naming_words(p_query text, p_language text) IS 'The words of a query by which it can name who speaks.';

CREATE FUNCTION memsvc.nearby(p_user_id uuid, p_latitude double precision, p_longitude double precision, p_radius_m double precision, p_box double precision[], p_types text[], p_from timestamp with time zone, p_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_limit integer) RETURNS TABLE(canonical_id uuid, node_id uuid, location_id uuid, label text, type text, latitude double precision, longitude double precision, radius_m double precision, metres double precision, valid_from timestamp with time zone, valid_to timestamp with time zone, recorded_from timestamp with time zone, recorded_to timestamp with time zone)
    LANGUAGE plpgsql STABLE ROWS 50
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  known CONSTANT timestamptz := coalesce(p_known_at, 'infinity');
  merged CONSTANT boolean := memsvc.any_merges(p_user_id, p_known_at);
  merged_nodes uuid[] := '{}'; -- those for which others stand
  fitting uuid[] := '{}'; -- of these, the ones for which a node of such a type stands
BEGIN
  IF merged AND p_types IS NOT NULL THEN
    merged_nodes := ARRAY(
      SELECT m.node_id FROM merges AS m
      WHERE m.user_id = p_user_id AND m.recorded_from <= known AND (m.recorded_to = 'infinity' OR m.recorded_to > known)
    );
    fitting := ARRAY(
      SELECT r.node_id FROM memsvc.resolve_nodes(p_user_id, merged_nodes, p_known_at) AS r
      WHERE r.canonical_id IN (
        SELECT s.node_id FROM memsvc.node_states(p_user_id, merged_nodes, NULL, p_known_at) AS s
        WHERE s.type = ANY (p_types) AND s.valid_from < p_to AND s.valid_to > p_from
      )
    );
  END IF;
  RETURN QUERY
  WITH found AS MATERIALIZED (
    SELECT m.* FROM memsvc.match_locations(
      p_user_id, p_latitude, p_longitude, p_radius_m, p_box, p_types, merged_nodes, fitting, p_from, p_to, p_known_at,
      p_limit
    ) AS m
  )
  SELECT c.canonical_id, l.node_id, l.location_id, c.label, c.type, l.latitude, l.longitude, l.radius_m, f.metres,
    l.valid_from, l.valid_to, l.recorded_from, nullif(l.recorded_to, 'infinity')
  FROM found AS f
  INNER JOIN locations AS l ON l.user_id = p_user_id AND l.location_id = f.location_id
  INNER JOIN memsvc.node_cards(p_user_id, ARRAY(SELECT DISTINCT n.node_id FROM found AS n), p_as_of, p_known_at) AS c
    ON c.node_id = l.node_id
  ORDER BY f.metres, l.location_id;
END
$$;

ALTER FUNCTION memsvc.nearby(p_user_id uuid, p_latitude double precision, p_longitude double precision, p_radius_m double precision, p_box double precision[], p_types text[], p_from timestamp with time zone, p_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_limit integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.nearby(p_user_id uuid, p_latitude double precision, p_longitude double precision, p_radius_m double precision, p_box double precision[], p_types text[], p_from timestamp with time zone, p_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_limit integer) IS 'What is near a point, the nearest first.';

CREATE FUNCTION memsvc.neighbourhood(p_user_id uuid, p_nodes uuid[], p_hops integer, p_types text[] DEFAULT NULL::text[], p_side text DEFAULT 'both'::text, p_fan_out integer DEFAULT 25, p_limit integer DEFAULT 200, p_as_of timestamp with time zone DEFAULT NULL::timestamp with time zone, p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(node_id uuid, hop integer, parent_id uuid, version_id uuid, truncated boolean)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  merged CONSTANT boolean := memsvc.any_merges(p_user_id, p_known_at);
  nodes uuid[] := CASE WHEN cardinality(p_nodes) > 1 OR merged THEN memsvc.standing_for(p_user_id, p_nodes, p_known_at)
    ELSE p_nodes END;
  hops integer[] := array_fill(0, ARRAY[cardinality(nodes)]);
  parents uuid[] := array_fill(NULL::uuid, ARRAY[cardinality(nodes)]);
  versions uuid[] := parents;
  frontier uuid[] := nodes;
  cut boolean := false;
  room integer;
  most integer;
  weakest real;
  weakest_version uuid;
  step record;
BEGIN
  FOR number IN 1 .. p_hops LOOP
    EXIT WHEN frontier = '{}';
    room := CASE WHEN p_limit IS NOT NULL THEN greatest(p_limit - cardinality(nodes), 0) END;
    most := least(p_fan_out, 4 * (room / cardinality(frontier) + 1));
    weakest := 0;
    weakest_version := '00000000-0000-0000-0000-000000000000';
    LOOP
      SELECT c.* INTO step FROM memsvc.next_circle(
        p_user_id, frontier, nodes, room, p_types, p_side, most, p_as_of, p_known_at, merged, weakest, weakest_version
      ) AS c;
      EXIT WHEN NOT step.more OR most IS NOT DISTINCT FROM p_fan_out;
      IF step.found > room THEN
        frontier := step.starts;
        weakest := step.weight;
        weakest_version := step.version_id;
        most := p_fan_out;
      ELSE
        most := least(p_fan_out, 4 * most);
      END IF;
    END LOOP;
    cut := cut OR step.more OR coalesce(step.found > room, false);
    EXIT WHEN step.nodes IS NULL;
    frontier := step.nodes;
    nodes := nodes || step.nodes;
    hops := hops || array_fill(number, ARRAY[cardinality(step.nodes)]);
    parents := parents || step.parents;
    versions := versions || step.versions;
    EXIT WHEN cut AND cardinality(nodes) >= p_limit; -- else the next hop tells whether there is more
  END LOOP;
  RETURN QUERY SELECT n.*, cut FROM unnest(nodes, hops, parents, versions) AS n;
END
$$;

ALTER FUNCTION memsvc.neighbourhood(p_user_id uuid, p_nodes uuid[], p_hops integer, p_types text[], p_side text, p_fan_out integer, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.neighbourhood(p_user_id uuid, p_nodes uuid[], p_hops integer, p_types text[], p_side text, p_fan_out integer, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) IS 'Nodes within some hops of the given ones, nearest first.';

CREATE FUNCTION memsvc.open_edges(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_side text, p_most integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_weight real, p_version uuid) RETURNS TABLE(start_id uuid, other_id uuid, version_id uuid, weight real)
    LANGUAGE plpgsql STABLE ROWS 500
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_incremental_sort TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  moment CONSTANT timestamptz := coalesce(p_as_of, 'infinity');
  ended CONSTANT timestamptz := coalesce(p_as_of, '-infinity');
  known CONSTANT timestamptz := coalesce(p_known_at, 'infinity');
  any_ends CONSTANT boolean := EXISTS (
    SELECT FROM edge_versions AS v
    WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.valid_to < 'infinity' AND v.valid_to > ended
    ORDER BY v.valid_to OFFSET 0
  );
BEGIN
  IF p_side <> 'to' THEN
    RETURN QUERY
    SELECT s.start_id, x.* FROM memsvc.with_same(p_starts, p_nodes) AS s CROSS JOIN LATERAL (
      SELECT v.to_node, v.version_id, v.weight FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.from_node = s.node_id AND v.recorded_to = 'infinity'
        AND v.valid_to = 'infinity' AND v.valid_from <= moment AND v.recorded_from <= known
        AND v.to_node <> ALL (s.same) AND (v.weight, v.version_id) >= (p_weight, p_version)
      ORDER BY v.weight DESC, v.version_id DESC LIMIT p_most
    ) AS x LIMIT p_total;
  END IF;
  IF p_side <> 'to' AND any_ends THEN
    RETURN QUERY
    SELECT s.start_id, x.* FROM memsvc.with_same(p_starts, p_nodes) AS s CROSS JOIN LATERAL (
      SELECT o.* FROM (
        SELECT v.to_node, v.version_id, v.weight FROM edge_versions AS v
        WHERE v.user_id = p_user_id AND v.from_node = s.node_id AND v.recorded_to = 'infinity'
          AND v.valid_to < 'infinity' AND v.valid_to > ended AND v.valid_from <= moment AND v.recorded_from <= known
          AND v.to_node <> ALL (s.same) AND (v.weight, v.version_id) >= (p_weight, p_version)
        ORDER BY v.valid_to, v.weight DESC, v.version_id DESC
      ) AS o ORDER BY o.weight DESC, o.version_id DESC LIMIT p_most
    ) AS x LIMIT p_total;
  END IF;
  IF p_side <> 'from' THEN
    RETURN QUERY
    SELECT s.start_id, x.* FROM memsvc.with_same(p_starts, p_nodes) AS s CROSS JOIN LATERAL (
      SELECT v.from_node, v.version_id, v.weight FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.to_node = s.node_id AND v.recorded_to = 'infinity'
        AND v.valid_to = 'infinity' AND v.valid_from <= moment AND v.recorded_from <= known
        AND v.from_node <> ALL (s.same) AND (v.weight, v.version_id) >= (p_weight, p_version)
      ORDER BY v.weight DESC, v.version_id DESC LIMIT p_most
    ) AS x LIMIT p_total;
  END IF;
  IF p_side <> 'from' AND any_ends THEN
    RETURN QUERY
    SELECT s.start_id, x.* FROM memsvc.with_same(p_starts, p_nodes) AS s CROSS JOIN LATERAL (
      SELECT o.* FROM (
        SELECT v.from_node, v.version_id, v.weight FROM edge_versions AS v
        WHERE v.user_id = p_user_id AND v.to_node = s.node_id AND v.recorded_to = 'infinity'
          AND v.valid_to < 'infinity' AND v.valid_to > ended AND v.valid_from <= moment AND v.recorded_from <= known
          AND v.from_node <> ALL (s.same) AND (v.weight, v.version_id) >= (p_weight, p_version)
        ORDER BY v.valid_to, v.weight DESC, v.version_id DESC
      ) AS o ORDER BY o.weight DESC, o.version_id DESC LIMIT p_most
    ) AS x LIMIT p_total;
  END IF;
END
$$;

ALTER FUNCTION memsvc.open_edges(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_side text, p_most integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_weight real, p_version uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.open_edges(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_side text, p_most integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_weight real, p_version uuid) IS 'Open edges at stored nodes, the strongest of each.';

CREATE FUNCTION memsvc.open_edges_typed(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_types text[], p_side text, p_most integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_weight real, p_version uuid) RETURNS TABLE(start_id uuid, other_id uuid, version_id uuid, weight real)
    LANGUAGE plpgsql STABLE ROWS 500
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_incremental_sort TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  moment CONSTANT timestamptz := coalesce(p_as_of, 'infinity');
  ended CONSTANT timestamptz := coalesce(p_as_of, '-infinity');
  known CONSTANT timestamptz := coalesce(p_known_at, 'infinity');
  types CONSTANT text[] := ARRAY(SELECT DISTINCT u.type FROM unnest(p_types) AS u (type));
  any_ends CONSTANT boolean := EXISTS (
    SELECT FROM edge_versions AS v
    WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.valid_to < 'infinity' AND v.valid_to > ended
    ORDER BY v.valid_to OFFSET 0
  );
BEGIN
  IF p_side <> 'to' THEN
    RETURN QUERY
    SELECT s.start_id, x.* FROM memsvc.with_same(p_starts, p_nodes) AS s
    CROSS JOIN unnest(types) AS t (type)
    CROSS JOIN LATERAL (
      SELECT v.to_node, v.version_id, v.weight FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.from_node = s.node_id AND v.type = ANY (ARRAY[t.type])
        AND v.recorded_to = 'infinity' AND v.valid_to = 'infinity' AND v.valid_from <= moment
        AND v.recorded_from <= known AND v.to_node <> ALL (s.same)
        AND (v.weight, v.version_id) >= (p_weight, p_version)
      ORDER BY v.type, v.weight DESC, v.version_id DESC LIMIT p_most
    ) AS x LIMIT p_total;
  END IF;
  IF p_side <> 'to' AND any_ends THEN
    RETURN QUERY
    SELECT s.start_id, x.* FROM memsvc.with_same(p_starts, p_nodes) AS s
    CROSS JOIN unnest(types) AS t (type)
    CROSS JOIN LATERAL (
      SELECT o.* FROM (
        SELECT v.to_node, v.version_id, v.weight FROM edge_versions AS v
        WHERE v.user_id = p_user_id AND v.from_node = s.node_id AND v.type = ANY (ARRAY[t.type])
          AND v.recorded_to = 'infinity' AND v.valid_to < 'infinity' AND v.valid_to > ended AND v.valid_from <= moment
          AND v.recorded_from <= known AND v.to_node <> ALL (s.same)
          AND (v.weight, v.version_id) >= (p_weight, p_version)
        ORDER BY v.type, v.valid_to, v.weight DESC, v.version_id DESC
      ) AS o ORDER BY o.weight DESC, o.version_id DESC LIMIT p_most
    ) AS x LIMIT p_total;
  END IF;
  IF p_side <> 'from' THEN
    RETURN QUERY
    SELECT s.start_id, x.* FROM memsvc.with_same(p_starts, p_nodes) AS s
    CROSS JOIN unnest(types) AS t (type)
    CROSS JOIN LATERAL (
      SELECT v.from_node, v.version_id, v.weight FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.to_node = s.node_id AND v.type = ANY (ARRAY[t.type])
        AND v.recorded_to = 'infinity' AND v.valid_to = 'infinity' AND v.valid_from <= moment
        AND v.recorded_from <= known AND v.from_node <> ALL (s.same)
        AND (v.weight, v.version_id) >= (p_weight, p_version)
      ORDER BY v.type, v.weight DESC, v.version_id DESC LIMIT p_most
    ) AS x LIMIT p_total;
  END IF;
  IF p_side <> 'from' AND any_ends THEN
    RETURN QUERY
    SELECT s.start_id, x.* FROM memsvc.with_same(p_starts, p_nodes) AS s
    CROSS JOIN unnest(types) AS t (type)
    CROSS JOIN LATERAL (
      SELECT o.* FROM (
        SELECT v.from_node, v.version_id, v.weight FROM edge_versions AS v
        WHERE v.user_id = p_user_id AND v.to_node = s.node_id AND v.type = ANY (ARRAY[t.type])
          AND v.recorded_to = 'infinity' AND v.valid_to < 'infinity' AND v.valid_to > ended AND v.valid_from <= moment
          AND v.recorded_from <= known AND v.from_node <> ALL (s.same)
          AND (v.weight, v.version_id) >= (p_weight, p_version)
        ORDER BY v.type, v.valid_to, v.weight DESC, v.version_id DESC
      ) AS o ORDER BY o.weight DESC, o.version_id DESC LIMIT p_most
    ) AS x LIMIT p_total;
  END IF;
END
$$;

ALTER FUNCTION memsvc.open_edges_typed(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_types text[], p_side text, p_most integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_weight real, p_version uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.open_edges_typed(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_types text[], p_side text, p_most integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_weight real, p_version uuid) IS 'Open edges of some types at stored nodes, the strongest of each.';

CREATE FUNCTION memsvc.past_edges(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_types text[], p_side text, p_most integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_weight real, p_version uuid) RETURNS TABLE(start_id uuid, other_id uuid, version_id uuid, weight real)
    LANGUAGE plpgsql STABLE ROWS 500
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_incremental_sort TO 'off'
    AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT s.start_id, x.other_id, x.version_id, x.weight
  FROM memsvc.with_same(p_starts, p_nodes) AS s
  CROSS JOIN LATERAL (
    SELECT b.* FROM (
      (SELECT v.to_node AS other_id, v.version_id, v.weight FROM edge_versions AS v
      WHERE p_side <> 'to' AND v.user_id = p_user_id AND v.from_node = s.node_id AND v.recorded_to < 'infinity'
        AND v.recorded_to > p_known_at AND v.recorded_from <= p_known_at
        AND (p_as_of IS NULL OR (v.valid_from <= p_as_of AND v.valid_to > p_as_of))
        AND (p_types IS NULL OR v.type = ANY (p_types)) AND v.to_node <> ALL (s.same)
        AND (v.weight, v.version_id) >= (p_weight, p_version)
      ORDER BY v.type OFFSET 0)
      UNION ALL
      (SELECT v.from_node, v.version_id, v.weight FROM edge_versions AS v
      WHERE p_side <> 'from' AND v.user_id = p_user_id AND v.to_node = s.node_id AND v.recorded_to < 'infinity'
        AND v.recorded_to > p_known_at AND v.recorded_from <= p_known_at
        AND (p_as_of IS NULL OR (v.valid_from <= p_as_of AND v.valid_to > p_as_of))
        AND (p_types IS NULL OR v.type = ANY (p_types)) AND v.from_node <> ALL (s.same)
        AND (v.weight, v.version_id) >= (p_weight, p_version)
      ORDER BY v.type OFFSET 0)
    ) AS b
    ORDER BY b.weight DESC, b.version_id DESC LIMIT p_most
  ) AS x
  LIMIT p_total;
END
$$;

ALTER FUNCTION memsvc.past_edges(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_types text[], p_side text, p_most integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_weight real, p_version uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.past_edges(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_types text[], p_side text, p_most integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_weight real, p_version uuid) IS 'Edges at stored nodes that were known once, the strongest of each.';

CREATE FUNCTION memsvc.stored_hop(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_types text[], p_side text, p_fan_out integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_weight real, p_version uuid) RETURNS TABLE(start_id uuid, other_id uuid, version_id uuid, weight real, nth bigint)
    LANGUAGE sql STABLE ROWS 500
    BEGIN ATOMIC
 SELECT f.start_id,
     f.other_id,
     f.version_id,
     f.weight,
     row_number() OVER (PARTITION BY f.start_id ORDER BY f.weight DESC, f.version_id DESC) AS row_number
    FROM ( SELECT e.start_id,
             e.other_id,
             e.version_id,
             e.weight
            FROM memsvc.open_edges(stored_hop.p_user_id, stored_hop.p_starts, stored_hop.p_nodes, stored_hop.p_side, (stored_hop.p_fan_out + 1), stored_hop.p_total, stored_hop.p_as_of, stored_hop.p_known_at, stored_hop.p_weight, stored_hop.p_version) e(start_id, other_id, version_id, weight)
           WHERE (stored_hop.p_types IS NULL)
         UNION ALL
          SELECT e.start_id,
             e.other_id,
             e.version_id,
             e.weight
            FROM memsvc.open_edges_typed(stored_hop.p_user_id, stored_hop.p_starts, stored_hop.p_nodes, stored_hop.p_types, stored_hop.p_side, (stored_hop.p_fan_out + 1), stored_hop.p_total, stored_hop.p_as_of, stored_hop.p_known_at, stored_hop.p_weight, stored_hop.p_version) e(start_id, other_id, version_id, weight)
           WHERE (stored_hop.p_types IS NOT NULL)
         UNION ALL
          SELECT e.start_id,
             e.other_id,
             e.version_id,
             e.weight
            FROM memsvc.past_edges(stored_hop.p_user_id, stored_hop.p_starts, stored_hop.p_nodes, stored_hop.p_types, stored_hop.p_side, (stored_hop.p_fan_out + 1), stored_hop.p_total, stored_hop.p_as_of, stored_hop.p_known_at, stored_hop.p_weight, stored_hop.p_version) e(start_id, other_id, version_id, weight)
           WHERE (stored_hop.p_known_at IS NOT NULL)
  LIMIT stored_hop.p_total) f;
END;

ALTER FUNCTION memsvc.stored_hop(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_types text[], p_side text, p_fan_out integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_weight real, p_version uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.stored_hop(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_types text[], p_side text, p_fan_out integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_weight real, p_version uuid) IS 'Edges at stored nodes, the strongest of each.';

CREATE FUNCTION memsvc.next_circle(p_user_id uuid, p_starts uuid[], p_seen uuid[], p_room integer, p_types text[], p_side text, p_fan_out integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_merged boolean, p_weight real, p_version uuid) RETURNS TABLE(nodes uuid[], parents uuid[], versions uuid[], found bigint, more boolean, weight real, version_id uuid, starts uuid[])
    LANGUAGE sql STABLE ROWS 1
    BEGIN ATOMIC
 WITH edge AS MATERIALIZED (
          SELECT h.start_id,
             h.other_id AS reached_id,
             h.version_id,
             h.weight,
             h.nth
            FROM memsvc.stored_hop(next_circle.p_user_id, next_circle.p_starts, next_circle.p_starts, next_circle.p_types, next_circle.p_side, next_circle.p_fan_out, NULL::integer, next_circle.p_as_of, next_circle.p_known_at, next_circle.p_weight, next_circle.p_version) h(start_id, other_id, version_id, weight, nth)
           WHERE (NOT next_circle.p_merged)
         UNION ALL
          SELECT h.start_id,
             h.reached_id,
             h.version_id,
             h.weight,
             h.nth
            FROM memsvc.hop(next_circle.p_user_id, next_circle.p_starts, next_circle.p_types, next_circle.p_side, next_circle.p_fan_out, NULL::integer, next_circle.p_as_of, next_circle.p_known_at, true, next_circle.p_weight, next_circle.p_version) h(start_id, reached_id, version_id, weight, nth)
           WHERE next_circle.p_merged
         ), fresh AS MATERIALIZED (
          SELECT d.start_id,
             d.reached_id,
             d.version_id,
             d.weight,
             d.nth,
             row_number() OVER (ORDER BY d.weight DESC, d.version_id DESC) AS place
            FROM ( SELECT DISTINCT ON (e.reached_id) e.start_id,
                     e.reached_id,
                     e.version_id,
                     e.weight,
                     e.nth
                    FROM edge e
                   WHERE (((next_circle.p_fan_out IS NULL) OR (e.nth <= next_circle.p_fan_out)) AND (NOT (e.reached_id IN ( SELECT unnest(next_circle.p_seen) AS unnest))))
                   ORDER BY e.reached_id, e.weight DESC, e.version_id DESC) d
         ), left_out AS (
          SELECT f_1.weight,
             f_1.version_id
            FROM fresh f_1
           WHERE (f_1.place = (next_circle.p_room + 1))
         )
  SELECT array_agg(f.reached_id ORDER BY f.place) FILTER (WHERE ((f.place <= next_circle.p_room) OR (next_circle.p_room IS NULL))) AS array_agg,
     array_agg(f.start_id ORDER BY f.place) FILTER (WHERE ((f.place <= next_circle.p_room) OR (next_circle.p_room IS NULL))) AS array_agg,
     array_agg(f.version_id ORDER BY f.place) FILTER (WHERE ((f.place <= next_circle.p_room) OR (next_circle.p_room IS NULL))) AS array_agg,
     count(*) AS count,
     (EXISTS ( SELECT
            FROM (edge e
              LEFT JOIN left_out h ON (true))
           WHERE ((e.nth > next_circle.p_fan_out) AND ((h.weight IS NULL) OR (ROW(e.weight, e.version_id) > ROW(h.weight, h.version_id)))))) AS "exists",
     ( SELECT h.weight
            FROM left_out h) AS weight,
     ( SELECT h.version_id
            FROM left_out h) AS version_id,
     ARRAY( SELECT e.start_id
            FROM (edge e
              JOIN left_out h ON ((ROW(e.weight, e.version_id) >= ROW(h.weight, h.version_id))))
           WHERE (e.nth = 1)) AS "array"
    FROM fresh f;
END;

ALTER FUNCTION memsvc.next_circle(p_user_id uuid, p_starts uuid[], p_seen uuid[], p_room integer, p_types text[], p_side text, p_fan_out integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_merged boolean, p_weight real, p_version uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.next_circle(p_user_id uuid, p_starts uuid[], p_seen uuid[], p_room integer, p_types text[], p_side text, p_fan_out integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_merged boolean, p_weight real, p_version uuid) IS 'The nodes one hop away that are not seen yet, by the strongest edges.';

CREATE FUNCTION memsvc.next_level(p_user_id uuid, p_frontier uuid[], p_seen uuid[], p_types text[], p_side text, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_merged boolean) RETURNS TABLE(nodes uuid[], starts uuid[], ends uuid[], versions uuid[], weights real[], looked bigint)
    LANGUAGE plpgsql STABLE ROWS 1
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH edge AS MATERIALIZED (
    SELECT e.* FROM memsvc.hop(
      p_user_id, p_frontier, p_types, p_side, NULL, p_total, p_as_of, p_known_at, p_merged
    ) AS e
  ),
  fresh AS MATERIALIZED (
    SELECT DISTINCT ON (e.reached_id, e.start_id) e.* FROM edge AS e
    WHERE e.reached_id NOT IN (SELECT unnest(p_seen))
    ORDER BY e.reached_id, e.start_id, e.weight DESC, e.version_id DESC
  )
  SELECT coalesce(array_agg(DISTINCT f.reached_id), '{}'), coalesce(array_agg(f.start_id), '{}'),
    coalesce(array_agg(f.reached_id), '{}'), coalesce(array_agg(f.version_id), '{}'),
    coalesce(array_agg(f.weight), '{}'), (SELECT count(*) FROM edge AS e)
  FROM fresh AS f;
END
$$;

ALTER FUNCTION memsvc.next_level(p_user_id uuid, p_frontier uuid[], p_seen uuid[], p_types text[], p_side text, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_merged boolean) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.next_level(p_user_id uuid, p_frontier uuid[], p_seen uuid[], p_types text[], p_side text, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_merged boolean) IS 'The next level of a search for paths.';

CREATE FUNCTION memsvc.next_run(p_zone text, p_at time without time zone, p_weekdays smallint[], p_after timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
DECLARE
  zone CONSTANT text := memsvc.known_zone(p_zone);
  today CONSTANT date := (p_after AT TIME ZONE zone)::date;
  moment timestamptz;
BEGIN
  FOR ahead IN 0..14 LOOP
    IF p_weekdays IS NULL OR extract(isodow FROM today + ahead) = ANY (p_weekdays) THEN
      moment := memsvc.clock_reaches(zone, today + ahead + p_at);
      IF moment > p_after THEN
        RETURN moment;
      END IF;
    END IF;
  END LOOP;
  RETURN NULL;
END
$$;

ALTER FUNCTION memsvc.next_run(p_zone text, p_at time without time zone, p_weekdays smallint[], p_after timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.next_run(p_zone text, p_at time without time zone, p_weekdays smallint[], p_after timestamp with time zone) IS 'When work is due next by the clock of a zone, once a date.';

CREATE FUNCTION memsvc.node_cards(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone DEFAULT NULL::timestamp with time zone, p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(node_id uuid, canonical_id uuid, type text, label text, description text, data jsonb, importance real, holds boolean)
    LANGUAGE plpgsql STABLE ROWS 100
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_incremental_sort TO 'off'
    SET enable_nestloop TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  moment CONSTANT timestamptz := coalesce(p_as_of, clock_timestamp());
  canonical uuid[] := p_nodes;
  stored uuid[] := p_nodes;
BEGIN
  IF p_nodes = '{}' THEN
    RETURN;
  END IF;
  IF memsvc.any_merges(p_user_id, p_known_at) THEN
    SELECT array_agg(s.canonical_id), array_agg(s.node_id) INTO canonical, stored
    FROM memsvc.same_nodes(p_user_id, p_nodes, p_known_at) AS s;
  END IF;
  RETURN QUERY
  WITH same AS MATERIALIZED (
    SELECT DISTINCT u.* FROM unnest(canonical, stored) AS u (canonical_id, node_id)
  ),
  version AS (
    (SELECT v.* FROM node_versions AS v
    WHERE v.user_id = p_user_id AND v.node_id = ANY (stored) AND v.recorded_to = 'infinity'
      AND v.recorded_from <= coalesce(p_known_at, 'infinity')
    ORDER BY v.node_id OFFSET 0)
    UNION ALL
    (SELECT v.* FROM node_versions AS v
    WHERE p_known_at IS NOT NULL AND v.user_id = p_user_id AND v.node_id = ANY (stored)
      AND v.recorded_to < 'infinity' AND v.recorded_from <= p_known_at AND v.recorded_to > p_known_at
    ORDER BY v.node_id OFFSET 0)
  ),
  card AS (
    SELECT DISTINCT ON (s.canonical_id) s.canonical_id, v.type, v.label, v.description, v.data, v.importance,
      v.valid_from <= moment AND v.valid_to > moment AS holds
    FROM same AS s
    INNER JOIN version AS v ON v.node_id = s.node_id
    ORDER BY s.canonical_id, holds DESC, v.node_id = s.canonical_id DESC, v.valid_from DESC, v.version_id
  )
  SELECT s.node_id, s.canonical_id, c.type, c.label, c.description, c.data, c.importance, coalesce(c.holds, false)
  FROM same AS s LEFT JOIN card AS c ON c.canonical_id = s.canonical_id
  WHERE s.node_id IN (SELECT n.* FROM unnest(p_nodes) AS n);
END
$$;

ALTER FUNCTION memsvc.node_cards(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.node_cards(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) IS 'How nodes are shown: one label, type and description for each.';

CREATE FUNCTION memsvc.node_in_focus(p_user_id uuid, p_recall_id uuid) RETURNS TABLE(node json)
    LANGUAGE plpgsql STABLE ROWS 1
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  found uuid;
BEGIN
  SELECT coalesce(f.from_node, s.node_id) INTO found
  FROM recall_events AS r
  CROSS JOIN unnest(r.memories[:10]) WITH ORDINALITY AS m (memory_id, place)
  LEFT JOIN LATERAL (
    SELECT v.from_node FROM edge_versions AS v WHERE v.user_id = p_user_id AND v.version_id = m.memory_id OFFSET 0
  ) AS f ON true
  LEFT JOIN LATERAL (
    SELECT coalesce(l.node_id, n.node_id, e.from_node) AS node_id
    FROM source_links AS l
    LEFT JOIN node_versions AS n ON n.user_id = p_user_id AND n.version_id = l.node_version_id
    LEFT JOIN edge_versions AS e ON e.user_id = p_user_id AND e.version_id = l.edge_version_id
    WHERE f.from_node IS NULL AND l.user_id = p_user_id AND l.passage_id = m.memory_id
      AND l.recorded_to = 'infinity' AND coalesce(l.node_id, n.node_id, e.from_node) IS NOT NULL
    ORDER BY l.recorded_from DESC LIMIT 1
  ) AS s ON true
  WHERE r.user_id = p_user_id AND r.recall_id = p_recall_id AND coalesce(f.from_node, s.node_id) IS NOT NULL
  ORDER BY m.place LIMIT 1;
  IF found IS NOT NULL THEN
    RETURN QUERY
    SELECT g.nodes -> 0
    FROM memsvc.graph_shown(p_user_id, memsvc.standing_for(p_user_id, ARRAY[found]), '{0}', '{}') AS g;
  END IF;
END
$$;

ALTER FUNCTION memsvc.node_in_focus(p_user_id uuid, p_recall_id uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.node_in_focus(p_user_id uuid, p_recall_id uuid) IS 'The node that a recall is about, as it is drawn.';

CREATE FUNCTION memsvc.node_locations(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone DEFAULT NULL::timestamp with time zone, p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(canonical_id uuid, node_id uuid, location_id uuid, latitude double precision, longitude double precision, radius_m double precision, asserted_by text, valid_from timestamp with time zone, valid_to timestamp with time zone, recorded_from timestamp with time zone, recorded_to timestamp with time zone)
    LANGUAGE sql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    BEGIN ATOMIC
 SELECT s.canonical_id,
     v.node_id,
     v.location_id,
     v.latitude,
     v.longitude,
     v.radius_m,
     v.asserted_by,
     v.valid_from,
     v.valid_to,
     v.recorded_from,
     v.recorded_to
    FROM (memsvc.same_nodes(node_locations.p_user_id, node_locations.p_nodes, node_locations.p_known_at) s(canonical_id, node_id)
      CROSS JOIN LATERAL ( SELECT o.user_id,
             o.location_id,
             o.node_id,
             o.latitude,
             o.longitude,
             o.radius_m,
             o.asserted_by,
             o.derived_from,
             o.valid_from,
             o.valid_to,
             o.recorded_from,
             o.recorded_to
            FROM memsvc.locations o
           WHERE ((o.user_id = node_locations.p_user_id) AND (o.node_id = s.node_id) AND (o.recorded_from <= COALESCE(node_locations.p_known_at, 'infinity'::timestamp with time zone)) AND ((o.recorded_to = 'infinity'::timestamp with time zone) OR (o.recorded_to > node_locations.p_known_at)) AND ((node_locations.p_as_of IS NULL) OR ((o.valid_from <= node_locations.p_as_of) AND (o.valid_to > node_locations.p_as_of))))
          OFFSET 0) v)
   ORDER BY v.valid_from DESC, v.location_id;
END;

ALTER FUNCTION memsvc.node_locations(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.node_locations(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) IS 'Where nodes and all that are the same are, at a valid and a recorded time.';

CREATE FUNCTION memsvc.nodes_behind(p_user_id uuid, p_passages uuid[]) RETURNS TABLE(node_id uuid, links bigint)
    LANGUAGE plpgsql STABLE ROWS 50
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
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

ALTER FUNCTION memsvc.nodes_behind(p_user_id uuid, p_passages uuid[]) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.nodes_behind(p_user_id uuid, p_passages uuid[]) IS 'Stored nodes that some passages speak for.';

CREATE FUNCTION memsvc.nodes_beside(p_user_id uuid, p_nodes uuid[], p_radius_m double precision, p_limit integer, p_as_of timestamp with time zone DEFAULT NULL::timestamp with time zone, p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(node_id uuid, distance integer, reach double precision, path text[], metres double precision)
    LANGUAGE plpgsql STABLE ROWS 20
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  most_starts CONSTANT integer := 3;
  moment CONSTANT timestamptz := coalesce(p_as_of, clock_timestamp());
BEGIN
  PERFORM FROM locations AS l WHERE l.user_id = p_user_id ORDER BY l.recorded_from LIMIT 1;
  IF NOT FOUND OR memsvc.places_by() IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY
  WITH start AS MATERIALIZED (
    SELECT l.canonical_id, l.latitude, l.longitude
    FROM memsvc.node_locations(p_user_id, p_nodes, moment, p_known_at) AS l
    WHERE l.radius_m <= p_radius_m
    ORDER BY l.canonical_id, l.location_id
    LIMIT most_starts
  ),
  found AS MATERIALIZED (
    SELECT DISTINCT ON (n.canonical_id) n.canonical_id, n.label, n.metres, s.canonical_id AS start_id
    FROM start AS s
    CROSS JOIN LATERAL memsvc.nearby( -- more than are wanted, for some are the same, areas, or named themselves
      p_user_id, s.latitude, s.longitude, p_radius_m, NULL, NULL, moment, moment + interval '1 microsecond', moment,
      p_known_at, 2 * p_limit
    ) AS n
    WHERE n.radius_m <= p_radius_m
      AND n.canonical_id <> ALL (memsvc.standing_for(p_user_id, p_nodes, p_known_at))
    ORDER BY n.canonical_id, n.metres, s.canonical_id
  ),
  card AS MATERIALIZED (
    SELECT c.canonical_id, c.label
    FROM memsvc.node_cards(p_user_id, ARRAY(SELECT s.canonical_id FROM start AS s), moment, p_known_at) AS c
  )
  SELECT f.canonical_id, 1, exp(-f.metres / greatest(p_radius_m, 1)), ARRAY[
      coalesce(c.label, ''), format('NEAR %s m', 10 * round(f.metres / 10)), coalesce(f.label, '')
    ], f.metres
  FROM found AS f LEFT JOIN card AS c ON c.canonical_id = f.start_id
  ORDER BY f.metres, f.canonical_id
  LIMIT p_limit;
END
$$;

ALTER FUNCTION memsvc.nodes_beside(p_user_id uuid, p_nodes uuid[], p_radius_m double precision, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.nodes_beside(p_user_id uuid, p_nodes uuid[], p_radius_m double precision, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) IS 'Nodes near the places of some nodes, with how well they are reached and from where.';

CREATE FUNCTION memsvc.nodes_called(p_user_id uuid, p_names text[], p_as_of timestamp with time zone DEFAULT NULL::timestamp with time zone, p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(name text, canonical_id uuid, node_id uuid, alias text, confidence real)
    LANGUAGE sql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_incremental_sort TO 'off'
    BEGIN ATOMIC
 WITH called AS MATERIALIZED (
          SELECT n.name,
             v.node_id,
             v.alias,
             v.confidence
            FROM (unnest(nodes_called.p_names) n(name)
              CROSS JOIN LATERAL (( SELECT o.user_id,
                     o.alias_id,
                     o.node_id,
                     o.alias,
                     o.normal_form,
                     o.confidence,
                     o.asserted_by,
                     o.valid_from,
                     o.valid_to,
                     o.recorded_from,
                     o.recorded_to,
                     o.derived_from
                    FROM memsvc.aliases o
                   WHERE ((o.user_id = nodes_called.p_user_id) AND (o.normal_form = ANY (ARRAY[memsvc.normal_form(n.name)])) AND (o.recorded_to = 'infinity'::timestamp with time zone) AND (o.recorded_from <= COALESCE(nodes_called.p_known_at, 'infinity'::timestamp with time zone)))
                   ORDER BY o.normal_form
                  OFFSET 0)
                 UNION ALL
                 ( SELECT o.user_id,
                     o.alias_id,
                     o.node_id,
                     o.alias,
                     o.normal_form,
                     o.confidence,
                     o.asserted_by,
                     o.valid_from,
                     o.valid_to,
                     o.recorded_from,
                     o.recorded_to,
                     o.derived_from
                    FROM memsvc.aliases o
                   WHERE ((nodes_called.p_known_at IS NOT NULL) AND (o.user_id = nodes_called.p_user_id) AND (o.normal_form = ANY (ARRAY[memsvc.normal_form(n.name)])) AND (o.recorded_to < 'infinity'::timestamp with time zone) AND (o.recorded_from <= nodes_called.p_known_at) AND (o.recorded_to > nodes_called.p_known_at))
                   ORDER BY o.normal_form
                  OFFSET 0)) v)
           WHERE ((nodes_called.p_as_of IS NULL) OR ((v.valid_from <= nodes_called.p_as_of) AND (v.valid_to > nodes_called.p_as_of)))
         )
  SELECT c.name,
     r.canonical_id,
     c.node_id,
     c.alias,
     c.confidence
    FROM (called c
      JOIN memsvc.resolve_nodes(nodes_called.p_user_id, ARRAY( SELECT DISTINCT d.node_id
            FROM called d), nodes_called.p_known_at) r(node_id, canonical_id) ON ((r.node_id = c.node_id)))
   ORDER BY c.name, c.confidence DESC, r.canonical_id, c.node_id;
END;

ALTER FUNCTION memsvc.nodes_called(p_user_id uuid, p_names text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.nodes_called(p_user_id uuid, p_names text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) IS 'Nodes that have one of these names, at a valid and a recorded time.';

CREATE FUNCTION memsvc.refused_pairs(p_user_id uuid, p_nodes uuid[], p_others uuid[]) RETURNS TABLE(node_id uuid, other_id uuid)
    LANGUAGE sql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    BEGIN ATOMIC
 WITH asked AS MATERIALIZED (
          SELECT DISTINCT a_1.node_id,
             a_1.other_id
            FROM UNNEST(refused_pairs.p_nodes, refused_pairs.p_others) a_1(node_id, other_id)
         ), resolved AS MATERIALIZED (
          SELECT r.node_id,
             r.canonical_id
            FROM memsvc.resolve_nodes(refused_pairs.p_user_id, (refused_pairs.p_nodes || refused_pairs.p_others)) r(node_id, canonical_id)
         ), same AS MATERIALIZED (
          SELECT s.canonical_id,
             s.node_id
            FROM memsvc.same_nodes(refused_pairs.p_user_id, (refused_pairs.p_nodes || refused_pairs.p_others)) s(canonical_id, node_id)
         ), decided AS MATERIALIZED (
          SELECT sa.canonical_id AS one,
             sb.canonical_id AS two
            FROM ((same sa
              CROSS JOIN LATERAL ( SELECT d_1.node_b
                    FROM memsvc.duplicate_candidates d_1
                   WHERE ((d_1.user_id = refused_pairs.p_user_id) AND (d_1.node_a = sa.node_id) AND (d_1.state = ANY (ARRAY['rejected'::text, 'split'::text])))
                  OFFSET 0) d)
              JOIN same sb ON ((sb.node_id = d.node_b)))
         )
  SELECT a.node_id,
     a.other_id
    FROM ((asked a
      JOIN resolved ra ON ((ra.node_id = a.node_id)))
      JOIN resolved rb ON ((rb.node_id = a.other_id)))
   WHERE (EXISTS ( SELECT
            FROM decided d
           WHERE (((d.one = ra.canonical_id) AND (d.two = rb.canonical_id)) OR ((d.one = rb.canonical_id) AND (d.two = ra.canonical_id)))));
END;

ALTER FUNCTION memsvc.refused_pairs(p_user_id uuid, p_nodes uuid[], p_others uuid[]) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.refused_pairs(p_user_id uuid, p_nodes uuid[], p_others uuid[]) IS 'Which of some pairs were rejected or split.';

CREATE FUNCTION memsvc.note_duplicates(p_user_id uuid, p_found jsonb, p_found_by text) RETURNS bigint
    LANGUAGE sql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    BEGIN ATOMIC
 WITH found AS MATERIALIZED (
          SELECT f.node,
             f.other,
             f.score,
             f.evidence
            FROM jsonb_to_recordset(note_duplicates.p_found) f(node uuid, other uuid, score real, evidence jsonb)
         ), resolved AS MATERIALIZED (
          SELECT r.node_id,
             r.canonical_id
            FROM memsvc.resolve_nodes(note_duplicates.p_user_id, ARRAY( SELECT f.node
                    FROM found f
                 UNION
                  SELECT f.other
                    FROM found f)) r(node_id, canonical_id)
         ), pair AS MATERIALIZED (
          SELECT DISTINCT ON (p.node_a, p.node_b) p.node_a,
             p.node_b,
             p.score,
             p.evidence
            FROM ( SELECT LEAST(n_1.canonical_id, o.canonical_id) AS node_a,
                     GREATEST(n_1.canonical_id, o.canonical_id) AS node_b,
                     f.score,
                     COALESCE(f.evidence, '{}'::jsonb) AS evidence
                    FROM ((found f
                      JOIN resolved n_1 ON ((n_1.node_id = f.node)))
                      JOIN resolved o ON ((o.node_id = f.other)))
                   WHERE (n_1.canonical_id <> o.canonical_id)) p
           ORDER BY p.node_a, p.node_b, p.score DESC
         ), refused AS MATERIALIZED (
          SELECT r.node_id,
             r.other_id
            FROM memsvc.refused_pairs(note_duplicates.p_user_id, ARRAY( SELECT p.node_a
                    FROM pair p
                   ORDER BY p.node_a, p.node_b), ARRAY( SELECT p.node_b
                    FROM pair p
                   ORDER BY p.node_a, p.node_b)) r(node_id, other_id)
         ), noted AS (
          INSERT INTO memsvc.duplicate_candidates AS d (user_id, node_a, node_b, score, evidence, found_by)  SELECT note_duplicates.p_user_id AS p_user_id,
                     p.node_a,
                     p.node_b,
                     p.score,
                     p.evidence,
                     note_duplicates.p_found_by AS p_found_by
                    FROM pair p
                   WHERE ((NOT (EXISTS ( SELECT
                            FROM refused r
                           WHERE ((r.node_id = p.node_a) AND (r.other_id = p.node_b))))) AND (EXISTS ( SELECT
                            FROM memsvc.nodes n_1
                           WHERE ((n_1.user_id = note_duplicates.p_user_id) AND (n_1.node_id = p.node_a)))) AND (EXISTS ( SELECT
                            FROM memsvc.nodes n_1
                           WHERE ((n_1.user_id = note_duplicates.p_user_id) AND (n_1.node_id = p.node_b)))))
                   ORDER BY p.node_a, p.node_b ON CONFLICT(user_id, node_a, node_b) DO UPDATE SET score = excluded.score, evidence = excluded.evidence, state = 'open'::text, decided_at = NULL::timestamp with time zone, decided_by = NULL::text
           WHERE (d.state = ANY (ARRAY['open'::text, 'merged'::text]))
           RETURNING (old.user_id IS NULL) AS fresh
         )
  SELECT count(*) FILTER (WHERE n.fresh) AS count
    FROM noted n;
END;

ALTER FUNCTION memsvc.note_duplicates(p_user_id uuid, p_found jsonb, p_found_by text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.note_duplicates(p_user_id uuid, p_found jsonb, p_found_by text) IS 'Notes pairs that may be the same; how many are new.';

CREATE FUNCTION memsvc.orphans(p_user_id uuid, p_limit integer) RETURNS TABLE(node_id uuid, passages bigint, total bigint)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_nestloop TO 'off'
    AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH joined AS MATERIALIZED (
    SELECT n.node_id FROM memsvc.all_edges(p_user_id, NULL, NULL) AS e
    CROSS JOIN LATERAL (VALUES (e.from_node), (e.to_node)) AS n (node_id)
    WHERE e.from_node <> e.to_node
    UNION
    SELECT v.node_id FROM node_versions AS v
    WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.data @> '{"self": true}'
  ),
  alone AS MATERIALIZED (
    SELECT a.node_id FROM memsvc.all_nodes(p_user_id, NULL) AS a (node_id)
    EXCEPT SELECT j.node_id FROM joined AS j
  ),
  spoken AS (
    SELECT m.node_id, count(*) AS passages FROM memsvc.mentions(p_user_id) AS m GROUP BY m.node_id
  )
  SELECT a.node_id, coalesce(s.passages, 0), count(*) OVER ()
  FROM alone AS a
  LEFT JOIN spoken AS s ON s.node_id = a.node_id
  ORDER BY coalesce(s.passages, 0) DESC, a.node_id
  LIMIT p_limit;
END
$$;

ALTER FUNCTION memsvc.orphans(p_user_id uuid, p_limit integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.orphans(p_user_id uuid, p_limit integer) IS 'Nodes that no fact joins to anything.';

CREATE FUNCTION memsvc.other_counts(p_user_id uuid, p_as_of timestamp with time zone, p_known_at timestamp with time zone) RETURNS TABLE(names bigint, merges bigint, evidence bigint)
    LANGUAGE plpgsql STABLE ROWS 1
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  known CONSTANT timestamptz := coalesce(p_known_at, 'infinity');
BEGIN
  RETURN QUERY SELECT (
    SELECT count(*) FROM aliases AS a
    WHERE a.user_id = p_user_id AND a.recorded_from <= known AND (a.recorded_to = 'infinity' OR a.recorded_to > known)
      AND (p_as_of IS NULL OR (a.valid_from <= p_as_of AND a.valid_to > p_as_of))
  ), (
    SELECT count(*) FROM merges AS m
    WHERE m.user_id = p_user_id AND m.recorded_from <= known AND (m.recorded_to = 'infinity' OR m.recorded_to > known)
  ), (
    SELECT count(*) FROM source_links AS l
    WHERE l.user_id = p_user_id AND l.recorded_from <= known AND (l.recorded_to = 'infinity' OR l.recorded_to > known)
  );
END
$$;

ALTER FUNCTION memsvc.other_counts(p_user_id uuid, p_as_of timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.other_counts(p_user_id uuid, p_as_of timestamp with time zone, p_known_at timestamp with time zone) IS 'How many names, merges and links of evidence there are.';

CREATE FUNCTION memsvc.page_of_edges(p_user_id uuid, p_after_edge uuid, p_after_id uuid, p_limit integer, p_types text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) RETURNS TABLE(versions uuid[], last_edge uuid, last_version uuid, ended boolean)
    LANGUAGE plpgsql STABLE ROWS 1
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    AS $$
DECLARE
  first_edge CONSTANT uuid := coalesce(p_after_edge, '00000000-0000-0000-0000-000000000000');
  first_id CONSTANT uuid := coalesce(p_after_id, '00000000-0000-0000-0000-000000000000');
BEGIN
  RETURN QUERY
  WITH looked AS MATERIALIZED (
    SELECT l.*, row_number() OVER (ORDER BY l.edge_id, l.version_id) AS place,
      (p_types IS NULL OR l.type = ANY (p_types)) AND l.recorded_from <= coalesce(p_known_at, 'infinity')
      AND (l.recorded_to = 'infinity' OR l.recorded_to > p_known_at)
      AND (p_as_of IS NULL OR (l.valid_from <= p_as_of AND l.valid_to > p_as_of)) AS wanted
    FROM (
      SELECT u.* FROM (
        (SELECT v.* FROM edge_versions AS v
        WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.edge_id >= first_edge
          AND (v.edge_id, v.version_id) > (first_edge, first_id)
        ORDER BY v.edge_id, v.version_id LIMIT 4 * p_limit)
        UNION ALL
        (SELECT v.* FROM edge_versions AS v
        WHERE p_known_at IS NOT NULL AND v.user_id = p_user_id AND v.recorded_to < 'infinity'
          AND v.edge_id >= first_edge AND (v.edge_id, v.version_id) > (first_edge, first_id)
        ORDER BY v.edge_id, v.version_id LIMIT 4 * p_limit)
      ) AS u
      ORDER BY u.edge_id, u.version_id LIMIT 4 * p_limit
    ) AS l
  ),
  taken AS MATERIALIZED (
    SELECT l.* FROM looked AS l WHERE l.wanted ORDER BY l.place LIMIT p_limit
  ),
  far AS (
    SELECT CASE WHEN (SELECT count(*) FROM looked AS l WHERE l.wanted) > p_limit
      THEN (SELECT max(t.place) FROM taken AS t) ELSE (SELECT max(l.place) FROM looked AS l) END AS place
  )
  SELECT ARRAY(SELECT t.version_id FROM taken AS t ORDER BY t.place), l.edge_id, l.version_id,
    coalesce(l.place = (SELECT count(*) FROM looked AS o) AND l.place < 4 * p_limit, true)
  FROM far AS f LEFT JOIN looked AS l ON l.place = f.place;
END
$$;

ALTER FUNCTION memsvc.page_of_edges(p_user_id uuid, p_after_edge uuid, p_after_id uuid, p_limit integer, p_types text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.page_of_edges(p_user_id uuid, p_after_edge uuid, p_after_id uuid, p_limit integer, p_types text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) IS 'The next facts of a user.';

CREATE FUNCTION memsvc.page_of_nodes(p_user_id uuid, p_after uuid, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) RETURNS TABLE(nodes uuid[], last_node uuid, ended boolean)
    LANGUAGE plpgsql STABLE ROWS 1
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  candidates uuid[] := ARRAY(
    SELECT n.node_id FROM nodes AS n
    WHERE n.user_id = p_user_id AND n.node_id > coalesce(p_after, '00000000-0000-0000-0000-000000000000')
      AND n.created_at <= coalesce(p_known_at, 'infinity')
    ORDER BY n.node_id LIMIT 4 * p_limit
  );
BEGIN
  RETURN QUERY
  WITH candidate AS MATERIALIZED (
    SELECT s.canonical_id AS node_id, array_agg(s.node_id) AS same
    FROM memsvc.same_nodes(p_user_id, candidates, p_known_at) AS s
    GROUP BY s.canonical_id HAVING s.canonical_id = ANY (candidates)
  ),
  alone AS MATERIALIZED (
    SELECT c.node_id FROM candidate AS c
    WHERE NOT EXISTS (
      SELECT FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.from_node = ANY (c.same) AND v.recorded_to = 'infinity'
        AND v.recorded_from <= coalesce(p_known_at, 'infinity')
        AND (p_as_of IS NULL OR (v.valid_from <= p_as_of AND v.valid_to > p_as_of))
      ORDER BY v.from_node OFFSET 0
    ) AND NOT EXISTS (
      SELECT FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.to_node = ANY (c.same) AND v.recorded_to = 'infinity'
        AND v.recorded_from <= coalesce(p_known_at, 'infinity')
        AND (p_as_of IS NULL OR (v.valid_from <= p_as_of AND v.valid_to > p_as_of))
      ORDER BY v.to_node OFFSET 0
    ) AND (p_known_at IS NULL OR NOT EXISTS (
      SELECT FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.from_node = ANY (c.same) AND v.recorded_to < 'infinity'
        AND v.recorded_from <= p_known_at AND v.recorded_to > p_known_at
        AND (p_as_of IS NULL OR (v.valid_from <= p_as_of AND v.valid_to > p_as_of))
      ORDER BY v.from_node OFFSET 0
    )) AND (p_known_at IS NULL OR NOT EXISTS (
      SELECT FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.to_node = ANY (c.same) AND v.recorded_to < 'infinity'
        AND v.recorded_from <= p_known_at AND v.recorded_to > p_known_at
        AND (p_as_of IS NULL OR (v.valid_from <= p_as_of AND v.valid_to > p_as_of))
      ORDER BY v.to_node OFFSET 0
    ))
    ORDER BY c.node_id LIMIT p_limit + 1
  )
  SELECT (ARRAY(SELECT a.node_id FROM alone AS a ORDER BY a.node_id))[:p_limit],
    CASE WHEN (SELECT count(*) FROM alone AS a) > p_limit
      THEN (ARRAY(SELECT a.node_id FROM alone AS a ORDER BY a.node_id))[p_limit]
      ELSE candidates[cardinality(candidates)] END,
    cardinality(candidates) < 4 * p_limit AND (SELECT count(*) FROM alone AS a) <= p_limit;
END
$$;

ALTER FUNCTION memsvc.page_of_nodes(p_user_id uuid, p_after uuid, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.page_of_nodes(p_user_id uuid, p_after uuid, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) IS 'The next nodes of a user that have no facts.';

CREATE FUNCTION memsvc.passage_shown(p_passage_id uuid, p_role text, p_speaker text, p_text text, p_caption text, p_said_at timestamp with time zone) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (jsonb_strip_nulls(jsonb_build_object('id', p_passage_id, 'role', p_role, 'speaker', NULLIF(p_speaker, ''::text), 'text', "left"(p_text, 4000), 'caption', "left"(p_caption, 4000), 'said_at', memsvc.moment_shown(p_said_at))))::text;

ALTER FUNCTION memsvc.passage_shown(p_passage_id uuid, p_role text, p_speaker text, p_text text, p_caption text, p_said_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.passage_shown(p_passage_id uuid, p_role text, p_speaker text, p_text text, p_caption text, p_said_at timestamp with time zone) IS 'Properties of the vertex of a passage.';

CREATE FUNCTION memsvc.passages_near(p_user_id uuid, p_passages uuid[], p_limit integer) RETURNS TABLE(passage_id uuid)
    LANGUAGE plpgsql STABLE ROWS 20
    SET search_path TO 'memsvc', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
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
  FROM memsvc.match_vectors(p_user_id, model, middle, p_limit + cardinality(p_passages)) AS m
  WHERE m.matched_id <> ALL (p_passages)
  ORDER BY m.similarity DESC LIMIT p_limit;
END
$$;

ALTER FUNCTION memsvc.passages_near(p_user_id uuid, p_passages uuid[], p_limit integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.passages_near(p_user_id uuid, p_passages uuid[], p_limit integer) IS 'Passages whose vectors are near to those of others.';

CREATE FUNCTION memsvc.paths(p_user_id uuid, p_from uuid, p_to uuid, p_max_hops integer DEFAULT 4, p_types text[] DEFAULT NULL::text[], p_side text DEFAULT 'both'::text, p_limit integer DEFAULT 5, p_work integer DEFAULT 50000, p_as_of timestamp with time zone DEFAULT NULL::timestamp with time zone, p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS TABLE(path bigint, nodes uuid[], versions uuid[], complete boolean, truncated boolean)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  merged CONSTANT boolean := memsvc.any_merges(p_user_id, p_known_at);
  back CONSTANT text := CASE p_side WHEN 'from' THEN 'to' WHEN 'to' THEN 'from' ELSE p_side END;
  near uuid[] := memsvc.standing_for(p_user_id, ARRAY[p_from], p_known_at); -- outermost nodes of the search from p_from
  far uuid[] := memsvc.standing_for(p_user_id, ARRAY[p_to], p_known_at);
  seen_near uuid[] := near;
  seen_far uuid[] := far;
  steps integer[] := '{}'; -- edges that may lie on a path: 1, 2, … counted from p_from; -1, -2, … from p_to
  starts uuid[] := '{}'; ends uuid[] := '{}'; versions uuid[] := '{}'; weights real[] := '{}';
  reached integer := 0; left_over integer := 0; work integer := p_work;
  forward boolean; level record; gave_up boolean := false;
BEGIN
  WHILE NOT near && far AND NOT gave_up AND reached + left_over < p_max_hops LOOP
    forward := cardinality(near) <= cardinality(far);
    SELECT e.* INTO level FROM memsvc.next_level(
      p_user_id, CASE WHEN forward THEN near ELSE far END, CASE WHEN forward THEN seen_near ELSE seen_far END, p_types,
      CASE WHEN forward THEN p_side ELSE back END, work + 1, p_as_of, p_known_at, merged
    ) AS e;
    gave_up := coalesce(level.looked > work, false);
    work := work - level.looked;
    IF forward THEN
      reached := reached + 1;
      near := level.nodes;
      seen_near := seen_near || near;
    ELSE
      left_over := left_over + 1;
      far := level.nodes;
      seen_far := seen_far || far;
    END IF;
    steps := steps || array_fill(CASE WHEN forward THEN reached ELSE -left_over END, ARRAY[cardinality(level.starts)]);
    starts := starts || CASE WHEN forward THEN level.starts ELSE level.ends END;
    ends := ends || CASE WHEN forward THEN level.ends ELSE level.starts END;
    versions := versions || level.versions;
    weights := weights || level.weights;
    EXIT WHEN level.nodes = '{}';
  END LOOP;
  IF NOT near && far THEN
    RETURN QUERY SELECT 0::bigint, '{}'::uuid[], '{}'::uuid[], NOT gave_up, false;
    RETURN;
  END IF;
  RETURN QUERY SELECT w.path, w.nodes, w.versions, NOT gave_up, w.truncated
  FROM memsvc.paths_through(
    near, far, reached, left_over, steps, starts, ends, versions, weights, p_limit
  ) AS w;
END
$$;

ALTER FUNCTION memsvc.paths(p_user_id uuid, p_from uuid, p_to uuid, p_max_hops integer, p_types text[], p_side text, p_limit integer, p_work integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.paths(p_user_id uuid, p_from uuid, p_to uuid, p_max_hops integer, p_types text[], p_side text, p_limit integer, p_work integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) IS 'Shortest paths between two nodes.';

CREATE FUNCTION memsvc.paths_through(p_near uuid[], p_far uuid[], p_reached integer, p_left_over integer, p_steps integer[], p_starts uuid[], p_ends uuid[], p_versions uuid[], p_weights real[], p_limit integer) RETURNS TABLE(path bigint, nodes uuid[], versions uuid[], truncated boolean)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_nestloop TO 'off'
    AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH RECURSIVE met AS MATERIALIZED (
    SELECT n.node_id FROM unnest(p_near) AS n (node_id) WHERE n.node_id IN (SELECT unnest(p_far))
  ),
  edge AS MATERIALIZED (
    SELECT CASE WHEN e.step > 0 THEN e.step ELSE p_reached + p_left_over + e.step + 1 END AS step,
      e.start_id, e.end_id, e.version_id, e.weight
    FROM unnest(p_steps, p_starts, p_ends, p_versions, p_weights) AS e (step, start_id, end_id, version_id, weight)
  ),
  -- Nodes of the first search that lead to a meeting point.
  towards (step, node_id) AS (
    SELECT p_reached, m.node_id FROM met AS m
    UNION
    SELECT e.step - 1, e.start_id
    FROM towards AS l INNER JOIN edge AS e ON e.step = l.step AND e.end_id = l.node_id
    WHERE l.step > 0
  ),
  useful AS MATERIALIZED (
    SELECT e.* FROM edge AS e LEFT JOIN towards AS l ON l.step = e.step AND l.node_id = e.end_id
    WHERE e.step > p_reached OR l.node_id IS NOT NULL
  ),
  -- Every begin can be ended, so more of them than paths are wanted need not be kept.
  begun (step, place, nodes, versions) AS (
    SELECT 0, row_number() OVER (), ARRAY[l.node_id], '{}'::uuid[] FROM towards AS l WHERE l.step = 0
    UNION ALL
    SELECT n.step, n.place, n.nodes, n.versions
    FROM (
      SELECT u.step, row_number() OVER (ORDER BY b.place, u.weight DESC, u.version_id DESC) AS place,
        b.nodes || u.end_id AS nodes, b.versions || u.version_id AS versions
      FROM begun AS b INNER JOIN useful AS u ON u.step = b.step + 1 AND u.start_id = b.nodes[b.step + 1]
    ) AS n
    WHERE p_limit IS NULL OR n.place <= p_limit + 1
  )
  SELECT b.place, b.nodes, b.versions, EXISTS (
    SELECT FROM begun AS o WHERE o.step = p_reached + p_left_over AND o.place > p_limit
  )
  FROM begun AS b
  WHERE b.step = p_reached + p_left_over AND (p_limit IS NULL OR b.place <= p_limit)
  ORDER BY b.place;
END
$$;

ALTER FUNCTION memsvc.paths_through(p_near uuid[], p_far uuid[], p_reached integer, p_left_over integer, p_steps integer[], p_starts uuid[], p_ends uuid[], p_versions uuid[], p_weights real[], p_limit integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.paths_through(p_near uuid[], p_far uuid[], p_reached integer, p_left_over integer, p_steps integer[], p_starts uuid[], p_ends uuid[], p_versions uuid[], p_weights real[], p_limit integer) IS 'Paths through what two searches found.';

CREATE FUNCTION memsvc.pause_model(p_name text, p_paused boolean) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
DECLARE
  known embedding_models%ROWTYPE;
BEGIN
  PERFORM memsvc.change_models();
  known := memsvc.known_model(p_name);
  IF known.state <> 'building' THEN
    RAISE EXCEPTION 'The model % is %; only one that is being built can be paused.', p_name, known.state
      USING ERRCODE = 'MS001';
  END IF;
  UPDATE embedding_models AS m SET paused = p_paused WHERE m.model_id = known.model_id;
  PERFORM memsvc.audit(CASE WHEN p_paused THEN 'model.pause' ELSE 'model.resume' END, NULL, NULL, p_name);
  RETURN CASE WHEN p_paused THEN 0 ELSE memsvc.ask_vectors(known.model_id) END;
END
$$;

ALTER FUNCTION memsvc.pause_model(p_name text, p_paused boolean) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.pause_model(p_name text, p_paused boolean) IS 'Pauses or resumes a model that is being built.';

CREATE FUNCTION memsvc.places_by() RETURNS text
    LANGUAGE sql STABLE
    RETURN CASE WHEN (to_regclass('memsvc.locations_geography'::text) IS NOT NULL) THEN 'postgis'::text WHEN (to_regclass('memsvc.locations_cube'::text) IS NOT NULL) THEN 'cube'::text ELSE NULL::text END;

ALTER FUNCTION memsvc.places_by() OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.places_by() IS 'The extension by which places are searched; null: none.';

CREATE FUNCTION memsvc.plan_erasure(p_user_id uuid, p_passages uuid[], p_source_id uuid, p_edges uuid[], p_node_id uuid) RETURNS TABLE(links uuid[], node_versions uuid[], edge_versions uuid[], aliases uuid[], locations uuid[], merges uuid[], edges uuid[], nodes uuid[], reduced uuid[])
    LANGUAGE plpgsql STABLE ROWS 1
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  ends uuid[]; -- nodes that lose something
BEGIN
  SELECT
    coalesce(array_agg(s.id) FILTER (WHERE s.alone AND s.kind = 'node'), '{}'),
    coalesce(array_agg(s.id) FILTER (WHERE s.alone AND s.kind = 'edge'), '{}'),
    coalesce(array_agg(s.id) FILTER (WHERE s.alone AND s.kind = 'alias'), '{}'),
    coalesce(array_agg(s.id) FILTER (WHERE s.alone AND s.kind = 'place'), '{}'),
    coalesce(array_agg(s.id) FILTER (WHERE s.alone AND s.kind = 'merge'), '{}'),
    coalesce(array_agg(s.id) FILTER (WHERE NOT s.alone AND s.last), '{}')
  INTO node_versions, edge_versions, aliases, locations, merges, reduced
  FROM memsvc.spoken_for(p_user_id, p_passages, p_source_id) AS s;

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

  links := ARRAY(
    SELECT l.link_id FROM source_links AS l WHERE l.user_id = p_user_id AND l.passage_id = ANY (p_passages)
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

ALTER FUNCTION memsvc.plan_erasure(p_user_id uuid, p_passages uuid[], p_source_id uuid, p_edges uuid[], p_node_id uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.plan_erasure(p_user_id uuid, p_passages uuid[], p_source_id uuid, p_edges uuid[], p_node_id uuid) IS 'Ids of all rows that go with some passages, edges and a node.';

CREATE FUNCTION memsvc.plan_history(p_user_id uuid, p_steps jsonb) RETURNS TABLE(action text, kind text, subject uuid, form text, version_id uuid, derived_from uuid, nth integer, content jsonb, asserted_by text, valid_from timestamp with time zone, valid_to timestamp with time zone)
    LANGUAGE sql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_nestloop TO 'off'
    BEGIN ATOMIC
 WITH given AS MATERIALIZED (
          SELECT s."position",
             s.kind,
             s.subject,
             s.line,
             s.form,
             s.content,
             s.derived_from,
             s.asserted_by,
             s.valid_from,
             s.valid_to
            FROM jsonb_to_recordset(plan_history.p_steps) s("position" integer, kind text, subject uuid, line uuid, form text, content jsonb, derived_from uuid, asserted_by text, valid_from timestamp with time zone, valid_to timestamp with time zone)
         ), line AS MATERIALIZED (
          SELECT row_number() OVER () AS n,
             d.kind,
             d.line,
             d.form
            FROM ( SELECT DISTINCT g.kind,
                     g.line,
                     g.form
                    FROM given g) d
         ), step AS MATERIALIZED (
          SELECT l_1.n,
             g."position",
             g.subject,
             g.content,
             g.derived_from,
             g.asserted_by,
             g.valid_from,
             g.valid_to
            FROM (given g
              JOIN line l_1 ON (((l_1.kind = g.kind) AND (l_1.line = g.line) AND (l_1.form = g.form))))
         ), old AS MATERIALIZED (
          SELECT l_1.n,
             o_1.version_id,
             o_1.subject,
             o_1.content,
             o_1.asserted_by,
             o_1.valid_from,
             o_1.valid_to,
             o_1.recorded_from
            FROM (line l_1
              CROSS JOIN LATERAL memsvc.open_versions(plan_history.p_user_id, l_1.kind, l_1.line, l_1.form) o_1(version_id, subject, content, asserted_by, valid_from, valid_to, recorded_from))
         ), cell AS MATERIALIZED (
          SELECT p.n,
             row_number() OVER byplace AS cell,
             p.place AS cell_from,
             lead(p.place) OVER byplace AS cell_to
            FROM ( SELECT s.n,
                     s.valid_from AS place
                    FROM step s
                 UNION
                  SELECT s.n,
                     s.valid_to
                    FROM step s
                 UNION
                  SELECT o_1.n,
                     o_1.valid_from
                    FROM old o_1
                 UNION
                  SELECT o_1.n,
                     o_1.valid_to
                    FROM old o_1) p
           WINDOW byplace AS (PARTITION BY p.n ORDER BY p.place)
         ), covered AS MATERIALIZED (
          SELECT c.n,
             c.cell,
             s."position",
             s.subject,
             s.content,
             (s.content IS NULL) AS taken
            FROM (cell c
              JOIN step s ON (((s.n = c.n) AND (s.valid_from <= c.cell_from) AND (s.valid_to >= c.cell_to))))
         ), said AS MATERIALIZED (
          SELECT DISTINCT ON (c.n, c.cell) c.n,
             c.cell,
             c."position",
             c.subject,
             c.content
            FROM covered c
           WHERE (NOT c.taken)
           ORDER BY c.n, c.cell, c."position" DESC
         ), taken AS MATERIALIZED (
          SELECT c.n,
             c.cell,
             c.subject,
             max(c."position") AS "position"
            FROM covered c
           WHERE c.taken
           GROUP BY c.n, c.cell, c.subject
         ), stands AS MATERIALIZED (
          SELECT s.n,
             s.cell,
             s."position",
             s.subject,
             s.content
            FROM (said s
              LEFT JOIN taken t ON (((t.n = s.n) AND (t.cell = s.cell) AND (t.subject = s.subject))))
           WHERE ((t."position" IS NULL) OR (t."position" < s."position"))
         ), held AS MATERIALIZED (
          SELECT h.n,
             h.cell,
             h.version_id,
             h.subject,
             h.content,
             h.stays,
             bool_and(h.stays) OVER (PARTITION BY h.version_id) AS whole
            FROM ( SELECT c.n,
                     c.cell,
                     o_1.version_id,
                     o_1.subject,
                     o_1.content,
                         CASE
                             WHEN (s."position" IS NULL) THEN (t."position" IS NULL)
                             ELSE COALESCE(((w.subject = o_1.subject) AND (w.content = o_1.content)), false)
                         END AS stays
                    FROM ((((cell c
                      JOIN old o_1 ON (((o_1.n = c.n) AND (o_1.valid_from <= c.cell_from) AND (o_1.valid_to >= c.cell_to))))
                      LEFT JOIN said s ON (((s.n = c.n) AND (s.cell = c.cell))))
                      LEFT JOIN stands w ON (((w.n = c.n) AND (w.cell = c.cell))))
                      LEFT JOIN taken t ON (((t.n = c.n) AND (t.cell = c.cell) AND (t.subject = o_1.subject))))) h
         ), piece AS MATERIALIZED (
          SELECT uuidv7() AS version_id,
             p.n,
             p.subject,
             p."position",
             p.origin,
             min(p.cell) AS first,
             max(p.cell) AS last
            FROM ( SELECT h.n,
                     h.subject,
                     NULL::integer AS "position",
                     h.version_id AS origin,
                     h.cell,
                     (h.cell - row_number() OVER (PARTITION BY h.version_id ORDER BY h.cell)) AS island
                    FROM held h
                   WHERE (h.stays AND (NOT h.whole))
                 UNION ALL
                  SELECT w.n,
                     w.subject,
                     w."position",
                     NULL::uuid,
                     w.cell,
                     (w.cell - row_number() OVER (PARTITION BY w."position" ORDER BY w.cell))
                    FROM (stands w
                      LEFT JOIN held h ON (((h.n = w.n) AND (h.cell = w.cell) AND (h.subject = w.subject) AND h.stays)))
                   WHERE (h.version_id IS NULL)) p
           GROUP BY p.n, p.subject, p."position", p.origin, p.island
         ), written AS MATERIALIZED (
          SELECT p.version_id,
             p.n,
             p.subject,
             p."position",
             p.first,
             p.last,
             b.cell_from AS valid_from,
             e.cell_to AS valid_to,
             COALESCE(p.origin, s.derived_from) AS derived_from,
             COALESCE(o_1.content, s.content) AS content,
             COALESCE(o_1.asserted_by, s.asserted_by) AS asserted_by
            FROM ((((piece p
              JOIN cell b ON (((b.n = p.n) AND (b.cell = p.first))))
              JOIN cell e ON (((e.n = p.n) AND (e.cell = p.last))))
              LEFT JOIN old o_1 ON ((o_1.version_id = p.origin)))
              LEFT JOIN step s ON ((s."position" = p."position")))
         ), borne AS MATERIALIZED (
          SELECT DISTINCT c."position",
             f.version_id,
             c.n,
             c.subject
            FROM (covered c
              JOIN ( SELECT h.n,
                     h.cell,
                     h.subject,
                     h.content,
                     h.version_id
                    FROM held h
                   WHERE h.whole
                 UNION ALL
                  SELECT w.n,
                     d.cell,
                     w.subject,
                     w.content,
                     w.version_id
                    FROM (written w
                      JOIN cell d ON (((d.n = w.n) AND ((d.cell >= w.first) AND (d.cell <= w.last)))))) f ON (((f.n = c.n) AND (f.cell = c.cell) AND (f.subject = c.subject) AND (f.content = c.content))))
           WHERE (NOT c.taken)
         ), lost AS MATERIALIZED (
          SELECT uuidv7() AS version_id,
             s.n,
             s."position",
             s.subject,
             s.content,
             s.derived_from,
             s.asserted_by,
             s.valid_from,
             s.valid_to
            FROM (step s
              LEFT JOIN borne b ON ((b."position" = s."position")))
           WHERE ((s.content IS NOT NULL) AND (b."position" IS NULL))
         ), outcome AS (
          SELECT DISTINCT 'close'::text AS action,
             h.n,
             h.subject,
             h.version_id,
             NULL::uuid AS derived_from,
             NULL::integer AS nth,
             NULL::jsonb AS content,
             NULL::text AS asserted_by,
             NULL::timestamp with time zone AS valid_from,
             NULL::timestamp with time zone AS valid_to
            FROM held h
           WHERE (NOT h.whole)
         UNION ALL
          SELECT 'write'::text,
             w.n,
             w.subject,
             w.version_id,
             w.derived_from,
             w."position",
             w.content,
             w.asserted_by,
             w.valid_from,
             w.valid_to
            FROM written w
         UNION ALL
          SELECT 'past'::text,
             s.n,
             s.subject,
             s.version_id,
             s.derived_from,
             s."position",
             s.content,
             s.asserted_by,
             s.valid_from,
             s.valid_to
            FROM lost s
         UNION ALL
          SELECT 'bear'::text,
             b.n,
             b.subject,
             b.version_id,
             NULL::uuid,
             b."position",
             NULL::jsonb,
             NULL::text,
             NULL::timestamp with time zone,
             NULL::timestamp with time zone
            FROM borne b
         UNION ALL
          SELECT 'bear'::text,
             s.n,
             s.subject,
             s.version_id,
             NULL::uuid,
             s."position",
             NULL::jsonb,
             NULL::text,
             NULL::timestamp with time zone,
             NULL::timestamp with time zone
            FROM lost s
         UNION ALL
          SELECT DISTINCT 'end'::text,
             c.n,
             c.subject,
             h.version_id,
             NULL::uuid AS uuid,
             c."position",
             NULL::jsonb AS jsonb,
             NULL::text AS text,
             NULL::timestamp with time zone AS timestamptz,
             NULL::timestamp with time zone AS timestamptz
            FROM (covered c
              JOIN held h ON (((h.n = c.n) AND (h.cell = c.cell) AND (h.subject = c.subject) AND (NOT h.stays))))
           WHERE c.taken
         )
  SELECT o.action,
     l.kind,
     o.subject,
         CASE l.kind
             WHEN 'alias'::text THEN l.form
             ELSE ''::text
         END AS "case",
     o.version_id,
     o.derived_from,
     o.nth,
     o.content,
     o.asserted_by,
     o.valid_from,
     o.valid_to
    FROM (outcome o
      JOIN line l ON ((l.n = o.n)));
END;

ALTER FUNCTION memsvc.plan_history(p_user_id uuid, p_steps jsonb) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.plan_history(p_user_id uuid, p_steps jsonb) IS 'What a batch of steps does to the versions that are open now; writes nothing.';

CREATE TABLE memsvc.analysis_results (
    user_id uuid NOT NULL,
    run_id uuid NOT NULL,
    place integer NOT NULL,
    what text NOT NULL,
    score double precision NOT NULL,
    nodes uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    facts uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    passages uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    figures jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT analysis_results_figures_check CHECK ((jsonb_typeof(figures) = 'object'::text)),
    CONSTRAINT analysis_results_place_check CHECK ((place >= 0)),
    CONSTRAINT analysis_results_score_check CHECK (((score >= (0)::double precision) AND (score < 'Infinity'::double precision))),
    CONSTRAINT analysis_results_what_check CHECK ((what ~ '^[a-z][a-z_]{0,39}$'::text))
);

ALTER TABLE ONLY memsvc.analysis_results FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.analysis_results OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.analysis_results IS 'What analyses found: ids and numbers, no text. A result that names something goes with it when it is erased.';

COMMENT ON COLUMN memsvc.analysis_results.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.analysis_results.run_id IS 'The run that found it.';

COMMENT ON COLUMN memsvc.analysis_results.place IS 'Its place in that run, from 0: the best first.';

COMMENT ON COLUMN memsvc.analysis_results.what IS 'What it is, for example community or busy_day.';

COMMENT ON COLUMN memsvc.analysis_results.score IS 'How strong it is; comparable within what it is.';

COMMENT ON COLUMN memsvc.analysis_results.nodes IS 'Nodes that it is about; of a community the strongest 200.';

COMMENT ON COLUMN memsvc.analysis_results.facts IS 'Versions of edges that it is about.';

COMMENT ON COLUMN memsvc.analysis_results.passages IS 'Passages that it is about.';

COMMENT ON COLUMN memsvc.analysis_results.figures IS 'Its numbers and days.';

CREATE TABLE memsvc.analysis_runs (
    user_id uuid NOT NULL,
    run_id uuid DEFAULT uuidv7() NOT NULL,
    kind text NOT NULL,
    seeds uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    state text DEFAULT 'open'::text NOT NULL,
    found bigint DEFAULT 0 NOT NULL,
    figures jsonb DEFAULT '{}'::jsonb NOT NULL,
    seconds real DEFAULT 0 NOT NULL,
    error_code text,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    finished_at timestamp with time zone,
    CONSTRAINT analysis_runs_figures_check CHECK ((jsonb_typeof(figures) = 'object'::text)),
    CONSTRAINT analysis_runs_finished CHECK (((state = 'open'::text) = (finished_at IS NULL))),
    CONSTRAINT analysis_runs_found_check CHECK ((found >= 0)),
    CONSTRAINT analysis_runs_kind_check CHECK ((kind = ANY (ARRAY['hubs'::text, 'communities'::text, 'orphans'::text, 'anomalies'::text, 'habits'::text, 'pagerank'::text]))),
    CONSTRAINT analysis_runs_seconds_check CHECK ((seconds >= (0)::double precision)),
    CONSTRAINT analysis_runs_seeds_check CHECK ((cardinality(seeds) <= 20)),
    CONSTRAINT analysis_runs_state_check CHECK ((state = ANY (ARRAY['open'::text, 'done'::text, 'failed'::text])))
);

ALTER TABLE ONLY memsvc.analysis_runs FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.analysis_runs OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.analysis_runs IS 'Analyses that were asked for, and what they cost. Holds no text.';

COMMENT ON COLUMN memsvc.analysis_runs.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.analysis_runs.run_id IS 'Time-ordered id.';

COMMENT ON COLUMN memsvc.analysis_runs.kind IS 'Which analysis.';

COMMENT ON COLUMN memsvc.analysis_runs.seeds IS 'Of pagerank: the nodes from which it walks; empty: the user''s own.';

COMMENT ON COLUMN memsvc.analysis_runs.state IS 'open: it waits or works; done; failed: see error_code.';

COMMENT ON COLUMN memsvc.analysis_runs.found IS 'How many things it found; at most the best 1,000 are kept.';

COMMENT ON COLUMN memsvc.analysis_runs.figures IS 'Numbers of the whole, such as nodes, facts and modularity.';

COMMENT ON COLUMN memsvc.analysis_runs.seconds IS 'How long it worked.';

COMMENT ON COLUMN memsvc.analysis_runs.error_code IS 'Why it failed.';

COMMENT ON COLUMN memsvc.analysis_runs.started_at IS 'When it was asked for.';

COMMENT ON COLUMN memsvc.analysis_runs.finished_at IS 'When it ended; null: it has not.';

CREATE TABLE memsvc.fact_reviews (
    user_id uuid NOT NULL,
    review_id uuid DEFAULT uuidv7() NOT NULL,
    passage_id uuid NOT NULL,
    extractor text NOT NULL,
    state text NOT NULL,
    reason text NOT NULL,
    proposal jsonb NOT NULL,
    digest bytea NOT NULL,
    span_from integer,
    span_to integer,
    found_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    decided_at timestamp with time zone,
    decided_by text,
    CONSTRAINT fact_reviews_decided CHECK (((state = ANY (ARRAY['doubtful'::text, 'refused'::text])) = (decided_at IS NULL))),
    CONSTRAINT fact_reviews_decided_by_check CHECK ((decided_by <> ''::text)),
    CONSTRAINT fact_reviews_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT fact_reviews_extractor_check CHECK (((extractor <> ''::text) AND (length(extractor) <= 200))),
    CONSTRAINT fact_reviews_proposal_check CHECK ((jsonb_typeof(proposal) = 'object'::text)),
    CONSTRAINT fact_reviews_reason_check CHECK ((reason ~ '^[a-z][a-z_]{0,39}$'::text)),
    CONSTRAINT fact_reviews_span CHECK ((((span_from IS NULL) = (span_to IS NULL)) AND (span_to > span_from))),
    CONSTRAINT fact_reviews_span_from_check CHECK ((span_from >= 0)),
    CONSTRAINT fact_reviews_state_check CHECK ((state = ANY (ARRAY['doubtful'::text, 'refused'::text, 'accepted'::text, 'edited'::text, 'rejected'::text])))
);
ALTER TABLE ONLY memsvc.fact_reviews ALTER COLUMN proposal SET STATISTICS 0;

ALTER TABLE ONLY memsvc.fact_reviews FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.fact_reviews OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.fact_reviews IS 'Facts that were found and not written by themselves: a person decides about doubtful ones, refused ones failed validation. They go with their passage.';

COMMENT ON COLUMN memsvc.fact_reviews.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.fact_reviews.review_id IS 'Time-ordered id.';

COMMENT ON COLUMN memsvc.fact_reviews.passage_id IS 'Where it was found.';

COMMENT ON COLUMN memsvc.fact_reviews.extractor IS 'Who found it.';

COMMENT ON COLUMN memsvc.fact_reviews.state IS 'doubtful, refused, accepted, edited (and accepted) or rejected.';

COMMENT ON COLUMN memsvc.fact_reviews.reason IS 'Why it was not written, as a code.';

COMMENT ON COLUMN memsvc.fact_reviews.proposal IS 'The fact: its ends, type, sentence, quote, times.';

COMMENT ON COLUMN memsvc.fact_reviews.digest IS 'Of ends and type: the same fact of the same passage is kept once, and not proposed again once it is rejected.';

COMMENT ON COLUMN memsvc.fact_reviews.span_from IS 'First character of the quote; null: it is not there.';

COMMENT ON COLUMN memsvc.fact_reviews.span_to IS 'The character behind it.';

COMMENT ON COLUMN memsvc.fact_reviews.found_at IS 'When it was found first.';

COMMENT ON COLUMN memsvc.fact_reviews.decided_at IS 'When somebody decided; null: nobody has.';

COMMENT ON COLUMN memsvc.fact_reviews.decided_by IS 'Who decided: user, app …';

CREATE TABLE memsvc.memory_signals (
    user_id uuid NOT NULL,
    memory_id uuid NOT NULL,
    kind text NOT NULL,
    passage_id uuid GENERATED ALWAYS AS (
CASE
    WHEN (kind = 'passage'::text) THEN memory_id
    ELSE NULL::uuid
END) STORED,
    version_id uuid GENERATED ALWAYS AS (
CASE
    WHEN (kind = 'fact'::text) THEN memory_id
    ELSE NULL::uuid
END) STORED,
    recalls integer DEFAULT 0 NOT NULL,
    last_recalled_at timestamp with time zone,
    used integer DEFAULT 0 NOT NULL,
    irrelevant integer DEFAULT 0 NOT NULL,
    importance smallint,
    sentiment real,
    pinned boolean DEFAULT false NOT NULL,
    CONSTRAINT memory_signals_importance_check CHECK (((importance >= 1) AND (importance <= 10))),
    CONSTRAINT memory_signals_irrelevant_check CHECK ((irrelevant >= 0)),
    CONSTRAINT memory_signals_kind_check CHECK ((kind = ANY (ARRAY['passage'::text, 'fact'::text]))),
    CONSTRAINT memory_signals_recalled CHECK (((recalls = 0) = (last_recalled_at IS NULL))),
    CONSTRAINT memory_signals_recalls_check CHECK ((recalls >= 0)),
    CONSTRAINT memory_signals_sentiment_check CHECK (((sentiment >= ('-1'::integer)::double precision) AND (sentiment <= (1)::double precision))),
    CONSTRAINT memory_signals_used_check CHECK ((used >= 0))
)
WITH (autovacuum_vacuum_scale_factor='0.05');

ALTER TABLE ONLY memsvc.memory_signals FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.memory_signals OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.memory_signals IS 'What is known about a memory besides its text. Only memories that were ever recalled, rated or judged have a row.';

COMMENT ON COLUMN memsvc.memory_signals.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.memory_signals.memory_id IS 'A passage, or a version of an edge.';

COMMENT ON COLUMN memsvc.memory_signals.kind IS 'passage (a message, a trace) or fact.';

COMMENT ON COLUMN memsvc.memory_signals.passage_id IS 'memory_id, where it is a passage.';

COMMENT ON COLUMN memsvc.memory_signals.version_id IS 'memory_id, where it is a version of an edge.';

COMMENT ON COLUMN memsvc.memory_signals.recalls IS 'In how many answers it was, as far as they are folded.';

COMMENT ON COLUMN memsvc.memory_signals.last_recalled_at IS 'In the last of them; null: in none.';

COMMENT ON COLUMN memsvc.memory_signals.used IS 'Of how many answers it was said to have been used.';

COMMENT ON COLUMN memsvc.memory_signals.irrelevant IS 'Of how many it was said to have been irrelevant.';

COMMENT ON COLUMN memsvc.memory_signals.importance IS 'How much it matters, 1 to 10; null: nobody has judged.';

COMMENT ON COLUMN memsvc.memory_signals.sentiment IS 'From -1 (bad) to 1 (good); null: nobody has judged.';

COMMENT ON COLUMN memsvc.memory_signals.pinned IS 'Always salient, because somebody wants it so.';

CREATE TABLE memsvc.terms (
    user_id uuid NOT NULL,
    kind text NOT NULL,
    form text NOT NULL,
    term text NOT NULL,
    passages bigint NOT NULL,
    CONSTRAINT terms_form_check CHECK ((form = ANY (ARRAY['stemmed'::text, 'simple'::text]))),
    CONSTRAINT terms_passages_check CHECK ((passages >= 0))
)
WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.05');
ALTER TABLE ONLY memsvc.terms ALTER COLUMN term SET STATISTICS 0;

ALTER TABLE ONLY memsvc.terms FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.terms OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.terms IS 'Document frequencies of one user; folded from term_deltas.';

COMMENT ON COLUMN memsvc.terms.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.terms.kind IS 'As passages.kind.';

COMMENT ON COLUMN memsvc.terms.form IS 'stemmed or simple.';

COMMENT ON COLUMN memsvc.terms.term IS 'The lexeme.';

COMMENT ON COLUMN memsvc.terms.passages IS 'df of BM25: passages that hold the term.';

CREATE FUNCTION memsvc.preview_erasure(p_user_id uuid, p_kind text, p_subject_id uuid) RETURNS jsonb
    LANGUAGE sql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 SELECT ( SELECT COALESCE(jsonb_object_agg(c.key, c.value), '{}'::jsonb) AS "coalesce"
            FROM jsonb_each(jsonb_build_object('source_links', cardinality(p.links), 'node_versions', cardinality(p.node_versions), 'edge_versions', cardinality(p.edge_versions), 'aliases', cardinality(p.aliases), 'locations', cardinality(p.locations), 'merges', cardinality(p.merges), 'edges', cardinality(p.edges), 'nodes', cardinality(p.nodes), 'evidence_reduced', cardinality(p.reduced), 'passages', cardinality(s.passages), 'sources', (num_nonnulls(s.source_id) + ( SELECT count(*) AS count
                    FROM memsvc.blocks_emptied(preview_erasure.p_user_id, s.passages, p.nodes, s.source_id) blocks_emptied(blocks_emptied))), 'embeddings', ( SELECT count(*) AS count
                    FROM memsvc.embeddings e
                   WHERE ((e.user_id = preview_erasure.p_user_id) AND (e.passage_id = ANY (s.passages)))), 'memory_signals', ( SELECT count(*) AS count
                    FROM memsvc.memory_signals m
                   WHERE ((m.user_id = preview_erasure.p_user_id) AND (m.memory_id = ANY ((s.passages || p.edge_versions))))), 'fact_reviews', ( SELECT count(*) AS count
                    FROM memsvc.fact_reviews r
                   WHERE ((r.user_id = preview_erasure.p_user_id) AND (r.passage_id = ANY (s.passages)))), 'duplicate_candidates', ( SELECT count(*) AS count
                    FROM memsvc.duplicate_candidates d
                   WHERE ((d.user_id = preview_erasure.p_user_id) AND ((d.node_a = ANY (p.nodes)) OR (d.node_b = ANY (p.nodes))))), 'profile_versions', ( SELECT count(*) AS count
                    FROM memsvc.profile_versions v
                   WHERE ((v.user_id = preview_erasure.p_user_id) AND ((v.node_id = ANY (p.nodes)) OR (v.source_id = s.source_id) OR ((preview_erasure.p_kind = 'block'::text) AND (v.block_id = preview_erasure.p_subject_id)) OR (EXISTS ( SELECT
                            FROM memsvc.profile_evidence e
                           WHERE ((e.user_id = preview_erasure.p_user_id) AND (e.version_id = v.version_id) AND (e.passage_id = ANY (s.passages)))))))), 'analysis_results', ( SELECT count(*) AS count
                    FROM (memsvc.analysis_results r
                      JOIN memsvc.analysis_runs a ON (((a.user_id = preview_erasure.p_user_id) AND (a.run_id = r.run_id))))
                   WHERE ((r.user_id = preview_erasure.p_user_id) AND (EXISTS ( SELECT
                            FROM unnest((((a.seeds || r.nodes) || r.facts) || r.passages)) i(id)
                           WHERE (i.id = ANY (((s.passages || p.edge_versions) || p.nodes))))))), 'terms', ( SELECT count(*) AS count
                    FROM (memsvc.terms_of(preview_erasure.p_user_id, s.passages) t(kind, form, term, passages)
                      LEFT JOIN ( SELECT k.kind,
                             k.form,
                             k.term,
                             sum(k.passages) AS passages
                            FROM ( SELECT f.kind,
                                     f.form,
                                     f.term,
                                     f.passages
                                    FROM memsvc.terms f
                                   WHERE (f.user_id = preview_erasure.p_user_id)
                                 UNION ALL
                                  SELECT d.kind,
                                     d.form,
                                     u.term,
                                     u.change
                                    FROM (memsvc.term_deltas d
                                      CROSS JOIN LATERAL UNNEST(d.terms, d.changes) u(term, change))
                                   WHERE (d.user_id = preview_erasure.p_user_id)) k
                           GROUP BY k.kind, k.form, k.term) known ON (((known.kind = t.kind) AND (known.form = t.form) AND (known.term = t.term))))
                   WHERE (known.passages <= (t.passages)::numeric)))) c(key, value)
           WHERE (c.value > '0'::jsonb)) AS "coalesce"
    FROM (memsvc.erasure_reach(preview_erasure.p_user_id, preview_erasure.p_kind, preview_erasure.p_subject_id, NULL::integer) s(passages, source_id, edges, node_id)
      CROSS JOIN LATERAL memsvc.plan_erasure(preview_erasure.p_user_id, s.passages, s.source_id, s.edges, s.node_id) p(links, node_versions, edge_versions, aliases, locations, merges, edges, nodes, reduced));
END;

ALTER FUNCTION memsvc.preview_erasure(p_user_id uuid, p_kind text, p_subject_id uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.preview_erasure(p_user_id uuid, p_kind text, p_subject_id uuid) IS 'What erasing would remove now, by table.';

CREATE FUNCTION memsvc.project(p_user_id uuid, p_nodes uuid[], p_closed uuid[], p_opened uuid[], p_before timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  members CONSTANT uuid[] := ARRAY(SELECT DISTINCT s.node_id FROM memsvc.same_nodes(p_user_id, p_nodes) AS s);
  moved uuid[];
  along uuid[];
BEGIN
  IF members <> '{}' THEN
    WITH before AS MATERIALIZED (
      DELETE FROM memory._ag_label_vertex AS d WHERE d.user_id = p_user_id AND d.node_id = ANY (members)
      RETURNING d.node_id, d.id
    )
    SELECT array_agg(v.node_id) INTO moved
    FROM memsvc.vertices_of(p_user_id, members) AS v
    LEFT JOIN before AS b ON b.node_id = v.canonical_id
    LEFT JOIN memsvc.resolve_nodes(p_user_id, members, p_before) AS r ON r.node_id = v.node_id
    WHERE p_before IS NULL OR r.canonical_id <> v.canonical_id OR b.id::text IS DISTINCT FROM
      ag_catalog._graphid(ag_catalog._label_id('memory', v.label::name), v.gid)::text;
    PERFORM memsvc.store_vertices(p_user_id, members);
  END IF;
  IF moved IS NOT NULL THEN
    SELECT array_agg(e.version_id) INTO along
    FROM (
      SELECT v.version_id FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.from_node = ANY (moved) AND v.recorded_to = 'infinity'
      UNION
      SELECT v.version_id FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.to_node = ANY (moved) AND v.recorded_to = 'infinity'
    ) AS e
    WHERE e.version_id <> ALL (p_opened);
  END IF;
  IF p_closed <> '{}' OR along IS NOT NULL THEN
    DELETE FROM memory._ag_label_edge AS d WHERE d.user_id = p_user_id AND d.version_id = ANY (p_closed || along);
  END IF;
  IF p_opened <> '{}' OR along IS NOT NULL THEN
    PERFORM memsvc.store_edges(p_user_id, p_opened || along);
  END IF;
END
$$;

ALTER FUNCTION memsvc.project(p_user_id uuid, p_nodes uuid[], p_closed uuid[], p_opened uuid[], p_before timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.project(p_user_id uuid, p_nodes uuid[], p_closed uuid[], p_opened uuid[], p_before timestamp with time zone) IS 'Brings the projection of a user up to date after some nodes and edges changed.';

CREATE FUNCTION memsvc.project_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  mine CONSTANT uuid := new.user_id;
  moment CONSTANT timestamptz := new.recorded_at;
BEGIN
  IF moment < now() - interval '1 minute' THEN
    RETURN NULL;
  END IF;
  PERFORM memsvc.lock_projection(mine, 'graph', p_alone => true);
  PERFORM memsvc.project(
    mine,
    ARRAY(
      SELECT v.node_id FROM node_versions AS v WHERE v.user_id = mine AND v.recorded_from = moment
      UNION
      SELECT v.node_id FROM node_versions AS v
      WHERE v.user_id = mine AND v.recorded_to = moment AND v.recorded_to < 'infinity'
      UNION
      SELECT n.node_id FROM merges AS m CROSS JOIN unnest(ARRAY[m.node_id, m.canonical_id]) AS n (node_id)
      WHERE m.user_id = mine AND m.recorded_from = moment
      UNION
      SELECT n.node_id FROM merges AS m CROSS JOIN unnest(ARRAY[m.node_id, m.canonical_id]) AS n (node_id)
      WHERE m.user_id = mine AND m.recorded_to = moment AND m.recorded_to < 'infinity'
    ),
    ARRAY(
      SELECT v.version_id FROM edge_versions AS v
      WHERE v.user_id = mine AND v.recorded_to = moment AND v.recorded_to < 'infinity'
    ),
    ARRAY(
      SELECT v.version_id FROM edge_versions AS v
      WHERE v.user_id = mine AND v.recorded_from = moment AND v.recorded_to = 'infinity'
    ),
    moment - interval '1 microsecond'
  );
  RETURN NULL;
END
$$;

ALTER FUNCTION memsvc.project_change() OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.project_change() IS 'Trigger: what a change did to the graph, in the projection.';

CREATE FUNCTION memsvc.project_more(p_user_id uuid, p_kind text, p_after uuid, p_limit integer) RETURNS uuid
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  after CONSTANT uuid := coalesce(p_after, '00000000-0000-0000-0000-000000000000');
  batch uuid[];
BEGIN
  IF NOT memsvc.has_projection() THEN
    RETURN NULL;
  END IF;
  IF p_kind = 'node' THEN
    batch := ARRAY(
      SELECT n.node_id FROM nodes AS n WHERE n.user_id = p_user_id AND n.node_id > after
      ORDER BY n.node_id LIMIT p_limit
    );
    PERFORM memsvc.store_vertices(p_user_id, batch);
  ELSIF p_kind = 'edge' THEN
    batch := ARRAY(
      SELECT v.version_id FROM edge_versions AS v
      WHERE v.user_id = p_user_id AND v.version_id > after AND v.recorded_to = 'infinity'
      ORDER BY v.version_id LIMIT p_limit
    );
    PERFORM memsvc.store_edges(p_user_id, batch);
  ELSE
    batch := ARRAY(
      SELECT p.passage_id FROM passages AS p WHERE p.user_id = p_user_id AND p.passage_id > after
      ORDER BY p.passage_id LIMIT p_limit
    );
    IF p_kind = 'passage' THEN
      PERFORM memsvc.store_passages(p_user_id, batch); -- PART_OF comes with them
    ELSE
      PERFORM memsvc.link_passages(p_user_id, batch);
    END IF;
  END IF;
  RETURN batch[cardinality(batch)];
END
$$;

ALTER FUNCTION memsvc.project_more(p_user_id uuid, p_kind text, p_after uuid, p_limit integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.project_more(p_user_id uuid, p_kind text, p_after uuid, p_limit integer) IS 'Stores some rows of a projection; the last id.';

CREATE FUNCTION memsvc.project_passages() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  mine uuid;
  fresh uuid[];
  followers uuid[];
BEGIN
  SELECT min(a.user_id::text)::uuid, array_agg(a.passage_id) INTO mine, fresh FROM added AS a WHERE a.kind = 'message';
  IF fresh IS NULL THEN
    RETURN NULL;
  END IF;
  PERFORM memsvc.lock_projection(mine, 'messages', p_alone => false);
  PERFORM memsvc.store_passages(mine, fresh);
  -- Mostly there are none: who places a message by its ordinal may place it before others.
  SELECT array_agg(DISTINCT f.passage_id) INTO followers
  FROM added AS a
  CROSS JOIN LATERAL (
    SELECT p.passage_id FROM passages AS p
    WHERE p.user_id = mine AND p.source_id = a.source_id AND p.session = a.session
      AND (p.ordinal, p.part) > (a.ordinal, a.part) AND p.kind = 'message'
    ORDER BY p.ordinal, p.part
    LIMIT 1
  ) AS f
  WHERE a.kind = 'message' AND f.passage_id <> ALL (fresh);
  PERFORM memsvc.link_passages(mine, fresh || followers);
  RETURN NULL;
END
$$;

ALTER FUNCTION memsvc.project_passages() OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.project_passages() IS 'Trigger: new passages, in the projection.';

CREATE FUNCTION memsvc.project_remains() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  mine uuid;
  nodes uuid[];
BEGIN
  IF TG_TABLE_NAME = 'merges' THEN
    SELECT min(g.user_id::text)::uuid, array_agg(DISTINCT n.node_id) INTO mine, nodes
    FROM gone AS g CROSS JOIN unnest(ARRAY[g.node_id, g.canonical_id]) AS n (node_id);
  ELSE
    SELECT min(g.user_id::text)::uuid, array_agg(DISTINCT g.node_id) INTO mine, nodes FROM gone AS g;
  END IF;
  IF EXISTS (SELECT FROM users AS u WHERE u.user_id = mine AND u.erasing_since IS NULL) THEN
    PERFORM memsvc.lock_projection(mine, 'graph', p_alone => true);
    PERFORM memsvc.project(mine, nodes, '{}', '{}', NULL);
  ELSE
    DELETE FROM memory._ag_label_vertex AS d WHERE d.user_id = mine AND d.node_id = ANY (nodes);
  END IF;
  RETURN NULL;
END
$$;

ALTER FUNCTION memsvc.project_remains() OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.project_remains() IS 'Trigger: what is left of nodes whose versions or merges were deleted.';

CREATE FUNCTION memsvc.projection_wanted(p_user_id uuid) RETURNS TABLE(kind text, subject text, place text, properties text)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
BEGIN
  RETURN QUERY
  SELECT 'node', w.node_id::text,
    concat_ws(' ', w.label, ag_catalog._graphid(ag_catalog._label_id('memory', w.label::name), w.gid)), w.properties
  FROM memsvc.vertices_wanted(p_user_id, ARRAY(SELECT n.node_id FROM nodes AS n WHERE n.user_id = p_user_id)) AS w
  UNION ALL
  SELECT 'edge', w.version_id::text, concat_ws(
      ' ', w.label, ag_catalog._label_id('memory', w.label::name),
      ag_catalog._graphid(ag_catalog._label_id('memory', w.start_label::name), w.start_gid),
      ag_catalog._graphid(ag_catalog._label_id('memory', w.end_label::name), w.end_gid)
    ), w.properties
  FROM memsvc.edges_wanted(p_user_id, ARRAY(
    SELECT v.version_id FROM edge_versions AS v WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity'
  )) AS w;

  -- AGE numbers vertices of messages itself: their edges must lead to whatever numbers those have.
  RETURN QUERY
  WITH said AS MATERIALIZED (
    SELECT p.*, lag(p.passage_id) OVER (PARTITION BY p.source_id, p.session ORDER BY p.ordinal, p.part) AS before
    FROM passages AS p WHERE p.user_id = p_user_id AND p.kind = 'message'
  ),
  vertex AS MATERIALIZED (
    SELECT v.node_id, v.id::text AS number FROM memory."Passage" AS v WHERE v.user_id = p_user_id
    UNION ALL
    SELECT v.node_id, v.id::text FROM memory."Conversation" AS v WHERE v.user_id = p_user_id
  )
  SELECT 'passage', s.passage_id::text, 'Passage',
    memsvc.passage_shown(s.passage_id, s.role, s.speaker, s.text, s.caption, s.said_at)
  FROM said AS s
  UNION ALL
  SELECT DISTINCT 'passage', s.source_id::text, 'Conversation', jsonb_build_object('id', s.source_id)::text
  FROM said AS s
  UNION ALL
  SELECT 'order', concat_ws(' ', e.label, s.passage_id), concat_ws(
      ' ', e.label, ag_catalog._label_id('memory', e.label::name), a.number, b.number
    ), '{}'
  FROM said AS s
  CROSS JOIN LATERAL (
    VALUES ('PART_OF', s.passage_id, s.source_id), ('NEXT', s.before, s.passage_id)
  ) AS e (label, from_id, to_id)
  LEFT JOIN vertex AS a ON a.node_id = e.from_id
  LEFT JOIN vertex AS b ON b.node_id = e.to_id
  WHERE e.from_id IS NOT NULL;
END
$$;

ALTER FUNCTION memsvc.projection_wanted(p_user_id uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.projection_wanted(p_user_id uuid) IS 'Rows that there should be in the projection of a user.';

CREATE FUNCTION memsvc.propose_type(p_user_id uuid, p_kind text, p_type jsonb, p_actor text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
DECLARE
  given record;
  wrong text;
  known text;
BEGIN
  SELECT p.*, coalesce(p.category, t.category, CASE p_kind WHEN 'node' THEN 'entity' ELSE 'general' END) AS chosen,
    coalesce(p.from_types, t.from_types, '{}') AS begins, coalesce(p.to_types, t.to_types, '{}') AS ends,
    t.category IS NOT NULL AS refines
  INTO given
  FROM jsonb_to_record(p_type) AS p (
    name text, description text, category text, parent text, reason text, from_types text[], to_types text[],
    functional boolean
  )
  LEFT JOIN LATERAL (
    SELECT n.category, NULL::text[] AS from_types, NULL::text[] AS to_types FROM node_types AS n
    WHERE p_kind = 'node' AND n.user_id = memsvc.core_user_id() AND n.name = p.parent
    UNION ALL
    SELECT e.category, e.from_types, e.to_types FROM edge_types AS e
    WHERE p_kind = 'edge' AND e.user_id = memsvc.core_user_id() AND e.name = p.parent
  ) AS t ON true;
  IF given.parent IS NOT NULL AND NOT given.refines THEN
    PERFORM memsvc.refuse_change(
      'type_unknown', NULL, format('The core ontology has no %s type %s to refine.', p_kind, given.parent)
    );
  END IF;
  SELECT a.name INTO wrong FROM unnest(given.begins || given.ends) AS a (name)
  WHERE NOT EXISTS (
    SELECT FROM node_types AS t
    WHERE t.user_id IN (memsvc.core_user_id(), p_user_id) AND t.name = a.name AND t.status <> 'rejected'
  );
  IF FOUND THEN
    PERFORM memsvc.refuse_change('type_unknown', NULL, format('The ontology has no node type %s.', wrong));
  END IF;
  IF p_kind = 'node' THEN
    INSERT INTO node_types (
      user_id, name, category, description, parent, status, reason, proposed_by, proposed_at
    )
    VALUES (
      p_user_id, given.name, given.chosen, given.description, given.parent, 'proposed', given.reason, p_actor,
      clock_timestamp()
    )
    ON CONFLICT (user_id, lower(name)) DO NOTHING;
  ELSE
    INSERT INTO edge_types (
      user_id, name, category, from_types, to_types, functional, description, parent, status, reason, proposed_by,
      proposed_at
    )
    VALUES (
      p_user_id, given.name, given.chosen, given.begins, given.ends, given.functional, given.description, given.parent,
      'proposed', given.reason, p_actor, clock_timestamp()
    )
    ON CONFLICT (user_id, lower(name)) DO NOTHING;
  END IF;
  IF NOT FOUND THEN
    SELECT format('%s: %s', t.name, t.status) INTO known
    FROM (
      SELECT n.name, n.status FROM node_types AS n
      WHERE p_kind = 'node' AND n.user_id = p_user_id AND lower(n.name) = lower(given.name)
      UNION ALL
      SELECT e.name, e.status FROM edge_types AS e
      WHERE p_kind = 'edge' AND e.user_id = p_user_id AND lower(e.name) = lower(given.name)
    ) AS t;
    PERFORM memsvc.refuse_change('already_exists', NULL, format('There is such a type already (%s).', known));
  END IF;
END
$$;

ALTER FUNCTION memsvc.propose_type(p_user_id uuid, p_kind text, p_type jsonb, p_actor text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.propose_type(p_user_id uuid, p_kind text, p_type jsonb, p_actor text) IS 'Adds a type that waits for approval.';

CREATE FUNCTION memsvc.random_memory(p_user_id uuid, p_seed bigint, p_as_of timestamp with time zone DEFAULT NULL::timestamp with time zone, p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS uuid
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    AS $$
DECLARE
  latest CONSTANT timestamptz := least(
    coalesce(p_as_of, 'infinity'), coalesce(p_known_at + interval '1 day', 'infinity')
  );
  known CONSTANT timestamptz := coalesce(p_known_at, 'infinity');
  first_at timestamptz := (
    SELECT p.said_at FROM passages AS p WHERE p.user_id = p_user_id AND p.said_at <= latest
    ORDER BY p.said_at LIMIT 1
  );
  last_at timestamptz := (
    SELECT p.said_at FROM passages AS p WHERE p.user_id = p_user_id AND p.said_at <= latest
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
    WHERE p.user_id = p_user_id AND p.said_at >= drawn AND p.said_at <= last_at ORDER BY p.said_at LIMIT 1;
    SELECT p.said_at INTO gap_from FROM passages AS p
    WHERE p.user_id = p_user_id AND p.said_at <= drawn AND p.said_at >= first_at ORDER BY p.said_at DESC LIMIT 1;
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
    SELECT p.passage_id, p.kind, p.part, p.recorded_at FROM passages AS p
    WHERE p.user_id = p_user_id AND p.said_at >= drawn AND p.said_at <= latest
    ORDER BY p.said_at LIMIT 8
  ) AS w
  WHERE w.kind = 'message' AND w.part = 0 AND w.recorded_at <= known
  ORDER BY hashtextextended(w.passage_id::text, p_seed), w.passage_id
  LIMIT 1;
  IF chosen IS NULL THEN -- traces alone stand there, or what was recorded later: the next message, else the last one
    SELECT p.passage_id INTO chosen FROM passages AS p
    WHERE p.user_id = p_user_id AND p.said_at >= drawn AND p.said_at <= latest AND p.kind = 'message' AND p.part = 0
      AND p.recorded_at <= known
    ORDER BY p.said_at LIMIT 1;
  END IF;
  IF chosen IS NULL THEN
    SELECT p.passage_id INTO chosen FROM passages AS p
    WHERE p.user_id = p_user_id AND p.said_at < drawn AND p.kind = 'message' AND p.part = 0 AND p.recorded_at <= known
    ORDER BY p.said_at DESC LIMIT 1;
  END IF;
  RETURN chosen;
END
$$;

ALTER FUNCTION memsvc.random_memory(p_user_id uuid, p_seed bigint, p_as_of timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.random_memory(p_user_id uuid, p_seed bigint, p_as_of timestamp with time zone, p_known_at timestamp with time zone) IS 'A message by chance, the same for the same seed and data.';

CREATE FUNCTION memsvc.rebuild_projection(p_user_id uuid, p_part text, p_batch integer DEFAULT 5000) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
DECLARE
  one text;
  last uuid;
BEGIN
  IF NOT memsvc.has_projection() THEN
    RETURN;
  END IF;
  PERFORM memsvc.lock_projection(p_user_id, p_part, p_alone => true);
  PERFORM memsvc.empty_projection(p_user_id, p_part);
  FOREACH one IN ARRAY CASE p_part WHEN 'graph' THEN ARRAY['node', 'edge'] ELSE ARRAY['passage', 'order'] END LOOP
    last := NULL;
    LOOP
      last := memsvc.project_more(p_user_id, one, last, p_batch);
      EXIT WHEN last IS NULL;
    END LOOP;
  END LOOP;
  PERFORM memsvc.require_identity(p_user_id);
END
$$;

ALTER FUNCTION memsvc.rebuild_projection(p_user_id uuid, p_part text, p_batch integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.rebuild_projection(p_user_id uuid, p_part text, p_batch integer) IS 'Makes a part of the projection of a user anew.';

CREATE FUNCTION memsvc.recall_candidates(p_user_id uuid, p_query text, p_enough integer, p_candidates integer, p_form text, p_language text, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_by_words boolean, p_model_id smallint, p_vector public.halfvec, p_other_model_id smallint, p_other_vector public.halfvec, p_nodes uuid[], p_reach double precision[], p_distances integer[], p_begins timestamp with time zone[], p_ends timestamp with time zone[]) RETURNS TABLE(passage_id uuid, source_id uuid, session text, ordinal integer, role text, speaker text, said_at timestamp with time zone, words double precision, words_rank bigint, matched_terms text[], matched_form text, similarity double precision, vector_rank bigint, other_similarity double precision, other_rank bigint, node_id uuid, reach double precision, distance integer)
    LANGUAGE sql STABLE ROWS 150
    SET search_path TO 'memsvc', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_nestloop TO 'off'
    BEGIN ATOMIC
 WITH other AS MATERIALIZED (
          SELECT m.matched_id,
             m.similarity,
             m.rank
            FROM memsvc.match_vectors(recall_candidates.p_user_id, recall_candidates.p_other_model_id, recall_candidates.p_other_vector, recall_candidates.p_candidates, recall_candidates.p_kinds, recall_candidates.p_sources, recall_candidates.p_not_sources, recall_candidates.p_said_from, recall_candidates.p_said_to, recall_candidates.p_known_at) WITH ORDINALITY m(matched_id, similarity, rank)
           WHERE (recall_candidates.p_other_vector IS NOT NULL)
         ), found AS MATERIALIZED (
          SELECT a.matched_id,
             any_value(a.words) AS words,
             any_value(a.words_rank) AS words_rank,
             any_value(a.matched_terms) AS matched_terms,
             any_value(a.matched_form) AS matched_form,
             any_value(a.similarity) AS similarity,
             any_value(a.vector_rank) AS vector_rank,
             any_value(a.node_id) AS node_id,
             any_value(a.reach) AS reach,
             any_value(a.distance) AS distance
            FROM ( SELECT m.matched_id,
                     m.score AS words,
                     m.rank AS words_rank,
                     m.matched_terms,
                     m.matched_form,
                     NULL::double precision AS similarity,
                     NULL::bigint AS vector_rank,
                     NULL::uuid AS node_id,
                     NULL::double precision AS reach,
                     NULL::integer AS distance
                    FROM memsvc.match_words(recall_candidates.p_user_id, recall_candidates.p_query, recall_candidates.p_candidates, recall_candidates.p_form, recall_candidates.p_language, recall_candidates.p_kinds, recall_candidates.p_sources, recall_candidates.p_not_sources, recall_candidates.p_said_from, recall_candidates.p_said_to, recall_candidates.p_enough, recall_candidates.p_known_at) WITH ORDINALITY m(matched_id, score, matched_terms, matched_form, rank)
                   WHERE recall_candidates.p_by_words
                 UNION ALL
                  SELECT m.matched_id,
                     NULL::double precision,
                     NULL::bigint,
                     NULL::text[],
                     NULL::text,
                     m.similarity,
                     m.rank,
                     NULL::uuid,
                     NULL::double precision,
                     NULL::integer
                    FROM memsvc.match_vectors(recall_candidates.p_user_id, recall_candidates.p_model_id, recall_candidates.p_vector, recall_candidates.p_candidates, recall_candidates.p_kinds, recall_candidates.p_sources, recall_candidates.p_not_sources, recall_candidates.p_said_from, recall_candidates.p_said_to, recall_candidates.p_known_at) WITH ORDINALITY m(matched_id, similarity, rank)
                   WHERE (recall_candidates.p_vector IS NOT NULL)
                 UNION ALL
                  SELECT m.matched_id,
                     NULL::double precision,
                     NULL::bigint,
                     NULL::text[],
                     NULL::text,
                     NULL::double precision,
                     NULL::bigint,
                     m.node_id,
                     m.reach,
                     m.distance
                    FROM memsvc.match_mentions(recall_candidates.p_user_id, recall_candidates.p_nodes, recall_candidates.p_reach, recall_candidates.p_distances, recall_candidates.p_candidates, recall_candidates.p_kinds, recall_candidates.p_sources, recall_candidates.p_not_sources, recall_candidates.p_said_from, recall_candidates.p_said_to, recall_candidates.p_as_of, recall_candidates.p_known_at) m(matched_id, node_id, reach, distance)
                   WHERE (recall_candidates.p_nodes <> '{}'::uuid[])
                 UNION ALL
                  SELECT m.matched_id,
                     NULL::double precision,
                     NULL::bigint,
                     NULL::text[],
                     NULL::text,
                     NULL::double precision,
                     NULL::bigint,
                     NULL::uuid,
                     NULL::double precision,
                     NULL::integer
                    FROM memsvc.match_times(recall_candidates.p_user_id, recall_candidates.p_begins, recall_candidates.p_ends, recall_candidates.p_candidates, recall_candidates.p_kinds, recall_candidates.p_sources, recall_candidates.p_not_sources, recall_candidates.p_said_from, recall_candidates.p_said_to, recall_candidates.p_as_of, recall_candidates.p_known_at) m(matched_id, fit)
                   WHERE (recall_candidates.p_begins <> '{}'::timestamp with time zone[])
                 UNION ALL
                  SELECT o_1.matched_id,
                     NULL::double precision,
                     NULL::bigint,
                     NULL::text[],
                     NULL::text,
                     NULL::double precision,
                     NULL::bigint,
                     NULL::uuid,
                     NULL::double precision,
                     NULL::integer
                    FROM other o_1
                   WHERE ((recall_candidates.p_vector IS NULL) OR (NOT (EXISTS ( SELECT
                            FROM memsvc.embeddings e
                           WHERE ((e.user_id = recall_candidates.p_user_id) AND (e.model_id = recall_candidates.p_model_id) AND (e.passage_id = o_1.matched_id))))))) a
           GROUP BY a.matched_id
         ), known AS MATERIALIZED (
          SELECT e.passage_id,
             (- (e.vector OPERATOR(public.<#>) recall_candidates.p_vector)) AS similarity
            FROM memsvc.embeddings e
           WHERE ((recall_candidates.p_vector IS NOT NULL) AND (e.user_id = recall_candidates.p_user_id) AND (e.model_id = recall_candidates.p_model_id) AND (e.passage_id = ANY (ARRAY( SELECT f_1.matched_id
                    FROM found f_1
                   WHERE (f_1.similarity IS NULL)))))
         )
  SELECT p.passage_id,
     p.source_id,
     p.session,
     p.ordinal,
     p.role,
         CASE
             WHEN (p.kind = ANY (ARRAY['block'::text, 'former'::text])) THEN p.role
             ELSE p.speaker
         END AS speaker,
     p.said_at,
     f.words,
     f.words_rank,
     f.matched_terms,
     f.matched_form,
     COALESCE(f.similarity, k.similarity) AS "coalesce",
     f.vector_rank,
         CASE
             WHEN (recall_candidates.p_other_vector IS NOT NULL) THEN COALESCE(o.similarity, ( SELECT (- (e.vector OPERATOR(public.<#>) recall_candidates.p_other_vector))
                FROM memsvc.embeddings e
               WHERE ((e.user_id = recall_candidates.p_user_id) AND (e.model_id = recall_candidates.p_other_model_id) AND (e.passage_id = f.matched_id))))
             ELSE NULL::double precision
         END AS "case",
     o.rank,
     f.node_id,
     f.reach,
     f.distance
    FROM (((found f
      LEFT JOIN other o ON ((o.matched_id = f.matched_id)))
      LEFT JOIN known k ON ((k.passage_id = f.matched_id)))
      JOIN memsvc.passages p ON ((p.passage_id = f.matched_id)))
   WHERE ((p.user_id = recall_candidates.p_user_id) AND (p.passage_id = ANY (ARRAY( SELECT c.matched_id
            FROM found c))) AND (p.kind = ANY (recall_candidates.p_kinds)) AND
         CASE
             WHEN (p.kind <> 'former'::text) THEN true
             ELSE (EXISTS ( SELECT
                FROM memsvc.profile_versions v
               WHERE ((v.user_id = recall_candidates.p_user_id) AND (v.block_id = p.source_id) AND (v.version = p.ordinal) AND (v.recorded_to > recall_candidates.p_known_at))))
         END);
END;

ALTER FUNCTION memsvc.recall_candidates(p_user_id uuid, p_query text, p_enough integer, p_candidates integer, p_form text, p_language text, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_by_words boolean, p_model_id smallint, p_vector public.halfvec, p_other_model_id smallint, p_other_vector public.halfvec, p_nodes uuid[], p_reach double precision[], p_distances integer[], p_begins timestamp with time zone[], p_ends timestamp with time zone[]) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.recall_candidates(p_user_id uuid, p_query text, p_enough integer, p_candidates integer, p_form text, p_language text, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_by_words boolean, p_model_id smallint, p_vector public.halfvec, p_other_model_id smallint, p_other_vector public.halfvec, p_nodes uuid[], p_reach double precision[], p_distances integer[], p_begins timestamp with time zone[], p_ends timestamp with time zone[]) IS 'Passages that the arms of recall find for a query, each once, with what the arms know of them.';

CREATE FUNCTION memsvc.recall_strength(p_recalls integer, p_since interval, p_half_life interval) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN ((p_recalls > 0) AND (p_since IS NOT NULL)) THEN power((2)::double precision, (- LEAST((GREATEST(date_part('epoch'::text, p_since), (0)::double precision) / (GREATEST(date_part('epoch'::text, p_half_life), (1)::double precision) * ((1)::double precision + (p_recalls)::double precision))), (1000)::double precision))) ELSE (0)::double precision END;

ALTER FUNCTION memsvc.recall_strength(p_recalls integer, p_since interval, p_half_life interval) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.recall_strength(p_recalls integer, p_since interval, p_half_life interval) IS 'What was recalled lives longer, 0 to 1: decay since the last recall, slower with each.';

CREATE FUNCTION memsvc.recency(p_age interval, p_half_life interval) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN power((2)::double precision, (- LEAST((GREATEST(date_part('epoch'::text, p_age), (0)::double precision) / GREATEST(date_part('epoch'::text, p_half_life), (1)::double precision)), (1000)::double precision)));

ALTER FUNCTION memsvc.recency(p_age interval, p_half_life interval) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.recency(p_age interval, p_half_life interval) IS 'Exponential decay with the age, 1 down to 0: 2^(-age / half-life).';

CREATE FUNCTION memsvc.says_i(p_query text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ((p_query ~ '[我私僕俺]'::text) OR (memsvc.plain_words(p_query) && (memsvc.first_person_words() || ARRAY['we'::text, 'us'::text, 'our'::text, 'ours'::text, 'wir'::text, 'uns'::text, 'unser'::text, 'unsere'::text, 'mon'::text, 'mes'::text, 'nous'::text, 'mis'::text, 'nosotros'::text])));

ALTER FUNCTION memsvc.says_i(p_query text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.says_i(p_query text) IS 'Whether a query speaks of the one who asks.';

CREATE FUNCTION memsvc.says_near(p_query text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (lower(p_query) ~ '\m(near(by|er|est)?|closest|close (to|by)|around|round the corner|beside|next (door )?to|not far|opposite|neighbou?r(s|ing|hood)?|vicinity|surroundings|walking distance|steps (from|away)|nahe|nähe|neben|bei|beim|unweit|umgebung|nachbarschaft|rund um|um die ecke|gegenüber|près|proche|autour|voisinage|alentours|cerca|alrededor|junto|vecindario|perto|próximo|arredores)\M|附近|旁边|旁邊|周围|周圍|边上|邊上|近く|周辺|そば|隣|근처|주변|옆'::text);

ALTER FUNCTION memsvc.says_near(p_query text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.says_near(p_query text) IS 'Whether a query asks for what is near something.';

CREATE FUNCTION memsvc.speaks_of(p_user_id uuid, p_passage_id uuid, p_nodes uuid[], p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  known CONSTANT timestamptz := coalesce(p_known_at, 'infinity');
BEGIN
  RETURN EXISTS (
    SELECT FROM source_links AS l
    WHERE l.user_id = p_user_id AND l.passage_id = p_passage_id AND l.stance = 'supports' AND l.recorded_from <= known
      AND (l.recorded_to = 'infinity' OR l.recorded_to > known) AND (
        l.node_id = ANY (p_nodes)
        OR (l.node_version_id IS NOT NULL AND EXISTS (
          SELECT FROM node_versions AS v
          WHERE v.user_id = p_user_id AND v.version_id = l.node_version_id AND v.node_id = ANY (p_nodes)
        ))
        OR (l.edge_version_id IS NOT NULL AND EXISTS (
          SELECT FROM edge_versions AS v
          WHERE v.user_id = p_user_id AND v.version_id = l.edge_version_id
            AND (v.from_node = ANY (p_nodes) OR v.to_node = ANY (p_nodes))
        ))
        OR (l.alias_id IS NOT NULL AND EXISTS (
          SELECT FROM aliases AS v
          WHERE v.user_id = p_user_id AND v.alias_id = l.alias_id AND v.node_id = ANY (p_nodes)
        ))
        OR (l.location_id IS NOT NULL AND EXISTS (
          SELECT FROM locations AS v
          WHERE v.user_id = p_user_id AND v.location_id = l.location_id AND v.node_id = ANY (p_nodes)
        ))
      )
  );
END
$$;

ALTER FUNCTION memsvc.speaks_of(p_user_id uuid, p_passage_id uuid, p_nodes uuid[], p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.speaks_of(p_user_id uuid, p_passage_id uuid, p_nodes uuid[], p_known_at timestamp with time zone) IS 'Whether a passage supports something that is known about some nodes.';

CREATE FUNCTION memsvc.staleness(p_valid_to timestamp with time zone, p_recorded timestamp with time zone, p_now timestamp with time zone) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN (p_valid_to <= p_now) THEN (1)::double precision ELSE (((1)::double precision - power((2)::double precision, (- LEAST((GREATEST(date_part('epoch'::text, (p_now - p_recorded)), (0)::double precision) / ((730)::double precision * (86400)::double precision)), (1000)::double precision)))) / (2)::double precision) END;

ALTER FUNCTION memsvc.staleness(p_valid_to timestamp with time zone, p_recorded timestamp with time zone, p_now timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.staleness(p_valid_to timestamp with time zone, p_recorded timestamp with time zone, p_now timestamp with time zone) IS 'How stale a fact is, 0 to 1: 1 where it has ended, else rising to 1/2 while nothing confirms it.';

CREATE FUNCTION memsvc.windows_fit(p_moment timestamp with time zone, p_begins timestamp with time zone[], p_ends timestamp with time zone[], p_scale interval) RETURNS double precision
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
DECLARE
  distance interval;
BEGIN
  FOR i IN 1..cardinality(p_begins) LOOP
    distance := least(distance, greatest(p_begins[i] - p_moment, p_moment - p_ends[i]));
  END LOOP;
  RETURN exp(-least(700, date_part('epoch', greatest(distance, interval '0')) / date_part('epoch', p_scale)));
END
$$;

ALTER FUNCTION memsvc.windows_fit(p_moment timestamp with time zone, p_begins timestamp with time zone[], p_ends timestamp with time zone[], p_scale interval) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.windows_fit(p_moment timestamp with time zone, p_begins timestamp with time zone[], p_ends timestamp with time zone[], p_scale interval) IS 'How well a moment fits many windows: time_fit for more than four.';

CREATE FUNCTION memsvc.time_fit(p_moment timestamp with time zone, p_begins timestamp with time zone[], p_ends timestamp with time zone[], p_scale interval) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN ((p_moment IS NULL) OR (COALESCE(cardinality(p_begins), 0) = 0)) THEN (0)::double precision WHEN (cardinality(p_begins) = 1) THEN exp((- LEAST((700)::double precision, (date_part('epoch'::text, GREATEST(((p_begins)[1] - p_moment), (p_moment - (p_ends)[1]), '00:00:00'::interval)) / date_part('epoch'::text, p_scale))))) WHEN (cardinality(p_begins) <= 4) THEN exp((- LEAST((700)::double precision, (date_part('epoch'::text, GREATEST('00:00:00'::interval, LEAST(GREATEST(((p_begins)[1] - p_moment), (p_moment - (p_ends)[1])), GREATEST(((p_begins)[2] - p_moment), (p_moment - (p_ends)[2])), GREATEST(((p_begins)[3] - p_moment), (p_moment - (p_ends)[3])), GREATEST(((p_begins)[4] - p_moment), (p_moment - (p_ends)[4]))))) / date_part('epoch'::text, p_scale))))) ELSE memsvc.windows_fit(p_moment, p_begins, p_ends, p_scale) END;

ALTER FUNCTION memsvc.time_fit(p_moment timestamp with time zone, p_begins timestamp with time zone[], p_ends timestamp with time zone[], p_scale interval) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.time_fit(p_moment timestamp with time zone, p_begins timestamp with time zone[], p_ends timestamp with time zone[], p_scale interval) IS 'How well a moment fits windows of time: 1 inside one, less the farther away it is.';

CREATE FUNCTION memsvc.usefulness(p_used integer, p_irrelevant integer) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (((COALESCE(p_used, 0))::double precision - (COALESCE(p_irrelevant, 0))::double precision) / (((COALESCE(p_used, 0))::double precision + (COALESCE(p_irrelevant, 0))::double precision) + (2)::double precision));

ALTER FUNCTION memsvc.usefulness(p_used integer, p_irrelevant integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.usefulness(p_used integer, p_irrelevant integer) IS 'Feedback, -1 to 1, smoothed: (used - irrelevant) / (used + irrelevant + 2).';

CREATE FUNCTION memsvc.whole_words(p_words text[]) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
BEGIN
  IF NOT memsvc.has_signs(array_to_string(p_words, ' ')) THEN
    RETURN p_words;
  END IF;
  RETURN ARRAY(
    SELECT w.word FROM unnest(p_words) WITH ORDINALITY AS w (word, rank)
    WHERE NOT (memsvc.has_signs(w.word) AND EXISTS (
      SELECT FROM unnest(p_words) AS o (word) WHERE length(o.word) > length(w.word) AND strpos(o.word, w.word) > 0
    ))
    ORDER BY w.rank
  );
END
$$;

ALTER FUNCTION memsvc.whole_words(p_words text[]) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.whole_words(p_words text[]) IS 'Matched words without those that are Chinese, Japanese or Korean parts of others.';

CREATE FUNCTION memsvc.words_behind(p_query text, p_form text, p_language text, p_terms text[]) RETURNS text[]
    LANGUAGE sql STABLE
    RETURN CASE WHEN (length(p_query) > 2000) THEN p_terms ELSE ARRAY(SELECT COALESCE((array_agg(t.token ORDER BY (t.token <> wanted.term), t.place))[1], wanted.term) AS "coalesce" FROM (unnest(words_behind.p_terms) WITH ORDINALITY wanted(term, rank) LEFT JOIN (SELECT s.token, s.place, w.term FROM (ts_parse('default'::text, memsvc.set_signs_apart(words_behind.p_query)) WITH ORDINALITY s(type, token, place) CROSS JOIN LATERAL unnest(tsvector_to_array(memsvc.to_words(words_behind.p_form, words_behind.p_language, s.token))) w(term)) WHERE (btrim(s.token) <> ''::text)) t ON ((t.term = wanted.term))) GROUP BY wanted.rank, wanted.term ORDER BY wanted.rank) END;

ALTER FUNCTION memsvc.words_behind(p_query text, p_form text, p_language text, p_terms text[]) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.words_behind(p_query text, p_form text, p_language text, p_terms text[]) IS 'The words of a query that stand behind matched lexemes.';

CREATE FUNCTION memsvc.z_score(p_value double precision, p_mean double precision, p_spread double precision) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN COALESCE(((p_value - p_mean) / CASE WHEN (p_spread > (0.000000001)::double precision) THEN p_spread ELSE NULL::double precision END), (0)::double precision);

ALTER FUNCTION memsvc.z_score(p_value double precision, p_mean double precision, p_spread double precision) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.z_score(p_value double precision, p_mean double precision, p_spread double precision) IS 'How many standard deviations a value lies above the mean; 0 where all are alike or there is none.';

CREATE FUNCTION memsvc.recall(p_user_id uuid, p_query text, p_limit integer, p_weights jsonb DEFAULT '{}'::jsonb, p_form text DEFAULT 'stemmed'::text, p_language text DEFAULT 'english'::text, p_kinds text[] DEFAULT '{message}'::text[], p_sources uuid[] DEFAULT NULL::uuid[], p_not_sources uuid[] DEFAULT NULL::uuid[], p_said_from timestamp with time zone DEFAULT NULL::timestamp with time zone, p_said_to timestamp with time zone DEFAULT NULL::timestamp with time zone, p_as_of timestamp with time zone DEFAULT NULL::timestamp with time zone, p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone, p_model_id smallint DEFAULT NULL::smallint, p_vector public.halfvec DEFAULT NULL::public.halfvec, p_tokens bit[] DEFAULT NULL::"bit"[], p_other_model_id smallint DEFAULT NULL::smallint, p_other_vector public.halfvec DEFAULT NULL::public.halfvec, p_nodes uuid[] DEFAULT '{}'::uuid[], p_hops integer DEFAULT 1, p_begins timestamp with time zone[] DEFAULT '{}'::timestamp with time zone[], p_ends timestamp with time zone[] DEFAULT '{}'::timestamp with time zone[], p_order text DEFAULT NULL::text, p_facts boolean DEFAULT true, p_candidates integer DEFAULT 64, p_late integer DEFAULT 30, p_except uuid[] DEFAULT '{}'::uuid[], p_near uuid[] DEFAULT NULL::uuid[]) RETURNS TABLE(memory_id uuid, kind text, rank bigint, score double precision, arms jsonb, factors jsonb, path text[], matched text[], confidence double precision, met jsonb)
    LANGUAGE sql STABLE
    SET search_path TO 'memsvc', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    BEGIN ATOMIC
 WITH asked AS MATERIALIZED (
          SELECT w.words,
             w.nearby,
             w.session,
             w.vector,
             w.nearby_vector,
             w.session_vector,
             w.late,
             w.names,
             w.distance,
             w.place,
             w.speaker,
             w."time",
             w."order",
             w.recency,
             w.importance,
             w.strength,
             w.familiarity,
             w.usefulness,
             w.sentiment,
             w.kind,
             w.staleness,
             COALESCE(recall.p_as_of, recall.p_known_at, now()) AS moment
            FROM jsonb_to_record((memsvc.default_weights() || recall.p_weights)) w(words double precision, nearby double precision, session double precision, vector double precision, nearby_vector double precision, session_vector double precision, late double precision, names double precision, distance double precision, place double precision, speaker double precision, "time" double precision, "order" double precision, recency double precision, importance double precision, strength double precision, familiarity double precision, usefulness double precision, sentiment double precision, kind double precision, staleness double precision)
         ), beside AS MATERIALIZED (
          SELECT b.node_id,
             b.distance,
             b.reach,
             b.path,
             b.metres
            FROM memsvc.nodes_beside(recall.p_user_id, recall.p_nodes, (1000)::double precision, 20, recall.p_as_of, recall.p_known_at) b(node_id, distance, reach, path, metres)
           WHERE ((recall.p_nodes <> '{}'::uuid[]) AND (recall.p_hops > 0) AND memsvc.says_near(recall.p_query) AND ( SELECT (a.place > (0)::double precision)
                    FROM asked a))
         ), reached AS MATERIALIZED (
          SELECT e.node_id,
             e.distance,
             e.reach,
             e.path,
             NULL::double precision AS metres
            FROM memsvc.expand_names(recall.p_user_id, recall.p_nodes, recall.p_hops, 10, recall.p_as_of, recall.p_known_at) e(node_id, distance, reach, path)
           WHERE ((recall.p_nodes <> '{}'::uuid[]) AND (NOT (e.node_id IN ( SELECT b.node_id
                    FROM beside b))))
         UNION ALL
          SELECT b.node_id,
             b.distance,
             b.reach,
             b.path,
             b.metres
            FROM beside b
         ), goal AS MATERIALIZED (
          SELECT (array_agg(r.node_id) FILTER (WHERE (r.node_id IS NOT NULL)) || n.nodes) AS nodes,
             (array_agg(r.reach) FILTER (WHERE (r.node_id IS NOT NULL)) || n.reach) AS reach,
             (array_agg(r.distance) FILTER (WHERE (r.node_id IS NOT NULL)) || n.distances) AS distances
            FROM (( SELECT COALESCE(recall.p_near, '{}'::uuid[]) AS nodes,
                     array_fill((1)::double precision, ARRAY[COALESCE(cardinality(recall.p_near), 0)]) AS reach,
                     array_fill(2, ARRAY[COALESCE(cardinality(recall.p_near), 0)]) AS distances) n
              LEFT JOIN reached r ON (true))
           GROUP BY n.nodes, n.reach, n.distances
         ), candidate AS MATERIALIZED (
          SELECT c.passage_id,
             c.source_id,
             c.session,
             c.ordinal,
             c.role,
             c.speaker,
             c.said_at,
             c.words,
             c.words_rank,
             c.matched_terms,
             c.matched_form,
             c.similarity,
             c.vector_rank,
             c.other_similarity,
             c.other_rank,
             c.node_id,
             c.reach,
             c.distance
            FROM (goal g
              CROSS JOIN LATERAL memsvc.recall_candidates(recall.p_user_id, recall.p_query, recall.p_limit, recall.p_candidates, recall.p_form, recall.p_language, recall.p_kinds, recall.p_sources, recall.p_not_sources, recall.p_said_from, LEAST(recall.p_said_to, (recall.p_as_of + '00:00:00.000001'::interval)), recall.p_as_of, recall.p_known_at, ( SELECT ((a.words > (0)::double precision) OR (a.nearby > (0)::double precision) OR (a.session > (0)::double precision))
                    FROM asked a), recall.p_model_id, recall.p_vector, recall.p_other_model_id, recall.p_other_vector, g.nodes, g.reach, g.distances, recall.p_begins, recall.p_ends) c(passage_id, source_id, session, ordinal, role, speaker, said_at, words, words_rank, matched_terms, matched_form, similarity, vector_rank, other_similarity, other_rank, node_id, reach, distance))
           WHERE ((c.passage_id <> ALL (recall.p_except)) AND ((recall.p_near IS NULL) OR memsvc.speaks_of(recall.p_user_id, c.passage_id, recall.p_near, recall.p_known_at)))
         ), spread AS MATERIALIZED (
          SELECT avg(COALESCE(c.words, (0)::double precision)) AS words_mean,
             stddev_pop(COALESCE(c.words, (0)::double precision)) AS words_spread,
             avg(c.similarity) AS vector_mean,
             stddev_pop(c.similarity) AS vector_spread,
             avg(c.other_similarity) AS other_mean,
             stddev_pop(c.other_similarity) AS other_spread
            FROM candidate c
         ), compared AS NOT MATERIALIZED (
          SELECT c.passage_id,
             c.source_id,
             c.session,
             c.ordinal,
             c.role,
             c.speaker,
             c.said_at,
             c.words,
             c.words_rank,
             c.matched_terms,
             c.matched_form,
             c.similarity,
             c.vector_rank,
             c.other_similarity,
             c.other_rank,
             c.node_id,
             c.reach,
             c.distance,
             memsvc.z_score(COALESCE(c.words, (0)::double precision), s.words_mean, s.words_spread) AS words_z,
                 CASE
                     WHEN (c.similarity IS NOT NULL) THEN memsvc.z_score(c.similarity, s.vector_mean, s.vector_spread)
                     ELSE memsvc.z_score(c.other_similarity, s.other_mean, s.other_spread)
                 END AS vector_z
            FROM (candidate c
              CROSS JOIN spread s)
         ), speaking AS MATERIALIZED (
          SELECT s.speaker
            FROM ( SELECT DISTINCT c.speaker
                    FROM candidate c
                  OFFSET 0) s
           WHERE (memsvc.plain_words(s.speaker) && ( SELECT memsvc.naming_words(recall.p_query, recall.p_language) AS naming_words))
         ), around AS MATERIALIZED (
          SELECT m.source_id,
             m.session,
             m.ordinal,
             ((COALESCE(sum(m.words) OVER beside, (0)::double precision) + COALESCE(sum(m.words) OVER about, (0)::double precision)) / (2)::double precision) AS nearby,
             m.vector_z,
             max(m.vector_z) OVER beside AS nearby_vector,
             max(m.words) OVER whole AS session_words,
             max(m.vector_z) OVER whole AS session_vector
            FROM ( SELECT j.source_id,
                     j.session,
                     j.ordinal,
                     max(COALESCE(j.words, (0)::double precision)) AS words,
                     max(j.vector_z) AS vector_z
                    FROM compared j
                   GROUP BY j.source_id, j.session, j.ordinal) m
           WINDOW whole AS (PARTITION BY m.source_id, m.session), beside AS (PARTITION BY m.source_id, m.session ORDER BY m.ordinal RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW), about AS (PARTITION BY m.source_id, m.session ORDER BY m.ordinal RANGE BETWEEN 2 PRECEDING AND 2 FOLLOWING EXCLUDE CURRENT ROW)
         ), matched AS MATERIALIZED (
          SELECT f_1.version_id,
             f_1.words,
             f_1.matched_terms,
             f_1.distance,
             f_1.node_id
            FROM (goal g
              CROSS JOIN LATERAL memsvc.match_facts(recall.p_user_id, recall.p_query, recall.p_language, g.nodes, g.distances, recall.p_candidates, recall.p_sources, recall.p_not_sources, recall.p_said_from, recall.p_said_to, recall.p_as_of, recall.p_known_at) f_1(version_id, words, matched_terms, distance, node_id))
           WHERE recall.p_facts
         ), told AS MATERIALIZED (
          SELECT m.version_id,
             m.words,
             m.matched_terms,
             m.distance,
             m.node_id
            FROM matched m
         UNION ALL
          SELECT t.version_id,
             NULL::double precision,
             NULL::text[],
             NULL::integer,
             NULL::uuid
            FROM memsvc.match_fact_times(recall.p_user_id, recall.p_begins, recall.p_ends, recall.p_candidates, recall.p_as_of, recall.p_known_at) t(version_id, fit)
           WHERE (recall.p_facts AND (recall.p_begins <> '{}'::timestamp with time zone[]) AND (NOT (t.version_id IN ( SELECT m.version_id
                    FROM matched m))) AND ((num_nonnulls(recall.p_sources, recall.p_not_sources, recall.p_said_from, recall.p_said_to) = 0) OR memsvc.fact_is_from(recall.p_user_id, t.version_id, recall.p_sources, recall.p_not_sources, recall.p_said_from, recall.p_said_to, recall.p_known_at)))
         ), fact AS MATERIALIZED (
          SELECT t.version_id,
             t.words,
             t.matched_terms,
             t.distance,
             t.node_id,
                 CASE
                     WHEN (t.words > (0)::double precision) THEN row_number() OVER (ORDER BY t.words DESC NULLS LAST, t.version_id)
                     ELSE NULL::bigint
                 END AS words_rank,
             v.valid_from,
             v.valid_to,
             v.recorded_from
            FROM (told t
              JOIN ( SELECT e.version_id,
                     e.from_node,
                     e.to_node,
                     e.valid_from,
                     e.valid_to,
                     e.recorded_from
                    FROM memsvc.edge_versions e
                   WHERE ((e.user_id = recall.p_user_id) AND (e.version_id = ANY (ARRAY( SELECT o.version_id
                            FROM told o))))
                   ORDER BY e.version_id
                  OFFSET 0) v ON ((v.version_id = t.version_id)))
           WHERE ((t.version_id <> ALL (recall.p_except)) AND ((recall.p_near IS NULL) OR (v.from_node = ANY (recall.p_near)) OR (v.to_node = ANY (recall.p_near))))
         ), memory AS MATERIALIZED (
          SELECT j.passage_id AS memory_id,
             'passage'::text AS kind,
             j.said_at AS since,
             NULL::timestamp with time zone AS until,
             j.said_at AS recorded,
             j.words_z,
             j.vector_z,
             b.nearby,
             b.session_words,
             COALESCE(b.nearby_vector, ( SELECT min(l.vector_z) AS min
                    FROM around l)) AS nearby_vector,
             b.session_vector,
             (((j.role = 'user'::text) AND ( SELECT memsvc.says_i(recall.p_query) AS says_i)) OR ((j.speaker <> j.role) AND (j.speaker = ANY (ARRAY( SELECT n.speaker
                    FROM speaking n))))) AS speaks,
             j.node_id,
             j.reach,
             j.distance,
             j.words,
             j.words_rank,
             j.matched_terms,
             j.matched_form,
             COALESCE(j.similarity, j.other_similarity) AS similarity,
             COALESCE(j.vector_rank, j.other_rank) AS vector_rank,
             ((j.similarity IS NULL) AND (j.other_similarity IS NOT NULL)) AS by_other
            FROM (compared j
              LEFT JOIN around b ON (((b.source_id = j.source_id) AND (b.session = j.session) AND (b.ordinal = j.ordinal))))
         UNION ALL
          SELECT f_1.version_id,
             'fact'::text,
             f_1.valid_from,
             f_1.valid_to,
             f_1.recorded_from,
             memsvc.z_score(COALESCE(f_1.words, (0)::double precision), s.words_mean, s.words_spread) AS z_score,
             0,
             NULL::double precision,
             NULL::double precision,
             NULL::double precision,
             NULL::double precision,
             false,
             f_1.node_id,
             COALESCE(r.reach, (1)::double precision) AS "coalesce",
             f_1.distance,
             f_1.words,
             f_1.words_rank,
             f_1.matched_terms,
             recall.p_form AS p_form,
             NULL::double precision,
             NULL::bigint,
             false
            FROM ((fact f_1
              CROSS JOIN spread s)
              LEFT JOIN reached r ON ((r.node_id = f_1.node_id)))
         ), surroundings AS MATERIALIZED (
          SELECT avg(m.nearby) AS nearby_mean,
             stddev_pop(m.nearby) AS nearby_spread,
             avg(m.session_words) AS session_mean,
             stddev_pop(m.session_words) AS session_spread,
             avg(m.nearby_vector) AS nearby_vector_mean,
             stddev_pop(m.nearby_vector) AS nearby_vector_spread,
             avg(m.session_vector) AS session_vector_mean,
             stddev_pop(m.session_vector) AS session_vector_spread
            FROM memory m
         ), turn AS MATERIALIZED (
          SELECT i.memory_id,
             percent_rank() OVER (ORDER BY ((
                 CASE recall.p_order
                     WHEN 'last'::text THEN 1
                     ELSE '-1'::integer
                 END)::double precision * date_part('epoch'::text, i.since))) AS place
            FROM memory i
           WHERE (recall.p_order = ANY (ARRAY['first'::text, 'last'::text]))
         ), judgement AS MATERIALIZED (
          SELECT s.memory_id,
             s.recalls,
             s.last_recalled_at,
             s.used,
             s.irrelevant,
             s.importance,
             s.sentiment
            FROM memsvc.memory_signals s
           WHERE ((recall.p_known_at IS NULL) AND (s.user_id = recall.p_user_id) AND (s.memory_id = ANY (ARRAY( SELECT m.memory_id
                    FROM memory m))))
           ORDER BY s.memory_id
          OFFSET 0
         ), weighed AS MATERIALIZED (
          SELECT m.memory_id,
             m.kind,
             m.speaks,
             m.similarity,
             m.vector_rank,
             m.by_other,
             m.words,
             m.words_rank,
             m.matched_terms,
             m.matched_form,
             m.node_id,
             m.reach,
             m.distance,
             (a.words * m.words_z) AS words_points,
             (a.nearby * memsvc.z_score(m.nearby, s.nearby_mean, s.nearby_spread)) AS nearby_points,
             (a.session * memsvc.z_score(m.session_words, s.session_mean, s.session_spread)) AS session_points,
             (a.vector * m.vector_z) AS vector_points,
             (a.nearby_vector * memsvc.z_score(m.nearby_vector, s.nearby_vector_mean, s.nearby_vector_spread)) AS nearby_vector_points,
             (a.session_vector * memsvc.z_score(m.session_vector, s.session_vector_mean, s.session_vector_spread)) AS session_vector_points,
                 CASE
                     WHEN m.speaks THEN a.speaker
                     ELSE (0)::double precision
                 END AS speaker_points,
                 CASE
                     WHEN (m.distance = 0) THEN (a.names * m.reach)
                     ELSE (0)::double precision
                 END AS names_points,
                 CASE
                     WHEN ((m.distance > 0) AND (b.node_id IS NULL)) THEN (a.distance * m.reach)
                     ELSE (0)::double precision
                 END AS distance_points,
                 CASE
                     WHEN (b.node_id IS NOT NULL) THEN (a.place * b.reach)
                     ELSE (0)::double precision
                 END AS place_points,
             b.metres,
             (a."time" * GREATEST(memsvc.time_fit(m.since, recall.p_begins, recall.p_ends, '7 days'::interval), memsvc.time_fit(m.until, recall.p_begins, recall.p_ends, '7 days'::interval))) AS time_points,
             (a."order" * COALESCE(o.place, (0)::double precision)) AS order_points,
             (a.recency * COALESCE(memsvc.recency((a.moment - m.since), '30 days'::interval), (0)::double precision)) AS recency_points,
                 CASE
                     WHEN (m.kind = 'fact'::text) THEN a.kind
                     ELSE (0)::double precision
                 END AS kind_points,
                 CASE
                     WHEN (m.kind = 'fact'::text) THEN ((- a.staleness) * memsvc.staleness(m.until, m.recorded, a.moment))
                     ELSE (0)::double precision
                 END AS staleness_points,
             (a.importance * COALESCE((((g.importance - 1))::double precision / (9)::double precision), (0)::double precision)) AS importance_points,
             (a.strength * COALESCE(memsvc.recall_strength(g.recalls, (a.moment - g.last_recalled_at), '30 days'::interval), (0)::double precision)) AS strength_points,
             (a.familiarity * memsvc.familiarity(g.recalls)) AS familiarity_points,
             (a.usefulness * memsvc.usefulness(g.used, g.irrelevant)) AS usefulness_points,
             (a.sentiment * COALESCE(abs(g.sentiment), (0)::real)) AS sentiment_points
            FROM (((((memory m
              CROSS JOIN asked a)
              CROSS JOIN surroundings s)
              LEFT JOIN beside b ON ((b.node_id = m.node_id)))
              LEFT JOIN turn o ON ((o.memory_id = m.memory_id)))
              LEFT JOIN judgement g ON ((g.memory_id = m.memory_id)))
         ), ranked AS MATERIALIZED (
          SELECT w.memory_id,
             w.kind,
             w.speaks,
             w.similarity,
             w.points,
             row_number() OVER (ORDER BY w.points DESC, w.memory_id) AS rank
            FROM ( SELECT v.memory_id,
                     v.kind,
                     v.speaks,
                     v.similarity,
                     (((((((((((((((((((v.words_points + v.nearby_points) + v.session_points) + v.vector_points) + v.nearby_vector_points) + v.session_vector_points) + v.speaker_points) + v.names_points) + v.distance_points) + v.place_points) + v.time_points) + v.order_points) + v.recency_points) + v.kind_points) + v.staleness_points) + v.importance_points) + v.strength_points) + v.familiarity_points) + v.usefulness_points) + v.sentiment_points) AS points
                    FROM weighed v) w
         ), late AS MATERIALIZED (
          SELECT l.passage_id,
             l.late,
             (a.late * memsvc.z_score(l.late, avg(l.late) OVER (), stddev_pop(l.late) OVER ())) AS points,
             row_number() OVER (ORDER BY l.late DESC, l.passage_id) AS rank
            FROM (asked a
              CROSS JOIN LATERAL memsvc.late_scores(recall.p_user_id, recall.p_model_id, recall.p_tokens, ARRAY( SELECT r.memory_id
                    FROM ranked r
                   WHERE ((r.kind = 'passage'::text) AND (r.rank <= recall.p_late)))) l(passage_id, late))
           WHERE ((recall.p_tokens IS NOT NULL) AND (a.late > (0)::double precision))
         ), sure AS MATERIALIZED (
          SELECT ((1)::double precision / ((1)::double precision + exp(((((5)::double precision - ((4.5)::double precision * max(r.similarity))) - ((2.3)::double precision * avg(l.late) FILTER (WHERE (l.rank <= 3)))) -
                 CASE
                     WHEN bool_or(r.speaks) THEN ((1.5)::double precision + ((5.2)::double precision * GREATEST(('-0.2'::numeric)::double precision, LEAST((0.2)::double precision, (max(l.late) FILTER (WHERE r.speaks) - COALESCE(max(l.late) FILTER (WHERE (NOT r.speaks)), (0.3)::double precision))))))
                     ELSE (0)::double precision
                 END)))) AS confidence
            FROM (late l
              JOIN ranked r ON ((r.memory_id = l.passage_id)))
         ), found AS MATERIALIZED (
          SELECT w.memory_id,
             w.kind,
             w.speaks,
             w.similarity,
             w.vector_rank,
             w.by_other,
             w.words,
             w.words_rank,
             w.matched_terms,
             w.matched_form,
             w.node_id,
             w.reach,
             w.distance,
             w.words_points,
             w.nearby_points,
             w.session_points,
             w.vector_points,
             w.nearby_vector_points,
             w.session_vector_points,
             w.speaker_points,
             w.names_points,
             w.distance_points,
             w.place_points,
             w.metres,
             w.time_points,
             w.order_points,
             w.recency_points,
             w.kind_points,
             w.staleness_points,
             w.importance_points,
             w.strength_points,
             w.familiarity_points,
             w.usefulness_points,
             w.sentiment_points,
             o.late_points,
             o.score,
             o.late,
             o.late_rank,
             o.place
            FROM (( SELECT s.memory_id,
                     s.ahead,
                     s.late_points,
                     s.score,
                     s.late,
                     s.late_rank,
                     row_number() OVER best AS place
                    FROM ( SELECT r.memory_id,
                             (r.rank <= recall.p_late) AS ahead,
                             COALESCE(l.points, (0)::double precision) AS late_points,
                             (r.points + COALESCE(l.points, (0)::double precision)) AS score,
                             l.late,
                             l.rank AS late_rank
                            FROM (ranked r
                              LEFT JOIN late l ON ((l.passage_id = r.memory_id)))) s
                   WINDOW best AS (ORDER BY s.ahead DESC, s.score DESC, s.memory_id)
                   ORDER BY s.ahead DESC, s.score DESC, s.memory_id
                  LIMIT recall.p_limit) o
              JOIN weighed w ON ((w.memory_id = o.memory_id)))
         ), counted AS (
          SELECT jsonb_build_object('candidates', count(*), 'words', count(*) FILTER (WHERE (m.words > (0)::double precision)), 'vector', count(m.vector_rank), 'late', ( SELECT count(*) AS count
                    FROM late), 'names', count(m.node_id), 'facts', count(*) FILTER (WHERE (m.kind = 'fact'::text)), 'place', count(*) FILTER (WHERE (m.node_id IN ( SELECT b.node_id
                    FROM beside b))), 'time', count(*) FILTER (WHERE ((recall.p_begins <> '{}'::timestamp with time zone[]) AND (memsvc.time_fit(m.since, recall.p_begins, recall.p_ends, '00:00:01'::interval) = (1)::double precision)))) AS met
            FROM memory m
         ), spoken AS MATERIALIZED (
          SELECT q.form,
             jsonb_object(q.terms, memsvc.words_behind(recall.p_query, q.form, recall.p_language, q.terms)) AS words
            FROM ( SELECT f_1.matched_form AS form,
                     array_agg(DISTINCT t.term) AS terms
                    FROM (found f_1
                      CROSS JOIN LATERAL unnest(f_1.matched_terms) t(term))
                   GROUP BY f_1.matched_form) q
         )
  SELECT f.memory_id,
     f.kind,
     f.place,
     f.score,
     jsonb_strip_nulls(jsonb_build_object('words',
         CASE
             WHEN (f.words > (0)::double precision) THEN jsonb_build_object('score', round((f.words)::numeric, 4), 'rank', f.words_rank, 'form', f.matched_form)
             ELSE NULL::jsonb
         END, 'vector',
         CASE
             WHEN (f.similarity IS NOT NULL) THEN jsonb_build_object('score', round((f.similarity)::numeric, 4), 'rank', f.vector_rank, 'model',
             CASE
                 WHEN f.by_other THEN ( SELECT e.name
                    FROM memsvc.embedding_models e
                   WHERE (e.model_id = recall.p_other_model_id))
                 ELSE NULL::text
             END)
             ELSE NULL::jsonb
         END, 'late',
         CASE
             WHEN (f.late IS NOT NULL) THEN jsonb_build_object('score', round((f.late)::numeric, 4), 'rank', f.late_rank)
             ELSE NULL::jsonb
         END, 'names',
         CASE
             WHEN (f.node_id IS NOT NULL) THEN jsonb_build_object('node_id', f.node_id, 'score', round((f.reach)::numeric, 4), 'distance', f.distance)
             ELSE NULL::jsonb
         END, 'place',
         CASE
             WHEN (f.metres IS NOT NULL) THEN jsonb_build_object('metres', round(f.metres))
             ELSE NULL::jsonb
         END)) AS jsonb_strip_nulls,
     jsonb_build_object('words', f.words_points, 'nearby', f.nearby_points, 'session', f.session_points, 'vector', f.vector_points, 'nearby_vector', f.nearby_vector_points, 'session_vector', f.session_vector_points, 'late', f.late_points, 'speaker', f.speaker_points, 'names', f.names_points, 'distance', f.distance_points, 'place', f.place_points, 'time', f.time_points, 'order', f.order_points, 'recency', f.recency_points, 'kind', f.kind_points, 'staleness', f.staleness_points, 'importance', f.importance_points, 'strength', f.strength_points, 'familiarity', f.familiarity_points, 'usefulness', f.usefulness_points, 'sentiment', f.sentiment_points) AS jsonb_build_object,
     COALESCE(( SELECT r.path
            FROM reached r
           WHERE (r.node_id = f.node_id)
          LIMIT 1), '{}'::text[]) AS "coalesce",
     memsvc.whole_words(ARRAY( SELECT (h.words ->> t.term)
            FROM (spoken h
              CROSS JOIN LATERAL unnest(f.matched_terms) t(term))
           WHERE (h.form = f.matched_form))) AS whole_words,
     ( SELECT s.confidence
            FROM sure s) AS confidence,
     ( SELECT c.met
            FROM counted c) AS met
    FROM found f
   ORDER BY f.place;
END;

ALTER FUNCTION memsvc.recall(p_user_id uuid, p_query text, p_limit integer, p_weights jsonb, p_form text, p_language text, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_model_id smallint, p_vector public.halfvec, p_tokens bit[], p_other_model_id smallint, p_other_vector public.halfvec, p_nodes uuid[], p_hops integer, p_begins timestamp with time zone[], p_ends timestamp with time zone[], p_order text, p_facts boolean, p_candidates integer, p_late integer, p_except uuid[], p_near uuid[]) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.recall(p_user_id uuid, p_query text, p_limit integer, p_weights jsonb, p_form text, p_language text, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_model_id smallint, p_vector public.halfvec, p_tokens bit[], p_other_model_id smallint, p_other_vector public.halfvec, p_nodes uuid[], p_hops integer, p_begins timestamp with time zone[], p_ends timestamp with time zone[], p_order text, p_facts boolean, p_candidates integer, p_late integer, p_except uuid[], p_near uuid[]) IS 'Recall: memories that matter for a query, best first, with what each arm found and each factor gave.';

CREATE FUNCTION memsvc.refuse_change(p_code text, p_position integer, p_message text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  RAISE EXCEPTION '%', p_message USING ERRCODE = 'MS002', DETAIL = p_code, COLUMN = coalesce(p_position::text, '');
END
$$;

ALTER FUNCTION memsvc.refuse_change(p_code text, p_position integer, p_message text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.refuse_change(p_code text, p_position integer, p_message text) IS 'Refuses a batch of changes, with a stable code.';

CREATE FUNCTION memsvc.refuse_undecidable(p_kind text, p_name text, p_status text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
BEGIN
  IF p_status IS NOT NULL THEN
    RETURN;
  ELSIF EXISTS (
    SELECT FROM node_types AS t WHERE p_kind = 'node' AND t.user_id = memsvc.core_user_id() AND t.name = p_name
    UNION ALL
    SELECT FROM edge_types AS t WHERE p_kind = 'edge' AND t.user_id = memsvc.core_user_id() AND t.name = p_name
  ) THEN
    PERFORM memsvc.refuse_change('type_state', NULL, format('%s belongs to the core, which nobody changes.', p_name));
  END IF;
  PERFORM memsvc.refuse_change('not_found', NULL, format('This user has no %s type %s.', p_kind, p_name));
END
$$;

ALTER FUNCTION memsvc.refuse_undecidable(p_kind text, p_name text, p_status text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.refuse_undecidable(p_kind text, p_name text, p_status text) IS 'Refuses what is no type of the user.';

CREATE FUNCTION memsvc.relatives(p_user_id uuid, p_nodes uuid[]) RETURNS TABLE(node_id uuid, relation text)
    LANGUAGE plpgsql STABLE ROWS 20
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
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

ALTER FUNCTION memsvc.relatives(p_user_id uuid, p_nodes uuid[]) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.relatives(p_user_id uuid, p_nodes uuid[]) IS 'What people are to somebody, by edges that say so.';

CREATE FUNCTION memsvc.relay_messages(p_queue text, p_after uuid, p_limit integer) RETURNS TABLE(message_id uuid, user_id uuid, message text)
    LANGUAGE sql
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 WITH taken AS (
          DELETE FROM memsvc.dramatiq_queue q
           WHERE (q.message_id = ANY (ARRAY( SELECT d.message_id
                    FROM memsvc.due_messages(relay_messages.p_queue, relay_messages.p_after, relay_messages.p_limit) d(message_id))))
           RETURNING q.message_id,
             q.user_id,
             q.message,
             q.available_at,
             q."position"
         )
  SELECT t.message_id,
     t.user_id,
     (t.message)::text AS message
    FROM taken t
   ORDER BY (row_number() OVER (PARTITION BY t.user_id ORDER BY t.available_at, t."position")), t.user_id;
END;

ALTER FUNCTION memsvc.relay_messages(p_queue text, p_after uuid, p_limit integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.relay_messages(p_queue text, p_after uuid, p_limit integer) IS 'Takes due messages out of a queue, to be carried on by another broker; users take turns.';

CREATE FUNCTION memsvc.require_identity(p_user_id uuid) RETURNS uuid
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
  IF p_user_id IS NULL OR p_user_id IS DISTINCT FROM memsvc.current_user_id() THEN
    RAISE EXCEPTION 'the identity token does not prove this user' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN p_user_id;
END
$$;

ALTER FUNCTION memsvc.require_identity(p_user_id uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.require_identity(p_user_id uuid) IS 'Its argument, if the identity token proves that user; an error otherwise.';

CREATE FUNCTION memsvc.reschedule() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
BEGIN
  UPDATE schedules AS s
  SET next_at = memsvc.next_run(NEW.time_zone, s.at_local, s.weekdays, clock_timestamp())
  WHERE s.user_id = NEW.user_id AND s.next_at > clock_timestamp();
  RETURN NULL;
END
$$;

ALTER FUNCTION memsvc.reschedule() OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.reschedule() IS 'Trigger: keeps schedules in step with their user''s zone.';

CREATE FUNCTION memsvc.retire_model(p_name text) RETURNS smallint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
DECLARE
  known embedding_models%ROWTYPE;
BEGIN
  PERFORM memsvc.change_models();
  known := memsvc.known_model(p_name);
  IF known.state = 'active' THEN
    RAISE EXCEPTION 'The model % is the active one.', p_name
      USING ERRCODE = 'MS001', HINT = 'Switch to another one first.';
  ELSIF known.state <> 'retired' THEN
    UPDATE embedding_models AS m SET state = 'retired', paused = false WHERE m.model_id = known.model_id;
    PERFORM memsvc.audit('model.retire', NULL, NULL, p_name);
  END IF;
  RETURN known.model_id;
END
$$;

ALTER FUNCTION memsvc.retire_model(p_name text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.retire_model(p_name text) IS 'Gives a model up; its vectors go afterwards.';

CREATE FUNCTION memsvc.retire_passages(p_user_id uuid, p_passages uuid[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  proved CONSTANT uuid := memsvc.require_identity(p_user_id);
  closed CONSTANT uuid[] := ARRAY(
    SELECT p.passage_id FROM passages AS p
    WHERE p.user_id = proved AND p.passage_id = ANY (p_passages) AND p.kind = 'block'
  );
BEGIN
  PERFORM memsvc.forget_words(proved, closed);
  DELETE FROM token_vectors AS d WHERE d.user_id = proved AND d.passage_id = ANY (closed);
  DELETE FROM embeddings AS d WHERE d.user_id = proved AND d.passage_id = ANY (closed);
  UPDATE passages AS p SET kind = 'former' WHERE p.user_id = proved AND p.passage_id = ANY (closed);
END
$$;

ALTER FUNCTION memsvc.retire_passages(p_user_id uuid, p_passages uuid[]) OWNER TO memsvc_eraser;

COMMENT ON FUNCTION memsvc.retire_passages(p_user_id uuid, p_passages uuid[]) IS 'Takes passages of blocks out of what recall finds.';

CREATE FUNCTION memsvc.retry_failed_jobs(p_user_id uuid) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
DECLARE
  retried integer;
BEGIN
  LOOP
    BEGIN
      WITH failed AS (
        SELECT j.job_id, row_number() OVER (PARTITION BY j.kind, j.subject_id ORDER BY j.job_id DESC) = 1
          AND NOT EXISTS (
            SELECT FROM jobs AS w
            WHERE w.user_id = p_user_id AND w.kind = j.kind AND w.subject_id = j.subject_id AND w.state = 'pending'
          ) AS again
        FROM jobs AS j
        WHERE j.user_id = p_user_id AND j.state = 'failed'
      ),
      changed AS (
        UPDATE jobs AS j
        SET
          state = CASE WHEN f.again THEN 'pending' ELSE 'cancelled' END,
          attempts = CASE WHEN f.again THEN 0 ELSE j.attempts END,
          outages = CASE WHEN f.again THEN 0 ELSE j.outages END,
          run_after = CASE WHEN f.again THEN clock_timestamp() ELSE j.run_after END,
          finished_at = CASE WHEN f.again THEN NULL ELSE j.finished_at END
        FROM failed AS f
        WHERE j.user_id = p_user_id AND j.job_id = f.job_id AND j.state = 'failed'
        RETURNING f.again
      )
      SELECT count(*) FILTER (WHERE c.again) INTO retried FROM changed AS c;
      RETURN retried;
    EXCEPTION WHEN unique_violation THEN
      NULL;  -- Somebody asked for a job for the same subject meanwhile; it is seen the next time.
    END;
  END LOOP;
END
$$;

ALTER FUNCTION memsvc.retry_failed_jobs(p_user_id uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.retry_failed_jobs(p_user_id uuid) IS 'Makes a user''s failed jobs pending again; how many.';

CREATE FUNCTION memsvc.revoke_key(p_app_id uuid, p_key_id text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
BEGIN
  UPDATE memsvc.api_keys AS k SET revoked_at = clock_timestamp()
  WHERE k.app_id = p_app_id AND k.key_id = p_key_id AND k.revoked_at IS NULL;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  PERFORM memsvc.audit('key.revoke', p_app_id, NULL, p_key_id);
  RETURN true;
END
$$;

ALTER FUNCTION memsvc.revoke_key(p_app_id uuid, p_key_id text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.revoke_key(p_app_id uuid, p_key_id text) IS 'Ends a key of the app; false where there is none that works.';

CREATE FUNCTION memsvc.rows_of_user(p_user_id uuid) RETURNS TABLE(name text, stored bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    AS $_$
DECLARE
  proved CONSTANT uuid := memsvc.require_identity(p_user_id);
BEGIN
  FOR name IN SELECT t.name FROM memsvc.user_tables() AS t LOOP
    EXECUTE format('SELECT count(*) FROM memsvc.%I AS r WHERE r.user_id = $1', name) INTO stored USING proved;
    IF stored > 0 THEN
      RETURN NEXT;
    END IF;
  END LOOP;
END
$_$;

ALTER FUNCTION memsvc.rows_of_user(p_user_id uuid) OWNER TO memsvc_eraser;

COMMENT ON FUNCTION memsvc.rows_of_user(p_user_id uuid) IS 'How many rows a user has in each table.';

CREATE FUNCTION memsvc.run_schedule(p_user_id uuid, p_kind text) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
DECLARE
  today CONSTANT timestamptz := clock_timestamp();
  mine schedules%ROWTYPE;
BEGIN
  SELECT * INTO mine FROM schedules AS s
  WHERE s.user_id = p_user_id AND s.kind = p_kind AND s.enabled
    AND (s.next_at <= today OR s.next_at > today + interval '8 days')
  FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  UPDATE schedules AS s
  SET next_at = memsvc.next_run(u.time_zone, s.at_local, s.weekdays, today),
    last_at = CASE WHEN mine.next_at <= today THEN today ELSE s.last_at END
  FROM users AS u
  WHERE s.user_id = p_user_id AND s.kind = p_kind AND u.user_id = p_user_id;
  IF mine.next_at > today THEN
    RETURN false;
  END IF;
  PERFORM memsvc.ask_job(p_user_id, p_kind, p_user_id);
  RETURN true;
END
$$;

ALTER FUNCTION memsvc.run_schedule(p_user_id uuid, p_kind text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.run_schedule(p_user_id uuid, p_kind text) IS 'Runs a schedule that is due, in the caller''s transaction; false where it is not, or not any more.';

CREATE FUNCTION memsvc.search_nodes(p_user_id uuid, p_query text, p_type text, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_after_tier integer, p_after_form text, p_after_node uuid, p_limit integer) RETURNS TABLE(canonical_id uuid, tier integer, form text, node_id uuid, name text)
    LANGUAGE plpgsql STABLE ROWS 50
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  wanted CONSTANT text := coalesce(memsvc.normal_form(p_query), '');
  at_once CONSTANT integer := p_limit + 10;
  after_form text := p_after_form;
  after_node uuid := p_after_node;
  forms text[];
  nodes uuid[];
  missing integer := p_limit;
  got integer;
BEGIN
  FOR t IN coalesce(p_after_tier, 0) .. CASE WHEN wanted = '' THEN 1 ELSE 3 END LOOP
    LOOP
      SELECT array_agg(d.form ORDER BY d.form COLLATE "C", d.node_id),
        array_agg(d.node_id ORDER BY d.form COLLATE "C", d.node_id)
      INTO forms, nodes
      FROM (
        SELECT m.form, m.node_id FROM memsvc.names_matching(
          p_user_id, wanted, t, p_type, p_as_of, p_known_at, coalesce(after_form, ''), after_node, at_once
        ) AS m
        GROUP BY m.form, m.node_id
        ORDER BY m.form COLLATE "C", m.node_id
        LIMIT at_once
      ) AS d;
      EXIT WHEN nodes IS NULL;
      RETURN QUERY
      SELECT b.canonical_id, t, b.form, b.node_id, b.name
      FROM memsvc.best_names(p_user_id, wanted, t, forms, nodes, p_as_of, p_known_at) AS b
      WHERE p_type IS NULL OR b.canonical_id IN (
        SELECT c.canonical_id FROM memsvc.node_cards(p_user_id, nodes, p_as_of, p_known_at) AS c WHERE c.type = p_type
      )
      ORDER BY b.place
      LIMIT missing;
      GET DIAGNOSTICS got = ROW_COUNT;
      missing := missing - got;
      IF missing <= 0 THEN
        RETURN;
      END IF;
      EXIT WHEN cardinality(nodes) < at_once;
      after_form := forms[cardinality(forms)];
      after_node := nodes[cardinality(nodes)];
    END LOOP;
    after_form := NULL;
    after_node := NULL;
  END LOOP;
END
$$;

ALTER FUNCTION memsvc.search_nodes(p_user_id uuid, p_query text, p_type text, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_after_tier integer, p_after_form text, p_after_node uuid, p_limit integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.search_nodes(p_user_id uuid, p_query text, p_type text, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_after_tier integer, p_after_form text, p_after_node uuid, p_limit integer) IS 'Nodes by what they are called, best names first; merged ones once.';

CREATE FUNCTION memsvc.searched_text(p_speaker text, p_text text, p_caption text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ((CASE WHEN (p_speaker = ''::text) THEN ''::text ELSE (p_speaker || ': '::text) END || p_text) || COALESCE((' '::text || p_caption), ''::text));

ALTER FUNCTION memsvc.searched_text(p_speaker text, p_text text, p_caption text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.searched_text(p_speaker text, p_text text, p_caption text) IS 'Speaker, text and caption as one searchable text.';

CREATE FUNCTION memsvc.seed_schedules(p_user_id uuid) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
BEGIN
  INSERT INTO schedules (user_id, kind, at_local, next_at)
  SELECT u.user_id, k.kind, t.at_local, memsvc.next_run(u.time_zone, t.at_local, NULL, clock_timestamp())
  FROM users AS u
  CROSS JOIN (VALUES ('tidy'), ('sleep')) AS k (kind)
  CROSS JOIN LATERAL (
    SELECT time '03:00' + make_interval(mins => (hashtextextended(u.user_id::text, 0) & 65535)::integer % 120)
      AS at_local
  ) AS t
  WHERE (p_user_id IS NULL OR u.user_id = p_user_id) AND u.erasing_since IS NULL
    AND NOT EXISTS (SELECT FROM schedules AS s WHERE s.user_id = u.user_id AND s.kind = k.kind)
  ON CONFLICT (user_id, kind) DO NOTHING;
  RETURN (SELECT count(*) FROM schedules AS s WHERE p_user_id IS NULL OR s.user_id = p_user_id);
END
$$;

ALTER FUNCTION memsvc.seed_schedules(p_user_id uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.seed_schedules(p_user_id uuid) IS 'Gives a user, or all, the schedules that everybody has; how many they have.';

CREATE FUNCTION memsvc.seeded(p_seed bigint, p_word text) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (((hashtextextended(p_word, p_seed) & '9007199254740991'::bigint))::double precision / ('9007199254740992'::bigint)::double precision);

ALTER FUNCTION memsvc.seeded(p_seed bigint, p_word text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.seeded(p_seed bigint, p_word text) IS 'A number from 0 up to 1 that follows from a seed and a word.';

CREATE FUNCTION memsvc.send_job() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
BEGIN
  IF TG_OP = 'DELETE' OR NEW.state <> 'pending' THEN
    DELETE FROM dramatiq_queue AS q WHERE q.message_id = OLD.job_id;
    RETURN NULL;
  END IF;
  INSERT INTO dramatiq_queue AS q (message_id, user_id, queue_name, message, available_at)
  VALUES (
    NEW.job_id, NEW.user_id, memsvc.job_queue(NEW.kind), memsvc.job_message(NEW.user_id, NEW.job_id, NEW.kind),
    NEW.run_after
  )
  ON CONFLICT (message_id) DO UPDATE SET
    state = 'queued', queue_name = excluded.queue_name, message = excluded.message,
    available_at = excluded.available_at, mtime = clock_timestamp(), worker_id = NULL, consumed_at = NULL,
    deliveries = 0;
  RETURN NULL;
END
$$;

ALTER FUNCTION memsvc.send_job() OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.send_job() IS 'Trigger: keeps the queue in step with jobs.';

CREATE FUNCTION memsvc.similar_names(p_user_id uuid, p_forms text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) RETURNS TABLE(form text, node_id uuid, similarity double precision)
    LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 10
    SET search_path TO 'memsvc', 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    AS $$
#variable_conflict use_column
DECLARE
  asker CONSTANT uuid := memsvc.require_identity(p_user_id);
  moment CONSTANT timestamptz := coalesce(p_as_of, clock_timestamp());
  known CONSTANT timestamptz := coalesce(p_known_at, clock_timestamp());
  -- pg_trgm's setting exists once its library is loaded, by its first call; so no SET above.
  same CONSTANT real := similarity('a', 'a');
  before CONSTANT text := current_setting('pg_trgm.similarity_threshold');
  threshold text := set_config('pg_trgm.similarity_threshold', (0.6 * same)::text, true);
BEGIN
  RETURN QUERY
  SELECT w.form, n.node_id, n.similarity::double precision
  FROM unnest(p_forms) AS w (form)
  CROSS JOIN LATERAL (
    (SELECT v.user_id, v.node_id, similarity(v.label_form, w.form) AS similarity, v.valid_from, v.valid_to,
      v.recorded_from, v.recorded_to
    FROM node_versions AS v WHERE ARRAY[v.user_id] @> ARRAY[asker] AND v.label_form % w.form OFFSET 0)
    UNION ALL
    (SELECT v.user_id, v.node_id, similarity(v.normal_form, w.form), v.valid_from, v.valid_to, v.recorded_from,
      v.recorded_to
    FROM aliases AS v WHERE ARRAY[v.user_id] @> ARRAY[asker] AND v.normal_form % w.form OFFSET 0)
  ) AS n
  WHERE n.user_id = asker AND n.valid_from <= moment AND n.valid_to > moment AND n.recorded_from <= known
    AND (n.recorded_to = 'infinity' OR n.recorded_to > known);
  threshold := set_config('pg_trgm.similarity_threshold', before, true);
END
$$;

ALTER FUNCTION memsvc.similar_names(p_user_id uuid, p_forms text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) OWNER TO memsvc_recall;

COMMENT ON FUNCTION memsvc.similar_names(p_user_id uuid, p_forms text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) IS 'Labels and names that are nearly what is looked for, by trigrams.';

CREATE FUNCTION memsvc.spoken_for(p_user_id uuid, p_passages uuid[], p_source_id uuid) RETURNS TABLE(kind text, id uuid, alone boolean, last boolean)
    LANGUAGE sql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    BEGIN ATOMIC
 WITH spoken AS MATERIALIZED (
          SELECT DISTINCT v.kind,
             v.id
            FROM (memsvc.source_links l
              CROSS JOIN LATERAL ( VALUES ('node'::text,l.node_version_id), ('edge'::text,l.edge_version_id), ('alias'::text,l.alias_id), ('place'::text,l.location_id), ('merge'::text,l.merge_id)) v(kind, id))
           WHERE ((l.user_id = spoken_for.p_user_id) AND (l.passage_id = ANY (spoken_for.p_passages)) AND (l.stance = 'supports'::text) AND (l.recorded_to = 'infinity'::timestamp with time zone) AND (v.id IS NOT NULL))
         ), other AS MATERIALIZED (
          SELECT s_1.kind,
             s_1.id,
             COALESCE((spoken_for.p_source_id = ( SELECT p.source_id
                    FROM memsvc.passages p
                   WHERE ((spoken_for.p_source_id IS NOT NULL) AND (p.user_id = spoken_for.p_user_id) AND (p.passage_id = k.passage_id)))), false) AS inside
            FROM (spoken s_1
              CROSS JOIN LATERAL memsvc.links_of(spoken_for.p_user_id, s_1.kind, s_1.id) k(user_id, link_id, passage_id, span_from, span_to, node_id, node_version_id, edge_version_id, alias_id, merge_id, stance, confidence, asserted_by, recorded_from, recorded_to, location_id))
           WHERE ((k.stance = 'supports'::text) AND (NOT (k.passage_id IN ( SELECT unnest(spoken_for.p_passages) AS unnest))))
         )
  SELECT s.kind,
     s.id,
     (NOT COALESCE(bool_or((NOT o.inside)), false)),
     (NOT COALESCE(bool_or(o.inside), false))
    FROM (spoken s
      LEFT JOIN other o ON (((o.kind = s.kind) AND (o.id = s.id))))
   GROUP BY s.kind, s.id;
END;

ALTER FUNCTION memsvc.spoken_for(p_user_id uuid, p_passages uuid[], p_source_id uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.spoken_for(p_user_id uuid, p_passages uuid[], p_source_id uuid) IS 'Versions that passages speak for, and whether others do.';

CREATE FUNCTION memsvc.standing_for(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS uuid[]
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
  IF NOT memsvc.any_merges(p_user_id, p_known_at) THEN
    RETURN ARRAY(
      SELECT n.node_id FROM unnest(p_nodes) WITH ORDINALITY AS n (node_id, place)
      GROUP BY n.node_id ORDER BY min(n.place)
    );
  END IF;
  RETURN ARRAY(
    SELECT r.canonical_id
    FROM unnest(p_nodes) WITH ORDINALITY AS n (node_id, place)
    INNER JOIN memsvc.resolve_nodes(p_user_id, p_nodes, p_known_at) AS r ON r.node_id = n.node_id
    GROUP BY r.canonical_id ORDER BY min(n.place)
  );
END
$$;

ALTER FUNCTION memsvc.standing_for(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.standing_for(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone) IS 'The nodes that stand for some nodes, each once.';

CREATE FUNCTION memsvc.standing_instructions(p_user_id uuid, p_now timestamp with time zone, p_known_at timestamp with time zone, p_core boolean, p_categories text[], p_limit integer) RETURNS TABLE(node_id uuid, label text, description text, category text, conditions jsonb, core boolean)
    LANGUAGE plpgsql STABLE ROWS 10
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_incremental_sort TO 'off'
    AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH kinds AS MATERIALIZED (
    SELECT t.name FROM node_types AS t WHERE t.name = 'Instruction' OR t.parent = 'Instruction'
  ),
  known AS (
    SELECT v.*
    FROM kinds AS k
    CROSS JOIN LATERAL (
      SELECT o.node_id, o.label, o.description, o.data, o.importance, o.valid_from, o.valid_to, o.recorded_from
      FROM node_versions AS o
      WHERE o.user_id = p_user_id AND o.type = k.name AND o.recorded_to = 'infinity'
      ORDER BY o.user_id DESC, o.type DESC, o.node_id DESC
      LIMIT 1000
    ) AS v
    UNION ALL
    SELECT o.node_id, o.label, o.description, o.data, o.importance, o.valid_from, o.valid_to, o.recorded_from
    FROM node_versions AS o
    WHERE p_known_at IS NOT NULL AND o.user_id = p_user_id AND o.recorded_to < 'infinity'
      AND o.recorded_to > p_known_at AND o.type IN (SELECT k.name FROM kinds AS k)
  ),
  said AS (
    SELECT k.*, k.data ->> 'category' AS category, k.data @> '{"pinned": true}' AS pinned
    FROM known AS k
    WHERE k.valid_from <= p_now AND k.valid_to > p_now AND (p_known_at IS NULL OR k.recorded_from <= p_known_at)
  )
  SELECT s.node_id, s.label, s.description, coalesce(s.category, ''), s.data -> 'when',
    s.pinned OR lower(coalesce(s.category, '')) = 'core'
  FROM said AS s
  WHERE (
      (p_core AND (s.pinned OR lower(coalesce(s.category, '')) = 'core'))
      OR p_categories IS NULL OR s.category = ANY (p_categories)
    )
    AND NOT EXISTS (
      SELECT FROM merges AS m
      WHERE m.user_id = p_user_id AND m.node_id = s.node_id
        AND m.recorded_from <= coalesce(p_known_at, 'infinity')
        AND m.recorded_to > coalesce(p_known_at, clock_timestamp())
    )
  ORDER BY (s.pinned OR lower(coalesce(s.category, '')) = 'core') DESC, s.importance DESC, s.node_id
  LIMIT p_limit;
END
$$;

ALTER FUNCTION memsvc.standing_instructions(p_user_id uuid, p_now timestamp with time zone, p_known_at timestamp with time zone, p_core boolean, p_categories text[], p_limit integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.standing_instructions(p_user_id uuid, p_now timestamp with time zone, p_known_at timestamp with time zone, p_core boolean, p_categories text[], p_limit integer) IS 'Instructions that may stand in a context, pinned ones first.';

CREATE FUNCTION memsvc.store_edges(p_user_id uuid, p_versions uuid[]) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    AS $_$
DECLARE
  stored bigint;
  inserts CONSTANT text := (
    SELECT string_agg(format(
      ', %1$I AS (INSERT INTO memory.%2$I (start_id, end_id, properties, user_id, version_id) SELECT '
      'ag_catalog._graphid(ag_catalog._label_id(''memory'', w.start_label::name), w.start_gid), '
      'ag_catalog._graphid(ag_catalog._label_id(''memory'', w.end_label::name), w.end_gid), '
      'ag_catalog.agtype_in(textout(w.properties)), $1, w.version_id FROM wanted AS w WHERE w.label = %2$L '
      'ON CONFLICT DO NOTHING)',
      'stored_' || d.label, d.label
    ), '')
    FROM (
      SELECT DISTINCT coalesce(l.label, memsvc.other_label('edge')) AS label
      FROM (
        SELECT DISTINCT v.type
        FROM unnest(p_versions) AS w (version_id)
        CROSS JOIN LATERAL (
          SELECT o.type FROM edge_versions AS o WHERE o.user_id = p_user_id AND o.version_id = w.version_id OFFSET 0
        ) AS v
      ) AS used
      LEFT JOIN memsvc.labels_of(p_user_id, 'edge') AS l ON l.type = used.type
    ) AS d
  );
BEGIN
  IF inserts IS NULL THEN
    RETURN 0;
  END IF;
  EXECUTE 'WITH wanted AS MATERIALIZED (SELECT * FROM memsvc.edges_wanted($1, $2))' || inserts
    || ' SELECT count(*) FROM wanted' INTO stored USING p_user_id, p_versions;
  RETURN stored;
END
$_$;

ALTER FUNCTION memsvc.store_edges(p_user_id uuid, p_versions uuid[]) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.store_edges(p_user_id uuid, p_versions uuid[]) IS 'Stores the edges of these versions; how many.';

CREATE FUNCTION memsvc.store_embeddings(p_user_id uuid, p_model_id smallint, p_passage_ids uuid[], p_vectors text[], p_tokens text[] DEFAULT NULL::text[]) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'public', 'pg_temp'
    AS $$
DECLARE
  new_ones bigint;
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtextextended('memsvc.models', 0));
  PERFORM memsvc.keep_memories(p_user_id);
  IF EXISTS (
    SELECT FROM passages AS p WHERE p.user_id = p_user_id AND p.passage_id = ANY (p_passage_ids) AND p.kind = 'block'
  ) THEN
    -- Whoever rewords a block holds the profile alone.
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('memsvc profile of ' || p_user_id, 0));
  END IF;
  WITH given AS MATERIALIZED (
    SELECT v.passage_id, v.vector, v.tokens
    FROM unnest(p_passage_ids, p_vectors, p_tokens) AS v (passage_id, vector, tokens)
    WHERE EXISTS (
        SELECT FROM passages AS p
        WHERE p.user_id = p_user_id AND p.passage_id = v.passage_id AND p.kind IN ('message', 'block')
      )
      AND EXISTS (SELECT FROM embedding_models AS m WHERE m.model_id = p_model_id AND m.state <> 'retired')
  ),
  near AS (
    INSERT INTO embeddings AS e (user_id, model_id, passage_id, vector)
    SELECT p_user_id, p_model_id, g.passage_id, g.vector::public.halfvec
    FROM given AS g
    ORDER BY g.passage_id
    ON CONFLICT (user_id, model_id, passage_id) DO NOTHING
    RETURNING e.passage_id
  ),
  late AS (
    INSERT INTO token_vectors AS t (user_id, model_id, passage_id, tokens)
    SELECT p_user_id, p_model_id, g.passage_id, g.tokens::bit(128)[]
    FROM given AS g
    WHERE g.tokens IS NOT NULL
    ORDER BY g.passage_id
    ON CONFLICT (user_id, model_id, passage_id) DO NOTHING
    RETURNING t.passage_id
  )
  SELECT count(*) INTO new_ones FROM (SELECT n.passage_id FROM near AS n UNION SELECT l.passage_id FROM late AS l) AS s;
  RETURN new_ones;
END
$$;

ALTER FUNCTION memsvc.store_embeddings(p_user_id uuid, p_model_id smallint, p_passage_ids uuid[], p_vectors text[], p_tokens text[]) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.store_embeddings(p_user_id uuid, p_model_id smallint, p_passage_ids uuid[], p_vectors text[], p_tokens text[]) IS 'Stores vectors and token vectors; how many passages got something new.';

CREATE FUNCTION memsvc.store_passages(p_user_id uuid, p_passages uuid[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
  INSERT INTO memory."Conversation" (properties, user_id, node_id)
  SELECT ag_catalog.agtype_in(textout(jsonb_build_object('id', s.source_id)::text)), p_user_id, s.source_id
  FROM (
    SELECT DISTINCT p.source_id FROM passages AS p
    WHERE p.user_id = p_user_id AND p.passage_id = ANY (p_passages) AND p.kind = 'message'
  ) AS s
  WHERE NOT EXISTS (SELECT FROM memory."Conversation" AS c WHERE c.user_id = p_user_id AND c.node_id = s.source_id)
  ON CONFLICT DO NOTHING;

  WITH wanted AS MATERIALIZED (
    SELECT p.* FROM passages AS p
    WHERE p.user_id = p_user_id AND p.passage_id = ANY (p_passages) AND p.kind = 'message'
  ),
  stored AS (
    INSERT INTO memory."Passage" (properties, user_id, node_id)
    SELECT ag_catalog.agtype_in(textout(
      memsvc.passage_shown(w.passage_id, w.role, w.speaker, w.text, w.caption, w.said_at)
    )), p_user_id, w.passage_id
    FROM wanted AS w
    ON CONFLICT DO NOTHING
    RETURNING node_id, id
  )
  INSERT INTO memory."PART_OF" (start_id, end_id, properties, user_id, version_id)
  SELECT s.id, c.id, ag_catalog.agtype_in('{}'), p_user_id, s.node_id
  FROM stored AS s
  INNER JOIN wanted AS w ON w.passage_id = s.node_id
  CROSS JOIN LATERAL (
    SELECT v.id FROM memory."Conversation" AS v WHERE v.user_id = p_user_id AND v.node_id = w.source_id OFFSET 0
  ) AS c;
END
$$;

ALTER FUNCTION memsvc.store_passages(p_user_id uuid, p_passages uuid[]) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.store_passages(p_user_id uuid, p_passages uuid[]) IS 'Stores vertices of passages, and what they are part of.';

CREATE FUNCTION memsvc.store_vertices(p_user_id uuid, p_nodes uuid[]) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    AS $_$
DECLARE
  stored bigint;
  inserts CONSTANT text := (
    SELECT string_agg(format(
      ', %1$I AS (INSERT INTO memory.%2$I (id, properties, user_id, node_id) '
      'SELECT ag_catalog._graphid(ag_catalog._label_id(''memory'', %2$L), w.gid), '
      'ag_catalog.agtype_in(textout(w.properties)), $1, w.node_id FROM wanted AS w WHERE w.label = %2$L '
      'ON CONFLICT DO NOTHING)',
      'stored_' || d.label, d.label
    ), '')
    FROM (SELECT DISTINCT v.label FROM memsvc.vertices_of(p_user_id, p_nodes) AS v) AS d
  );
BEGIN
  IF inserts IS NULL THEN
    RETURN 0;
  END IF;
  EXECUTE 'WITH wanted AS MATERIALIZED (SELECT * FROM memsvc.vertices_wanted($1, $2))' || inserts
    || ' SELECT count(*) FROM wanted' INTO stored USING p_user_id, p_nodes;
  RETURN stored;
END
$_$;

ALTER FUNCTION memsvc.store_vertices(p_user_id uuid, p_nodes uuid[]) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.store_vertices(p_user_id uuid, p_nodes uuid[]) IS 'Stores the vertices of these nodes; how many.';

CREATE FUNCTION memsvc.stored_nodes(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone, OUT starts uuid[], OUT nodes uuid[], OUT merged boolean) RETURNS record
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
BEGIN
  merged := memsvc.any_merges(p_user_id, p_known_at);
  IF merged THEN
    SELECT array_agg(s.canonical_id), array_agg(s.node_id) INTO starts, nodes
    FROM memsvc.same_nodes(p_user_id, p_nodes, p_known_at) AS s;
  ELSIF cardinality(p_nodes) = 1 THEN
    starts := p_nodes;
    nodes := p_nodes;
  ELSE
    starts := ARRAY(SELECT DISTINCT n.node_id FROM unnest(p_nodes) AS n (node_id));
    nodes := starts;
  END IF;
END
$$;

ALTER FUNCTION memsvc.stored_nodes(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone, OUT starts uuid[], OUT nodes uuid[], OUT merged boolean) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.stored_nodes(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone, OUT starts uuid[], OUT nodes uuid[], OUT merged boolean) IS 'The nodes that stand for some nodes, and all that are the same.';

CREATE FUNCTION memsvc.switch_model(p_name text, p_now boolean) RETURNS TABLE(became text, leaves text, behind bigint, jobs bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
DECLARE
  chosen embedding_models%ROWTYPE;
  active embedding_models%ROWTYPE;
  leaving embedding_models%ROWTYPE;
BEGIN
  PERFORM memsvc.change_models();
  SELECT * INTO active FROM embedding_models AS m WHERE m.state = 'active';
  SELECT * INTO leaving FROM embedding_models AS m WHERE m.state = 'leaving';
  IF p_name IS NULL AND leaving.model_id IS NULL THEN
    RAISE EXCEPTION 'No model is leaving, so there is nothing to go back to.'
      USING ERRCODE = 'MS001', HINT = 'A retired model must be built again.';
  END IF;
  chosen := memsvc.known_model(coalesce(p_name, leaving.name));
  IF chosen.state NOT IN ('building', 'leaving') THEN
    RAISE EXCEPTION 'The model % is %.', chosen.name, chosen.state
      USING ERRCODE = 'MS001',
        HINT = 'One that is being built, or leaving, can become the active one; ''memsvc models build'' begins.';
  ELSIF leaving.model_id <> chosen.model_id THEN
    RAISE EXCEPTION 'The model % is still leaving.', leaving.name
      USING ERRCODE = 'MS001',
        HINT = 'Retire it first: ''memsvc models retire'' with its name. There is no way back to it then.';
  END IF;
  behind := memsvc.vectors_behind(chosen.model_id, active.model_id);
  IF behind > 0 AND NOT p_now THEN
    RAISE EXCEPTION '% messages still lack vectors of the model %.', behind, chosen.name
      USING ERRCODE = 'MS001',
        HINT = 'Wait (''memsvc models'' shows how far it is), or say --now: the old model answers for them meanwhile.';
  END IF;
  -- One state after the other: there is never more than one model in each.
  UPDATE embedding_models AS m SET state = 'retired', paused = false WHERE m.model_id = chosen.model_id;
  UPDATE embedding_models AS m SET state = 'leaving' WHERE m.model_id = active.model_id;
  UPDATE embedding_models AS m SET state = 'active' WHERE m.model_id = chosen.model_id;
  PERFORM memsvc.audit('model.switch', NULL, NULL, chosen.name);
  became := chosen.name;
  leaves := active.name;
  jobs := memsvc.ask_vectors(chosen.model_id);
  RETURN NEXT;
END
$$;

ALTER FUNCTION memsvc.switch_model(p_name text, p_now boolean) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.switch_model(p_name text, p_now boolean) IS 'Makes a model the active one; the one before it leaves.';

CREATE FUNCTION memsvc.tokens_spent(p_since timestamp with time zone) RETURNS bigint
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    RETURN (SELECT (COALESCE(sum(((c.tokens_in)::bigint + c.tokens_out)), (0)::numeric))::bigint AS "coalesce" FROM memsvc.model_calls c WHERE (c.at >= tokens_spent.p_since));

ALTER FUNCTION memsvc.tokens_spent(p_since timestamp with time zone) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.tokens_spent(p_since timestamp with time zone) IS 'How many tokens the language model took and gave since a moment, over all users.';

CREATE FUNCTION memsvc.top_of_mind(p_user_id uuid, p_limit integer, p_as_of timestamp with time zone DEFAULT NULL::timestamp with time zone, p_known_at timestamp with time zone DEFAULT NULL::timestamp with time zone, p_kinds text[] DEFAULT '{message}'::text[], p_facts boolean DEFAULT true, p_half_life interval DEFAULT '14 days'::interval) RETURNS TABLE(memory_id uuid, score double precision, recency double precision, importance double precision, strength double precision, usefulness double precision, pinned double precision, recalls integer, used integer, irrelevant integer, judged smallint, at timestamp with time zone)
    LANGUAGE plpgsql STABLE ROWS 10
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_incremental_sort TO 'off'
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
      SELECT p.passage_id, p.source_id, p.session, p.ordinal, p.part, p.kind, p.said_at, p.recorded_at
      FROM passages AS p WHERE p.user_id = p_user_id AND p.said_at <= latest
      ORDER BY p.said_at DESC LIMIT 2000
    ) AS n
    WHERE n.part = 0 AND n.kind = ANY (p_kinds) AND n.recorded_at <= known
    LIMIT 200
  ),
  learnt AS MATERIALIZED (
    SELECT n.version_id AS id, n.recorded_from AS at
    FROM (
      SELECT v.version_id, v.recorded_from, v.recorded_to, v.valid_from, v.valid_to
      FROM edge_versions AS v WHERE p_facts AND v.user_id = p_user_id AND v.recorded_from <= known
      ORDER BY v.recorded_from DESC LIMIT 1000
    ) AS n
    WHERE n.valid_from <= holds AND n.valid_to > holds AND n.recorded_from <= known
      AND (n.recorded_to = 'infinity' OR n.recorded_to > known)
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
  candidate AS (
    SELECT n.id, n.source_id, n.session, n.ordinal, n.at, s.recalls, s.last_recalled_at, s.used, s.irrelevant,
      s.importance, s.pinned
    FROM (
      SELECT d.* FROM said AS d UNION ALL SELECT l.id, NULL, NULL, NULL, l.at FROM learnt AS l
    ) AS n
    LEFT JOIN LATERAL (
      SELECT r.* FROM memory_signals AS r
      WHERE p_known_at IS NULL AND r.user_id = p_user_id AND r.memory_id = n.id OFFSET 0
    ) AS s ON true
    UNION ALL
    SELECT g.memory_id, m.source_id, m.session, m.ordinal, m.at, g.recalls, g.last_recalled_at, g.used, g.irrelevant,
      g.importance, g.pinned
    FROM signal AS g
    CROSS JOIN LATERAL (
      (SELECT r.source_id, r.session, r.ordinal, r.said_at AS at, r.kind, r.said_at <= latest AS visible
      FROM passages AS r WHERE g.kind = 'passage' AND r.user_id = p_user_id AND r.passage_id = g.memory_id OFFSET 0)
      UNION ALL
      (SELECT NULL, NULL, NULL, r.recorded_from, NULL,
        p_facts AND r.recorded_to = 'infinity' AND r.valid_from <= holds AND r.valid_to > holds
      FROM edge_versions AS r WHERE g.kind = 'fact' AND r.user_id = p_user_id AND r.version_id = g.memory_id OFFSET 0)
    ) AS m
    WHERE m.visible AND (m.kind IS NULL OR m.kind = ANY (p_kinds))
      AND g.memory_id NOT IN (SELECT n.id FROM said AS n) AND g.memory_id NOT IN (SELECT n.id FROM learnt AS n)
  ),
  rated AS (
    SELECT c.id, c.source_id, c.session, c.ordinal, c.at, memsvc.recency(moment - c.at, p_half_life) AS recency,
      coalesce(c.importance / 10.0::double precision, 0) AS importance,
      memsvc.recall_strength(c.recalls, moment - c.last_recalled_at, p_half_life) AS strength,
      memsvc.usefulness(c.used, c.irrelevant) / 2 AS usefulness,
      CASE WHEN c.pinned THEN 2 ELSE 0 END::double precision AS pinned, c.recalls, c.used, c.irrelevant,
      c.importance AS judged
    FROM candidate AS c
  ),
  best AS (
    SELECT r.*, r.recency + r.importance + r.strength + r.usefulness + r.pinned AS score FROM rated AS r
  ),
  placed AS (
    SELECT b.*, row_number() OVER (
      PARTITION BY coalesce(b.source_id, b.id), b.session, b.ordinal ORDER BY b.score DESC, b.id
    ) AS nth
    FROM best AS b
  )
  SELECT b.id, b.score, b.recency, b.importance, b.strength, b.usefulness, b.pinned, coalesce(b.recalls, 0),
    coalesce(b.used, 0), coalesce(b.irrelevant, 0), b.judged, b.at
  FROM placed AS b
  WHERE b.nth = 1
  ORDER BY b.score DESC, b.at DESC, b.id
  LIMIT p_limit;
END
$$;

ALTER FUNCTION memsvc.top_of_mind(p_user_id uuid, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_kinds text[], p_facts boolean, p_half_life interval) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.top_of_mind(p_user_id uuid, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_kinds text[], p_facts boolean, p_half_life interval) IS 'What is salient without a query: ids, best first, with the points of each factor.';

CREATE FUNCTION memsvc.try_append_recall(p_user_id uuid, p_recall_id uuid, p_door text, p_mode text, p_memories uuid[]) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
BEGIN
  IF NOT pg_try_advisory_xact_lock_shared(hashtextextended('memsvc memories of ' || p_user_id, 0)) THEN
    RETURN false;
  END IF;
  PERFORM memsvc.append_recall(p_user_id, p_recall_id, p_door, p_mode, p_memories);
  RETURN true;
END
$$;

ALTER FUNCTION memsvc.try_append_recall(p_user_id uuid, p_recall_id uuid, p_door text, p_mode text, p_memories uuid[]) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.try_append_recall(p_user_id uuid, p_recall_id uuid, p_door text, p_mode text, p_memories uuid[]) IS 'Notes what was recalled, unless somebody erases; whether it did.';

CREATE FUNCTION memsvc.types_now(p_user_id uuid, p_nodes uuid[]) RETURNS TABLE(node_id uuid, type text)
    LANGUAGE sql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    BEGIN ATOMIC
 SELECT r.node_id,
     ( SELECT v.type
            FROM memsvc.node_versions v
           WHERE ((v.user_id = types_now.p_user_id) AND (v.node_id = ANY (ARRAY[r.canonical_id, r.node_id])) AND (v.recorded_to = 'infinity'::timestamp with time zone))
           ORDER BY (v.node_id = r.canonical_id) DESC, ((v.valid_from <= clock_timestamp()) AND (v.valid_to > clock_timestamp())) DESC, v.valid_from DESC
          LIMIT 1) AS type
    FROM memsvc.resolve_nodes(types_now.p_user_id, types_now.p_nodes) r(node_id, canonical_id);
END;

ALTER FUNCTION memsvc.types_now(p_user_id uuid, p_nodes uuid[]) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.types_now(p_user_id uuid, p_nodes uuid[]) IS 'The present type of each node, merges resolved.';

CREATE FUNCTION memsvc.undo_change(p_user_id uuid, p_actor text, p_change_id uuid) RETURNS TABLE(change_id uuid, recorded_at timestamp with time zone)
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
#variable_conflict use_column
DECLARE
  undone CONSTANT timestamptz := (
    SELECT c.recorded_at FROM changes AS c WHERE c.user_id = p_user_id AND c.change_id = p_change_id
  );
  change changes;
  steps jsonb;
  mergers jsonb;
BEGIN
  IF undone IS NULL THEN
    PERFORM memsvc.refuse_change('change_unknown', NULL, format('There is no change %s.', p_change_id));
  END IF;
  change := memsvc.begin_change(
    p_user_id, p_actor, '{undo}',
    ARRAY(
      SELECT a.node_id FROM memsvc.altered_by(p_user_id, undone) AS a
      UNION
      SELECT n.node_id FROM merges AS m CROSS JOIN unnest(ARRAY[m.node_id, m.canonical_id]) AS n (node_id)
      WHERE m.user_id = p_user_id AND (m.recorded_from = undone OR m.recorded_to = undone)
    ), p_change_id
  );
  IF EXISTS (
    SELECT FROM memsvc.altered_by(p_user_id, undone) AS a
    WHERE memsvc.differs_now(p_user_id, a.kind, a.subject, a.form, a.valid_from, a.valid_to, a.became)
  ) THEN
    PERFORM memsvc.refuse_change('change_built_upon', NULL, 'A later change stands on this one.');
  END IF;

  SELECT coalesce(jsonb_agg(to_jsonb(s)), '[]') INTO steps
  FROM (
    SELECT row_number() OVER () AS position, a.kind, a.subject, a.subject AS line, a.form, a.was AS content,
      a.was_id AS derived_from, a.was_asserted_by AS asserted_by, a.valid_from, a.valid_to, '{}'::jsonb[] AS evidence
    FROM memsvc.altered_by(p_user_id, undone) AS a
  ) AS s;
  BEGIN
    PERFORM memsvc.apply_steps(p_user_id, p_actor, change.recorded_at, steps);
  EXCEPTION WHEN exclusion_violation THEN -- another edge has the one place of a functional type by now
    PERFORM memsvc.refuse_change('change_built_upon', NULL, 'A later change stands on this one.');
  END;

  mergers := memsvc.merges_back(p_user_id, undone);
  PERFORM memsvc.apply_merges(p_user_id, p_actor, change.recorded_at, mergers);

  -- Evidence that it brought for what was there already; that of what it wrote goes with it.
  UPDATE source_links AS l SET recorded_to = change.recorded_at
  WHERE l.user_id = p_user_id AND l.recorded_from = undone AND l.recorded_to = 'infinity'
    AND coalesce(
      (SELECT v.recorded_from FROM node_versions AS v WHERE v.user_id = p_user_id AND v.version_id = l.node_version_id),
      (SELECT v.recorded_from FROM edge_versions AS v WHERE v.user_id = p_user_id AND v.version_id = l.edge_version_id),
      (SELECT v.recorded_from FROM aliases AS v WHERE v.user_id = p_user_id AND v.alias_id = l.alias_id),
      (SELECT v.recorded_from FROM locations AS v WHERE v.user_id = p_user_id AND v.location_id = l.location_id),
      (SELECT m.recorded_from FROM merges AS m WHERE m.user_id = p_user_id AND m.merge_id = l.merge_id)
    ) < undone;
  RETURN QUERY SELECT change.change_id, change.recorded_at;
END
$$;

ALTER FUNCTION memsvc.undo_change(p_user_id uuid, p_actor text, p_change_id uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.undo_change(p_user_id uuid, p_actor text, p_change_id uuid) IS 'Undoes a change by a new one.';

CREATE FUNCTION memsvc.unembedded(p_user_id uuid, p_model_id smallint, p_source_id uuid, p_before uuid, p_limit integer, p_tokens boolean DEFAULT false) RETURNS TABLE(passage_id uuid, searched text)
    LANGUAGE sql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 SELECT l.passage_id,
     l.searched
    FROM (( SELECT p.passage_id,
             memsvc.searched_text(p.speaker, p.text, p.caption) AS searched
            FROM memsvc.passages p
           WHERE ((p.user_id = unembedded.p_user_id) AND (p.kind = ANY (ARRAY['message'::text, 'block'::text])) AND ((unembedded.p_source_id IS NULL) OR (p.source_id = unembedded.p_source_id)) AND ((unembedded.p_before IS NULL) OR (p.passage_id < unembedded.p_before)) AND (NOT (EXISTS ( SELECT
                    FROM memsvc.embeddings e
                   WHERE ((e.user_id = unembedded.p_user_id) AND (e.model_id = unembedded.p_model_id) AND (e.passage_id = p.passage_id))))))
           ORDER BY p.passage_id DESC
          LIMIT unembedded.p_limit)
         UNION
         ( SELECT p.passage_id,
             memsvc.searched_text(p.speaker, p.text, p.caption) AS searched_text
            FROM memsvc.passages p
           WHERE (unembedded.p_tokens AND (p.user_id = unembedded.p_user_id) AND (p.kind = ANY (ARRAY['message'::text, 'block'::text])) AND ((unembedded.p_source_id IS NULL) OR (p.source_id = unembedded.p_source_id)) AND ((unembedded.p_before IS NULL) OR (p.passage_id < unembedded.p_before)) AND (NOT (EXISTS ( SELECT
                    FROM memsvc.token_vectors t
                   WHERE ((t.user_id = unembedded.p_user_id) AND (t.model_id = unembedded.p_model_id) AND (t.passage_id = p.passage_id))))))
           ORDER BY p.passage_id DESC
          LIMIT unembedded.p_limit)) l
   ORDER BY l.passage_id DESC
  LIMIT unembedded.p_limit;
END;

ALTER FUNCTION memsvc.unembedded(p_user_id uuid, p_model_id smallint, p_source_id uuid, p_before uuid, p_limit integer, p_tokens boolean) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.unembedded(p_user_id uuid, p_model_id smallint, p_source_id uuid, p_before uuid, p_limit integer, p_tokens boolean) IS 'Messages and blocks that lack a model''s vector, or its token vectors, newest first.';

CREATE FUNCTION memsvc.unknown_nodes(p_user_id uuid, p_nodes uuid[]) RETURNS uuid[]
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
  RETURN ARRAY(
    SELECT n.node_id FROM unnest(p_nodes) AS n (node_id)
    WHERE NOT EXISTS (SELECT FROM nodes AS k WHERE k.user_id = p_user_id AND k.node_id = n.node_id OFFSET 0)
  );
END
$$;

ALTER FUNCTION memsvc.unknown_nodes(p_user_id uuid, p_nodes uuid[]) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.unknown_nodes(p_user_id uuid, p_nodes uuid[]) IS 'Which of some nodes there are not.';

CREATE FUNCTION memsvc.user_erasure(p_app_id uuid, p_user_id uuid) RETURNS TABLE(erasure_id uuid, requested_by text, created_at timestamp with time zone, finished_at timestamp with time zone, erased_rows jsonb)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 SELECT b.audit_id,
     COALESCE((b.details ->> 'requested_by'::text), ''::text) AS "coalesce",
     b.recorded_at,
     e.recorded_at,
     COALESCE((e.details -> 'rows'::text), u.erased_rows, '{}'::jsonb) AS "coalesce"
    FROM ((memsvc.audit_log b
      LEFT JOIN memsvc.audit_log e ON (((e.user_id = b.user_id) AND (e.action = 'user.erased'::text))))
      LEFT JOIN memsvc.users u ON ((u.user_id = b.user_id)))
   WHERE ((b.user_id = user_erasure.p_user_id) AND (b.app_id = user_erasure.p_app_id) AND (b.action = 'user.erase'::text));
END;

ALTER FUNCTION memsvc.user_erasure(p_app_id uuid, p_user_id uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.user_erasure(p_app_id uuid, p_user_id uuid) IS 'How far the erasing of a user of an app is.';

CREATE FUNCTION memsvc.user_is_here(p_user_id uuid) RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
BEGIN
  RETURN EXISTS (SELECT FROM users AS u WHERE u.user_id = p_user_id AND u.erasing_since IS NULL);
END
$$;

ALTER FUNCTION memsvc.user_is_here(p_user_id uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.user_is_here(p_user_id uuid) IS 'Whether there is this user, and is not being erased.';

CREATE FUNCTION memsvc.user_tables() RETURNS TABLE(name text, unreferred text)
    LANGUAGE sql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
  WITH RECURSIVE mine AS (
    SELECT c.oid, c.relname::text AS name
    FROM pg_class AS c
    INNER JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'user_id' AND NOT a.attisdropped
    WHERE c.relnamespace = 'memsvc'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
      AND c.relname <> 'audit_log'
  ),
  refers AS (
    SELECT DISTINCT f.conrelid AS child, f.confrelid AS parent
    FROM pg_constraint AS f
    INNER JOIN mine AS m ON m.oid = f.conrelid
    INNER JOIN mine AS n ON n.oid = f.confrelid
    WHERE f.contype = 'f' AND f.conrelid <> f.confrelid
  ),
  reached AS (
    SELECT m.oid, 0 AS place FROM mine AS m
    UNION
    SELECT r.parent, t.place + 1 FROM reached AS t INNER JOIN refers AS r ON r.child = t.oid
    WHERE t.place < 100 -- tables that refer to each other in a circle would go on for ever
  ),
  own_keys AS (
    SELECT f.conrelid AS oid, format(
      ' AND NOT EXISTS (SELECT FROM memsvc.%I AS c WHERE %s)', m.name, (
        SELECT string_agg(format('c.%I = r.%I', a.attname, b.attname), ' AND ' ORDER BY k.place)
        FROM unnest(f.conkey, f.confkey) WITH ORDINALITY AS k (here, there, place)
        INNER JOIN pg_attribute AS a ON a.attrelid = f.conrelid AND a.attnum = k.here
        INNER JOIN pg_attribute AS b ON b.attrelid = f.conrelid AND b.attnum = k.there
      )
    ) AS condition
    FROM pg_constraint AS f INNER JOIN mine AS m ON m.oid = f.conrelid
    WHERE f.contype = 'f' AND f.confrelid = f.conrelid
  )
  SELECT m.name, coalesce((SELECT string_agg(o.condition, '') FROM own_keys AS o WHERE o.oid = m.oid), '')
  FROM mine AS m
  INNER JOIN (SELECT t.oid, max(t.place) AS place FROM reached AS t GROUP BY t.oid) AS t ON t.oid = m.oid
  ORDER BY t.place, m.name;
$$;

ALTER FUNCTION memsvc.user_tables() OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.user_tables() IS 'Tables with rows of users, in an order in which they can be erased.';

CREATE FUNCTION memsvc.users_erasing(p_limit integer) RETURNS TABLE(user_id uuid)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 SELECT u.user_id
    FROM memsvc.users u
   WHERE (u.erasing_since IS NOT NULL)
   ORDER BY u.erasing_since
  LIMIT users_erasing.p_limit;
END;

ALTER FUNCTION memsvc.users_erasing(p_limit integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.users_erasing(p_limit integer) IS 'Ids of users who are being erased, oldest first.';

CREATE FUNCTION memsvc.users_lacking(p_model_id smallint) RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 SELECT DISTINCT p.user_id
    FROM memsvc.passages p
   WHERE ((p.kind = ANY (ARRAY['message'::text, 'block'::text])) AND (NOT (EXISTS ( SELECT
            FROM memsvc.embeddings e
           WHERE ((e.user_id = p.user_id) AND (e.model_id = users_lacking.p_model_id) AND (e.passage_id = p.passage_id))))));
END;

ALTER FUNCTION memsvc.users_lacking(p_model_id smallint) OWNER TO memsvc_recall;

COMMENT ON FUNCTION memsvc.users_lacking(p_model_id smallint) IS 'Users with messages or archived blocks that lack a model''s vector.';

CREATE FUNCTION memsvc.users_lacking_tokens(p_model_id smallint) RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 SELECT DISTINCT e.user_id
    FROM memsvc.embeddings e
   WHERE ((e.model_id = users_lacking_tokens.p_model_id) AND (NOT (EXISTS ( SELECT
            FROM memsvc.token_vectors t
           WHERE ((t.user_id = e.user_id) AND (t.model_id = users_lacking_tokens.p_model_id) AND (t.passage_id = e.passage_id))))));
END;

ALTER FUNCTION memsvc.users_lacking_tokens(p_model_id smallint) OWNER TO memsvc_recall;

COMMENT ON FUNCTION memsvc.users_lacking_tokens(p_model_id smallint) IS 'Users with passages that have a model''s vector and lack its token vectors.';

CREATE FUNCTION memsvc.users_of_app(p_app_id uuid, p_ref text, p_after uuid, p_limit integer) RETURNS TABLE(user_id uuid, external_id text, name text, time_zone text, language text, created_at timestamp with time zone)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 SELECT u.user_id,
     u.external_id,
     u.name,
     u.time_zone,
     u.language,
     u.created_at
    FROM memsvc.users u
   WHERE ((u.app_id = users_of_app.p_app_id) AND (u.erasing_since IS NULL) AND memsvc.require_restored() AND ((users_of_app.p_ref IS NULL) OR (u.external_id = users_of_app.p_ref) OR ((u.user_id)::text = users_of_app.p_ref)) AND ((users_of_app.p_after IS NULL) OR (u.user_id > users_of_app.p_after)))
   ORDER BY u.user_id
  LIMIT users_of_app.p_limit;
END;

ALTER FUNCTION memsvc.users_of_app(p_app_id uuid, p_ref text, p_after uuid, p_limit integer) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.users_of_app(p_app_id uuid, p_ref text, p_after uuid, p_limit integer) IS 'Users of one app, paged; p_ref picks one by id or external id.';

CREATE FUNCTION memsvc.users_with_failed_jobs() RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 SELECT DISTINCT j.user_id
    FROM memsvc.jobs j
   WHERE (j.state = 'failed'::text);
END;

ALTER FUNCTION memsvc.users_with_failed_jobs() OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.users_with_failed_jobs() IS 'Ids of users that have jobs that failed for good.';

CREATE FUNCTION memsvc.users_with_news(p_users uuid[], p_transactions xid8[], p_events uuid[]) RETURNS SETOF uuid
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
  RETURN QUERY
  SELECT p.user_id
  FROM unnest(p_users, p_transactions, p_events) AS p (user_id, transaction_id, event_id)
  WHERE EXISTS (
    SELECT FROM memsvc.outbox AS e
    WHERE e.user_id = p.user_id AND (e.transaction_id, e.event_id) > (p.transaction_id, p.event_id)
      AND e.transaction_id < memsvc.live_end()
    ORDER BY e.transaction_id, e.event_id OFFSET 0
  );
END
$$;

ALTER FUNCTION memsvc.users_with_news(p_users uuid[], p_transactions xid8[], p_events uuid[]) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.users_with_news(p_users uuid[], p_transactions xid8[], p_events uuid[]) IS 'Which of some users have events behind a place.';

CREATE FUNCTION memsvc.vectors_behind(p_model_id smallint, p_ahead_id smallint) RETURNS bigint
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    RETURN (SELECT count(*) AS count FROM memsvc.embeddings a WHERE ((a.model_id = vectors_behind.p_ahead_id) AND (NOT (EXISTS (SELECT FROM memsvc.embeddings e WHERE ((e.user_id = a.user_id) AND (e.model_id = vectors_behind.p_model_id) AND (e.passage_id = a.passage_id)))))));

ALTER FUNCTION memsvc.vectors_behind(p_model_id smallint, p_ahead_id smallint) OWNER TO memsvc_recall;

COMMENT ON FUNCTION memsvc.vectors_behind(p_model_id smallint, p_ahead_id smallint) IS 'How many passages have the vector of the one model and lack that of the other.';

CREATE FUNCTION memsvc.verify_erasure(p_user_id uuid, p_erasure_id uuid) RETURNS SETOF memsvc.erasures
    LANGUAGE plpgsql ROWS 1
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
BEGIN
  UPDATE erasures AS e
  SET verified_at = clock_timestamp(), leftovers = memsvc.erasure_leftovers(p_user_id, p_erasure_id)
  WHERE e.user_id = p_user_id AND e.erasure_id = p_erasure_id AND e.state = 'done';
  RETURN QUERY SELECT e.* FROM erasures AS e WHERE e.user_id = p_user_id AND e.erasure_id = p_erasure_id;
END
$$;

ALTER FUNCTION memsvc.verify_erasure(p_user_id uuid, p_erasure_id uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.verify_erasure(p_user_id uuid, p_erasure_id uuid) IS 'Looks for leftovers of an erasure; the receipt.';

CREATE FUNCTION memsvc.version_of(p_user_id uuid, p_version_id uuid) RETURNS TABLE(kind text, node_id uuid, subject uuid, line uuid, form text, content jsonb, valid_from timestamp with time zone, valid_to timestamp with time zone, recorded_to timestamp with time zone)
    LANGUAGE plpgsql STABLE STRICT ROWS 1
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
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
  SELECT 'edge', v.from_node, v.edge_id, CASE WHEN t.functional THEN v.from_node ELSE v.edge_id END,
    CASE WHEN t.functional THEN v.type ELSE '' END, memsvc.content_of(v), v.valid_from, v.valid_to, v.recorded_to
  FROM edge_versions AS v
  INNER JOIN edge_types AS t ON t.user_id IN (memsvc.core_user_id(), p_user_id) AND t.name = v.type
  WHERE v.user_id = p_user_id AND v.version_id = p_version_id;
END
$$;

ALTER FUNCTION memsvc.version_of(p_user_id uuid, p_version_id uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.version_of(p_user_id uuid, p_version_id uuid) IS 'A version by its id, whatever it describes.';

CREATE FUNCTION memsvc.version_shown(p_user_id uuid, p_kind text, p_id uuid) RETURNS TABLE(subject uuid, content jsonb, from_node uuid, type text, to_node uuid, asserted_by text, valid_from timestamp with time zone, valid_to timestamp with time zone, recorded_from timestamp with time zone, recorded_to timestamp with time zone)
    LANGUAGE plpgsql STABLE ROWS 1
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
  CASE p_kind
  WHEN 'node' THEN
    RETURN QUERY SELECT v.node_id, memsvc.content_of(v), NULL::uuid, v.type, NULL::uuid, v.asserted_by, v.valid_from,
      v.valid_to, v.recorded_from, v.recorded_to
    FROM node_versions AS v WHERE v.user_id = p_user_id AND v.version_id = p_id;
  WHEN 'alias' THEN
    RETURN QUERY SELECT v.node_id, memsvc.content_of(v), NULL::uuid, NULL, NULL::uuid, v.asserted_by, v.valid_from,
      v.valid_to, v.recorded_from, v.recorded_to
    FROM aliases AS v WHERE v.user_id = p_user_id AND v.alias_id = p_id;
  WHEN 'place' THEN
    RETURN QUERY SELECT v.node_id, memsvc.content_of(v), NULL::uuid, NULL, NULL::uuid, v.asserted_by, v.valid_from,
      v.valid_to, v.recorded_from, v.recorded_to
    FROM locations AS v WHERE v.user_id = p_user_id AND v.location_id = p_id;
  WHEN 'edge' THEN
    RETURN QUERY SELECT v.edge_id, memsvc.content_of(v), v.from_node, v.type, v.to_node, v.asserted_by, v.valid_from,
      v.valid_to, v.recorded_from, v.recorded_to
    FROM edge_versions AS v WHERE v.user_id = p_user_id AND v.version_id = p_id;
  WHEN 'merge' THEN
    RETURN QUERY SELECT m.node_id, jsonb_build_object('reason', m.reason, 'confidence', m.confidence), NULL::uuid,
      NULL, m.canonical_id, m.asserted_by, NULL::timestamptz, NULL::timestamptz, m.recorded_from, m.recorded_to
    FROM merges AS m WHERE m.user_id = p_user_id AND m.merge_id = p_id;
  END CASE;
END
$$;

ALTER FUNCTION memsvc.version_shown(p_user_id uuid, p_kind text, p_id uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.version_shown(p_user_id uuid, p_kind text, p_id uuid) IS 'What one version, name or merge says, with its times.';

CREATE FUNCTION memsvc.vertices_of(p_user_id uuid, p_nodes uuid[]) RETURNS TABLE(node_id uuid, canonical_id uuid, gid bigint, label text, type text, name text, description text, data jsonb, importance real, valid_from timestamp with time zone, valid_to timestamp with time zone)
    LANGUAGE plpgsql STABLE ROWS 100
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
  asked uuid[] := p_nodes;
  standing uuid[] := p_nodes;
  canonical uuid[] := p_nodes;
  stored uuid[] := p_nodes;
BEGIN
  IF memsvc.any_merges(p_user_id) THEN
    SELECT array_agg(r.node_id), array_agg(r.canonical_id) INTO asked, standing
    FROM memsvc.resolve_nodes(p_user_id, p_nodes) AS r;
    SELECT array_agg(s.canonical_id), array_agg(s.node_id) INTO canonical, stored
    FROM memsvc.same_nodes(p_user_id, p_nodes) AS s;
  END IF;
  RETURN QUERY
  WITH card AS MATERIALIZED (
    SELECT DISTINCT ON (g.canonical_id) g.canonical_id, v.type, v.label, v.description, v.data, v.importance,
      v.valid_from, v.valid_to
    FROM unnest(canonical, stored) AS g (canonical_id, node_id)
    CROSS JOIN LATERAL (
      SELECT o.* FROM node_versions AS o
      WHERE o.user_id = p_user_id AND o.node_id = g.node_id AND o.recorded_to = 'infinity' OFFSET 0
    ) AS v
    ORDER BY g.canonical_id, v.valid_to DESC, v.node_id = g.canonical_id DESC, v.valid_from DESC, v.version_id
  ),
  labelled AS MATERIALIZED (
    SELECT t.type, t.label FROM memsvc.labels_of(p_user_id, 'node') AS t
  )
  SELECT DISTINCT ON (a.node_id) a.node_id, a.canonical_id, n.gid, coalesce(l.label, memsvc.other_label('node')),
    c.type, c.label, c.description, c.data, c.importance, c.valid_from, c.valid_to
  FROM unnest(asked, standing) AS a (node_id, canonical_id)
  CROSS JOIN LATERAL (
    SELECT o.gid FROM nodes AS o WHERE o.user_id = p_user_id AND o.node_id = a.canonical_id OFFSET 0
  ) AS n
  LEFT JOIN card AS c ON c.canonical_id = a.canonical_id
  LEFT JOIN labelled AS l ON l.type = c.type;
END
$$;

ALTER FUNCTION memsvc.vertices_of(p_user_id uuid, p_nodes uuid[]) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.vertices_of(p_user_id uuid, p_nodes uuid[]) IS 'For each node the vertex that shows it.';

CREATE FUNCTION memsvc.vertices_wanted(p_user_id uuid, p_nodes uuid[]) RETURNS TABLE(node_id uuid, gid bigint, label text, properties text)
    LANGUAGE sql STABLE ROWS 100
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 SELECT v.node_id,
     v.gid,
     v.label,
     ((jsonb_strip_nulls(jsonb_build_object('id', v.node_id, 'type', v.type, 'name', v.name, 'description', NULLIF(v.description, ''::text), 'importance', v.importance, 'valid_from', memsvc.moment_shown(v.valid_from), 'valid_to', memsvc.moment_shown(v.valid_to))) || COALESCE(jsonb_build_object('data', memsvc.data_shown(v.data)), '{}'::jsonb)))::text AS text
    FROM memsvc.vertices_of(vertices_wanted.p_user_id, vertices_wanted.p_nodes) v(node_id, canonical_id, gid, label, type, name, description, data, importance, valid_from, valid_to)
   WHERE (v.node_id = v.canonical_id);
END;

ALTER FUNCTION memsvc.vertices_wanted(p_user_id uuid, p_nodes uuid[]) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.vertices_wanted(p_user_id uuid, p_nodes uuid[]) IS 'Vertices that there should be of these nodes.';

CREATE FUNCTION memsvc.weighted_pairs(p_user_id uuid) RETURNS TABLE(node_id uuid, other_id uuid, facts bigint, weight double precision)
    LANGUAGE plpgsql STABLE ROWS 10000
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
#variable_conflict use_column
DECLARE
  moment CONSTANT timestamptz := clock_timestamp();
BEGIN
  RETURN QUERY
  SELECT least(f.from_node, f.to_node), greatest(f.from_node, f.to_node), count(*),
    sum(f.weight::double precision * f.confidence)
  FROM memsvc.analysed_facts(p_user_id) AS f
  WHERE f.valid_from <= moment AND f.valid_to > moment AND f.from_node <> f.to_node
  GROUP BY least(f.from_node, f.to_node), greatest(f.from_node, f.to_node)
  ORDER BY 1, 2;
END
$$;

ALTER FUNCTION memsvc.weighted_pairs(p_user_id uuid) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.weighted_pairs(p_user_id uuid) IS 'Pairs of nodes that facts join now, and how strongly.';

CREATE FUNCTION memsvc.with_same(p_starts uuid[], p_nodes uuid[]) RETURNS TABLE(start_id uuid, node_id uuid, same uuid[])
    LANGUAGE sql IMMUTABLE ROWS 100
    BEGIN ATOMIC
 SELECT u.node_id,
     u.node_id,
     ARRAY[u.node_id] AS "array"
    FROM unnest(with_same.p_nodes) u(node_id)
   WHERE (with_same.p_starts = with_same.p_nodes)
 UNION ALL
  SELECT u.start_id,
     u.node_id,
     array_agg(u.node_id) OVER (PARTITION BY u.start_id) AS array_agg
    FROM UNNEST(with_same.p_starts, with_same.p_nodes) u(start_id, node_id)
   WHERE (with_same.p_starts <> with_same.p_nodes);
END;

ALTER FUNCTION memsvc.with_same(p_starts uuid[], p_nodes uuid[]) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.with_same(p_starts uuid[], p_nodes uuid[]) IS 'Nodes as starts, each with all that are the same.';

CREATE FUNCTION memsvc.withdraw_type(p_user_id uuid, p_kind text, p_name text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    AS $$
DECLARE
  was text;
BEGIN
  IF p_kind = 'node' THEN
    DELETE FROM node_types AS t
    WHERE t.user_id = p_user_id AND t.name = p_name AND t.status IN ('proposed', 'rejected');
  ELSE
    DELETE FROM edge_types AS t
    WHERE t.user_id = p_user_id AND t.name = p_name AND t.status IN ('proposed', 'rejected');
  END IF;
  IF FOUND THEN
    RETURN;
  END IF;
  SELECT k.status INTO was FROM (
    SELECT t.status FROM node_types AS t WHERE p_kind = 'node' AND t.user_id = p_user_id AND t.name = p_name
    UNION ALL
    SELECT t.status FROM edge_types AS t WHERE p_kind = 'edge' AND t.user_id = p_user_id AND t.name = p_name
  ) AS k;
  PERFORM memsvc.refuse_undecidable(p_kind, p_name, was);
  PERFORM memsvc.refuse_change(
    'type_state', NULL, format('%s is %s: it can be deprecated, not withdrawn.', p_name, was)
  );
END
$$;

ALTER FUNCTION memsvc.withdraw_type(p_user_id uuid, p_kind text, p_name text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.withdraw_type(p_user_id uuid, p_kind text, p_name text) IS 'Deletes a type that was never approved.';

CREATE FUNCTION memsvc.word_count(p_words tsvector) RETURNS integer
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (SELECT (COALESCE(sum(cardinality(w.positions)), (0)::bigint))::integer AS "coalesce" FROM unnest(word_count.p_words) w(lexeme, positions, weights));

ALTER FUNCTION memsvc.word_count(p_words tsvector) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.word_count(p_words tsvector) IS 'Words with repetitions.';

CREATE FUNCTION memsvc.word_runs(p_text text) RETURNS text[]
    LANGUAGE plpgsql STABLE
    SET search_path TO 'memsvc', 'pg_temp'
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

ALTER FUNCTION memsvc.word_runs(p_text text) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.word_runs(p_text text) IS 'All runs of one to four words of a text, in their normal form.';

CREATE FUNCTION memsvc.work_errors() RETURNS TABLE(error_code text, retrying bigint, failed_last_hour bigint, last_seconds double precision)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'memsvc', 'pg_temp'
    BEGIN ATOMIC
 SELECT f.error_code,
     count(*) FILTER (WHERE (f.state = 'pending'::text)) AS count,
     count(*) FILTER (WHERE (f.state = 'failed'::text)) AS count,
     (EXTRACT(epoch FROM (clock_timestamp() - max(f.at))))::double precision AS "extract"
    FROM ( SELECT j.state,
             j.error_code,
             j.started_at AS at
            FROM memsvc.jobs j
           WHERE ((j.state = 'pending'::text) AND (j.attempts > 0))
         UNION ALL
          SELECT j.state,
             j.error_code,
             j.finished_at AS at
            FROM memsvc.jobs j
           WHERE ((j.state = 'failed'::text) AND (j.finished_at > (now() - '01:00:00'::interval)))) f
   WHERE (f.error_code IS NOT NULL)
   GROUP BY f.error_code
   ORDER BY (max(f.at)) DESC NULLS LAST;
END;

ALTER FUNCTION memsvc.work_errors() OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.work_errors() IS 'Codes of jobs'' last failures with their counts, over all users.';

CREATE FUNCTION memsvc.write_history(p_user_id uuid, p_actor text, p_operations jsonb) RETURNS TABLE(nth integer, outcome text, node_id uuid, edge_id uuid, versions uuid[], change_id uuid, recorded_at timestamp with time zone)
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
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
  -- Before the change has its time: who makes the same node at once waits here, and is later.
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

ALTER FUNCTION memsvc.write_history(p_user_id uuid, p_actor text, p_operations jsonb) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.write_history(p_user_id uuid, p_actor text, p_operations jsonb) IS 'Changes the graph: a batch of operations at one recorded time; one result row an operation.';

CREATE FUNCTION memsvc.write_versions(p_user_id uuid, p_actor text, p_at timestamp with time zone, p_plan jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'memsvc', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    AS $$
BEGIN
  INSERT INTO node_versions (
    user_id, version_id, node_id, type, label, description, data, importance, asserted_by, derived_from, valid_from,
    valid_to, recorded_from, recorded_to
  )
  SELECT p_user_id, w.version_id, w.subject, w.content ->> 'type', w.content ->> 'label', w.content ->> 'description',
    w.content -> 'data', (w.content ->> 'importance')::real, coalesce(w.asserted_by, p_actor), w.derived_from,
    w.valid_from, w.valid_to, p_at, CASE w.action WHEN 'past' THEN p_at ELSE 'infinity' END
  FROM jsonb_to_recordset(p_plan) AS w (
    action text, kind text, subject uuid, version_id uuid, derived_from uuid, content jsonb, asserted_by text,
    valid_from timestamptz, valid_to timestamptz
  )
  WHERE w.kind = 'node' AND w.action IN ('write', 'past');

  INSERT INTO aliases (
    user_id, alias_id, node_id, alias, normal_form, confidence, asserted_by, derived_from, valid_from, valid_to,
    recorded_from, recorded_to
  )
  SELECT p_user_id, w.version_id, w.subject, w.content ->> 'alias', w.form, (w.content ->> 'confidence')::real,
    coalesce(w.asserted_by, p_actor), w.derived_from, w.valid_from, w.valid_to, p_at,
    CASE w.action WHEN 'past' THEN p_at ELSE 'infinity' END
  FROM jsonb_to_recordset(p_plan) AS w (
    action text, kind text, subject uuid, form text, version_id uuid, derived_from uuid, content jsonb,
    asserted_by text, valid_from timestamptz, valid_to timestamptz
  )
  WHERE w.kind = 'alias' AND w.action IN ('write', 'past');

  INSERT INTO locations (
    user_id, location_id, node_id, latitude, longitude, radius_m, asserted_by, derived_from, valid_from, valid_to,
    recorded_from, recorded_to
  )
  SELECT p_user_id, w.version_id, w.subject, (w.content ->> 'latitude')::double precision,
    (w.content ->> 'longitude')::double precision, (w.content ->> 'radius_m')::double precision,
    coalesce(w.asserted_by, p_actor), w.derived_from, w.valid_from, w.valid_to, p_at,
    CASE w.action WHEN 'past' THEN p_at ELSE 'infinity' END
  FROM jsonb_to_recordset(p_plan) AS w (
    action text, kind text, subject uuid, version_id uuid, derived_from uuid, content jsonb, asserted_by text,
    valid_from timestamptz, valid_to timestamptz
  )
  WHERE w.kind = 'place' AND w.action IN ('write', 'past');

  INSERT INTO edge_versions (
    user_id, version_id, edge_id, from_node, type, to_node, functional, fact, data, weight, confidence, asserted_by,
    derived_from, valid_from, valid_to, recorded_from, recorded_to
  )
  SELECT p_user_id, w.version_id, w.subject, e.from_node, e.type, e.to_node, t.functional, w.content ->> 'fact',
    w.content -> 'data', (w.content ->> 'weight')::real, (w.content ->> 'confidence')::real,
    coalesce(w.asserted_by, p_actor), w.derived_from, w.valid_from, w.valid_to, p_at,
    CASE w.action WHEN 'past' THEN p_at ELSE 'infinity' END
  FROM jsonb_to_recordset(p_plan) AS w (
    action text, kind text, subject uuid, version_id uuid, derived_from uuid, content jsonb, asserted_by text,
    valid_from timestamptz, valid_to timestamptz
  )
  CROSS JOIN LATERAL (
    SELECT i.from_node, i.type, i.to_node FROM edges AS i
    WHERE i.user_id = p_user_id AND i.edge_id = w.subject OFFSET 0
  ) AS e
  INNER JOIN edge_types AS t ON t.user_id IN (memsvc.core_user_id(), p_user_id) AND t.name = e.type
  WHERE w.kind = 'edge' AND w.action IN ('write', 'past');
END
$$;

ALTER FUNCTION memsvc.write_versions(p_user_id uuid, p_actor text, p_at timestamp with time zone, p_plan jsonb) OWNER TO memsvc_owner;

COMMENT ON FUNCTION memsvc.write_versions(p_user_id uuid, p_actor text, p_at timestamp with time zone, p_plan jsonb) IS 'Writes the new versions of a plan.';

CREATE TABLE memsvc.answered_requests (
    user_id uuid NOT NULL,
    request_key bytea NOT NULL,
    digest bytea NOT NULL,
    answer jsonb NOT NULL,
    answered_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT answered_requests_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT answered_requests_request_key_check CHECK ((octet_length(request_key) = 32))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='500');

ALTER TABLE ONLY memsvc.answered_requests FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.answered_requests OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.answered_requests IS 'Changes that were asked for with an Idempotency-Key, so that sending them again does them once; for a day. No text.';

COMMENT ON COLUMN memsvc.answered_requests.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.answered_requests.request_key IS 'SHA-256 of the operation and the client''s key.';

COMMENT ON COLUMN memsvc.answered_requests.digest IS 'SHA-256 of what was asked for: the same key means the same.';

COMMENT ON COLUMN memsvc.answered_requests.answer IS 'The change: ids, outcomes and its time.';

COMMENT ON COLUMN memsvc.answered_requests.answered_at IS 'When.';

CREATE TABLE memsvc.applied_sql (
    path text NOT NULL,
    sha256 text NOT NULL,
    applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE memsvc.applied_sql OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.applied_sql IS 'Which text of sql/functions, sql/views and sql/policies this database has.';

COMMENT ON COLUMN memsvc.applied_sql.path IS 'Path below sql/.';

COMMENT ON COLUMN memsvc.applied_sql.sha256 IS 'Digest of the applied text; another digest means: apply again.';

COMMENT ON COLUMN memsvc.applied_sql.applied_at IS 'When it was applied last.';

CREATE VIEW memsvc.canonical_nodes WITH (security_invoker='true') AS
 WITH RECURSIVE merged AS (
         SELECT m_1.user_id,
            m_1.node_id,
            m_1.canonical_id
           FROM memsvc.merges m_1
          WHERE ((m_1.recorded_to = 'infinity'::timestamp with time zone) AND (NOT (EXISTS ( SELECT
                   FROM memsvc.merges above
                  WHERE ((above.user_id = m_1.user_id) AND (above.node_id = m_1.canonical_id) AND (above.recorded_to = 'infinity'::timestamp with time zone))))))
        UNION ALL
         SELECT m_1.user_id,
            m_1.node_id,
            w.canonical_id
           FROM (merged w
             JOIN memsvc.merges m_1 ON (((w.user_id = m_1.user_id) AND (w.node_id = m_1.canonical_id) AND (m_1.recorded_to = 'infinity'::timestamp with time zone))))
        )
 SELECT n.user_id,
    n.node_id,
    COALESCE(m.canonical_id, n.node_id) AS canonical_id,
    (m.node_id IS NOT NULL) AS merged
   FROM (memsvc.nodes n
     LEFT JOIN merged m ON (((n.user_id = m.user_id) AND (n.node_id = m.node_id))));

ALTER VIEW memsvc.canonical_nodes OWNER TO memsvc_owner;

COMMENT ON VIEW memsvc.canonical_nodes IS 'For each node the one that stands for it now; itself where it is not merged.';

COMMENT ON COLUMN memsvc.canonical_nodes.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.canonical_nodes.node_id IS 'A node as it is stored.';

COMMENT ON COLUMN memsvc.canonical_nodes.canonical_id IS 'The node that stands for it.';

COMMENT ON COLUMN memsvc.canonical_nodes.merged IS 'Whether another node stands for it.';

CREATE VIEW memsvc.conversations AS
SELECT
    NULL::uuid AS user_id,
    NULL::uuid AS source_id,
    NULL::text AS identifier,
    NULL::text AS title,
    NULL::text AS status,
    NULL::jsonb AS metadata,
    NULL::timestamp with time zone AS created_at,
    NULL::timestamp with time zone AS last_ingested_at,
    NULL::bigint AS messages,
    NULL::bigint AS sessions,
    NULL::timestamp with time zone AS first_said_at,
    NULL::timestamp with time zone AS last_said_at;

ALTER VIEW memsvc.conversations OWNER TO memsvc_owner;

COMMENT ON VIEW memsvc.conversations IS 'Conversations with their size and span.';

CREATE VIEW memsvc.daily_activity WITH (security_invoker='true') AS
 WITH RECURSIVE active AS (
         SELECT u.user_id,
            memsvc.known_zone(u.time_zone) AS time_zone,
            NULL::date AS day,
            '-infinity'::timestamp with time zone AS starts_at,
            '-infinity'::timestamp with time zone AS ends_at
           FROM memsvc.users u
        UNION ALL
         SELECT a_1.user_id,
            a_1.time_zone,
            d.day,
            GREATEST(a_1.ends_at, LEAST(f.at, ((d.day)::timestamp without time zone AT TIME ZONE a_1.time_zone))) AS "greatest",
            GREATEST((f.at + '00:00:00.000001'::interval), (((d.day + 1))::timestamp without time zone AT TIME ZONE a_1.time_zone)) AS "greatest"
           FROM ((active a_1
             CROSS JOIN LATERAL ( SELECT LEAST(( SELECT min(p.said_at) AS min
                           FROM memsvc.passages p
                          WHERE ((p.user_id = a_1.user_id) AND (p.said_at >= a_1.ends_at))), ( SELECT min(v.recorded_from) AS min
                           FROM memsvc.edge_versions v
                          WHERE ((v.user_id = a_1.user_id) AND (v.recorded_from >= a_1.ends_at))), ( SELECT min(v.recorded_to) AS min
                           FROM memsvc.edge_versions v
                          WHERE ((v.user_id = a_1.user_id) AND (v.recorded_to >= a_1.ends_at) AND (v.recorded_to < 'infinity'::timestamp with time zone)))) AS at) f)
             CROSS JOIN LATERAL ( SELECT ((f.at AT TIME ZONE a_1.time_zone))::date AS day) d)
          WHERE (f.at IS NOT NULL)
        )
 SELECT a.user_id,
    a.day,
    said.messages,
    said.words,
    said.speakers,
    said.conversations,
    learnt.facts AS facts_learnt,
    closed.facts AS facts_closed
   FROM (((active a
     CROSS JOIN LATERAL ( SELECT count(*) FILTER (WHERE (p.part = 0)) AS messages,
            COALESCE(sum(p.length_simple), (0)::bigint) AS words,
            count(DISTINCT p.speaker) AS speakers,
            count(DISTINCT p.source_id) AS conversations
           FROM memsvc.passages p
          WHERE ((p.user_id = a.user_id) AND (p.said_at >= a.starts_at) AND (p.said_at < a.ends_at) AND (p.kind = 'message'::text))) said)
     CROSS JOIN LATERAL ( SELECT count(DISTINCT v.edge_id) AS facts
           FROM memsvc.edge_versions v
          WHERE ((v.user_id = a.user_id) AND (v.recorded_from >= a.starts_at) AND (v.recorded_from < a.ends_at) AND (v.derived_from IS NULL) AND (v.recorded_to > v.recorded_from))) learnt)
     CROSS JOIN LATERAL ( SELECT count(DISTINCT v.edge_id) AS facts
           FROM memsvc.edge_versions v
          WHERE ((v.user_id = a.user_id) AND (v.recorded_to >= a.starts_at) AND (v.recorded_to < a.ends_at) AND (v.recorded_to < 'infinity'::timestamp with time zone) AND (v.recorded_to > v.recorded_from))) closed)
  WHERE (a.day IS NOT NULL);

ALTER VIEW memsvc.daily_activity OWNER TO memsvc_owner;

COMMENT ON VIEW memsvc.daily_activity IS 'Days on which anything happened, by the user''s own clock.';

COMMENT ON COLUMN memsvc.daily_activity.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.daily_activity.day IS 'The day in the user''s time zone.';

COMMENT ON COLUMN memsvc.daily_activity.messages IS 'Messages said; system, tool and thinking texts do not count.';

COMMENT ON COLUMN memsvc.daily_activity.words IS 'Words of these, with those of captions and of speakers'' names.';

COMMENT ON COLUMN memsvc.daily_activity.speakers IS 'Names of speakers; messages without a name count as one.';

COMMENT ON COLUMN memsvc.daily_activity.conversations IS 'Conversations in which something was said.';

COMMENT ON COLUMN memsvc.daily_activity.facts_learnt IS 'Facts about which something new was recorded.';

COMMENT ON COLUMN memsvc.daily_activity.facts_closed IS 'Facts of which a version was superseded or taken back.';

ALTER TABLE memsvc.dramatiq_queue ALTER COLUMN "position" ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME memsvc.dramatiq_queue_position_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE memsvc.embedding_models ALTER COLUMN model_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME memsvc.embedding_models_model_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE memsvc.embeddings_0 (
    user_id uuid CONSTRAINT embeddings_user_id_not_null NOT NULL,
    model_id smallint CONSTRAINT embeddings_model_id_not_null NOT NULL,
    passage_id uuid CONSTRAINT embeddings_passage_id_not_null NOT NULL,
    vector public.halfvec CONSTRAINT embeddings_vector_not_null NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() CONSTRAINT embeddings_created_at_not_null NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.05');

ALTER TABLE ONLY memsvc.embeddings_0 FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.embeddings_0 OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.embeddings_0 IS 'Part of embeddings, by hash of user_id.';

CREATE TABLE memsvc.embeddings_1 (
    user_id uuid CONSTRAINT embeddings_user_id_not_null NOT NULL,
    model_id smallint CONSTRAINT embeddings_model_id_not_null NOT NULL,
    passage_id uuid CONSTRAINT embeddings_passage_id_not_null NOT NULL,
    vector public.halfvec CONSTRAINT embeddings_vector_not_null NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() CONSTRAINT embeddings_created_at_not_null NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.05');

ALTER TABLE ONLY memsvc.embeddings_1 FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.embeddings_1 OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.embeddings_1 IS 'Part of embeddings, by hash of user_id.';

CREATE TABLE memsvc.embeddings_2 (
    user_id uuid CONSTRAINT embeddings_user_id_not_null NOT NULL,
    model_id smallint CONSTRAINT embeddings_model_id_not_null NOT NULL,
    passage_id uuid CONSTRAINT embeddings_passage_id_not_null NOT NULL,
    vector public.halfvec CONSTRAINT embeddings_vector_not_null NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() CONSTRAINT embeddings_created_at_not_null NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.05');

ALTER TABLE ONLY memsvc.embeddings_2 FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.embeddings_2 OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.embeddings_2 IS 'Part of embeddings, by hash of user_id.';

CREATE TABLE memsvc.embeddings_3 (
    user_id uuid CONSTRAINT embeddings_user_id_not_null NOT NULL,
    model_id smallint CONSTRAINT embeddings_model_id_not_null NOT NULL,
    passage_id uuid CONSTRAINT embeddings_passage_id_not_null NOT NULL,
    vector public.halfvec CONSTRAINT embeddings_vector_not_null NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() CONSTRAINT embeddings_created_at_not_null NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.05');

ALTER TABLE ONLY memsvc.embeddings_3 FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.embeddings_3 OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.embeddings_3 IS 'Part of embeddings, by hash of user_id.';

CREATE TABLE memsvc.embeddings_4 (
    user_id uuid CONSTRAINT embeddings_user_id_not_null NOT NULL,
    model_id smallint CONSTRAINT embeddings_model_id_not_null NOT NULL,
    passage_id uuid CONSTRAINT embeddings_passage_id_not_null NOT NULL,
    vector public.halfvec CONSTRAINT embeddings_vector_not_null NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() CONSTRAINT embeddings_created_at_not_null NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.05');

ALTER TABLE ONLY memsvc.embeddings_4 FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.embeddings_4 OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.embeddings_4 IS 'Part of embeddings, by hash of user_id.';

CREATE TABLE memsvc.embeddings_5 (
    user_id uuid CONSTRAINT embeddings_user_id_not_null NOT NULL,
    model_id smallint CONSTRAINT embeddings_model_id_not_null NOT NULL,
    passage_id uuid CONSTRAINT embeddings_passage_id_not_null NOT NULL,
    vector public.halfvec CONSTRAINT embeddings_vector_not_null NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() CONSTRAINT embeddings_created_at_not_null NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.05');

ALTER TABLE ONLY memsvc.embeddings_5 FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.embeddings_5 OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.embeddings_5 IS 'Part of embeddings, by hash of user_id.';

CREATE TABLE memsvc.embeddings_6 (
    user_id uuid CONSTRAINT embeddings_user_id_not_null NOT NULL,
    model_id smallint CONSTRAINT embeddings_model_id_not_null NOT NULL,
    passage_id uuid CONSTRAINT embeddings_passage_id_not_null NOT NULL,
    vector public.halfvec CONSTRAINT embeddings_vector_not_null NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() CONSTRAINT embeddings_created_at_not_null NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.05');

ALTER TABLE ONLY memsvc.embeddings_6 FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.embeddings_6 OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.embeddings_6 IS 'Part of embeddings, by hash of user_id.';

CREATE TABLE memsvc.embeddings_7 (
    user_id uuid CONSTRAINT embeddings_user_id_not_null NOT NULL,
    model_id smallint CONSTRAINT embeddings_model_id_not_null NOT NULL,
    passage_id uuid CONSTRAINT embeddings_passage_id_not_null NOT NULL,
    vector public.halfvec CONSTRAINT embeddings_vector_not_null NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() CONSTRAINT embeddings_created_at_not_null NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.05');

ALTER TABLE ONLY memsvc.embeddings_7 FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.embeddings_7 OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.embeddings_7 IS 'Part of embeddings, by hash of user_id.';

CREATE TABLE memsvc.extractions (
    user_id uuid NOT NULL,
    source_id uuid NOT NULL,
    extractor text NOT NULL,
    backend text NOT NULL,
    upto uuid,
    turns integer DEFAULT 0 NOT NULL,
    facts integer DEFAULT 0 NOT NULL,
    refused integer DEFAULT 0 NOT NULL,
    asked boolean DEFAULT false NOT NULL,
    last_at timestamp with time zone,
    passed_over uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    CONSTRAINT extractions_backend_check CHECK (((backend <> ''::text) AND (length(backend) <= 200))),
    CONSTRAINT extractions_extractor_check CHECK (((extractor <> ''::text) AND (length(extractor) <= 200))),
    CONSTRAINT extractions_facts_check CHECK ((facts >= 0)),
    CONSTRAINT extractions_refused_check CHECK ((refused >= 0)),
    CONSTRAINT extractions_turns_check CHECK ((turns >= 0))
);

ALTER TABLE ONLY memsvc.extractions FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.extractions OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.extractions IS 'How far each extractor has read each source. It moves in the transaction that writes what was read. Holds no text.';

COMMENT ON COLUMN memsvc.extractions.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.extractions.source_id IS 'What is read.';

COMMENT ON COLUMN memsvc.extractions.extractor IS 'Who reads, with a version; so what it found is signed.';

COMMENT ON COLUMN memsvc.extractions.backend IS 'Under which name workers load it.';

COMMENT ON COLUMN memsvc.extractions.upto IS 'The last passage that it has read; those of one source have ids in the order of their arrival. Null: none.';

COMMENT ON COLUMN memsvc.extractions.turns IS 'How many passages it has read.';

COMMENT ON COLUMN memsvc.extractions.facts IS 'How many facts it found in them that were written.';

COMMENT ON COLUMN memsvc.extractions.refused IS 'How many it found that were not, or about which a person is asked.';

COMMENT ON COLUMN memsvc.extractions.asked IS 'It is to read what it has not read, though it may not be the one that workers are configured with.';

COMMENT ON COLUMN memsvc.extractions.last_at IS 'When it read last; null: not yet.';

COMMENT ON COLUMN memsvc.extractions.passed_over IS 'Passages before upto that it could not read; each has a job of its own, in which it is tried again.';

CREATE VIEW memsvc.nodes_current WITH (security_invoker='true') AS
 WITH same AS MATERIALIZED (
         SELECT c.user_id,
            c.node_id,
            c.canonical_id,
            c.merged
           FROM memsvc.canonical_nodes c
        ), merged AS (
         SELECT s_1.user_id,
            s_1.canonical_id,
            array_agg(s_1.node_id ORDER BY s_1.node_id) AS nodes
           FROM same s_1
          WHERE s_1.merged
          GROUP BY s_1.user_id, s_1.canonical_id
        ), card AS (
         SELECT DISTINCT ON (s_1.user_id, s_1.canonical_id) s_1.user_id,
            s_1.canonical_id,
            v.type,
            v.label,
            v.description,
            v.data,
            v.importance,
            v.valid_from,
            v.valid_to,
            ((v.valid_from <= now()) AND (v.valid_to > now())) AS holds
           FROM (same s_1
             JOIN memsvc.node_versions v ON (((s_1.user_id = v.user_id) AND (s_1.node_id = v.node_id) AND (v.recorded_to = 'infinity'::timestamp with time zone))))
          ORDER BY s_1.user_id, s_1.canonical_id, ((v.valid_from <= now()) AND (v.valid_to > now())) DESC, (v.node_id = s_1.canonical_id) DESC, v.valid_from DESC, v.version_id
        )
 SELECT s.user_id,
    s.node_id,
    k.type,
    k.label,
    k.description,
    k.data,
    k.importance,
    NULLIF(k.valid_from, '-infinity'::timestamp with time zone) AS since,
    NULLIF(k.valid_to, 'infinity'::timestamp with time zone) AS until,
    COALESCE(k.holds, false) AS holds,
    (s.node_id || COALESCE(m.nodes, '{}'::uuid[])) AS nodes
   FROM ((same s
     LEFT JOIN card k ON (((s.user_id = k.user_id) AND (s.node_id = k.canonical_id))))
     LEFT JOIN merged m ON (((s.user_id = m.user_id) AND (s.node_id = m.canonical_id))))
  WHERE (NOT s.merged);

ALTER VIEW memsvc.nodes_current OWNER TO memsvc_owner;

COMMENT ON VIEW memsvc.nodes_current IS 'Things as they are shown now; merged nodes are one.';

COMMENT ON COLUMN memsvc.nodes_current.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.nodes_current.node_id IS 'The thing; of merged nodes the one that stands for them.';

COMMENT ON COLUMN memsvc.nodes_current.type IS 'Its type; null where all that was known of it was taken back.';

COMMENT ON COLUMN memsvc.nodes_current.label IS 'Its name as shown; null as above.';

COMMENT ON COLUMN memsvc.nodes_current.description IS 'What it is.';

COMMENT ON COLUMN memsvc.nodes_current.data IS 'Further properties.';

COMMENT ON COLUMN memsvc.nodes_current.importance IS '1 to 10.';

COMMENT ON COLUMN memsvc.nodes_current.since IS 'From when these properties hold; null: as far as known, always.';

COMMENT ON COLUMN memsvc.nodes_current.until IS 'When they ended or will end; null: not known to end.';

COMMENT ON COLUMN memsvc.nodes_current.holds IS 'False: nothing is known of now, these are of another time.';

COMMENT ON COLUMN memsvc.nodes_current.nodes IS 'All stored nodes that are this thing, itself first.';

CREATE VIEW memsvc.node_labels WITH (security_invoker='true') AS
 SELECT n.user_id,
    stored.node_id,
    n.node_id AS canonical_id,
    n.label,
    n.type,
    (cardinality(n.nodes) > 1) AS several
   FROM (memsvc.nodes_current n
     CROSS JOIN LATERAL unnest(n.nodes) stored(node_id));

ALTER VIEW memsvc.node_labels OWNER TO memsvc_owner;

COMMENT ON VIEW memsvc.node_labels IS 'How each stored node is shown.';

COMMENT ON COLUMN memsvc.node_labels.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.node_labels.node_id IS 'A node as it is stored.';

COMMENT ON COLUMN memsvc.node_labels.canonical_id IS 'The node that stands for it.';

COMMENT ON COLUMN memsvc.node_labels.label IS 'The name of the thing that it is.';

COMMENT ON COLUMN memsvc.node_labels.type IS 'The type of the thing that it is.';

COMMENT ON COLUMN memsvc.node_labels.several IS 'Whether this thing is several stored nodes.';

CREATE VIEW memsvc.facts_current WITH (security_invoker='true') AS
 WITH thing AS MATERIALIZED (
         SELECT l.user_id,
            l.node_id,
            l.canonical_id,
            l.label,
            l.type,
            l.several
           FROM memsvc.node_labels l
        ), rivals AS (
         SELECT s_1.user_id,
            s_1.canonical_id,
            v_1.type
           FROM ((thing s_1
             JOIN memsvc.edge_versions v_1 ON (((s_1.user_id = v_1.user_id) AND (s_1.node_id = v_1.from_node) AND (v_1.recorded_to = 'infinity'::timestamp with time zone) AND v_1.functional AND (v_1.valid_from <= now()) AND (v_1.valid_to > now()))))
             JOIN thing o_1 ON (((v_1.user_id = o_1.user_id) AND (v_1.to_node = o_1.node_id))))
          WHERE s_1.several
          GROUP BY s_1.user_id, s_1.canonical_id, v_1.type
         HAVING (count(DISTINCT o_1.canonical_id) > 1)
        )
 SELECT v.user_id,
    v.version_id,
    v.edge_id,
    s.canonical_id AS subject_id,
    s.label AS subject,
    s.type AS subject_type,
    v.type AS predicate,
    o.canonical_id AS object_id,
    o.label AS object,
    o.type AS object_type,
    v.fact,
    NULLIF(v.valid_from, '-infinity'::timestamp with time zone) AS since,
    NULLIF(v.valid_to, 'infinity'::timestamp with time zone) AS until,
    v.confidence,
    v.weight,
    v.data,
    v.asserted_by,
    v.recorded_from AS learnt_at,
    ( SELECT count(DISTINCT ROW(p.source_id, p.session, p.ordinal)) AS count
           FROM (memsvc.source_links k
             JOIN memsvc.passages p ON (((k.user_id = p.user_id) AND (k.passage_id = p.passage_id))))
          WHERE ((k.user_id = s.user_id) AND (p.user_id = o.user_id) AND (k.edge_version_id = v.version_id) AND (k.stance = 'supports'::text) AND (k.recorded_to = 'infinity'::timestamp with time zone))) AS messages,
    ( SELECT count(DISTINCT p.source_id) AS count
           FROM (memsvc.source_links k
             JOIN memsvc.passages p ON (((k.user_id = p.user_id) AND (k.passage_id = p.passage_id))))
          WHERE ((k.user_id = s.user_id) AND (p.user_id = o.user_id) AND (k.edge_version_id = v.version_id) AND (k.stance = 'supports'::text) AND (k.recorded_to = 'infinity'::timestamp with time zone))) AS sources,
    ((r.canonical_id IS NOT NULL) AND v.functional) AS contested,
    v.from_node AS stored_subject_id,
    v.to_node AS stored_object_id
   FROM (((memsvc.edge_versions v
     JOIN thing s ON (((v.user_id = s.user_id) AND (v.from_node = s.node_id))))
     JOIN thing o ON (((v.user_id = o.user_id) AND (v.to_node = o.node_id))))
     LEFT JOIN rivals r ON (((s.user_id = r.user_id) AND (s.canonical_id = r.canonical_id) AND (v.type = r.type))))
  WHERE ((v.recorded_to = 'infinity'::timestamp with time zone) AND (v.valid_from <= now()) AND (v.valid_to > now()));

ALTER VIEW memsvc.facts_current OWNER TO memsvc_owner;

COMMENT ON VIEW memsvc.facts_current IS 'Facts that hold now, as known now; merged nodes are one.';

COMMENT ON COLUMN memsvc.facts_current.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.facts_current.version_id IS 'The version that says it.';

COMMENT ON COLUMN memsvc.facts_current.edge_id IS 'The relation; the same through all versions.';

COMMENT ON COLUMN memsvc.facts_current.subject_id IS 'Who or what it is about; of merged nodes the one that stands for them.';

COMMENT ON COLUMN memsvc.facts_current.subject IS 'Its label; null where nothing is known of it any more.';

COMMENT ON COLUMN memsvc.facts_current.subject_type IS 'Its type.';

COMMENT ON COLUMN memsvc.facts_current.predicate IS 'The type of the relation, for example LIVES_IN.';

COMMENT ON COLUMN memsvc.facts_current.object_id IS 'The other end; of merged nodes the one that stands for them.';

COMMENT ON COLUMN memsvc.facts_current.object IS 'Its label.';

COMMENT ON COLUMN memsvc.facts_current.object_type IS 'Its type.';

COMMENT ON COLUMN memsvc.facts_current.fact IS 'The fact as a sentence.';

COMMENT ON COLUMN memsvc.facts_current.since IS 'From when it is true; null: as far as known, always.';

COMMENT ON COLUMN memsvc.facts_current.until IS 'When it will end; null: not known to end.';

COMMENT ON COLUMN memsvc.facts_current.confidence IS 'How sure its author is: above 0, at most 1.';

COMMENT ON COLUMN memsvc.facts_current.weight IS 'How strong the relation is.';

COMMENT ON COLUMN memsvc.facts_current.data IS 'Further properties.';

COMMENT ON COLUMN memsvc.facts_current.asserted_by IS 'Who said so: user, app, or a model with its version.';

COMMENT ON COLUMN memsvc.facts_current.learnt_at IS 'When this version was recorded.';

COMMENT ON COLUMN memsvc.facts_current.messages IS 'How many messages speak for it.';

COMMENT ON COLUMN memsvc.facts_current.sources IS 'How many sources (conversations) these are from.';

COMMENT ON COLUMN memsvc.facts_current.contested IS 'The type allows one value at a time, but nodes that are the same disagree.';

COMMENT ON COLUMN memsvc.facts_current.stored_subject_id IS 'The node at which it is stored; another than subject_id after a merge.';

COMMENT ON COLUMN memsvc.facts_current.stored_object_id IS 'The same of the other end.';

CREATE VIEW memsvc.facts_history WITH (security_invoker='true') AS
 WITH thing AS MATERIALIZED (
         SELECT l.user_id,
            l.node_id,
            l.canonical_id,
            l.label,
            l.type
           FROM memsvc.node_labels l
        )
 SELECT v.user_id,
    v.version_id,
    v.edge_id,
    s.canonical_id AS subject_id,
    s.label AS subject,
    s.type AS subject_type,
    v.type AS predicate,
    o.canonical_id AS object_id,
    o.label AS object,
    o.type AS object_type,
    v.fact,
    NULLIF(v.valid_from, '-infinity'::timestamp with time zone) AS since,
    NULLIF(v.valid_to, 'infinity'::timestamp with time zone) AS until,
    v.recorded_from AS learnt_at,
    NULLIF(v.recorded_to, 'infinity'::timestamp with time zone) AS believed_until,
    (v.recorded_to < 'infinity'::timestamp with time zone) AS superseded,
        CASE
            WHEN ((v.recorded_to = 'infinity'::timestamp with time zone) AND (v.valid_to <= now())) THEN 'ended'::text
            WHEN ((v.recorded_to = 'infinity'::timestamp with time zone) AND (v.valid_from > now())) THEN 'to come'::text
            WHEN (v.recorded_to = 'infinity'::timestamp with time zone) THEN 'holds'::text
            WHEN (v.recorded_to = v.recorded_from) THEN 'overruled'::text
            WHEN (EXISTS ( SELECT
               FROM memsvc.edge_versions n
              WHERE ((n.user_id = s.user_id) AND (n.edge_id = v.edge_id) AND (n.recorded_from = v.recorded_to) AND (n.fact = v.fact) AND (n.data = v.data) AND (n.weight = v.weight) AND (n.confidence = v.confidence)))) THEN 'shortened'::text
            WHEN (EXISTS ( SELECT
               FROM memsvc.edge_versions n
              WHERE ((n.user_id = o.user_id) AND (n.edge_id = v.edge_id) AND (n.recorded_from = v.recorded_to)))) THEN 'corrected'::text
            WHEN (v.functional AND (EXISTS ( SELECT
               FROM memsvc.edge_versions n
              WHERE ((n.user_id = v.user_id) AND (n.from_node = v.from_node) AND (n.type = v.type) AND (n.recorded_from = v.recorded_to))))) THEN 'replaced'::text
            ELSE 'retracted'::text
        END AS state,
    v.derived_from,
    v.confidence,
    v.weight,
    v.data,
    v.asserted_by,
    w.change_id AS learnt_by_change,
    c.change_id AS closed_by_change,
    c.asserted_by AS closed_by,
    v.from_node AS stored_subject_id,
    v.to_node AS stored_object_id
   FROM ((((memsvc.edge_versions v
     JOIN thing s ON (((v.user_id = s.user_id) AND (v.from_node = s.node_id))))
     JOIN thing o ON (((v.user_id = o.user_id) AND (v.to_node = o.node_id))))
     LEFT JOIN memsvc.changes w ON (((v.user_id = w.user_id) AND (v.recorded_from = w.recorded_at))))
     LEFT JOIN memsvc.changes c ON (((v.user_id = c.user_id) AND (v.recorded_to = c.recorded_at))));

ALTER VIEW memsvc.facts_history OWNER TO memsvc_owner;

COMMENT ON VIEW memsvc.facts_history IS 'Every version of every fact, with its four times; merged nodes are one.';

COMMENT ON COLUMN memsvc.facts_history.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.facts_history.version_id IS 'The version.';

COMMENT ON COLUMN memsvc.facts_history.edge_id IS 'The relation; the same through all versions.';

COMMENT ON COLUMN memsvc.facts_history.subject_id IS 'Who or what it is about; of merged nodes the one that stands for them now.';

COMMENT ON COLUMN memsvc.facts_history.subject IS 'Its label now; null where nothing is known of it any more.';

COMMENT ON COLUMN memsvc.facts_history.subject_type IS 'Its type now.';

COMMENT ON COLUMN memsvc.facts_history.predicate IS 'The type of the relation, for example LIVES_IN.';

COMMENT ON COLUMN memsvc.facts_history.object_id IS 'The other end; of merged nodes the one that stands for them now.';

COMMENT ON COLUMN memsvc.facts_history.object IS 'Its label now.';

COMMENT ON COLUMN memsvc.facts_history.object_type IS 'Its type now.';

COMMENT ON COLUMN memsvc.facts_history.fact IS 'The fact as a sentence.';

COMMENT ON COLUMN memsvc.facts_history.since IS 'From when it was true; null: as far as known, always.';

COMMENT ON COLUMN memsvc.facts_history.until IS 'The first moment at which it was not true any more; null: not known to end.';

COMMENT ON COLUMN memsvc.facts_history.learnt_at IS 'When this version was recorded.';

COMMENT ON COLUMN memsvc.facts_history.believed_until IS 'When it was closed; null: it is believed now.';

COMMENT ON COLUMN memsvc.facts_history.superseded IS 'True: it is not believed any more.';

COMMENT ON COLUMN memsvc.facts_history.state IS 'Believed: holds, ended or to come. Not any more: shortened (the same is said of another time), corrected (the relation was told otherwise), replaced (another value came), retracted, or overruled within its own batch.';

COMMENT ON COLUMN memsvc.facts_history.derived_from IS 'The version of which it is a remainder or a restoration; null: new knowledge.';

COMMENT ON COLUMN memsvc.facts_history.confidence IS 'How sure its author was: above 0, at most 1.';

COMMENT ON COLUMN memsvc.facts_history.weight IS 'How strong the relation was.';

COMMENT ON COLUMN memsvc.facts_history.data IS 'Further properties.';

COMMENT ON COLUMN memsvc.facts_history.asserted_by IS 'Who said so.';

COMMENT ON COLUMN memsvc.facts_history.learnt_by_change IS 'The change that recorded it; see changes.';

COMMENT ON COLUMN memsvc.facts_history.closed_by_change IS 'The change that closed it.';

COMMENT ON COLUMN memsvc.facts_history.closed_by IS 'Whose change closed it.';

COMMENT ON COLUMN memsvc.facts_history.stored_subject_id IS 'The node at which it is stored.';

COMMENT ON COLUMN memsvc.facts_history.stored_object_id IS 'The same of the other end.';

CREATE TABLE memsvc.identity_keys (
    key_id text NOT NULL,
    inner_pad bytea NOT NULL,
    outer_pad bytea NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    retired_at timestamp with time zone,
    CONSTRAINT identity_keys_inner_pad_check CHECK ((octet_length(inner_pad) = 64)),
    CONSTRAINT identity_keys_outer_pad_check CHECK ((octet_length(outer_pad) = 64))
);

ALTER TABLE ONLY memsvc.identity_keys FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.identity_keys OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.identity_keys IS 'Keys that identity tokens are checked with (HMAC-SHA256); readable by memsvc_owner only, through current_user_id().';

COMMENT ON COLUMN memsvc.identity_keys.key_id IS 'Named in each token; the first half of the secret''s sha256.';

COMMENT ON COLUMN memsvc.identity_keys.inner_pad IS 'The secret, padded to 64 bytes, xor 0x36 (RFC 2104).';

COMMENT ON COLUMN memsvc.identity_keys.outer_pad IS 'The secret, padded to 64 bytes, xor 0x5c (RFC 2104).';

COMMENT ON COLUMN memsvc.identity_keys.created_at IS 'When tokens of this key began to count.';

COMMENT ON COLUMN memsvc.identity_keys.retired_at IS 'When they ceased to; null while they count.';

CREATE VIEW memsvc.messages WITH (security_invoker='true') AS
 SELECT user_id,
    source_id,
    session,
    ordinal,
    (array_agg(passage_id ORDER BY part))[1] AS passage_id,
    min(client_id) AS client_id,
    min(kind) AS kind,
    min(speaker) AS speaker,
    min(role) AS role,
    string_agg(text, ''::text ORDER BY part) AS text,
    string_agg(caption, ''::text ORDER BY part) AS caption,
    min(said_at) AS said_at,
    min(said_offset) AS said_offset,
    (array_agg(metadata ORDER BY part))[1] AS metadata,
    min(recorded_at) AS recorded_at,
    count(*) AS parts
   FROM memsvc.passages p
  WHERE (kind = ANY (ARRAY['message'::text, 'trace'::text]))
  GROUP BY user_id, source_id, session, ordinal;

ALTER VIEW memsvc.messages OWNER TO memsvc_owner;

COMMENT ON VIEW memsvc.messages IS 'Messages as they were sent: the parts of a long one put together again.';

ALTER TABLE memsvc.nodes ALTER COLUMN gid ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME memsvc.nodes_gid_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE memsvc.outbox (
    user_id uuid NOT NULL,
    event_id uuid DEFAULT uuidv7() NOT NULL,
    kind text NOT NULL,
    subject_id uuid NOT NULL,
    transaction_id xid8 DEFAULT pg_current_xact_id() NOT NULL,
    recorded_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT outbox_kind_check CHECK ((kind = ANY (ARRAY['passages.added'::text, 'source.completed'::text, 'memory.erased'::text, 'graph.changed'::text, 'memory.recalled'::text, 'profile.changed'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='500');

ALTER TABLE ONLY memsvc.outbox FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.outbox OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.outbox IS 'Events for live clients: ids only, committed with what they tell of.';

COMMENT ON COLUMN memsvc.outbox.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.outbox.event_id IS 'Time-ordered id.';

COMMENT ON COLUMN memsvc.outbox.kind IS 'passages.added, source.completed, memory.erased, graph.changed, memory.recalled or profile.changed.';

COMMENT ON COLUMN memsvc.outbox.subject_id IS 'The source concerned, the erasure, the change, the recall or the block of the profile.';

COMMENT ON COLUMN memsvc.outbox.transaction_id IS 'Writing transaction: readers stop below pg_snapshot_xmin, so a cursor never jumps over a late commit.';

COMMENT ON COLUMN memsvc.outbox.recorded_at IS 'When.';

CREATE VIEW memsvc.people WITH (security_invoker='true') AS
 WITH voice AS MATERIALIZED (
         SELECT p.user_id,
            p.speaker,
            (p.speaker = ''::text) AS nameless,
            memsvc.normal_form(p.speaker) AS normal_form,
            count(*) AS messages,
            min(p.said_at) AS first_at,
            max(p.said_at) AS last_at
           FROM memsvc.passages p
          WHERE ((p.kind = 'message'::text) AND (p.part = 0) AND ((p.speaker <> ''::text) OR (p.role = 'user'::text)))
          GROUP BY p.user_id, p.speaker
        )
 SELECT n.user_id,
    n.node_id,
    n.label AS name,
    named.names,
    COALESCE((n.data @> '{"self": true}'::jsonb), false) AS self,
    spoken.messages,
    related.facts,
    LEAST(spoken.first_at, shown.first_at) AS first_seen,
    GREATEST(spoken.last_at, shown.last_at) AS last_seen,
    related.main_facts,
    n.description,
    n.importance
   FROM ((((memsvc.nodes_current n
     CROSS JOIN LATERAL ( SELECT array_agg(DISTINCT a.alias) FILTER (WHERE ((a.valid_from <= now()) AND (a.valid_to > now()))) AS names,
            array_agg(DISTINCT a.normal_form) AS normal_forms
           FROM memsvc.aliases a
          WHERE ((a.user_id = n.user_id) AND (a.node_id = ANY (n.nodes)) AND (a.recorded_to = 'infinity'::timestamp with time zone))) named)
     CROSS JOIN LATERAL ( SELECT (COALESCE(sum(v.messages), (0)::numeric))::bigint AS messages,
            min(v.first_at) AS first_at,
            max(v.last_at) AS last_at
           FROM voice v
          WHERE ((v.user_id = n.user_id) AND ((v.normal_form = ANY (named.normal_forms)) OR (v.nameless AND (n.data @> '{"self": true}'::jsonb))))) spoken)
     CROSS JOIN LATERAL ( SELECT count(*) AS facts,
            (array_agg(f.fact ORDER BY f.weight DESC, f.recorded_from DESC, f.fact, f.version_id))[1:5] AS main_facts,
            array_agg(f.version_id) AS versions
           FROM ( SELECT e.version_id,
                    e.fact,
                    e.weight,
                    e.recorded_from
                   FROM memsvc.edge_versions e
                  WHERE ((e.user_id = n.user_id) AND (e.from_node = ANY (n.nodes)) AND (e.recorded_to = 'infinity'::timestamp with time zone) AND (e.valid_from <= now()) AND (e.valid_to > now()))
                UNION
                 SELECT e.version_id,
                    e.fact,
                    e.weight,
                    e.recorded_from
                   FROM memsvc.edge_versions e
                  WHERE ((e.user_id = n.user_id) AND (e.to_node = ANY (n.nodes)) AND (e.recorded_to = 'infinity'::timestamp with time zone) AND (e.valid_from <= now()) AND (e.valid_to > now()))) f) related)
     CROSS JOIN LATERAL ( SELECT min(p.said_at) AS first_at,
            max(p.said_at) AS last_at
           FROM (memsvc.source_links k
             JOIN memsvc.passages p ON (((k.user_id = p.user_id) AND (k.passage_id = p.passage_id))))
          WHERE ((k.user_id = n.user_id) AND (k.edge_version_id = ANY (related.versions)) AND (k.recorded_to = 'infinity'::timestamp with time zone))) shown)
  WHERE (n.type = 'Person'::text);

ALTER VIEW memsvc.people OWNER TO memsvc_owner;

COMMENT ON VIEW memsvc.people IS 'Persons with their names, facts and messages; merged ones are one.';

COMMENT ON COLUMN memsvc.people.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.people.node_id IS 'The person; of merged nodes the one that stands for them.';

COMMENT ON COLUMN memsvc.people.name IS 'The label.';

COMMENT ON COLUMN memsvc.people.names IS 'What the person is called now; null: no name is known.';

COMMENT ON COLUMN memsvc.people.self IS 'Whether this is the user.';

COMMENT ON COLUMN memsvc.people.messages IS 'Messages that the person spoke, by the speaker''s name.';

COMMENT ON COLUMN memsvc.people.facts IS 'Facts about the person that hold now.';

COMMENT ON COLUMN memsvc.people.first_seen IS 'First message that the person spoke, or that speaks for one of these facts.';

COMMENT ON COLUMN memsvc.people.last_seen IS 'The last one of them.';

COMMENT ON COLUMN memsvc.people.main_facts IS 'The five strongest of these facts as sentences; the latest first among equals.';

COMMENT ON COLUMN memsvc.people.description IS 'Who that is.';

COMMENT ON COLUMN memsvc.people.importance IS '1 to 10.';

CREATE TABLE memsvc.recall_events (
    user_id uuid NOT NULL,
    recall_id uuid NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    door text NOT NULL,
    mode text NOT NULL,
    memories uuid[] NOT NULL,
    verdicts smallint[],
    folded_at timestamp with time zone,
    CONSTRAINT recall_events_door_check CHECK ((door ~ '^[a-z][a-z0-9_-]{0,39}$'::text)),
    CONSTRAINT recall_events_memories_check CHECK ((COALESCE(array_ndims(memories), 1) = 1)),
    CONSTRAINT recall_events_mode_check CHECK ((mode ~ '^[a-z][a-z0-9_-]{0,39}$'::text)),
    CONSTRAINT recall_events_verdicts CHECK ((cardinality(verdicts) = cardinality(memories))),
    CONSTRAINT recall_events_verdicts_check CHECK ((verdicts <@ ARRAY[('-1'::integer)::smallint, (0)::smallint, (1)::smallint]))
)
WITH (autovacuum_vacuum_scale_factor='0.05');

ALTER TABLE ONLY memsvc.recall_events FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.recall_events OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.recall_events IS 'What was recalled, appended after the answer went out. Ids only: no query and no text.';

COMMENT ON COLUMN memsvc.recall_events.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.recall_events.recall_id IS 'Time-ordered id, which the answer had.';

COMMENT ON COLUMN memsvc.recall_events.at IS 'When it was noted.';

COMMENT ON COLUMN memsvc.recall_events.door IS 'Through which door: recall, context, cli …';

COMMENT ON COLUMN memsvc.recall_events.mode IS 'eager, balanced or deliberate.';

COMMENT ON COLUMN memsvc.recall_events.memories IS 'Ids of passages and of versions of edges, the place is the rank; null: erased since.';

COMMENT ON COLUMN memsvc.recall_events.verdicts IS 'Feedback, at the same places: 1 used, -1 irrelevant, 0 none. Null: nobody said anything.';

COMMENT ON COLUMN memsvc.recall_events.folded_at IS 'When memory_signals took it in; null: not yet.';

CREATE TABLE memsvc.schema_version (
    version_num character varying(32) NOT NULL
);

ALTER TABLE memsvc.schema_version OWNER TO memsvc_owner;

CREATE TABLE memsvc.sleep_runs (
    user_id uuid NOT NULL,
    run_id uuid DEFAULT uuidv7() NOT NULL,
    task text NOT NULL,
    state text DEFAULT 'open'::text NOT NULL,
    from_node uuid,
    since timestamp with time zone,
    budget_s real,
    place jsonb,
    examined bigint DEFAULT 0 NOT NULL,
    applied bigint DEFAULT 0 NOT NULL,
    proposed bigint DEFAULT 0 NOT NULL,
    seconds real DEFAULT 0 NOT NULL,
    within_budget boolean DEFAULT true NOT NULL,
    error_code text,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    finished_at timestamp with time zone,
    CONSTRAINT sleep_runs_applied_check CHECK ((applied >= 0)),
    CONSTRAINT sleep_runs_budget_s_check CHECK ((budget_s > (0)::double precision)),
    CONSTRAINT sleep_runs_examined_check CHECK ((examined >= 0)),
    CONSTRAINT sleep_runs_finished CHECK (((state = 'open'::text) = (finished_at IS NULL))),
    CONSTRAINT sleep_runs_proposed_check CHECK ((proposed >= 0)),
    CONSTRAINT sleep_runs_seconds_check CHECK ((seconds >= (0)::double precision)),
    CONSTRAINT sleep_runs_state_check CHECK ((state = ANY (ARRAY['open'::text, 'done'::text, 'failed'::text]))),
    CONSTRAINT sleep_runs_task_check CHECK ((task ~ '^[a-z][a-z0-9_-]{0,39}$'::text))
);

ALTER TABLE ONLY memsvc.sleep_runs FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.sleep_runs OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.sleep_runs IS 'What ran in sleep mode, and what it did and cost; an open run goes on from its place. Holds no text.';

COMMENT ON COLUMN memsvc.sleep_runs.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.sleep_runs.run_id IS 'Time-ordered id.';

COMMENT ON COLUMN memsvc.sleep_runs.task IS 'Which task, for example duplicates.';

COMMENT ON COLUMN memsvc.sleep_runs.state IS 'open: it runs, or goes on later; done; failed: see error_code.';

COMMENT ON COLUMN memsvc.sleep_runs.from_node IS 'Only what concerns this node; null: all.';

COMMENT ON COLUMN memsvc.sleep_runs.since IS 'Only what was learnt since then; null: all.';

COMMENT ON COLUMN memsvc.sleep_runs.budget_s IS 'It ends after so many seconds of work; null: when its work is done.';

COMMENT ON COLUMN memsvc.sleep_runs.place IS 'How far it came, as the task writes it; null: it has not begun.';

COMMENT ON COLUMN memsvc.sleep_runs.examined IS 'What it looked at; of duplicates: pairs that were compared.';

COMMENT ON COLUMN memsvc.sleep_runs.applied IS 'What it did; of duplicates: merges.';

COMMENT ON COLUMN memsvc.sleep_runs.proposed IS 'What it left to a person; of duplicates: pairs to review.';

COMMENT ON COLUMN memsvc.sleep_runs.seconds IS 'How long it worked, without pauses.';

COMMENT ON COLUMN memsvc.sleep_runs.within_budget IS 'False: its budget was used up before its work was done.';

COMMENT ON COLUMN memsvc.sleep_runs.error_code IS 'Why it failed.';

COMMENT ON COLUMN memsvc.sleep_runs.started_at IS 'When it was asked for.';

COMMENT ON COLUMN memsvc.sleep_runs.finished_at IS 'When it ended; null: it has not.';

CREATE VIEW memsvc.sources_status WITH (security_invoker='true') AS
 SELECT s.user_id,
    s.source_id,
    s.kind,
    s.identifier,
    s.title,
    s.status,
    counted.messages,
    counted.passages,
        CASE
            WHEN (m.model_id IS NOT NULL) THEN counted.embedded
            ELSE NULL::bigint
        END AS vectors,
        CASE
            WHEN (m.model_id IS NOT NULL) THEN (counted.embeddable - counted.embedded)
            ELSE NULL::bigint
        END AS vectors_lacking,
    m.name AS model,
    j.state AS job,
    j.attempts,
    j.error_code,
    j.error,
    s.last_ingested_at,
    s.created_at
   FROM (((memsvc.sources s
     LEFT JOIN memsvc.embedding_models m ON ((m.state = 'active'::text)))
     CROSS JOIN LATERAL ( SELECT count(*) FILTER (WHERE (p.part = 0)) AS messages,
            count(*) AS passages,
            count(*) FILTER (WHERE (p.kind = ANY (ARRAY['message'::text, 'block'::text]))) AS embeddable,
            count(e.passage_id) FILTER (WHERE (p.kind = ANY (ARRAY['message'::text, 'block'::text]))) AS embedded
           FROM (memsvc.passages p
             LEFT JOIN memsvc.embeddings e ON (((p.user_id = e.user_id) AND (m.model_id = e.model_id) AND (p.passage_id = e.passage_id))))
          WHERE ((p.user_id = s.user_id) AND (p.source_id = s.source_id))) counted)
     LEFT JOIN ( SELECT DISTINCT ON (w.user_id, w.subject_id) w.user_id,
            w.subject_id,
            w.state,
            w.attempts,
            w.error_code,
            w.error
           FROM memsvc.jobs w
          WHERE (w.kind = 'process'::text)
          ORDER BY w.user_id, w.subject_id, w.job_id DESC) j ON (((s.user_id = j.user_id) AND (s.source_id = j.subject_id))));

ALTER VIEW memsvc.sources_status OWNER TO memsvc_owner;

COMMENT ON VIEW memsvc.sources_status IS 'Sources with their size, their vectors by the active model and their last job.';

COMMENT ON COLUMN memsvc.sources_status.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.sources_status.source_id IS 'The source.';

COMMENT ON COLUMN memsvc.sources_status.kind IS 'What it is: conversation, or block (of the profile, in the archive).';

COMMENT ON COLUMN memsvc.sources_status.identifier IS 'Its name where it comes from.';

COMMENT ON COLUMN memsvc.sources_status.title IS 'Its title.';

COMMENT ON COLUMN memsvc.sources_status.status IS 'How far background work is: pending, processing, completed or failed.';

COMMENT ON COLUMN memsvc.sources_status.messages IS 'Its messages, traces among them; of a block, its versions in the archive.';

COMMENT ON COLUMN memsvc.sources_status.passages IS 'Its passages; a long message is several.';

COMMENT ON COLUMN memsvc.sources_status.vectors IS 'Passages with a vector of the active model; null: there is no model.';

COMMENT ON COLUMN memsvc.sources_status.vectors_lacking IS 'Passages that are still to get one; traces and former blocks get none.';

COMMENT ON COLUMN memsvc.sources_status.model IS 'The active embedding model; null: none.';

COMMENT ON COLUMN memsvc.sources_status.job IS 'State of its last job: pending, done, failed or cancelled; null: there is none (ended ones are kept for a time).';

COMMENT ON COLUMN memsvc.sources_status.attempts IS 'How often that was tried.';

COMMENT ON COLUMN memsvc.sources_status.error_code IS 'Why it failed, as a stable code.';

COMMENT ON COLUMN memsvc.sources_status.error IS 'The same for people.';

COMMENT ON COLUMN memsvc.sources_status.last_ingested_at IS 'When background work last caught up with it.';

COMMENT ON COLUMN memsvc.sources_status.created_at IS 'When it first came in.';

CREATE VIEW memsvc.timeline WITH (security_invoker='true') AS
 SELECT p.user_id,
    p.said_at AS at,
    'message'::text AS kind,
        CASE
            WHEN (p.speaker = ''::text) THEN p.text
            ELSE ((p.speaker || ': '::text) || p.text)
        END AS what,
    p.source_id,
    p.passage_id,
    NULL::uuid AS version_id,
    NULL::uuid AS edge_id,
    NULL::uuid AS node_id,
    NULL::uuid AS other_node_id
   FROM memsvc.passages p
  WHERE ((p.kind = 'message'::text) AND (p.part = 0))
UNION ALL
 SELECT v.user_id,
    v.valid_from AS at,
    'began'::text AS kind,
    v.fact AS what,
    NULL::uuid AS source_id,
    NULL::uuid AS passage_id,
    v.version_id,
    v.edge_id,
    v.from_node AS node_id,
    v.to_node AS other_node_id
   FROM memsvc.edge_versions v
  WHERE ((v.recorded_to = 'infinity'::timestamp with time zone) AND (v.valid_from > '-infinity'::timestamp with time zone) AND (NOT (EXISTS ( SELECT
           FROM memsvc.edge_versions b
          WHERE ((b.user_id = v.user_id) AND (b.edge_id = v.edge_id) AND (b.valid_to = v.valid_from) AND (b.recorded_to = 'infinity'::timestamp with time zone))))))
UNION ALL
 SELECT v.user_id,
    v.valid_to AS at,
    'ended'::text AS kind,
    v.fact AS what,
    NULL::uuid AS source_id,
    NULL::uuid AS passage_id,
    v.version_id,
    v.edge_id,
    v.from_node AS node_id,
    v.to_node AS other_node_id
   FROM memsvc.edge_versions v
  WHERE ((v.recorded_to = 'infinity'::timestamp with time zone) AND (v.valid_to < 'infinity'::timestamp with time zone) AND (NOT (EXISTS ( SELECT
           FROM memsvc.edge_versions a
          WHERE ((a.user_id = v.user_id) AND (a.edge_id = v.edge_id) AND (a.valid_from = v.valid_to) AND (a.recorded_to = 'infinity'::timestamp with time zone))))))
UNION ALL
 SELECT v.user_id,
    v.recorded_from AS at,
    'learnt'::text AS kind,
    v.fact AS what,
    NULL::uuid AS source_id,
    NULL::uuid AS passage_id,
    v.version_id,
    v.edge_id,
    v.from_node AS node_id,
    v.to_node AS other_node_id
   FROM memsvc.edge_versions v
  WHERE ((v.derived_from IS NULL) AND (v.recorded_to > v.recorded_from))
UNION ALL
 SELECT m.user_id,
    m.at,
    m.kind,
    concat_ws(': '::text, format('%s %s %s'::text, COALESCE(( SELECT n.label
           FROM memsvc.node_versions n
          WHERE ((n.user_id = m.user_id) AND (n.node_id = m.node_id) AND (n.recorded_to = 'infinity'::timestamp with time zone))
          ORDER BY n.valid_from DESC
         LIMIT 1), (m.node_id)::text), m.verb, COALESCE(( SELECT n.label
           FROM memsvc.node_versions n
          WHERE ((n.user_id = m.user_id) AND (n.node_id = m.canonical_id) AND (n.recorded_to = 'infinity'::timestamp with time zone))
          ORDER BY n.valid_from DESC
         LIMIT 1), (m.canonical_id)::text)), NULLIF(m.reason, ''::text)) AS what,
    NULL::uuid AS source_id,
    NULL::uuid AS passage_id,
    NULL::uuid AS version_id,
    NULL::uuid AS edge_id,
    m.node_id,
    m.canonical_id AS other_node_id
   FROM ( SELECT o.user_id,
            o.recorded_from AS at,
            'merged'::text AS kind,
            'is'::text AS verb,
            o.node_id,
            o.canonical_id,
            o.reason
           FROM memsvc.merges o
          WHERE (o.recorded_to > o.recorded_from)
        UNION ALL
         SELECT o.user_id,
            o.recorded_to,
            'unmerged'::text,
            'is not'::text,
            o.node_id,
            o.canonical_id,
            o.reason
           FROM memsvc.merges o
          WHERE ((o.recorded_to > o.recorded_from) AND (o.recorded_to < 'infinity'::timestamp with time zone))) m;

ALTER VIEW memsvc.timeline OWNER TO memsvc_owner;

COMMENT ON VIEW memsvc.timeline IS 'What happened: said, begun, ended, learnt, merged; one row for each.';

COMMENT ON COLUMN memsvc.timeline.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.timeline.at IS 'When: of messages, begins and ends in the world; of learnt, merged and unmerged when memsvc recorded it.';

COMMENT ON COLUMN memsvc.timeline.kind IS 'message, began, ended, learnt, merged or unmerged.';

COMMENT ON COLUMN memsvc.timeline.what IS 'The message with its speaker (the first part of a long one), the fact as a sentence, or what is (not) the same and the reason.';

COMMENT ON COLUMN memsvc.timeline.source_id IS 'The conversation of a message.';

COMMENT ON COLUMN memsvc.timeline.passage_id IS 'The message.';

COMMENT ON COLUMN memsvc.timeline.version_id IS 'The version of a fact.';

COMMENT ON COLUMN memsvc.timeline.edge_id IS 'The relation of a fact.';

COMMENT ON COLUMN memsvc.timeline.node_id IS 'The subject as it is stored; of a merge, the node that was merged.';

COMMENT ON COLUMN memsvc.timeline.other_node_id IS 'The object as it is stored; of a merge, the node it was merged into.';

CREATE TABLE memsvc.tombstones (
    user_id uuid NOT NULL,
    digest bytea NOT NULL,
    recorded_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT tombstones_digest_check CHECK ((octet_length(digest) = 32))
);

ALTER TABLE ONLY memsvc.tombstones FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.tombstones OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.tombstones IS 'What was erased and must not come back from texts that are older. Holds no text.';

COMMENT ON COLUMN memsvc.tombstones.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.tombstones.digest IS 'tombstone_digest() of what it was: a message''s identity, a fact''s ends, type and key, a name''s normal form.';

COMMENT ON COLUMN memsvc.tombstones.recorded_at IS 'When it was erased last.';

CREATE TABLE memsvc.used_tickets (
    user_id uuid NOT NULL,
    ticket_id uuid NOT NULL,
    expires_at timestamp with time zone NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='500');

ALTER TABLE ONLY memsvc.used_tickets FORCE ROW LEVEL SECURITY;

ALTER TABLE memsvc.used_tickets OWNER TO memsvc_owner;

COMMENT ON TABLE memsvc.used_tickets IS 'Tickets that opened a live connection, so that none opens two; they go when they would not work any more.';

COMMENT ON COLUMN memsvc.used_tickets.user_id IS 'Owner.';

COMMENT ON COLUMN memsvc.used_tickets.ticket_id IS 'The id that the signed ticket holds.';

COMMENT ON COLUMN memsvc.used_tickets.expires_at IS 'When the ticket ended by itself.';

ALTER TABLE ONLY memsvc.embeddings ATTACH PARTITION memsvc.embeddings_0 FOR VALUES WITH (modulus 8, remainder 0);

ALTER TABLE ONLY memsvc.embeddings ATTACH PARTITION memsvc.embeddings_1 FOR VALUES WITH (modulus 8, remainder 1);

ALTER TABLE ONLY memsvc.embeddings ATTACH PARTITION memsvc.embeddings_2 FOR VALUES WITH (modulus 8, remainder 2);

ALTER TABLE ONLY memsvc.embeddings ATTACH PARTITION memsvc.embeddings_3 FOR VALUES WITH (modulus 8, remainder 3);

ALTER TABLE ONLY memsvc.embeddings ATTACH PARTITION memsvc.embeddings_4 FOR VALUES WITH (modulus 8, remainder 4);

ALTER TABLE ONLY memsvc.embeddings ATTACH PARTITION memsvc.embeddings_5 FOR VALUES WITH (modulus 8, remainder 5);

ALTER TABLE ONLY memsvc.embeddings ATTACH PARTITION memsvc.embeddings_6 FOR VALUES WITH (modulus 8, remainder 6);

ALTER TABLE ONLY memsvc.embeddings ATTACH PARTITION memsvc.embeddings_7 FOR VALUES WITH (modulus 8, remainder 7);

ALTER TABLE ONLY memsvc.aliases
    ADD CONSTRAINT aliases_once EXCLUDE USING gist (user_id WITH =, node_id WITH =, normal_form WITH =, tstzrange(valid_from, valid_to) WITH &&, tstzrange(recorded_from, recorded_to) WITH &&);

ALTER TABLE ONLY memsvc.aliases
    ADD CONSTRAINT aliases_pkey PRIMARY KEY (user_id, alias_id);

ALTER TABLE ONLY memsvc.analysis_results
    ADD CONSTRAINT analysis_results_pkey PRIMARY KEY (user_id, run_id, place);

ALTER TABLE ONLY memsvc.analysis_runs
    ADD CONSTRAINT analysis_runs_pkey PRIMARY KEY (user_id, run_id);

ALTER TABLE ONLY memsvc.answered_requests
    ADD CONSTRAINT answered_requests_pkey PRIMARY KEY (user_id, request_key);

ALTER TABLE ONLY memsvc.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (key_id);

ALTER TABLE ONLY memsvc.applied_sql
    ADD CONSTRAINT applied_sql_pkey PRIMARY KEY (path);

ALTER TABLE ONLY memsvc.apps
    ADD CONSTRAINT apps_name_key UNIQUE (name);

ALTER TABLE ONLY memsvc.apps
    ADD CONSTRAINT apps_pkey PRIMARY KEY (app_id);

ALTER TABLE ONLY memsvc.audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY (audit_id);

ALTER TABLE ONLY memsvc.changes
    ADD CONSTRAINT changes_pkey PRIMARY KEY (user_id, change_id);

ALTER TABLE ONLY memsvc.changes
    ADD CONSTRAINT changes_user_id_recorded_at_key UNIQUE (user_id, recorded_at);

ALTER TABLE ONLY memsvc.corpora
    ADD CONSTRAINT corpora_pkey PRIMARY KEY (user_id, kind, form);

ALTER TABLE ONLY memsvc.dramatiq_queue
    ADD CONSTRAINT dramatiq_queue_pkey PRIMARY KEY (message_id);

ALTER TABLE ONLY memsvc.dramatiq_worker
    ADD CONSTRAINT dramatiq_worker_pkey PRIMARY KEY (worker_id);

ALTER TABLE ONLY memsvc.duplicate_candidates
    ADD CONSTRAINT duplicate_candidates_pkey PRIMARY KEY (user_id, node_a, node_b);

ALTER TABLE ONLY memsvc.edge_types
    ADD CONSTRAINT edge_types_pkey PRIMARY KEY (user_id, name);

ALTER TABLE ONLY memsvc.edge_versions
    ADD CONSTRAINT edge_versions_one_truth EXCLUDE USING gist (user_id WITH =, edge_id WITH =, tstzrange(valid_from, valid_to) WITH &&, tstzrange(recorded_from, recorded_to) WITH &&);

ALTER TABLE ONLY memsvc.edge_versions
    ADD CONSTRAINT edge_versions_one_value EXCLUDE USING gist (user_id WITH =, from_node WITH =, type WITH =, tstzrange(valid_from, valid_to) WITH &&, tstzrange(recorded_from, recorded_to) WITH &&) WHERE (functional);

ALTER TABLE ONLY memsvc.edge_versions
    ADD CONSTRAINT edge_versions_pkey PRIMARY KEY (user_id, version_id);

ALTER TABLE ONLY memsvc.edges
    ADD CONSTRAINT edges_ends UNIQUE (user_id, edge_id, from_node, type, to_node);

ALTER TABLE ONLY memsvc.edges
    ADD CONSTRAINT edges_pkey PRIMARY KEY (user_id, edge_id);

ALTER TABLE ONLY memsvc.edges
    ADD CONSTRAINT edges_user_id_from_node_type_to_node_key_key UNIQUE (user_id, from_node, type, to_node, key);

ALTER TABLE ONLY memsvc.embedding_models
    ADD CONSTRAINT embedding_models_name_key UNIQUE (name);

ALTER TABLE ONLY memsvc.embedding_models
    ADD CONSTRAINT embedding_models_pkey PRIMARY KEY (model_id);

ALTER TABLE ONLY memsvc.embeddings
    ADD CONSTRAINT embeddings_pkey PRIMARY KEY (user_id, model_id, passage_id);

ALTER TABLE ONLY memsvc.embeddings_0
    ADD CONSTRAINT embeddings_0_pkey PRIMARY KEY (user_id, model_id, passage_id);

ALTER TABLE ONLY memsvc.embeddings_1
    ADD CONSTRAINT embeddings_1_pkey PRIMARY KEY (user_id, model_id, passage_id);

ALTER TABLE ONLY memsvc.embeddings_2
    ADD CONSTRAINT embeddings_2_pkey PRIMARY KEY (user_id, model_id, passage_id);

ALTER TABLE ONLY memsvc.embeddings_3
    ADD CONSTRAINT embeddings_3_pkey PRIMARY KEY (user_id, model_id, passage_id);

ALTER TABLE ONLY memsvc.embeddings_4
    ADD CONSTRAINT embeddings_4_pkey PRIMARY KEY (user_id, model_id, passage_id);

ALTER TABLE ONLY memsvc.embeddings_5
    ADD CONSTRAINT embeddings_5_pkey PRIMARY KEY (user_id, model_id, passage_id);

ALTER TABLE ONLY memsvc.embeddings_6
    ADD CONSTRAINT embeddings_6_pkey PRIMARY KEY (user_id, model_id, passage_id);

ALTER TABLE ONLY memsvc.embeddings_7
    ADD CONSTRAINT embeddings_7_pkey PRIMARY KEY (user_id, model_id, passage_id);

ALTER TABLE ONLY memsvc.erasures
    ADD CONSTRAINT erasures_pkey PRIMARY KEY (user_id, erasure_id);

ALTER TABLE ONLY memsvc.extractions
    ADD CONSTRAINT extractions_pkey PRIMARY KEY (user_id, source_id, extractor);

ALTER TABLE ONLY memsvc.fact_reviews
    ADD CONSTRAINT fact_reviews_pkey PRIMARY KEY (user_id, review_id);

ALTER TABLE ONLY memsvc.fact_reviews
    ADD CONSTRAINT fact_reviews_user_id_passage_id_digest_key UNIQUE (user_id, passage_id, digest);

ALTER TABLE ONLY memsvc.identity_keys
    ADD CONSTRAINT identity_keys_pkey PRIMARY KEY (key_id);

ALTER TABLE ONLY memsvc.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (user_id, job_id);

ALTER TABLE ONLY memsvc.locations
    ADD CONSTRAINT locations_one_at_a_time EXCLUDE USING gist (user_id WITH =, node_id WITH =, tstzrange(valid_from, valid_to) WITH &&, tstzrange(recorded_from, recorded_to) WITH &&);

ALTER TABLE ONLY memsvc.locations
    ADD CONSTRAINT locations_pkey PRIMARY KEY (user_id, location_id);

ALTER TABLE ONLY memsvc.memory_signals
    ADD CONSTRAINT memory_signals_pkey PRIMARY KEY (user_id, memory_id);

ALTER TABLE ONLY memsvc.merges
    ADD CONSTRAINT merges_one_canonical EXCLUDE USING gist (user_id WITH =, node_id WITH =, tstzrange(recorded_from, recorded_to) WITH &&);

ALTER TABLE ONLY memsvc.merges
    ADD CONSTRAINT merges_pkey PRIMARY KEY (user_id, merge_id);

ALTER TABLE ONLY memsvc.model_calls
    ADD CONSTRAINT model_calls_pkey PRIMARY KEY (user_id, call_id);

ALTER TABLE ONLY memsvc.node_types
    ADD CONSTRAINT node_types_pkey PRIMARY KEY (user_id, name);

ALTER TABLE ONLY memsvc.node_versions
    ADD CONSTRAINT node_versions_one_truth EXCLUDE USING gist (user_id WITH =, node_id WITH =, tstzrange(valid_from, valid_to) WITH &&, tstzrange(recorded_from, recorded_to) WITH &&);

ALTER TABLE ONLY memsvc.node_versions
    ADD CONSTRAINT node_versions_pkey PRIMARY KEY (user_id, version_id);

ALTER TABLE ONLY memsvc.nodes
    ADD CONSTRAINT nodes_pkey PRIMARY KEY (user_id, node_id);

ALTER TABLE ONLY memsvc.nodes
    ADD CONSTRAINT nodes_user_id_gid_key UNIQUE (user_id, gid);

ALTER TABLE ONLY memsvc.outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (user_id, event_id);

ALTER TABLE ONLY memsvc.passages
    ADD CONSTRAINT passages_pkey PRIMARY KEY (user_id, passage_id);

ALTER TABLE ONLY memsvc.passages
    ADD CONSTRAINT passages_user_id_source_id_session_ordinal_part_key UNIQUE (user_id, source_id, session, ordinal, part);

ALTER TABLE ONLY memsvc.profile_evidence
    ADD CONSTRAINT profile_evidence_pkey PRIMARY KEY (user_id, version_id, passage_id);

ALTER TABLE ONLY memsvc.profile_versions
    ADD CONSTRAINT profile_versions_one_at_a_time EXCLUDE USING gist (user_id WITH =, block_id WITH =, tstzrange(recorded_from, recorded_to) WITH &&);

ALTER TABLE ONLY memsvc.profile_versions
    ADD CONSTRAINT profile_versions_pkey PRIMARY KEY (user_id, version_id);

ALTER TABLE ONLY memsvc.profile_versions
    ADD CONSTRAINT profile_versions_user_id_block_id_version_key UNIQUE (user_id, block_id, version);

ALTER TABLE ONLY memsvc.recall_events
    ADD CONSTRAINT recall_events_pkey PRIMARY KEY (user_id, recall_id);

ALTER TABLE ONLY memsvc.schedules
    ADD CONSTRAINT schedules_pkey PRIMARY KEY (user_id, kind);

ALTER TABLE ONLY memsvc.schema_version
    ADD CONSTRAINT schema_version_pkc PRIMARY KEY (version_num);

ALTER TABLE ONLY memsvc.sleep_runs
    ADD CONSTRAINT sleep_runs_pkey PRIMARY KEY (user_id, run_id);

ALTER TABLE ONLY memsvc.source_links
    ADD CONSTRAINT source_links_pkey PRIMARY KEY (user_id, link_id);

ALTER TABLE ONLY memsvc.sources
    ADD CONSTRAINT sources_pkey PRIMARY KEY (user_id, source_id);

ALTER TABLE ONLY memsvc.sources
    ADD CONSTRAINT sources_user_id_kind_identifier_key UNIQUE (user_id, kind, identifier);

ALTER TABLE ONLY memsvc.term_deltas
    ADD CONSTRAINT term_deltas_pkey PRIMARY KEY (user_id, delta_id);

ALTER TABLE ONLY memsvc.terms
    ADD CONSTRAINT terms_pkey PRIMARY KEY (user_id, kind, form, term);

ALTER TABLE ONLY memsvc.token_vectors
    ADD CONSTRAINT token_vectors_pkey PRIMARY KEY (user_id, model_id, passage_id);

ALTER TABLE ONLY memsvc.tombstones
    ADD CONSTRAINT tombstones_pkey PRIMARY KEY (user_id, digest);

ALTER TABLE ONLY memsvc.used_tickets
    ADD CONSTRAINT used_tickets_pkey PRIMARY KEY (user_id, ticket_id);

ALTER TABLE ONLY memsvc.users
    ADD CONSTRAINT users_app_id_external_id_key UNIQUE (app_id, external_id);

ALTER TABLE ONLY memsvc.users
    ADD CONSTRAINT users_app_id_user_id_key UNIQUE (app_id, user_id);

ALTER TABLE ONLY memsvc.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (user_id);

CREATE INDEX aliases_began ON memsvc.aliases USING btree (user_id, valid_from) WHERE ((recorded_to = 'infinity'::timestamp with time zone) AND (valid_from > '-infinity'::timestamp with time zone));

CREATE INDEX aliases_closed ON memsvc.aliases USING btree (user_id, recorded_to) WHERE (recorded_to < 'infinity'::timestamp with time zone);

CREATE INDEX aliases_current ON memsvc.aliases USING btree (user_id, normal_form) WHERE (recorded_to = 'infinity'::timestamp with time zone);

CREATE INDEX aliases_ended ON memsvc.aliases USING btree (user_id, valid_to) WHERE ((recorded_to = 'infinity'::timestamp with time zone) AND (valid_to < 'infinity'::timestamp with time zone));

CREATE INDEX aliases_names ON memsvc.aliases USING btree (user_id, normal_form COLLATE "C", node_id) WHERE (recorded_to = 'infinity'::timestamp with time zone);

CREATE INDEX aliases_of_node ON memsvc.aliases USING btree (user_id, node_id, normal_form);

CREATE INDEX aliases_past ON memsvc.aliases USING btree (user_id, normal_form) WHERE (recorded_to < 'infinity'::timestamp with time zone);

CREATE INDEX aliases_recorded ON memsvc.aliases USING btree (user_id, recorded_from);

CREATE INDEX aliases_trigrams ON memsvc.aliases USING gin ((ARRAY[user_id]), normal_form public.gin_trgm_ops) WITH (fastupdate=off);

CREATE INDEX analysis_runs_of_kind ON memsvc.analysis_runs USING btree (user_id, kind, run_id);

CREATE UNIQUE INDEX analysis_runs_open ON memsvc.analysis_runs USING btree (user_id, kind, seeds) WHERE (state = 'open'::text);

CREATE INDEX audit_log_erasures ON memsvc.audit_log USING btree (user_id) WHERE (action = ANY (ARRAY['user.erase'::text, 'user.erased'::text]));

CREATE INDEX changes_undone ON memsvc.changes USING btree (user_id, undoes) WHERE (undoes IS NOT NULL);

CREATE INDEX dramatiq_queue_consumed ON memsvc.dramatiq_queue USING btree (worker_id) WHERE (state = 'consumed'::text);

CREATE INDEX dramatiq_queue_rejected ON memsvc.dramatiq_queue USING btree (mtime) WHERE (state = 'rejected'::text);

CREATE INDEX dramatiq_queue_waiting ON memsvc.dramatiq_queue USING btree (queue_name, user_id, available_at, "position") WHERE (state = 'queued'::text);

CREATE INDEX duplicate_candidates_of_b ON memsvc.duplicate_candidates USING btree (user_id, node_b);

CREATE INDEX duplicate_candidates_state ON memsvc.duplicate_candidates USING btree (user_id, state, score DESC, node_a, node_b);

CREATE UNIQUE INDEX edge_types_of_one_spelling ON memsvc.edge_types USING btree (user_id, lower(name));

CREATE INDEX edge_types_owned ON memsvc.edge_types USING btree (own_user_id) WHERE (own_user_id IS NOT NULL);

CREATE INDEX edge_versions_began ON memsvc.edge_versions USING btree (user_id, valid_from) WHERE ((recorded_to = 'infinity'::timestamp with time zone) AND (valid_from > '-infinity'::timestamp with time zone));

CREATE INDEX edge_versions_closed ON memsvc.edge_versions USING btree (user_id, recorded_to) WHERE (recorded_to < 'infinity'::timestamp with time zone);

CREATE INDEX edge_versions_current ON memsvc.edge_versions USING btree (user_id, edge_id) WHERE (recorded_to = 'infinity'::timestamp with time zone);

CREATE INDEX edge_versions_ended ON memsvc.edge_versions USING btree (user_id, valid_to) WHERE ((recorded_to = 'infinity'::timestamp with time zone) AND (valid_to < 'infinity'::timestamp with time zone));

CREATE INDEX edge_versions_from ON memsvc.edge_versions USING btree (user_id, from_node, type, valid_to, weight DESC, version_id DESC) WHERE (recorded_to = 'infinity'::timestamp with time zone);

CREATE INDEX edge_versions_of_edge ON memsvc.edge_versions USING btree (user_id, edge_id);

CREATE INDEX edge_versions_past_from ON memsvc.edge_versions USING btree (user_id, from_node, type) WHERE (recorded_to < 'infinity'::timestamp with time zone);

CREATE INDEX edge_versions_past_to ON memsvc.edge_versions USING btree (user_id, to_node, type) WHERE (recorded_to < 'infinity'::timestamp with time zone);

CREATE INDEX edge_versions_recorded ON memsvc.edge_versions USING btree (user_id, recorded_from);

CREATE INDEX edge_versions_to ON memsvc.edge_versions USING btree (user_id, to_node, type, valid_to, weight DESC, version_id DESC) WHERE (recorded_to = 'infinity'::timestamp with time zone);

CREATE INDEX edge_versions_walk_from ON memsvc.edge_versions USING btree (user_id, from_node, valid_to, weight DESC, version_id DESC) WHERE (recorded_to = 'infinity'::timestamp with time zone);

CREATE INDEX edge_versions_walk_to ON memsvc.edge_versions USING btree (user_id, to_node, valid_to, weight DESC, version_id DESC) WHERE (recorded_to = 'infinity'::timestamp with time zone);

CREATE INDEX edge_versions_words ON memsvc.edge_versions USING gin ((ARRAY[user_id]), tsv) WITH (fastupdate=off);

CREATE INDEX edges_to ON memsvc.edges USING btree (user_id, to_node);

CREATE UNIQUE INDEX embedding_models_one_each ON memsvc.embedding_models USING btree (state) WHERE (state <> 'retired'::text);

CREATE INDEX fact_reviews_by_state ON memsvc.fact_reviews USING btree (user_id, state, review_id);

CREATE INDEX jobs_due ON memsvc.jobs USING btree (run_after) WHERE (state = 'pending'::text);

CREATE INDEX jobs_ended ON memsvc.jobs USING btree (state, finished_at) WHERE (state <> 'pending'::text);

CREATE UNIQUE INDEX jobs_one_pending ON memsvc.jobs USING btree (user_id, kind, subject_id) WHERE (state = 'pending'::text);

CREATE INDEX locations_closed ON memsvc.locations USING btree (user_id, recorded_to) WHERE (recorded_to < 'infinity'::timestamp with time zone);

CREATE INDEX locations_of_node ON memsvc.locations USING btree (user_id, node_id, valid_from);

CREATE INDEX locations_recorded ON memsvc.locations USING btree (user_id, recorded_from);

CREATE INDEX memory_signals_important ON memsvc.memory_signals USING btree (user_id, importance) WHERE (importance IS NOT NULL);

CREATE INDEX memory_signals_lately ON memsvc.memory_signals USING btree (user_id, last_recalled_at) WHERE (last_recalled_at IS NOT NULL);

CREATE INDEX memory_signals_of_passage ON memsvc.memory_signals USING btree (user_id, passage_id) WHERE (passage_id IS NOT NULL);

CREATE INDEX memory_signals_of_version ON memsvc.memory_signals USING btree (user_id, version_id) WHERE (version_id IS NOT NULL);

CREATE INDEX memory_signals_pinned ON memsvc.memory_signals USING btree (user_id, memory_id) WHERE pinned;

CREATE INDEX merges_closed ON memsvc.merges USING btree (user_id, recorded_to) WHERE (recorded_to < 'infinity'::timestamp with time zone);

CREATE INDEX merges_current ON memsvc.merges USING btree (user_id, node_id) WHERE (recorded_to = 'infinity'::timestamp with time zone);

CREATE INDEX merges_into ON memsvc.merges USING btree (user_id, canonical_id);

CREATE INDEX merges_of_node ON memsvc.merges USING btree (user_id, node_id);

CREATE INDEX merges_recorded ON memsvc.merges USING btree (user_id, recorded_from);

CREATE INDEX model_calls_lately ON memsvc.model_calls USING btree (at) INCLUDE (tokens_in, tokens_out);

CREATE INDEX model_calls_of_day ON memsvc.model_calls USING btree (user_id, at) INCLUDE (tokens_in, tokens_out);

CREATE UNIQUE INDEX node_types_of_one_spelling ON memsvc.node_types USING btree (user_id, lower(name));

CREATE INDEX node_types_owned ON memsvc.node_types USING btree (own_user_id) WHERE (own_user_id IS NOT NULL);

CREATE INDEX node_versions_began ON memsvc.node_versions USING btree (user_id, valid_from) WHERE ((recorded_to = 'infinity'::timestamp with time zone) AND (valid_from > '-infinity'::timestamp with time zone));

CREATE INDEX node_versions_closed ON memsvc.node_versions USING btree (user_id, recorded_to) WHERE (recorded_to < 'infinity'::timestamp with time zone);

CREATE INDEX node_versions_current ON memsvc.node_versions USING btree (user_id, node_id) WHERE (recorded_to = 'infinity'::timestamp with time zone);

CREATE INDEX node_versions_ended ON memsvc.node_versions USING btree (user_id, valid_to) WHERE ((recorded_to = 'infinity'::timestamp with time zone) AND (valid_to < 'infinity'::timestamp with time zone));

CREATE INDEX node_versions_labels ON memsvc.node_versions USING btree (user_id, label_form, node_id) WHERE (recorded_to = 'infinity'::timestamp with time zone);

CREATE INDEX node_versions_of_type ON memsvc.node_versions USING btree (user_id, type, node_id) INCLUDE (valid_from, valid_to) WHERE (recorded_to = 'infinity'::timestamp with time zone);

CREATE INDEX node_versions_past ON memsvc.node_versions USING btree (user_id, node_id) WHERE (recorded_to < 'infinity'::timestamp with time zone);

CREATE INDEX node_versions_past_labels ON memsvc.node_versions USING btree (user_id, label_form, node_id) WHERE (recorded_to < 'infinity'::timestamp with time zone);

CREATE INDEX node_versions_recorded ON memsvc.node_versions USING btree (user_id, recorded_from);

CREATE INDEX node_versions_trigrams ON memsvc.node_versions USING gin ((ARRAY[user_id]), label_form public.gin_trgm_ops) WITH (fastupdate=off);

CREATE INDEX outbox_in_order ON memsvc.outbox USING btree (user_id, transaction_id, event_id);

CREATE UNIQUE INDEX passages_client_id ON memsvc.passages USING btree (user_id, source_id, client_id, part) WHERE (client_id IS NOT NULL);

CREATE INDEX passages_in_order ON memsvc.passages USING btree (user_id, source_id, passage_id) WHERE (kind = 'message'::text);

CREATE INDEX passages_said ON memsvc.passages USING btree (user_id, said_at);

CREATE INDEX passages_words ON memsvc.passages USING gin (user_id, tsv, tsv_simple) WITH (fastupdate=off);

CREATE INDEX profile_evidence_of_passage ON memsvc.profile_evidence USING btree (user_id, passage_id);

CREATE INDEX profile_versions_called ON memsvc.profile_versions USING btree (user_id, name, recorded_to);

CREATE INDEX profile_versions_of_node ON memsvc.profile_versions USING btree (user_id, node_id) WHERE (node_id IS NOT NULL);

CREATE INDEX profile_versions_of_source ON memsvc.profile_versions USING btree (user_id, source_id) WHERE (source_id IS NOT NULL);

CREATE UNIQUE INDEX profile_versions_open ON memsvc.profile_versions USING btree (user_id, name, node_id, source_id) NULLS NOT DISTINCT WHERE (recorded_to = 'infinity'::timestamp with time zone);

CREATE INDEX recall_events_unfolded ON memsvc.recall_events USING btree (user_id, recall_id) WHERE (folded_at IS NULL);

CREATE INDEX schedules_due ON memsvc.schedules USING btree (next_at) WHERE enabled;

CREATE INDEX sleep_runs_of_task ON memsvc.sleep_runs USING btree (user_id, task, run_id);

CREATE UNIQUE INDEX sleep_runs_open ON memsvc.sleep_runs USING btree (user_id, task) WHERE (state = 'open'::text);

CREATE INDEX source_links_of_alias ON memsvc.source_links USING btree (user_id, alias_id) WHERE (alias_id IS NOT NULL);

CREATE INDEX source_links_of_edge_version ON memsvc.source_links USING btree (user_id, edge_version_id) WHERE (edge_version_id IS NOT NULL);

CREATE INDEX source_links_of_location ON memsvc.source_links USING btree (user_id, location_id) WHERE (location_id IS NOT NULL);

CREATE INDEX source_links_of_merge ON memsvc.source_links USING btree (user_id, merge_id) WHERE (merge_id IS NOT NULL);

CREATE INDEX source_links_of_node ON memsvc.source_links USING btree (user_id, node_id) WHERE (node_id IS NOT NULL);

CREATE INDEX source_links_of_node_version ON memsvc.source_links USING btree (user_id, node_version_id) WHERE (node_version_id IS NOT NULL);

CREATE INDEX source_links_of_passage ON memsvc.source_links USING btree (user_id, passage_id);

CREATE INDEX source_links_recorded ON memsvc.source_links USING btree (user_id, recorded_from);

CREATE INDEX sources_to_forget ON memsvc.sources USING btree (user_id, source_id) WHERE (forget_after IS NOT NULL);

CREATE INDEX users_erasing ON memsvc.users USING btree (erasing_since) WHERE (erasing_since IS NOT NULL);

ALTER INDEX memsvc.embeddings_pkey ATTACH PARTITION memsvc.embeddings_0_pkey;

ALTER INDEX memsvc.embeddings_pkey ATTACH PARTITION memsvc.embeddings_1_pkey;

ALTER INDEX memsvc.embeddings_pkey ATTACH PARTITION memsvc.embeddings_2_pkey;

ALTER INDEX memsvc.embeddings_pkey ATTACH PARTITION memsvc.embeddings_3_pkey;

ALTER INDEX memsvc.embeddings_pkey ATTACH PARTITION memsvc.embeddings_4_pkey;

ALTER INDEX memsvc.embeddings_pkey ATTACH PARTITION memsvc.embeddings_5_pkey;

ALTER INDEX memsvc.embeddings_pkey ATTACH PARTITION memsvc.embeddings_6_pkey;

ALTER INDEX memsvc.embeddings_pkey ATTACH PARTITION memsvc.embeddings_7_pkey;

CREATE STATISTICS memsvc.profile_versions_of_blocks (ndistinct, dependencies) ON user_id, block_id FROM memsvc.profile_versions;

ALTER STATISTICS memsvc.profile_versions_of_blocks OWNER TO memsvc_owner;

COMMENT ON STATISTICS memsvc.profile_versions_of_blocks IS 'A block is one user''s.';

CREATE OR REPLACE VIEW memsvc.conversations WITH (security_invoker='true') AS
 SELECT s.user_id,
    s.source_id,
    s.identifier,
    s.title,
    s.status,
    s.metadata,
    s.created_at,
    s.last_ingested_at,
    count(p.passage_id) FILTER (WHERE (p.part = 0)) AS messages,
    count(DISTINCT p.session) AS sessions,
    min(p.said_at) AS first_said_at,
    max(p.said_at) AS last_said_at
   FROM (memsvc.sources s
     LEFT JOIN memsvc.passages p ON (((p.user_id = s.user_id) AND (p.source_id = s.source_id))))
  WHERE (s.kind = 'conversation'::text)
  GROUP BY s.user_id, s.source_id;

CREATE TRIGGER added AFTER INSERT ON memsvc.edge_types REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION memsvc.check_added_types();

CREATE TRIGGER added AFTER INSERT ON memsvc.node_types REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION memsvc.check_added_types();

CREATE TRIGGER formed BEFORE INSERT ON memsvc.edge_versions FOR EACH ROW EXECUTE FUNCTION memsvc.form_fact();

CREATE TRIGGER formed BEFORE INSERT ON memsvc.node_versions FOR EACH ROW EXECUTE FUNCTION memsvc.form_label();

CREATE TRIGGER moved AFTER UPDATE OF time_zone ON memsvc.users FOR EACH ROW WHEN ((new.time_zone IS DISTINCT FROM old.time_zone)) EXECUTE FUNCTION memsvc.reschedule();

CREATE TRIGGER resent AFTER UPDATE OF state, run_after ON memsvc.jobs FOR EACH ROW WHEN (((new.state IS DISTINCT FROM old.state) OR (new.run_after IS DISTINCT FROM old.run_after))) EXECUTE FUNCTION memsvc.send_job();

CREATE TRIGGER sent AFTER INSERT ON memsvc.jobs FOR EACH ROW WHEN ((new.state = 'pending'::text)) EXECUTE FUNCTION memsvc.send_job();

CREATE TRIGGER typed AFTER INSERT ON memsvc.edges REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION memsvc.check_written_edge_types();

CREATE TRIGGER typed AFTER INSERT ON memsvc.node_versions REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION memsvc.check_written_node_types();

CREATE TRIGGER unsent AFTER DELETE ON memsvc.jobs FOR EACH ROW EXECUTE FUNCTION memsvc.send_job();

ALTER TABLE ONLY memsvc.aliases
    ADD CONSTRAINT aliases_user_id_node_id_fkey FOREIGN KEY (user_id, node_id) REFERENCES memsvc.nodes(user_id, node_id);

ALTER TABLE ONLY memsvc.analysis_results
    ADD CONSTRAINT analysis_results_user_id_run_id_fkey FOREIGN KEY (user_id, run_id) REFERENCES memsvc.analysis_runs(user_id, run_id);

ALTER TABLE ONLY memsvc.analysis_runs
    ADD CONSTRAINT analysis_runs_user_id_fkey FOREIGN KEY (user_id) REFERENCES memsvc.users(user_id);

ALTER TABLE ONLY memsvc.answered_requests
    ADD CONSTRAINT answered_requests_user_id_fkey FOREIGN KEY (user_id) REFERENCES memsvc.users(user_id);

ALTER TABLE ONLY memsvc.api_keys
    ADD CONSTRAINT api_keys_app_id_fkey FOREIGN KEY (app_id) REFERENCES memsvc.apps(app_id);

ALTER TABLE ONLY memsvc.api_keys
    ADD CONSTRAINT api_keys_app_id_user_id_fkey FOREIGN KEY (app_id, user_id) REFERENCES memsvc.users(app_id, user_id);

ALTER TABLE ONLY memsvc.changes
    ADD CONSTRAINT changes_user_id_fkey FOREIGN KEY (user_id) REFERENCES memsvc.users(user_id);

ALTER TABLE ONLY memsvc.changes
    ADD CONSTRAINT changes_user_id_undoes_fkey FOREIGN KEY (user_id, undoes) REFERENCES memsvc.changes(user_id, change_id);

ALTER TABLE ONLY memsvc.corpora
    ADD CONSTRAINT corpora_user_id_fkey FOREIGN KEY (user_id) REFERENCES memsvc.users(user_id);

ALTER TABLE ONLY memsvc.duplicate_candidates
    ADD CONSTRAINT duplicate_candidates_user_id_node_a_fkey FOREIGN KEY (user_id, node_a) REFERENCES memsvc.nodes(user_id, node_id);

ALTER TABLE ONLY memsvc.duplicate_candidates
    ADD CONSTRAINT duplicate_candidates_user_id_node_b_fkey FOREIGN KEY (user_id, node_b) REFERENCES memsvc.nodes(user_id, node_id);

ALTER TABLE ONLY memsvc.edge_types
    ADD CONSTRAINT edge_types_user_id_fkey FOREIGN KEY (own_user_id) REFERENCES memsvc.users(user_id);

ALTER TABLE ONLY memsvc.edge_versions
    ADD CONSTRAINT edge_versions_user_id_edge_id_from_node_type_to_node_fkey FOREIGN KEY (user_id, edge_id, from_node, type, to_node) REFERENCES memsvc.edges(user_id, edge_id, from_node, type, to_node);

ALTER TABLE ONLY memsvc.edges
    ADD CONSTRAINT edges_user_id_from_node_fkey FOREIGN KEY (user_id, from_node) REFERENCES memsvc.nodes(user_id, node_id);

ALTER TABLE ONLY memsvc.edges
    ADD CONSTRAINT edges_user_id_to_node_fkey FOREIGN KEY (user_id, to_node) REFERENCES memsvc.nodes(user_id, node_id);

ALTER TABLE memsvc.embeddings
    ADD CONSTRAINT embeddings_model_id_fkey FOREIGN KEY (model_id) REFERENCES memsvc.embedding_models(model_id);

ALTER TABLE memsvc.embeddings
    ADD CONSTRAINT embeddings_user_id_passage_id_fkey FOREIGN KEY (user_id, passage_id) REFERENCES memsvc.passages(user_id, passage_id);

ALTER TABLE ONLY memsvc.erasures
    ADD CONSTRAINT erasures_user_id_fkey FOREIGN KEY (user_id) REFERENCES memsvc.users(user_id);

ALTER TABLE ONLY memsvc.extractions
    ADD CONSTRAINT extractions_user_id_source_id_fkey FOREIGN KEY (user_id, source_id) REFERENCES memsvc.sources(user_id, source_id);

ALTER TABLE ONLY memsvc.fact_reviews
    ADD CONSTRAINT fact_reviews_user_id_passage_id_fkey FOREIGN KEY (user_id, passage_id) REFERENCES memsvc.passages(user_id, passage_id);

ALTER TABLE ONLY memsvc.jobs
    ADD CONSTRAINT jobs_user_id_fkey FOREIGN KEY (user_id) REFERENCES memsvc.users(user_id);

ALTER TABLE ONLY memsvc.locations
    ADD CONSTRAINT locations_user_id_node_id_fkey FOREIGN KEY (user_id, node_id) REFERENCES memsvc.nodes(user_id, node_id);

ALTER TABLE ONLY memsvc.memory_signals
    ADD CONSTRAINT memory_signals_user_id_passage_id_fkey FOREIGN KEY (user_id, passage_id) REFERENCES memsvc.passages(user_id, passage_id);

ALTER TABLE ONLY memsvc.memory_signals
    ADD CONSTRAINT memory_signals_user_id_version_id_fkey FOREIGN KEY (user_id, version_id) REFERENCES memsvc.edge_versions(user_id, version_id);

ALTER TABLE ONLY memsvc.merges
    ADD CONSTRAINT merges_user_id_canonical_id_fkey FOREIGN KEY (user_id, canonical_id) REFERENCES memsvc.nodes(user_id, node_id);

ALTER TABLE ONLY memsvc.merges
    ADD CONSTRAINT merges_user_id_node_id_fkey FOREIGN KEY (user_id, node_id) REFERENCES memsvc.nodes(user_id, node_id);

ALTER TABLE ONLY memsvc.model_calls
    ADD CONSTRAINT model_calls_user_id_fkey FOREIGN KEY (user_id) REFERENCES memsvc.users(user_id);

ALTER TABLE ONLY memsvc.node_types
    ADD CONSTRAINT node_types_user_id_fkey FOREIGN KEY (own_user_id) REFERENCES memsvc.users(user_id);

ALTER TABLE ONLY memsvc.node_versions
    ADD CONSTRAINT node_versions_user_id_node_id_fkey FOREIGN KEY (user_id, node_id) REFERENCES memsvc.nodes(user_id, node_id);

ALTER TABLE ONLY memsvc.nodes
    ADD CONSTRAINT nodes_user_id_fkey FOREIGN KEY (user_id) REFERENCES memsvc.users(user_id);

ALTER TABLE ONLY memsvc.outbox
    ADD CONSTRAINT outbox_user_id_fkey FOREIGN KEY (user_id) REFERENCES memsvc.users(user_id);

ALTER TABLE ONLY memsvc.passages
    ADD CONSTRAINT passages_user_id_source_id_fkey FOREIGN KEY (user_id, source_id) REFERENCES memsvc.sources(user_id, source_id);

ALTER TABLE ONLY memsvc.profile_evidence
    ADD CONSTRAINT profile_evidence_user_id_passage_id_fkey FOREIGN KEY (user_id, passage_id) REFERENCES memsvc.passages(user_id, passage_id);

ALTER TABLE ONLY memsvc.profile_evidence
    ADD CONSTRAINT profile_evidence_user_id_version_id_fkey FOREIGN KEY (user_id, version_id) REFERENCES memsvc.profile_versions(user_id, version_id);

ALTER TABLE ONLY memsvc.profile_versions
    ADD CONSTRAINT profile_versions_user_id_fkey FOREIGN KEY (user_id) REFERENCES memsvc.users(user_id);

ALTER TABLE ONLY memsvc.profile_versions
    ADD CONSTRAINT profile_versions_user_id_node_id_fkey FOREIGN KEY (user_id, node_id) REFERENCES memsvc.nodes(user_id, node_id);

ALTER TABLE ONLY memsvc.profile_versions
    ADD CONSTRAINT profile_versions_user_id_source_id_fkey FOREIGN KEY (user_id, source_id) REFERENCES memsvc.sources(user_id, source_id);

ALTER TABLE ONLY memsvc.recall_events
    ADD CONSTRAINT recall_events_user_id_fkey FOREIGN KEY (user_id) REFERENCES memsvc.users(user_id);

ALTER TABLE ONLY memsvc.schedules
    ADD CONSTRAINT schedules_user_id_fkey FOREIGN KEY (user_id) REFERENCES memsvc.users(user_id);

ALTER TABLE ONLY memsvc.sleep_runs
    ADD CONSTRAINT sleep_runs_user_id_fkey FOREIGN KEY (user_id) REFERENCES memsvc.users(user_id);

ALTER TABLE ONLY memsvc.source_links
    ADD CONSTRAINT source_links_location_fkey FOREIGN KEY (user_id, location_id) REFERENCES memsvc.locations(user_id, location_id);

ALTER TABLE ONLY memsvc.source_links
    ADD CONSTRAINT source_links_user_id_alias_id_fkey FOREIGN KEY (user_id, alias_id) REFERENCES memsvc.aliases(user_id, alias_id);

ALTER TABLE ONLY memsvc.source_links
    ADD CONSTRAINT source_links_user_id_edge_version_id_fkey FOREIGN KEY (user_id, edge_version_id) REFERENCES memsvc.edge_versions(user_id, version_id);

ALTER TABLE ONLY memsvc.source_links
    ADD CONSTRAINT source_links_user_id_merge_id_fkey FOREIGN KEY (user_id, merge_id) REFERENCES memsvc.merges(user_id, merge_id);

ALTER TABLE ONLY memsvc.source_links
    ADD CONSTRAINT source_links_user_id_node_id_fkey FOREIGN KEY (user_id, node_id) REFERENCES memsvc.nodes(user_id, node_id);

ALTER TABLE ONLY memsvc.source_links
    ADD CONSTRAINT source_links_user_id_node_version_id_fkey FOREIGN KEY (user_id, node_version_id) REFERENCES memsvc.node_versions(user_id, version_id);

ALTER TABLE ONLY memsvc.source_links
    ADD CONSTRAINT source_links_user_id_passage_id_fkey FOREIGN KEY (user_id, passage_id) REFERENCES memsvc.passages(user_id, passage_id);

ALTER TABLE ONLY memsvc.sources
    ADD CONSTRAINT sources_user_id_fkey FOREIGN KEY (user_id) REFERENCES memsvc.users(user_id);

ALTER TABLE ONLY memsvc.term_deltas
    ADD CONSTRAINT term_deltas_user_id_fkey FOREIGN KEY (user_id) REFERENCES memsvc.users(user_id);

ALTER TABLE ONLY memsvc.terms
    ADD CONSTRAINT terms_user_id_fkey FOREIGN KEY (user_id) REFERENCES memsvc.users(user_id);

ALTER TABLE ONLY memsvc.token_vectors
    ADD CONSTRAINT token_vectors_model_id_fkey FOREIGN KEY (model_id) REFERENCES memsvc.embedding_models(model_id);

ALTER TABLE ONLY memsvc.token_vectors
    ADD CONSTRAINT token_vectors_user_id_passage_id_fkey FOREIGN KEY (user_id, passage_id) REFERENCES memsvc.passages(user_id, passage_id);

ALTER TABLE ONLY memsvc.tombstones
    ADD CONSTRAINT tombstones_user_id_fkey FOREIGN KEY (user_id) REFERENCES memsvc.users(user_id);

ALTER TABLE ONLY memsvc.used_tickets
    ADD CONSTRAINT used_tickets_user_id_fkey FOREIGN KEY (user_id) REFERENCES memsvc.users(user_id);

ALTER TABLE ONLY memsvc.users
    ADD CONSTRAINT users_app_id_fkey FOREIGN KEY (app_id) REFERENCES memsvc.apps(app_id);

CREATE POLICY account_rows ON memsvc.api_keys TO memsvc_owner USING (true) WITH CHECK (true);

CREATE POLICY account_rows ON memsvc.apps TO memsvc_owner USING (true) WITH CHECK (true);

CREATE POLICY account_rows ON memsvc.audit_log TO memsvc_owner USING (true) WITH CHECK (true);

CREATE POLICY account_rows ON memsvc.embedding_models TO memsvc_owner USING (true) WITH CHECK (true);

CREATE POLICY account_rows ON memsvc.identity_keys TO memsvc_owner USING (true) WITH CHECK (true);

CREATE POLICY account_rows ON memsvc.jobs TO memsvc_owner USING (true) WITH CHECK (true);

CREATE POLICY account_rows ON memsvc.model_calls FOR SELECT TO memsvc_owner USING (true);

CREATE POLICY account_rows ON memsvc.outbox TO memsvc_owner USING (true) WITH CHECK (true);

CREATE POLICY account_rows ON memsvc.schedules TO memsvc_owner USING (true) WITH CHECK (true);

CREATE POLICY account_rows ON memsvc.term_deltas FOR SELECT TO memsvc_owner USING (true);

CREATE POLICY account_rows ON memsvc.users TO memsvc_owner USING (true) WITH CHECK (true);

ALTER TABLE memsvc.aliases ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.analysis_results ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.analysis_runs ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.answered_requests ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.api_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.apps ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.audit_log ENABLE ROW LEVEL SECURITY;

CREATE POLICY candidate_rows ON memsvc.aliases FOR SELECT TO memsvc_recall USING (true);

CREATE POLICY candidate_rows ON memsvc.corpora FOR SELECT TO memsvc_recall USING (true);

CREATE POLICY candidate_rows ON memsvc.edge_versions FOR SELECT TO memsvc_recall USING (true);

CREATE POLICY candidate_rows ON memsvc.embeddings FOR SELECT TO memsvc_recall USING (true);

CREATE POLICY candidate_rows ON memsvc.locations FOR SELECT TO memsvc_recall USING (true);

CREATE POLICY candidate_rows ON memsvc.node_versions FOR SELECT TO memsvc_recall USING (true);

CREATE POLICY candidate_rows ON memsvc.passages FOR SELECT TO memsvc_recall USING (true);

CREATE POLICY candidate_rows ON memsvc.source_links FOR SELECT TO memsvc_recall USING (true);

CREATE POLICY candidate_rows ON memsvc.term_deltas FOR SELECT TO memsvc_recall USING (true);

CREATE POLICY candidate_rows ON memsvc.terms FOR SELECT TO memsvc_recall USING (true);

CREATE POLICY candidate_rows ON memsvc.token_vectors FOR SELECT TO memsvc_recall USING (true);

ALTER TABLE memsvc.changes ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.corpora ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.dramatiq_queue ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.dramatiq_worker ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.duplicate_candidates ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.edge_types ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.edge_versions ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.edges ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.embedding_models ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.embeddings ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.embeddings_0 ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.embeddings_1 ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.embeddings_2 ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.embeddings_3 ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.embeddings_4 ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.embeddings_5 ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.embeddings_6 ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.embeddings_7 ENABLE ROW LEVEL SECURITY;

CREATE POLICY erased_rows ON memsvc.api_keys TO memsvc_eraser USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY erased_rows ON memsvc.dramatiq_queue TO memsvc_eraser USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

ALTER TABLE memsvc.erasures ENABLE ROW LEVEL SECURITY;

CREATE POLICY everybody_reads ON memsvc.edge_types FOR SELECT TO memsvc_owner, memsvc_recall, memsvc_eraser, memsvc_app USING ((user_id = '00000000-0000-0000-0000-000000000000'::uuid));

CREATE POLICY everybody_reads ON memsvc.embedding_models FOR SELECT USING (true);

CREATE POLICY everybody_reads ON memsvc.node_types FOR SELECT TO memsvc_owner, memsvc_recall, memsvc_eraser, memsvc_app USING ((user_id = '00000000-0000-0000-0000-000000000000'::uuid));

ALTER TABLE memsvc.extractions ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.fact_reviews ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.identity_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.jobs ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.locations ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.memory_signals ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.merges ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.model_calls ENABLE ROW LEVEL SECURITY;

CREATE POLICY never_approved ON memsvc.edge_types AS RESTRICTIVE FOR DELETE TO memsvc_app USING ((status = ANY (ARRAY['proposed'::text, 'rejected'::text])));

CREATE POLICY never_approved ON memsvc.node_types AS RESTRICTIVE FOR DELETE TO memsvc_app USING ((status = ANY (ARRAY['proposed'::text, 'rejected'::text])));

ALTER TABLE memsvc.node_types ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.node_versions ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.nodes ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.outbox ENABLE ROW LEVEL SECURITY;

CREATE POLICY own_rows ON memsvc.aliases TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.analysis_results TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.analysis_runs TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.answered_requests TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.changes TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.corpora TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.duplicate_candidates TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.edge_types TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.edge_versions TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.edges TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.embeddings TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.erasures TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.extractions TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.fact_reviews TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.jobs TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.locations TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.memory_signals TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.merges TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.model_calls TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.node_types TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.node_versions TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.nodes TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.outbox TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.passages TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.profile_evidence TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.profile_versions TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.recall_events TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.schedules TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.sleep_runs TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.source_links TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.sources TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.term_deltas TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.terms TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.token_vectors TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.tombstones TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.used_tickets TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

CREATE POLICY own_rows ON memsvc.users TO memsvc_eraser, memsvc_app USING ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id))) WITH CHECK ((user_id = ( SELECT memsvc.current_user_id() AS current_user_id)));

ALTER TABLE memsvc.passages ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.profile_evidence ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.profile_versions ENABLE ROW LEVEL SECURITY;

CREATE POLICY queue_rows ON memsvc.dramatiq_queue TO memsvc_owner, memsvc_app USING (true) WITH CHECK (true);

CREATE POLICY queue_rows ON memsvc.dramatiq_worker TO memsvc_owner, memsvc_app USING (true) WITH CHECK (true);

ALTER TABLE memsvc.recall_events ENABLE ROW LEVEL SECURITY;

CREATE POLICY retired_dropped ON memsvc.embeddings FOR DELETE TO memsvc_owner USING ((model_id IN ( SELECT m.model_id
   FROM memsvc.embedding_models m
  WHERE (m.state = 'retired'::text))));

CREATE POLICY retired_dropped ON memsvc.token_vectors FOR DELETE TO memsvc_owner USING ((model_id IN ( SELECT m.model_id
   FROM memsvc.embedding_models m
  WHERE (m.state = 'retired'::text))));

CREATE POLICY retired_seen ON memsvc.embeddings FOR SELECT TO memsvc_owner USING ((model_id IN ( SELECT m.model_id
   FROM memsvc.embedding_models m
  WHERE (m.state = 'retired'::text))));

CREATE POLICY retired_seen ON memsvc.token_vectors FOR SELECT TO memsvc_owner USING ((model_id IN ( SELECT m.model_id
   FROM memsvc.embedding_models m
  WHERE (m.state = 'retired'::text))));

CREATE POLICY rows_asked_for ON memsvc.aliases FOR SELECT TO memsvc_reader, memsvc_cypher USING ((
CASE
    WHEN (user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE false
END AND (user_id = ( SELECT memsvc.current_user_id() AS current_user_id))));

CREATE POLICY rows_asked_for ON memsvc.analysis_results FOR SELECT TO memsvc_reader, memsvc_cypher USING ((
CASE
    WHEN (user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE false
END AND (user_id = ( SELECT memsvc.current_user_id() AS current_user_id))));

CREATE POLICY rows_asked_for ON memsvc.analysis_runs FOR SELECT TO memsvc_reader, memsvc_cypher USING ((
CASE
    WHEN (user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE false
END AND (user_id = ( SELECT memsvc.current_user_id() AS current_user_id))));

CREATE POLICY rows_asked_for ON memsvc.answered_requests FOR SELECT TO memsvc_reader, memsvc_cypher USING ((
CASE
    WHEN (user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE false
END AND (user_id = ( SELECT memsvc.current_user_id() AS current_user_id))));

CREATE POLICY rows_asked_for ON memsvc.changes FOR SELECT TO memsvc_reader, memsvc_cypher USING ((
CASE
    WHEN (user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE false
END AND (user_id = ( SELECT memsvc.current_user_id() AS current_user_id))));

CREATE POLICY rows_asked_for ON memsvc.corpora FOR SELECT TO memsvc_reader, memsvc_cypher USING ((
CASE
    WHEN (user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE false
END AND (user_id = ( SELECT memsvc.current_user_id() AS current_user_id))));

CREATE POLICY rows_asked_for ON memsvc.duplicate_candidates FOR SELECT TO memsvc_reader, memsvc_cypher USING ((
CASE
    WHEN (user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE false
END AND (user_id = ( SELECT memsvc.current_user_id() AS current_user_id))));

CREATE POLICY rows_asked_for ON memsvc.edge_types FOR SELECT TO memsvc_reader, memsvc_cypher USING (
CASE
    WHEN (own_user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE (own_user_id IS NULL)
END);

CREATE POLICY rows_asked_for ON memsvc.edge_versions FOR SELECT TO memsvc_reader, memsvc_cypher USING ((
CASE
    WHEN (user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE false
END AND (user_id = ( SELECT memsvc.current_user_id() AS current_user_id))));

CREATE POLICY rows_asked_for ON memsvc.edges FOR SELECT TO memsvc_reader, memsvc_cypher USING ((
CASE
    WHEN (user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE false
END AND (user_id = ( SELECT memsvc.current_user_id() AS current_user_id))));

CREATE POLICY rows_asked_for ON memsvc.embeddings FOR SELECT TO memsvc_reader, memsvc_cypher USING ((
CASE
    WHEN (user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE false
END AND (user_id = ( SELECT memsvc.current_user_id() AS current_user_id))));

CREATE POLICY rows_asked_for ON memsvc.erasures FOR SELECT TO memsvc_reader, memsvc_cypher USING ((
CASE
    WHEN (user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE false
END AND (user_id = ( SELECT memsvc.current_user_id() AS current_user_id))));

CREATE POLICY rows_asked_for ON memsvc.extractions FOR SELECT TO memsvc_reader, memsvc_cypher USING ((
CASE
    WHEN (user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE false
END AND (user_id = ( SELECT memsvc.current_user_id() AS current_user_id))));

CREATE POLICY rows_asked_for ON memsvc.fact_reviews FOR SELECT TO memsvc_reader, memsvc_cypher USING ((
CASE
    WHEN (user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE false
END AND (user_id = ( SELECT memsvc.current_user_id() AS current_user_id))));

CREATE POLICY rows_asked_for ON memsvc.jobs FOR SELECT TO memsvc_reader, memsvc_cypher USING ((
CASE
    WHEN (user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE false
END AND (user_id = ( SELECT memsvc.current_user_id() AS current_user_id))));

CREATE POLICY rows_asked_for ON memsvc.locations FOR SELECT TO memsvc_reader, memsvc_cypher USING ((
CASE
    WHEN (user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE false
END AND (user_id = ( SELECT memsvc.current_user_id() AS current_user_id))));

CREATE POLICY rows_asked_for ON memsvc.memory_signals FOR SELECT TO memsvc_reader, memsvc_cypher USING ((
CASE
    WHEN (user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE false
END AND (user_id = ( SELECT memsvc.current_user_id() AS current_user_id))));

CREATE POLICY rows_asked_for ON memsvc.merges FOR SELECT TO memsvc_reader, memsvc_cypher USING ((
CASE
    WHEN (user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE false
END AND (user_id = ( SELECT memsvc.current_user_id() AS current_user_id))));

CREATE POLICY rows_asked_for ON memsvc.model_calls FOR SELECT TO memsvc_reader, memsvc_cypher USING ((
CASE
    WHEN (user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE false
END AND (user_id = ( SELECT memsvc.current_user_id() AS current_user_id))));

CREATE POLICY rows_asked_for ON memsvc.node_types FOR SELECT TO memsvc_reader, memsvc_cypher USING (
CASE
    WHEN (own_user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE (own_user_id IS NULL)
END);

CREATE POLICY rows_asked_for ON memsvc.node_versions FOR SELECT TO memsvc_reader, memsvc_cypher USING ((
CASE
    WHEN (user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE false
END AND (user_id = ( SELECT memsvc.current_user_id() AS current_user_id))));

CREATE POLICY rows_asked_for ON memsvc.nodes FOR SELECT TO memsvc_reader, memsvc_cypher USING ((
CASE
    WHEN (user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE false
END AND (user_id = ( SELECT memsvc.current_user_id() AS current_user_id))));

CREATE POLICY rows_asked_for ON memsvc.outbox FOR SELECT TO memsvc_reader, memsvc_cypher USING ((
CASE
    WHEN (user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE false
END AND (user_id = ( SELECT memsvc.current_user_id() AS current_user_id))));

CREATE POLICY rows_asked_for ON memsvc.passages FOR SELECT TO memsvc_reader, memsvc_cypher USING ((
CASE
    WHEN (user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE false
END AND (user_id = ( SELECT memsvc.current_user_id() AS current_user_id))));

CREATE POLICY rows_asked_for ON memsvc.profile_evidence FOR SELECT TO memsvc_reader, memsvc_cypher USING ((
CASE
    WHEN (user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE false
END AND (user_id = ( SELECT memsvc.current_user_id() AS current_user_id))));

CREATE POLICY rows_asked_for ON memsvc.profile_versions FOR SELECT TO memsvc_reader, memsvc_cypher USING ((
CASE
    WHEN (user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE false
END AND (user_id = ( SELECT memsvc.current_user_id() AS current_user_id))));

CREATE POLICY rows_asked_for ON memsvc.recall_events FOR SELECT TO memsvc_reader, memsvc_cypher USING ((
CASE
    WHEN (user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE false
END AND (user_id = ( SELECT memsvc.current_user_id() AS current_user_id))));

CREATE POLICY rows_asked_for ON memsvc.schedules FOR SELECT TO memsvc_reader, memsvc_cypher USING ((
CASE
    WHEN (user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE false
END AND (user_id = ( SELECT memsvc.current_user_id() AS current_user_id))));

CREATE POLICY rows_asked_for ON memsvc.sleep_runs FOR SELECT TO memsvc_reader, memsvc_cypher USING ((
CASE
    WHEN (user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE false
END AND (user_id = ( SELECT memsvc.current_user_id() AS current_user_id))));

CREATE POLICY rows_asked_for ON memsvc.source_links FOR SELECT TO memsvc_reader, memsvc_cypher USING ((
CASE
    WHEN (user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE false
END AND (user_id = ( SELECT memsvc.current_user_id() AS current_user_id))));

CREATE POLICY rows_asked_for ON memsvc.sources FOR SELECT TO memsvc_reader, memsvc_cypher USING ((
CASE
    WHEN (user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE false
END AND (user_id = ( SELECT memsvc.current_user_id() AS current_user_id))));

CREATE POLICY rows_asked_for ON memsvc.term_deltas FOR SELECT TO memsvc_reader, memsvc_cypher USING ((
CASE
    WHEN (user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE false
END AND (user_id = ( SELECT memsvc.current_user_id() AS current_user_id))));

CREATE POLICY rows_asked_for ON memsvc.terms FOR SELECT TO memsvc_reader, memsvc_cypher USING ((
CASE
    WHEN (user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE false
END AND (user_id = ( SELECT memsvc.current_user_id() AS current_user_id))));

CREATE POLICY rows_asked_for ON memsvc.token_vectors FOR SELECT TO memsvc_reader, memsvc_cypher USING ((
CASE
    WHEN (user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE false
END AND (user_id = ( SELECT memsvc.current_user_id() AS current_user_id))));

CREATE POLICY rows_asked_for ON memsvc.used_tickets FOR SELECT TO memsvc_reader, memsvc_cypher USING ((
CASE
    WHEN (user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE false
END AND (user_id = ( SELECT memsvc.current_user_id() AS current_user_id))));

CREATE POLICY rows_asked_for ON memsvc.users FOR SELECT TO memsvc_reader, memsvc_cypher USING ((
CASE
    WHEN (user_id = ANY (ARRAY[( SELECT memsvc.current_user_id() AS current_user_id)])) THEN true
    ELSE false
END AND (user_id = ( SELECT memsvc.current_user_id() AS current_user_id))));

ALTER TABLE memsvc.schedules ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.sleep_runs ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.source_links ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.sources ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.term_deltas ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.terms ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.token_vectors ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.tombstones ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.used_tickets ENABLE ROW LEVEL SECURITY;

ALTER TABLE memsvc.users ENABLE ROW LEVEL SECURITY;

GRANT ALL ON SCHEMA memsvc TO memsvc_recall;
GRANT ALL ON SCHEMA memsvc TO memsvc_eraser;
GRANT USAGE ON SCHEMA memsvc TO memsvc_app;
GRANT USAGE ON SCHEMA memsvc TO memsvc_reader;
GRANT USAGE ON SCHEMA memsvc TO memsvc_cypher;
GRANT USAGE ON SCHEMA memsvc TO memsvc_analyst;

REVOKE ALL ON FUNCTION memsvc.act_for(p_user_id uuid, p_token text, p_keep_plans boolean, p_erasing boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.act_for(p_user_id uuid, p_token text, p_keep_plans boolean, p_erasing boolean) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.add_counts(p_counts jsonb, p_more jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION memsvc.all_edges(p_user_id uuid, p_as_of timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.all_edges(p_user_id uuid, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.all_edges(p_user_id uuid, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.all_edges(p_user_id uuid, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.all_nodes(p_user_id uuid, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.all_nodes(p_user_id uuid, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.all_nodes(p_user_id uuid, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.all_nodes(p_user_id uuid, p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.day_before(p_days integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.day_before(p_days integer) TO memsvc_analyst;
GRANT ALL ON FUNCTION memsvc.day_before(p_days integer) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.least_group() FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.least_group() TO memsvc_analyst;
GRANT ALL ON FUNCTION memsvc.least_group() TO memsvc_recall;

GRANT SELECT,INSERT ON TABLE memsvc.jobs TO memsvc_app;
GRANT SELECT ON TABLE memsvc.jobs TO memsvc_reader;
GRANT SELECT,DELETE ON TABLE memsvc.jobs TO memsvc_eraser;

GRANT UPDATE(state) ON TABLE memsvc.jobs TO memsvc_app;

GRANT UPDATE(requests) ON TABLE memsvc.jobs TO memsvc_app;

GRANT UPDATE(attempts) ON TABLE memsvc.jobs TO memsvc_app;

GRANT UPDATE(error_code) ON TABLE memsvc.jobs TO memsvc_app;

GRANT UPDATE(error) ON TABLE memsvc.jobs TO memsvc_app;

GRANT UPDATE(run_after) ON TABLE memsvc.jobs TO memsvc_app;

GRANT UPDATE(finished_at) ON TABLE memsvc.jobs TO memsvc_app;

GRANT UPDATE(started_at) ON TABLE memsvc.jobs TO memsvc_app;

GRANT UPDATE(outages) ON TABLE memsvc.jobs TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.all_users_jobs(p_days integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.all_users_jobs(p_days integer) TO memsvc_analyst;

GRANT SELECT,INSERT ON TABLE memsvc.passages TO memsvc_app;
GRANT SELECT ON TABLE memsvc.passages TO memsvc_reader;
GRANT SELECT ON TABLE memsvc.passages TO memsvc_recall;
GRANT SELECT,DELETE ON TABLE memsvc.passages TO memsvc_eraser;

GRANT UPDATE(kind) ON TABLE memsvc.passages TO memsvc_eraser;

GRANT UPDATE(part) ON TABLE memsvc.passages TO memsvc_eraser;

REVOKE ALL ON FUNCTION memsvc.all_users_messages(p_days integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.all_users_messages(p_days integer) TO memsvc_analyst;

GRANT SELECT,INSERT ON TABLE memsvc.model_calls TO memsvc_app;
GRANT SELECT ON TABLE memsvc.model_calls TO memsvc_reader;
GRANT SELECT,DELETE ON TABLE memsvc.model_calls TO memsvc_eraser;

REVOKE ALL ON FUNCTION memsvc.all_users_model_calls(p_days integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.all_users_model_calls(p_days integer) TO memsvc_analyst;

GRANT SELECT,INSERT ON TABLE memsvc.corpora TO memsvc_app;
GRANT SELECT ON TABLE memsvc.corpora TO memsvc_reader;
GRANT SELECT ON TABLE memsvc.corpora TO memsvc_recall;
GRANT SELECT,INSERT,DELETE ON TABLE memsvc.corpora TO memsvc_eraser;

GRANT UPDATE(passages) ON TABLE memsvc.corpora TO memsvc_app;
GRANT UPDATE(passages) ON TABLE memsvc.corpora TO memsvc_eraser;

GRANT UPDATE(length) ON TABLE memsvc.corpora TO memsvc_app;
GRANT UPDATE(length) ON TABLE memsvc.corpora TO memsvc_eraser;

REVOKE ALL ON FUNCTION memsvc.all_users_sizes() FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.all_users_sizes() TO memsvc_analyst;

REVOKE ALL ON FUNCTION memsvc.altered_by(p_user_id uuid, p_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.altered_by(p_user_id uuid, p_at timestamp with time zone) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.analysed_facts(p_user_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.analysed_facts(p_user_id uuid) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.analysed_facts(p_user_id uuid) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.analysed_facts(p_user_id uuid) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.any_merges(p_user_id uuid, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.any_merges(p_user_id uuid, p_known_at timestamp with time zone) TO memsvc_eraser;
GRANT ALL ON FUNCTION memsvc.any_merges(p_user_id uuid, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.any_merges(p_user_id uuid, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.any_merges(p_user_id uuid, p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.turns_to_read(p_user_id uuid, p_source_id uuid, p_extractor text, p_before integer, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.turns_to_read(p_user_id uuid, p_source_id uuid, p_extractor text, p_before integer, p_limit integer) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.anything_to_read(p_user_id uuid, p_source_id uuid, p_extractor text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.anything_to_read(p_user_id uuid, p_source_id uuid, p_extractor text) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.append_messages(p_user_id uuid, p_rows jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.append_messages(p_user_id uuid, p_rows jsonb) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.append_recall(p_user_id uuid, p_recall_id uuid, p_door text, p_mode text, p_memories uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.append_recall(p_user_id uuid, p_recall_id uuid, p_door text, p_mode text, p_memories uuid[]) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.apply_merges(p_user_id uuid, p_actor text, p_at timestamp with time zone, p_operations jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.apply_merges(p_user_id uuid, p_actor text, p_at timestamp with time zone, p_operations jsonb) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.apply_steps(p_user_id uuid, p_actor text, p_at timestamp with time zone, p_steps jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.apply_steps(p_user_id uuid, p_actor text, p_at timestamp with time zone, p_steps jsonb) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.as_tsquery(p_lexeme text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.as_tsquery(p_lexeme text) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.as_tsquery(p_lexeme text) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.as_tsquery(p_lexeme text) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.ask_job(p_user_id uuid, p_kind text, p_subject_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.ask_job(p_user_id uuid, p_kind text, p_subject_id uuid) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.ask_vectors(p_model_id smallint) FROM PUBLIC;

REVOKE ALL ON FUNCTION memsvc.audit(p_action text, p_app_id uuid, p_user_id uuid, p_subject text) FROM PUBLIC;

REVOKE ALL ON FUNCTION memsvc.authenticate_key(p_key_id text, p_secret_hash bytea, p_user_ref text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.authenticate_key(p_key_id text, p_secret_hash bytea, p_user_ref text) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.job_queue(p_kind text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.job_queue(p_kind text) TO memsvc_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE memsvc.dramatiq_queue TO memsvc_app;
GRANT SELECT,DELETE ON TABLE memsvc.dramatiq_queue TO memsvc_eraser;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE memsvc.dramatiq_worker TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.work_hands() FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.work_hands() TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.work_now() FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.work_now() TO memsvc_app;

GRANT SELECT,INSERT,DELETE ON TABLE memsvc.term_deltas TO memsvc_app;
GRANT SELECT ON TABLE memsvc.term_deltas TO memsvc_reader;
GRANT SELECT ON TABLE memsvc.term_deltas TO memsvc_recall;
GRANT SELECT,DELETE ON TABLE memsvc.term_deltas TO memsvc_eraser;

REVOKE ALL ON FUNCTION memsvc.backlog() FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.backlog() TO memsvc_app;

GRANT SELECT,INSERT ON TABLE memsvc.changes TO memsvc_app;
GRANT SELECT ON TABLE memsvc.changes TO memsvc_reader;
GRANT SELECT,DELETE ON TABLE memsvc.changes TO memsvc_eraser;

REVOKE ALL ON FUNCTION memsvc.begin_change(p_user_id uuid, p_actor text, p_operations text[], p_nodes uuid[], p_undoes uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.begin_change(p_user_id uuid, p_actor text, p_operations text[], p_nodes uuid[], p_undoes uuid) TO memsvc_app;

GRANT SELECT ON TABLE memsvc.erasures TO memsvc_app;
GRANT SELECT ON TABLE memsvc.erasures TO memsvc_reader;
GRANT SELECT,INSERT,DELETE ON TABLE memsvc.erasures TO memsvc_eraser;

GRANT UPDATE(state) ON TABLE memsvc.erasures TO memsvc_eraser;

GRANT UPDATE(counts) ON TABLE memsvc.erasures TO memsvc_eraser;

GRANT UPDATE(ids) ON TABLE memsvc.erasures TO memsvc_eraser;

GRANT UPDATE(finished_at) ON TABLE memsvc.erasures TO memsvc_eraser;

GRANT UPDATE(verified_at) ON TABLE memsvc.erasures TO memsvc_app;

GRANT UPDATE(leftovers) ON TABLE memsvc.erasures TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.begin_erasure(p_user_id uuid, p_kind text, p_subject_id uuid, p_requested_by text, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.begin_erasure(p_user_id uuid, p_kind text, p_subject_id uuid, p_requested_by text, p_limit integer) TO memsvc_app;

GRANT SELECT ON TABLE memsvc.users TO memsvc_app;
GRANT SELECT ON TABLE memsvc.users TO memsvc_reader;
GRANT SELECT,DELETE ON TABLE memsvc.users TO memsvc_eraser;

REVOKE ALL ON FUNCTION memsvc.begin_job(p_user_id uuid, p_job_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.begin_job(p_user_id uuid, p_job_id uuid) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.begin_reading(p_user_id uuid, p_source_id uuid, p_extractor text, p_backend text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.begin_reading(p_user_id uuid, p_source_id uuid, p_extractor text, p_backend text) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.begin_user_erasure(p_app_id uuid, p_ref text, p_by text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.begin_user_erasure(p_app_id uuid, p_ref text, p_by text) TO memsvc_app;

GRANT SELECT,INSERT ON TABLE memsvc.merges TO memsvc_app;
GRANT SELECT ON TABLE memsvc.merges TO memsvc_reader;
GRANT SELECT,DELETE ON TABLE memsvc.merges TO memsvc_eraser;

GRANT UPDATE(recorded_to) ON TABLE memsvc.merges TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.resolve_nodes(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.resolve_nodes(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone) TO memsvc_eraser;
GRANT ALL ON FUNCTION memsvc.resolve_nodes(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.resolve_nodes(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.resolve_nodes(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.same_nodes(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.same_nodes(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone) TO memsvc_eraser;
GRANT ALL ON FUNCTION memsvc.same_nodes(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.same_nodes(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.same_nodes(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone) TO memsvc_recall;

GRANT SELECT,INSERT ON TABLE memsvc.node_versions TO memsvc_app;
GRANT SELECT ON TABLE memsvc.node_versions TO memsvc_reader;
GRANT SELECT ON TABLE memsvc.node_versions TO memsvc_recall;
GRANT SELECT,DELETE ON TABLE memsvc.node_versions TO memsvc_eraser;

GRANT UPDATE(recorded_to) ON TABLE memsvc.node_versions TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.node_states(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.node_states(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.node_states(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.node_states(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_recall;

GRANT SELECT,INSERT ON TABLE memsvc.profile_evidence TO memsvc_app;
GRANT SELECT ON TABLE memsvc.profile_evidence TO memsvc_reader;
GRANT SELECT,DELETE ON TABLE memsvc.profile_evidence TO memsvc_eraser;

GRANT UPDATE(lines) ON TABLE memsvc.profile_evidence TO memsvc_eraser;

REVOKE ALL ON FUNCTION memsvc.behind_block(p_user_id uuid, p_version_id uuid, p_node_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.behind_block(p_user_id uuid, p_version_id uuid, p_node_id uuid) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.behind_block(p_user_id uuid, p_version_id uuid, p_node_id uuid) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.behind_block(p_user_id uuid, p_version_id uuid, p_node_id uuid) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.name_tier(p_name text, p_wanted text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.name_tier(p_name text, p_wanted text) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.name_tier(p_name text, p_wanted text) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.name_tier(p_name text, p_wanted text) TO memsvc_recall;

GRANT SELECT,INSERT ON TABLE memsvc.aliases TO memsvc_app;
GRANT SELECT ON TABLE memsvc.aliases TO memsvc_reader;
GRANT SELECT ON TABLE memsvc.aliases TO memsvc_recall;
GRANT SELECT,DELETE ON TABLE memsvc.aliases TO memsvc_eraser;

GRANT UPDATE(recorded_to) ON TABLE memsvc.aliases TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.node_names(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.node_names(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.node_names(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.node_names(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.normal_form(p_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.normal_form(p_name text) TO memsvc_eraser;
GRANT ALL ON FUNCTION memsvc.normal_form(p_name text) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.normal_form(p_name text) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.normal_form(p_name text) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.best_names(p_user_id uuid, p_wanted text, p_tier integer, p_forms text[], p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.best_names(p_user_id uuid, p_wanted text, p_tier integer, p_forms text[], p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.best_names(p_user_id uuid, p_wanted text, p_tier integer, p_forms text[], p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.best_names(p_user_id uuid, p_wanted text, p_tier integer, p_forms text[], p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.lines_lost(p_user_id uuid, p_passages uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.lines_lost(p_user_id uuid, p_passages uuid[]) TO memsvc_eraser;
GRANT ALL ON FUNCTION memsvc.lines_lost(p_user_id uuid, p_passages uuid[]) TO memsvc_app;

GRANT SELECT,INSERT ON TABLE memsvc.profile_versions TO memsvc_app;
GRANT SELECT ON TABLE memsvc.profile_versions TO memsvc_reader;
GRANT SELECT,DELETE ON TABLE memsvc.profile_versions TO memsvc_eraser;

GRANT UPDATE(version) ON TABLE memsvc.profile_versions TO memsvc_eraser;

GRANT UPDATE(text) ON TABLE memsvc.profile_versions TO memsvc_eraser;

GRANT UPDATE(recorded_to) ON TABLE memsvc.profile_versions TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.blocks_emptied(p_user_id uuid, p_passages uuid[], p_nodes uuid[], p_source_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.blocks_emptied(p_user_id uuid, p_passages uuid[], p_nodes uuid[], p_source_id uuid) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.build_model(p_name text, p_dimensions integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.build_model(p_name text, p_dimensions integer) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.bury(p_user_id uuid, p_kind text, p_subject_id uuid) FROM PUBLIC;

REVOKE ALL ON FUNCTION memsvc.busiest_weeks(p_user_id uuid, p_least integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.busiest_weeks(p_user_id uuid, p_least integer) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.busiest_weeks(p_user_id uuid, p_least integer) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.busiest_weeks(p_user_id uuid, p_least integer) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.busy_days(p_user_id uuid, p_least integer, p_distance double precision) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.busy_days(p_user_id uuid, p_least integer, p_distance double precision) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.busy_days(p_user_id uuid, p_least integer, p_distance double precision) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.busy_days(p_user_id uuid, p_least integer, p_distance double precision) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.change_models() FROM PUBLIC;

REVOKE ALL ON FUNCTION memsvc.change_shown(p_user_id uuid, p_change_id uuid, p_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.change_shown(p_user_id uuid, p_change_id uuid, p_most integer) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.check_added_types() FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.check_added_types() TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.check_closes(p_user_id uuid, p_steps jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.check_closes(p_user_id uuid, p_steps jsonb) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.check_endpoints(p_user_id uuid, p_operations jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.check_endpoints(p_user_id uuid, p_operations jsonb) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.check_operations(p_user_id uuid, p_operations jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.check_operations(p_user_id uuid, p_operations jsonb) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.check_written_edge_types() FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.check_written_edge_types() TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.check_written_node_types() FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.check_written_node_types() TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.due_messages(p_queue text, p_after uuid, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.due_messages(p_queue text, p_after uuid, p_limit integer) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.claim_messages(p_queue text, p_worker_id uuid, p_after uuid, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.claim_messages(p_queue text, p_worker_id uuid, p_after uuid, p_limit integer) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.clock_reaches(p_zone text, p_local timestamp without time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.clock_reaches(p_zone text, p_local timestamp without time zone) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.compare_projection(p_user_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.compare_projection(p_user_id uuid) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.content_of(p_version memsvc.aliases) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.content_of(p_version memsvc.aliases) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.content_of(p_version memsvc.aliases) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.content_of(p_version memsvc.aliases) TO memsvc_recall;

GRANT SELECT,INSERT ON TABLE memsvc.edge_versions TO memsvc_app;
GRANT SELECT ON TABLE memsvc.edge_versions TO memsvc_reader;
GRANT SELECT ON TABLE memsvc.edge_versions TO memsvc_recall;
GRANT SELECT,DELETE ON TABLE memsvc.edge_versions TO memsvc_eraser;

GRANT UPDATE(recorded_to) ON TABLE memsvc.edge_versions TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.content_of(p_version memsvc.edge_versions) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.content_of(p_version memsvc.edge_versions) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.content_of(p_version memsvc.edge_versions) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.content_of(p_version memsvc.edge_versions) TO memsvc_recall;

GRANT SELECT,INSERT ON TABLE memsvc.locations TO memsvc_app;
GRANT SELECT ON TABLE memsvc.locations TO memsvc_reader;
GRANT SELECT ON TABLE memsvc.locations TO memsvc_recall;
GRANT SELECT,DELETE ON TABLE memsvc.locations TO memsvc_eraser;

GRANT UPDATE(recorded_to) ON TABLE memsvc.locations TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.content_of(p_version memsvc.locations) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.content_of(p_version memsvc.locations) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.content_of(p_version memsvc.locations) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.content_of(p_version memsvc.locations) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.content_of(p_version memsvc.node_versions) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.content_of(p_version memsvc.node_versions) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.content_of(p_version memsvc.node_versions) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.content_of(p_version memsvc.node_versions) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.continue_erasure(p_user_id uuid, p_erasure_id uuid, p_limit integer, p_in_job boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.continue_erasure(p_user_id uuid, p_erasure_id uuid, p_limit integer, p_in_job boolean) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.contradictions(p_user_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.contradictions(p_user_id uuid) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.contradictions(p_user_id uuid) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.contradictions(p_user_id uuid) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.core_user_id() FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.core_user_id() TO memsvc_eraser;
GRANT ALL ON FUNCTION memsvc.core_user_id() TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.core_user_id() TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.core_user_id() TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.count_facts(p_user_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.count_facts(p_user_id uuid) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.count_facts(p_user_id uuid) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.count_facts(p_user_id uuid) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.count_messages(p_key_id text, p_messages integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.count_messages(p_key_id text, p_messages integer) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.count_nodes(p_user_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.count_nodes(p_user_id uuid) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.count_nodes(p_user_id uuid) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.count_nodes(p_user_id uuid) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.count_request(p_key_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.count_request(p_key_id text) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.terms_of(p_user_id uuid, p_passages uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.terms_of(p_user_id uuid, p_passages uuid[]) TO memsvc_eraser;
GRANT ALL ON FUNCTION memsvc.terms_of(p_user_id uuid, p_passages uuid[]) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.count_words(p_user_id uuid, p_passages uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.count_words(p_user_id uuid, p_passages uuid[]) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.create_key(p_app_id uuid, p_key_id text, p_secret_hash bytea, p_user_id uuid, p_scopes text[], p_label text, p_expires_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.create_key(p_app_id uuid, p_key_id text, p_secret_hash bytea, p_user_id uuid, p_scopes text[], p_label text, p_expires_at timestamp with time zone) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.create_user(p_app_id uuid, p_external_id text, p_name text, p_time_zone text, p_language text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.create_user(p_app_id uuid, p_external_id text, p_name text, p_time_zone text, p_language text) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.current_user_id() FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.current_user_id() TO memsvc_eraser;
GRANT ALL ON FUNCTION memsvc.current_user_id() TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.current_user_id() TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.current_user_id() TO memsvc_recall;
GRANT ALL ON FUNCTION memsvc.current_user_id() TO memsvc_cypher;

REVOKE ALL ON FUNCTION memsvc.data_shown(p_data jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.data_shown(p_data jsonb) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.data_shown(p_data jsonb) TO memsvc_eraser;

REVOKE ALL ON FUNCTION memsvc.days_of_facts(p_user_id uuid, p_zone text, p_least integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.days_of_facts(p_user_id uuid, p_zone text, p_least integer) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.days_of_facts(p_user_id uuid, p_zone text, p_least integer) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.days_of_facts(p_user_id uuid, p_zone text, p_least integer) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.days_of_people(p_user_id uuid, p_least integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.days_of_people(p_user_id uuid, p_least integer) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.days_of_people(p_user_id uuid, p_least integer) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.days_of_people(p_user_id uuid, p_least integer) TO memsvc_recall;

GRANT SELECT,INSERT ON TABLE memsvc.duplicate_candidates TO memsvc_app;
GRANT SELECT ON TABLE memsvc.duplicate_candidates TO memsvc_reader;
GRANT SELECT,DELETE ON TABLE memsvc.duplicate_candidates TO memsvc_eraser;

GRANT UPDATE(score) ON TABLE memsvc.duplicate_candidates TO memsvc_app;

GRANT UPDATE(evidence) ON TABLE memsvc.duplicate_candidates TO memsvc_app;

GRANT UPDATE(state) ON TABLE memsvc.duplicate_candidates TO memsvc_app;

GRANT UPDATE(decided_at) ON TABLE memsvc.duplicate_candidates TO memsvc_app;

GRANT UPDATE(decided_by) ON TABLE memsvc.duplicate_candidates TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.decide_duplicates(p_user_id uuid, p_node uuid, p_other uuid, p_state text, p_decided_by text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.decide_duplicates(p_user_id uuid, p_node uuid, p_other uuid, p_state text, p_decided_by text) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.decide_type(p_user_id uuid, p_kind text, p_name text, p_status text, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.decide_type(p_user_id uuid, p_kind text, p_name text, p_status text, p_actor text) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.default_weights() FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.default_weights() TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.default_weights() TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.default_weights() TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.delete_ended(p_user_id uuid, p_jobs_kept interval, p_events_kept interval, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.delete_ended(p_user_id uuid, p_jobs_kept interval, p_events_kept interval, p_limit integer) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.delete_recalls(p_user_id uuid, p_kept interval, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.delete_recalls(p_user_id uuid, p_kept interval, p_limit integer) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.open_versions(p_user_id uuid, p_kind text, p_line uuid, p_form text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.open_versions(p_user_id uuid, p_kind text, p_line uuid, p_form text) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.differs_now(p_user_id uuid, p_kind text, p_subject uuid, p_form text, p_valid_from timestamp with time zone, p_valid_to timestamp with time zone, p_content jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.differs_now(p_user_id uuid, p_kind text, p_subject uuid, p_form text, p_valid_from timestamp with time zone, p_valid_to timestamp with time zone, p_content jsonb) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.drop_model_index(p_model_id smallint) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.drop_model_index(p_model_id smallint) TO memsvc_app;

GRANT SELECT,INSERT ON TABLE memsvc.embeddings TO memsvc_app;
GRANT SELECT ON TABLE memsvc.embeddings TO memsvc_reader;
GRANT SELECT ON TABLE memsvc.embeddings TO memsvc_recall;
GRANT SELECT,DELETE ON TABLE memsvc.embeddings TO memsvc_eraser;

GRANT SELECT,INSERT ON TABLE memsvc.token_vectors TO memsvc_app;
GRANT SELECT ON TABLE memsvc.token_vectors TO memsvc_reader;
GRANT SELECT ON TABLE memsvc.token_vectors TO memsvc_recall;
GRANT SELECT,DELETE ON TABLE memsvc.token_vectors TO memsvc_eraser;

REVOKE ALL ON FUNCTION memsvc.drop_vectors(p_model_id smallint, p_from uuid, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.drop_vectors(p_model_id smallint, p_from uuid, p_limit integer) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.due_jobs(p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.due_jobs(p_limit integer) TO memsvc_app;

GRANT SELECT,INSERT ON TABLE memsvc.schedules TO memsvc_app;
GRANT SELECT ON TABLE memsvc.schedules TO memsvc_reader;
GRANT SELECT,DELETE ON TABLE memsvc.schedules TO memsvc_eraser;

GRANT UPDATE(at_local) ON TABLE memsvc.schedules TO memsvc_app;

GRANT UPDATE(weekdays) ON TABLE memsvc.schedules TO memsvc_app;

GRANT UPDATE(enabled) ON TABLE memsvc.schedules TO memsvc_app;

GRANT UPDATE(next_at) ON TABLE memsvc.schedules TO memsvc_app;

GRANT UPDATE(last_at) ON TABLE memsvc.schedules TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.due_schedules(p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.due_schedules(p_limit integer) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.edge_type_weight(p_type text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.edge_type_weight(p_type text) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.edge_type_weight(p_type text) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.edge_type_weight(p_type text) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.edges_between(p_user_id uuid, p_nodes uuid[], p_types text[], p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.edges_between(p_user_id uuid, p_nodes uuid[], p_types text[], p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.edges_between(p_user_id uuid, p_nodes uuid[], p_types text[], p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.edges_between(p_user_id uuid, p_nodes uuid[], p_types text[], p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.edges_known(p_user_id uuid, p_nodes uuid[], p_side text, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.edges_known(p_user_id uuid, p_nodes uuid[], p_side text, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.edges_known(p_user_id uuid, p_nodes uuid[], p_side text, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.edges_known(p_user_id uuid, p_nodes uuid[], p_side text, p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.edges_wanted(p_user_id uuid, p_versions uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.edges_wanted(p_user_id uuid, p_versions uuid[]) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.edges_wanted(p_user_id uuid, p_versions uuid[]) TO memsvc_eraser;

GRANT SELECT ON TABLE memsvc.embedding_models TO memsvc_app;
GRANT SELECT ON TABLE memsvc.embedding_models TO memsvc_reader;

REVOKE ALL ON FUNCTION memsvc.embedding_progress(p_user_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.embedding_progress(p_user_id uuid) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.embedding_progress(p_user_id uuid) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.embedding_progress(p_user_id uuid) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.embedding_totals() FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.embedding_totals() TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.empty_projection(p_user_id uuid, p_part text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.empty_projection(p_user_id uuid, p_part text) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.end_analysis(p_user_id uuid, p_run_id uuid, p_found bigint, p_figures jsonb, p_seconds real, p_results jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.end_analysis(p_user_id uuid, p_run_id uuid, p_found bigint, p_figures jsonb, p_seconds real, p_results jsonb) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.ensure_app(p_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.ensure_app(p_name text) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.ensure_model(p_name text, p_dimensions integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.ensure_model(p_name text, p_dimensions integer) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.erase(p_user_id uuid, p_kind text, p_subject_id uuid, p_requested_by text, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.erase(p_user_id uuid, p_kind text, p_subject_id uuid, p_requested_by text, p_limit integer) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.erase_batch(p_user_id uuid, p_erasure_id uuid, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.erase_batch(p_user_id uuid, p_erasure_id uuid, p_limit integer) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.erase_user(p_user_id uuid, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.erase_user(p_user_id uuid, p_limit integer) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.erase_user_rows(p_user_id uuid, p_limit integer, p_last boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.erase_user_rows(p_user_id uuid, p_limit integer, p_last boolean) TO memsvc_owner;

REVOKE ALL ON FUNCTION memsvc.erased_operations(p_user_id uuid, p_operations jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.erased_operations(p_user_id uuid, p_operations jsonb) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.erasure_leftovers(p_user_id uuid, p_erasure_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.erasure_leftovers(p_user_id uuid, p_erasure_id uuid) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.erasure_reach(p_user_id uuid, p_kind text, p_subject_id uuid, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.erasure_reach(p_user_id uuid, p_kind text, p_subject_id uuid, p_limit integer) TO memsvc_eraser;
GRANT ALL ON FUNCTION memsvc.erasure_reach(p_user_id uuid, p_kind text, p_subject_id uuid, p_limit integer) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.erasure_scope(p_user_id uuid, p_kind text, p_subject_id uuid, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.erasure_scope(p_user_id uuid, p_kind text, p_subject_id uuid, p_limit integer) TO memsvc_eraser;
GRANT ALL ON FUNCTION memsvc.erasure_scope(p_user_id uuid, p_kind text, p_subject_id uuid, p_limit integer) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.exact_words(p_form text, p_language text, p_text text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.exact_words(p_form text, p_language text, p_text text) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.exact_words(p_form text, p_language text, p_text text) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.exact_words(p_form text, p_language text, p_text text) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.expand_names(p_user_id uuid, p_nodes uuid[], p_hops integer, p_fan_out integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.expand_names(p_user_id uuid, p_nodes uuid[], p_hops integer, p_fan_out integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.expand_names(p_user_id uuid, p_nodes uuid[], p_hops integer, p_fan_out integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.expand_names(p_user_id uuid, p_nodes uuid[], p_hops integer, p_fan_out integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.fact_is_from(p_user_id uuid, p_version_id uuid, p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.fact_is_from(p_user_id uuid, p_version_id uuid, p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.fact_is_from(p_user_id uuid, p_version_id uuid, p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.fact_is_from(p_user_id uuid, p_version_id uuid, p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_recall;

GRANT SELECT,INSERT ON TABLE memsvc.edges TO memsvc_app;
GRANT SELECT ON TABLE memsvc.edges TO memsvc_reader;
GRANT SELECT,DELETE ON TABLE memsvc.edges TO memsvc_eraser;

REVOKE ALL ON FUNCTION memsvc.facts(p_user_id uuid, p_about uuid[], p_types text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_side text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.facts(p_user_id uuid, p_about uuid[], p_types text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_side text) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.facts(p_user_id uuid, p_about uuid[], p_types text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_side text) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.facts(p_user_id uuid, p_about uuid[], p_types text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_side text) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.facts_at(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_fan_outs integer[], p_moments timestamp with time zone[], p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.facts_at(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_fan_outs integer[], p_moments timestamp with time zone[], p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.facts_at(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_fan_outs integer[], p_moments timestamp with time zone[], p_known_at timestamp with time zone) TO memsvc_reader;

REVOKE ALL ON FUNCTION memsvc.facts_to_compare(p_user_id uuid, p_source_id uuid, p_from uuid[], p_types text[], p_to uuid[], p_passages uuid[], p_extractor text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.facts_to_compare(p_user_id uuid, p_source_id uuid, p_from uuid[], p_types text[], p_to uuid[], p_passages uuid[], p_extractor text) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.fold_statistics(p_user_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.fold_statistics(p_user_id uuid) TO memsvc_eraser;
GRANT ALL ON FUNCTION memsvc.fold_statistics(p_user_id uuid) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.fail_job(p_user_id uuid, p_job_id uuid, p_error_code text, p_error text, p_passing boolean, p_started_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.fail_job(p_user_id uuid, p_job_id uuid, p_error_code text, p_error text, p_passing boolean, p_started_at timestamp with time zone) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.familiarity(p_recalls integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.familiarity(p_recalls integer) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.familiarity(p_recalls integer) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.familiarity(p_recalls integer) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.file_block(p_user_id uuid, p_block_id uuid, p_parts jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.file_block(p_user_id uuid, p_block_id uuid, p_parts jsonb) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.unfiled_versions(p_user_id uuid, p_block_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.unfiled_versions(p_user_id uuid, p_block_id uuid) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.file_later(p_user_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.file_later(p_user_id uuid) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.filed_with(p_user_id uuid, p_passages uuid[], p_nodes uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.filed_with(p_user_id uuid, p_passages uuid[], p_nodes uuid[]) TO memsvc_eraser;
GRANT ALL ON FUNCTION memsvc.filed_with(p_user_id uuid, p_passages uuid[], p_nodes uuid[]) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.require_restored() FROM PUBLIC;

REVOKE ALL ON FUNCTION memsvc.find_app(p_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.find_app(p_name text) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.finish_job(p_user_id uuid, p_job_id uuid, p_requests integer, p_more boolean, p_started_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.finish_job(p_user_id uuid, p_job_id uuid, p_requests integer, p_more boolean, p_started_at timestamp with time zone) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.first_day(p_written text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.first_day(p_written text) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.first_day(p_written text) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.first_day(p_written text) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.first_person_words() FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.first_person_words() TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.first_person_words() TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.first_person_words() TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.fold_recalls(p_user_id uuid, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.fold_recalls(p_user_id uuid, p_limit integer) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.forget_analysis(p_user_id uuid, p_ids uuid[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION memsvc.forget_edges() FROM PUBLIC;

REVOKE ALL ON FUNCTION memsvc.forget_passages() FROM PUBLIC;

REVOKE ALL ON FUNCTION memsvc.forget_profile(p_user_id uuid, p_passages uuid[], p_nodes uuid[], p_source_id uuid, p_block_id uuid) FROM PUBLIC;

REVOKE ALL ON FUNCTION memsvc.forget_readings(p_user_id uuid, p_passages uuid[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION memsvc.forget_recalls(p_user_id uuid, p_ids uuid[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION memsvc.forget_vertices() FROM PUBLIC;

REVOKE ALL ON FUNCTION memsvc.forget_words(p_user_id uuid, p_passages uuid[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION memsvc.form_fact() FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.form_fact() TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.form_label() FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.form_label() TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.forms_called(p_user_id uuid, p_forms text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.forms_called(p_user_id uuid, p_forms text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.forms_called(p_user_id uuid, p_forms text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.forms_called(p_user_id uuid, p_forms text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.found_by_others_alone(p_user_id uuid, p_source_id uuid, p_upto uuid, p_passages uuid[], p_others text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.found_by_others_alone(p_user_id uuid, p_source_id uuid, p_upto uuid, p_passages uuid[], p_others text[]) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.give_feedback(p_user_id uuid, p_recall_id uuid, p_used uuid[], p_irrelevant uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.give_feedback(p_user_id uuid, p_recall_id uuid, p_used uuid[], p_irrelevant uuid[]) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.graph_among(p_user_id uuid, p_nodes uuid[], p_hops integer, p_types text[], p_fan_out integer, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.graph_among(p_user_id uuid, p_nodes uuid[], p_hops integer, p_types text[], p_fan_out integer, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.graph_among(p_user_id uuid, p_nodes uuid[], p_hops integer, p_types text[], p_fan_out integer, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.graph_among(p_user_id uuid, p_nodes uuid[], p_hops integer, p_types text[], p_fan_out integer, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.graph_around(p_user_id uuid, p_nodes uuid[], p_hops integer, p_types text[], p_side text, p_fan_out integer, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.graph_around(p_user_id uuid, p_nodes uuid[], p_hops integer, p_types text[], p_side text, p_fan_out integer, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.graph_around(p_user_id uuid, p_nodes uuid[], p_hops integer, p_types text[], p_side text, p_fan_out integer, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.graph_around(p_user_id uuid, p_nodes uuid[], p_hops integer, p_types text[], p_side text, p_fan_out integer, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.versions_touched(p_user_id uuid, p_from timestamp with time zone, p_to timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.versions_touched(p_user_id uuid, p_from timestamp with time zone, p_to timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.versions_touched(p_user_id uuid, p_from timestamp with time zone, p_to timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.versions_touched(p_user_id uuid, p_from timestamp with time zone, p_to timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.versions_turning(p_user_id uuid, p_from timestamp with time zone, p_to timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.versions_turning(p_user_id uuid, p_from timestamp with time zone, p_to timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.versions_turning(p_user_id uuid, p_from timestamp with time zone, p_to timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.versions_turning(p_user_id uuid, p_from timestamp with time zone, p_to timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.graph_diff(p_user_id uuid, p_axis text, p_from timestamp with time zone, p_to timestamp with time zone, p_known_at timestamp with time zone, p_kinds text[], p_after_at timestamp with time zone, p_after_kind text, p_after_subject uuid, p_after_form text, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.graph_diff(p_user_id uuid, p_axis text, p_from timestamp with time zone, p_to timestamp with time zone, p_known_at timestamp with time zone, p_kinds text[], p_after_at timestamp with time zone, p_after_kind text, p_after_subject uuid, p_after_form text, p_limit integer) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.graph_diff(p_user_id uuid, p_axis text, p_from timestamp with time zone, p_to timestamp with time zone, p_known_at timestamp with time zone, p_kinds text[], p_after_at timestamp with time zone, p_after_kind text, p_after_subject uuid, p_after_form text, p_limit integer) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.graph_diff(p_user_id uuid, p_axis text, p_from timestamp with time zone, p_to timestamp with time zone, p_known_at timestamp with time zone, p_kinds text[], p_after_at timestamp with time zone, p_after_kind text, p_after_subject uuid, p_after_form text, p_limit integer) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.other_label(p_kind text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.other_label(p_kind text) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.other_label(p_kind text) TO memsvc_eraser;

GRANT SELECT,INSERT,DELETE ON TABLE memsvc.edge_types TO memsvc_app;
GRANT SELECT ON TABLE memsvc.edge_types TO memsvc_reader;
GRANT SELECT,DELETE ON TABLE memsvc.edge_types TO memsvc_eraser;

GRANT UPDATE(description) ON TABLE memsvc.edge_types TO memsvc_app;

GRANT UPDATE(status) ON TABLE memsvc.edge_types TO memsvc_app;

GRANT UPDATE(decided_by) ON TABLE memsvc.edge_types TO memsvc_app;

GRANT UPDATE(decided_at) ON TABLE memsvc.edge_types TO memsvc_app;

GRANT SELECT,INSERT,DELETE ON TABLE memsvc.node_types TO memsvc_app;
GRANT SELECT ON TABLE memsvc.node_types TO memsvc_reader;
GRANT SELECT,DELETE ON TABLE memsvc.node_types TO memsvc_eraser;

GRANT UPDATE(description) ON TABLE memsvc.node_types TO memsvc_app;

GRANT UPDATE(status) ON TABLE memsvc.node_types TO memsvc_app;

GRANT UPDATE(decided_by) ON TABLE memsvc.node_types TO memsvc_app;

GRANT UPDATE(decided_at) ON TABLE memsvc.node_types TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.graph_labels() FROM PUBLIC;

REVOKE ALL ON FUNCTION memsvc.graph_page(p_user_id uuid, p_part text, p_after_edge uuid, p_after_id uuid, p_limit integer, p_types text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.graph_page(p_user_id uuid, p_part text, p_after_edge uuid, p_after_id uuid, p_limit integer, p_types text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.graph_page(p_user_id uuid, p_part text, p_after_edge uuid, p_after_id uuid, p_limit integer, p_types text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.graph_page(p_user_id uuid, p_part text, p_after_edge uuid, p_after_id uuid, p_limit integer, p_types text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.graph_paths(p_user_id uuid, p_from uuid, p_to uuid, p_max_hops integer, p_types text[], p_side text, p_limit integer, p_work integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.graph_paths(p_user_id uuid, p_from uuid, p_to uuid, p_max_hops integer, p_types text[], p_side text, p_limit integer, p_work integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.graph_paths(p_user_id uuid, p_from uuid, p_to uuid, p_max_hops integer, p_types text[], p_side text, p_limit integer, p_work integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.graph_paths(p_user_id uuid, p_from uuid, p_to uuid, p_max_hops integer, p_types text[], p_side text, p_limit integer, p_work integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.graph_shown(p_user_id uuid, p_nodes uuid[], p_hops integer[], p_versions uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.graph_shown(p_user_id uuid, p_nodes uuid[], p_hops integer[], p_versions uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.graph_shown(p_user_id uuid, p_nodes uuid[], p_hops integer[], p_versions uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.graph_shown(p_user_id uuid, p_nodes uuid[], p_hops integer[], p_versions uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.graph_stats(p_user_id uuid, p_as_of timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.graph_stats(p_user_id uuid, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.graph_stats(p_user_id uuid, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.graph_stats(p_user_id uuid, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.grounding(p_user_id uuid, p_text text, p_speakers text[], p_passages uuid[], p_before uuid[], p_near integer, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.grounding(p_user_id uuid, p_text text, p_speakers text[], p_passages uuid[], p_before uuid[], p_near integer, p_limit integer) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.has_exact_words(p_text text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.has_exact_words(p_text text) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.has_exact_words(p_text text) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.has_exact_words(p_text text) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.has_projection() FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.has_projection() TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.has_projection() TO memsvc_eraser;
GRANT ALL ON FUNCTION memsvc.has_projection() TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.has_projection() TO memsvc_cypher;

REVOKE ALL ON FUNCTION memsvc.signs() FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.signs() TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.signs() TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.signs() TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.has_signs(p_text text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.has_signs(p_text text) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.has_signs(p_text text) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.has_signs(p_text text) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.history_of(p_user_id uuid, p_node uuid, p_before timestamp with time zone, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.history_of(p_user_id uuid, p_node uuid, p_before timestamp with time zone, p_limit integer) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.history_of(p_user_id uuid, p_node uuid, p_before timestamp with time zone, p_limit integer) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.history_of(p_user_id uuid, p_node uuid, p_before timestamp with time zone, p_limit integer) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.history_steps(p_user_id uuid, p_operations jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.history_steps(p_user_id uuid, p_operations jsonb) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.hop(p_user_id uuid, p_nodes uuid[], p_types text[], p_side text, p_fan_out integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_merged boolean, p_weight real, p_version uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.hop(p_user_id uuid, p_nodes uuid[], p_types text[], p_side text, p_fan_out integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_merged boolean, p_weight real, p_version uuid) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.hop(p_user_id uuid, p_nodes uuid[], p_types text[], p_side text, p_fan_out integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_merged boolean, p_weight real, p_version uuid) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.hop(p_user_id uuid, p_nodes uuid[], p_types text[], p_side text, p_fan_out integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_merged boolean, p_weight real, p_version uuid) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.hubs(p_user_id uuid, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.hubs(p_user_id uuid, p_limit integer) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.hubs(p_user_id uuid, p_limit integer) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.hubs(p_user_id uuid, p_limit integer) TO memsvc_recall;

GRANT SELECT,INSERT ON TABLE memsvc.source_links TO memsvc_app;
GRANT SELECT ON TABLE memsvc.source_links TO memsvc_reader;
GRANT SELECT ON TABLE memsvc.source_links TO memsvc_recall;
GRANT SELECT,DELETE ON TABLE memsvc.source_links TO memsvc_eraser;

GRANT UPDATE(recorded_to) ON TABLE memsvc.source_links TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.identity_cards(p_user_id uuid, p_nodes uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.identity_cards(p_user_id uuid, p_nodes uuid[]) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.impossible_dates(p_user_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.impossible_dates(p_user_id uuid) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.impossible_dates(p_user_id uuid) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.impossible_dates(p_user_id uuid) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.job_message(p_user_id uuid, p_job_id uuid, p_kind text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.job_message(p_user_id uuid, p_job_id uuid, p_kind text) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.keep_memories(p_user_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.keep_memories(p_user_id uuid) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.keep_projection(p_model_id smallint, p_projection bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.keep_projection(p_model_id smallint, p_projection bytea) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.keep_queue(p_silence interval) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.keep_queue(p_silence interval) TO memsvc_app;

GRANT SELECT,DELETE ON TABLE memsvc.api_keys TO memsvc_eraser;

REVOKE ALL ON FUNCTION memsvc.keys_of_app(p_app_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.keys_of_app(p_app_id uuid) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.kinds_of(p_user_id uuid, p_ids uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.kinds_of(p_user_id uuid, p_ids uuid[]) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.known_model(p_name text) FROM PUBLIC;

REVOKE ALL ON FUNCTION memsvc.known_zone(p_zone text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.known_zone(p_zone text) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.known_zone(p_zone text) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.known_zone(p_zone text) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.labels_of(p_user_id uuid, p_kind text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.labels_of(p_user_id uuid, p_kind text) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.labels_of(p_user_id uuid, p_kind text) TO memsvc_eraser;

REVOKE ALL ON FUNCTION memsvc.last_spoken(p_user_id uuid, p_now timestamp with time zone, p_known_at timestamp with time zone, p_sitting interval) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.last_spoken(p_user_id uuid, p_now timestamp with time zone, p_known_at timestamp with time zone, p_sitting interval) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.last_spoken(p_user_id uuid, p_now timestamp with time zone, p_known_at timestamp with time zone, p_sitting interval) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.last_spoken(p_user_id uuid, p_now timestamp with time zone, p_known_at timestamp with time zone, p_sitting interval) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.late_scores(p_user_id uuid, p_model_id smallint, p_query bit[], p_passages uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.late_scores(p_user_id uuid, p_model_id smallint, p_query bit[], p_passages uuid[]) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.late_scores(p_user_id uuid, p_model_id smallint, p_query bit[], p_passages uuid[]) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.late_scores(p_user_id uuid, p_model_id smallint, p_query bit[], p_passages uuid[]) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.limit_key(p_app_id uuid, p_key_id text, p_requests_per_minute integer, p_messages_per_day integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.limit_key(p_app_id uuid, p_key_id text, p_requests_per_minute integer, p_messages_per_day integer) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.link_evidence(p_user_id uuid, p_actor text, p_at timestamp with time zone, p_steps jsonb, p_plan jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.link_evidence(p_user_id uuid, p_actor text, p_at timestamp with time zone, p_steps jsonb, p_plan jsonb) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.link_passages(p_user_id uuid, p_passages uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.link_passages(p_user_id uuid, p_passages uuid[]) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.link_passages(p_user_id uuid, p_passages uuid[]) TO memsvc_eraser;

REVOKE ALL ON FUNCTION memsvc.links_of(p_user_id uuid, p_kind text, p_version_id uuid, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.links_of(p_user_id uuid, p_kind text, p_version_id uuid, p_known_at timestamp with time zone) TO memsvc_eraser;
GRANT ALL ON FUNCTION memsvc.links_of(p_user_id uuid, p_kind text, p_version_id uuid, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.links_of(p_user_id uuid, p_kind text, p_version_id uuid, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.links_of(p_user_id uuid, p_kind text, p_version_id uuid, p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.live_end() FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.live_end() TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.live_events(p_user_id uuid, p_transaction xid8, p_event uuid, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.live_events(p_user_id uuid, p_transaction xid8, p_event uuid, p_limit integer) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.location_counts(p_location memsvc.locations, p_box double precision[], p_from timestamp with time zone, p_to timestamp with time zone, p_known timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.location_counts(p_location memsvc.locations, p_box double precision[], p_from timestamp with time zone, p_to timestamp with time zone, p_known timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.location_counts(p_location memsvc.locations, p_box double precision[], p_from timestamp with time zone, p_to timestamp with time zone, p_known timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.location_counts(p_location memsvc.locations, p_box double precision[], p_from timestamp with time zone, p_to timestamp with time zone, p_known timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.lock_memories(p_user_id uuid, p_kind text, p_subject_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.lock_memories(p_user_id uuid, p_kind text, p_subject_id uuid) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.lock_projection(p_user_id uuid, p_part text, p_alone boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.lock_projection(p_user_id uuid, p_part text, p_alone boolean) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.lock_projection(p_user_id uuid, p_part text, p_alone boolean) TO memsvc_eraser;

REVOKE ALL ON FUNCTION memsvc.make_model_index(p_model_id smallint, p_dimensions integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION memsvc.match_evidence(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_reach double precision[], p_distances integer[], p_fan_outs integer[], p_moments timestamp with time zone[], p_fact_starts uuid[], p_facts uuid[], p_limit integer, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.match_evidence(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_reach double precision[], p_distances integer[], p_fan_outs integer[], p_moments timestamp with time zone[], p_fact_starts uuid[], p_facts uuid[], p_limit integer, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.match_evidence(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_reach double precision[], p_distances integer[], p_fan_outs integer[], p_moments timestamp with time zone[], p_fact_starts uuid[], p_facts uuid[], p_limit integer, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;

REVOKE ALL ON FUNCTION memsvc.match_fact_times(p_user_id uuid, p_begins timestamp with time zone[], p_ends timestamp with time zone[], p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.match_fact_times(p_user_id uuid, p_begins timestamp with time zone[], p_ends timestamp with time zone[], p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.match_fact_times(p_user_id uuid, p_begins timestamp with time zone[], p_ends timestamp with time zone[], p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.match_fact_times(p_user_id uuid, p_begins timestamp with time zone[], p_ends timestamp with time zone[], p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.match_fact_words(p_user_id uuid, p_query text, p_language text, p_versions uuid[], p_limit integer, p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.match_fact_words(p_user_id uuid, p_query text, p_language text, p_versions uuid[], p_limit integer, p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.match_fact_words(p_user_id uuid, p_query text, p_language text, p_versions uuid[], p_limit integer, p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;

REVOKE ALL ON FUNCTION memsvc.match_facts(p_user_id uuid, p_query text, p_language text, p_nodes uuid[], p_distances integer[], p_limit integer, p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.match_facts(p_user_id uuid, p_query text, p_language text, p_nodes uuid[], p_distances integer[], p_limit integer, p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.match_facts(p_user_id uuid, p_query text, p_language text, p_nodes uuid[], p_distances integer[], p_limit integer, p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.match_facts(p_user_id uuid, p_query text, p_language text, p_nodes uuid[], p_distances integer[], p_limit integer, p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.match_locations(p_user_id uuid, p_latitude double precision, p_longitude double precision, p_radius_m double precision, p_box double precision[], p_types text[], p_merged uuid[], p_fitting uuid[], p_from timestamp with time zone, p_to timestamp with time zone, p_known_at timestamp with time zone, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.match_locations(p_user_id uuid, p_latitude double precision, p_longitude double precision, p_radius_m double precision, p_box double precision[], p_types text[], p_merged uuid[], p_fitting uuid[], p_from timestamp with time zone, p_to timestamp with time zone, p_known_at timestamp with time zone, p_limit integer) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.match_locations(p_user_id uuid, p_latitude double precision, p_longitude double precision, p_radius_m double precision, p_box double precision[], p_types text[], p_merged uuid[], p_fitting uuid[], p_from timestamp with time zone, p_to timestamp with time zone, p_known_at timestamp with time zone, p_limit integer) TO memsvc_reader;

REVOKE ALL ON FUNCTION memsvc.match_mentions(p_user_id uuid, p_nodes uuid[], p_reach double precision[], p_distances integer[], p_limit integer, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.match_mentions(p_user_id uuid, p_nodes uuid[], p_reach double precision[], p_distances integer[], p_limit integer, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.match_mentions(p_user_id uuid, p_nodes uuid[], p_reach double precision[], p_distances integer[], p_limit integer, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.match_mentions(p_user_id uuid, p_nodes uuid[], p_reach double precision[], p_distances integer[], p_limit integer, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.match_times(p_user_id uuid, p_begins timestamp with time zone[], p_ends timestamp with time zone[], p_limit integer, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.match_times(p_user_id uuid, p_begins timestamp with time zone[], p_ends timestamp with time zone[], p_limit integer, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.match_times(p_user_id uuid, p_begins timestamp with time zone[], p_ends timestamp with time zone[], p_limit integer, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.match_times(p_user_id uuid, p_begins timestamp with time zone[], p_ends timestamp with time zone[], p_limit integer, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.match_vectors(p_user_id uuid, p_model_id smallint, p_vector public.halfvec, p_limit integer, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.match_vectors(p_user_id uuid, p_model_id smallint, p_vector public.halfvec, p_limit integer, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.match_vectors(p_user_id uuid, p_model_id smallint, p_vector public.halfvec, p_limit integer, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;

REVOKE ALL ON FUNCTION memsvc.match_words(p_user_id uuid, p_query text, p_limit integer, p_form text, p_language text, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_enough integer, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.match_words(p_user_id uuid, p_query text, p_limit integer, p_form text, p_language text, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_enough integer, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.match_words(p_user_id uuid, p_query text, p_limit integer, p_form text, p_language text, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_enough integer, p_known_at timestamp with time zone) TO memsvc_reader;

REVOKE ALL ON FUNCTION memsvc.memories_shown(p_user_id uuid, p_ids uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.memories_shown(p_user_id uuid, p_ids uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.memories_shown(p_user_id uuid, p_ids uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.memories_shown(p_user_id uuid, p_ids uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.mention_candidates(p_user_id uuid, p_keys integer[], p_kinds text[], p_names text[], p_of_keys integer[], p_of_nodes uuid[], p_near uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.mention_candidates(p_user_id uuid, p_keys integer[], p_kinds text[], p_names text[], p_of_keys integer[], p_of_nodes uuid[], p_near uuid[]) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.mentions(p_user_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.mentions(p_user_id uuid) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.mentions(p_user_id uuid) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.mentions(p_user_id uuid) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.merges_among(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.merges_among(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.merges_among(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.merges_among(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.merges_back(p_user_id uuid, p_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.merges_back(p_user_id uuid, p_at timestamp with time zone) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.tombstone_digest(p_what jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.tombstone_digest(p_what jsonb) TO memsvc_eraser;
GRANT ALL ON FUNCTION memsvc.tombstone_digest(p_what jsonb) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.message_digest(p_source text, p_session text, p_ordinal integer, p_client_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.message_digest(p_source text, p_session text, p_ordinal integer, p_client_id text) TO memsvc_eraser;
GRANT ALL ON FUNCTION memsvc.message_digest(p_source text, p_session text, p_ordinal integer, p_client_id text) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.metres_between(p_latitude double precision, p_longitude double precision, p_other_latitude double precision, p_other_longitude double precision) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.metres_between(p_latitude double precision, p_longitude double precision, p_other_latitude double precision, p_other_longitude double precision) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.metres_between(p_latitude double precision, p_longitude double precision, p_other_latitude double precision, p_other_longitude double precision) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.metres_between(p_latitude double precision, p_longitude double precision, p_other_latitude double precision, p_other_longitude double precision) TO memsvc_recall;

GRANT SELECT,INSERT ON TABLE memsvc.sources TO memsvc_app;
GRANT SELECT ON TABLE memsvc.sources TO memsvc_reader;
GRANT SELECT,DELETE ON TABLE memsvc.sources TO memsvc_eraser;

GRANT UPDATE(identifier) ON TABLE memsvc.sources TO memsvc_eraser;

GRANT UPDATE(title) ON TABLE memsvc.sources TO memsvc_app;
GRANT UPDATE(title) ON TABLE memsvc.sources TO memsvc_eraser;

GRANT UPDATE(status) ON TABLE memsvc.sources TO memsvc_app;

GRANT UPDATE(last_ingested_at) ON TABLE memsvc.sources TO memsvc_app;

GRANT UPDATE(metadata) ON TABLE memsvc.sources TO memsvc_app;
GRANT UPDATE(metadata) ON TABLE memsvc.sources TO memsvc_eraser;

GRANT UPDATE(forget_after) ON TABLE memsvc.sources TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.misfiled_passages(p_user_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.misfiled_passages(p_user_id uuid) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.model_spending(p_since timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.model_spending(p_since timestamp with time zone) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.moment_shown(p_moment timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.moment_shown(p_moment timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.moment_shown(p_moment timestamp with time zone) TO memsvc_eraser;

REVOKE ALL ON FUNCTION memsvc.name_evidence(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.name_evidence(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.name_evidence(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.name_evidence(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.name_grams(p_query text, p_language text, p_first_person boolean, OUT said text, OUT forms text[], OUT places integer[], OUT endings integer[], OUT loose boolean[]) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.name_grams(p_query text, p_language text, p_first_person boolean, OUT said text, OUT forms text[], OUT places integer[], OUT endings integer[], OUT loose boolean[]) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.name_grams(p_query text, p_language text, p_first_person boolean, OUT said text, OUT forms text[], OUT places integer[], OUT endings integer[], OUT loose boolean[]) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.name_grams(p_query text, p_language text, p_first_person boolean, OUT said text, OUT forms text[], OUT places integer[], OUT endings integer[], OUT loose boolean[]) TO memsvc_recall;

GRANT SELECT,INSERT ON TABLE memsvc.nodes TO memsvc_app;
GRANT SELECT ON TABLE memsvc.nodes TO memsvc_reader;
GRANT SELECT,DELETE ON TABLE memsvc.nodes TO memsvc_eraser;

GRANT UPDATE(lockable) ON TABLE memsvc.nodes TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.named_nodes(p_user_id uuid, p_after uuid, p_since timestamp with time zone, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.named_nodes(p_user_id uuid, p_after uuid, p_since timestamp with time zone, p_limit integer) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.names_in_query(p_user_id uuid, p_query text, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_language text, p_first_person boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.names_in_query(p_user_id uuid, p_query text, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_language text, p_first_person boolean) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.names_in_query(p_user_id uuid, p_query text, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_language text, p_first_person boolean) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.names_in_query(p_user_id uuid, p_query text, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_language text, p_first_person boolean) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.names_matching(p_user_id uuid, p_wanted text, p_tier integer, p_type text, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_after_form text, p_after_node uuid, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.names_matching(p_user_id uuid, p_wanted text, p_tier integer, p_type text, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_after_form text, p_after_node uuid, p_limit integer) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.names_matching(p_user_id uuid, p_wanted text, p_tier integer, p_type text, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_after_form text, p_after_node uuid, p_limit integer) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.names_matching(p_user_id uuid, p_wanted text, p_tier integer, p_type text, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_after_form text, p_after_node uuid, p_limit integer) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.names_with_words(p_user_id uuid, p_forms text[], p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.names_with_words(p_user_id uuid, p_forms text[], p_limit integer) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.names_with_words(p_user_id uuid, p_forms text[], p_limit integer) TO memsvc_reader;

REVOKE ALL ON FUNCTION memsvc.pairs_of_signs(p_text text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.pairs_of_signs(p_text text) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.pairs_of_signs(p_text text) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.pairs_of_signs(p_text text) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.plain_words(p_text text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.plain_words(p_text text) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.plain_words(p_text text) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.plain_words(p_text text) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.set_signs_apart(p_text text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.set_signs_apart(p_text text) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.set_signs_apart(p_text text) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.set_signs_apart(p_text text) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.stop_signs() FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.stop_signs() TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.stop_signs() TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.stop_signs() TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.to_words(p_form text, p_language text, p_text text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.to_words(p_form text, p_language text, p_text text) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.to_words(p_form text, p_language text, p_text text) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.to_words(p_form text, p_language text, p_text text) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.naming_words(p_query text, p_language text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.naming_words(p_query text, p_language text) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.naming_words(p_query text, p_language text) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.naming_words(p_query text, p_language text) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.nearby(p_user_id uuid, p_latitude double precision, p_longitude double precision, p_radius_m double precision, p_box double precision[], p_types text[], p_from timestamp with time zone, p_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.nearby(p_user_id uuid, p_latitude double precision, p_longitude double precision, p_radius_m double precision, p_box double precision[], p_types text[], p_from timestamp with time zone, p_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_limit integer) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.nearby(p_user_id uuid, p_latitude double precision, p_longitude double precision, p_radius_m double precision, p_box double precision[], p_types text[], p_from timestamp with time zone, p_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_limit integer) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.nearby(p_user_id uuid, p_latitude double precision, p_longitude double precision, p_radius_m double precision, p_box double precision[], p_types text[], p_from timestamp with time zone, p_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_limit integer) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.neighbourhood(p_user_id uuid, p_nodes uuid[], p_hops integer, p_types text[], p_side text, p_fan_out integer, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.neighbourhood(p_user_id uuid, p_nodes uuid[], p_hops integer, p_types text[], p_side text, p_fan_out integer, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.neighbourhood(p_user_id uuid, p_nodes uuid[], p_hops integer, p_types text[], p_side text, p_fan_out integer, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.neighbourhood(p_user_id uuid, p_nodes uuid[], p_hops integer, p_types text[], p_side text, p_fan_out integer, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.open_edges(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_side text, p_most integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_weight real, p_version uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.open_edges(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_side text, p_most integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_weight real, p_version uuid) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.open_edges(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_side text, p_most integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_weight real, p_version uuid) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.open_edges(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_side text, p_most integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_weight real, p_version uuid) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.open_edges_typed(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_types text[], p_side text, p_most integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_weight real, p_version uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.open_edges_typed(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_types text[], p_side text, p_most integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_weight real, p_version uuid) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.open_edges_typed(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_types text[], p_side text, p_most integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_weight real, p_version uuid) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.open_edges_typed(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_types text[], p_side text, p_most integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_weight real, p_version uuid) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.past_edges(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_types text[], p_side text, p_most integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_weight real, p_version uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.past_edges(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_types text[], p_side text, p_most integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_weight real, p_version uuid) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.past_edges(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_types text[], p_side text, p_most integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_weight real, p_version uuid) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.past_edges(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_types text[], p_side text, p_most integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_weight real, p_version uuid) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.stored_hop(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_types text[], p_side text, p_fan_out integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_weight real, p_version uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.stored_hop(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_types text[], p_side text, p_fan_out integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_weight real, p_version uuid) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.stored_hop(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_types text[], p_side text, p_fan_out integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_weight real, p_version uuid) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.stored_hop(p_user_id uuid, p_starts uuid[], p_nodes uuid[], p_types text[], p_side text, p_fan_out integer, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_weight real, p_version uuid) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.next_circle(p_user_id uuid, p_starts uuid[], p_seen uuid[], p_room integer, p_types text[], p_side text, p_fan_out integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_merged boolean, p_weight real, p_version uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.next_circle(p_user_id uuid, p_starts uuid[], p_seen uuid[], p_room integer, p_types text[], p_side text, p_fan_out integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_merged boolean, p_weight real, p_version uuid) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.next_circle(p_user_id uuid, p_starts uuid[], p_seen uuid[], p_room integer, p_types text[], p_side text, p_fan_out integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_merged boolean, p_weight real, p_version uuid) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.next_circle(p_user_id uuid, p_starts uuid[], p_seen uuid[], p_room integer, p_types text[], p_side text, p_fan_out integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_merged boolean, p_weight real, p_version uuid) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.next_level(p_user_id uuid, p_frontier uuid[], p_seen uuid[], p_types text[], p_side text, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_merged boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.next_level(p_user_id uuid, p_frontier uuid[], p_seen uuid[], p_types text[], p_side text, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_merged boolean) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.next_level(p_user_id uuid, p_frontier uuid[], p_seen uuid[], p_types text[], p_side text, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_merged boolean) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.next_level(p_user_id uuid, p_frontier uuid[], p_seen uuid[], p_types text[], p_side text, p_total integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_merged boolean) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.next_run(p_zone text, p_at time without time zone, p_weekdays smallint[], p_after timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.next_run(p_zone text, p_at time without time zone, p_weekdays smallint[], p_after timestamp with time zone) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.node_cards(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.node_cards(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.node_cards(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.node_cards(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.node_in_focus(p_user_id uuid, p_recall_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.node_in_focus(p_user_id uuid, p_recall_id uuid) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.node_locations(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.node_locations(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.node_locations(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.node_locations(p_user_id uuid, p_nodes uuid[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.nodes_behind(p_user_id uuid, p_passages uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.nodes_behind(p_user_id uuid, p_passages uuid[]) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.nodes_beside(p_user_id uuid, p_nodes uuid[], p_radius_m double precision, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.nodes_beside(p_user_id uuid, p_nodes uuid[], p_radius_m double precision, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.nodes_beside(p_user_id uuid, p_nodes uuid[], p_radius_m double precision, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.nodes_beside(p_user_id uuid, p_nodes uuid[], p_radius_m double precision, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.nodes_called(p_user_id uuid, p_names text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.nodes_called(p_user_id uuid, p_names text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.nodes_called(p_user_id uuid, p_names text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.nodes_called(p_user_id uuid, p_names text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.refused_pairs(p_user_id uuid, p_nodes uuid[], p_others uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.refused_pairs(p_user_id uuid, p_nodes uuid[], p_others uuid[]) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.note_duplicates(p_user_id uuid, p_found jsonb, p_found_by text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.note_duplicates(p_user_id uuid, p_found jsonb, p_found_by text) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.orphans(p_user_id uuid, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.orphans(p_user_id uuid, p_limit integer) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.orphans(p_user_id uuid, p_limit integer) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.orphans(p_user_id uuid, p_limit integer) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.other_counts(p_user_id uuid, p_as_of timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.other_counts(p_user_id uuid, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.other_counts(p_user_id uuid, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.other_counts(p_user_id uuid, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.page_of_edges(p_user_id uuid, p_after_edge uuid, p_after_id uuid, p_limit integer, p_types text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.page_of_edges(p_user_id uuid, p_after_edge uuid, p_after_id uuid, p_limit integer, p_types text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.page_of_edges(p_user_id uuid, p_after_edge uuid, p_after_id uuid, p_limit integer, p_types text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.page_of_edges(p_user_id uuid, p_after_edge uuid, p_after_id uuid, p_limit integer, p_types text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.page_of_nodes(p_user_id uuid, p_after uuid, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.page_of_nodes(p_user_id uuid, p_after uuid, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.page_of_nodes(p_user_id uuid, p_after uuid, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.page_of_nodes(p_user_id uuid, p_after uuid, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.passage_shown(p_passage_id uuid, p_role text, p_speaker text, p_text text, p_caption text, p_said_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.passage_shown(p_passage_id uuid, p_role text, p_speaker text, p_text text, p_caption text, p_said_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.passage_shown(p_passage_id uuid, p_role text, p_speaker text, p_text text, p_caption text, p_said_at timestamp with time zone) TO memsvc_eraser;

REVOKE ALL ON FUNCTION memsvc.passages_near(p_user_id uuid, p_passages uuid[], p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.passages_near(p_user_id uuid, p_passages uuid[], p_limit integer) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.paths(p_user_id uuid, p_from uuid, p_to uuid, p_max_hops integer, p_types text[], p_side text, p_limit integer, p_work integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.paths(p_user_id uuid, p_from uuid, p_to uuid, p_max_hops integer, p_types text[], p_side text, p_limit integer, p_work integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.paths(p_user_id uuid, p_from uuid, p_to uuid, p_max_hops integer, p_types text[], p_side text, p_limit integer, p_work integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.paths(p_user_id uuid, p_from uuid, p_to uuid, p_max_hops integer, p_types text[], p_side text, p_limit integer, p_work integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.paths_through(p_near uuid[], p_far uuid[], p_reached integer, p_left_over integer, p_steps integer[], p_starts uuid[], p_ends uuid[], p_versions uuid[], p_weights real[], p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.paths_through(p_near uuid[], p_far uuid[], p_reached integer, p_left_over integer, p_steps integer[], p_starts uuid[], p_ends uuid[], p_versions uuid[], p_weights real[], p_limit integer) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.paths_through(p_near uuid[], p_far uuid[], p_reached integer, p_left_over integer, p_steps integer[], p_starts uuid[], p_ends uuid[], p_versions uuid[], p_weights real[], p_limit integer) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.paths_through(p_near uuid[], p_far uuid[], p_reached integer, p_left_over integer, p_steps integer[], p_starts uuid[], p_ends uuid[], p_versions uuid[], p_weights real[], p_limit integer) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.pause_model(p_name text, p_paused boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.pause_model(p_name text, p_paused boolean) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.places_by() FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.places_by() TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.places_by() TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.places_by() TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.plan_erasure(p_user_id uuid, p_passages uuid[], p_source_id uuid, p_edges uuid[], p_node_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.plan_erasure(p_user_id uuid, p_passages uuid[], p_source_id uuid, p_edges uuid[], p_node_id uuid) TO memsvc_eraser;
GRANT ALL ON FUNCTION memsvc.plan_erasure(p_user_id uuid, p_passages uuid[], p_source_id uuid, p_edges uuid[], p_node_id uuid) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.plan_history(p_user_id uuid, p_steps jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.plan_history(p_user_id uuid, p_steps jsonb) TO memsvc_app;

GRANT SELECT,INSERT,DELETE ON TABLE memsvc.analysis_results TO memsvc_app;
GRANT SELECT ON TABLE memsvc.analysis_results TO memsvc_reader;
GRANT SELECT,DELETE ON TABLE memsvc.analysis_results TO memsvc_eraser;

GRANT SELECT,INSERT,DELETE ON TABLE memsvc.analysis_runs TO memsvc_app;
GRANT SELECT ON TABLE memsvc.analysis_runs TO memsvc_reader;
GRANT SELECT,DELETE ON TABLE memsvc.analysis_runs TO memsvc_eraser;

GRANT UPDATE(state) ON TABLE memsvc.analysis_runs TO memsvc_app;

GRANT UPDATE(found) ON TABLE memsvc.analysis_runs TO memsvc_app;

GRANT UPDATE(figures) ON TABLE memsvc.analysis_runs TO memsvc_app;

GRANT UPDATE(seconds) ON TABLE memsvc.analysis_runs TO memsvc_app;

GRANT UPDATE(error_code) ON TABLE memsvc.analysis_runs TO memsvc_app;

GRANT UPDATE(finished_at) ON TABLE memsvc.analysis_runs TO memsvc_app;

GRANT SELECT,INSERT ON TABLE memsvc.fact_reviews TO memsvc_app;
GRANT SELECT ON TABLE memsvc.fact_reviews TO memsvc_reader;
GRANT SELECT,DELETE ON TABLE memsvc.fact_reviews TO memsvc_eraser;

GRANT UPDATE(extractor) ON TABLE memsvc.fact_reviews TO memsvc_app;

GRANT UPDATE(state) ON TABLE memsvc.fact_reviews TO memsvc_app;

GRANT UPDATE(reason) ON TABLE memsvc.fact_reviews TO memsvc_app;

GRANT UPDATE(proposal) ON TABLE memsvc.fact_reviews TO memsvc_app;

GRANT UPDATE(span_from) ON TABLE memsvc.fact_reviews TO memsvc_app;

GRANT UPDATE(span_to) ON TABLE memsvc.fact_reviews TO memsvc_app;

GRANT UPDATE(decided_at) ON TABLE memsvc.fact_reviews TO memsvc_app;

GRANT UPDATE(decided_by) ON TABLE memsvc.fact_reviews TO memsvc_app;

GRANT SELECT,INSERT ON TABLE memsvc.memory_signals TO memsvc_app;
GRANT SELECT ON TABLE memsvc.memory_signals TO memsvc_reader;
GRANT SELECT,DELETE ON TABLE memsvc.memory_signals TO memsvc_eraser;

GRANT UPDATE(recalls) ON TABLE memsvc.memory_signals TO memsvc_app;

GRANT UPDATE(last_recalled_at) ON TABLE memsvc.memory_signals TO memsvc_app;

GRANT UPDATE(used) ON TABLE memsvc.memory_signals TO memsvc_app;

GRANT UPDATE(irrelevant) ON TABLE memsvc.memory_signals TO memsvc_app;

GRANT UPDATE(importance) ON TABLE memsvc.memory_signals TO memsvc_app;

GRANT UPDATE(sentiment) ON TABLE memsvc.memory_signals TO memsvc_app;

GRANT UPDATE(pinned) ON TABLE memsvc.memory_signals TO memsvc_app;

GRANT SELECT,INSERT ON TABLE memsvc.terms TO memsvc_app;
GRANT SELECT ON TABLE memsvc.terms TO memsvc_reader;
GRANT SELECT ON TABLE memsvc.terms TO memsvc_recall;
GRANT SELECT,INSERT,DELETE ON TABLE memsvc.terms TO memsvc_eraser;

GRANT UPDATE(passages) ON TABLE memsvc.terms TO memsvc_app;
GRANT UPDATE(passages) ON TABLE memsvc.terms TO memsvc_eraser;

REVOKE ALL ON FUNCTION memsvc.preview_erasure(p_user_id uuid, p_kind text, p_subject_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.preview_erasure(p_user_id uuid, p_kind text, p_subject_id uuid) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.project(p_user_id uuid, p_nodes uuid[], p_closed uuid[], p_opened uuid[], p_before timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.project(p_user_id uuid, p_nodes uuid[], p_closed uuid[], p_opened uuid[], p_before timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.project(p_user_id uuid, p_nodes uuid[], p_closed uuid[], p_opened uuid[], p_before timestamp with time zone) TO memsvc_eraser;

REVOKE ALL ON FUNCTION memsvc.project_change() FROM PUBLIC;

REVOKE ALL ON FUNCTION memsvc.project_more(p_user_id uuid, p_kind text, p_after uuid, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.project_more(p_user_id uuid, p_kind text, p_after uuid, p_limit integer) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.project_passages() FROM PUBLIC;

REVOKE ALL ON FUNCTION memsvc.project_remains() FROM PUBLIC;

REVOKE ALL ON FUNCTION memsvc.projection_wanted(p_user_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.projection_wanted(p_user_id uuid) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.propose_type(p_user_id uuid, p_kind text, p_type jsonb, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.propose_type(p_user_id uuid, p_kind text, p_type jsonb, p_actor text) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.random_memory(p_user_id uuid, p_seed bigint, p_as_of timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.random_memory(p_user_id uuid, p_seed bigint, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.random_memory(p_user_id uuid, p_seed bigint, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.random_memory(p_user_id uuid, p_seed bigint, p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.rebuild_projection(p_user_id uuid, p_part text, p_batch integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.rebuild_projection(p_user_id uuid, p_part text, p_batch integer) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.recall_candidates(p_user_id uuid, p_query text, p_enough integer, p_candidates integer, p_form text, p_language text, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_by_words boolean, p_model_id smallint, p_vector public.halfvec, p_other_model_id smallint, p_other_vector public.halfvec, p_nodes uuid[], p_reach double precision[], p_distances integer[], p_begins timestamp with time zone[], p_ends timestamp with time zone[]) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.recall_candidates(p_user_id uuid, p_query text, p_enough integer, p_candidates integer, p_form text, p_language text, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_by_words boolean, p_model_id smallint, p_vector public.halfvec, p_other_model_id smallint, p_other_vector public.halfvec, p_nodes uuid[], p_reach double precision[], p_distances integer[], p_begins timestamp with time zone[], p_ends timestamp with time zone[]) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.recall_candidates(p_user_id uuid, p_query text, p_enough integer, p_candidates integer, p_form text, p_language text, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_by_words boolean, p_model_id smallint, p_vector public.halfvec, p_other_model_id smallint, p_other_vector public.halfvec, p_nodes uuid[], p_reach double precision[], p_distances integer[], p_begins timestamp with time zone[], p_ends timestamp with time zone[]) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.recall_candidates(p_user_id uuid, p_query text, p_enough integer, p_candidates integer, p_form text, p_language text, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_by_words boolean, p_model_id smallint, p_vector public.halfvec, p_other_model_id smallint, p_other_vector public.halfvec, p_nodes uuid[], p_reach double precision[], p_distances integer[], p_begins timestamp with time zone[], p_ends timestamp with time zone[]) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.recall_strength(p_recalls integer, p_since interval, p_half_life interval) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.recall_strength(p_recalls integer, p_since interval, p_half_life interval) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.recall_strength(p_recalls integer, p_since interval, p_half_life interval) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.recall_strength(p_recalls integer, p_since interval, p_half_life interval) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.recency(p_age interval, p_half_life interval) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.recency(p_age interval, p_half_life interval) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.recency(p_age interval, p_half_life interval) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.recency(p_age interval, p_half_life interval) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.says_i(p_query text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.says_i(p_query text) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.says_i(p_query text) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.says_i(p_query text) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.says_near(p_query text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.says_near(p_query text) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.says_near(p_query text) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.says_near(p_query text) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.speaks_of(p_user_id uuid, p_passage_id uuid, p_nodes uuid[], p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.speaks_of(p_user_id uuid, p_passage_id uuid, p_nodes uuid[], p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.speaks_of(p_user_id uuid, p_passage_id uuid, p_nodes uuid[], p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.speaks_of(p_user_id uuid, p_passage_id uuid, p_nodes uuid[], p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.staleness(p_valid_to timestamp with time zone, p_recorded timestamp with time zone, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.staleness(p_valid_to timestamp with time zone, p_recorded timestamp with time zone, p_now timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.staleness(p_valid_to timestamp with time zone, p_recorded timestamp with time zone, p_now timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.staleness(p_valid_to timestamp with time zone, p_recorded timestamp with time zone, p_now timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.windows_fit(p_moment timestamp with time zone, p_begins timestamp with time zone[], p_ends timestamp with time zone[], p_scale interval) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.windows_fit(p_moment timestamp with time zone, p_begins timestamp with time zone[], p_ends timestamp with time zone[], p_scale interval) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.windows_fit(p_moment timestamp with time zone, p_begins timestamp with time zone[], p_ends timestamp with time zone[], p_scale interval) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.windows_fit(p_moment timestamp with time zone, p_begins timestamp with time zone[], p_ends timestamp with time zone[], p_scale interval) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.time_fit(p_moment timestamp with time zone, p_begins timestamp with time zone[], p_ends timestamp with time zone[], p_scale interval) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.time_fit(p_moment timestamp with time zone, p_begins timestamp with time zone[], p_ends timestamp with time zone[], p_scale interval) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.time_fit(p_moment timestamp with time zone, p_begins timestamp with time zone[], p_ends timestamp with time zone[], p_scale interval) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.time_fit(p_moment timestamp with time zone, p_begins timestamp with time zone[], p_ends timestamp with time zone[], p_scale interval) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.usefulness(p_used integer, p_irrelevant integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.usefulness(p_used integer, p_irrelevant integer) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.usefulness(p_used integer, p_irrelevant integer) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.usefulness(p_used integer, p_irrelevant integer) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.whole_words(p_words text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.whole_words(p_words text[]) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.whole_words(p_words text[]) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.whole_words(p_words text[]) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.words_behind(p_query text, p_form text, p_language text, p_terms text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.words_behind(p_query text, p_form text, p_language text, p_terms text[]) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.words_behind(p_query text, p_form text, p_language text, p_terms text[]) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.words_behind(p_query text, p_form text, p_language text, p_terms text[]) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.z_score(p_value double precision, p_mean double precision, p_spread double precision) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.z_score(p_value double precision, p_mean double precision, p_spread double precision) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.z_score(p_value double precision, p_mean double precision, p_spread double precision) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.z_score(p_value double precision, p_mean double precision, p_spread double precision) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.recall(p_user_id uuid, p_query text, p_limit integer, p_weights jsonb, p_form text, p_language text, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_model_id smallint, p_vector public.halfvec, p_tokens bit[], p_other_model_id smallint, p_other_vector public.halfvec, p_nodes uuid[], p_hops integer, p_begins timestamp with time zone[], p_ends timestamp with time zone[], p_order text, p_facts boolean, p_candidates integer, p_late integer, p_except uuid[], p_near uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.recall(p_user_id uuid, p_query text, p_limit integer, p_weights jsonb, p_form text, p_language text, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_model_id smallint, p_vector public.halfvec, p_tokens bit[], p_other_model_id smallint, p_other_vector public.halfvec, p_nodes uuid[], p_hops integer, p_begins timestamp with time zone[], p_ends timestamp with time zone[], p_order text, p_facts boolean, p_candidates integer, p_late integer, p_except uuid[], p_near uuid[]) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.recall(p_user_id uuid, p_query text, p_limit integer, p_weights jsonb, p_form text, p_language text, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_model_id smallint, p_vector public.halfvec, p_tokens bit[], p_other_model_id smallint, p_other_vector public.halfvec, p_nodes uuid[], p_hops integer, p_begins timestamp with time zone[], p_ends timestamp with time zone[], p_order text, p_facts boolean, p_candidates integer, p_late integer, p_except uuid[], p_near uuid[]) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.recall(p_user_id uuid, p_query text, p_limit integer, p_weights jsonb, p_form text, p_language text, p_kinds text[], p_sources uuid[], p_not_sources uuid[], p_said_from timestamp with time zone, p_said_to timestamp with time zone, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_model_id smallint, p_vector public.halfvec, p_tokens bit[], p_other_model_id smallint, p_other_vector public.halfvec, p_nodes uuid[], p_hops integer, p_begins timestamp with time zone[], p_ends timestamp with time zone[], p_order text, p_facts boolean, p_candidates integer, p_late integer, p_except uuid[], p_near uuid[]) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.refuse_change(p_code text, p_position integer, p_message text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.refuse_change(p_code text, p_position integer, p_message text) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.refuse_undecidable(p_kind text, p_name text, p_status text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.refuse_undecidable(p_kind text, p_name text, p_status text) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.relatives(p_user_id uuid, p_nodes uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.relatives(p_user_id uuid, p_nodes uuid[]) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.relay_messages(p_queue text, p_after uuid, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.relay_messages(p_queue text, p_after uuid, p_limit integer) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.require_identity(p_user_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.require_identity(p_user_id uuid) TO memsvc_eraser;
GRANT ALL ON FUNCTION memsvc.require_identity(p_user_id uuid) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.require_identity(p_user_id uuid) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.require_identity(p_user_id uuid) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.reschedule() FROM PUBLIC;

REVOKE ALL ON FUNCTION memsvc.retire_model(p_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.retire_model(p_name text) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.retire_passages(p_user_id uuid, p_passages uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.retire_passages(p_user_id uuid, p_passages uuid[]) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.retry_failed_jobs(p_user_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.retry_failed_jobs(p_user_id uuid) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.revoke_key(p_app_id uuid, p_key_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.revoke_key(p_app_id uuid, p_key_id text) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.rows_of_user(p_user_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.rows_of_user(p_user_id uuid) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.run_schedule(p_user_id uuid, p_kind text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.run_schedule(p_user_id uuid, p_kind text) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.search_nodes(p_user_id uuid, p_query text, p_type text, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_after_tier integer, p_after_form text, p_after_node uuid, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.search_nodes(p_user_id uuid, p_query text, p_type text, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_after_tier integer, p_after_form text, p_after_node uuid, p_limit integer) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.search_nodes(p_user_id uuid, p_query text, p_type text, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_after_tier integer, p_after_form text, p_after_node uuid, p_limit integer) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.search_nodes(p_user_id uuid, p_query text, p_type text, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_after_tier integer, p_after_form text, p_after_node uuid, p_limit integer) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.searched_text(p_speaker text, p_text text, p_caption text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.searched_text(p_speaker text, p_text text, p_caption text) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.searched_text(p_speaker text, p_text text, p_caption text) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.searched_text(p_speaker text, p_text text, p_caption text) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.seed_schedules(p_user_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.seed_schedules(p_user_id uuid) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.seeded(p_seed bigint, p_word text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.seeded(p_seed bigint, p_word text) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.seeded(p_seed bigint, p_word text) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.seeded(p_seed bigint, p_word text) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.send_job() FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.send_job() TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.similar_names(p_user_id uuid, p_forms text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.similar_names(p_user_id uuid, p_forms text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.similar_names(p_user_id uuid, p_forms text[], p_as_of timestamp with time zone, p_known_at timestamp with time zone) TO memsvc_reader;

REVOKE ALL ON FUNCTION memsvc.spoken_for(p_user_id uuid, p_passages uuid[], p_source_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.spoken_for(p_user_id uuid, p_passages uuid[], p_source_id uuid) TO memsvc_eraser;
GRANT ALL ON FUNCTION memsvc.spoken_for(p_user_id uuid, p_passages uuid[], p_source_id uuid) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.standing_for(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.standing_for(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.standing_for(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.standing_for(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.standing_instructions(p_user_id uuid, p_now timestamp with time zone, p_known_at timestamp with time zone, p_core boolean, p_categories text[], p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.standing_instructions(p_user_id uuid, p_now timestamp with time zone, p_known_at timestamp with time zone, p_core boolean, p_categories text[], p_limit integer) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.standing_instructions(p_user_id uuid, p_now timestamp with time zone, p_known_at timestamp with time zone, p_core boolean, p_categories text[], p_limit integer) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.standing_instructions(p_user_id uuid, p_now timestamp with time zone, p_known_at timestamp with time zone, p_core boolean, p_categories text[], p_limit integer) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.store_edges(p_user_id uuid, p_versions uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.store_edges(p_user_id uuid, p_versions uuid[]) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.store_edges(p_user_id uuid, p_versions uuid[]) TO memsvc_eraser;

REVOKE ALL ON FUNCTION memsvc.store_embeddings(p_user_id uuid, p_model_id smallint, p_passage_ids uuid[], p_vectors text[], p_tokens text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.store_embeddings(p_user_id uuid, p_model_id smallint, p_passage_ids uuid[], p_vectors text[], p_tokens text[]) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.store_passages(p_user_id uuid, p_passages uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.store_passages(p_user_id uuid, p_passages uuid[]) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.store_passages(p_user_id uuid, p_passages uuid[]) TO memsvc_eraser;

REVOKE ALL ON FUNCTION memsvc.store_vertices(p_user_id uuid, p_nodes uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.store_vertices(p_user_id uuid, p_nodes uuid[]) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.store_vertices(p_user_id uuid, p_nodes uuid[]) TO memsvc_eraser;

REVOKE ALL ON FUNCTION memsvc.stored_nodes(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone, OUT starts uuid[], OUT nodes uuid[], OUT merged boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.stored_nodes(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone, OUT starts uuid[], OUT nodes uuid[], OUT merged boolean) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.stored_nodes(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone, OUT starts uuid[], OUT nodes uuid[], OUT merged boolean) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.stored_nodes(p_user_id uuid, p_nodes uuid[], p_known_at timestamp with time zone, OUT starts uuid[], OUT nodes uuid[], OUT merged boolean) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.switch_model(p_name text, p_now boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.switch_model(p_name text, p_now boolean) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.tokens_spent(p_since timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.tokens_spent(p_since timestamp with time zone) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.top_of_mind(p_user_id uuid, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_kinds text[], p_facts boolean, p_half_life interval) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.top_of_mind(p_user_id uuid, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_kinds text[], p_facts boolean, p_half_life interval) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.top_of_mind(p_user_id uuid, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_kinds text[], p_facts boolean, p_half_life interval) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.top_of_mind(p_user_id uuid, p_limit integer, p_as_of timestamp with time zone, p_known_at timestamp with time zone, p_kinds text[], p_facts boolean, p_half_life interval) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.try_append_recall(p_user_id uuid, p_recall_id uuid, p_door text, p_mode text, p_memories uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.try_append_recall(p_user_id uuid, p_recall_id uuid, p_door text, p_mode text, p_memories uuid[]) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.types_now(p_user_id uuid, p_nodes uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.types_now(p_user_id uuid, p_nodes uuid[]) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.undo_change(p_user_id uuid, p_actor text, p_change_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.undo_change(p_user_id uuid, p_actor text, p_change_id uuid) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.unembedded(p_user_id uuid, p_model_id smallint, p_source_id uuid, p_before uuid, p_limit integer, p_tokens boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.unembedded(p_user_id uuid, p_model_id smallint, p_source_id uuid, p_before uuid, p_limit integer, p_tokens boolean) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.unknown_nodes(p_user_id uuid, p_nodes uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.unknown_nodes(p_user_id uuid, p_nodes uuid[]) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.unknown_nodes(p_user_id uuid, p_nodes uuid[]) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.unknown_nodes(p_user_id uuid, p_nodes uuid[]) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.user_erasure(p_app_id uuid, p_user_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.user_erasure(p_app_id uuid, p_user_id uuid) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.user_is_here(p_user_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.user_is_here(p_user_id uuid) TO memsvc_cypher;
GRANT ALL ON FUNCTION memsvc.user_is_here(p_user_id uuid) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.user_tables() FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.user_tables() TO memsvc_eraser;

REVOKE ALL ON FUNCTION memsvc.users_erasing(p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.users_erasing(p_limit integer) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.users_lacking(p_model_id smallint) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.users_lacking(p_model_id smallint) TO memsvc_owner;

REVOKE ALL ON FUNCTION memsvc.users_lacking_tokens(p_model_id smallint) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.users_lacking_tokens(p_model_id smallint) TO memsvc_owner;

REVOKE ALL ON FUNCTION memsvc.users_of_app(p_app_id uuid, p_ref text, p_after uuid, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.users_of_app(p_app_id uuid, p_ref text, p_after uuid, p_limit integer) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.users_with_failed_jobs() FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.users_with_failed_jobs() TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.users_with_news(p_users uuid[], p_transactions xid8[], p_events uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.users_with_news(p_users uuid[], p_transactions xid8[], p_events uuid[]) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.vectors_behind(p_model_id smallint, p_ahead_id smallint) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.vectors_behind(p_model_id smallint, p_ahead_id smallint) TO memsvc_owner;

REVOKE ALL ON FUNCTION memsvc.verify_erasure(p_user_id uuid, p_erasure_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.verify_erasure(p_user_id uuid, p_erasure_id uuid) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.version_of(p_user_id uuid, p_version_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.version_of(p_user_id uuid, p_version_id uuid) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.version_shown(p_user_id uuid, p_kind text, p_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.version_shown(p_user_id uuid, p_kind text, p_id uuid) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.version_shown(p_user_id uuid, p_kind text, p_id uuid) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.version_shown(p_user_id uuid, p_kind text, p_id uuid) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.vertices_of(p_user_id uuid, p_nodes uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.vertices_of(p_user_id uuid, p_nodes uuid[]) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.vertices_of(p_user_id uuid, p_nodes uuid[]) TO memsvc_eraser;

REVOKE ALL ON FUNCTION memsvc.vertices_wanted(p_user_id uuid, p_nodes uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.vertices_wanted(p_user_id uuid, p_nodes uuid[]) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.vertices_wanted(p_user_id uuid, p_nodes uuid[]) TO memsvc_eraser;

REVOKE ALL ON FUNCTION memsvc.weighted_pairs(p_user_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.weighted_pairs(p_user_id uuid) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.weighted_pairs(p_user_id uuid) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.weighted_pairs(p_user_id uuid) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.with_same(p_starts uuid[], p_nodes uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.with_same(p_starts uuid[], p_nodes uuid[]) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.with_same(p_starts uuid[], p_nodes uuid[]) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.with_same(p_starts uuid[], p_nodes uuid[]) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.withdraw_type(p_user_id uuid, p_kind text, p_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.withdraw_type(p_user_id uuid, p_kind text, p_name text) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.word_count(p_words tsvector) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.word_count(p_words tsvector) TO memsvc_app;
GRANT ALL ON FUNCTION memsvc.word_count(p_words tsvector) TO memsvc_reader;
GRANT ALL ON FUNCTION memsvc.word_count(p_words tsvector) TO memsvc_recall;

REVOKE ALL ON FUNCTION memsvc.word_runs(p_text text) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.word_runs(p_text text) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.work_errors() FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.work_errors() TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.write_history(p_user_id uuid, p_actor text, p_operations jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.write_history(p_user_id uuid, p_actor text, p_operations jsonb) TO memsvc_app;

REVOKE ALL ON FUNCTION memsvc.write_versions(p_user_id uuid, p_actor text, p_at timestamp with time zone, p_plan jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION memsvc.write_versions(p_user_id uuid, p_actor text, p_at timestamp with time zone, p_plan jsonb) TO memsvc_app;

GRANT SELECT,INSERT,DELETE ON TABLE memsvc.answered_requests TO memsvc_app;
GRANT SELECT ON TABLE memsvc.answered_requests TO memsvc_reader;
GRANT SELECT,DELETE ON TABLE memsvc.answered_requests TO memsvc_eraser;

GRANT SELECT ON TABLE memsvc.applied_sql TO memsvc_app;

GRANT SELECT ON TABLE memsvc.canonical_nodes TO memsvc_app;
GRANT SELECT ON TABLE memsvc.canonical_nodes TO memsvc_reader;

GRANT SELECT ON TABLE memsvc.conversations TO memsvc_app;
GRANT SELECT ON TABLE memsvc.conversations TO memsvc_reader;

GRANT SELECT ON TABLE memsvc.daily_activity TO memsvc_app;
GRANT SELECT ON TABLE memsvc.daily_activity TO memsvc_reader;

GRANT SELECT,INSERT ON TABLE memsvc.extractions TO memsvc_app;
GRANT SELECT ON TABLE memsvc.extractions TO memsvc_reader;
GRANT SELECT,DELETE ON TABLE memsvc.extractions TO memsvc_eraser;

GRANT UPDATE(backend) ON TABLE memsvc.extractions TO memsvc_app;

GRANT UPDATE(upto) ON TABLE memsvc.extractions TO memsvc_app;
GRANT UPDATE(upto) ON TABLE memsvc.extractions TO memsvc_eraser;

GRANT UPDATE(turns) ON TABLE memsvc.extractions TO memsvc_app;

GRANT UPDATE(facts) ON TABLE memsvc.extractions TO memsvc_app;

GRANT UPDATE(refused) ON TABLE memsvc.extractions TO memsvc_app;

GRANT UPDATE(asked) ON TABLE memsvc.extractions TO memsvc_app;

GRANT UPDATE(last_at) ON TABLE memsvc.extractions TO memsvc_app;

GRANT UPDATE(passed_over) ON TABLE memsvc.extractions TO memsvc_app;
GRANT UPDATE(passed_over) ON TABLE memsvc.extractions TO memsvc_eraser;

GRANT SELECT ON TABLE memsvc.nodes_current TO memsvc_app;
GRANT SELECT ON TABLE memsvc.nodes_current TO memsvc_reader;

GRANT SELECT ON TABLE memsvc.node_labels TO memsvc_app;
GRANT SELECT ON TABLE memsvc.node_labels TO memsvc_reader;

GRANT SELECT ON TABLE memsvc.facts_current TO memsvc_app;
GRANT SELECT ON TABLE memsvc.facts_current TO memsvc_reader;

GRANT SELECT ON TABLE memsvc.facts_history TO memsvc_app;
GRANT SELECT ON TABLE memsvc.facts_history TO memsvc_reader;

GRANT SELECT ON TABLE memsvc.messages TO memsvc_app;
GRANT SELECT ON TABLE memsvc.messages TO memsvc_reader;

GRANT SELECT,INSERT ON TABLE memsvc.outbox TO memsvc_app;
GRANT SELECT ON TABLE memsvc.outbox TO memsvc_reader;
GRANT SELECT,DELETE ON TABLE memsvc.outbox TO memsvc_eraser;

GRANT SELECT ON TABLE memsvc.people TO memsvc_app;
GRANT SELECT ON TABLE memsvc.people TO memsvc_reader;

GRANT SELECT,INSERT,DELETE ON TABLE memsvc.recall_events TO memsvc_app;
GRANT SELECT ON TABLE memsvc.recall_events TO memsvc_reader;
GRANT SELECT,DELETE ON TABLE memsvc.recall_events TO memsvc_eraser;

GRANT UPDATE(memories) ON TABLE memsvc.recall_events TO memsvc_eraser;

GRANT UPDATE(verdicts) ON TABLE memsvc.recall_events TO memsvc_app;

GRANT UPDATE(folded_at) ON TABLE memsvc.recall_events TO memsvc_app;

GRANT SELECT ON TABLE memsvc.schema_version TO memsvc_app;

GRANT SELECT,INSERT,DELETE ON TABLE memsvc.sleep_runs TO memsvc_app;
GRANT SELECT ON TABLE memsvc.sleep_runs TO memsvc_reader;
GRANT SELECT,DELETE ON TABLE memsvc.sleep_runs TO memsvc_eraser;

GRANT UPDATE(state) ON TABLE memsvc.sleep_runs TO memsvc_app;

GRANT UPDATE(place) ON TABLE memsvc.sleep_runs TO memsvc_app;

GRANT UPDATE(examined) ON TABLE memsvc.sleep_runs TO memsvc_app;

GRANT UPDATE(applied) ON TABLE memsvc.sleep_runs TO memsvc_app;

GRANT UPDATE(proposed) ON TABLE memsvc.sleep_runs TO memsvc_app;

GRANT UPDATE(seconds) ON TABLE memsvc.sleep_runs TO memsvc_app;

GRANT UPDATE(within_budget) ON TABLE memsvc.sleep_runs TO memsvc_app;

GRANT UPDATE(error_code) ON TABLE memsvc.sleep_runs TO memsvc_app;

GRANT UPDATE(finished_at) ON TABLE memsvc.sleep_runs TO memsvc_app;

GRANT SELECT ON TABLE memsvc.sources_status TO memsvc_app;
GRANT SELECT ON TABLE memsvc.sources_status TO memsvc_reader;

GRANT SELECT ON TABLE memsvc.timeline TO memsvc_app;
GRANT SELECT ON TABLE memsvc.timeline TO memsvc_reader;

GRANT SELECT,INSERT ON TABLE memsvc.tombstones TO memsvc_app;
GRANT SELECT,INSERT,DELETE ON TABLE memsvc.tombstones TO memsvc_eraser;

GRANT UPDATE(recorded_at) ON TABLE memsvc.tombstones TO memsvc_eraser;

GRANT SELECT,INSERT,DELETE ON TABLE memsvc.used_tickets TO memsvc_app;
GRANT SELECT ON TABLE memsvc.used_tickets TO memsvc_reader;
GRANT SELECT,DELETE ON TABLE memsvc.used_tickets TO memsvc_eraser;
