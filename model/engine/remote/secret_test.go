package remote_test

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"pgregory.net/rapid"

	"nero/model/engine/remote"
)

// leaks tells whether a text has a piece of a token that is long enough to matter.
func leaks(text, token string) bool {
	for i := 0; i+8 <= len(token); i++ {
		if strings.Contains(text, token[i:i+8]) {
			return true
		}
	}
	return false
}

// Whatever a server repeats of a token, wherever a message cuts it, in whatever form: no error shows it.
func TestHidden(t *testing.T) {
	var say func(w http.ResponseWriter)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { say(w) }))
	defer web.Close()
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-._~\"\\<&"
	rapid.Check(t, func(t *rapid.T) {
		token := rapid.StringOfN(rapid.SampledFrom([]rune(alphabet)), 20, 300, -1).Draw(t, "token")
		before := strings.Repeat("x ", rapid.IntRange(0, 70).Draw(t, "before"))
		again := rapid.IntRange(1, 3).Draw(t, "again")
		code := rapid.SampledFrom([]int{200, 302, 401, 403, 404, 413, 500}).Draw(t, "code")
		form := rapid.IntRange(0, 3).Draw(t, "form")
		text := before + strings.Repeat("Bearer "+token+", ", again)
		say = func(w http.ResponseWriter) {
			if form == 3 {
				w.Header().Set("Location", "https://elsewhere.example/?"+text)
			}
			w.WriteHeader(code)
			switch form {
			case 0:
				_, _ = w.Write([]byte(text)) // the client tells
			case 1, 2:
				_ = json.NewEncoder(w).Encode(map[string]any{[]string{"error", "detail"}[form-1]: text})
			}
		}
		_, err := remote.Connect(t.Context(),
			remote.Config{URL: web.URL + "/m", Header: http.Header{"Authorization": {"Bearer " + token}}})
		if err == nil {
			t.Fatal("it answers all of that")
		}
		if leaks(err.Error(), token) {
			t.Errorf("%v\nshows some of %s", err, token)
		}
		if form < 3 && code != http.StatusOK && code != http.StatusFound && len(before) < 100 &&
			!strings.Contains(err.Error(), "[hidden]") {
			t.Errorf("%v does not say that something is hidden", err)
		}
	})
}

// The same over gRPC.
func TestHiddenGRPC(t *testing.T) {
	token := strings.Repeat("s3cr3t-t0ken.", 20)
	listener, address := listen(t)
	s := grpc.NewServer(grpc.UnknownServiceHandler(func(any, grpc.ServerStream) error {
		return status.Error(codes.PermissionDenied, strings.Repeat("x ", 20)+"Bearer "+token+" is wrong")
	}))
	go func() { _ = s.Serve(listener) }() // until it is stopped
	defer s.Stop()
	_, err := remote.Connect(t.Context(),
		remote.Config{URL: "grpc://" + address + "/m", Header: http.Header{"Authorization": {"Bearer " + token}}})
	if err == nil || leaks(err.Error(), token) || !strings.Contains(err.Error(), "[hidden]") ||
		!strings.Contains(err.Error(), "token_env") {
		t.Errorf("%v", err)
	}
}

func listen(t *testing.T) (l net.Listener, address string) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l, l.Addr().String()
}
