// The Kubernetes provider of Pulumi, built from its module: its own main embeds two files that the module lacks
// under the names it expects, so this one embeds them under the names they have.
package main

import (
	"bytes"
	_ "embed"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version"
)

//go:embed schema.json
var schema []byte

//go:embed terraform-mapping.json
var terraformMapping []byte

func main() {
	versioned := bytes.Replace(schema, []byte("{"), []byte(`{"version":"`+version.Version+`",`), 1)
	provider.Serve("kubernetes", version.Version, versioned, terraformMapping)
}
