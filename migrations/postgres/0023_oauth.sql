-- Programs that sign their person in with OAuth 2.1. What such a program gets is an
-- access key of the audience mcp, whose text is renewed hour by hour: text_until is
-- until when a text opens; null: as long as the key lasts.
ALTER TABLE access_key ADD COLUMN text_until timestamptz;

-- Clients that registered themselves (RFC 7591). Anybody may, so nothing a client
-- says of itself is a fact but where it is sent back to. One that nobody let in goes
-- after a day.
CREATE TABLE oauth_client (
  id         uuid PRIMARY KEY,
  name       text NOT NULL,
  redirects  jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  used_at    timestamptz -- null: nobody let it in
);

CREATE INDEX oauth_client_age ON oauth_client (used_at, created_at);

-- Codes and refresh tokens of those keys. Of each only its hash is kept, and for a
-- while after it was used: who shows it again ends the key.
CREATE TABLE oauth_secret (
  sha256       text PRIMARY KEY,
  kind         text NOT NULL CHECK (kind IN ('code', 'refresh')),
  key_id       uuid NOT NULL REFERENCES access_key (id) ON DELETE CASCADE,
  user_id      uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  client_id    text NOT NULL, -- an id of oauth_client, or the address of a client's own document
  redirect_uri text NOT NULL DEFAULT '',
  challenge    text NOT NULL DEFAULT '',
  created_at   timestamptz NOT NULL DEFAULT now(),
  expires_at   timestamptz NOT NULL,
  used_at      timestamptz
);

CREATE INDEX oauth_secret_key ON oauth_secret (key_id, used_at);
CREATE INDEX oauth_secret_user ON oauth_secret (user_id);

SELECT app_guard('oauth_client', 'false');
SELECT app_guard('oauth_secret', 'user_id = (SELECT app_person())');
