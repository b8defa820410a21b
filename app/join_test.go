//go:build unix

package app

import (
	"encoding/binary"
	"fmt"
	"os"
	"syscall"
	"testing"
)

// What was joined ends when the program that started this one does, whether it is asked for anything or not.
func TestJoinedEndsWithTheOther(t *testing.T) {
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	other := os.NewFile(uintptr(ends[1]), "other")
	hello := `{"hello":{"protocol":1,"program":"python"}}`
	head := append([]byte("NRL1"), make([]byte, 16)...)
	binary.LittleEndian.PutUint32(head[8:], uint32(len(hello)))
	if _, err := other.WriteString(string(head) + hello); err != nil {
		t.Fatal(err)
	}
	a := &App{Version: "1"}
	ctx, leave, err := a.Join(t.Context(), fmt.Sprintf("fd:%d", ends[0]))
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	if ctx.Err() != nil {
		t.Fatal("it ended while the other was there")
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
}
