// Package sound reads recordings in WAV files.
package sound

// Clip is a recording.
type Clip struct {
	Rate     int         // numbers per second of each channel
	Channels [][]float64 // PCM is scaled to -1 to 1
}
