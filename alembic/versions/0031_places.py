"""Places: where nodes are, with both times, and evidence for it.

Revision: 0031, after 0030.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None

# The index by place needs an extension that a server may lack, so memsvc.db.places makes it, at every upgrade.
LOCATIONS = """
CREATE TABLE memsvc.locations (
  user_id uuid NOT NULL,
  location_id uuid NOT NULL DEFAULT uuidv7(),
  node_id uuid NOT NULL,
  latitude double precision NOT NULL CHECK (latitude >= -90 AND latitude <= 90),
  longitude double precision NOT NULL CHECK (longitude >= -180 AND longitude < 180),
  radius_m double precision NOT NULL DEFAULT 0 CHECK (radius_m >= 0 AND radius_m <= 20015115),
  asserted_by text NOT NULL CHECK (asserted_by <> ''),
  derived_from uuid,
  valid_from timestamptz NOT NULL DEFAULT '-infinity',
  valid_to timestamptz NOT NULL DEFAULT 'infinity' CHECK (valid_to > valid_from),
  recorded_from timestamptz NOT NULL,
  recorded_to timestamptz NOT NULL DEFAULT 'infinity' CHECK (recorded_to >= recorded_from),
  PRIMARY KEY (user_id, location_id),
  FOREIGN KEY (user_id, node_id) REFERENCES memsvc.nodes (user_id, node_id),
  CONSTRAINT locations_one_at_a_time EXCLUDE USING gist (
    user_id WITH =, node_id WITH =,
    tstzrange(valid_from, valid_to) WITH &&, tstzrange(recorded_from, recorded_to) WITH &&
  )
);
CREATE INDEX locations_of_node ON memsvc.locations (user_id, node_id, valid_from);
CREATE INDEX locations_recorded ON memsvc.locations (user_id, recorded_from);
CREATE INDEX locations_closed ON memsvc.locations (user_id, recorded_to) WHERE recorded_to < 'infinity';
COMMENT ON TABLE memsvc.locations IS
  'Where nodes are, or were: append-only, the only update closes recorded_to. A node is at one place at a time.';
COMMENT ON COLUMN memsvc.locations.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.locations.location_id IS 'Time-ordered id of this version.';
COMMENT ON COLUMN memsvc.locations.node_id IS 'What is there.';
COMMENT ON COLUMN memsvc.locations.latitude IS 'Degrees north (WGS 84).';
COMMENT ON COLUMN memsvc.locations.longitude IS 'Degrees east (WGS 84); the antimeridian is -180.';
COMMENT ON COLUMN memsvc.locations.radius_m IS 'How far around that point it reaches, or how sure it is, in metres.';
COMMENT ON COLUMN memsvc.locations.asserted_by IS 'Who says so: user, app, or the name of an extractor.';
COMMENT ON COLUMN memsvc.locations.derived_from IS
  'The version that this one is a remainder or a restoration of; its evidence was copied.';
COMMENT ON COLUMN memsvc.locations.valid_from IS 'From when it was there; -infinity: as far as known, always.';
COMMENT ON COLUMN memsvc.locations.valid_to IS 'Until when it was there; infinity: it still is.';
COMMENT ON COLUMN memsvc.locations.recorded_from IS 'When memsvc learnt it.';
COMMENT ON COLUMN memsvc.locations.recorded_to IS 'When memsvc learnt better; infinity: it has not.';
-- Samples of the planner would outlive what is erased.
ALTER TABLE memsvc.locations ALTER COLUMN latitude SET STATISTICS 0, ALTER COLUMN longitude SET STATISTICS 0;
ALTER TABLE memsvc.locations ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""

# Links are many: the new checks hold for all of them. Everybody waits while they are looked at, seconds for millions.
LINKS = """
ALTER TABLE memsvc.source_links
  ADD COLUMN location_id uuid,
  DROP CONSTRAINT source_links_one_subject,
  ADD CONSTRAINT source_links_one_subject
    CHECK (num_nonnulls(node_id, node_version_id, edge_version_id, alias_id, merge_id, location_id) = 1) NOT VALID,
  ADD CONSTRAINT source_links_location_fkey FOREIGN KEY (user_id, location_id)
    REFERENCES memsvc.locations (user_id, location_id) NOT VALID;
ALTER TABLE memsvc.source_links VALIDATE CONSTRAINT source_links_one_subject;
ALTER TABLE memsvc.source_links VALIDATE CONSTRAINT source_links_location_fkey;
CREATE INDEX source_links_of_location ON memsvc.source_links (user_id, location_id) WHERE location_id IS NOT NULL;
COMMENT ON COLUMN memsvc.source_links.location_id IS 'What it speaks for: where a node is.';
"""


def upgrade() -> None:
    lock(op.get_bind(), "nodes", "source_links")
    op.execute(LOCATIONS)
    op.execute(LINKS)
