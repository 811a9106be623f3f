-- Where people are told of what happens to their runs: an address of theirs that is
-- sent signed requests, or, of each person at most one, their mail. One with a
-- tenant is told of everybody's runs there, and never a word of them. The secret opens
-- with the installation's key for that endpoint alone.
CREATE TABLE webhook (
  id            uuid PRIMARY KEY,
  user_id       uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  tenant_id     text,
  channel       text NOT NULL,
  url           text NOT NULL DEFAULT '',
  description   text NOT NULL DEFAULT '',
  events        jsonb NOT NULL,
  assistants    jsonb NOT NULL,
  sealed        bytea,
  after_minutes integer NOT NULL DEFAULT 0,
  enabled       boolean NOT NULL DEFAULT true,
  reason        text NOT NULL DEFAULT '',
  key_id        uuid,
  failing_since timestamptz,
  created_at    timestamptz NOT NULL DEFAULT now(),
  updated_at    timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX webhook_user ON webhook (user_id, created_at, id);
CREATE INDEX webhook_tenant ON webhook (tenant_id) WHERE tenant_id IS NOT NULL;

-- Whose runs somebody is told of. The row of the system's account stands for
-- everybody's. It is read with the row of a run at each of its questions and its
-- end, so that whoever is told of nothing pays for one look by a key.
CREATE TABLE webhook_subscriber (
  user_id uuid PRIMARY KEY REFERENCES app_user (id) ON DELETE CASCADE
);

-- What happened and has not been spread over endpoints yet: written with it. It
-- names what it is about and holds no word of it. It has no reference to the run:
-- its end may be told after the conversation is gone.
CREATE TABLE webhook_event (
  id              uuid PRIMARY KEY,
  user_id         uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  kind            text NOT NULL,
  run_id          uuid NOT NULL,
  interrupt_id    uuid,
  conversation_id uuid,
  assistant_id    uuid,
  assistant       text NOT NULL DEFAULT '',
  happened_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX webhook_event_user ON webhook_event (user_id);

-- What an endpoint is told, kept for a while after it was. One with a lease is
-- being sent until next_at, and due again then. subject_id is whose run it is,
-- user_id whose endpoint.
CREATE TABLE webhook_delivery (
  id              uuid PRIMARY KEY,
  webhook_id      uuid NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
  user_id         uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  subject_id      uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  kind            text NOT NULL,
  run_id          uuid,
  interrupt_id    uuid,
  conversation_id uuid,
  assistant_id    uuid,
  assistant       text NOT NULL DEFAULT '',
  happened_at     timestamptz NOT NULL DEFAULT now(),
  status          text NOT NULL DEFAULT 'waiting',
  attempts        integer NOT NULL DEFAULT 0,
  next_at         timestamptz,
  lease           uuid,
  code            integer NOT NULL DEFAULT 0,
  error           text NOT NULL DEFAULT '',
  created_at      timestamptz NOT NULL DEFAULT now(),
  ended_at        timestamptz
);
CREATE INDEX webhook_delivery_list ON webhook_delivery (webhook_id, created_at, id);
CREATE INDEX webhook_delivery_due ON webhook_delivery (next_at, id) WHERE status = 'waiting';
CREATE INDEX webhook_delivery_sending ON webhook_delivery (lease) WHERE lease IS NOT NULL;
CREATE INDEX webhook_delivery_ended ON webhook_delivery (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX webhook_delivery_user ON webhook_delivery (user_id);
CREATE INDEX webhook_delivery_subject ON webhook_delivery (subject_id);

SELECT app_guard('webhook', 'user_id = (SELECT app_person()) OR tenant_id IS NOT NULL AND (SELECT app_admin())');
SELECT app_guard('webhook_event', 'user_id = (SELECT app_person())');
SELECT app_guard('webhook_delivery', 'user_id = (SELECT app_person()) OR (SELECT app_admin()) AND EXISTS (SELECT 1 FROM webhook w WHERE w.id = webhook_id AND w.tenant_id IS NOT NULL)');
-- That somebody is told of everybody's runs is no secret from them.
SELECT app_guard('webhook_subscriber', 'user_id = (SELECT app_person())', 'user_id = ''00000000-0000-4000-8000-000000000001''');
