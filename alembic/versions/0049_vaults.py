"""Vaults: folders of notes whose documents belong together, and the type of the links between notes.

Revision: 0049, after 0048. The older version reads edges of the new type like all others.
"""

from __future__ import annotations

from alembic import op

from memsvc.db.locks import lock

revision = "0049"
down_revision = "0048"
branch_labels = None
depends_on = None

VAULTS = """
CREATE TABLE IF NOT EXISTS memsvc.vaults (
  user_id uuid NOT NULL REFERENCES memsvc.users (user_id),
  vault_id uuid NOT NULL DEFAULT uuidv7(),
  folder text NOT NULL CHECK (folder <> '' AND length(folder) <= 500),
  flavours text[] NOT NULL CHECK (cardinality(flavours) BETWEEN 1 AND 5),
  write_back text NOT NULL DEFAULT 'off' CHECK (write_back IN ('off', 'inside', 'beside')),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  read_at timestamptz,
  odd jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(odd) = 'object'),
  PRIMARY KEY (user_id, vault_id),
  UNIQUE (user_id, folder)
);
ALTER TABLE memsvc.vaults ALTER COLUMN folder SET STATISTICS 0, ALTER COLUMN odd SET STATISTICS 0;
COMMENT ON TABLE memsvc.vaults IS
  'Folders of notes. Its notes are the documents whose identifiers begin with the folder; each is a node of its id.';
COMMENT ON COLUMN memsvc.vaults.user_id IS 'Owner.';
COMMENT ON COLUMN memsvc.vaults.vault_id IS 'Time-ordered id.';
COMMENT ON COLUMN memsvc.vaults.folder IS 'Absolute path of the folder, where it was read.';
COMMENT ON COLUMN memsvc.vaults.flavours IS 'The programs that it belongs to, the surest first: obsidian, logseq.';
COMMENT ON COLUMN memsvc.vaults.write_back IS
  'Where memsvc has written sections: off (nowhere), inside the notes, or in notes beside them.';
COMMENT ON COLUMN memsvc.vaults.created_at IS 'When it was stored first.';
COMMENT ON COLUMN memsvc.vaults.read_at IS 'When it was last read to its end; null: never.';
COMMENT ON COLUMN memsvc.vaults.odd IS 'What was left out then or looked strange, each with how often.';
ALTER TABLE memsvc.vaults ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
"""

# The owner of forced tables may not write rows of the core otherwise. A trigger replaces a user's type of this name.
LINKS = """
ALTER TABLE memsvc.edge_types NO FORCE ROW LEVEL SECURITY;
INSERT INTO memsvc.edge_types (name, category, from_types, to_types, functional, description) VALUES
  ('LINKS_TO', 'provenance', '{}', '{}', false, 'A, a note, has a link to B, or B as a task.')
ON CONFLICT (user_id, name) DO NOTHING;
ALTER TABLE memsvc.edge_types FORCE ROW LEVEL SECURITY;
"""


def upgrade() -> None:
    lock(op.get_bind(), "users", "edge_types")
    for script in (VAULTS, LINKS):
        op.execute(script)
