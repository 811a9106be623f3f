package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/postgresql"
	"go.temporal.io/server/tools/common/schema"
	"go.temporal.io/server/tools/sql"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"liminal/internal/wire/devserver"
)

const (
	runsName  = "temporal"
	listsName = "temporal_visibility"

	// shards is what a small cluster has: more at once than the one of the
	// embedded server.
	shards = 4
	// connections bounds each of the two pools: PostgreSQL allows a hundred in
	// all, and the tests want some too.
	connections = 20
	// retention is how long a finished run stays readable.
	retention = 72 * time.Hour
)

// databases makes both databases and brings their schemas to this server's
// version.
func databases(at string) (devserver.Databases, error) {
	d := devserver.Databases{Shards: shards}
	var err error
	if d.Runs, err = database(at, runsName, "postgresql/v12/temporal"); err != nil {
		return d, err
	}
	d.Lists, err = database(at, listsName, "postgresql/v12/visibility")
	return d, err
}

func database(at, name, scripts string) (*config.SQL, error) {
	u, err := url.Parse(at)
	if err != nil || u.Host == "" || !strings.HasPrefix(u.Scheme, "postgres") {
		return nil, errors.New("--postgres is no URL such as postgres://postgres@127.0.0.1:5432/postgres?sslmode=disable")
	}
	conf := settings(u, name)
	first := *conf
	if err := sql.DoCreateDatabase(&first, strings.TrimPrefix(u.Path, "/"), log.NewNoopLogger()); err != nil {
		return nil, fmt.Errorf("the database %s cannot be made: %w", name, err)
	}
	if err := migrate(conf, scripts); err != nil {
		return nil, fmt.Errorf("the schema of the database %s cannot be made: %w", name, err)
	}
	return conf, nil
}

func settings(u *url.URL, name string) *config.SQL {
	password, _ := u.User.Password() // none is fine
	attributes := map[string]string{}
	for key := range u.Query() {
		attributes[key] = u.Query().Get(key)
	}
	return &config.SQL{
		PluginName: postgresql.PluginNamePGX, DatabaseName: name,
		User: u.User.Username(), Password: password, ConnectAddr: u.Host, ConnectProtocol: "tcp",
		ConnectAttributes: attributes, MaxConns: connections, MaxIdleConns: connections,
	}
}

// migrate applies what is missing of the server's own scripts; on a database
// that is up to date it changes nothing.
func migrate(conf *config.SQL, scripts string) error {
	conn, err := sql.NewConnection(conf, log.NewNoopLogger())
	if err != nil {
		return err
	}
	defer conn.Close()
	setup := schema.NewSetupSchemaTask(conn, &schema.SetupConfig{InitialVersion: "0.0"}, log.NewNoopLogger())
	if err := setup.Run(); err != nil {
		return err
	}
	return schema.NewUpdateSchemaTask(conn, &schema.UpdateConfig{DBName: conf.DatabaseName, SchemaName: scripts}, log.NewNoopLogger()).Run()
}

// register makes the namespace unless it is there.
func register(ctx context.Context, address, namespace string) (err error) {
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	_, err = workflowservice.NewWorkflowServiceClient(conn).RegisterNamespace(ctx, &workflowservice.RegisterNamespaceRequest{
		Namespace: namespace, WorkflowExecutionRetentionPeriod: durationpb.New(retention),
	})
	if _, there := errors.AsType[*serviceerror.NamespaceAlreadyExists](serviceerror.FromStatus(status.Convert(err))); there {
		return nil
	}
	return err
}
