-- Apache AGE and its privileges. Run by 'memsvc db upgrade' as the administrator, if the server has AGE.
--
-- AGE grants all of its functions to everybody. Some read label tables past row security (variable-length paths,
-- startNode of an invented edge, statistics), load files or make tables. So all grants are revoked, and the functions
-- that Cypher's values and patterns need are granted by name: a function of a newer AGE is not available until it is
-- listed here.
CREATE EXTENSION IF NOT EXISTS age;

REVOKE ALL ON SCHEMA ag_catalog FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA ag_catalog FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA ag_catalog
FROM PUBLIC, memsvc_owner, memsvc_app, memsvc_reader, memsvc_cypher, memsvc_eraser;
REVOKE ALL ON SCHEMA ag_catalog FROM memsvc_reader;
GRANT USAGE ON SCHEMA ag_catalog TO memsvc_owner, memsvc_app, memsvc_cypher, memsvc_eraser;

DO $granted$
DECLARE
  asked CONSTANT text[] := ARRAY[
    'cypher',
    -- patterns
    '_ag_enforce_edge_uniqueness', '_ag_enforce_edge_uniqueness2', '_ag_enforce_edge_uniqueness3',
    '_ag_enforce_edge_uniqueness4', '_agtype_build_edge', '_agtype_build_path', '_agtype_build_vertex',
    '_extract_label_id', '_label_name', 'vertex_eq', 'vertex_ne', 'vertex_to_agtype', 'edge_eq', 'edge_ne',
    'edge_to_agtype', 'graphid_eq', 'graphid_ne', 'graphid_lt', 'graphid_gt', 'graphid_le', 'graphid_ge',
    'graphid_to_agtype', 'agtype_to_graphid', 'graphid_out', 'age_unnest', 'agtype_volatile_wrapper',
    -- values, operators and conversions
    'agtype_in', 'agtype_out', 'agtype_build_map', 'agtype_build_map_nonull', 'agtype_build_list',
    'agtype_access_operator', 'agtype_access_slice', 'agtype_in_operator', 'agtype_add', 'agtype_sub', 'agtype_mul',
    'agtype_div', 'agtype_mod', 'agtype_pow', 'agtype_neg', 'agtype_concat', 'agtype_eq', 'agtype_ne', 'agtype_lt',
    'agtype_gt', 'agtype_le', 'agtype_ge', 'agtype_any_add', 'agtype_any_sub', 'agtype_any_mul', 'agtype_any_div',
    'agtype_any_mod', 'agtype_any_eq', 'agtype_any_ne', 'agtype_any_lt', 'agtype_any_gt', 'agtype_any_le',
    'agtype_any_ge', 'agtype_contains', 'agtype_contained_by', 'agtype_contains_top_level',
    'agtype_contained_by_top_level', 'agtype_exists', 'agtype_exists_any', 'agtype_exists_all', 'agtype_exists_agtype',
    'agtype_exists_any_agtype', 'agtype_exists_all_agtype', 'agtype_object_field', 'agtype_object_field_text',
    'agtype_object_field_agtype', 'agtype_object_field_text_agtype', 'agtype_array_element',
    'agtype_array_element_text', 'agtype_extract_path', 'agtype_extract_path_text', 'agtype_string_match_starts_with',
    'agtype_string_match_ends_with', 'agtype_string_match_contains', 'agtype_typecast_bool', 'agtype_typecast_float',
    'agtype_typecast_int', 'agtype_typecast_numeric', 'agtype_to_bool', 'agtype_to_int2', 'agtype_to_int4',
    'agtype_to_int8', 'agtype_to_float8', 'agtype_to_text', 'agtype_to_json', 'agtype_to_jsonb',
    'agtype_to_int4_array', 'agtype_array_to_agtype', 'bool_to_agtype', 'float8_to_agtype', 'int4_to_agtype',
    'int8_to_agtype', 'text_to_agtype', 'jsonb_to_agtype', 'agtype_hash_cmp', 'agtype_btree_cmp', 'graphid_hash_cmp',
    'graphid_btree_cmp', 'age_eq_tilde',
    -- functions of Cypher: what memsvc/graph/cypher_text.py lists
    'age_id', 'age_start_id', 'age_end_id', 'age_type', 'age_label', 'age_labels', 'age_properties', 'age_keys',
    'age_exists', 'age_isempty', 'age_head', 'age_last', 'age_tail', 'age_size', 'age_length', 'age_nodes',
    'age_relationships', 'age_reverse', 'age_reduce', 'age_abs', 'age_ceil', 'age_floor', 'age_round', 'age_sign',
    'age_sqrt', 'age_exp', 'age_log', 'age_log10', 'age_e', 'age_pi', 'age_rand', 'age_sin', 'age_cos', 'age_tan',
    'age_cot', 'age_asin', 'age_acos', 'age_atan', 'age_atan2', 'age_degrees', 'age_radians', 'age_toboolean',
    'age_tobooleanlist', 'age_tofloat', 'age_tofloatlist', 'age_tointeger', 'age_tointegerlist', 'age_tostring',
    'age_tostringlist', 'age_tolower', 'age_toupper', 'age_trim', 'age_ltrim', 'age_rtrim', 'age_left', 'age_right',
    'age_replace', 'age_split', 'age_substring', 'age_timestamp', 'age_avg', 'age_collect', 'age_max', 'age_min',
    'age_sum', 'age_stdev', 'age_stdevp', 'age_percentilecont', 'age_percentiledisc'
  ];
  written CONSTANT text[] := ARRAY[
    '_graphid', '_label_id', '_extract_label_id', 'agtype_in', 'graphid_out', 'graphid_eq', 'agtype_ne', 'agtype_eq'
  ];
  made CONSTANT text[] := ARRAY[
    'create_graph', 'drop_graph', 'create_vlabel', 'create_elabel', '_graphid', '_label_id', 'agtype_build_map',
    'age_invalidate_graph_cache'
  ];
  one record;
BEGIN
  FOR one IN
    SELECT p.oid::regprocedure AS function, g.roles
    FROM pg_proc AS p
    CROSS JOIN LATERAL (
      VALUES (asked, 'memsvc_cypher'), (written, 'memsvc_app, memsvc_eraser'), (made, 'memsvc_owner')
    ) AS g (names, roles)
    WHERE p.pronamespace = 'ag_catalog'::regnamespace AND p.proname = ANY (g.names)
  LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %s', one.function, one.roles);
  END LOOP;
END
$granted$;

-- Under row security only leakproof functions may use an index before the policy is checked: without these two, every
-- pattern reads all of the user's rows. They are as harmless as int8eq: ids are compared as integers, and a containment
-- returns true or false for two values and fails on none that we store (ADR 0030 has the analysis).
ALTER FUNCTION ag_catalog.graphid_eq(ag_catalog.graphid, ag_catalog.graphid) LEAKPROOF;
ALTER FUNCTION ag_catalog.agtype_contains(ag_catalog.agtype, ag_catalog.agtype) LEAKPROOF;

-- In a session that has loaded AGE, its hooks read every statement, and some plain SQL ends the whole server: SELECT *
-- FROM CAST($1 AS text) AS t. So it is loaded for the Cypher login, whose statements memsvc writes, and in sessions of
-- the application by the triggers, whose statements are in this repository; people at psql cannot load it.
ALTER ROLE memsvc_cypher SET session_preload_libraries = 'age';
