package object

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// Options say how a storage is reached. The zero value is that of a program on its own: what the variables of the
// environment and the files of the user say that other programs for S3 read, too.
type Options struct {
	// Tries is how often a request is sent before the storage counts as away; 0 for 10, which takes some five seconds.
	Tries int
	// Transport sends the requests; nil for one that goes by the proxies of the environment.
	Transport http.RoundTripper
}

// Variables are those of the environment that are looked up.
func Variables() []string {
	return []string{
		"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE",
		"AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL_S3",
		"AWS_ENDPOINT_URL", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_EC2_METADATA_SERVICE_ENDPOINT",
	}
}

// amazon is the storage where nobody names another.
const amazon = "https://s3.amazonaws.com"

// bucket is a [Store] by the S3 interface.
type bucket struct {
	client *minio.Client
	creds  *credentials.Credentials
	// where the credentials come from, in words
	from string
	// the endpoint as it was named
	endpoint string
	Address
}

// Open reaches the storage of an address by the S3 interface. Nothing is asked of it yet, but credentials are looked
// up. A server that hands out credentials, as machines in clouds have, is asked only where a variable names it.
func Open(ctx context.Context, at Address, o Options) (Store, error) {
	endpoint, named := amazon, ""
	for _, v := range []string{"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"} {
		if e := os.Getenv(v); e != "" {
			endpoint, named = e, v
			break
		}
	}
	if strings.Contains(endpoint, "@") { // what stands before it may be a password, which no log should have
		return nil, fmt.Errorf("%s is an address with an @, and credentials do not belong in it: want one such as "+
			"https://storage.example:9000, and AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY beside it", named)
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") != "" ||
		u.RawQuery != "" {
		return nil, fmt.Errorf("%s is %q, want the address of a storage such as https://storage.example:9000", named,
			endpoint)
	}
	creds, from, err := look(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	secure := u.Scheme == "https"
	if o.Transport == nil {
		if o.Transport, err = minio.DefaultTransport(secure); err != nil {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
	}
	mo := &minio.Options{
		Creds: creds, Secure: secure, Transport: settled{o.Transport}, MaxRetries: o.Tries,
		Region: os.Getenv("AWS_REGION"), BucketLookup: minio.BucketLookupAuto,
	}
	if mo.Region == "" {
		mo.Region = os.Getenv("AWS_DEFAULT_REGION")
	}
	if named != "" { // many have no names of their own for buckets, nor regions
		mo.BucketLookup = minio.BucketLookupPath
		if mo.Region == "" {
			mo.Region = "us-east-1"
		}
	}
	c, err := minio.New(u.Host, mo)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	return &bucket{client: c, creds: creds, from: from, endpoint: endpoint, Address: at}, nil
}

// look finds credentials, and says where.
func look(ctx context.Context) (*credentials.Credentials, string, error) {
	id, secret := os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY")
	switch {
	case id != "" && secret != "":
		return credentials.NewStaticV4(id, secret, os.Getenv("AWS_SESSION_TOKEN")), "AWS_ACCESS_KEY_ID", nil
	case id != "":
		return nil, "", errors.New("AWS_ACCESS_KEY_ID is set, and AWS_SECRET_ACCESS_KEY is not: both are needed")
	case secret != "":
		return nil, "", errors.New("AWS_SECRET_ACCESS_KEY is set, and AWS_ACCESS_KEY_ID is not: both are needed")
	}
	profile := os.Getenv("AWS_PROFILE")
	if profile == "" {
		profile = "default"
	}
	type place struct {
		name string
		credentials.Provider
	}
	places := []place{{"profile " + profile + " of " + profiles(), &credentials.FileAWSCredentials{Profile: profile}}}
	metadata := os.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT")
	for _, v := range []string{
		"AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
	} {
		if os.Getenv(v) != "" {
			places, metadata = append(places, place{v, &credentials.IAM{}}), ""
			break
		}
	}
	if metadata != "" {
		places = append(places, place{"AWS_EC2_METADATA_SERVICE_ENDPOINT", &credentials.IAM{Endpoint: metadata}})
	}
	var found []string
	for _, p := range places {
		c := credentials.New(p.Provider)
		v, err := c.GetWithContext(&credentials.CredContext{Client: http.DefaultClient, Context: ctx})
		switch {
		case ctx.Err() != nil:
			return nil, "", ctx.Err()
		case err != nil:
			found = append(found, fmt.Sprintf("%s: %v", p.name, err))
		case v.AccessKeyID == "" || v.SecretAccessKey == "":
			found = append(found, p.name+": none there")
		default:
			return c, p.name, nil
		}
	}
	return nil, "", fmt.Errorf("there are no credentials for the storage: AWS_ACCESS_KEY_ID and "+
		"AWS_SECRET_ACCESS_KEY are not set; %s. Set the two, or name a profile of that file with AWS_PROFILE",
		strings.Join(found, "; "))
}

// profiles is the file in which profiles with credentials are.
func profiles() string {
	if f := os.Getenv("AWS_SHARED_CREDENTIALS_FILE"); f != "" {
		return f
	}
	return filepath.Join("~", ".aws", "credentials")
}

func (b *bucket) key(key string) string { return b.Prefix + "/" + key }

// most bounds what is read into memory of an object: rows of a shard are some megabytes.
const most = 1 << 30

// Get reads an object.
func (b *bucket) Get(ctx context.Context, key string) (data []byte, err error) {
	for range 3 { // an answer that breaks off in the middle is asked for again
		err = b.renewed(func() error {
			body, _, _, err := minio.Core{Client: b.client}.GetObject(ctx, b.Bucket, b.key(key),
				minio.GetObjectOptions{})
			if err != nil {
				return err
			}
			defer func() { _ = body.Close() }() // nothing was written
			data, err = io.ReadAll(io.LimitReader(body, most+1))
			return err
		})
		switch {
		case err == nil && len(data) > most:
			return nil, fmt.Errorf("%s/%s: it has more than %d bytes, which no object of a run has", b.Address, key,
				most)
		case err == nil:
			return data, nil
		}
		if err = b.words("read", key, err); !passes(err) || ctx.Err() != nil {
			return nil, err
		}
	}
	return nil, err
}

// The pauses before what somebody else writes in the same moment is tried again: the first, and the last, after which
// five seconds have gone.
const (
	shortest = 10 * time.Millisecond
	longest  = 2560 * time.Millisecond
)

// Put writes an object in one request, with the checksum of its bytes.
func (b *bucket) Put(ctx context.Context, key string, data []byte, once bool) error {
	o := minio.PutObjectOptions{
		ContentType: "application/octet-stream", DisableMultipart: true, SendContentMd5: true,
	}
	if once {
		o.SetMatchETagExcept("*")
	}
	put := func() error {
		_, err := b.client.PutObject(ctx, b.Bucket, b.key(key), bytes.NewReader(data), int64(len(data)), o)
		return err
	}
	err := b.renewed(put)
	for pause := shortest; pause <= longest; pause *= 2 { // somebody else writes it in this moment
		if !once || minio.ToErrorResponse(err).StatusCode != http.StatusConflict {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		err = b.renewed(put)
	}
	r := minio.ToErrorResponse(err)
	switch {
	case err == nil:
		return nil
	case once && (r.StatusCode == http.StatusPreconditionFailed || r.Code == "PreconditionFailed" ||
		r.StatusCode == http.StatusNotModified): // which MinIO answered in former days
		return fmt.Errorf("%s/%s: %w", b.Address, key, fs.ErrExist)
	case once && (r.StatusCode == http.StatusNotImplemented || r.Code == "NotImplemented" ||
		r.StatusCode == http.StatusBadRequest && slices.Contains(unknownHeader, r.Code)):
		return fmt.Errorf("%s/%s: %w: %w", b.Address, key, ErrUnconditional, err)
	}
	return b.words("write", key, err)
}

// unknownHeader are the codes with which storages refuse a header that they do not know, beside the status 501.
var unknownHeader = []string{"InvalidArgument", "InvalidRequest", "BadRequest", "UnsupportedHeader", ""}

// Stat looks at an object.
func (b *bucket) Stat(ctx context.Context, key string) (i Info, err error) {
	err = b.renewed(func() error {
		o, err := b.client.StatObject(ctx, b.Bucket, b.key(key), minio.StatObjectOptions{})
		i = Info{Key: key, Size: o.Size, At: o.LastModified}
		return err
	})
	if err != nil {
		return Info{}, b.words("look at", key, err)
	}
	return i, nil
}

// List lists the objects directly below a folder, by pages of a thousand.
func (b *bucket) List(ctx context.Context, folder string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		ctx, cancel := context.WithCancel(ctx) // ends the pages that nobody asks for any more
		defer cancel()
		o := minio.ListObjectsOptions{Prefix: b.key(folder)}
		for renewed := false; ; {
			again := false
			for i := range b.client.ListObjectsIter(ctx, b.Bucket, o) {
				if i.Err != nil && expired(i.Err) && !renewed {
					b.creds.Expire()
					renewed, again = true, true
					break
				}
				if i.Err != nil {
					yield(Info{}, b.words("list", folder, i.Err))
					return
				}
				o.StartAfter = i.Key
				key, ours := strings.CutPrefix(i.Key, b.Prefix+"/")
				if !ours || key == "" || strings.HasSuffix(key, "/") {
					continue // a folder below, or the empty object that stands for one
				}
				if !yield(Info{Key: key, Size: i.Size, At: i.LastModified}, nil) {
					return
				}
			}
			if !again {
				break
			}
		}
		if err := ctx.Err(); err != nil {
			yield(Info{}, err)
		}
	}
}

// renewed does something once more, with credentials looked up again, where they have expired: files of them may have
// been written anew since.
func (b *bucket) renewed(do func() error) error {
	err := do()
	if expired(err) {
		b.creds.Expire()
		err = do()
	}
	return err
}

func expired(err error) bool {
	return err != nil && slices.Contains(expiredCodes, minio.ToErrorResponse(err).Code)
}

// expiredCodes are those with which storages refuse credentials that were good until now.
var expiredCodes = []string{"ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired", "RequestExpired"}

func passes(err error) bool {
	_, away := errors.AsType[*AwayError](err)
	return away
}

// reason is what a storage says, in our words.
type reason struct {
	codes []string
	// of the answer; 0 for any
	status int
	// what it means, of the storage at a place with credentials from somewhere
	text func(b *bucket) string
	away bool
}

func reasons() []reason {
	return []reason{
		{codes: []string{"NoSuchBucket"}, text: func(b *bucket) string {
			return fmt.Sprintf("there is no bucket %s at %s; make it first, or look at the variables "+
				"AWS_ENDPOINT_URL and AWS_REGION", b.Bucket, b.endpoint)
		}},
		{codes: []string{"RequestTimeTooSkewed"}, away: true, text: func(*bucket) string {
			return "the clock of this machine and that of the storage differ too much, so that it takes no " +
				"signature; set this machine's clock (NTP), and run the same again"
		}},
		{
			codes: expiredCodes, away: true,
			text: func(b *bucket) string {
				return fmt.Sprintf("the credentials of %s have expired; renew them and run the same again: what is "+
					"kept stays", b.from)
			},
		},
		{
			codes: []string{
				"InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "InvalidClientTokenId",
				"NotSignedUp", "AuthorizationQueryParametersError", "InvalidSecurity",
			},
			text: func(b *bucket) string {
				return fmt.Sprintf("%s does not know the credentials of %s; are they those of this storage? "+
					"Looked at were AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and AWS_PROFILE",
					b.endpoint, b.from)
			},
		},
		{
			codes: []string{"PermanentRedirect", "TemporaryRedirect", "AuthorizationHeaderMalformed", "InvalidRegion"},
			text: func(b *bucket) string {
				return fmt.Sprintf("the bucket %s is in another region; name it with AWS_REGION", b.Bucket)
			},
		},
		{codes: []string{"BadDigest", "RequestTimeout", "IncompleteBody"}, away: true, text: func(*bucket) string {
			return "what was sent did not arrive as it was"
		}},
		{status: http.StatusForbidden, text: func(b *bucket) string {
			return fmt.Sprintf("the credentials of %s may not do that; they need s3:GetObject, s3:PutObject and "+
				"s3:ListBucket. Looked at were AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and "+
				"AWS_PROFILE", b.from)
		}},
		{status: http.StatusUnauthorized, text: func(b *bucket) string {
			return fmt.Sprintf("%s takes the credentials of %s for wrong", b.endpoint, b.from)
		}},
	}
}

// words says what went wrong with an object, whether it may pass, and what helps.
func (b *bucket) words(what, key string, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	at := fmt.Sprintf("cannot %s %s/%s", what, b.Address, key)
	r, answered := errors.AsType[minio.ErrorResponse](err)
	if !answered {
		if away, text := b.unanswered(err); !away {
			return fmt.Errorf("%s: %s: %w", at, text, err)
		}
		return &AwayError{fmt.Errorf("%s: %s does not answer: %w; run the same again when it does: what is kept stays",
			at, b.endpoint, err)}
	}
	if r.Code == "NoSuchKey" || r.StatusCode == http.StatusNotFound && r.Code != "NoSuchBucket" {
		return fmt.Errorf("%s/%s: %w", b.Address, key, fs.ErrNotExist)
	}
	for _, k := range reasons() {
		if !slices.Contains(k.codes, r.Code) && (k.status == 0 || k.status != r.StatusCode) {
			continue
		}
		err := fmt.Errorf("%s: %s (%s)", at, k.text(b), r.Code)
		if k.away {
			return &AwayError{err}
		}
		return err
	}
	err = fmt.Errorf("%s: %s answers %d %s: %s", at, b.endpoint, r.StatusCode, r.Code, r.Message)
	if r.StatusCode >= 500 || r.StatusCode == http.StatusTooManyRequests || r.StatusCode == http.StatusRequestTimeout {
		return &AwayError{fmt.Errorf("%w; run the same again later: what is kept stays", err)}
	}
	return err
}

// unanswered says of an error without an answer whether it may pass, and what it means where it does not.
func (b *bucket) unanswered(err error) (away bool, text string) {
	if _, no := errors.AsType[x509.UnknownAuthorityError](err); no {
		return false, "nobody here knows who vouches for the storage; name the authority's file with SSL_CERT_FILE"
	}
	if _, no := errors.AsType[x509.HostnameError](err); no {
		return false, "its certificate is that of another name"
	}
	if strings.Contains(err.Error(), "server gave HTTP response to HTTPS client") {
		return false, "it speaks HTTP without encryption; say http:// in AWS_ENDPOINT_URL"
	}
	return true, ""
}
