package devserver

import (
	"time"

	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/temporal"
)

const (
	clusterName = "active"

	runStore  = "runs"
	listStore = "lists"
)

// newServer builds, but does not start, one process with all four services.
func newServer(kept Databases, at addresses, logger log.Logger) (temporal.Server, error) {
	conf := serverConfig(kept, at)
	authorizer, err := authorization.GetAuthorizerFromConfig(&conf.Global.Authorization)
	if err != nil {
		return nil, err
	}
	claims, err := authorization.GetClaimMapperFromConfig(&conf.Global.Authorization, logger)
	if err != nil {
		return nil, err
	}
	return temporal.NewServer(
		temporal.WithConfig(conf),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(staticHosts(at)),
		temporal.WithDynamicConfigClient(settings()),
		temporal.WithLogger(logger),
		temporal.WithAuthorizer(authorizer),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return claims }),
	)
}

// staticHosts replaces the membership ring, which costs seconds at start and
// has nothing to say on a single node.
func staticHosts(at addresses) map[primitives.ServiceName]static.Hosts {
	return map[primitives.ServiceName]static.Hosts{
		primitives.FrontendService: static.SingleLocalHost(at.frontend.String()),
		primitives.HistoryService:  static.SingleLocalHost(at.history.String()),
		primitives.MatchingService: static.SingleLocalHost(at.matching.String()),
		primitives.WorkerService:   static.SingleLocalHost(at.worker.String()),
	}
}

func serverConfig(kept Databases, at addresses) *config.Config {
	conf := &config.Config{
		Persistence: config.Persistence{
			DefaultStore:     runStore,
			VisibilityStore:  listStore,
			NumHistoryShards: kept.Shards,
			DataStores: map[string]config.DataStore{
				runStore:  {SQL: kept.Runs},
				listStore: {SQL: kept.Lists},
			},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10,
			MasterClusterName:        clusterName,
			CurrentClusterName:       clusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{
				clusterName: {Enabled: true, InitialFailoverVersion: 1, RPCAddress: at.frontend.String()},
			},
		},
		Services: map[string]config.Service{
			string(primitives.FrontendService): service(at.frontend),
			string(primitives.HistoryService):  service(at.history),
			string(primitives.MatchingService): service(at.matching),
			string(primitives.WorkerService):   service(at.worker),
		},
		PublicClient: config.PublicClient{HostPort: at.frontend.String()},
	}
	conf.Global.Membership = config.Membership{MaxJoinDuration: 30 * time.Second, BroadcastAddress: at.frontend.dialIP()}
	conf.DCRedirectionPolicy.Policy = "noop"
	conf.Archival.History.State = "disabled"
	conf.Archival.Visibility.State = "disabled"
	conf.NamespaceDefaults.Archival.History.State = "disabled"
	conf.NamespaceDefaults.Archival.Visibility.State = "disabled"
	return conf
}

// It has no HTTP port, which is off at 0: the frontend's takes what any web page
// posts, and only Nexus would need it.
func service(a address) config.Service {
	return config.Service{RPC: config.RPC{GRPCPort: a.port, BindOnIP: a.ip.String()}}
}
