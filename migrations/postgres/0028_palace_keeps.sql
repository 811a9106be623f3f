-- What of the capture proxy's contents is kept, and what was erased (docs/palace.md).

ALTER TABLE palace_block ADD COLUMN erased_at timestamptz;
ALTER TABLE palace_block ADD COLUMN erased_by text NOT NULL DEFAULT ''; -- person, or room: others needed it

CREATE INDEX palace_block_exchange ON palace_block (user_id, exchange_id);
CREATE INDEX palace_block_chunk ON palace_block (user_id, chunk);
CREATE INDEX palace_block_away ON palace_block (user_id, deleted_at) WHERE NOT active;

-- Where the body of a chunk was erased, its row stays: the same is not kept again.
ALTER TABLE palace_chunk ADD COLUMN erased_at timestamptz;

-- Which blocks lie in which chunks: the one a block was seen in first, and every other
-- in which a client sent it again.
CREATE TABLE palace_part (
  user_id  uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  chunk    text NOT NULL,
  block_id uuid NOT NULL REFERENCES palace_block (id) ON DELETE CASCADE,
  PRIMARY KEY (user_id, chunk, block_id)
);

CREATE INDEX palace_part_block ON palace_part (block_id);

-- Segments of the spool that are taken in whole, and since when: they go a day later.
CREATE TABLE palace_segment (
  user_id  uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  name     text NOT NULL,
  taken_at timestamptz NOT NULL,
  PRIMARY KEY (user_id, name)
);

ALTER TABLE palace_spool ADD COLUMN erasures bigint NOT NULL DEFAULT 0; -- how often something was erased

-- The key of keyed hashes, sealed with one of PALACE_KEYS.
CREATE TABLE palace_key (
  user_id uuid PRIMARY KEY REFERENCES app_user (id) ON DELETE CASCADE,
  sealed  bytea NOT NULL
);

SELECT app_guard(t::regclass, 'user_id = (SELECT app_person())') FROM unnest(ARRAY['palace_part', 'palace_segment', 'palace_key']) AS t;
