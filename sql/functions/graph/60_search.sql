-- Finds nodes by labels and names, in their normal form.

-- Stores the normal form of a label with it, for every writer.
CREATE OR REPLACE FUNCTION memsvc.form_label() RETURNS trigger
LANGUAGE plpgsql
SET search_path = memsvc, pg_temp
-- callers: app
AS $$
BEGIN
  NEW.label_form := memsvc.normal_form(NEW.label);
  RETURN NEW;
END
$$;
COMMENT ON FUNCTION memsvc.form_label() IS 'Trigger: stores the normal form of a label.';

CREATE OR REPLACE TRIGGER formed BEFORE INSERT ON memsvc.node_versions
FOR EACH ROW EXECUTE FUNCTION memsvc.form_label();

-- How well a name matches the wanted text, both in normal form: 0 equal, 1 begins with it, 2 a word begins with it, 3
-- contains it; null: no match, which is the most frequent result.
CREATE OR REPLACE FUNCTION memsvc.name_tier(p_name text, p_wanted text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- callers: app, reader, recall
RETURN CASE
  WHEN strpos(p_name, p_wanted) = 0 THEN NULL
  WHEN p_name = p_wanted THEN 0
  WHEN starts_with(p_name, p_wanted) THEN 1
  WHEN strpos(p_name, ' ' || p_wanted) > 0 THEN 2
  ELSE 3
END;
COMMENT ON FUNCTION memsvc.name_tier(text, text) IS 'How well a name matches a wanted text: 0 (equal) to 3.';

-- Labels and names of one tier after a given one, in the order of their bytes and then of their nodes. Tiers 0 and 1
-- are a range of an index; 2 and 3 read all names of the user until enough are found. With p_known_at, versions that
-- were closed since then are read as well. Without a wanted text (''), only labels are returned. p_type: nodes that
-- ever had it, or were ever merged. Each branch returns its first few in the order of its index.
CREATE OR REPLACE FUNCTION memsvc.names_matching(
  p_user_id uuid, p_wanted text, p_tier integer, p_type text, p_as_of timestamptz, p_known_at timestamptz,
  p_after_form text, p_after_node uuid, p_limit integer
) RETURNS TABLE (form text, node_id uuid)
LANGUAGE plpgsql STABLE ROWS 50
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key, no-sort, no-bitmap
AS $$
DECLARE
  low CONSTANT text := greatest(CASE WHEN p_tier < 2 THEN p_wanted ELSE '' END, p_after_form COLLATE "C");
  high CONSTANT text := CASE p_tier WHEN 0 THEN p_wanted WHEN 1 THEN p_wanted || chr(1114111) ELSE chr(1114111) END;
  after_node CONSTANT uuid := coalesce(p_after_node, '00000000-0000-0000-0000-000000000000');
  since CONSTANT timestamptz := coalesce(p_as_of, '-infinity'); -- any time: ends after the begin of time,
  moment CONSTANT timestamptz := coalesce(p_as_of, 'infinity'); -- and begins before its end
BEGIN
  RETURN QUERY
  SELECT m.form, m.node_id FROM (
    SELECT DISTINCT v.label_form AS form, v.node_id FROM node_versions AS v
    WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.label_form >= low AND v.label_form <= high
      AND (v.label_form, v.node_id) > (p_after_form COLLATE "C", after_node)
      AND v.valid_from <= moment AND v.valid_to > since AND v.recorded_from <= coalesce(p_known_at, 'infinity')
      AND memsvc.name_tier(v.label_form, p_wanted) = p_tier
      AND (p_type IS NULL OR v.type = p_type
        OR v.node_id IN (SELECT g.node_id FROM merges AS g WHERE g.user_id = p_user_id))
    ORDER BY v.label_form, v.node_id LIMIT p_limit
  ) AS m;
  IF p_wanted <> '' THEN
    RETURN QUERY
    SELECT m.form, m.node_id FROM (
      SELECT DISTINCT v.normal_form COLLATE "C" AS form, v.node_id FROM aliases AS v
      WHERE v.user_id = p_user_id AND v.recorded_to = 'infinity' AND v.normal_form COLLATE "C" >= low
        AND v.normal_form COLLATE "C" <= high AND (v.normal_form COLLATE "C", v.node_id) > (p_after_form, after_node)
        AND v.valid_from <= moment AND v.valid_to > since AND v.recorded_from <= coalesce(p_known_at, 'infinity')
        AND memsvc.name_tier(v.normal_form, p_wanted) = p_tier
        AND (p_type IS NULL
          OR v.node_id IN (SELECT o.node_id FROM node_versions AS o WHERE o.user_id = p_user_id AND o.type = p_type)
          OR v.node_id IN (SELECT g.node_id FROM merges AS g WHERE g.user_id = p_user_id))
      ORDER BY v.normal_form COLLATE "C", v.node_id LIMIT p_limit
    ) AS m;
  END IF;
  IF p_known_at IS NOT NULL THEN
    RETURN QUERY
    SELECT DISTINCT m.form, m.node_id FROM (
      SELECT v.label_form AS form, v.node_id, v.valid_from, v.valid_to FROM node_versions AS v
      WHERE v.user_id = p_user_id AND v.recorded_to < 'infinity' AND v.recorded_to > p_known_at
        AND v.recorded_from <= p_known_at
      UNION ALL
      SELECT v.normal_form COLLATE "C", v.node_id, v.valid_from, v.valid_to FROM aliases AS v
      WHERE v.user_id = p_user_id AND v.recorded_to < 'infinity' AND v.recorded_to > p_known_at
        AND v.recorded_from <= p_known_at AND p_wanted <> ''
    ) AS m
    WHERE (m.form, m.node_id) > (p_after_form COLLATE "C", after_node) AND m.valid_from <= moment AND m.valid_to > since
      AND memsvc.name_tier(m.form, p_wanted) = p_tier
      AND (p_type IS NULL
        OR m.node_id IN (SELECT o.node_id FROM node_versions AS o WHERE o.user_id = p_user_id AND o.type = p_type)
        OR m.node_id IN (SELECT g.node_id FROM merges AS g WHERE g.user_id = p_user_id))
    ORDER BY m.form, m.node_id LIMIT p_limit;
  END IF;
END
$$;
COMMENT ON FUNCTION memsvc.names_matching(
  uuid, text, integer, text, timestamptz, timestamptz, text, uuid, integer
) IS 'Labels and names of one tier that match a wanted text; the first few of each kind.';

-- Those of some names of one tier that are the best of all names of their node and the nodes merged with it. So a node
-- is returned once on all pages, however many of its names match.
CREATE OR REPLACE FUNCTION memsvc.best_names(
  p_user_id uuid, p_wanted text, p_tier integer, p_forms text[], p_nodes uuid[], p_as_of timestamptz,
  p_known_at timestamptz
) RETURNS TABLE (place integer, canonical_id uuid, form text, node_id uuid, name text)
LANGUAGE sql STABLE
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
BEGIN ATOMIC
  WITH called AS MATERIALIZED (
    SELECT s.canonical_id, s.node_id, s.label AS name, memsvc.normal_form(s.label) AS form
    FROM memsvc.node_states(p_user_id, p_nodes, p_as_of, p_known_at) AS s
    UNION ALL
    SELECT a.canonical_id, a.node_id, a.alias, a.normal_form
    FROM memsvc.node_names(p_user_id, p_nodes, p_as_of, p_known_at) AS a WHERE p_wanted <> ''
  ),
  best AS MATERIALIZED (
    SELECT DISTINCT ON (c.canonical_id) c.canonical_id, c.node_id, c.name, c.form,
      memsvc.name_tier(c.form, p_wanted) AS tier
    FROM called AS c
    WHERE memsvc.name_tier(c.form, p_wanted) IS NOT NULL
    ORDER BY c.canonical_id, memsvc.name_tier(c.form, p_wanted), c.form COLLATE "C", c.node_id
  )
  SELECT g.place::integer, b.canonical_id, g.form, g.node_id, b.name
  FROM unnest(p_forms, p_nodes) WITH ORDINALITY AS g (form, node_id, place)
  INNER JOIN best AS b ON b.node_id = g.node_id AND b.form = g.form AND b.tier = p_tier;
END;
COMMENT ON FUNCTION memsvc.best_names(uuid, text, integer, text[], uuid[], timestamptz, timestamptz) IS
  'Those of some names that are the best of all names of their node.';

-- Nodes by label or name, best matches first: equal, then beginning with the text, then with a word that begins with
-- it, then containing it. Without a wanted text, all nodes with a label, in its order. Merged nodes are returned once,
-- as their canonical node. A page continues after (tier, form, node) of the last row.
CREATE OR REPLACE FUNCTION memsvc.search_nodes(
  p_user_id uuid, p_query text, p_type text, p_as_of timestamptz, p_known_at timestamptz, p_after_tier integer,
  p_after_form text, p_after_node uuid, p_limit integer
) RETURNS TABLE (canonical_id uuid, tier integer, form text, node_id uuid, name text)
LANGUAGE plpgsql STABLE ROWS 50
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
AS $$
#variable_conflict use_column
DECLARE
  wanted CONSTANT text := coalesce(memsvc.normal_form(p_query), '');
  at_once CONSTANT integer := p_limit + 10;
  after_form text := p_after_form;
  after_node uuid := p_after_node;
  forms text[];
  nodes uuid[];
  missing integer := p_limit;
  got integer;
BEGIN
  FOR t IN coalesce(p_after_tier, 0) .. CASE WHEN wanted = '' THEN 1 ELSE 3 END LOOP
    LOOP
      SELECT array_agg(d.form ORDER BY d.form COLLATE "C", d.node_id),
        array_agg(d.node_id ORDER BY d.form COLLATE "C", d.node_id)
      INTO forms, nodes
      FROM (
        SELECT m.form, m.node_id FROM memsvc.names_matching(
          p_user_id, wanted, t, p_type, p_as_of, p_known_at, coalesce(after_form, ''), after_node, at_once
        ) AS m
        GROUP BY m.form, m.node_id
        ORDER BY m.form COLLATE "C", m.node_id
        LIMIT at_once
      ) AS d;
      EXIT WHEN nodes IS NULL;
      RETURN QUERY
      SELECT b.canonical_id, t, b.form, b.node_id, b.name
      FROM memsvc.best_names(p_user_id, wanted, t, forms, nodes, p_as_of, p_known_at) AS b
      WHERE p_type IS NULL OR b.canonical_id IN (
        SELECT c.canonical_id FROM memsvc.node_cards(p_user_id, nodes, p_as_of, p_known_at) AS c WHERE c.type = p_type
      )
      ORDER BY b.place
      LIMIT missing;
      GET DIAGNOSTICS got = ROW_COUNT;
      missing := missing - got;
      IF missing <= 0 THEN
        RETURN;
      END IF;
      EXIT WHEN cardinality(nodes) < at_once;
      after_form := forms[cardinality(forms)];
      after_node := nodes[cardinality(nodes)];
    END LOOP;
    after_form := NULL;
    after_node := NULL;
  END LOOP;
END
$$;
COMMENT ON FUNCTION memsvc.search_nodes(
  uuid, text, text, timestamptz, timestamptz, integer, text, uuid, integer
) IS 'Nodes by label or name, best matches first; merged nodes once.';

-- Those of some nodes of which a label or name, or one of a node merged with them, contains a wanted text: what
-- memsvc.search_nodes lists. As canonical nodes.
CREATE OR REPLACE FUNCTION memsvc.nodes_called_like(
  p_user_id uuid, p_query text, p_nodes uuid[], p_as_of timestamptz, p_known_at timestamptz
) RETURNS SETOF uuid
LANGUAGE sql STABLE ROWS 10
SET search_path = memsvc, pg_temp
-- callers: app, reader, recall
-- plans: by-key
BEGIN ATOMIC
  SELECT s.canonical_id FROM memsvc.node_states(p_user_id, p_nodes, p_as_of, p_known_at) AS s
  WHERE memsvc.name_tier(memsvc.normal_form(s.label), memsvc.normal_form(p_query)) IS NOT NULL
  UNION
  SELECT a.canonical_id FROM memsvc.node_names(p_user_id, p_nodes, p_as_of, p_known_at) AS a
  WHERE memsvc.name_tier(a.normal_form, memsvc.normal_form(p_query)) IS NOT NULL;
END;
COMMENT ON FUNCTION memsvc.nodes_called_like(uuid, text, uuid[], timestamptz, timestamptz) IS
  'Those of some nodes of which a label or name contains a wanted text.';
