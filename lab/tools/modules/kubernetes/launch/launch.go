// Package launch decides how a played EC2 launch goes: how long a node takes to join, and which capacity is gone.
//
// The file named by HEADROOM_LAUNCH_FILE is read at each launch, so a run can change it on the way:
//
//	{"seconds": 45, "unavailable": [{"instanceType": "g6.2xlarge", "zone": "us-east-1a", "capacityType": "spot"}]}
//
// An empty or absent field of an unavailable offering matches everything.
package launch

import (
	"encoding/json"
	"math"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

type offering struct {
	InstanceType string `json:"instanceType"`
	Zone         string `json:"zone"`
	CapacityType string `json:"capacityType"`
}

type plan struct {
	Seconds     *float64   `json:"seconds"`
	Unavailable []offering `json:"unavailable"`
}

// defaultDelay is Karpenter's own in its KWOK provider.
const defaultDelay = 30 * time.Second

func read() plan {
	var found plan
	content, err := os.ReadFile(os.Getenv("HEADROOM_LAUNCH_FILE"))
	if err != nil || json.Unmarshal(content, &found) != nil {
		return plan{}
	}
	return found
}

// Delay is the time from a launch to the node's registration.
func Delay() time.Duration {
	if seconds := read().Seconds; seconds != nil {
		return time.Duration(*seconds * float64(time.Second))
	}
	return defaultDelay
}

// Refuse takes offerings without capacity out of a fleet request. When none is left it returns the answer that EC2
// gives then: no instance, and one InsufficientInstanceCapacity error for each offering asked for.
func Refuse(input *ec2.CreateFleetInput) *ec2.CreateFleetOutput {
	gone := read().Unavailable
	if len(gone) == 0 || input.TargetCapacitySpecification == nil {
		return nil
	}
	capacity := string(input.TargetCapacitySpecification.DefaultTargetCapacityType)
	var errors []types.CreateFleetError
	left := 0
	for at := range input.LaunchTemplateConfigs {
		config := &input.LaunchTemplateConfigs[at]
		var kept []types.FleetLaunchTemplateOverridesRequest
		for _, override := range config.Overrides {
			if !matches(gone, string(override.InstanceType), aws.ToString(override.AvailabilityZone), capacity) {
				kept = append(kept, override)
				continue
			}
			errors = append(errors, types.CreateFleetError{
				ErrorCode:    aws.String("InsufficientInstanceCapacity"),
				ErrorMessage: aws.String("There is no capacity for the requested instance type in this zone."),
				Lifecycle:    types.InstanceLifecycle(capacity),
				LaunchTemplateAndOverrides: &types.LaunchTemplateAndOverridesResponse{
					Overrides: &types.FleetLaunchTemplateOverrides{
						AvailabilityZone: override.AvailabilityZone,
						InstanceType:     override.InstanceType,
						SubnetId:         override.SubnetId,
					},
				},
			})
		}
		config.Overrides = kept
		left += len(kept)
	}
	if left > 0 {
		return nil
	}
	return &ec2.CreateFleetOutput{Errors: errors}
}

// Cheapest is the launch template configuration with the cheapest offering of a fleet request that Refuse has left
// something of. EC2 chooses among all of them; Karpenter's KWOK provider looks at the first alone, and instance types of
// different pod counts have different templates.
func Cheapest(
	input *ec2.CreateFleetInput, score func(instanceType, capacityType, zone string) float64,
) types.FleetLaunchTemplateConfigRequest {
	capacity := string(input.TargetCapacitySpecification.DefaultTargetCapacityType)
	best, least := input.LaunchTemplateConfigs[0], math.Inf(1)
	for _, config := range input.LaunchTemplateConfigs {
		for _, override := range config.Overrides {
			found := score(string(override.InstanceType), capacity, aws.ToString(override.AvailabilityZone))
			if found < least {
				best, least = config, found
			}
		}
	}
	return best
}

func matches(gone []offering, instanceType, zone, capacityType string) bool {
	for _, one := range gone {
		if (one.InstanceType == "" || one.InstanceType == instanceType) &&
			(one.Zone == "" || one.Zone == zone) &&
			(one.CapacityType == "" || one.CapacityType == capacityType) {
			return true
		}
	}
	return false
}
