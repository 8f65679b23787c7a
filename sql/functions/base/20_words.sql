-- Converts text to words, and names to their normal form.

-- Letters that people write in two ways are folded, for the index and for a query alike; stored text stays as it is.
-- Most texts need none of it: ASCII costs a comparison of two lengths, other Latin text one pattern. docs/adr/0041.

-- Accents count as habit in these languages: their writers leave them out on phones, in capitals or in names. 'before'
-- the stemmer where it knows no accents, 'after' it where it needs them (French, Spanish …); elsewhere they make other
-- letters (Swedish å, Turkish ş, Hungarian ő), or the stemmer folds them itself (German).
CREATE OR REPLACE FUNCTION memsvc.accents_go(p_language text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN CASE
  WHEN p_language IN ('english', 'arabic', 'armenian', 'greek', 'hindi', 'nepali', 'russian', 'tamil', 'yiddish')
  THEN 'before'
  WHEN p_language IN ('french', 'spanish', 'portuguese', 'italian', 'catalan', 'romanian') THEN 'after'
  ELSE 'never'
END;
COMMENT ON FUNCTION memsvc.accents_go(text) IS 'When a language''s words lose their accents: before or after stemming.';

-- Punctuation, symbols and emoji are no letters: curly quotes and dashes make no text slower.
CREATE OR REPLACE FUNCTION memsvc.has_letters_to_fold(p_language text, p_text text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN octet_length(p_text) > length(p_text) AND (
  p_text ~ '[^\u0001-\u012F\u0132-\u024F\u1E00-\u1EFF\u2000-\u2BFF\uFE0F\U0001F000-\U0001FBFF]'
  OR memsvc.accents_go(p_language) <> 'never' AND p_text ~ '[\u00C0-\u024F\u1E00-\u1EFF]'
) OR p_language = 'turkish';
COMMENT ON FUNCTION memsvc.has_letters_to_fold(text, text) IS
  'Whether a text has letters that fold_letters may change, or that PostgreSQL''s parser does not split.';

-- Latin letters without accents and strokes. Spanish ñ is a letter of its own (año, ano).
CREATE OR REPLACE FUNCTION memsvc.fold_accents(p_language text, p_text text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN CASE
  WHEN p_text !~ '[\u00C0-\u024F\u1E00-\u1EFF]' THEN p_text
  WHEN p_language = 'spanish' THEN normalize(regexp_replace(
    normalize(p_text, NFD), '(?<=[A-MO-Za-mo-z])[\u0300-\u036F]+|(?<=[Nn])[\u0300-\u0302\u0304-\u036F]+', '', 'g'
  ))
  ELSE translate(
    normalize(regexp_replace(normalize(p_text, NFD), '(?<=[A-Za-z])[\u0300-\u036F]+', '', 'g')), 'øØłŁđĐ', 'oOlLdD'
  )
END;
COMMENT ON FUNCTION memsvc.fold_accents(text, text) IS 'Latin letters without accents.';

-- Composed letters first (NFC), then what is removed or replaced letter by letter. A Turkish user's ı is folded after
-- the stemmer, which knows it; i with U+0307 is what programs make of İ in small letters.
CREATE OR REPLACE FUNCTION memsvc.fold_european(p_language text, p_text text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN translate(
  replace(
    translate(CASE WHEN p_text IS NFC NORMALIZED THEN p_text ELSE normalize(p_text) END, 'ёЁ', 'еЕ'),
    U&'i\0307', 'i'
  ),
  CASE WHEN p_language = 'turkish' THEN '' ELSE 'ıİ' END, 'ii'
);
COMMENT ON FUNCTION memsvc.fold_european(text, text) IS 'Composed letters; е for ё, i for ı and İ.';

-- Capitals have no tonos, and a sigma at the end no form of its own.
CREATE OR REPLACE FUNCTION memsvc.fold_greek(p_text text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN CASE
  WHEN p_text ~ '[\u0370-\u03FF]' THEN translate(p_text, 'άέήίόύώϊϋΐΰςΆΈΉΊΌΎΏΪΫ', 'αεηιουωιυιυσΑΕΗΙΟΥΩΙΥ')
  ELSE p_text
END;
COMMENT ON FUNCTION memsvc.fold_greek(text) IS 'Greek without tonos, dialytika and final sigma.';

-- As Lucene's normalisers of Arabic and Persian: one alef, one ye, one kaf, ha for ta marbuta, hamza as its carrier; no
-- vowel signs, tatweel or joiners. Hebrew without points.
CREATE OR REPLACE FUNCTION memsvc.fold_semitic(p_text text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN CASE
  WHEN p_text ~ '[\u0591-\u07FF]' THEN translate(
    regexp_replace(
      p_text, '[\u0591-\u05BD\u05BF\u05C1\u05C2\u05C4\u05C5\u05C7\u0640\u064B-\u0655\u0670\u200C\u200D]+', '', 'g'
    ),
    U&'\0623\0625\0622\0671\0649\06CC\0626\0624\06A9\0629\06C1\06C0',
    U&'\0627\0627\0627\0627\064A\064A\064A\0648\0643\0647\0647\0647'
  )
  ELSE p_text
END;
COMMENT ON FUNCTION memsvc.fold_semitic(text) IS 'One form of each Arabic and Persian letter; no vowel points.';

-- Full-width letters and digits, and half-width katakana. Full-width punctuation stays: it ends a word, where ASCII's
-- could join two (a．b). Only between digits it is part of a number.
CREATE OR REPLACE FUNCTION memsvc.fold_width(p_text text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN CASE
  WHEN p_text ~ '[\uFF03-\uFF9F]' THEN normalize(translate(
    regexp_replace(
      regexp_replace(p_text, '(?<=[0-9０-９])．(?=[0-9０-９])', '.', 'g'), '(?<=[0-9０-９])，(?=[0-9０-９])', ',', 'g'
    ),
    U&'０１２３４５６７８９ＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ＋＃＿'
    'ｦｧｨｩｪｫｬｭｮｯｰｱｲｳｴｵｶｷｸｹｺｻｼｽｾｿﾀﾁﾂﾃﾄﾅﾆﾇﾈﾉﾊﾋﾌﾍﾎﾏﾐﾑﾒﾓﾔﾕﾖﾗﾘﾙﾚﾛﾜﾝ\FF9E\FF9F',
    U&'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+#_'
    'ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン\3099\309A'
  ))
  ELSE p_text
END;
COMMENT ON FUNCTION memsvc.fold_width(text) IS 'Letters and digits of full width, katakana of half width, as usual.';

CREATE OR REPLACE FUNCTION memsvc.fold_digits(p_text text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN CASE
  WHEN p_text ~ (
    '[\u0660-\u0669\u066B\u066C\u06F0-\u06F9\u0966-\u096F\u09E6-\u09EF\u0E50-\u0E59\u0ED0-\u0ED9\u1040-\u1049'
    '\u17E0-\u17E9]'
  )
  THEN translate(
    p_text,
    '٠١٢٣٤٥٦٧٨٩٫٬۰۱۲۳۴۵۶۷۸۹०१२३४५६७८९০১২৩৪৫৬৭৮৯๐๑๒๓๔๕๖๗๘๙໐໑໒໓໔໕໖໗໘໙၀၁၂၃၄၅၆၇၈၉០១២៣៤៥៦៧៨៩',
    '0123456789.,01234567890123456789012345678901234567890123456789012345678901234567890123456789'
  )
  ELSE p_text
END;
COMMENT ON FUNCTION memsvc.fold_digits(text) IS 'Digits of other scripts as ASCII digits.';

-- One step after another, as each needs the result of the one before: in SQL alone, they could not be inlined.
CREATE OR REPLACE FUNCTION memsvc.fold_letters(p_language text, p_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
AS $$
DECLARE
  folded text := p_text;
BEGIN
  folded := memsvc.fold_european(p_language, folded);
  IF folded ~ '[\u0370-\u03FF\u0590-\u10FF\u1780-\u17FF\uFF00-\uFF9F]' THEN
    folded := memsvc.fold_greek(folded);
    folded := memsvc.fold_semitic(folded);
    folded := memsvc.fold_width(folded);
    folded := memsvc.fold_digits(folded);
  END IF;
  IF memsvc.accents_go(p_language) = 'before' THEN
    folded := memsvc.fold_accents(p_language, folded);
  END IF;
  RETURN folded;
END
$$;
COMMENT ON FUNCTION memsvc.fold_letters(text, text) IS 'One form of each letter that people write in two ways.';

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

-- Thai, Lao, Khmer and Burmese have no spaces either. A sign there is a consonant with its vowels and tones (กรุงเทพ is
-- ก รุ ง เท พ); each pair of neighbours becomes a word, and single signs do not: they mean too little.
CREATE OR REPLACE FUNCTION memsvc.has_clusters(p_text text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN octet_length(p_text) > length(p_text) AND p_text ~ '[\u0E01-\u0E2E\u0E81-\u0EAE\u1000-\u102A\u1780-\u17B3]';
COMMENT ON FUNCTION memsvc.has_clusters(text) IS 'Whether a text has Thai, Lao, Khmer or Burmese letters.';

-- U+0001 is put before each sign; then a sign between two others is doubled, with a space in between. Spaces of no
-- width (U+200B), which some writers put between words, do not count.
CREATE OR REPLACE FUNCTION memsvc.pairs_of_clusters(p_text text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
-- callers: app, reader, recall
RETURN translate(
  regexp_replace(
    regexp_replace(
      regexp_replace(
        translate(p_text, U&'\0001\200B\200C\200D\2060', ' '),
        '([\u0E01-\u0E2E\u0E30-\u0E3A\u0E40-\u0E45\u0E47-\u0E4E\u0E81-\u0EBD\u0EC0-\u0EC4\u0EC8-\u0ECE\u0EDC-\u0EDF'
        '\u1000-\u103F\u1050-\u108F\u109A-\u109D\u1780-\u17D3\u17DD\uAA60-\uAA7D]+)',
        ' \1 ', 'g'
      ),
      '((?:'
      -- Thai and Lao: vowels that are written first, the consonant, vowels and tones
      '[\u0E40-\u0E44\u0EC0-\u0EC4]?[\u0E01-\u0E2E\u0E81-\u0EAE\u0EDC-\u0EDF]'
      '[\u0E30-\u0E3A\u0E45\u0E47-\u0E4E\u0EB0-\u0EBD\u0EC8-\u0ECE]*'
      -- Khmer: the consonant, consonants below it, vowels and marks
      '|[\u1780-\u17B3](?:\u17D2[\u1780-\u17B3]|[\u17B4-\u17D1\u17D3\u17DD])*'
      -- Burmese: the same, and a last consonant without a vowel
      '|[\u1000-\u102A\u103F\u1050-\u1055\u105A-\u105D\u1061\u1065\u1066\u106E-\u1070\u1075-\u1081\u108E\uAA60-\uAA7A]'
      '(?:\u1039[\u1000-\u1021]|[\u102B-\u1038\u103A-\u103E\u1056-\u1059\u105E-\u1060\u1062-\u1064\u1067-\u106D'
      '\u1071-\u1074\u1082-\u108D\u108F\u109A-\u109D\uAA7B-\uAA7D]|[\u1000-\u1021]\u1037?\u103A)*'
      '))',
      E'\x01\\1', 'g'
    ),
    '(?<=[^\s\u0001])\u0001([^\s\u0001]+)(?=\u0001)', '\1 \1', 'g'
  ),
  E'\x01', ''
);
COMMENT ON FUNCTION memsvc.pairs_of_clusters(text) IS
  'The text with each pair of neighbouring Thai, Lao, Khmer or Burmese signs as a separate word.';

CREATE OR REPLACE FUNCTION memsvc.set_signs_apart(p_text text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN CASE
  WHEN memsvc.has_signs(p_text) THEN regexp_replace(
    CASE WHEN memsvc.has_clusters(p_text) THEN memsvc.pairs_of_clusters(p_text) ELSE p_text END,
    '([' || memsvc.signs() || '])', ' \1 ', 'g'
  ) || ' ' || memsvc.pairs_of_signs(p_text)
  WHEN memsvc.has_clusters(p_text) THEN memsvc.pairs_of_clusters(p_text)
  ELSE p_text
END;
COMMENT ON FUNCTION memsvc.set_signs_apart(text) IS
  'The text with its Chinese and Japanese characters, and pairs of signs of scripts without spaces, as separate words.';

-- Hebrew writes "and", "the", "in", "to", "from", "that" and "as" as one letter with the word behind it (הבית, the
-- house). A word of four or more letters that begins with one is also indexed without it, whether it is one or not.
CREATE OR REPLACE FUNCTION memsvc.bare_hebrew(p_text text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN CASE
  WHEN p_text ~ '[\u05D0-\u05EA]{4}' THEN coalesce((
    SELECT string_agg(' ' || substr(m.word[1], 2), '')
    FROM regexp_matches(p_text, '(?<![\u05D0-\u05EA])[ובהכלמש][\u05D0-\u05EA]{3,}', 'g') AS m (word)
  ), '')
  ELSE ''
END;
COMMENT ON FUNCTION memsvc.bare_hebrew(text) IS 'Hebrew words without a prefix of one letter.';

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

-- Numbers, dates and phone numbers that are written in several ways get one more lexeme each, the same for all of them,
-- beside those of the parser: #1000 for 1,000 and 1.000, #12.5 for 12,50, #2026-03-14 for 14.03.2026. '#' begins no
-- other lexeme. 1.000 and 1,000 are a thousand, as decimals of exactly three digits are rarer. Days have a lexeme where
-- their order is certain (not 3/4/2026). Years have none (2,026 is rarely one), nor do short numbers without signs.
CREATE OR REPLACE FUNCTION memsvc.date_word(p_year text, p_month text, p_day text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN CASE
  WHEN p_month::integer BETWEEN 1 AND 12 AND p_day::integer BETWEEN 1 AND 31
  THEN '#' || p_year || '-' || lpad(p_month, 2, '0') || '-' || lpad(p_day, 2, '0')
END;
COMMENT ON FUNCTION memsvc.date_word(text, text, text) IS 'The lexeme of a day; null where there is none.';

-- Numbers, and days in digits. A run of digits and signs is taken as a whole and read only if it is short; the pattern
-- that finds it never looks around. So a long text takes no more time than its length.
CREATE OR REPLACE FUNCTION memsvc.number_words(p_text text) RETURNS text[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
-- callers: app, reader, recall
RETURN ARRAY(
  SELECT CASE
    WHEN m.d[1] IS NOT NULL THEN memsvc.date_word(m.d[1], m.d[2], m.d[3])
    WHEN m.d[7] IS NULL
    THEN '#' || CASE WHEN strpos(n.value, '.') > 0 THEN rtrim(rtrim(n.value, '0'), '.') ELSE n.value END
    WHEN m.d[5] = '.' OR m.d[4]::integer > 12 OR m.d[4]::integer = m.d[6]::integer
    THEN memsvc.date_word(m.d[7], m.d[6], m.d[4])
    WHEN m.d[6]::integer > 12 THEN memsvc.date_word(m.d[7], m.d[4], m.d[6])
  END
  FROM regexp_matches(p_text, '[0-9]+(?:[.,/''\u2019-][0-9]+)*', 'g') AS r (run)
  CROSS JOIN LATERAL regexp_match(
    r.run[1],
    -- 1 year, 2 month, 3 day; 4 and 6 day and month, 5 the sign between them, 7 year
    '^(?:([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})|([0-9]{1,2})([-/.])([0-9]{1,2})[-/.]([0-9]{4})'
    -- 8 with commas, 9 with dots, 10 with apostrophes between thousands; 11 without
    '|([1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]+)?)|([1-9][0-9]{0,2}(?:\.[0-9]{3})+(?:,[0-9]+)?)'
    '|([1-9][0-9]{0,2}(?:[''\u2019][0-9]{3})+(?:[.,][0-9]+)?)|((?:0|[1-9][0-9]*)[.,][0-9]+|[1-9][0-9]{3,}))$'
  ) AS m (d)
  CROSS JOIN LATERAL (
    SELECT coalesce(
      replace(m.d[8], ',', ''), translate(m.d[9], ',.', '.'), translate(m.d[10], U&',''\2019', '.'),
      replace(m.d[11], ',', '.')
    ) AS value
  ) AS n
  WHERE length(r.run[1]) BETWEEN 3 AND 30 AND m.d IS NOT NULL
    AND (length(r.run[1]) <> 4 OR left(r.run[1], 2) NOT IN ('19', '20')) -- a year
);
COMMENT ON FUNCTION memsvc.number_words(text) IS 'Lexemes of numbers and of days in digits; null for others.';

-- Phone numbers, and numbers with spaces between thousands, found and read as number_words does. A phone number counts
-- within its country: without +49, 0049 or the first 0 (the country codes of E.164). Without + or 0 in front, ten
-- digits are read as in North America, and eleven to fifteen as if they had a +.
CREATE OR REPLACE FUNCTION memsvc.phone_words(p_text text) RETURNS text[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
-- callers: app, reader, recall
RETURN ARRAY(
  SELECT '#' || CASE
    WHEN m.d[4] IS NOT NULL
    THEN CASE WHEN strpos(n.value, '.') > 0 THEN rtrim(rtrim(n.value, '0'), '.') ELSE n.value END
    WHEN length(n.value) BETWEEN 7 AND 13 THEN '+' || n.value
  END
  FROM regexp_matches(
    p_text, '[+(]{0,2}[0-9]+(?:[ ()./\u00A0\u202F-]{1,2}[0-9]+)*(?:,[0-9]+)?', 'g'
  ) AS r (run)
  CROSS JOIN LATERAL regexp_match(
    replace(r.run[1], '(0)', ''),
    '^(?:(?:\+|00|(?=[1-9][0-9]{10,14}$))([1-9][0-9 ()./-]{6,}[0-9])|\(?0([1-9][0-9 ()./-]{6,}[0-9])'
    '|(?:1[ .-]?)?\(?([2-9][0-9]{2}\)?[ .-]{0,2}[0-9]{3}[ .-]?[0-9]{4})'
    '|([1-9][0-9]{0,2}(?:[ \u00A0\u202F][0-9]{3})+(?:[.,][0-9]+)?))$'
  ) AS m (d)
  CROSS JOIN LATERAL (
    SELECT coalesce(
      regexp_replace(
        translate(m.d[1], ' ()./-', ''),
        '^(?:[17]|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]'
        '|(?:2[1-689]|3[578]|42|5[09]|6[7-9]|8[05789]|9[679])[0-9])0?', ''
      ),
      translate(coalesce(m.d[2], m.d[3]), ' ()./-', ''), translate(m.d[4], U&', \00A0\202F', '.')
    ) AS value
  ) AS n
  WHERE length(r.run[1]) BETWEEN 5 AND 30 AND m.d IS NOT NULL
);
COMMENT ON FUNCTION memsvc.phone_words(text) IS
  'The lexemes of phone numbers and of numbers with spaces; null for what has none.';

-- Days with the name of a month in English or German, and 2026年3月14日.
CREATE OR REPLACE FUNCTION memsvc.months() RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN '([Jj]an(?:uary|uar)?|[Ff]eb(?:ruary|ruar)?|[Mm]ar(?:ch)?|[Mm][aä]rz|[Mm]är|[Mm]rz|[Aa]pr(?:il)?|[Mm]a[yi]'
  '|[Jj]un[ei]?|[Jj]ul[yi]?|[Aa]ug(?:ust)?|[Ss]ept?(?:ember)?|[Oo][ck]t(?:ober)?|[Nn]ov(?:ember)?|[Dd]e[cz](?:ember)?)';
COMMENT ON FUNCTION memsvc.months() IS 'Names of months, as a group of a pattern.';

CREATE OR REPLACE FUNCTION memsvc.month_number(p_name text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN (strpos(
  'jan feb mar apr may jun jul aug sep oct nov dec jan feb mär apr mai jun jul aug sep okt nov dez jan feb mrz',
  lower(left(p_name, 3))
) / 4 % 12 + 1)::text;
COMMENT ON FUNCTION memsvc.month_number(text) IS 'The number of a month that months() matched.';

CREATE OR REPLACE FUNCTION memsvc.date_words(p_text text) RETURNS text[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
-- callers: app, reader, recall
RETURN ARRAY(
  SELECT memsvc.date_word(
    coalesce(m.d[3], m.d[6], m.d[7]), coalesce(m.d[8], memsvc.month_number(coalesce(m.d[1], m.d[5]))),
    coalesce(m.d[2], m.d[4], m.d[9])
  )
  FROM regexp_matches(
    p_text,
    '(?<![0-9A-Za-z])(?:' || memsvc.months() || '\.? ([0-9]{1,2})(?:st|nd|rd|th)?,? ([0-9]{4})'
    || '|([0-9]{1,2})(?:st|nd|rd|th|\.)?(?: of)? ' || memsvc.months() || '\.?,? ([0-9]{4})'
    || '|([0-9]{4})年 ?([0-9]{1,2})月 ?([0-9]{1,2})日)(?![0-9])',
    'g'
  ) AS m (d)
);
COMMENT ON FUNCTION memsvc.date_words(text) IS 'The lexemes of days with the name of a month; null for no such day.';

-- One pattern tells most texts from those that have such names or numbers: has_exact_words, four digits in a row, or
-- digits with signs between them.
CREATE OR REPLACE FUNCTION memsvc.has_more_words(p_text text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN p_text ~ '[A-Z]{2}|[A-Za-z0-9](\+\+|#|_[A-Za-z0-9])|[0-9]{4}|[0-9][^0-9A-Za-z]{1,3}[0-9]';
COMMENT ON FUNCTION memsvc.has_more_words(text) IS 'Whether a text may have words of more_words.';

-- They have no position, so they do not count in the length.
CREATE OR REPLACE FUNCTION memsvc.more_words(p_form text, p_language text, p_text text) RETURNS tsvector
LANGUAGE plpgsql STABLE PARALLEL SAFE
-- callers: app, reader, recall
AS $$
DECLARE
  words text[] := '{}';
BEGIN
  IF memsvc.has_exact_words(p_text) THEN
    words := memsvc.exact_words(p_form, p_language, p_text);
  END IF;
  IF p_text ~ '[0-9]{4}|[0-9][^0-9A-Za-z]{1,3}[0-9]' THEN
    words := words || memsvc.number_words(p_text);
    IF p_text ~ '[0-9][ ()./\u00A0\u202F-]{1,2}[0-9]|[0-9]{9}' THEN
      words := words || memsvc.phone_words(p_text);
    END IF;
    IF p_text ~ '([0-9](st|nd|rd|th)?|[A-Za-zä]{3}\.?),? [0-9]{4}|[0-9]{4}年' THEN
      words := words || memsvc.date_words(p_text);
    END IF;
  END IF;
  RETURN array_to_tsvector(array_remove(words, NULL));
END
$$;
COMMENT ON FUNCTION memsvc.more_words(text, text, text) IS
  'Lexemes beside those of the parser: exact words, numbers, dates and phone numbers.';

-- What is folded after stemming: accents that the stemmer needs, and the Turkish ı. By its text: a tsvector has no
-- function for that, and reading it back puts lexemes together that have become the same.
CREATE OR REPLACE FUNCTION memsvc.fold_lexemes(p_language text, p_words tsvector) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN CASE
  WHEN p_language = 'turkish' THEN translate(p_words::text, 'ı', 'i')::tsvector
  WHEN memsvc.accents_go(p_language) = 'after' THEN memsvc.fold_accents(p_language, p_words::text)::tsvector
  ELSE p_words
END;
COMMENT ON FUNCTION memsvc.fold_lexemes(text, tsvector) IS 'Lexemes without accents that only the stemmer needed.';

-- For texts with letters to fold, or without spaces between words. Not in SQL alone, as fold_letters.
CREATE OR REPLACE FUNCTION memsvc.to_folded_words(p_form text, p_language text, p_text text) RETURNS tsvector
LANGUAGE plpgsql STABLE PARALLEL SAFE
-- callers: app, reader, recall
AS $$
DECLARE
  config CONSTANT regconfig := 'pg_catalog.' || CASE p_form WHEN 'simple' THEN p_form ELSE quote_ident(p_language) END;
  folded CONSTANT text := memsvc.fold_letters(p_language, p_text);
  words tsvector;
BEGIN
  IF p_language = 'turkish' THEN
    words := to_tsvector(config, translate(folded, 'Iİ', 'ıi'));
  ELSIF octet_length(folded) = length(folded) THEN
    words := to_tsvector(config, folded);
  ELSE
    words := to_tsvector(config, memsvc.set_signs_apart(folded) || memsvc.bare_hebrew(folded));
    IF p_form = 'stemmed' AND memsvc.has_signs(folded) THEN
      words := ts_delete(words, memsvc.stop_signs());
    END IF;
  END IF;
  words := memsvc.fold_lexemes(p_language, words);
  IF memsvc.has_more_words(folded) THEN
    words := words || memsvc.more_words(p_form, p_language, folded);
  END IF;
  RETURN words;
END
$$;
COMMENT ON FUNCTION memsvc.to_folded_words(text, text, text) IS 'to_words, for texts with letters to fold.';

-- Lexemes of a text in one form: stemmed by the language's configuration, or simple (lower-cased, stop words kept).
CREATE OR REPLACE FUNCTION memsvc.to_words(p_form text, p_language text, p_text text) RETURNS tsvector
LANGUAGE sql STABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN CASE
  WHEN memsvc.has_letters_to_fold(p_language, p_text)
  THEN memsvc.to_folded_words(p_form, p_language, p_text)
  ELSE to_tsvector(
    CASE p_form
      WHEN 'simple' THEN 'pg_catalog.simple'::regconfig
      ELSE ('pg_catalog.' || quote_ident(p_language))::regconfig
    END,
    p_text
  ) || CASE
    WHEN NOT memsvc.has_more_words(p_text) THEN ''::tsvector
    WHEN p_text !~ '[0-9]' THEN array_to_tsvector(memsvc.exact_words(p_form, p_language, p_text))
    ELSE memsvc.more_words(p_form, p_language, p_text)
  END
END;
COMMENT ON FUNCTION memsvc.to_words(text, text, text) IS 'Lexemes of a text, stemmed by its language or simple.';

-- For display: leaves out single characters that are part of a pair or a longer word in the list, repetitions, and
-- lexemes of numbers, which nobody wrote. Most lists have nothing to leave out; checking that takes a third of the
-- query's time.
CREATE OR REPLACE FUNCTION memsvc.whole_words(p_words text[]) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
-- callers: app, reader, recall
AS $$
DECLARE
  joined CONSTANT text := array_to_string(p_words, ' ');
BEGIN
  IF octet_length(joined) = length(joined) AND translate(joined, '#0123456789', '') = joined THEN
    RETURN p_words;
  END IF;
  RETURN ARRAY(
    SELECT w.word FROM unnest(p_words) WITH ORDINALITY AS w (word, rank)
    WHERE left(w.word, 1) <> '#'
      AND array_position(p_words, w.word) = w.rank
      AND NOT (memsvc.has_signs(w.word) AND EXISTS (
        SELECT FROM unnest(p_words) AS o (word) WHERE length(o.word) > length(w.word) AND strpos(o.word, w.word) > 0
      ))
    ORDER BY w.rank
  );
END
$$;
COMMENT ON FUNCTION memsvc.whole_words(text[]) IS
  'Matched words for people: each once, without parts of other words and without lexemes of numbers.';

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
