-- Converts text to words, and names to their normal form.

-- PostgreSQL's parser treats a run of Chinese or Japanese characters as one word. Here each character becomes a word,
-- and so does each pair of neighbours: most pairs are words (北京), and a query finds texts that share characters with
-- it. A Korean word includes its particle (서울에서): if it has three or more syllables, each pair of neighbours becomes a
-- word too. Measured in docs/adr/0017.
CREATE OR REPLACE FUNCTION memsvc.signs() RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN '\u2E80-\u2FDF\u3005-\u3007\u3041-\u3096\u309D-\u309F\u30A1-\u30FA\u30FC-\u30FF\u31F0-\u31FF\u3400-\u4DBF'
  '\u4E00-\u9FFF\uF900-\uFAFF\U00020000-\U0003FFFF';
COMMENT ON FUNCTION memsvc.signs() IS 'Chinese and Japanese characters, as ranges within the brackets of a pattern.';

-- Most texts are pure ASCII, and checking that takes a tenth of the pattern's time. Neither this function nor its
-- callers are STRICT, because PostgreSQL could not inline them into the calling statement otherwise.
CREATE OR REPLACE FUNCTION memsvc.has_signs(p_text text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN octet_length(p_text) > length(p_text) AND p_text ~ ('[' || memsvc.signs() || '\uAC00-\uD7A3]');
COMMENT ON FUNCTION memsvc.has_signs(text) IS 'Whether a text has Chinese, Japanese or Korean characters.';

-- First, characters without a neighbour and Korean words of at most two syllables are removed. Then each character
-- between two others is doubled, with a space in between.
CREATE OR REPLACE FUNCTION memsvc.pairs_of_signs(p_text text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
-- callers: app, reader, recall
RETURN regexp_replace(
  regexp_replace(
    p_text,
    '[^' || memsvc.signs() || '\uAC00-\uD7A3]+'
    || '|(?<![' || memsvc.signs() || '])[' || memsvc.signs() || '](?![' || memsvc.signs() || '])'
    || '|(?<![\uAC00-\uD7A3])[\uAC00-\uD7A3]{1,2}(?![\uAC00-\uD7A3])',
    ' ', 'g'
  ),
  '(?<=[' || memsvc.signs() || '\uAC00-\uD7A3])([' || memsvc.signs() || '\uAC00-\uD7A3])(?=[' || memsvc.signs()
  || '\uAC00-\uD7A3])',
  '\1 \1', 'g'
);
COMMENT ON FUNCTION memsvc.pairs_of_signs(text) IS
  'Each pair of neighbouring Chinese or Japanese characters, and of syllables of longer Korean words, as words.';

CREATE OR REPLACE FUNCTION memsvc.set_signs_apart(p_text text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN CASE
  WHEN memsvc.has_signs(p_text)
  THEN regexp_replace(p_text, '([' || memsvc.signs() || '])', ' \1 ', 'g') || ' ' || memsvc.pairs_of_signs(p_text)
  ELSE p_text
END;
COMMENT ON FUNCTION memsvc.set_signs_apart(text) IS
  'The text with each Chinese or Japanese character as a separate word, followed by the pairs of neighbours.';

-- Chinese particles, pronouns and the like, and single hiragana: stop words if they are single, not in pairs.
CREATE OR REPLACE FUNCTION memsvc.stop_signs() RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN string_to_array(
  '的了着过地得吗呢吧啊呀嘛哦嗯么之其我你您他她它们這这那哪谁誰是有在和与與及或但而也都就还還又很太更最不没沒把被给給对對从從向到'
  '跟让讓为為于於以所因如若则則且們嗎過'
  'ぁあぃいぅうぇえぉおかがきぎくぐけげこごさざしじすずせぜそぞただちぢっつづてでとどなにぬねのはばぱひびぴふぶぷへべぺほぼぽまみむめも'
  'ゃやゅゆょよらりるれろわをんー',
  NULL
);
COMMENT ON FUNCTION memsvc.stop_signs() IS 'Single Chinese and Japanese characters that the stemmed form leaves out.';

-- Words that the parser would lose: C++ and C# (it reads C), snake_case as one word, and capitals that are a stop word
-- in lower case (IT; only if the stemmed form would drop them).
CREATE OR REPLACE FUNCTION memsvc.has_exact_words(p_text text) RETURNS boolean
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
-- callers: app, reader, recall
RETURN p_text ~ '[A-Z]{2}|[A-Za-z0-9](\+\+|#|_[A-Za-z0-9])';
COMMENT ON FUNCTION memsvc.has_exact_words(text) IS
  'Whether a text may contain names that the parser would cut or drop.';

CREATE OR REPLACE FUNCTION memsvc.exact_words(p_form text, p_language text, p_text text) RETURNS text[]
LANGUAGE sql STABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN ARRAY( -- no capturing groups: with them, a long run would be scanned repeatedly
  SELECT DISTINCT CASE WHEN m.word[1] ~ '[+#_]' THEN lower(m.word[1]) ELSE m.word[1] END
  FROM regexp_matches(
    p_text,
    '(?<![A-Za-z0-9_])'
    '(?:[A-Za-z][A-Za-z0-9]*(?:\+\+|#)|[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+|[A-Z]{2,5}(?![A-Za-z0-9_]))',
    'g'
  ) AS m (word)
  WHERE length(m.word[1]) <= 200 -- a lexeme may have 2,046 bytes
    AND (
      m.word[1] ~ '[+#_]'
      OR (p_form = 'stemmed' AND to_tsvector(('pg_catalog.' || quote_ident(p_language))::regconfig, m.word[1]) = '')
    )
);
COMMENT ON FUNCTION memsvc.exact_words(text, text, text) IS
  'Names that the parser would cut or drop: C++, snake_case, IT.';

-- Lexemes of a text in one form: stemmed by the language's configuration, or simple (lower-cased, stop words kept).
-- Exact words have no position, so they do not count in the length.
CREATE OR REPLACE FUNCTION memsvc.to_words(p_form text, p_language text, p_text text) RETURNS tsvector
LANGUAGE sql STABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN CASE
  WHEN p_form = 'stemmed' AND memsvc.has_signs(p_text) THEN ts_delete(
    to_tsvector(('pg_catalog.' || quote_ident(p_language))::regconfig, memsvc.set_signs_apart(p_text)),
    memsvc.stop_signs()
  )
  ELSE to_tsvector(
    CASE p_form
      WHEN 'simple' THEN 'pg_catalog.simple'::regconfig
      ELSE ('pg_catalog.' || quote_ident(p_language))::regconfig
    END,
    memsvc.set_signs_apart(p_text)
  )
END || CASE
  WHEN memsvc.has_exact_words(p_text) THEN array_to_tsvector(memsvc.exact_words(p_form, p_language, p_text))
  ELSE ''::tsvector
END;
COMMENT ON FUNCTION memsvc.to_words(text, text, text) IS 'Lexemes of a text, stemmed by its language or simple.';

-- For display: leaves out single characters that are part of a pair or a longer word in the list. Most lists have
-- nothing to leave out; checking that takes a third of the query's time.
CREATE OR REPLACE FUNCTION memsvc.whole_words(p_words text[]) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
-- callers: app, reader, recall
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
COMMENT ON FUNCTION memsvc.whole_words(text[]) IS
  'Matched words without Chinese, Japanese or Korean words that are part of another.';

-- BM25's document length: words including repetitions (length(tsvector) would count distinct ones).
CREATE OR REPLACE FUNCTION memsvc.word_count(p_words tsvector) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
-- callers: app, reader, recall
RETURN (SELECT coalesce(sum(cardinality(w.positions)), 0)::integer FROM unnest(p_words) AS w);
COMMENT ON FUNCTION memsvc.word_count(tsvector) IS 'Number of words, including repetitions.';

-- The text of a passage that is searched: speaker, text, and the caption of a shared picture.
CREATE OR REPLACE FUNCTION memsvc.searched_text(p_speaker text, p_text text, p_caption text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN CASE WHEN p_speaker = '' THEN '' ELSE p_speaker || ': ' END || p_text || coalesce(' ' || p_caption, '');
COMMENT ON FUNCTION memsvc.searched_text(text, text, text) IS 'Speaker, text and caption as one searchable text.';

-- A lexeme as a tsquery for itself, whatever characters it has. User text reaches the tsquery parser only through this.
CREATE OR REPLACE FUNCTION memsvc.as_tsquery(p_lexeme text) RETURNS tsquery
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
-- callers: app, reader, recall
RETURN ('''' || replace(replace(p_lexeme, '\', '\\'), '''', '''''') || '''')::tsquery;
COMMENT ON FUNCTION memsvc.as_tsquery(text) IS 'A tsquery for exactly this lexeme.';

-- The normal form by which names are compared: case, accents, width and surplus spaces do not count.
CREATE OR REPLACE FUNCTION memsvc.normal_form(p_name text) RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
-- callers: app, reader, recall, eraser
RETURN btrim(regexp_replace(lower(public.unaccent(normalize(p_name, NFKC))), '\s+', ' ', 'g'));
COMMENT ON FUNCTION memsvc.normal_form(text) IS 'A name without case, accents, width and surplus spaces.';
