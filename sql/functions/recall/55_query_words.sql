-- The words of a query: whom they name, whether they say "I", and how they read for people.

-- A text's words in small letters, for names: without signs.
CREATE OR REPLACE FUNCTION memsvc.plain_words(p_text text) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN array_remove(regexp_split_to_array(lower(p_text), '[^[:alnum:]]+'), '');
COMMENT ON FUNCTION memsvc.plain_words(text) IS 'A text''s words in small letters, without signs.';

-- Whether a query speaks of the one who asks; in a conversation with an assistant that is the user. Not by "US" or "EU"
-- in capitals, nor by signs inside words that mean something else: 私 and 僕 are "I" in Japanese alone, which has kana
-- (in Chinese 私 is "private"), and there not before another sign (私立) or behind 公; 自我 is the self, 我国 a country.
CREATE OR REPLACE FUNCTION memsvc.says_i(p_query text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN p_query ~ '俺|(?<!自)我(?![国國])'
  OR p_query ~ '[ぁ-ヶ]' AND p_query ~ '(?<!公)[私僕](?![\u4E00-\u9FFF])|[私僕][達等]|私自身'
  OR memsvc.plain_words(regexp_replace(p_query, '\m(US|EU)\M', '', 'g')) && (memsvc.first_person_words() || ARRAY[
    'we', 'us', 'our', 'ours', 'wir', 'uns', 'unser', 'unsere', 'mon', 'mes', 'nous', 'mis', 'nosotros'
  ]);
COMMENT ON FUNCTION memsvc.says_i(text) IS 'Whether a query speaks of the one who asks.';

-- The words of a query by which it can name who speaks: the first 64 that mean something ("will" is no Will).
CREATE OR REPLACE FUNCTION memsvc.naming_words(p_query text, p_language text) RETURNS text[]
LANGUAGE sql STABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN ARRAY(
  SELECT w.word FROM unnest((memsvc.plain_words(p_query))[:64]) AS w (word)
  WHERE memsvc.to_words('stemmed', p_language, w.word) <> ''
);
COMMENT ON FUNCTION memsvc.naming_words(text, text) IS 'The words of a query by which it can name who speaks.';

-- Whether a text asks: it ends with a question, but for signs and short words behind it.
CREATE OR REPLACE FUNCTION memsvc.is_question(p_text text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN translate(right(p_text, 12), '?？؟', '') <> right(p_text, 12);
COMMENT ON FUNCTION memsvc.is_question(text) IS 'Whether a text ends with a question.';

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
