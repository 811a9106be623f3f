-- What exchanges that the capture proxy kept cost, and why the provider's cache was
-- missed (docs/palace.md). palace_cost repeats the tokens of palace_exchange: sums over
-- months need not read rows that hold bodies.

CREATE TABLE palace_cost (
  user_id         uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  exchange_id     uuid NOT NULL,
  agent_id        uuid,
  lineage_id      uuid,
  kind            text NOT NULL,
  model           text NOT NULL,
  at              timestamptz NOT NULL,
  day             text NOT NULL, -- of at, in UTC
  input           bigint NOT NULL,
  cache_read      bigint NOT NULL,
  write_5m        bigint NOT NULL,
  write_1h        bigint NOT NULL,
  output          bigint NOT NULL,
  usd             double precision, -- null: the model has no price
  list_price      boolean NOT NULL, -- a subscription pays for it
  predicted_read  bigint, -- null: it was not foretold
  predicted_write bigint,
  off             double precision, -- how far the forecast was off, as a share of the request
  cause           text, -- of a miss; null: there was none
  place           text NOT NULL,
  reason          text NOT NULL, -- that the backend gave
  missed          bigint NOT NULL, -- tokens
  missed_usd      double precision,
  PRIMARY KEY (user_id, exchange_id)
);

CREATE INDEX palace_cost_day ON palace_cost (user_id, day);
CREATE INDEX palace_cost_agent ON palace_cost (agent_id, day);
CREATE INDEX palace_cost_lineage ON palace_cost (lineage_id);
CREATE INDEX palace_cost_miss ON palace_cost (user_id, exchange_id) WHERE cause IS NOT NULL;

INSERT INTO palace_cost (user_id, exchange_id, agent_id, lineage_id, kind, model, at, day, input, cache_read, write_5m, write_1h, output, list_price, place, reason, missed)
SELECT user_id, id, agent_id, lineage_id, kind, model, started_at, to_char(started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD'), input, cache_read, write_5m, write_1h, output, false, '', '', 0
FROM palace_exchange WHERE input + cache_read + write_5m + write_1h + output > 0;

CREATE TABLE palace_cache (
  user_id uuid PRIMARY KEY REFERENCES app_user (id) ON DELETE CASCADE,
  state   bytea NOT NULL -- sums of prefixes that the provider keeps
);

CREATE TABLE palace_prompt (
  lineage_id uuid PRIMARY KEY REFERENCES palace_lineage (id) ON DELETE CASCADE,
  user_id    uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  state      bytea NOT NULL -- hashes of the parts of its last request
);

CREATE INDEX palace_prompt_user ON palace_prompt (user_id);

SELECT app_guard(t::regclass, 'user_id = (SELECT app_person())') FROM unnest(ARRAY['palace_cost', 'palace_cache', 'palace_prompt']) AS t;
