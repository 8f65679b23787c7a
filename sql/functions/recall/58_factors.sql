-- What counts in recall's order: factors, their weights, and how values of different kinds are made comparable.

-- How many standard deviations a value lies above the mean; 0 where all are alike, or there is no value. The spread of
-- what is all alike may be what rounding left of it.
CREATE OR REPLACE FUNCTION memsvc.z_score(p_value double precision, p_mean double precision, p_spread double precision)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN coalesce((p_value - p_mean) / CASE WHEN p_spread > 1e-9 THEN p_spread END, 0);
COMMENT ON FUNCTION memsvc.z_score(double precision, double precision, double precision) IS
  'How many standard deviations a value lies above the mean; 0 where all are alike or there is none.';

-- The factors of recall's order, in the order in which memsvc.recall lists their values, and what each weighs where
-- nobody says otherwise: the linear order. The API sends what was learnt instead (memsvc/recall/order.json,
-- docs/adr/0039-learnt-order.md); memsvc/recall/options.py says what each factor means.
CREATE OR REPLACE FUNCTION memsvc.factors() RETURNS TABLE (nth bigint, name text, weight double precision)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 25
-- callers: app, reader, recall
BEGIN ATOMIC
  SELECT row_number() OVER (), f.*
  FROM (
    VALUES
    ('words', 0.5), ('nearby', 0.15), ('session', 0.25), ('vector', 0.4), ('nearby_vector', 0.3),
    ('session_vector', 0.2), ('late', 0.6), ('session_late', 0.15), ('length', 0), ('asks', -0.4), ('answers', 0.3),
    ('speaker', 1.3), ('time', 2), ('names', 0.5), ('distance', 0.25), ('place', 2), ('order', 0), ('recency', 0),
    ('kind', 0.4), ('staleness', 0.5), ('importance', 0), ('strength', 0), ('familiarity', 0), ('usefulness', 0.3),
    ('sentiment', 0)
  ) AS f (name, weight);
END;
COMMENT ON FUNCTION memsvc.factors() IS 'The factors of recall''s order, with the weights that they have by default.';

-- Weights as they came, once it is sure that memsvc.weights_of can use all of them; else an error that names the factor.
-- One path over the value: in lax mode a number counts as a list of itself.
CREATE OR REPLACE FUNCTION memsvc.checked_weights(p_weights jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
-- callers: app, reader, recall
AS $$
DECLARE
  known CONSTANT text[] := ARRAY(SELECT f.name FROM memsvc.factors() AS f ORDER BY f.nth);
  numbers CONSTANT integer := 1 + cardinality(memsvc.trait_names());
  wrong text;
BEGIN
  IF jsonb_typeof(p_weights) IS DISTINCT FROM 'object' THEN
    RAISE EXCEPTION 'The weights of recall are not a JSON object.'
      USING ERRCODE = 'invalid_parameter_value', HINT = 'Write one, such as {"recency": 0.5}.';
  END IF;
  wrong := (SELECT k.name FROM jsonb_object_keys(p_weights - known) AS k (name) ORDER BY k.name LIMIT 1);
  IF wrong IS NOT NULL THEN
    RAISE EXCEPTION 'Recall has no factor %.', quote_literal(left(wrong, 60))
      USING ERRCODE = 'invalid_parameter_value', HINT = format('One of: %s.', array_to_string(known, ', '));
  END IF;
  wrong := jsonb_path_query_first(
    p_weights,
    '$.keyvalue() ? (@.value.size() < 1 || @.value.size() > $numbers
      || exists(@.value[*].type() ? (@ != "number")) || exists(@.value[*] ? (@ < -100 || @ > 100))).key',
    jsonb_build_object('numbers', numbers)
  ) #>> '{}';
  IF wrong IS NOT NULL THEN
    RAISE EXCEPTION 'The weight of % is not a number from -100 to 100.', wrong
      USING ERRCODE = 'invalid_parameter_value',
      HINT = format('Or a list: what it weighs, and what each of the traits adds: %s.', memsvc.trait_names());
  END IF;
  RETURN p_weights;
END
$$;
COMMENT ON FUNCTION memsvc.checked_weights(jsonb) IS
  'Weights of recall, once it is sure that each is a number of a factor that there is.';

-- The weight of each factor for one query, in the order of memsvc.factors. p_weights: by name, a number, or a list:
-- what it weighs, and what is added to that for each trait of the query that holds (p_traits, from 0 to 1).
CREATE OR REPLACE FUNCTION memsvc.weights_of(p_weights jsonb, p_traits double precision[]) RETURNS double precision[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
BEGIN ATOMIC
  SELECT array_agg(CASE jsonb_typeof(p_weights -> f.name)
      WHEN 'number' THEN (p_weights ->> f.name)::double precision
      WHEN 'array' THEN (
        SELECT sum(a.value::double precision * (1::double precision || p_traits)[a.nth])
        FROM jsonb_array_elements_text(p_weights -> f.name) WITH ORDINALITY AS a (value, nth)
        WHERE a.nth <= 1 + cardinality(p_traits)
      )
      ELSE f.weight
    END ORDER BY f.nth)
  FROM memsvc.factors() AS f;
END;
COMMENT ON FUNCTION memsvc.weights_of(jsonb, double precision[]) IS
  'The weight of each factor for a query, as a caller gives them or by default.';

-- Whether words count for anything by these weights; where they do not, nothing is looked for by words.
CREATE OR REPLACE FUNCTION memsvc.by_words(p_weights jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN NOT p_weights @> '{"words": 0, "nearby": 0, "session": 0}';
COMMENT ON FUNCTION memsvc.by_words(jsonb) IS 'Whether words count for anything by these weights.';

-- Traits of a query that move weights (memsvc/recall/order.py has the same names): its candidates stand alone (memories
-- of one message each, not conversations), it is long (a dialogue or a document, not a question), nothing is compared
-- by meaning, the candidates are wordy (paragraphs, not turns).
CREATE OR REPLACE FUNCTION memsvc.trait_names() RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN '{apart,long,plain,wordy}'::text[];
COMMENT ON FUNCTION memsvc.trait_names() IS 'Traits of a query that move the weights of factors.';

-- By messages and blocks: what is known about nodes says nothing of that.
CREATE OR REPLACE FUNCTION memsvc.traits_of(p_memories memsvc.memory[], p_query text) RETURNS double precision[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
BEGIN ATOMIC
  SELECT ARRAY[
    (sum(s.passages) < 1.5 * count(*) OR count(*) = 0)::integer,
    (length(p_query) > 200)::integer,
    (coalesce(sum(s.compared), 0) = 0)::integer,
    coalesce(sum(s.words) > 40 * sum(s.passages), false)::integer
  ]
  FROM (
    SELECT count(*) AS passages, count(coalesce(m.similarity, m.other_similarity)) AS compared, sum(m.length) AS words
    FROM unnest(p_memories) AS m
    WHERE m.kind = 'passage'
    GROUP BY m.source_id, m.session
  ) AS s;
END;
COMMENT ON FUNCTION memsvc.traits_of(memsvc.memory[], text) IS
  'The traits of a query by its candidates, in the order of memsvc.trait_names, 0 or 1.';
