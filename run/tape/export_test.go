package tape

import "crypto/sha256"

// Sealed is b with its digest behind it.
func Sealed(b []byte) []byte {
	sum := sha256.Sum256(b)
	return append(append([]byte{}, b...), sum[:]...)
}
