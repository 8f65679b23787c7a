-- What an erasure would remove, before anybody asks for it.

-- What an erasure would remove now: rows by table, and versions that would keep less evidence. Null: the subject does
-- not exist. Terms: those that no other passage has.
CREATE OR REPLACE FUNCTION memsvc.preview_erasure(p_user_id uuid, p_kind text, p_subject_id uuid) RETURNS jsonb
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app
BEGIN ATOMIC
  SELECT (
    SELECT coalesce(jsonb_object_agg(c.key, c.value), '{}') FROM jsonb_each(jsonb_build_object(
      'source_links', cardinality(p.links), 'node_versions', cardinality(p.node_versions),
      'edge_versions', cardinality(p.edge_versions), 'aliases', cardinality(p.aliases),
      'locations', cardinality(p.locations),
      'merges', cardinality(p.merges), 'edges', cardinality(p.edges), 'nodes', cardinality(p.nodes),
      'evidence_reduced', cardinality(p.reduced), 'passages', cardinality(s.passages),
      'sources', num_nonnulls(s.source_id) + cardinality(l.documents) + (
        SELECT count(*) FROM memsvc.blocks_emptied(p_user_id, s.passages, p.nodes, s.source_id)
      ),
      'embeddings', (
        SELECT count(*) FROM memsvc.embeddings AS e
        WHERE e.user_id = p_user_id AND e.passage_id = ANY (s.passages || k.passages)
      ),
      'memory_signals', (
        SELECT count(*) FROM memsvc.memory_signals AS m
        WHERE m.user_id = p_user_id AND m.memory_id = ANY (s.passages || k.passages)
      ),
      'fact_reviews', (
        SELECT count(*) FROM memsvc.fact_reviews AS r
        WHERE r.user_id = p_user_id AND r.passage_id = ANY (s.passages)
      ),
      'document_versions', (
        SELECT count(*) FROM memsvc.document_versions AS v
        WHERE v.user_id = p_user_id AND v.source_id = ANY (l.documents || s.source_id)
      ),
      'turns', cardinality(l.turns), 'tool_calls', (
        SELECT count(*) FROM memsvc.tool_calls AS c WHERE c.user_id = p_user_id AND c.turn_id = ANY (l.turns)
      ),
      'duplicate_candidates', (
        SELECT count(*) FROM memsvc.duplicate_candidates AS d
        WHERE d.user_id = p_user_id AND (d.node_a = ANY (p.nodes) OR d.node_b = ANY (p.nodes))
      ),
      'node_salience', (
        SELECT count(*) FROM memsvc.node_salience AS n WHERE n.user_id = p_user_id AND n.node_id = ANY (p.nodes)
      ),
      'proposals', (
        SELECT count(*) FROM memsvc.proposals_about(
          p_user_id, s.passages || k.passages, p.nodes, p.edge_versions, s.source_id
        ) AS q
      ),
      'profile_versions', (
        SELECT count(*) FROM memsvc.profile_versions AS v
        WHERE v.user_id = p_user_id AND (
          v.node_id = ANY (p.nodes) OR v.source_id = s.source_id OR (p_kind = 'block' AND v.block_id = p_subject_id)
          OR EXISTS (
            SELECT FROM memsvc.profile_evidence AS e
            WHERE e.user_id = p_user_id AND e.version_id = v.version_id AND e.passage_id = ANY (s.passages)
          )
        )
      ),
      'analysis_results', (
        SELECT count(*)
        FROM memsvc.analysis_results AS r
        INNER JOIN memsvc.analysis_runs AS a ON a.user_id = p_user_id AND a.run_id = r.run_id
        WHERE r.user_id = p_user_id AND EXISTS (
          SELECT FROM unnest(a.seeds || r.nodes || r.facts || r.passages) AS i (id)
          WHERE i.id = ANY (s.passages || p.edge_versions || p.nodes)
        )
      ),
      'terms', (
        SELECT count(*)
        FROM memsvc.terms_of(p_user_id, s.passages || k.passages) AS t
        LEFT JOIN (
          SELECT k.kind, k.form, k.term, sum(k.passages) AS passages
          FROM (
            SELECT f.kind, f.form, f.term, f.passages FROM memsvc.terms AS f WHERE f.user_id = p_user_id
            UNION ALL
            SELECT d.kind, d.form, u.term, u.change
            FROM memsvc.term_deltas AS d CROSS JOIN LATERAL unnest(d.terms, d.changes) AS u (term, change)
            WHERE d.user_id = p_user_id
          ) AS k
          GROUP BY k.kind, k.form, k.term
        ) AS known ON known.kind = t.kind AND known.form = t.form AND known.term = t.term
        WHERE known.passages <= t.passages
      )
    )) AS c WHERE c.value > '0'
  )
  FROM memsvc.erasure_reach(p_user_id, p_kind, p_subject_id, NULL) AS s
  CROSS JOIN LATERAL memsvc.plan_erasure(p_user_id, s.passages, s.source_id, s.edges, s.node_id) AS p
  CROSS JOIN LATERAL memsvc.known_with(p_user_id, p.node_versions || p.edge_versions) AS k (passages)
  CROSS JOIN LATERAL memsvc.turns_lost(p_user_id, s.passages, s.source_id) AS l;
END;
COMMENT ON FUNCTION memsvc.preview_erasure(uuid, text, uuid) IS 'What an erasure would remove now, by table.';
