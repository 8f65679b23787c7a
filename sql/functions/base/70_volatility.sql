-- How often a document changes: versions a day, over the span between the first and the last; a span under a day counts
-- as one. One version: 0.
CREATE OR REPLACE FUNCTION memsvc.volatility(p_versions bigint, p_first timestamptz, p_last timestamptz)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader
RETURN CASE WHEN p_versions < 2 THEN 0
  ELSE p_versions / greatest(extract(epoch FROM p_last - p_first)::double precision / 86400, 1) END;
COMMENT ON FUNCTION memsvc.volatility(bigint, timestamptz, timestamptz) IS 'How many versions a document has a day.';
