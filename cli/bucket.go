package cli

import (
	"fmt"

	"nero/app"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// inBucket is the annotation of commands that work on runs in buckets. Its value says where such a run is named: as an
// argument or by the flag -o.
const inBucket = "bucket"

// Where a command names a run in a bucket.
const (
	byArgument = "argument"
	byOut      = "out"
)

// onDisk refuses addresses of buckets where files and folders are meant, which would be taken for names of folders.
func onDisk(c *cobra.Command, args []string) error {
	refuse := func(at string) error {
		return fmt.Errorf("%s is in a bucket, and %s wants a file or a folder here; nero plan, shard, status, merge "+
			"and submit work on runs in buckets, and nero merge %s -o FOLDER fetches one. Data and models are read "+
			"from paths alone", at, c.CommandPath(), at)
	}
	foreign := func(at string) error {
		return fmt.Errorf("%s: a run is in a folder or at s3://BUCKET/PREFIX; other storages that speak S3 are named "+
			"by AWS_ENDPOINT_URL, see docs/CLUSTERS.md", at)
	}
	for _, arg := range args {
		if app.IsAddress(arg) && c.Annotations[inBucket] == byArgument {
			return foreign(arg)
		}
		if app.InBucket(arg) && c.Annotations[inBucket] != byArgument {
			return refuse(arg)
		}
	}
	var err error
	c.Flags().Visit(func(f *pflag.Flag) {
		// Of the folder into which a run is fetched merge says more.
		said := f.Name == byOut && c.Annotations[inBucket] != ""
		at := f.Value.String()
		switch {
		case app.InBucket(at) && !said:
			err = refuse(at)
		case app.IsAddress(at) && f.Name == byOut:
			err = foreign(at)
		}
	})
	return err
}

// worksInBucket marks a command.
func worksInBucket(c *cobra.Command, by string) *cobra.Command {
	c.Annotations = map[string]string{inBucket: by}
	return c
}
