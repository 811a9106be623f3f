-- What the capture proxy kept of agents and their models, taken in from its spool
-- (docs/palace.md). Bodies are recipes of chunks, which many exchanges have in common,
-- and make what passed to the byte. All of it is one person's.

CREATE TABLE palace_agent (
  id         uuid PRIMARY KEY,
  user_id    uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  number     bigint NOT NULL, -- small, for people
  name       text NOT NULL, -- of the token it came with
  project    text NOT NULL,
  kind       text NOT NULL,
  parent_id  uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  seen_at    timestamptz NOT NULL,
  UNIQUE (user_id, number)
);

CREATE TABLE palace_lineage (
  id          uuid PRIMARY KEY,
  user_id     uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  agent_id    uuid NOT NULL REFERENCES palace_agent (id) ON DELETE CASCADE,
  key         text NOT NULL, -- what the client calls its session or agent
  run         text NOT NULL, -- which command, where its token is its own
  supersedes  uuid,
  why         text NOT NULL,
  fork        bigint NOT NULL,
  length      bigint NOT NULL,
  sent        bigint NOT NULL,
  digest      text NOT NULL, -- of the blocks of the last request
  input       bigint NOT NULL,
  output      bigint NOT NULL,
  open        boolean NOT NULL,
  summarised  boolean NOT NULL,
  model       text NOT NULL,
  exchanges   bigint NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now(),
  seen_at     timestamptz NOT NULL
);

CREATE INDEX palace_lineage_key ON palace_lineage (user_id, key, seen_at);
CREATE INDEX palace_lineage_run ON palace_lineage (user_id, run, seen_at);
CREATE INDEX palace_lineage_agent ON palace_lineage (agent_id, seen_at);

CREATE TABLE palace_exchange (
  user_id       uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  id            uuid NOT NULL, -- the proxy's
  agent_id      uuid,
  lineage_id    uuid,
  number        bigint NOT NULL, -- in its lineage
  kind          text NOT NULL,
  name          text NOT NULL,
  project       text NOT NULL,
  run           text NOT NULL,
  method        text NOT NULL,
  path          text NOT NULL,
  query         text NOT NULL,
  model         text NOT NULL,
  status        bigint NOT NULL, -- 0: nothing came
  stop          text NOT NULL,
  request_id    text NOT NULL,
  started_at    timestamptz NOT NULL,
  ended_at      timestamptz, -- null: its proxy was killed
  complete      boolean NOT NULL,
  cut_by        text NOT NULL,
  error         text NOT NULL,
  masked        boolean NOT NULL,
  asked_size    bigint NOT NULL,
  asked_hash    text NOT NULL,
  asked_lost    text NOT NULL,
  answered_size bigint NOT NULL,
  answered_hash text NOT NULL,
  answered_lost text NOT NULL,
  input         bigint NOT NULL,
  cache_read    bigint NOT NULL,
  write_5m      bigint NOT NULL,
  write_1h      bigint NOT NULL,
  output        bigint NOT NULL,
  recipe        bytea,
  wire          bytea,
  PRIMARY KEY (user_id, id)
);

CREATE INDEX palace_exchange_lineage ON palace_exchange (lineage_id, id);
CREATE INDEX palace_exchange_agent ON palace_exchange (agent_id, id);

CREATE TABLE palace_chunk (
  user_id uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  hash    text NOT NULL,
  size    bigint NOT NULL,
  body    bytea NOT NULL, -- zstd
  PRIMARY KEY (user_id, hash)
);

CREATE TABLE palace_block (
  id          uuid PRIMARY KEY,
  user_id     uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  display_id  bigint, -- null: it has none (any more)
  generation  bigint NOT NULL,
  key         text NOT NULL, -- what it is known again by
  hash        text NOT NULL,
  sum         text NOT NULL, -- of what a result says, whichever use it belongs to
  type        text NOT NULL,
  role        text NOT NULL,
  tool        text NOT NULL,
  scope       text NOT NULL,
  project     text NOT NULL,
  agent_id    uuid,
  channels    jsonb NOT NULL,
  tier        text NOT NULL,
  tier_by     text NOT NULL,
  active      boolean NOT NULL,
  tokens      bigint NOT NULL,
  size        bigint NOT NULL,
  label       text NOT NULL,
  exchange_id uuid NOT NULL,
  form        text NOT NULL,
  chunk       text NOT NULL,
  start       bigint NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now(),
  deleted_at  timestamptz,
  UNIQUE (user_id, key)
);

CREATE INDEX palace_block_scope ON palace_block (user_id, scope, id);

CREATE TABLE palace_display (
  user_id    uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  display_id bigint NOT NULL,
  generation bigint NOT NULL, -- how many blocks have had it
  block_id   uuid, -- null: it is free
  PRIMARY KEY (user_id, display_id)
);

CREATE INDEX palace_display_free ON palace_display (user_id, display_id) WHERE block_id IS NULL;

CREATE TABLE palace_timeline (
  user_id    uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  lineage_id uuid NOT NULL REFERENCES palace_lineage (id) ON DELETE CASCADE,
  position   bigint NOT NULL,
  block_id   uuid NOT NULL REFERENCES palace_block (id) ON DELETE CASCADE,
  PRIMARY KEY (lineage_id, position)
);

CREATE INDEX palace_timeline_block ON palace_timeline (block_id);
CREATE INDEX palace_timeline_user ON palace_timeline (user_id);

CREATE TABLE palace_spool (
  user_id uuid PRIMARY KEY REFERENCES app_user (id) ON DELETE CASCADE,
  segment text NOT NULL -- all before it is taken in
);

SELECT app_guard(t::regclass, 'user_id = (SELECT app_person())') FROM unnest(ARRAY[
  'palace_agent', 'palace_lineage', 'palace_exchange', 'palace_chunk', 'palace_block', 'palace_display', 'palace_timeline', 'palace_spool'
]) AS t;
