-- What a person shares: a context, a document set or an artifact, with one
-- person or with everybody of a tenant, to read or also to add to. A share goes
-- with what it shares and with either person.
CREATE TABLE share (
  id              TEXT PRIMARY KEY,
  owner_user_id   TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  context_id      TEXT REFERENCES knowledge_context (id) ON DELETE CASCADE,
  set_id          TEXT REFERENCES document_set (id) ON DELETE CASCADE,
  artifact_id     TEXT REFERENCES artifact (id) ON DELETE CASCADE,
  grantee_user_id TEXT REFERENCES app_user (id) ON DELETE CASCADE,
  tenant_id       TEXT,
  may_write       INTEGER NOT NULL DEFAULT 0,
  created_at      INTEGER NOT NULL,
  CHECK ((context_id IS NOT NULL) + (set_id IS NOT NULL) + (artifact_id IS NOT NULL) = 1),
  CHECK ((grantee_user_id IS NULL) <> (tenant_id IS NULL)),
  CHECK (set_id IS NULL OR may_write = 0)
) STRICT;

CREATE UNIQUE INDEX share_once ON share (coalesce(context_id, set_id, artifact_id), coalesce(grantee_user_id, ''), coalesce(tenant_id, ''));
CREATE INDEX share_context ON share (context_id) WHERE context_id IS NOT NULL;
CREATE INDEX share_set ON share (set_id) WHERE set_id IS NOT NULL;
CREATE INDEX share_artifact ON share (artifact_id) WHERE artifact_id IS NOT NULL;
CREATE INDEX share_owner ON share (owner_user_id, created_at, id);
CREATE INDEX share_grantee ON share (grantee_user_id) WHERE grantee_user_id IS NOT NULL;
CREATE INDEX share_tenant ON share (tenant_id) WHERE tenant_id IS NOT NULL;

-- An artifact or a context is 'shared' while somebody has it (ISO-06). The second
-- wall of this dialect: who changes what was shared with them cannot take it.
CREATE TRIGGER context_kept BEFORE UPDATE OF owner_user_id ON knowledge_context
  WHEN old.owner_user_id IS NOT NULL AND new.owner_user_id IS NOT old.owner_user_id
  BEGIN SELECT raise(ABORT, 'a context keeps its owner'); END;
CREATE TRIGGER artifact_kept BEFORE UPDATE OF owner_user_id ON artifact
  WHEN old.owner_user_id IS NOT NULL AND new.owner_user_id IS NOT NULL AND new.owner_user_id <> old.owner_user_id
  BEGIN SELECT raise(ABORT, 'an artifact keeps its owner'); END;
-- A share is of its owner's own.
CREATE TRIGGER share_own BEFORE INSERT ON share
  WHEN NOT (EXISTS (SELECT 1 FROM knowledge_context c WHERE c.id = new.context_id AND c.owner_user_id = new.owner_user_id)
    OR EXISTS (SELECT 1 FROM document_set s WHERE s.id = new.set_id AND s.user_id = new.owner_user_id)
    OR EXISTS (SELECT 1 FROM artifact a WHERE a.id = new.artifact_id AND a.owner_user_id = new.owner_user_id))
  BEGIN SELECT raise(ABORT, 'a share is of what its owner owns'); END;
