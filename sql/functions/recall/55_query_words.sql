-- The words of a query behind the lexemes that matched, for people: {"move": "moved", …}. A pair of signs stands for
-- itself, also where a Korean word makes the same pair. Long queries keep the lexemes.
CREATE OR REPLACE FUNCTION memsvc.words_behind(p_query text, p_form text, p_language text, p_terms text[])
RETURNS text[]
LANGUAGE sql STABLE
-- callers: app, reader, recall
RETURN CASE WHEN length(p_query) > 2000 THEN p_terms ELSE ARRAY(
  SELECT coalesce((array_agg(t.token ORDER BY t.token <> wanted.term, t.place))[1], wanted.term)
  FROM unnest(p_terms) WITH ORDINALITY AS wanted (term, rank)
  LEFT JOIN (
    SELECT s.token, s.place, w.term
    FROM ts_parse('default', memsvc.set_signs_apart(p_query)) WITH ORDINALITY AS s (type, token, place)
    CROSS JOIN LATERAL unnest(tsvector_to_array(memsvc.to_words(p_form, p_language, s.token))) AS w (term)
    WHERE btrim(s.token) <> ''
  ) AS t ON t.term = wanted.term
  GROUP BY wanted.rank, wanted.term
  ORDER BY wanted.rank
) END;
COMMENT ON FUNCTION memsvc.words_behind(text, text, text, text[]) IS
  'The words of a query that stand behind matched lexemes.';
