-- Kinds of passages. compared: they have vectors; recalled: recall finds them unless something else is asked for (trace
-- is what system, tools and thinking said; former, what a block said before, for reads of the past; task, what is to
-- be done, which the fact about it mostly says as well; summary and concept, of which the messages are recalled). A new
-- kind is one row here, and whoever writes its passages.
CREATE OR REPLACE FUNCTION memsvc.passage_kinds() RETURNS TABLE (kind text, compared boolean, recalled boolean)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 10
-- callers: app, reader, recall, eraser
BEGIN ATOMIC
  VALUES
  ('message', true, true), ('trace', false, false), ('block', true, true), ('former', false, false),
  ('fact', true, true), ('card', true, true), ('note', true, true), ('instruction', true, true),
  ('task', false, false), ('chunk', true, true), ('summary', true, false),
  ('concept', true, false), ('reflection', true, true), ('critique', true, true), ('plan', true, true), ('turn', true, true);
END;
COMMENT ON FUNCTION memsvc.passage_kinds() IS
  'Kinds of passages: whether they have vectors, and are recalled by default.';

CREATE OR REPLACE FUNCTION memsvc.compared_kinds() RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall, eraser
BEGIN ATOMIC
  SELECT array_agg(k.kind) FROM memsvc.passage_kinds() AS k WHERE k.compared;
END;
COMMENT ON FUNCTION memsvc.compared_kinds() IS 'Kinds of passages that have vectors.';

-- Whether a passage has vectors, as soon as they are made: what does not stand any more, or is archived, has none.
CREATE OR REPLACE FUNCTION memsvc.has_vectors(p memsvc.passages) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall, eraser
RETURN p.kind = ANY (memsvc.compared_kinds()) AND p.recorded_to = 'infinity' AND p.archived_at IS NULL;
COMMENT ON FUNCTION memsvc.has_vectors(memsvc.passages) IS 'Whether a passage has vectors.';
