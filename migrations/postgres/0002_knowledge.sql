-- Files, contexts, documents, and the chunk index.
--
-- 001 §2.5 names an ivfflat index with lists = 100. Measured on 100,000 rows
-- with the filter by context that every search has, it finds 44 to 58 % of the
-- right answers of a context of 1,000 to 10,000 chunks, because it looks into
-- the ten nearest lists of everybody's chunks and filters afterwards. So up to
-- 20,000 chunks a search scans its contexts exactly (9 ms, nothing missed),
-- and above that it uses HNSW with an iterative scan. Distances are <-> on
-- vectors of length 1: the order is that of the cosine, which is 1 - d²/2.

CREATE EXTENSION IF NOT EXISTS vector;

-- Words are stemmed and none is left out, so that a text of stop words alone
-- can be found. The program folds case and diacritics before.
CREATE TEXT SEARCH DICTIONARY chunk_stem (TEMPLATE = snowball, Language = english);
CREATE TEXT SEARCH CONFIGURATION chunk_words (COPY = simple);
ALTER TEXT SEARCH CONFIGURATION chunk_words ALTER MAPPING FOR asciiword, word WITH chunk_stem;

CREATE TABLE file (
  user_id    uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  path       text COLLATE "C" NOT NULL,
  name       text NOT NULL,
  mime       text NOT NULL,
  size       bigint NOT NULL,
  sha256     text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, path)
);

CREATE INDEX file_newest ON file (user_id, created_at, path);

CREATE TABLE knowledge_context (
  id            uuid PRIMARY KEY,
  owner_user_id uuid REFERENCES app_user (id) ON DELETE CASCADE,
  name          text NOT NULL,
  description   text NOT NULL DEFAULT '',
  visibility    text NOT NULL DEFAULT 'private' CHECK (visibility IN ('private', 'global')),
  revision      bigint NOT NULL DEFAULT 0,
  created_at    timestamptz NOT NULL DEFAULT now(),
  updated_at    timestamptz NOT NULL DEFAULT now(),
  meta          jsonb
);

CREATE INDEX knowledge_context_owner ON knowledge_context (owner_user_id, created_at, id);
CREATE INDEX knowledge_context_global ON knowledge_context (created_at, id) WHERE visibility = 'global';

CREATE TABLE context_source (
  id         uuid PRIMARY KEY,
  context_id uuid NOT NULL REFERENCES knowledge_context (id) ON DELETE CASCADE,
  fs_path    text COLLATE "C" NOT NULL,
  recursive  boolean NOT NULL DEFAULT true,
  meta       jsonb
);

CREATE INDEX context_source_context ON context_source (context_id);

CREATE TABLE document (
  id         uuid PRIMARY KEY,
  context_id uuid NOT NULL REFERENCES knowledge_context (id) ON DELETE CASCADE,
  user_id    uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  path       text COLLATE "C" NOT NULL,
  title      text NOT NULL DEFAULT '',
  mime       text NOT NULL DEFAULT '',
  size       bigint NOT NULL DEFAULT 0,
  sha256     text NOT NULL DEFAULT '',
  status     text NOT NULL CHECK (status IN ('waiting', 'reading', 'ready', 'failed', 'skipped')),
  error      text NOT NULL DEFAULT '',
  pages      bigint NOT NULL DEFAULT 0,
  length     bigint NOT NULL DEFAULT 0,
  chunks     bigint NOT NULL DEFAULT 0,
  chunk_size bigint NOT NULL DEFAULT 0,
  run_id     uuid,
  version    text NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE UNIQUE INDEX document_path ON document (context_id, path);
CREATE INDEX document_user ON document (user_id);

CREATE TABLE document_text (
  document_id uuid PRIMARY KEY REFERENCES document (id) ON DELETE CASCADE,
  user_id     uuid NOT NULL,
  title       text NOT NULL DEFAULT '',
  pages       bigint NOT NULL DEFAULT 0,
  content     text NOT NULL,
  blocks      json NOT NULL
);

CREATE TABLE knowledge_chunk (
  number       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- the row of its vector and of its words; never used twice
  id           uuid NOT NULL UNIQUE,
  context_id   uuid NOT NULL REFERENCES knowledge_context (id) ON DELETE CASCADE,
  document_id  uuid NOT NULL REFERENCES document (id) ON DELETE CASCADE,
  user_id      uuid NOT NULL,
  chunk_index  bigint NOT NULL,
  content      text NOT NULL,
  heading      text NOT NULL DEFAULT '',
  page         bigint NOT NULL DEFAULT 0,
  start_offset bigint NOT NULL,
  end_offset   bigint NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX knowledge_chunk_context ON knowledge_chunk (context_id, number);
CREATE INDEX knowledge_chunk_document ON knowledge_chunk (document_id, chunk_index);

-- Vectors stand in a narrow table of their own, so that a scan reads no text.
-- The column takes any length, because a context that is embedded anew holds
-- two; the index is of one. Another length wants another such index, and is
-- scanned exactly until it has one.
CREATE TABLE chunk_vector (
  number      bigint PRIMARY KEY REFERENCES knowledge_chunk (number) ON DELETE CASCADE,
  context_id  uuid NOT NULL,
  document_id uuid NOT NULL,
  dim         integer NOT NULL,
  embedding   vector NOT NULL CHECK (vector_dims(embedding) = dim) -- of length 1
);

ALTER TABLE chunk_vector ALTER COLUMN embedding SET STORAGE MAIN; -- beside the row: out of line an exact scan takes three times as long
CREATE INDEX chunk_vector_context ON chunk_vector (context_id, dim, number);
CREATE INDEX chunk_vector_hnsw ON chunk_vector USING hnsw ((embedding::vector(64)) vector_l2_ops) WITH (m = 16, ef_construction = 64) WHERE dim = 64;

-- words holds a lexeme for the context and one for the document beside those
-- of the text, so that the index finds words inside them by itself.
CREATE TABLE chunk_words (
  number      bigint PRIMARY KEY REFERENCES knowledge_chunk (number) ON DELETE CASCADE,
  context_id  uuid NOT NULL,
  document_id uuid NOT NULL,
  words       tsvector NOT NULL
);

CREATE INDEX chunk_words_context ON chunk_words (context_id, number);
CREATE INDEX chunk_words_words ON chunk_words USING gin (words);

SELECT app_guard('file', 'user_id = (SELECT app_person())');
SELECT app_guard('knowledge_context',
  'owner_user_id = (SELECT app_person()) OR (SELECT app_admin()) AND visibility = ''global''',
  'visibility = ''global''');
-- What lies in a context is seen and changed with it; knowledge_context's own
-- policies hold inside.
SELECT app_guard(t::regclass,
  'EXISTS (SELECT 1 FROM knowledge_context c WHERE c.id = context_id AND (c.owner_user_id = (SELECT app_person()) OR (SELECT app_admin()) AND c.visibility = ''global''))',
  'EXISTS (SELECT 1 FROM knowledge_context c WHERE c.id = context_id)')
  FROM unnest(ARRAY['context_source', 'document', 'knowledge_chunk', 'chunk_vector', 'chunk_words']) AS t;
SELECT app_guard('document_text',
  'EXISTS (SELECT 1 FROM document d JOIN knowledge_context c ON c.id = d.context_id WHERE d.id = document_id AND (c.owner_user_id = (SELECT app_person()) OR (SELECT app_admin()) AND c.visibility = ''global''))',
  'EXISTS (SELECT 1 FROM document d WHERE d.id = document_id)');
