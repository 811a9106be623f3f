package devserver

import (
	"time"

	"go.temporal.io/server/common/dynamicconfig"
)

const (
	// unlimited lifts a limit meant for shared clusters. Here one person's own
	// machine is the limit.
	unlimited = 1_000_000

	// pollsPerSecond is how often a queue may look for work. The server's own
	// default of 20 makes an ordinary activity wait up to 50 ms, and five of
	// them half a second.
	pollsPerSecond = 100_000

	// listPollsPerSecond paces the writing of the UI's lists instead: they lag
	// by up to 250 ms, and runs get the processor time (a third more of them).
	listPollsPerSecond = 4

	// forgetTasks is how long a queue of the server remembers what it has done.
	// It goes through all of that whenever a run writes anything, so the default
	// of ten seconds costs more the more runs there are.
	forgetTasks = time.Second

	// cachedRuns bounds the runs whose state the server keeps in memory. The
	// default of 128,000 costs hundreds of MiB when thousands of runs wait for
	// a person; a run outside the cache answers a few milliseconds later.
	cachedRuns = 1_000
	// cachedByWorkers bounds the runs all SDK workers of this process keep in
	// memory together. The SDK has one cache for all of them, made for the first
	// worker there is, and that is one of the server's own: whatever the
	// platform's worker says later comes too late. Its default is 10,000, at
	// some 100 KB for a paused run.
	cachedByWorkers = 500
	// cachedEvents bounds, in bytes, the recent history events kept in memory.
	cachedEvents = 16 << 20
)

// settings is the server's dynamic configuration. Each figure that a comment
// gives was measured on two cores with the server this module pins.
func settings() dynamicconfig.StaticClient {
	all := dynamicconfig.StaticClient{
		// Several partitions of a task queue cost a third of the throughput on
		// one node.
		dynamicconfig.MatchingNumTaskqueueReadPartitions.Key():  1,
		dynamicconfig.MatchingNumTaskqueueWritePartitions.Key(): 1,

		// People take turns where tasks wait (worker.startOptions has the key).
		dynamicconfig.MatchingEnableFairness.Key(): true,

		// The default of one second delays every timer by up to that.
		dynamicconfig.TimerProcessorMaxTimeShift.Key(): 10 * time.Millisecond,

		dynamicconfig.HistoryCacheHostLevelMaxSize.Key():     cachedRuns,
		dynamicconfig.EventsHostLevelCacheMaxSizeBytes.Key(): cachedEvents,
		dynamicconfig.WorkerStickyCacheSize.Key():            cachedByWorkers,

		dynamicconfig.VisibilityProcessorMaxPollRPS.Key():     listPollsPerSecond,
		dynamicconfig.VisibilityProcessorMaxPollHostRPS.Key(): listPollsPerSecond,

		// It would ask a server of its maker's, with what it is and where it runs.
		dynamicconfig.EnableServerVersionCheck.Key(): false,

		dynamicconfig.EnableEagerWorkflowStart.Key():     true,
		dynamicconfig.EnableActivityEagerExecution.Key(): true,
	}
	for _, key := range []dynamicconfig.Key{
		dynamicconfig.TransferProcessorUpdateAckInterval.Key(),
		dynamicconfig.TimerProcessorUpdateAckInterval.Key(),
		dynamicconfig.VisibilityProcessorUpdateAckInterval.Key(),
	} {
		all[key] = forgetTasks
	}
	for _, key := range []dynamicconfig.Key{
		dynamicconfig.TransferProcessorMaxPollRPS.Key(),
		dynamicconfig.TransferProcessorMaxPollHostRPS.Key(),
		dynamicconfig.TimerProcessorMaxPollRPS.Key(),
		dynamicconfig.TimerProcessorMaxPollHostRPS.Key(),
	} {
		all[key] = pollsPerSecond
	}
	for _, key := range []dynamicconfig.Key{
		dynamicconfig.FrontendRPS.Key(),
		dynamicconfig.FrontendMaxNamespaceRPSPerInstance.Key(),
		dynamicconfig.FrontendMaxNamespaceVisibilityRPSPerInstance.Key(),
		dynamicconfig.FrontendPersistenceMaxQPS.Key(),
		dynamicconfig.HistoryRPS.Key(),
		dynamicconfig.HistoryPersistenceMaxQPS.Key(),
		dynamicconfig.MatchingRPS.Key(),
		dynamicconfig.MatchingPersistenceMaxQPS.Key(),
		dynamicconfig.WorkerPersistenceMaxQPS.Key(),
		dynamicconfig.VisibilityPersistenceMaxReadQPS.Key(),
		dynamicconfig.VisibilityPersistenceMaxWriteQPS.Key(),
	} {
		all[key] = unlimited
	}
	return all
}
