"""The core ontology, nodes with their versions, and aliases.

Revision: 0002, after 0001.
"""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE memsvc.node_types (
  name text PRIMARY KEY,
  category text NOT NULL,
  description text NOT NULL
);
COMMENT ON TABLE memsvc.node_types IS 'Core ontology: what a node can be. The same for everybody; not a memory.';
COMMENT ON COLUMN memsvc.node_types.name IS 'For example Person.';
COMMENT ON COLUMN memsvc.node_types.category IS 'entity, knowledge, record, derived or procedure.';
COMMENT ON COLUMN memsvc.node_types.description IS 'What belongs under it, and what does not.';

CREATE TABLE memsvc.edge_types (
  name text PRIMARY KEY,
  category text NOT NULL,
  from_types text[] NOT NULL,
  to_types text[] NOT NULL,
  functional boolean NOT NULL DEFAULT false,
  description text NOT NULL
);
COMMENT ON TABLE memsvc.edge_types IS
  'Core ontology: how two nodes can be related. The same for everybody; not a memory.';
COMMENT ON COLUMN memsvc.edge_types.name IS 'For example LIVES_IN.';
COMMENT ON COLUMN memsvc.edge_types.category IS 'social, place, time, preference, work, logic, provenance or general.';
COMMENT ON COLUMN memsvc.edge_types.from_types IS 'Node types it may start at; empty: any.';
COMMENT ON COLUMN memsvc.edge_types.to_types IS 'Node types it may end at; empty: any.';
COMMENT ON COLUMN memsvc.edge_types.functional IS
  'True: one current value for each start node, so a new one closes the old.';
COMMENT ON COLUMN memsvc.edge_types.description IS 'How the sentence reads.';

CREATE TABLE memsvc.nodes (
  user_id uuid NOT NULL REFERENCES memsvc.users (user_id),
  node_id uuid NOT NULL DEFAULT uuidv7(),
  gid bigint GENERATED ALWAYS AS IDENTITY,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (user_id, node_id),
  UNIQUE (user_id, gid)
);
COMMENT ON TABLE memsvc.nodes IS 'Identity only. What is known about a node stands in node_versions and aliases.';
COMMENT ON COLUMN memsvc.nodes.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.nodes.node_id IS 'Stable for ever, also through merges.';
COMMENT ON COLUMN memsvc.nodes.gid IS 'A small number for graph projections.';
COMMENT ON COLUMN memsvc.nodes.created_at IS 'When the node was first recorded.';

CREATE TABLE memsvc.node_versions (
  user_id uuid NOT NULL,
  version_id uuid NOT NULL DEFAULT uuidv7(),
  node_id uuid NOT NULL,
  type text NOT NULL REFERENCES memsvc.node_types (name),
  label text NOT NULL CHECK (label <> ''),
  description text NOT NULL DEFAULT '',
  data jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(data) = 'object'),
  importance real NOT NULL DEFAULT 5 CHECK (importance BETWEEN 1 AND 10),
  valid_from timestamptz NOT NULL DEFAULT '-infinity',
  valid_to timestamptz NOT NULL DEFAULT 'infinity' CHECK (valid_to > valid_from),
  recorded_from timestamptz NOT NULL DEFAULT clock_timestamp(),
  recorded_to timestamptz NOT NULL DEFAULT 'infinity' CHECK (recorded_to >= recorded_from),
  PRIMARY KEY (user_id, version_id),
  FOREIGN KEY (user_id, node_id) REFERENCES memsvc.nodes (user_id, node_id),
  CONSTRAINT node_versions_one_truth EXCLUDE USING gist (
    user_id WITH =, node_id WITH =,
    tstzrange(valid_from, valid_to) WITH &&, tstzrange(recorded_from, recorded_to) WITH &&
  )
);
CREATE INDEX node_versions_current ON memsvc.node_versions (user_id, node_id) WHERE recorded_to = 'infinity';
COMMENT ON TABLE memsvc.node_versions IS
  'What was known about a node: append-only, the only update closes recorded_to. Valid time is the world''s, '
  'recorded time is ours.';
COMMENT ON COLUMN memsvc.node_versions.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.node_versions.version_id IS 'Time-ordered id of this version.';
COMMENT ON COLUMN memsvc.node_versions.node_id IS 'The node described.';
COMMENT ON COLUMN memsvc.node_versions.type IS 'Its type in the ontology.';
COMMENT ON COLUMN memsvc.node_versions.label IS 'Its display name.';
COMMENT ON COLUMN memsvc.node_versions.description IS 'A sentence or two.';
COMMENT ON COLUMN memsvc.node_versions.data IS 'Further properties.';
COMMENT ON COLUMN memsvc.node_versions.importance IS '1 (trivial) to 10 (life-changing).';
COMMENT ON COLUMN memsvc.node_versions.valid_from IS 'From when it was true; -infinity: as far as known, always.';
COMMENT ON COLUMN memsvc.node_versions.valid_to IS 'Until when it was true; infinity: it still is.';
COMMENT ON COLUMN memsvc.node_versions.recorded_from IS 'When memsvc learnt it.';
COMMENT ON COLUMN memsvc.node_versions.recorded_to IS 'When memsvc learnt better; infinity: it has not.';

CREATE TABLE memsvc.aliases (
  user_id uuid NOT NULL,
  alias_id uuid NOT NULL DEFAULT uuidv7(),
  node_id uuid NOT NULL,
  alias text NOT NULL CHECK (alias <> '' AND length(alias) <= 200),
  normal_form text NOT NULL CHECK (normal_form <> ''),
  confidence real NOT NULL DEFAULT 1 CHECK (confidence > 0 AND confidence <= 1),
  asserted_by text NOT NULL,
  valid_from timestamptz NOT NULL DEFAULT '-infinity',
  valid_to timestamptz NOT NULL DEFAULT 'infinity' CHECK (valid_to > valid_from),
  recorded_from timestamptz NOT NULL DEFAULT clock_timestamp(),
  recorded_to timestamptz NOT NULL DEFAULT 'infinity' CHECK (recorded_to >= recorded_from),
  PRIMARY KEY (user_id, alias_id),
  FOREIGN KEY (user_id, node_id) REFERENCES memsvc.nodes (user_id, node_id),
  CONSTRAINT aliases_once EXCLUDE USING gist (
    user_id WITH =, node_id WITH =, normal_form WITH =,
    tstzrange(valid_from, valid_to) WITH &&, tstzrange(recorded_from, recorded_to) WITH &&
  )
);
CREATE INDEX aliases_current ON memsvc.aliases (user_id, normal_form) WHERE recorded_to = 'infinity';
CREATE INDEX aliases_of_node ON memsvc.aliases (user_id, node_id);
COMMENT ON TABLE memsvc.aliases IS
  'What a node is called, by whom, and when. Two nodes may share a name: it is then ambiguous, not wrong.';
COMMENT ON COLUMN memsvc.aliases.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.aliases.alias_id IS 'Time-ordered id.';
COMMENT ON COLUMN memsvc.aliases.node_id IS 'The node that is called so.';
COMMENT ON COLUMN memsvc.aliases.alias IS 'The name as it was written.';
COMMENT ON COLUMN memsvc.aliases.normal_form IS 'normal_form(alias): what look-ups compare.';
COMMENT ON COLUMN memsvc.aliases.confidence IS 'Above 0, at most 1.';
COMMENT ON COLUMN memsvc.aliases.asserted_by IS 'Who says so: user, app, or the name of an extractor.';
COMMENT ON COLUMN memsvc.aliases.valid_from IS 'From when it was called so.';
COMMENT ON COLUMN memsvc.aliases.valid_to IS 'Until when.';
COMMENT ON COLUMN memsvc.aliases.recorded_from IS 'When memsvc learnt it.';
COMMENT ON COLUMN memsvc.aliases.recorded_to IS 'When memsvc learnt better.';
"""

ONTOLOGY = """
INSERT INTO memsvc.node_types (name, category, description) VALUES
  ('Person', 'entity', 'A human being, or an animal that is spoken of like one.'),
  ('Organization', 'entity', 'A company, team, school, authority, club or band.'),
  ('Place', 'entity', 'Somewhere one can be: a city, a street, a room, a shop as a location.'),
  ('Event', 'entity', 'Something that happens at a time: a wedding, a meeting, a trip.'),
  ('Object', 'entity', 'A thing that can be owned, used or lost; also a product or a tool.'),
  ('Concept', 'entity', 'An idea, a topic, a field, an illness, a language.'),
  ('Project', 'entity', 'An undertaking with a goal that lasts for a while.'),
  ('Media', 'entity', 'A book, film, song, picture or recording as a work.'),
  ('Emotion', 'entity', 'A feeling that somebody has.'),
  ('Document', 'record', 'A text with a life of its own, through all its versions.'),
  ('DocumentVersion', 'record', 'One state of a document.'),
  ('Note', 'knowledge', 'A fact, preference, decision, insight, question or concept, written down (data.kind).'),
  ('Task', 'knowledge', 'Something to be done, with its state.'),
  ('Summary', 'derived', 'What many memories say, shortened.'),
  ('Reflection', 'derived', 'What follows from several memories.'),
  ('Critique', 'derived', 'What was wrong or could be better.'),
  ('Instruction', 'procedure', 'How something is to be done (data.category): procedural memory.');

INSERT INTO memsvc.edge_types (name, category, from_types, to_types, functional, description) VALUES
  ('MENTIONS', 'provenance', '{}', '{}', false, 'A speaks of B.'),
  ('ABOUT', 'provenance', '{}', '{}', false, 'A has B as its subject.'),
  ('RELATED_TO', 'general', '{}', '{}', false, 'A has to do with B, in no closer way known.'),
  ('KNOWS', 'social', '{Person}', '{Person,Organization}', false, 'A is acquainted with B.'),
  ('FAMILY_OF', 'social', '{Person}', '{Person}', false, 'A is family of B; data.relation says how.'),
  ('WORKS_AT', 'work', '{Person}', '{Organization}', true, 'A is employed by or works for B.'),
  ('LIVES_IN', 'place', '{Person}', '{Place}', true, 'A has its home in B.'),
  ('LOCATED_AT', 'place', '{}', '{Place}', false, 'A is at or in B.'),
  ('PARTICIPATED_IN', 'time', '{Person,Organization}', '{Event,Project}', false, 'A took part in B.'),
  ('HAPPENED_ON', 'time', '{Event}', '{Event,Concept}', false, 'A took place on the occasion or date B.'),
  ('OWNS', 'preference', '{Person,Organization}', '{}', false, 'A has B.'),
  ('LIKES', 'preference', '{Person}', '{}', false, 'A is fond of B.'),
  ('DISLIKES', 'preference', '{Person}', '{}', false, 'A is not fond of B.'),
  ('FEELS', 'preference', '{Person}', '{Emotion}', false, 'A feels B.'),
  ('WANTS', 'preference', '{Person,Organization}', '{}', false, 'A wishes for or intends B.'),
  ('CREATED', 'work', '{Person,Organization}', '{}', false, 'A made B.'),
  ('USES', 'work', '{}', '{}', false, 'A works with B.'),
  ('DEPENDS_ON', 'logic', '{}', '{}', false, 'A needs B.'),
  ('EXAMPLE_OF', 'logic', '{}', '{}', false, 'A is an instance of B.'),
  ('CAUSED_BY', 'logic', '{}', '{}', false, 'A came about through B.'),
  ('ANSWERS', 'logic', '{}', '{}', false, 'A settles the question B.'),
  ('SUPPORTS', 'logic', '{}', '{}', false, 'A speaks for B.'),
  ('CONTRADICTS', 'logic', '{}', '{}', false, 'A and B cannot both hold.'),
  ('EXTENDS', 'logic', '{}', '{}', false, 'A adds to B.'),
  ('SUPERSEDES', 'provenance', '{}', '{}', false, 'A stands where B stood.'),
  ('DERIVED_FROM', 'provenance', '{}', '{}', false, 'A was concluded from B.'),
  ('SUMMARIZES', 'provenance', '{Summary}', '{}', false, 'A says shortly what B says.'),
  ('REFLECTS_ON', 'provenance', '{Reflection,Critique}', '{}', false, 'A thinks about B.'),
  ('VERSION_OF', 'provenance', '{DocumentVersion}', '{Document}', true, 'A is a state of B.'),
  ('TOOL_CALL', 'provenance', '{}', '{}', false, 'A called a tool on B; data.tool names it (READ, EDIT, BASH …).');
"""

ROW_SECURITY = """
ALTER TABLE memsvc.node_types ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE memsvc.edge_types ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE memsvc.nodes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE memsvc.node_versions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE memsvc.aliases ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""


def upgrade() -> None:
    op.execute(TABLES)
    op.execute(ONTOLOGY)
    op.execute(ROW_SECURITY)
