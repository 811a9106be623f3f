-- Where people are told of what happens to their runs: an address of theirs that is
-- sent signed requests, or, of each person at most one, their mail. One with a
-- tenant is told of everybody's runs there, and never a word of them. The secret opens
-- with the installation's key for that endpoint alone.
CREATE TABLE webhook (
  id            TEXT PRIMARY KEY,
  user_id       TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  tenant_id     TEXT,
  channel       TEXT NOT NULL,
  url           TEXT NOT NULL DEFAULT '',
  description   TEXT NOT NULL DEFAULT '',
  events        TEXT NOT NULL,
  assistants    TEXT NOT NULL,
  sealed        BLOB,
  after_minutes INTEGER NOT NULL DEFAULT 0,
  enabled       INTEGER NOT NULL DEFAULT 1,
  reason        TEXT NOT NULL DEFAULT '',
  key_id        TEXT,
  failing_since INTEGER,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_user ON webhook (user_id, created_at, id);
CREATE INDEX webhook_tenant ON webhook (tenant_id) WHERE tenant_id IS NOT NULL;

-- Whose runs somebody is told of. The row of the system's account stands for
-- everybody's. It is read with the row of a run at each of its questions and its
-- end, so that whoever is told of nothing pays for one look by a key.
CREATE TABLE webhook_subscriber (
  user_id TEXT PRIMARY KEY REFERENCES app_user (id) ON DELETE CASCADE
) STRICT;

-- What happened and has not been spread over endpoints yet: written with it. It
-- names what it is about and holds no word of it. It has no reference to the run:
-- its end may be told after the conversation is gone.
CREATE TABLE webhook_event (
  id              TEXT PRIMARY KEY,
  user_id         TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  kind            TEXT NOT NULL,
  run_id          TEXT NOT NULL,
  interrupt_id    TEXT,
  conversation_id TEXT,
  assistant_id    TEXT,
  assistant       TEXT NOT NULL DEFAULT '',
  happened_at     INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_event_user ON webhook_event (user_id);

-- What an endpoint is told, kept for a while after it was. One with a lease is
-- being sent until next_at, and due again then. subject_id is whose run it is,
-- user_id whose endpoint.
CREATE TABLE webhook_delivery (
  id              TEXT PRIMARY KEY,
  webhook_id      TEXT NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
  user_id         TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  subject_id      TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  kind            TEXT NOT NULL,
  run_id          TEXT,
  interrupt_id    TEXT,
  conversation_id TEXT,
  assistant_id    TEXT,
  assistant       TEXT NOT NULL DEFAULT '',
  happened_at     INTEGER NOT NULL,
  status          TEXT NOT NULL DEFAULT 'waiting',
  attempts        INTEGER NOT NULL DEFAULT 0,
  next_at         INTEGER,
  lease           TEXT,
  code            INTEGER NOT NULL DEFAULT 0,
  error           TEXT NOT NULL DEFAULT '',
  created_at      INTEGER NOT NULL,
  ended_at        INTEGER
) STRICT;
CREATE INDEX webhook_delivery_list ON webhook_delivery (webhook_id, created_at, id);
CREATE INDEX webhook_delivery_due ON webhook_delivery (next_at, id) WHERE status = 'waiting';
CREATE INDEX webhook_delivery_sending ON webhook_delivery (lease) WHERE lease IS NOT NULL;
CREATE INDEX webhook_delivery_ended ON webhook_delivery (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX webhook_delivery_user ON webhook_delivery (user_id);
CREATE INDEX webhook_delivery_subject ON webhook_delivery (subject_id);
