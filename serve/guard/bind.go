package guard

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"strconv"
	"strings"
)

// PresetPort is the port that is bound unless one is chosen: the word nero on the keys of a telephone.
const PresetPort = 6376

// presetTries is how many ports from [PresetPort] on are tried before any free one is taken.
const presetTries = 20

// loopback is the preset host, and loopback6 the one on a machine without the older protocol.
const (
	loopback  = "127.0.0.1"
	loopback6 = "::1"
)

// bind opens the port that the options ask for.
func bind(ctx context.Context, o Options, log *slog.Logger) (net.Listener, error) {
	if o.PortSet && (o.Port < 0 || o.Port > 65535) {
		return nil, fmt.Errorf("guard: --port %d: expected 0 (any free port) to 65535", o.Port)
	}
	host := bareHost(o.Host)
	if host == "" {
		host = loopback
	}
	listen := func(port int) (net.Listener, error) {
		var c net.ListenConfig
		l, err := c.Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if o.Host == "" && err != nil && noSuchAddress(err) {
			l, err = c.Listen(ctx, "tcp", net.JoinHostPort(loopback6, strconv.Itoa(port)))
		}
		return l, err
	}
	if o.PortSet {
		l, err := listen(o.Port)
		return l, bindError(host, o.Port, err)
	}
	for port := PresetPort; port < PresetPort+presetTries; port++ {
		l, err := listen(port)
		if err == nil {
			if port != PresetPort {
				log.Info("the preset port is in use, took the next free one", "preset", PresetPort, "port", port)
			}
			return l, nil
		}
		if !inUse(err) {
			return nil, bindError(host, port, err)
		}
	}
	l, err := listen(0)
	return l, bindError(host, 0, err)
}

// bindError says in words why a port could not be opened, and what to do.
func bindError(host string, port int, err error) error {
	var dns *net.DNSError
	switch {
	case err == nil:
		return nil
	case inUse(err):
		return fmt.Errorf("guard: port %d of %s is in use by another program: choose another with --port, leave "+
			"--port out to take the next free one, or end that program: %w", port, host, err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("guard: port %d of %s: the system does not allow it: choose a port of 1024 or above with "+
			"--port: %w", port, host, err)
	case errors.As(err, &dns):
		return fmt.Errorf("guard: --host %s: no address of that name was found: give an address of this machine, or "+
			"0.0.0.0 for all of them: %w", host, err)
	case noSuchAddress(err):
		return fmt.Errorf("guard: --host %s: this machine has no such address: give one that it has, or 0.0.0.0 for "+
			"all of them: %w", host, err)
	}
	return fmt.Errorf("guard: listening on port %d of %s: %w", port, host, err)
}

// bareHost takes the brackets off an address with colons.
func bareHost(host string) string {
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		return host[1 : len(host)-1]
	}
	return host
}
