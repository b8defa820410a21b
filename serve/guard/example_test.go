package guard_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"nero/serve/guard"
)

// A server for the person at this machine: open the port, print the address, serve until the context ends.
func Example() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s, err := guard.Listen(ctx, guard.Options{Now: time.Now, PortSet: true}) // any free port
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.Replace(s.URL(), strconv.Itoa(s.Port()), "PORT", 1))

	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/runs/{id}", func(w http.ResponseWriter, r *http.Request) {
		guard.Fail(w, r, &guard.Problem{
			Status: http.StatusNotFound, Code: "no-run", Title: "There is no such run",
			Detail: "No run is called " + r.PathValue("id") + ".", Remedy: "See api/v1/runs for those that there are.",
		})
	})
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx, mux) }()

	res, err := http.Get(s.URL() + "api/v1/runs/7")
	if err != nil {
		fmt.Println(err)
		return
	}
	body, _ := io.ReadAll(res.Body)
	_ = res.Body.Close()
	fmt.Println(res.Status, res.Header.Get("Content-Type"))
	fmt.Print(string(body))

	cancel()
	fmt.Println(<-ended)
	// Output:
	// http://127.0.0.1:PORT/
	// 404 Not Found application/problem+json
	// {"status":404,"code":"no-run","title":"There is no such run","detail":"No run is called 7.","remedy":"See api/v1/runs for those that there are."}
	// <nil>
}
