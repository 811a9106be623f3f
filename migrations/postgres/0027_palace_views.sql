-- Views of the capture proxy (docs/palace.md): what reached the backend where that is not
-- what the client sent, and the epochs in which it was so.

CREATE TABLE palace_sent (
  user_id     uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  exchange_id uuid NOT NULL,
  epoch       bigint NOT NULL, -- its number; 0: none was in force
  client      text NOT NULL,
  why         text NOT NULL,
  refused     text NOT NULL, -- what the backend said to another body before
  size        bigint NOT NULL,
  hash        text NOT NULL,
  edits       bytea NOT NULL, -- of the client's body, packed
  -- What the client's own body should have been charged for; null: that cannot be told.
  raw_input   bigint,
  raw_read    bigint,
  raw_5m      bigint,
  raw_1h      bigint,
  raw_usd     double precision,
  PRIMARY KEY (user_id, exchange_id)
);

CREATE TABLE palace_epoch (
  user_id    uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  client     text NOT NULL, -- the key of the history
  number     bigint NOT NULL,
  lineage_id uuid,
  why        text NOT NULL,
  doc        jsonb NOT NULL, -- as the proxy wrote it
  opened_at  timestamptz NOT NULL,
  PRIMARY KEY (user_id, client, number)
);

CREATE INDEX palace_epoch_lineage ON palace_epoch (user_id, lineage_id, number);

SELECT app_guard(t::regclass, 'user_id = (SELECT app_person())') FROM unnest(ARRAY['palace_sent', 'palace_epoch']) AS t;
