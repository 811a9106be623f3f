package storetest

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"liminal/internal/id"
	"liminal/internal/store"
)

// Columns are the columns of every table of a database, by table.
type Columns map[string][]string

// ReadColumns reads them with a query of the dialect's that gives a table and a
// column in each row.
func ReadColumns(t testing.TB, db store.DB, query string) Columns {
	t.Helper()
	found := Columns{}
	err := db.Read(t.Context(), system, func(tx store.Tx) error {
		clear(found)
		return tx.Query(query, nil, func(scan store.Scan) error {
			var table, column string
			err := scan(&table, &column)
			found[table] = append(found[table], column)
			return err
		})
	})
	need(t, err)
	return found
}

// specified are the tables and columns that 001 §2 names, under the names they
// have here: identities of AUTH-20, CHAT-04 and CHAT-05, and DATA-02 to DATA-09. What is there more
// is ours.
var specified = map[string]string{
	"app_user":             "id email handle plan_tier is_active created_at meta role tenant_id",
	"user_auth_credential": "user_id password_hash password_algo created_at last_updated_at",
	"user_auth_provider":   "id user_id provider provider_uid created_at meta",
	"user_settings":        "user_id locale timezone default_voice default_style flags",
	"auth_session":         "id user_id created_at expires_at user_agent ip_addr meta",
	"conversation":         "id user_id title created_at updated_at status active_context_id meta",
	"message":              "id conversation_id sender role content content_struct seq created_at token_count_in token_count_out meta",
	"artifact":             "id owner_user_id type name description schema fs_path created_at updated_at visibility meta",
	"artifact_version":     "id artifact_id version schema fs_path created_at created_by change_note",
	"semantic_cluster":     "id user_id centroid size label description sample_message_ids created_at updated_at meta",
	"knowledge_context":    "id owner_user_id name description created_at updated_at visibility meta",
	"document":             "id user_id title", // LG-27
	"context_source":       "id context_id fs_path recursive meta",
	"knowledge_chunk":      "number id context_id chunk_index content created_at meta",
	"chunk_vector":         "number context_id dim embedding",
	"preference_event":     "id user_id conversation_id message_id created_at explicit_signal score context_embedding context_text corrected_text cluster_id meta",
	"adapter_router_state": "artifact_id centroid_vec usage_count success_score last_used_at last_trained_at meta",
	"training_job":         "id adapter_id user_id created_at updated_at status num_events loss dataset_path new_version preference_event_ids meta",
	"document_set":         "id user_id title created_at updated_at",
	"config_patch":         "id artifact_id proposer patch justification status created_at decided_at applied_at meta",
}

// Schema proves that a database has the tables and columns of the specification.
func Schema(t *testing.T, found Columns) {
	for _, table := range slices.Sorted(maps.Keys(specified)) {
		for column := range strings.FieldsSeq(specified[table]) {
			if !slices.Contains(found[table], column) {
				t.Errorf("%s has no column %s", table, column)
			}
		}
	}
}

// Rules proves what the specification says of values, by statements that a
// database must refuse: each breaks one rule of a row that is right otherwise.
func Rules(t *testing.T, db store.DB, b Backend) {
	v := person(t, b.Store)
	o := everything(t, b, v)
	args := store.Args{"user": v.UserID, "talk": o.turn.ConversationID, "message": o.turn.MessageID, "artifact": o.artifact, "other": id.New(), "third": id.New(), "now": newClock().now()}
	insert := func(statement string) error {
		return db.Write(t.Context(), system, func(tx store.Tx) error {
			_, err := tx.Exec(statement, args)
			return err
		})
	}
	for rule, statement := range map[string]string{
		"a provider's account is one person's": `INSERT INTO user_auth_provider (id, user_id, provider, provider_uid, created_at)
			VALUES (@other, @user, 'google', 'u1', @now), (@third, @user, 'google', 'u1', @now)`,
		"a conversation is open or archived": `UPDATE conversation SET status = 'odd' WHERE id = @talk`,
		"a sender is known":                  `UPDATE message SET sender = 'odd' WHERE id = @message`,
		"a score is at most 1":               `INSERT INTO preference_event (user_id, conversation_id, message_id, explicit_signal, score, created_at) VALUES (@user, @talk, @message, 'like', 1.5, @now)`,
		"a proposer is known":                `INSERT INTO config_patch (artifact_id, proposer, patch, created_at) VALUES (@artifact, 'nobody', '[]', @now)`,
		"a patch has a stage":                `INSERT INTO config_patch (artifact_id, proposer, patch, stage, created_at) VALUES (@artifact, 'user', '[]', 'odd', @now)`,
		"a patch has a state":                `INSERT INTO config_patch (artifact_id, proposer, patch, status, created_at) VALUES (@artifact, 'user', '[]', 'odd', @now)`,
		"a job has a state":                  `INSERT INTO training_job (id, adapter_id, user_id, status, created_at, updated_at) VALUES (@user, @artifact, @user, 'odd', @now, @now)`,
		"a version is numbered once": `INSERT INTO artifact_version (artifact_id, version, schema, created_by, created_at)
			VALUES (@artifact, 1, '{}', 'user', @now)`,
		"a version's author is known": `INSERT INTO artifact_version (artifact_id, version, schema, created_by, created_at)
			VALUES (@artifact, 2, '{}', 'somebody', @now)`,
	} {
		if err := insert(statement); err == nil {
			t.Errorf("%s: the database took a row that breaks it", rule)
		}
	}
	need(t, insert(`DELETE FROM config_patch`))
	need(t, insert(`INSERT INTO config_patch (artifact_id, proposer, user_id, patch, created_at) VALUES (@artifact, 'user', @user, '[]', @now)`))
	need(t, insert(`INSERT INTO training_job (id, adapter_id, user_id, created_at, updated_at) VALUES (@user, @artifact, @user, @now, @now)`))
	need(t, insert(`INSERT INTO adapter_router_state (artifact_id) VALUES (@artifact)`))
	need(t, insert(`INSERT INTO app_user (id, email, created_at) VALUES (@other, 'other@example.org', @now)`))
	if err := insert(`INSERT INTO app_user (id, email, created_at) VALUES (@third, 'other@example.org', @now)`); err == nil {
		t.Error("two people have one email")
	}
	var plan string
	var active bool
	need(t, db.Read(t.Context(), system, func(tx store.Tx) error {
		return tx.Query(`SELECT plan_tier, is_active FROM app_user WHERE id = @other`, args, func(scan store.Scan) error { return scan(&plan, &active) })
	}))
	want(t, "plan", plan, "free")
	want(t, "active", active, true)
	var status string
	need(t, db.Read(t.Context(), system, func(tx store.Tx) error {
		return tx.Query(`SELECT status FROM conversation WHERE id = @talk`, args, func(scan store.Scan) error { return scan(&status) })
	}))
	want(t, "conversation", status, "open")
	var state string
	var used int
	var success float64
	need(t, db.Read(t.Context(), system, func(tx store.Tx) error {
		return tx.Query(`SELECT c.status, r.usage_count, r.success_score FROM config_patch c JOIN adapter_router_state r ON r.artifact_id = c.artifact_id`, nil,
			func(scan store.Scan) error { return scan(&state, &used, &success) })
	}))
	want(t, "state", state, "pending")
	want(t, "usage", used, 0)
	want(t, "success", success, 0.0)
}

// Cascades proves what goes with an account and what does not (DATA-01): an
// artifact holds its owner back, and a cluster outlives them, as does the
// system's own run that carried their proposal.
func Cascades(t *testing.T, db store.DB, b Backend) {
	v := person(t, b.Store)
	everything(t, b, v)
	args := store.Args{"user": v.UserID, "id": nobodysID, "now": newClock().now(), "vector": []byte{0}}
	exec := func(statement string) error {
		return db.Write(t.Context(), system, func(tx store.Tx) error {
			_, err := tx.Exec(statement, args)
			return err
		})
	}
	need(t, exec(`INSERT INTO semantic_cluster (id, user_id, centroid, created_at, updated_at) VALUES (@id, @user, @vector, @now, @now)`))
	if err := exec(`DELETE FROM app_user WHERE id = @user`); err == nil {
		t.Error("an account went while it owned an artifact")
	}
	need(t, exec(`DELETE FROM artifact WHERE owner_user_id = @user`))
	need(t, exec(`DELETE FROM app_user WHERE id = @user`))
	for table, left := range map[string]int{
		"user_auth_credential": 0, "user_settings": 0, "conversation": 0, "message": 0, "run": 1, "interrupt": 0, "blob": 0, "file": 0,
		"knowledge_context": 0, "document": 0, "document_text": 0, "document_set": 0, "document_set_document": 0, "spend": 0, "recording": 0, "config_patch": 0, "config_patch_change": 0, "config_patch_event": 0, "spend_call": 0, "knowledge_chunk": 0, "chunk_vector": 0, "artifact_version": 0, "semantic_cluster": 2, "preference_event": 0, "lesson": 0, "lesson_source": 0, "learning_settings": 0,
		"training_job": 0, "adapter_weights": 0, "adapter_lineage": 0,
	} {
		n := 0
		need(t, db.Read(t.Context(), system, func(tx store.Tx) error {
			return tx.Query(`SELECT count(*) FROM `+table, nil, func(scan store.Scan) error { return scan(&n) })
		}))
		want(t, table, n, left)
	}
}

const nobodysID = "6f1c7c9e-3d55-4b5f-8f0e-0c3d1f6a7b11"
