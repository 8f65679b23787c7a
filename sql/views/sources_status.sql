-- The state of each source: its size, its vectors, and its last job.
CREATE OR REPLACE VIEW memsvc.sources_status WITH (security_invoker = TRUE) AS
SELECT
  s.user_id,
  s.source_id,
  s.kind,
  s.identifier,
  s.title,
  s.status,
  counted.messages,
  counted.passages,
  CASE WHEN m.model_id IS NOT NULL THEN counted.embedded END AS vectors,
  CASE WHEN m.model_id IS NOT NULL THEN counted.embeddable - counted.embedded END AS vectors_lacking,
  m.name AS model,
  j.state AS job,
  j.attempts,
  j.error_code,
  j.error,
  s.last_ingested_at,
  s.created_at
FROM memsvc.sources AS s
LEFT JOIN memsvc.embedding_models AS m ON m.state = 'active'
CROSS JOIN LATERAL (
  SELECT
    count(*) FILTER (WHERE p.part = 0) AS messages,
    count(*) AS passages,
    count(*) FILTER (WHERE memsvc.has_vectors(p)) AS embeddable,
    count(e.passage_id) FILTER (WHERE memsvc.has_vectors(p)) AS embedded
  FROM memsvc.passages AS p
  LEFT JOIN memsvc.embeddings AS e
    ON p.user_id = e.user_id AND m.model_id = e.model_id AND p.passage_id = e.passage_id
  WHERE p.user_id = s.user_id AND p.source_id = s.source_id
) AS counted
LEFT JOIN (
  SELECT DISTINCT ON (w.user_id, w.subject_id)
    w.user_id, w.subject_id, w.state, w.attempts, w.error_code, w.error
  FROM memsvc.jobs AS w
  WHERE w.kind = 'process'
  ORDER BY w.user_id ASC, w.subject_id ASC, w.job_id DESC
) AS j ON s.user_id = j.user_id AND s.source_id = j.subject_id
WHERE s.kind <> 'graph';
COMMENT ON VIEW memsvc.sources_status IS
  'Sources with their size, their vectors by the active model and their last job.';
COMMENT ON COLUMN memsvc.sources_status.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.sources_status.source_id IS 'The source.';
COMMENT ON COLUMN memsvc.sources_status.kind IS 'Its kind: conversation, or block (an archival one of the profile).';
COMMENT ON COLUMN memsvc.sources_status.identifier IS 'Its name in the system it comes from.';
COMMENT ON COLUMN memsvc.sources_status.title IS 'Its title.';
COMMENT ON COLUMN memsvc.sources_status.status IS
  'The state of background work: pending, processing, completed or failed.';
COMMENT ON COLUMN memsvc.sources_status.messages IS
  'Its messages, including traces; for a block, its archival versions.';
COMMENT ON COLUMN memsvc.sources_status.passages IS 'Its passages; a long message has several.';
COMMENT ON COLUMN memsvc.sources_status.vectors IS
  'Passages with a vector of the active model; null: there is no model.';
COMMENT ON COLUMN memsvc.sources_status.vectors_lacking IS
  'Passages that still need a vector; traces and former blocks get none.';
COMMENT ON COLUMN memsvc.sources_status.model IS 'The active embedding model; null: none.';
COMMENT ON COLUMN memsvc.sources_status.job IS
  'State of its last job: pending, done, failed or cancelled; null: none (old ones are deleted after some time).';
COMMENT ON COLUMN memsvc.sources_status.attempts IS 'How often that job was tried.';
COMMENT ON COLUMN memsvc.sources_status.error_code IS 'Why it failed, as a stable code.';
COMMENT ON COLUMN memsvc.sources_status.error IS 'Why it failed, as a text for people.';
COMMENT ON COLUMN memsvc.sources_status.last_ingested_at IS 'When background work last caught up with it.';
COMMENT ON COLUMN memsvc.sources_status.created_at IS 'When it was first stored.';
