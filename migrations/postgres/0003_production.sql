-- What production asks for: tenants, sessions that rotate, second factors,
-- sign-in elsewhere, versions of vectors, and the tables of learning and of
-- changes to the behaviour (001 §2.4, 2.6, 2.7).
--
-- Vectors that are only kept and read whole (centroids, embeddings of events)
-- are bytea, 64 float32 little-endian, as the portable body writes them; lists
-- of ids are jsonb for the same reason.

ALTER TABLE app_user ADD COLUMN tenant_id text NOT NULL DEFAULT 'default';

ALTER TABLE auth_session ADD COLUMN family_id text NOT NULL DEFAULT '';
ALTER TABLE auth_session ADD COLUMN client text NOT NULL DEFAULT 'web';
UPDATE auth_session SET family_id = id::text;
CREATE INDEX auth_session_family ON auth_session (family_id);
CREATE INDEX auth_session_expiry ON auth_session (expires_at);

CREATE TABLE user_auth_provider (
  id           uuid PRIMARY KEY,
  user_id      uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  provider     text NOT NULL,
  provider_uid text NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now(),
  meta         jsonb
);

CREATE UNIQUE INDEX user_auth_provider_uid ON user_auth_provider (provider, provider_uid);
CREATE INDEX user_auth_provider_user ON user_auth_provider (user_id);

CREATE TABLE user_auth_factor (
  user_id    uuid PRIMARY KEY REFERENCES app_user (id) ON DELETE CASCADE,
  secret     bytea NOT NULL,
  last_step  bigint NOT NULL DEFAULT 0,
  recovery   jsonb NOT NULL DEFAULT '[]',
  created_at timestamptz NOT NULL DEFAULT now(),
  enabled_at timestamptz
);

ALTER TABLE knowledge_context ADD COLUMN encoder text NOT NULL DEFAULT '';
ALTER TABLE knowledge_chunk ADD COLUMN encoder text NOT NULL DEFAULT '';
ALTER TABLE knowledge_chunk ADD COLUMN meta jsonb;
ALTER TABLE chunk_vector ADD COLUMN encoder text NOT NULL DEFAULT '';
ALTER TABLE chunk_words ADD COLUMN encoder text NOT NULL DEFAULT '';
UPDATE knowledge_context SET encoder = 'hash-v1'; -- the only one there was
UPDATE knowledge_chunk SET encoder = 'hash-v1';
UPDATE chunk_vector SET encoder = 'hash-v1';
UPDATE chunk_words SET encoder = 'hash-v1';
CREATE INDEX chunk_vector_encoder ON chunk_vector (context_id, encoder);
CREATE INDEX chunk_vector_document ON chunk_vector (document_id);
CREATE UNIQUE INDEX context_source_path ON context_source (context_id, fs_path);
CREATE INDEX document_waiting ON document (updated_at, id) WHERE status IN ('waiting', 'reading');
CREATE INDEX document_place ON document (user_id, path);

CREATE TABLE payload (
  id         text PRIMARY KEY,
  value      bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX payload_age ON payload (created_at);

CREATE TABLE semantic_cluster (
  id                 uuid PRIMARY KEY,
  user_id            uuid,
  centroid           bytea NOT NULL,
  size               bigint NOT NULL DEFAULT 0,
  label              text NOT NULL DEFAULT '',
  description        text NOT NULL DEFAULT '',
  sample_message_ids jsonb NOT NULL DEFAULT '[]',
  created_at         timestamptz NOT NULL DEFAULT now(),
  updated_at         timestamptz NOT NULL DEFAULT now(),
  meta               jsonb
);

CREATE INDEX semantic_cluster_user ON semantic_cluster (user_id);

-- What is kept for a repeated key goes when its time is over (API-05).
CREATE INDEX idempotency_expiry ON idempotency (expires_at);

CREATE TABLE preference_event (
  id                bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id           uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  conversation_id   uuid NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
  message_id        uuid NOT NULL REFERENCES message (id) ON DELETE CASCADE,
  explicit_signal   text NOT NULL,
  score             double precision NOT NULL CHECK (score BETWEEN -1 AND 1),
  context_embedding bytea,
  context_text      text NOT NULL DEFAULT '',
  corrected_text    text,
  cluster_id        uuid,
  created_at        timestamptz NOT NULL DEFAULT now(),
  meta              jsonb
);

CREATE INDEX preference_event_user ON preference_event (user_id, created_at, id);
CREATE INDEX preference_event_conversation ON preference_event (conversation_id);
CREATE INDEX preference_event_message ON preference_event (message_id);

CREATE TABLE adapter_router_state (
  artifact_id     uuid PRIMARY KEY REFERENCES artifact (id) ON DELETE CASCADE,
  centroid_vec    bytea,
  usage_count     bigint NOT NULL DEFAULT 0,
  success_score   double precision NOT NULL DEFAULT 0.0,
  last_used_at    timestamptz,
  last_trained_at timestamptz,
  meta            jsonb
);

CREATE TABLE training_job (
  id                   uuid PRIMARY KEY,
  adapter_id           uuid NOT NULL REFERENCES artifact (id) ON DELETE CASCADE,
  user_id              uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  created_at           timestamptz NOT NULL DEFAULT now(),
  updated_at           timestamptz NOT NULL DEFAULT now(),
  status               text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'succeeded', 'failed')),
  num_events           bigint,
  loss                 double precision,
  dataset_path         text,
  new_version          bigint,
  preference_event_ids jsonb NOT NULL DEFAULT '[]',
  meta                 jsonb
);

CREATE INDEX training_job_user ON training_job (user_id, created_at, id);
CREATE INDEX training_job_adapter ON training_job (adapter_id);

CREATE TABLE config_patch (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  artifact_id   uuid NOT NULL REFERENCES artifact (id) ON DELETE CASCADE,
  proposer      text NOT NULL CHECK (proposer IN ('system_llm', 'human_admin', 'user')),
  user_id       uuid,
  patch         json NOT NULL,
  justification text NOT NULL DEFAULT '',
  status        text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'approved', 'rejected', 'applied')),
  created_at    timestamptz NOT NULL DEFAULT now(),
  decided_at    timestamptz,
  applied_at    timestamptz,
  meta          jsonb
);

CREATE INDEX config_patch_artifact ON config_patch (artifact_id, created_at);

SELECT app_guard(t::regclass, 'user_id = (SELECT app_person())')
  FROM unnest(ARRAY['user_auth_provider', 'user_auth_factor', 'preference_event', 'training_job']) AS t;
SELECT app_guard('semantic_cluster', 'user_id = (SELECT app_person()) OR (SELECT app_admin()) AND user_id IS NULL', 'user_id IS NULL');
SELECT app_guard('adapter_router_state',
  'EXISTS (SELECT 1 FROM artifact a WHERE a.id = artifact_id AND (a.owner_user_id = (SELECT app_person()) OR (SELECT app_admin()) AND a.visibility = ''global''))',
  'EXISTS (SELECT 1 FROM artifact a WHERE a.id = artifact_id)');
-- Administrators decide on everybody's proposals; others see their own.
SELECT app_guard('config_patch', 'user_id = (SELECT app_person()) OR (SELECT app_admin())');
SELECT app_guard('payload', 'false');

-- What is global is everybody's behaviour and knowledge: owning a row is not
-- enough to make it so (ISO-07).
CREATE POLICY global_made ON artifact AS RESTRICTIVE FOR INSERT WITH CHECK (visibility <> 'global' OR (SELECT app_admin()));
CREATE POLICY global_changed ON artifact AS RESTRICTIVE FOR UPDATE USING (true) WITH CHECK (visibility <> 'global' OR (SELECT app_admin()));
CREATE POLICY global_made ON knowledge_context AS RESTRICTIVE FOR INSERT WITH CHECK (visibility <> 'global' OR (SELECT app_admin()));
CREATE POLICY global_changed ON knowledge_context AS RESTRICTIVE FOR UPDATE USING (true) WITH CHECK (visibility <> 'global' OR (SELECT app_admin()));

-- How chunks are found.
--
-- The operators of a search (@@ of words, <-> of vectors) are not leakproof, so
-- under row-level security PostgreSQL would apply them only to rows it has
-- checked one by one, and no index would serve them: 726 ms instead of 0.3. So
-- a search runs as the tables' owner, who may read the two tables of the index,
-- and decides itself which of the asked contexts the person may see. It hands
-- out numbers and scores; the texts are read under the person's own policies.

CREATE POLICY search ON chunk_vector FOR SELECT TO CURRENT_USER USING (true);
CREATE POLICY search ON chunk_words FOR SELECT TO CURRENT_USER USING (true);

-- search_contexts are those of the asked contexts that the transaction's person
-- may read, and the encoder that each is read with.
CREATE FUNCTION search_contexts(asked uuid[], OUT ids uuid[], OUT encoders text[]) LANGUAGE sql STABLE SECURITY DEFINER
  SET search_path = public, pg_temp AS $$
  SELECT array_agg(c.id ORDER BY c.id), array_agg(c.encoder ORDER BY c.id) FROM knowledge_context c
  WHERE c.id = ANY (asked) AND (c.owner_user_id = app_person() OR c.visibility = 'global' OR app_system())
$$;

-- search_vectors are the most rows nearest to query: all rows of the contexts
-- compared when they are at most exact, and by the index when they are more.
CREATE FUNCTION search_vectors(asked uuid[], documents uuid[], query vector, most int, exact int)
  RETURNS TABLE (number bigint, distance double precision) LANGUAGE plpgsql STABLE SECURITY DEFINER
  SET search_path = public, extensions, pg_temp
  SET plan_cache_mode = force_custom_plan
  SET hnsw.iterative_scan = relaxed_order
  SET hnsw.ef_search = 100 AS $$
DECLARE
  seen record;
  length int := vector_dims(query);
  rows bigint := 0;
BEGIN
  SELECT * INTO seen FROM search_contexts(asked);
  IF seen.ids IS NULL THEN
    RETURN;
  END IF;
  -- In a database whose chunks are known to be few nothing needs counting.
  IF documents IS NULL AND length = 64
    AND (SELECT c.reltuples NOT BETWEEN 0 AND exact FROM pg_class c WHERE c.oid = 'chunk_vector'::regclass) THEN
    SELECT count(*) INTO rows FROM (
      SELECT 1 FROM chunk_vector v WHERE v.context_id = ANY (seen.ids) AND v.dim = 64 LIMIT exact + 1) AS few;
  END IF;
  IF rows <= exact THEN
    -- MATERIALIZED: the planner would take the index for a context of a hundredth
    -- of the rows, and find four in ten of the right ones.
    RETURN QUERY
      WITH near AS MATERIALIZED (
        SELECT v.number, v.embedding <-> query AS distance FROM chunk_vector v
        JOIN unnest(seen.ids, seen.encoders) AS s (id, encoder) ON s.id = v.context_id AND (s.encoder = '' OR s.encoder = v.encoder)
        WHERE v.context_id = ANY (seen.ids) AND v.dim = length AND (documents IS NULL OR v.document_id = ANY (documents)))
      SELECT n.number, n.distance FROM near n ORDER BY 2, 1 LIMIT most;
    RETURN;
  END IF;
  RETURN QUERY
    WITH read AS (SELECT jsonb_object_agg(s.id, s.encoder) AS encoder FROM unnest(seen.ids, seen.encoders) AS s (id, encoder)),
    near AS MATERIALIZED (
      SELECT v.number, v.embedding::vector(64) <-> query::vector(64) AS distance FROM chunk_vector v
      WHERE v.dim = 64 AND v.context_id = ANY (seen.ids)
        AND (SELECT r.encoder FROM read r) ->> v.context_id::text IN ('', v.encoder)
      ORDER BY v.embedding::vector(64) <-> query::vector(64) LIMIT most)
    SELECT n.number, n.distance FROM near n ORDER BY 2, 1; -- the index's order is only nearly right
END $$;

-- search_words are the most rows that hold some of the words best, those that
-- hold all of them first where there are many rows. Of more than cap matches
-- the first are ranked: a word of every row tells nothing.
CREATE FUNCTION search_words(asked uuid[], documents uuid[], any_word text, every_word text, most int, cap int)
  RETURNS TABLE (number bigint, score real) LANGUAGE plpgsql STABLE SECURITY DEFINER
  SET search_path = public, pg_temp
  SET plan_cache_mode = force_custom_plan AS $$
DECLARE
  seen record;
  scope tsquery;
  asked_for tsquery;
  matches bigint;
BEGIN
  SELECT * INTO seen FROM search_contexts(asked);
  IF seen.ids IS NULL THEN
    RETURN;
  END IF;
  SELECT string_agg('''c' || i || '''', ' | ')::tsquery INTO scope FROM unnest(seen.ids) AS i;
  IF documents IS NOT NULL THEN
    SELECT scope && string_agg('''d' || i || '''', ' | ')::tsquery INTO scope FROM unnest(documents) AS i;
  END IF;
  asked_for := to_tsquery('chunk_words', any_word);
  SELECT CASE WHEN c.reltuples BETWEEN 0 AND cap THEN 0 ELSE cap + 1 END INTO matches FROM pg_class c WHERE c.oid = 'chunk_words'::regclass;
  IF matches > cap THEN
    SELECT count(*) INTO matches FROM (SELECT 1 FROM chunk_words w WHERE w.words @@ (scope && asked_for) LIMIT cap + 1) AS few;
  END IF;
  IF matches > cap THEN
    RETURN QUERY SELECT * FROM search_ranked(seen.ids, seen.encoders, scope, to_tsquery('chunk_words', every_word), most, cap);
    IF FOUND THEN
      RETURN;
    END IF;
  END IF;
  RETURN QUERY SELECT * FROM search_ranked(seen.ids, seen.encoders, scope, asked_for, most, cap);
END $$;

CREATE FUNCTION search_ranked(ids uuid[], encoders text[], scope tsquery, asked_for tsquery, most int, cap int)
  RETURNS TABLE (number bigint, score real) LANGUAGE sql STABLE AS $$
  WITH read AS (SELECT jsonb_object_agg(s.id, s.encoder) AS encoder FROM unnest(ids, encoders) AS s (id, encoder)),
  found AS MATERIALIZED (
    -- Headings (A) count twice; 1 divides by the logarithm of the length.
    SELECT w.number, ts_rank('{0.5, 0.5, 0.5, 1}', w.words, asked_for, 1) AS score FROM chunk_words w
    WHERE w.words @@ (scope && asked_for) AND (SELECT r.encoder FROM read r) ->> w.context_id::text IN ('', w.encoder) LIMIT cap)
  SELECT f.number, f.score FROM found f ORDER BY 2 DESC, 1 LIMIT most
$$;

-- Only the program searches: what runs as the owner is not for everybody who
-- may connect.
REVOKE EXECUTE ON FUNCTION search_contexts, search_vectors, search_words, search_ranked FROM PUBLIC;
