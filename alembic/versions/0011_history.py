"""History of the graph: edges with their versions, merges, evidence, and the list of changes.

Revision: 0011, after 0010.
"""

from __future__ import annotations

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

CHANGES = """
CREATE TABLE memsvc.changes (
  user_id uuid NOT NULL REFERENCES memsvc.users (user_id),
  change_id uuid NOT NULL DEFAULT uuidv7(),
  recorded_at timestamptz NOT NULL,
  asserted_by text NOT NULL CHECK (asserted_by <> '' AND length(asserted_by) <= 200),
  operations text[] NOT NULL,
  undoes uuid,
  PRIMARY KEY (user_id, change_id),
  UNIQUE (user_id, recorded_at),
  FOREIGN KEY (user_id, undoes) REFERENCES memsvc.changes (user_id, change_id)
);
COMMENT ON TABLE memsvc.changes IS
  'One row for each batch of changes to the graph. Its recorded_at is the recorded_from of all that it wrote and the '
  'recorded_to of all that it closed, and no other change of the user has the same. Holds no text.';
COMMENT ON COLUMN memsvc.changes.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.changes.change_id IS 'Time-ordered id.';
COMMENT ON COLUMN memsvc.changes.recorded_at IS 'When memsvc learnt it; later than every earlier change of the user.';
COMMENT ON COLUMN memsvc.changes.asserted_by IS 'Who changed it: user, app, or the name of an extractor.';
COMMENT ON COLUMN memsvc.changes.operations IS 'Which kinds of operations it held.';
COMMENT ON COLUMN memsvc.changes.undoes IS 'The change that it undoes.';

-- Row locks need the right to update some column. This one can hold one value only.
ALTER TABLE memsvc.nodes
  ADD COLUMN lockable boolean NOT NULL DEFAULT true CONSTRAINT nodes_never_change CHECK (lockable);
COMMENT ON COLUMN memsvc.nodes.lockable IS
  'Always true. The right to update it is what lets writers lock the row; nothing about a node changes.';

ALTER TABLE memsvc.node_versions
  ADD COLUMN asserted_by text NOT NULL DEFAULT 'app' CONSTRAINT node_versions_asserted CHECK (asserted_by <> ''),
  ADD COLUMN derived_from uuid;
ALTER TABLE memsvc.aliases ADD COLUMN derived_from uuid;
CREATE INDEX node_versions_past ON memsvc.node_versions (user_id, node_id) WHERE recorded_to < 'infinity';
CREATE INDEX node_versions_recorded ON memsvc.node_versions (user_id, recorded_from);
CREATE INDEX node_versions_closed ON memsvc.node_versions (user_id, recorded_to) WHERE recorded_to < 'infinity';
DROP INDEX memsvc.aliases_of_node;
CREATE INDEX aliases_of_node ON memsvc.aliases (user_id, node_id, normal_form);
CREATE INDEX aliases_past ON memsvc.aliases (user_id, normal_form) WHERE recorded_to < 'infinity';
CREATE INDEX aliases_recorded ON memsvc.aliases (user_id, recorded_from);
CREATE INDEX aliases_closed ON memsvc.aliases (user_id, recorded_to) WHERE recorded_to < 'infinity';
COMMENT ON COLUMN memsvc.node_versions.asserted_by IS 'Who says so: user, app, or the name of an extractor.';
COMMENT ON COLUMN memsvc.node_versions.derived_from IS
  'The version that this one is a remainder or a restoration of; its evidence was copied.';
COMMENT ON COLUMN memsvc.aliases.derived_from IS
  'The alias row that this one is a remainder or a restoration of; its evidence was copied.';
"""

EDGES = """
CREATE TABLE memsvc.edges (
  user_id uuid NOT NULL,
  edge_id uuid NOT NULL DEFAULT uuidv7(),
  gid bigint GENERATED ALWAYS AS IDENTITY,
  from_node uuid NOT NULL,
  type text NOT NULL REFERENCES memsvc.edge_types (name),
  to_node uuid NOT NULL,
  key text NOT NULL DEFAULT '' CHECK (length(key) <= 200),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (user_id, edge_id),
  UNIQUE (user_id, gid),
  UNIQUE (user_id, from_node, type, to_node, key),
  CONSTRAINT edges_ends UNIQUE (user_id, edge_id, from_node, type, to_node),
  FOREIGN KEY (user_id, from_node) REFERENCES memsvc.nodes (user_id, node_id),
  FOREIGN KEY (user_id, to_node) REFERENCES memsvc.nodes (user_id, node_id)
);
COMMENT ON TABLE memsvc.edges IS
  'Identity of a relation between two nodes as they are stored. What is known about it stands in edge_versions; merges '
  'change nothing here.';
COMMENT ON COLUMN memsvc.edges.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.edges.edge_id IS 'Stable for ever.';
COMMENT ON COLUMN memsvc.edges.gid IS 'A small number for graph projections.';
COMMENT ON COLUMN memsvc.edges.from_node IS 'Where it starts.';
COMMENT ON COLUMN memsvc.edges.type IS 'Its type in the ontology.';
COMMENT ON COLUMN memsvc.edges.to_node IS 'Where it ends.';
COMMENT ON COLUMN memsvc.edges.key IS 'Tells several relations of one type between the same two nodes apart.';
COMMENT ON COLUMN memsvc.edges.created_at IS 'When it was first recorded.';

CREATE TABLE memsvc.edge_versions (
  user_id uuid NOT NULL,
  version_id uuid NOT NULL DEFAULT uuidv7(),
  edge_id uuid NOT NULL,
  from_node uuid NOT NULL,
  type text NOT NULL,
  to_node uuid NOT NULL,
  functional boolean NOT NULL,
  fact text NOT NULL CHECK (btrim(fact) <> ''),
  data jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(data) = 'object'),
  weight real NOT NULL DEFAULT 1 CHECK (weight >= 0 AND weight < 'infinity'),
  confidence real NOT NULL DEFAULT 1 CHECK (confidence > 0 AND confidence <= 1),
  asserted_by text NOT NULL CHECK (asserted_by <> ''),
  derived_from uuid,
  valid_from timestamptz NOT NULL DEFAULT '-infinity',
  valid_to timestamptz NOT NULL DEFAULT 'infinity' CHECK (valid_to > valid_from),
  recorded_from timestamptz NOT NULL,
  recorded_to timestamptz NOT NULL DEFAULT 'infinity' CHECK (recorded_to >= recorded_from),
  PRIMARY KEY (user_id, version_id),
  FOREIGN KEY (user_id, edge_id, from_node, type, to_node)
  REFERENCES memsvc.edges (user_id, edge_id, from_node, type, to_node),
  CONSTRAINT edge_versions_one_truth EXCLUDE USING gist (
    user_id WITH =, edge_id WITH =,
    tstzrange(valid_from, valid_to) WITH &&, tstzrange(recorded_from, recorded_to) WITH &&
  ),
  CONSTRAINT edge_versions_one_value EXCLUDE USING gist (
    user_id WITH =, from_node WITH =, type WITH =,
    tstzrange(valid_from, valid_to) WITH &&, tstzrange(recorded_from, recorded_to) WITH &&
  ) WHERE (functional)
);
CREATE INDEX edge_versions_current ON memsvc.edge_versions (user_id, edge_id) WHERE recorded_to = 'infinity';
CREATE INDEX edge_versions_from ON memsvc.edge_versions (user_id, from_node, type) WHERE recorded_to = 'infinity';
CREATE INDEX edge_versions_to ON memsvc.edge_versions (user_id, to_node, type) WHERE recorded_to = 'infinity';
CREATE INDEX edge_versions_past_from ON memsvc.edge_versions (user_id, from_node, type)
  WHERE recorded_to < 'infinity';
CREATE INDEX edge_versions_past_to ON memsvc.edge_versions (user_id, to_node, type) WHERE recorded_to < 'infinity';
CREATE INDEX edge_versions_recorded ON memsvc.edge_versions (user_id, recorded_from);
CREATE INDEX edge_versions_closed ON memsvc.edge_versions (user_id, recorded_to) WHERE recorded_to < 'infinity';
COMMENT ON TABLE memsvc.edge_versions IS
  'What was known about a relation: append-only, the only update closes recorded_to. Valid time is the world''s, '
  'recorded time is ours.';
COMMENT ON COLUMN memsvc.edge_versions.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.edge_versions.version_id IS 'Time-ordered id of this version.';
COMMENT ON COLUMN memsvc.edge_versions.edge_id IS 'The relation described.';
COMMENT ON COLUMN memsvc.edge_versions.from_node IS 'The relation''s start, as in edges.';
COMMENT ON COLUMN memsvc.edge_versions.type IS 'The relation''s type, as in edges.';
COMMENT ON COLUMN memsvc.edge_versions.to_node IS 'The relation''s end, as in edges.';
COMMENT ON COLUMN memsvc.edge_versions.functional IS
  'Whether the type allowed one value at a time when this was written: two such of one start never overlap.';
COMMENT ON COLUMN memsvc.edge_versions.fact IS 'The fact as a sentence.';
COMMENT ON COLUMN memsvc.edge_versions.data IS 'Further properties.';
COMMENT ON COLUMN memsvc.edge_versions.weight IS 'How strong the relation is; 1 where nobody says.';
COMMENT ON COLUMN memsvc.edge_versions.confidence IS 'Above 0, at most 1.';
COMMENT ON COLUMN memsvc.edge_versions.asserted_by IS 'Who says so: user, app, or the name of an extractor.';
COMMENT ON COLUMN memsvc.edge_versions.derived_from IS
  'The version that this one is a remainder or a restoration of; its evidence was copied.';
COMMENT ON COLUMN memsvc.edge_versions.valid_from IS 'From when it was true; -infinity: as far as known, always.';
COMMENT ON COLUMN memsvc.edge_versions.valid_to IS 'Until when it was true; infinity: it still is.';
COMMENT ON COLUMN memsvc.edge_versions.recorded_from IS 'When memsvc learnt it.';
COMMENT ON COLUMN memsvc.edge_versions.recorded_to IS 'When memsvc learnt better; infinity: it has not.';
"""

MERGES = """
CREATE TABLE memsvc.merges (
  user_id uuid NOT NULL,
  merge_id uuid NOT NULL DEFAULT uuidv7(),
  node_id uuid NOT NULL,
  canonical_id uuid NOT NULL CHECK (canonical_id <> node_id),
  reason text NOT NULL DEFAULT '',
  confidence real NOT NULL DEFAULT 1 CHECK (confidence > 0 AND confidence <= 1),
  asserted_by text NOT NULL CHECK (asserted_by <> ''),
  recorded_from timestamptz NOT NULL,
  recorded_to timestamptz NOT NULL DEFAULT 'infinity' CHECK (recorded_to >= recorded_from),
  PRIMARY KEY (user_id, merge_id),
  FOREIGN KEY (user_id, node_id) REFERENCES memsvc.nodes (user_id, node_id),
  FOREIGN KEY (user_id, canonical_id) REFERENCES memsvc.nodes (user_id, node_id),
  CONSTRAINT merges_one_canonical EXCLUDE USING gist (
    user_id WITH =, node_id WITH =, tstzrange(recorded_from, recorded_to) WITH &&
  )
);
CREATE INDEX merges_of_node ON memsvc.merges (user_id, node_id);
CREATE INDEX merges_into ON memsvc.merges (user_id, canonical_id);
CREATE INDEX merges_recorded ON memsvc.merges (user_id, recorded_from);
CREATE INDEX merges_closed ON memsvc.merges (user_id, recorded_to) WHERE recorded_to < 'infinity';
COMMENT ON TABLE memsvc.merges IS
  'This node is the same as that one. Reads resolve through it; nothing is moved, so closing the row takes it back.';
COMMENT ON COLUMN memsvc.merges.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.merges.merge_id IS 'Time-ordered id.';
COMMENT ON COLUMN memsvc.merges.node_id IS 'The node that is seen as another.';
COMMENT ON COLUMN memsvc.merges.canonical_id IS 'The node that stands for it; it may be merged itself.';
COMMENT ON COLUMN memsvc.merges.reason IS 'Why, for people.';
COMMENT ON COLUMN memsvc.merges.confidence IS 'Above 0, at most 1.';
COMMENT ON COLUMN memsvc.merges.asserted_by IS 'Who says so: user, app, or the name of a judge.';
COMMENT ON COLUMN memsvc.merges.recorded_from IS 'When memsvc learnt it.';
COMMENT ON COLUMN memsvc.merges.recorded_to IS 'When memsvc learnt better; infinity: it has not.';
"""

LINKS = """
CREATE TABLE memsvc.source_links (
  user_id uuid NOT NULL,
  link_id uuid NOT NULL DEFAULT uuidv7(),
  passage_id uuid NOT NULL,
  span_from integer CHECK (span_from >= 0),
  span_to integer,
  node_id uuid,
  node_version_id uuid,
  edge_version_id uuid,
  alias_id uuid,
  merge_id uuid,
  stance text NOT NULL DEFAULT 'supports' CHECK (stance IN ('supports', 'ends')),
  confidence real NOT NULL DEFAULT 1 CHECK (confidence > 0 AND confidence <= 1),
  asserted_by text NOT NULL CHECK (asserted_by <> ''),
  recorded_from timestamptz NOT NULL,
  recorded_to timestamptz NOT NULL DEFAULT 'infinity' CHECK (recorded_to >= recorded_from),
  PRIMARY KEY (user_id, link_id),
  FOREIGN KEY (user_id, passage_id) REFERENCES memsvc.passages (user_id, passage_id),
  FOREIGN KEY (user_id, node_id) REFERENCES memsvc.nodes (user_id, node_id),
  FOREIGN KEY (user_id, node_version_id) REFERENCES memsvc.node_versions (user_id, version_id),
  FOREIGN KEY (user_id, edge_version_id) REFERENCES memsvc.edge_versions (user_id, version_id),
  FOREIGN KEY (user_id, alias_id) REFERENCES memsvc.aliases (user_id, alias_id),
  FOREIGN KEY (user_id, merge_id) REFERENCES memsvc.merges (user_id, merge_id),
  CONSTRAINT source_links_one_subject
  CHECK (num_nonnulls(node_id, node_version_id, edge_version_id, alias_id, merge_id) = 1),
  CONSTRAINT source_links_span CHECK ((span_from IS NULL) = (span_to IS NULL) AND span_to > span_from)
);
CREATE INDEX source_links_of_passage ON memsvc.source_links (user_id, passage_id);
CREATE INDEX source_links_of_node ON memsvc.source_links (user_id, node_id) WHERE node_id IS NOT NULL;
CREATE INDEX source_links_of_node_version ON memsvc.source_links (user_id, node_version_id)
  WHERE node_version_id IS NOT NULL;
CREATE INDEX source_links_of_edge_version ON memsvc.source_links (user_id, edge_version_id)
  WHERE edge_version_id IS NOT NULL;
CREATE INDEX source_links_of_alias ON memsvc.source_links (user_id, alias_id) WHERE alias_id IS NOT NULL;
CREATE INDEX source_links_of_merge ON memsvc.source_links (user_id, merge_id) WHERE merge_id IS NOT NULL;
CREATE INDEX source_links_recorded ON memsvc.source_links (user_id, recorded_from);
COMMENT ON TABLE memsvc.source_links IS
  'Evidence: which passage, and which span of it, speaks for what the graph holds. Append-only, as versions are.';
COMMENT ON COLUMN memsvc.source_links.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.source_links.link_id IS 'Time-ordered id.';
COMMENT ON COLUMN memsvc.source_links.passage_id IS 'The passage.';
COMMENT ON COLUMN memsvc.source_links.span_from IS 'First character of the span, from 0; null: the whole passage.';
COMMENT ON COLUMN memsvc.source_links.span_to IS 'The character behind the span.';
COMMENT ON COLUMN memsvc.source_links.node_id IS 'What it speaks for: a node as such.';
COMMENT ON COLUMN memsvc.source_links.node_version_id IS 'What it speaks for: properties of a node.';
COMMENT ON COLUMN memsvc.source_links.edge_version_id IS 'What it speaks for: a fact.';
COMMENT ON COLUMN memsvc.source_links.alias_id IS 'What it speaks for: a name.';
COMMENT ON COLUMN memsvc.source_links.merge_id IS 'What it speaks for: that two nodes are the same.';
COMMENT ON COLUMN memsvc.source_links.stance IS
  'supports; ends: it says that this is not so, or not any more, and is the reason why the version was closed.';
COMMENT ON COLUMN memsvc.source_links.confidence IS 'How well the passage shows it: above 0, at most 1.';
COMMENT ON COLUMN memsvc.source_links.asserted_by IS 'Who read it so.';
COMMENT ON COLUMN memsvc.source_links.recorded_from IS 'When memsvc learnt it.';
COMMENT ON COLUMN memsvc.source_links.recorded_to IS 'When it was taken back; infinity: it was not.';
"""

# The owner has no policy there, so force is lifted for the two rows.
ONTOLOGY = """
ALTER TABLE memsvc.edge_types NO FORCE ROW LEVEL SECURITY;
INSERT INTO memsvc.edge_types (name, category, from_types, to_types, functional, description) VALUES
  ('PART_OF', 'general', '{}', '{}', false, 'A is a part of B.'),
  ('PRECEDES', 'time', '{}', '{}', false, 'A comes before B.')
ON CONFLICT (name) DO NOTHING;
ALTER TABLE memsvc.edge_types FORCE ROW LEVEL SECURITY;
"""

ROW_SECURITY = """
ALTER TABLE memsvc.changes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE memsvc.edges ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE memsvc.edge_versions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE memsvc.merges ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE memsvc.source_links ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""


def upgrade() -> None:
    for script in (CHANGES, EDGES, MERGES, LINKS, ONTOLOGY, ROW_SECURITY):
        op.execute(script)
