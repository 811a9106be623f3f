-- What of the capture proxy's contents is kept, and what was erased (docs/palace.md).

ALTER TABLE palace_block ADD COLUMN erased_at INTEGER;
ALTER TABLE palace_block ADD COLUMN erased_by TEXT NOT NULL DEFAULT ''; -- person, or room: others needed it

CREATE INDEX palace_block_exchange ON palace_block (user_id, exchange_id);
CREATE INDEX palace_block_chunk ON palace_block (user_id, chunk);
CREATE INDEX palace_block_away ON palace_block (user_id, deleted_at) WHERE NOT active;

-- Where the body of a chunk was erased, its row stays: the same is not kept again.
ALTER TABLE palace_chunk ADD COLUMN erased_at INTEGER;

-- Which blocks lie in which chunks: the one a block was seen in first, and every other
-- in which a client sent it again.
CREATE TABLE palace_part (
  user_id  TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  chunk    TEXT NOT NULL,
  block_id TEXT NOT NULL REFERENCES palace_block (id) ON DELETE CASCADE,
  PRIMARY KEY (user_id, chunk, block_id)
) STRICT;

CREATE INDEX palace_part_block ON palace_part (block_id);

-- Segments of the spool that are taken in whole, and since when: they go a day later.
CREATE TABLE palace_segment (
  user_id  TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  name     TEXT NOT NULL,
  taken_at INTEGER NOT NULL,
  PRIMARY KEY (user_id, name)
) STRICT;

ALTER TABLE palace_spool ADD COLUMN erasures INTEGER NOT NULL DEFAULT 0; -- how often something was erased

-- The key of keyed hashes, sealed with one of PALACE_KEYS.
CREATE TABLE palace_key (
  user_id TEXT PRIMARY KEY REFERENCES app_user (id) ON DELETE CASCADE,
  sealed  BLOB NOT NULL
) STRICT;
