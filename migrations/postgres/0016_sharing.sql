-- What a person shares: a context, a document set or an artifact, with one
-- person or with everybody of a tenant, to read or also to add to. A share goes
-- with what it shares and with either person.
CREATE TABLE share (
  id              uuid PRIMARY KEY,
  owner_user_id   uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  context_id      uuid REFERENCES knowledge_context (id) ON DELETE CASCADE,
  set_id          uuid REFERENCES document_set (id) ON DELETE CASCADE,
  artifact_id     uuid REFERENCES artifact (id) ON DELETE CASCADE,
  grantee_user_id uuid REFERENCES app_user (id) ON DELETE CASCADE,
  tenant_id       text,
  may_write       boolean NOT NULL DEFAULT false,
  created_at      timestamptz NOT NULL DEFAULT now(),
  CHECK (num_nonnulls(context_id, set_id, artifact_id) = 1),
  CHECK (num_nonnulls(grantee_user_id, tenant_id) = 1),
  CHECK (set_id IS NULL OR NOT may_write)
);

CREATE UNIQUE INDEX share_once ON share (coalesce(context_id, set_id, artifact_id), coalesce(grantee_user_id, '00000000-0000-0000-0000-000000000000'), coalesce(tenant_id, ''));
CREATE INDEX share_context ON share (context_id) WHERE context_id IS NOT NULL;
CREATE INDEX share_set ON share (set_id) WHERE set_id IS NOT NULL;
CREATE INDEX share_artifact ON share (artifact_id) WHERE artifact_id IS NOT NULL;
CREATE INDEX share_owner ON share (owner_user_id, created_at, id);
CREATE INDEX share_grantee ON share (grantee_user_id) WHERE grantee_user_id IS NOT NULL;
CREATE INDEX share_tenant ON share (tenant_id) WHERE tenant_id IS NOT NULL;

-- A share is seen by who gave it and whom it reaches; who gave it may take it
-- back, and whom alone it reaches may let go of it. Its policies ask only who
-- somebody is: those of what is shared ask them, and not the other way round.
SELECT app_guard('share', 'owner_user_id = (SELECT app_person())',
  'grantee_user_id = (SELECT app_person()) OR tenant_id = (SELECT u.tenant_id FROM app_user u WHERE u.id = (SELECT app_person()))');
CREATE POLICY leaving ON share FOR DELETE USING (grantee_user_id = (SELECT app_person()));

-- What reaches the transaction's person. A policy works each of these out once a
-- query.
CREATE FUNCTION search_shares() RETURNS SETOF share LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
  SELECT h.* FROM share h WHERE h.grantee_user_id = app_person() OR h.tenant_id = (SELECT u.tenant_id FROM app_user u WHERE u.id = app_person())
$$;

CREATE FUNCTION search_shared_contexts(adding boolean) RETURNS SETOF uuid LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
  SELECT h.context_id FROM search_shares() h WHERE h.context_id IS NOT NULL AND (h.may_write OR NOT adding)
$$;

CREATE FUNCTION search_shared_artifacts(adding boolean) RETURNS SETOF uuid LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
  SELECT h.artifact_id FROM search_shares() h WHERE h.artifact_id IS NOT NULL AND (h.may_write OR NOT adding)
$$;

CREATE FUNCTION search_shared_sets() RETURNS SETOF uuid LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
  SELECT h.set_id FROM search_shares() h WHERE h.set_id IS NOT NULL
$$;

CREATE FUNCTION search_shared_documents() RETURNS SETOF uuid LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
  SELECT m.document_id FROM search_shares() h JOIN document_set_document m ON m.set_id = h.set_id AND m.user_id = h.owner_user_id
$$;

REVOKE EXECUTE ON FUNCTION search_shares, search_shared_contexts, search_shared_artifacts, search_shared_sets, search_shared_documents FROM PUBLIC;

-- A share is of its owner's own. What the owner may not see is not theirs either.
CREATE FUNCTION share_own() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM knowledge_context c WHERE c.id = new.context_id AND c.owner_user_id = new.owner_user_id)
    OR EXISTS (SELECT 1 FROM document_set s WHERE s.id = new.set_id AND s.user_id = new.owner_user_id)
    OR EXISTS (SELECT 1 FROM artifact a WHERE a.id = new.artifact_id AND a.owner_user_id = new.owner_user_id) THEN
    RETURN new;
  END IF;
  RAISE EXCEPTION 'a share is of what its owner owns' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER share_own BEFORE INSERT ON share FOR EACH ROW EXECUTE FUNCTION share_own();

CREATE POLICY shared ON knowledge_context FOR SELECT USING (id IN (SELECT search_shared_contexts(false)));
CREATE POLICY shared ON artifact FOR SELECT USING (id IN (SELECT search_shared_artifacts(false)));
CREATE POLICY shared ON document_set FOR SELECT USING (id IN (SELECT search_shared_sets()));
CREATE POLICY shared ON document_set_document FOR SELECT USING (set_id IN (SELECT search_shared_sets()));
CREATE POLICY shared ON document FOR SELECT USING (id IN (SELECT search_shared_documents()));
CREATE POLICY shared ON knowledge_chunk FOR SELECT USING (document_id IN (SELECT search_shared_documents()));

-- Who may add puts documents of their own there, and those they may change.
CREATE POLICY adding ON document USING (user_id = (SELECT app_person()) AND context_id IN (SELECT search_shared_contexts(true)))
  WITH CHECK (user_id = (SELECT app_person()) AND context_id IN (SELECT search_shared_contexts(true)));
CREATE POLICY adding ON knowledge_chunk USING (user_id = (SELECT app_person()) AND context_id IN (SELECT search_shared_contexts(true)))
  WITH CHECK (user_id = (SELECT app_person()) AND context_id IN (SELECT search_shared_contexts(true)));
CREATE POLICY adding ON document_text
  USING (user_id = (SELECT app_person()) AND EXISTS (SELECT 1 FROM document d WHERE d.id = document_id AND d.context_id IN (SELECT search_shared_contexts(true))))
  WITH CHECK (user_id = (SELECT app_person()) AND EXISTS (SELECT 1 FROM document d WHERE d.id = document_id AND d.context_id IN (SELECT search_shared_contexts(true))));
CREATE POLICY adding ON chunk_vector
  USING (context_id IN (SELECT search_shared_contexts(true)) AND EXISTS (SELECT 1 FROM document d WHERE d.id = document_id AND d.user_id = (SELECT app_person())))
  WITH CHECK (context_id IN (SELECT search_shared_contexts(true)) AND EXISTS (SELECT 1 FROM document d WHERE d.id = document_id AND d.user_id = (SELECT app_person())));
CREATE POLICY adding ON chunk_words
  USING (context_id IN (SELECT search_shared_contexts(true)) AND EXISTS (SELECT 1 FROM document d WHERE d.id = document_id AND d.user_id = (SELECT app_person())))
  WITH CHECK (context_id IN (SELECT search_shared_contexts(true)) AND EXISTS (SELECT 1 FROM document d WHERE d.id = document_id AND d.user_id = (SELECT app_person())));
-- The count of changes of a context moves with its documents, and an artifact
-- gets versions; the triggers below keep everything else.
CREATE POLICY adding ON knowledge_context FOR UPDATE USING (id IN (SELECT search_shared_contexts(true))) WITH CHECK (id IN (SELECT search_shared_contexts(true)));
CREATE POLICY adding ON artifact FOR UPDATE USING (id IN (SELECT search_shared_artifacts(true))) WITH CHECK (id IN (SELECT search_shared_artifacts(true)));
CREATE POLICY adding ON artifact_version FOR INSERT WITH CHECK (artifact_id IN (SELECT search_shared_artifacts(true)));

-- Who changes what was shared with them cannot take it, nor make it somebody
-- else's: only what a share is for may change.
CREATE FUNCTION context_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF old.owner_user_id IS NULL OR old.owner_user_id = app_person() OR app_system() THEN
    RETURN new;
  END IF;
  IF (new.owner_user_id, new.name, new.description, new.visibility, new.encoder, new.meta::text) IS DISTINCT FROM
     (old.owner_user_id, old.name, old.description, old.visibility, old.encoder, old.meta::text) THEN
    RAISE EXCEPTION 'a context is changed by its owner' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN new;
END $$;
CREATE TRIGGER context_kept BEFORE UPDATE ON knowledge_context FOR EACH ROW EXECUTE FUNCTION context_kept();

CREATE FUNCTION artifact_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF old.owner_user_id IS NULL OR old.owner_user_id = app_person() OR app_system() THEN
    RETURN new;
  END IF;
  IF (new.owner_user_id, new.type, new.name, new.visibility) IS DISTINCT FROM (old.owner_user_id, old.type, old.name, old.visibility) THEN
    RAISE EXCEPTION 'an artifact is changed by its owner' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN new;
END $$;
CREATE TRIGGER artifact_kept BEFORE UPDATE ON artifact FOR EACH ROW EXECUTE FUNCTION artifact_kept();

-- Searches find what is shared. A context of which only a set's documents reach
-- the person is searched for documents that are named, whatever reads it; those
-- that they may not read are left out before anything is asked.
CREATE FUNCTION search_contexts(asked uuid[], documents uuid[], OUT ids uuid[], OUT encoders text[]) LANGUAGE sql STABLE SECURITY DEFINER
  SET search_path = public, pg_temp AS $$
  WITH whole AS (
    SELECT c.id, c.encoder FROM knowledge_context c
    WHERE c.id = ANY (asked) AND (c.owner_user_id = app_person() OR c.visibility = 'global' OR app_system() OR c.id IN (SELECT search_shared_contexts(false)))),
  parts AS (
    SELECT DISTINCT d.context_id AS id, '' AS encoder FROM document d
    WHERE d.id = ANY (documents) AND d.context_id = ANY (asked) AND d.id IN (SELECT search_shared_documents())
      AND NOT EXISTS (SELECT 1 FROM whole w WHERE w.id = d.context_id)),
  seen AS (SELECT * FROM whole UNION ALL SELECT * FROM parts)
  SELECT array_agg(s.id ORDER BY s.id), array_agg(s.encoder ORDER BY s.id) FROM seen s
$$;

-- Documents of those named that the person may read; nothing is named: nothing.
CREATE FUNCTION search_documents(named uuid[]) RETURNS uuid[] LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT CASE WHEN named IS NULL THEN NULL ELSE coalesce(array_agg(d.id), '{}') END FROM document d LEFT JOIN knowledge_context c ON c.id = d.context_id
  WHERE d.id = ANY (named) AND (c.owner_user_id = app_person() OR c.visibility = 'global' OR app_system()
    OR c.id IN (SELECT search_shared_contexts(false)) OR d.id IN (SELECT search_shared_documents()))
$$;

REVOKE EXECUTE ON FUNCTION search_contexts(uuid[], uuid[]), search_documents FROM PUBLIC;

-- The settings of a search are the extension's, which a session knows once it
-- has read a vector.
SELECT '[1]'::vector;

CREATE OR REPLACE FUNCTION search_vectors(asked uuid[], documents uuid[], query vector, most int, exact int)
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
  documents := search_documents(documents);
  SELECT * INTO seen FROM search_contexts(asked, documents);
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

CREATE OR REPLACE FUNCTION search_words(asked uuid[], documents uuid[], any_word text, every_word text, most int, cap int)
  RETURNS TABLE (number bigint, score real) LANGUAGE plpgsql STABLE SECURITY DEFINER
  SET search_path = public, pg_temp
  SET plan_cache_mode = force_custom_plan AS $$
DECLARE
  seen record;
  scope tsquery;
  asked_for tsquery;
  matches bigint;
BEGIN
  documents := search_documents(documents);
  SELECT * INTO seen FROM search_contexts(asked, documents);
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
