-- What a model was asked about a history of the capture proxy and what came of it, and
-- the notes that one proposes when a history has ended (docs/palace.md). All of it is one
-- person's.

ALTER TABLE palace_classification ADD COLUMN model TEXT NOT NULL DEFAULT '';
ALTER TABLE palace_classification ADD COLUMN exchanges INTEGER NOT NULL DEFAULT 0; -- of the history, when it was asked
ALTER TABLE palace_classification ADD COLUMN outcome TEXT NOT NULL DEFAULT 'understood';
ALTER TABLE palace_classification ADD COLUMN asked TEXT NOT NULL DEFAULT '[]'; -- the blocks of the window

DROP INDEX palace_classification_lineage;
CREATE INDEX palace_classification_lineage ON palace_classification (lineage_id, id);

CREATE TABLE palace_note (
  id         TEXT PRIMARY KEY,
  user_id    TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  lineage_id TEXT NOT NULL REFERENCES palace_lineage (id) ON DELETE CASCADE,
  says       TEXT NOT NULL,
  model      TEXT NOT NULL,
  state      TEXT NOT NULL, -- proposed, kept or dismissed
  made_at    INTEGER NOT NULL,
  decided_at INTEGER
) STRICT;

CREATE INDEX palace_note_user ON palace_note (user_id, id);
CREATE INDEX palace_note_lineage ON palace_note (lineage_id);

-- The blocks that a note names.
CREATE TABLE palace_note_block (
  note_id  TEXT NOT NULL REFERENCES palace_note (id) ON DELETE CASCADE,
  block_id TEXT NOT NULL REFERENCES palace_block (id) ON DELETE CASCADE,
  user_id  TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  PRIMARY KEY (note_id, block_id)
) STRICT;

CREATE INDEX palace_note_block_block ON palace_note_block (block_id);
CREATE INDEX palace_note_block_user ON palace_note_block (user_id);

-- When a model was asked for notes of a history that has ended: it is asked once.
ALTER TABLE palace_lineage ADD COLUMN noted_at INTEGER;
