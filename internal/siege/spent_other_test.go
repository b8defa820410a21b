//go:build !unix

package siege

import "time"

// spent is not known here, and bounds by the clock are all there is.
func spent() time.Duration { return 0 }
