// Command nero evaluates and audits how models respond along the orbits of groups.
package main

import (
	"os"

	"nero/cli"
)

func main() { os.Exit(cli.Main()) }
