-- Programs that sign their person in with OAuth 2.1. What such a program gets is an
-- access key of the audience mcp, whose text is renewed hour by hour: text_until is
-- until when a text opens; null: as long as the key lasts.
ALTER TABLE access_key ADD COLUMN text_until INTEGER;

-- Clients that registered themselves (RFC 7591). Anybody may, so nothing a client
-- says of itself is a fact but where it is sent back to. One that nobody let in goes
-- after a day.
CREATE TABLE oauth_client (
  id         TEXT PRIMARY KEY,
  name       TEXT NOT NULL,
  redirects  TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  used_at    INTEGER -- null: nobody let it in
) STRICT;

CREATE INDEX oauth_client_age ON oauth_client (used_at, created_at);

-- Codes and refresh tokens of those keys. Of each only its hash is kept, and for a
-- while after it was used: who shows it again ends the key.
CREATE TABLE oauth_secret (
  sha256       TEXT PRIMARY KEY,
  kind         TEXT NOT NULL CHECK (kind IN ('code', 'refresh')),
  key_id       TEXT NOT NULL REFERENCES access_key (id) ON DELETE CASCADE,
  user_id      TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  client_id    TEXT NOT NULL, -- an id of oauth_client, or the address of a client's own document
  redirect_uri TEXT NOT NULL DEFAULT '',
  challenge    TEXT NOT NULL DEFAULT '',
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL,
  used_at      INTEGER
) STRICT;

CREATE INDEX oauth_secret_key ON oauth_secret (key_id, used_at);
CREATE INDEX oauth_secret_user ON oauth_secret (user_id);
