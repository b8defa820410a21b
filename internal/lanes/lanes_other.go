//go:build !amd64

package lanes

// wide reports whether the processor takes four numbers at once.
func wide() bool { return false }

const missing = "lanes: not on this processor"

func narrow(*float32, *float64, int) { panic(missing) }

func widen(*float64, *float32, int) { panic(missing) }

func weigh(*float64, *float64, *float64, int, int, int) { panic(missing) }

func rounded(*float32, *float64, int, *Map) bool { panic(missing) }

func bilinear(*float64, *float64, int, int, *Line) { panic(missing) }

func lengths(*float64, *float64, *float64, int) bool { panic(missing) }

func arcs(*float64, *float64, *float64, int) bool { panic(missing) }
