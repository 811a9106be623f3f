package postgres_test

import (
	"testing"

	"liminal/internal/store"
	"liminal/internal/store/postgres"
	"liminal/internal/store/postgres/postgrestest"
	"liminal/internal/store/storetest"
)

func open(t testing.TB, o store.Options) storetest.Backend {
	t.Helper()
	db := postgrestest.Pool(t)
	t.Cleanup(func() { postgres.CheckPlans(t, db) })
	return storetest.Backend{Store: store.New(db, o), Index: postgres.NewIndex(db, postgres.IndexOptions{})}
}

// Requirements: PLAT-10, AUTH-03, API-04
func TestAccounts(t *testing.T) { t.Parallel(); storetest.Accounts(t, open) }

// Requirements: AUTH-12, AUTH-13, AUTH-16
func TestFactors(t *testing.T) { t.Parallel(); storetest.Factors(t, open) }

func TestAccessKeys(t *testing.T) { t.Parallel(); storetest.AccessKeys(t, open) }

// Requirements: PAL-02 (creates a block), PAL-03 (of each block), PAL-04, PAL-05, PAL-06, PAL-10, PAL-11, PAL-12 (answers add and remove), PAL-13, PAL-14, PAL-15 (scopes and tools filter together), PAL-16 (system prompts and tools), PAL-18 (the default and results), PAL-20 (kept, and out of views), PAL-24 (exchanges; blocks), PAL-25 (each body to the byte), PAL-26
func TestPalace(t *testing.T) { t.Parallel(); storetest.Palace(t, open) }

// Requirements: PAL-02 (classifies), PAL-12 (by context of the agent), PAL-15 (channels do), PAL-16 (announcements), PAL-17, PAL-18 (channels and stars; deleted and archived by age), PAL-19, PAL-20 (by age), PAL-22, CFG-11
func TestPalacePolicy(t *testing.T) { t.Parallel(); storetest.PalacePolicy(t, open) }

// Requirements: PAL-02 (classifies), PAL-07 (a model is asked so), PAL-08 (by a model; the latency in /stats), PAL-09, PAL-19
func TestPalaceModel(t *testing.T) { t.Parallel(); storetest.PalaceModel(t, open) }

// Requirements: ISO-01, SAFE-08
func TestConnections(t *testing.T) { t.Parallel(); storetest.Connections(t, open) }

// Requirements: ISO-01, SAFE-08
func TestWebhooks(t *testing.T) { t.Parallel(); storetest.Webhooks(t, open) }

func TestItems(t *testing.T) { t.Parallel(); storetest.Items(t, open) }

// Requirements: TOOL-16
func TestActs(t *testing.T) { t.Parallel(); storetest.Acts(t, open) }

// Requirements: ISO-06 (shared)
func TestShares(t *testing.T) { t.Parallel(); storetest.Shares(t, open) }

// Requirements: PLAT-08, PLAT-14
func TestRuns(t *testing.T) { t.Parallel(); storetest.Runs(t, open) }

// Requirements: INT-30, INT-31, INT-33
func TestInterrupts(t *testing.T) { t.Parallel(); storetest.Interrupts(t, open) }

// Requirements: CHAT-04, CHAT-10, CHAT-13, GRAPH-28 (what persists is kept)
func TestConversations(t *testing.T) { t.Parallel(); storetest.Conversations(t, open) }

// Requirements: CHAT-03, CHAT-05, CHAT-16, CHAT-17, CHAT-18, CHAT-26, CHAT-28, LG-04, INT-10, INT-29, INT-33, ISO-08 (a fourth run is 409 busy), GRAPH-28 (messages append)
func TestTurns(t *testing.T) { t.Parallel(); storetest.Turns(t, open) }

// Requirements: CHAT-11, CHAT-28
func TestVersions(t *testing.T) { t.Parallel(); storetest.Versions(t, open) }

// Requirements: ART-05, ART-06, ART-08, ART-09, ART-10
func TestArtifacts(t *testing.T) { t.Parallel(); storetest.Artifacts(t, open) }

// Requirements: ART-06, ART-09, ART-11, CHAT-19, ISO-01
func TestMemories(t *testing.T) { t.Parallel(); storetest.Memories(t, open) }

// Requirements: LORA-05
func TestBackends(t *testing.T) { t.Parallel(); storetest.Backends(t, open) }

// Requirements: CHAT-04
func TestChosenBackends(t *testing.T) { t.Parallel(); storetest.ChosenBackends(t, open) }

// Requirements: UI-06
func TestChosenWorkflows(t *testing.T) { t.Parallel(); storetest.ChosenWorkflows(t, open) }

// Requirements: GRND-27 (the person's cap; everybody's cap), GRND-28 (written before the model; columns; closed when nobody carries the run on), GRND-29 (upstream_error; user_aborted; rate_limited), GRND-30 (redacted has no words; full has them), GRND-31 (own rows; administrators all), GRND-32 (atomic; by person and hour), GRND-33 (the audit says so), GRND-48, GRND-49, SAFE-07 (hint; hard block with retry-after; everybody's cap; an administrator's own cap, noted)
func TestSurfaces(t *testing.T) { t.Parallel(); storetest.Surfaces(t, open) }

// Requirements: FILE-02
func TestFiles(t *testing.T) { t.Parallel(); storetest.Files(t, open) }

// Requirements: API-05, API-06
func TestKeys(t *testing.T) { t.Parallel(); storetest.Keys(t, open) }

// Requirements: RAG-01, RAG-20
func TestKnowledge(t *testing.T) { t.Parallel(); storetest.Knowledge(t, open) }

// Requirements: API-15, RAG-10, RAG-13, RAG-18, RAG-19, RAG-20
func TestIndex(t *testing.T) { t.Parallel(); storetest.Index(t, open) }

// Requirements: ISO-01, CHAT-11, INT-30
func TestIsolation(t *testing.T) { t.Parallel(); storetest.Isolation(t, open) }

// Requirements: PREF-01, PREF-03, PREF-04 (stored), PREF-07
func TestPreferences(t *testing.T) { t.Parallel(); storetest.Preferences(t, open) }

// Requirements: ROUTE-13
func TestAdapters(t *testing.T) { t.Parallel(); storetest.Adapters(t, open) }

// Requirements: CLUS-01 (centroid and size; events have clusters), CLUS-02 (stored rows)
func TestLearning(t *testing.T) { t.Parallel(); storetest.Learning(t, open) }

// Requirements: TRAIN-08 (the running platform queues so), TRAIN-09 (the running platform queues so), TRAIN-12, TRAIN-14 (who lost the job writes nothing more)
func TestTraining(t *testing.T) { t.Parallel(); storetest.Training(t, open) }

// Requirements: RAG-07, RAG-08, RAG-17 (a metric)
func TestSweepStore(t *testing.T) { t.Parallel(); storetest.SweepStore(t, open) }

// Requirements: PLAT-14
func TestPayloads(t *testing.T) { t.Parallel(); storetest.Payloads(t, open) }

// Requirements: OBS-01 (adapter usage and success_score; training jobs and loss), OBS-05 (training failures), TRAIN-16 (failures are told apart), RAG-17 (a metric)
func TestFigures(t *testing.T) { t.Parallel(); storetest.Figures(t, open) }

// Requirements: GRND-38 (turns with median and p90; daily series; tool use and abandonment; usage and cost per person), ISO-01, ISO-12
func TestInsights(t *testing.T) { t.Parallel(); storetest.Insights(t, open) }

// Requirements: API-05, API-06, ISO-08 (a fourth run is 409 busy), SAFE-04
func TestCrowd(t *testing.T) { t.Parallel(); storetest.Crowd(t, open) }

// Requirements: CHAT-10, CHAT-18, INT-31
func TestRivals(t *testing.T) { t.Parallel(); storetest.Rivals(t, open) }

// Requirements: RAG-04, RAG-07
func TestIntake(t *testing.T) { t.Parallel(); storetest.Intake(t, open) }

// Requirements: LG-21, LG-26, LG-27
func TestSets(t *testing.T) { t.Parallel(); storetest.Sets(t, open) }

// Requirements: OBS-09
func TestSpend(t *testing.T) { t.Parallel(); storetest.Spend(t, open) }

// Requirements: AUTH-21, ISO-07, OBS-09
func TestAdministration(t *testing.T) { t.Parallel(); storetest.Administration(t, open) }

// Requirements: CFG-03, CFG-04, CFG-05, CFG-06, CFG-16
func TestChanges(t *testing.T) { t.Parallel(); storetest.Changes(t, open) }

// Requirements: ART-09, CFG-04, CFG-05, CFG-06
func TestDecisions(t *testing.T) { t.Parallel(); storetest.Decisions(t, open) }

// Requirements: CFG-11, ISO-01
func TestRecordings(t *testing.T) { t.Parallel(); storetest.Recordings(t, open) }

// Requirements: CFG-15, ISO-01
func TestSteward(t *testing.T) { t.Parallel(); storetest.Steward(t, open) }

// BenchmarkLongTalk reads and turns a conversation of 10,000 messages.
func BenchmarkLongTalk(b *testing.B) { storetest.LongTalk(b, open) }

// Requirements: GRND-47 (the server keeps no transcript), STREAM-24 (kept for 30 s at least)
func TestUnkept(t *testing.T) { t.Parallel(); storetest.Unkept(t, open) }
