-- What a model was asked about a history of the capture proxy and what came of it, and
-- the notes that one proposes when a history has ended (docs/palace.md). All of it is one
-- person's.

ALTER TABLE palace_classification ADD COLUMN model text NOT NULL DEFAULT '';
ALTER TABLE palace_classification ADD COLUMN exchanges bigint NOT NULL DEFAULT 0; -- of the history, when it was asked
ALTER TABLE palace_classification ADD COLUMN outcome text NOT NULL DEFAULT 'understood';
ALTER TABLE palace_classification ADD COLUMN asked jsonb NOT NULL DEFAULT '[]'; -- the blocks of the window

DROP INDEX palace_classification_lineage;
CREATE INDEX palace_classification_lineage ON palace_classification (lineage_id, id);

CREATE TABLE palace_note (
  id         uuid PRIMARY KEY,
  user_id    uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  lineage_id uuid NOT NULL REFERENCES palace_lineage (id) ON DELETE CASCADE,
  says       text NOT NULL,
  model      text NOT NULL,
  state      text NOT NULL, -- proposed, kept or dismissed
  made_at    timestamptz NOT NULL,
  decided_at timestamptz
);

CREATE INDEX palace_note_user ON palace_note (user_id, id);
CREATE INDEX palace_note_lineage ON palace_note (lineage_id);

-- The blocks that a note names.
CREATE TABLE palace_note_block (
  note_id  uuid NOT NULL REFERENCES palace_note (id) ON DELETE CASCADE,
  block_id uuid NOT NULL REFERENCES palace_block (id) ON DELETE CASCADE,
  user_id  uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  PRIMARY KEY (note_id, block_id)
);

CREATE INDEX palace_note_block_block ON palace_note_block (block_id);
CREATE INDEX palace_note_block_user ON palace_note_block (user_id);

-- When a model was asked for notes of a history that has ended: it is asked once.
ALTER TABLE palace_lineage ADD COLUMN noted_at timestamptz;

SELECT app_guard(t::regclass, 'user_id = (SELECT app_person())') FROM unnest(ARRAY[
  'palace_note', 'palace_note_block'
]) AS t;
