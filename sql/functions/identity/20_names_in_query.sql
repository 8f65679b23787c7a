-- Finds names in a query, and the nodes that have them.

-- Possible names in a query: its runs of 1 to 6 words (1 to 8 Chinese or Japanese signs or Korean syllables, because
-- such text has no spaces between words). Punctuation inside a run counts; around it, the run is returned with and
-- without it ("C++", "C"). A possessive 's is a word of its own, so runs without it exist. said: the query to which the
-- offsets refer; forms: normal forms; places: offsets of the first characters, from 1; endings: offsets after the last
-- ones. loose: may be compared by trigrams; this needs a word of 4 letters or more, and the run must be a complete run
-- of up to three capitalised words (the first word of the query may have its capital only because it is first, so the
-- run after it counts too), or a single word of 5 letters or more if no later word has a capital. Stop words split
-- runs. Left out: stop words alone (except capitalised ones after the first word: "Will"), and single signs next to
-- other signs. Words by which people refer to themselves ("eu", not "EU") are left out too, or become the form "i"
-- (p_first_person). Of a query that is a whole document only the first 64 words or signs count.
CREATE OR REPLACE FUNCTION memsvc.name_grams(
  p_query text, p_language text, p_first_person boolean, OUT said text, OUT forms text[], OUT places integer[],
  OUT endings integer[], OUT loose boolean[]
) RETURNS record
LANGUAGE plpgsql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: kept
AS $$
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
  -- chr(1) and chr(2) separate words and gaps while the whole text is converted to its normal form in one call.
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
      w.word <> lower(w.word) AS capital, f.form = ANY (memsvc.first_person_words()) AND w.word <> 'EU' AS self
    FROM unnest(words, gaps, parts) WITH ORDINALITY AS w (word, gap, part, nth)
    CROSS JOIN LATERAL (SELECT split_part(w.part, chr(2), 1) AS form) AS f
  ),
  located AS MATERIALIZED (
    SELECT i.*, 1 + length(opening) + coalesce(sum(length(i.word || i.gap)) OVER before, 0)::integer AS place,
      1 + coalesce(sum(length(i.form || i.form_gap)) OVER before, 0)::integer AS form_place,
      coalesce(lag(i.gap) OVER before, opening) AS gap_before, substring(i.form_gap FROM '^\S+') AS tail,
      substring(i.form_gap FROM '^(\S*?[^\s.,;:!?)"''])[.,;:!?)"'']+(?=\s|$)') AS short_tail,
      substring(coalesce(lag(i.form_gap) OVER before, opening) FROM '\S+$') AS head,
      coalesce(lag(i.sign) OVER before, false) AS sign_before,
      coalesce(lead(i.sign) OVER before, false) AS sign_after,
      i.capital AND NOT i.stops AS proper,
      coalesce(lag(i.capital AND NOT i.stops AND i.gap ~ '^[\s''.-]+$') OVER before, false) AS proper_before,
      coalesce(lead(i.capital AND NOT i.stops) OVER before, false) AND i.gap ~ '^[\s''.-]+$' AS proper_after,
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
          AND NOT z.proper_after
          AND z.nth - a.nth < 3 AND z.propers - a.propers = z.nth - a.nth
        ELSE a.nth = z.nth AND NOT a.stops AND length(a.form) >= 5
      END AND NOT a.sign AS whole
    FROM located AS a
    INNER JOIN located AS z ON z.nth BETWEEN a.nth AND a.nth + CASE WHEN a.sign THEN 7 ELSE 5 END
    CROSS JOIN query AS q
    WHERE a.nth < z.nth OR CASE WHEN a.self THEN p_first_person ELSE
      (NOT a.stops OR (a.nth > 1 AND a.capital))
      AND NOT (a.sign AND ((a.sign_before AND a.gap_before = '') OR (a.sign_after AND a.gap = '')))
    END
  )
  SELECT array_agg(v.form), array_agg(v.place), array_agg(v.ending), array_agg(v.loose)
  INTO forms, places, endings, loose
  FROM (
    SELECT CASE WHEN g.self THEN 'i' ELSE g.form END AS form, g.place, g.ending,
      NOT g.self AND g.whole AND g.form ~ '[^\W\d_]{4}' AND g.form !~ '[,;:!?()"]' AS loose
    FROM gram AS g
    UNION ALL
    -- With the adjacent punctuation: "C++", ".NET".
    SELECT g.form || t.tail, g.place, g.ending + length(t.tail), false
    FROM gram AS g CROSS JOIN LATERAL (VALUES (g.tail), (g.short_tail)) AS t (tail)
    WHERE t.tail IS NOT NULL AND NOT g.self
    UNION ALL
    SELECT g.head || g.form, g.place - length(g.head), g.ending, false FROM gram AS g
    WHERE g.head IS NOT NULL AND NOT g.self
  ) AS v;
END
$$;
COMMENT ON FUNCTION memsvc.name_grams(text, text, boolean) IS 'Possible names in a query.';

-- Words by which people refer to themselves.
CREATE OR REPLACE FUNCTION memsvc.first_person_words() RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN ARRAY[
  'i', 'me', 'my', 'mine', 'myself', 'ich', 'mich', 'mir', 'mein', 'meine', 'meinen', 'meinem', 'meiner', 'je', 'moi',
  'yo', 'eu', 'meu', 'minha', '我', '私', '僕', '俺'
];
COMMENT ON FUNCTION memsvc.first_person_words() IS
  'Words by which people refer to themselves, in their normal form; none that is a common name, like Mia.';

-- Stored nodes that have one of these labels or names (in normal form) at a valid time (null: now), as known at a time.
CREATE OR REPLACE FUNCTION memsvc.forms_called(
  p_user_id uuid, p_forms text[], p_as_of timestamptz, p_known_at timestamptz
) RETURNS TABLE (form text, node_id uuid)
LANGUAGE plpgsql STABLE ROWS 10
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-sort, no-bitmap
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
COMMENT ON FUNCTION memsvc.forms_called(uuid, text[], timestamptz, timestamptz) IS
  'Stored nodes that have one of these labels or names.';

-- Names in a query and the nodes that have them, merges resolved; several nodes for an ambiguous name. Labels and names
-- that are equal (in normal form) have priority, longer ones first: a name inside a longer one does not count. In the
-- rest of the query, runs of words that are similar to a name (similar_names) count, the most similar first.
-- similarity: 1 for equal names. place: offset of the first character in the query, from 1. label and type: of the
-- canonical node, as in node_cards. A node with two names in the query is returned twice, one named twice in the same
-- way once. For a user without nodes but the own one, little work is done. p_language: its stop words alone are not
-- names. p_first_person: words like "me" and "my" are names of the user's own node, which has the name "I".
CREATE OR REPLACE FUNCTION memsvc.names_in_query(
  p_user_id uuid, p_query text, p_as_of timestamptz DEFAULT NULL, p_known_at timestamptz DEFAULT NULL,
  p_language text DEFAULT 'english', p_first_person boolean DEFAULT false
) RETURNS TABLE (name text, node_id uuid, label text, type text, similarity double precision, place integer)
LANGUAGE plpgsql STABLE ROWS 5
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
AS $$
#variable_conflict use_column
DECLARE
  most_loose CONSTANT integer := 2;
  moment CONSTANT timestamptz := coalesce(p_as_of, clock_timestamp());
  gram record;
  exact record; -- runs that are equal to a name
  free record; -- runs outside of these that may be compared by trigrams
  alike uuid[]; -- nodes with a similar name, and their values in the following arrays
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
  matched AS (
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
    SELECT DISTINCT ON (m.form, c.canonical_id) substr(gram.said, m.place, m.ending - m.place) AS name,
      c.canonical_id, c.label, c.type, m.similarity, m.place
    FROM matched AS m
    INNER JOIN memsvc.node_cards(p_user_id, called_so, p_as_of, p_known_at) AS c ON c.node_id = m.node_id
    ORDER BY m.form, c.canonical_id, m.similarity DESC, m.place
  ) AS b
  ORDER BY b.place, b.similarity DESC, b.label, b.canonical_id;
END
$$;
COMMENT ON FUNCTION memsvc.names_in_query(uuid, text, timestamptz, timestamptz, text, boolean) IS
  'Names in a query and the nodes that have them, merges resolved.';
