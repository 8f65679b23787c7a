-- The ontology: a core that is the same for everybody, and types that a user adds and somebody approves.

CREATE OR REPLACE FUNCTION memsvc.core_user_id() RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall, eraser
RETURN '00000000-0000-0000-0000-000000000000'::uuid;
COMMENT ON FUNCTION memsvc.core_user_id() IS 'The owner id of core types, which belong to no user.';

-- Checks that every written type is a core type or an approved type of the user. A foreign key cannot do this, because
-- each user has own names. Deprecated types pass, since remainders and corrections of existing versions are written
-- with them; check_operations refuses their new use. Approved types are never deleted, so no lock is needed.
CREATE OR REPLACE FUNCTION memsvc.check_written_node_types() RETURNS trigger
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  wrong text;
BEGIN
  SELECT w.type INTO wrong FROM (SELECT DISTINCT n.user_id, n.type FROM written AS n) AS w
  WHERE NOT EXISTS (
    SELECT FROM node_types AS t
    WHERE t.user_id IN (memsvc.core_user_id(), w.user_id) AND t.name = w.type
      AND t.status IN ('core', 'approved', 'deprecated')
  );
  IF FOUND THEN
    RAISE EXCEPTION 'the ontology has no node type %', wrong USING ERRCODE = 'foreign_key_violation';
  END IF;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION memsvc.check_written_node_types() IS 'Trigger: types of nodes are in the ontology of their user.';

CREATE OR REPLACE TRIGGER typed AFTER INSERT ON memsvc.node_versions
REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION memsvc.check_written_node_types();

CREATE OR REPLACE FUNCTION memsvc.check_written_edge_types() RETURNS trigger
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
-- plans: by-key
AS $$
DECLARE
  wrong text;
BEGIN
  SELECT w.type INTO wrong FROM (SELECT DISTINCT n.user_id, n.type FROM written AS n) AS w
  WHERE NOT EXISTS (
    SELECT FROM edge_types AS t
    WHERE t.user_id IN (memsvc.core_user_id(), w.user_id) AND t.name = w.type
      AND t.status IN ('core', 'approved', 'deprecated')
  );
  IF FOUND THEN
    RAISE EXCEPTION 'the ontology has no edge type %', wrong USING ERRCODE = 'foreign_key_violation';
  END IF;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION memsvc.check_written_edge_types() IS 'Trigger: types of edges are in the ontology of their user.';

CREATE OR REPLACE TRIGGER typed AFTER INSERT ON memsvc.edges
REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION memsvc.check_written_edge_types();

-- A name has one meaning for each user. A user cannot add a type that the core has. If a new version of memsvc adds a
-- core type that a user has already, the core type replaces the user's, and existing nodes and facts go on with it.
CREATE OR REPLACE FUNCTION memsvc.check_added_types() RETURNS trigger
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
DECLARE
  wrong text;
BEGIN
  EXECUTE format(
    'SELECT t.name FROM added AS a INNER JOIN memsvc.%I AS t ON lower(t.name) = lower(a.name) '
    'WHERE t.user_id = $1 AND a.user_id <> $1 LIMIT 1', TG_TABLE_NAME
  ) INTO wrong USING memsvc.core_user_id();
  IF wrong IS NOT NULL THEN
    PERFORM memsvc.refuse_change('already_exists', NULL, format('The core ontology has the type %s.', wrong));
  END IF;
  EXECUTE format(
    'DELETE FROM memsvc.%I AS t USING added AS a WHERE a.user_id = $1 AND t.user_id <> $1 AND t.name = a.name',
    TG_TABLE_NAME
  ) USING memsvc.core_user_id();
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION memsvc.check_added_types() IS 'Trigger: no user has a type that the core has.';

CREATE OR REPLACE TRIGGER added AFTER INSERT ON memsvc.node_types
REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION memsvc.check_added_types();
CREATE OR REPLACE TRIGGER added AFTER INSERT ON memsvc.edge_types
REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION memsvc.check_added_types();

-- Stores a user's proposal. p_type: {"name", "description", "category"|null, "parent"|null, "reason"}; for an edge type
-- also "from_types"|null, "to_types"|null, "functional". Category and ends default to the parent's.
CREATE OR REPLACE FUNCTION memsvc.propose_type(p_user_id uuid, p_kind text, p_type jsonb, p_actor text) RETURNS void
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
DECLARE
  given record;
  wrong text;
  known text;
BEGIN
  SELECT p.*, coalesce(p.category, t.category, CASE p_kind WHEN 'node' THEN 'entity' ELSE 'general' END) AS chosen,
    coalesce(p.from_types, t.from_types, '{}') AS begins, coalesce(p.to_types, t.to_types, '{}') AS ends,
    t.category IS NOT NULL AS refines
  INTO given
  FROM jsonb_to_record(p_type) AS p (
    name text, description text, category text, parent text, reason text, from_types text[], to_types text[],
    functional boolean
  )
  LEFT JOIN LATERAL (
    SELECT n.category, NULL::text[] AS from_types, NULL::text[] AS to_types FROM node_types AS n
    WHERE p_kind = 'node' AND n.user_id = memsvc.core_user_id() AND n.name = p.parent
    UNION ALL
    SELECT e.category, e.from_types, e.to_types FROM edge_types AS e
    WHERE p_kind = 'edge' AND e.user_id = memsvc.core_user_id() AND e.name = p.parent
  ) AS t ON true;
  IF given.parent IS NOT NULL AND NOT given.refines THEN
    PERFORM memsvc.refuse_change(
      'type_unknown', NULL, format('The core ontology has no %s type %s to refine.', p_kind, given.parent)
    );
  END IF;
  SELECT a.name INTO wrong FROM unnest(given.begins || given.ends) AS a (name)
  WHERE NOT EXISTS (
    SELECT FROM node_types AS t
    WHERE t.user_id IN (memsvc.core_user_id(), p_user_id) AND t.name = a.name AND t.status <> 'rejected'
  );
  IF FOUND THEN
    PERFORM memsvc.refuse_change('type_unknown', NULL, format('The ontology has no node type %s.', wrong));
  END IF;
  IF p_kind = 'node' THEN
    INSERT INTO node_types (
      user_id, name, category, description, parent, status, reason, proposed_by, proposed_at
    )
    VALUES (
      p_user_id, given.name, given.chosen, given.description, given.parent, 'proposed', given.reason, p_actor,
      clock_timestamp()
    )
    ON CONFLICT (user_id, lower(name)) DO NOTHING;
  ELSE
    INSERT INTO edge_types (
      user_id, name, category, from_types, to_types, functional, description, parent, status, reason, proposed_by,
      proposed_at
    )
    VALUES (
      p_user_id, given.name, given.chosen, given.begins, given.ends, given.functional, given.description, given.parent,
      'proposed', given.reason, p_actor, clock_timestamp()
    )
    ON CONFLICT (user_id, lower(name)) DO NOTHING;
  END IF;
  IF NOT FOUND THEN
    SELECT format('%s: %s', t.name, t.status) INTO known
    FROM (
      SELECT n.name, n.status FROM node_types AS n
      WHERE p_kind = 'node' AND n.user_id = p_user_id AND lower(n.name) = lower(given.name)
      UNION ALL
      SELECT e.name, e.status FROM edge_types AS e
      WHERE p_kind = 'edge' AND e.user_id = p_user_id AND lower(e.name) = lower(given.name)
    ) AS t;
    PERFORM memsvc.refuse_change('already_exists', NULL, format('A type of this name exists already (%s).', known));
  END IF;
END
$$;
COMMENT ON FUNCTION memsvc.propose_type(uuid, text, jsonb, text) IS 'Adds a type that waits for approval.';

-- Approves, rejects or deprecates a user's own type; nothing happens if it has that status already.
CREATE OR REPLACE FUNCTION memsvc.decide_type(
  p_user_id uuid, p_kind text, p_name text, p_status text, p_actor text
) RETURNS void
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
DECLARE
  was text;
  wrong text;
BEGIN
  IF p_kind = 'node' THEN
    SELECT t.status INTO was FROM node_types AS t
    WHERE t.user_id = p_user_id AND t.name = p_name FOR NO KEY UPDATE;
  ELSE
    SELECT t.status INTO was FROM edge_types AS t
    WHERE t.user_id = p_user_id AND t.name = p_name FOR NO KEY UPDATE;
  END IF;
  PERFORM memsvc.refuse_undecidable(p_kind, p_name, was);
  IF was = p_status THEN
    RETURN;
  ELSIF (was, p_status) NOT IN (
    ('proposed', 'approved'), ('rejected', 'approved'), ('deprecated', 'approved'), ('proposed', 'rejected'),
    ('approved', 'deprecated')
  ) THEN
    PERFORM memsvc.refuse_change(
      'type_state', NULL, format('%s is %s, so it cannot become %s.', p_name, was, p_status)
    );
  END IF;
  IF p_kind = 'edge' AND p_status = 'approved' THEN
    SELECT a.name INTO wrong
    FROM edge_types AS e CROSS JOIN LATERAL unnest(e.from_types || e.to_types) AS a (name)
    WHERE e.user_id = p_user_id AND e.name = p_name AND NOT EXISTS (
      SELECT FROM node_types AS t
      WHERE t.user_id IN (memsvc.core_user_id(), p_user_id) AND t.name = a.name
        AND t.status IN ('core', 'approved', 'deprecated')
    );
    IF FOUND THEN
      PERFORM memsvc.refuse_change(
        'type_state', NULL, format('%s joins nodes of type %s, which is not approved.', p_name, wrong)
      );
    END IF;
  END IF;
  IF p_kind = 'node' THEN
    UPDATE node_types AS t SET status = p_status, decided_by = p_actor, decided_at = clock_timestamp()
    WHERE t.user_id = p_user_id AND t.name = p_name;
  ELSE
    UPDATE edge_types AS t SET status = p_status, decided_by = p_actor, decided_at = clock_timestamp()
    WHERE t.user_id = p_user_id AND t.name = p_name;
  END IF;
END
$$;
COMMENT ON FUNCTION memsvc.decide_type(uuid, text, text, text, text) IS
  'Approves, rejects or deprecates a type of a user.';

-- Raises the error if a type is not the user's own (p_status is null), saying whether it is a core type.
CREATE OR REPLACE FUNCTION memsvc.refuse_undecidable(p_kind text, p_name text, p_status text) RETURNS void
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
BEGIN
  IF p_status IS NOT NULL THEN
    RETURN;
  ELSIF EXISTS (
    SELECT FROM node_types AS t WHERE p_kind = 'node' AND t.user_id = memsvc.core_user_id() AND t.name = p_name
    UNION ALL
    SELECT FROM edge_types AS t WHERE p_kind = 'edge' AND t.user_id = memsvc.core_user_id() AND t.name = p_name
  ) THEN
    PERFORM memsvc.refuse_change('type_state', NULL, format('%s is a core type, which cannot be changed.', p_name));
  END IF;
  PERFORM memsvc.refuse_change('not_found', NULL, format('This user has no %s type %s.', p_kind, p_name));
END
$$;
COMMENT ON FUNCTION memsvc.refuse_undecidable(text, text, text) IS 'Refuses a type that is not the user''s own.';

-- Deletes a proposed or rejected type, which no node or fact can have. Row security protects the others.
CREATE OR REPLACE FUNCTION memsvc.withdraw_type(p_user_id uuid, p_kind text, p_name text) RETURNS void
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
DECLARE
  was text;
BEGIN
  IF p_kind = 'node' THEN
    DELETE FROM node_types AS t
    WHERE t.user_id = p_user_id AND t.name = p_name AND t.status IN ('proposed', 'rejected');
  ELSE
    DELETE FROM edge_types AS t
    WHERE t.user_id = p_user_id AND t.name = p_name AND t.status IN ('proposed', 'rejected');
  END IF;
  IF FOUND THEN
    RETURN;
  END IF;
  SELECT k.status INTO was FROM (
    SELECT t.status FROM node_types AS t WHERE p_kind = 'node' AND t.user_id = p_user_id AND t.name = p_name
    UNION ALL
    SELECT t.status FROM edge_types AS t WHERE p_kind = 'edge' AND t.user_id = p_user_id AND t.name = p_name
  ) AS k;
  PERFORM memsvc.refuse_undecidable(p_kind, p_name, was);
  PERFORM memsvc.refuse_change(
    'type_state', NULL, format('%s is %s: it can be deprecated, not withdrawn.', p_name, was)
  );
END
$$;
COMMENT ON FUNCTION memsvc.withdraw_type(uuid, text, text) IS 'Deletes a type that was never approved.';

-- The number of nodes of each type now; merged nodes count as their canonical node.
CREATE OR REPLACE FUNCTION memsvc.count_nodes(p_user_id uuid) RETURNS TABLE (type text, nodes bigint)
LANGUAGE plpgsql STABLE ROWS 50
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-nested-loop
AS $$
DECLARE
  moment CONSTANT timestamptz := clock_timestamp();
BEGIN
  RETURN QUERY
  SELECT v.type, count(*) FROM node_versions AS v
  WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.valid_from <= moment
    AND v.valid_to > moment AND NOT EXISTS (
      SELECT FROM merges AS m
      WHERE m.user_id = p_user_id AND m.node_id = v.node_id AND m.recorded_to = 'infinity'
    )
  GROUP BY v.type;
END
$$;
COMMENT ON FUNCTION memsvc.count_nodes(uuid) IS 'The number of nodes of each type now.';

CREATE OR REPLACE FUNCTION memsvc.count_facts(p_user_id uuid) RETURNS TABLE (type text, facts bigint)
LANGUAGE plpgsql STABLE ROWS 50
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
AS $$
DECLARE
  moment CONSTANT timestamptz := clock_timestamp();
BEGIN
  RETURN QUERY
  SELECT v.type, count(*) FROM edge_versions AS v
  WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.valid_from <= moment
    AND v.valid_to > moment
  GROUP BY v.type;
END
$$;
COMMENT ON FUNCTION memsvc.count_facts(uuid) IS 'The number of facts of each type that are true now.';

-- Whether a type of nodes is Summary, ConceptGroup or Reflection, or refines one. Such a node has words of everything that
-- it rests on.
CREATE OR REPLACE FUNCTION memsvc.tells_of_all(p_user_id uuid, p_type text) RETURNS boolean
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, eraser
-- plans: by-key
BEGIN ATOMIC
  SELECT EXISTS (
    SELECT FROM memsvc.node_types AS t
    WHERE t.user_id IN (memsvc.core_user_id(), p_user_id) AND t.name = p_type
      AND (t.name IN ('Summary', 'ConceptGroup', 'Reflection') OR t.parent IN ('Summary', 'ConceptGroup', 'Reflection'))
  );
END;
COMMENT ON FUNCTION memsvc.tells_of_all(uuid, text) IS 'Whether a type of nodes has words of everything that it rests on.';

-- Whether nodes of this type are texts, or what was made of texts: documents, notes, tasks, summaries, instructions.
-- They stand back when a person, a place or a thing has the same name. False for a type that is not known.
CREATE OR REPLACE FUNCTION memsvc.is_text_type(p_user_id uuid, p_type text) RETURNS boolean
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
BEGIN ATOMIC
  SELECT EXISTS (
    SELECT FROM memsvc.node_types AS t
    WHERE t.user_id IN (memsvc.core_user_id(), p_user_id) AND t.name = p_type AND t.category <> 'entity'
  );
END;
COMMENT ON FUNCTION memsvc.is_text_type(uuid, text) IS 'Whether nodes of this type are texts, or what was made of texts.';
