-- Text to words, and names to their normal form.

-- PostgreSQL's parser takes a run of Chinese or Japanese signs for one word. Setting them apart makes every sign a
-- word, so that a question finds what shares signs with it.
CREATE OR REPLACE FUNCTION memsvc.set_signs_apart(p_text text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE
  WHEN p_text ~ '[\u2E80-\u2FDF\u3040-\u30FF\u31F0-\u31FF\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF\U00020000-\U0003FFFF]'
  THEN regexp_replace(
    p_text,
    '([\u2E80-\u2FDF\u3040-\u30FF\u31F0-\u31FF\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF\U00020000-\U0003FFFF])',
    ' \1 ', 'g'
  )
  ELSE p_text
END;
COMMENT ON FUNCTION memsvc.set_signs_apart(text) IS 'The text with each Chinese or Japanese sign as a word of its own.';

-- Lexemes of a text in one form: stemmed by the language's configuration, or simple (lower-cased, stop words kept).
CREATE OR REPLACE FUNCTION memsvc.to_words(p_form text, p_language text, p_text text) RETURNS tsvector
LANGUAGE sql STABLE PARALLEL SAFE
RETURN to_tsvector(
  CASE p_form
    WHEN 'simple' THEN 'pg_catalog.simple'::regconfig
    ELSE ('pg_catalog.' || quote_ident(p_language))::regconfig
  END,
  memsvc.set_signs_apart(p_text)
);
COMMENT ON FUNCTION memsvc.to_words(text, text, text) IS 'Lexemes of a text, stemmed by its language or simple.';

-- BM25's document length: words with repetitions (length(tsvector) would count distinct ones).
CREATE OR REPLACE FUNCTION memsvc.word_count(p_words tsvector) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (SELECT coalesce(sum(cardinality(w.positions)), 0)::integer FROM unnest(p_words) AS w);
COMMENT ON FUNCTION memsvc.word_count(tsvector) IS 'Words with repetitions.';

-- The one text of a passage that is searched: who speaks, what is said, what the shared picture shows.
CREATE OR REPLACE FUNCTION memsvc.searched_text(p_speaker text, p_text text, p_caption text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN p_speaker = '' THEN '' ELSE p_speaker || ': ' END || p_text || coalesce(' ' || p_caption, '');
COMMENT ON FUNCTION memsvc.searched_text(text, text, text) IS 'Speaker, text and caption as one searchable text.';

-- A lexeme as a tsquery of itself, whatever signs it holds. User text never reaches the tsquery parser in another way.
CREATE OR REPLACE FUNCTION memsvc.as_tsquery(p_lexeme text) RETURNS tsquery
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ('''' || replace(replace(p_lexeme, '\', '\\'), '''', '''''') || '''')::tsquery;
COMMENT ON FUNCTION memsvc.as_tsquery(text) IS 'A lexeme as a query for exactly itself.';

-- What two spellings of a name have in common: case, accents, width and spaces do not count.
CREATE OR REPLACE FUNCTION memsvc.normal_form(p_name text) RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN btrim(regexp_replace(lower(public.unaccent(normalize(p_name, NFKC))), '\s+', ' ', 'g'));
COMMENT ON FUNCTION memsvc.normal_form(text) IS 'A name without case, accents, width and surplus spaces.';
