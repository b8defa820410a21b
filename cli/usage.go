package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// part is what a flag is about. Where a command has flags of several parts its help shows them apart.
type part string

// Parts, in the order in which help shows them.
const (
	ofModel  part = "Model"
	ofData   part = "Data"
	ofGroup  part = "Group"
	ofOutput part = "Output"
	ofEngine part = "Engine"
	ofAudit  part = "Audit"
	ofResult part = "Result"
)

func allParts() []part {
	return []part{ofModel, ofData, ofGroup, ofOutput, ofEngine, ofAudit, ofResult}
}

// partKey is the annotation of a flag that names its part.
const partKey = "nero_part"

// holds says that flags are of a part.
func (p part) holds(set *pflag.FlagSet, names ...string) {
	for _, n := range names {
		_ = set.SetAnnotation(n, partKey, []string{string(p)}) // an error is a flag that there is not: a test looks
	}
}

// inParts makes the help of a command show its flags by part, in the order in which they were added.
func inParts(c *cobra.Command) {
	c.Flags().SortFlags = false
	c.SetUsageFunc(func(c *cobra.Command) error {
		out := &strings.Builder{}
		fmt.Fprintf(out, "Usage:\n  %s\n\nExamples:\n%s\n", c.UseLine(), c.Example)
		for _, p := range append(allParts(), "") {
			set := pflag.NewFlagSet("", pflag.ContinueOnError)
			set.SortFlags = false
			c.LocalFlags().VisitAll(func(f *pflag.Flag) {
				if slices.Equal(f.Annotations[partKey], []string{string(p)}) || p == "" &&
					f.Annotations[partKey] == nil {
					set.AddFlag(f)
				}
			})
			if title := p; set.HasAvailableFlags() {
				if title == "" {
					title = "Other"
				}
				fmt.Fprintf(out, "\n%s:\n%s\n", title, strings.TrimRight(set.FlagUsages(), " \n"))
			}
		}
		if c.HasAvailableInheritedFlags() {
			fmt.Fprintf(out, "\nGlobal Flags:\n%s\n", strings.TrimRight(c.InheritedFlags().FlagUsages(), " \n"))
		}
		_, err := fmt.Fprint(c.OutOrStdout(), out.String())
		return err
	})
}
