// Package object keeps runs in buckets of object storage, where many machines that share no disk work on them: the job,
// and two objects for each shard, its rows and then its marker.
//
// What makes that safe is little. An object is written by one request, whole or not at all, and whoever reads it then
// finds it. The key of rows holds their digest, so that other rows are another object. A marker is written only where
// there is none: of two workers that made the same shard the second finds the first one's marker, and the two are
// compared. No object is renamed or removed, and none is written in parts.
package object

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"regexp"
	"strings"
	"time"
	"unicode"
)

// Store holds the objects of one run. Keys are paths with slashes. The errors of all wrap [AwayError] where the same
// call may succeed later.
type Store interface {
	// Get reads an object; the error wraps [fs.ErrNotExist] if there is none.
	Get(ctx context.Context, key string) ([]byte, error)
	// Put writes an object in one step. With once the error wraps [fs.ErrExist] if there is one, and [ErrUnconditional]
	// if the storage does not know that condition.
	Put(ctx context.Context, key string, data []byte, once bool) error
	// Stat looks at an object without reading it; the error wraps [fs.ErrNotExist] if there is none.
	Stat(ctx context.Context, key string) (Info, error)
	// List lists the objects directly below a folder, which ends in a slash or is empty for that of the run.
	List(ctx context.Context, folder string) iter.Seq2[Info, error]
}

// Info is what is known of an object without reading it.
type Info struct {
	Key  string
	Size int64
	// At is when it was written, by the clock of the storage.
	At time.Time
}

// ErrUnconditional says that a storage does not write an object under the condition that there is none.
var ErrUnconditional = errors.New("the storage does not know conditional writes")

// AwayError is a failure of the storage, or of the way to it, that may pass: the same call may succeed later, or from
// another machine.
type AwayError struct{ error }

// Unwrap is what happened.
func (e *AwayError) Unwrap() error { return e.error }

// scheme begins the address of a run in a bucket.
const scheme = "s3://"

// Address is the place of a run: all keys begin with the prefix and a slash.
type Address struct{ Bucket, Prefix string }

// Is reports whether a path is the address of something in a bucket.
func Is(name string) bool {
	return len(name) >= len(scheme) && strings.EqualFold(name[:len(scheme)], scheme)
}

// Foreign reports whether a name is the address of something, such as gs://BUCKET/PREFIX, that is in no bucket which is
// spoken to in S3, and could only be the name of a folder by mistake.
func Foreign(name string) bool { return address.MatchString(name) && !Is(name) }

// address is how addresses begin.
var address = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]+://`)

// bucketName is what buckets of S3 may be called, and the underscores of former days.
var bucketName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{1,62}$`)

// Parse reads s3://BUCKET/PREFIX.
func Parse(text string) (Address, error) {
	wrong := func(what string) (Address, error) {
		return Address{}, fmt.Errorf("%s: %s; a run in a bucket is at s3://BUCKET/PREFIX", text, what)
	}
	if !Is(text) {
		return wrong("it does not begin with " + scheme)
	}
	bucket, prefix, _ := strings.Cut(text[len(scheme):], "/")
	if strings.Contains(bucket, "@") { // what stands before it may be a password, which no log should have
		return Address{}, errors.New("the address of a run in a bucket holds no credentials: s3://BUCKET/PREFIX; " +
			"they are read from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or from a file of profiles")
	}
	prefix = strings.TrimRight(prefix, "/")
	switch {
	case !bucketName.MatchString(bucket):
		return wrong(fmt.Sprintf("%q cannot be the name of a bucket", bucket))
	case prefix == "":
		return wrong("the prefix is missing, under which its objects are")
	case prefix != path.Clean(prefix) || strings.HasPrefix(prefix, "/") || strings.HasPrefix(prefix, "../") ||
		prefix == "." || prefix == "..":
		return wrong(fmt.Sprintf("the prefix %q has parts that are empty, . or ..", prefix))
	case strings.ContainsFunc(prefix, unicode.IsControl) || strings.ContainsAny(prefix, "?#"):
		return wrong(fmt.Sprintf("the prefix %q has characters that addresses cannot have", prefix))
	case len(prefix) > 800: // keys have at most 1,024 bytes
		return wrong("the prefix is too long")
	}
	return Address{Bucket: bucket, Prefix: prefix}, nil
}

// String is the address as it is written.
func (a Address) String() string { return scheme + a.Bucket + "/" + a.Prefix }

// Name is the last part of the prefix.
func (a Address) Name() string { return path.Base(a.Prefix) }

// absent reports whether an error says that there is no such object.
func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) }
