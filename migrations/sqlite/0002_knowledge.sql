-- Files, contexts, documents, and the chunk index.
--
-- 001 §2.5 names one ivfflat index; here vectors are scanned exactly and in
-- full (a filtered ivfflat index loses about half of the right answers), and
-- they stand in a narrow table of their own so that loading them reads no text.

CREATE TABLE file (
  user_id    TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  path       TEXT NOT NULL,
  name       TEXT NOT NULL,
  mime       TEXT NOT NULL,
  size       INTEGER NOT NULL,
  sha256     TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (user_id, path)
) STRICT;

CREATE INDEX file_newest ON file (user_id, created_at, path);

CREATE TABLE knowledge_context (
  id            TEXT PRIMARY KEY,
  owner_user_id TEXT REFERENCES app_user (id) ON DELETE CASCADE, -- null: global
  name          TEXT NOT NULL,
  description   TEXT NOT NULL DEFAULT '',
  visibility    TEXT NOT NULL DEFAULT 'private' CHECK (visibility IN ('private', 'global')),
  revision      INTEGER NOT NULL DEFAULT 0,    -- counts changes of its chunks
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  meta          TEXT
) STRICT;

CREATE INDEX knowledge_context_owner ON knowledge_context (owner_user_id, created_at, id);
CREATE INDEX knowledge_context_global ON knowledge_context (created_at, id) WHERE visibility = 'global';

CREATE TABLE context_source (
  id         TEXT PRIMARY KEY,
  context_id TEXT NOT NULL REFERENCES knowledge_context (id) ON DELETE CASCADE,
  fs_path    TEXT NOT NULL,
  recursive  INTEGER NOT NULL DEFAULT 1,
  meta       TEXT
) STRICT;

CREATE INDEX context_source_context ON context_source (context_id);

CREATE TABLE document (
  id         TEXT PRIMARY KEY,
  context_id TEXT NOT NULL REFERENCES knowledge_context (id) ON DELETE CASCADE,
  user_id    TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  path       TEXT NOT NULL,
  title      TEXT NOT NULL DEFAULT '',
  mime       TEXT NOT NULL DEFAULT '',
  size       INTEGER NOT NULL DEFAULT 0,
  sha256     TEXT NOT NULL DEFAULT '',
  status     TEXT NOT NULL CHECK (status IN ('waiting', 'reading', 'ready', 'failed', 'skipped')),
  error      TEXT NOT NULL DEFAULT '',
  pages      INTEGER NOT NULL DEFAULT 0,
  length     INTEGER NOT NULL DEFAULT 0,
  chunks     INTEGER NOT NULL DEFAULT 0,
  chunk_size INTEGER NOT NULL DEFAULT 0,
  run_id     TEXT,
  version    TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX document_path ON document (context_id, path);
CREATE INDEX document_user ON document (user_id);

CREATE TABLE document_text (
  document_id TEXT PRIMARY KEY REFERENCES document (id) ON DELETE CASCADE,
  user_id     TEXT NOT NULL,
  title       TEXT NOT NULL DEFAULT '',
  pages       INTEGER NOT NULL DEFAULT 0,
  content     TEXT NOT NULL,
  blocks      TEXT NOT NULL
) STRICT;

CREATE TABLE knowledge_chunk (
  number       INTEGER PRIMARY KEY AUTOINCREMENT, -- the row of its vector and of its words; never used twice
  id           TEXT NOT NULL UNIQUE,           -- derived from document, index and encoder version
  context_id   TEXT NOT NULL REFERENCES knowledge_context (id) ON DELETE CASCADE,
  document_id  TEXT NOT NULL REFERENCES document (id) ON DELETE CASCADE,
  user_id      TEXT NOT NULL,
  chunk_index  INTEGER NOT NULL,
  content      TEXT NOT NULL,
  heading      TEXT NOT NULL DEFAULT '',
  page         INTEGER NOT NULL DEFAULT 0,
  start_offset INTEGER NOT NULL,
  end_offset   INTEGER NOT NULL,
  created_at   INTEGER NOT NULL
) STRICT;

CREATE INDEX knowledge_chunk_context ON knowledge_chunk (context_id, number);
CREATE INDEX knowledge_chunk_document ON knowledge_chunk (document_id, chunk_index);

CREATE TABLE chunk_vector (
  number      INTEGER PRIMARY KEY REFERENCES knowledge_chunk (number) ON DELETE CASCADE,
  context_id  TEXT NOT NULL,
  document_id TEXT NOT NULL,
  dim         INTEGER NOT NULL,
  embedding   BLOB NOT NULL                    -- dim float32, little-endian, of length 1
) STRICT;

CREATE INDEX chunk_vector_context ON chunk_vector (context_id, dim, number);

-- scope holds one word for the context and one for the document, so that a
-- search inside them reads their postings only (15 to 21 times less work than
-- a join at 1,000 chunks).
CREATE VIRTUAL TABLE chunk_words USING fts5 (
  scope, heading, content,
  content = '', contentless_delete = 1, tokenize = 'porter unicode61'
);

-- A chunk's words go with it, whatever removes it: a person, a document, a
-- context or an account.
CREATE TRIGGER knowledge_chunk_gone AFTER DELETE ON knowledge_chunk
BEGIN
  DELETE FROM chunk_words WHERE rowid = old.number;
END;
