// Package client stands in for the engine's client of its scaler of workers,
// which starts workers in Kubernetes, AWS and Google's cloud. Nothing is scaled
// here: no version of a deployment has an instance, and none can be given one.
// See ../../../README.md.
package client

import (
	"context"

	deploymentpb "go.temporal.io/api/deployment/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/auto-scaled-workers/wci/workflow/iface"
	"go.temporal.io/server/common/namespace"
	"go.uber.org/fx"
)

// Module gives the engine the client.
var Module = fx.Provide(func() Client { return absent{} })

// Client is what the engine asks.
type Client interface {
	DescribeWorkerControllerInstance(
		ctx context.Context, in *namespace.Namespace, version *deploymentpb.WorkerDeploymentVersion,
	) (*iface.QueryDescribeWorkerControllerInstanceResponse, []byte, error)

	UpdateWorkerControllerInstance(
		ctx context.Context, in *namespace.Namespace, version *deploymentpb.WorkerDeploymentVersion,
		conflictToken []byte, identity string, upsert map[string]iface.ScalingGroupSpecUpdate, remove []string,
	) (*iface.UpdateWorkerControllerInstanceResponse, error)

	ValidateWorkerControllerInstanceSpec(
		ctx context.Context, in *namespace.Namespace, version *deploymentpb.WorkerDeploymentVersion,
		identity string, upsert map[string]iface.ScalingGroupSpecUpdate, remove []string,
	) error

	DeleteWorkerControllerInstance(
		ctx context.Context, in *namespace.Namespace, version *deploymentpb.WorkerDeploymentVersion, identity string,
	) error
}

// leftOut is an invalid argument because the engine then does not try again.
var leftOut = serviceerror.NewInvalidArgument("scaling workers in a cloud is left out of this Temporal server: run one of your own for it")

type absent struct{}

func (absent) DescribeWorkerControllerInstance(
	context.Context, *namespace.Namespace, *deploymentpb.WorkerDeploymentVersion,
) (*iface.QueryDescribeWorkerControllerInstanceResponse, []byte, error) {
	return nil, nil, serviceerror.NewNotFound("no worker controller instance: scaling workers is left out of this Temporal server")
}

func (absent) UpdateWorkerControllerInstance(
	context.Context, *namespace.Namespace, *deploymentpb.WorkerDeploymentVersion,
	[]byte, string, map[string]iface.ScalingGroupSpecUpdate, []string,
) (*iface.UpdateWorkerControllerInstanceResponse, error) {
	return nil, leftOut
}

func (absent) ValidateWorkerControllerInstanceSpec(
	context.Context, *namespace.Namespace, *deploymentpb.WorkerDeploymentVersion,
	string, map[string]iface.ScalingGroupSpecUpdate, []string,
) error {
	return leftOut
}

// DeleteWorkerControllerInstance has nothing to delete, which is no error: the
// engine deletes versions that never had one as well.
func (absent) DeleteWorkerControllerInstance(
	context.Context, *namespace.Namespace, *deploymentpb.WorkerDeploymentVersion, string,
) error {
	return nil
}
