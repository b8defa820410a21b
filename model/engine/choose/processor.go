package choose

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/cpu"

	"nero/model/engine/provider"
)

// processor tells processors apart by the instructions they have and, on Linux, their name.
func processor() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%+v %+v", cpu.X86, cpu.ARM64))
	features := hex.EncodeToString(sum[:6])
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		info = nil
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", runtime.GOARCH, features, modelName(info)))
}

// modelName is the first model name in a /proc/cpuinfo; empty where there is none.
func modelName(info []byte) string {
	s := bufio.NewScanner(bytes.NewReader(info))
	for s.Scan() {
		if key, value, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// hostname is the name of this machine; empty where it has none.
func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}

// devices tells apart what execution providers may find: the name of the machine, since several may share a folder, the
// graphics devices and drivers that Linux lists, and the variables that choose among them.
func devices(root fs.FS, host string, env func(string) string) string {
	told := []string{host}
	for _, pattern := range []string{
		"proc/driver/nvidia/version", "proc/driver/nvidia/gpus/*/information", "sys/module/amdgpu/version",
		"sys/class/drm/card*/device/vendor", "sys/class/drm/card*/device/device",
	} {
		names, _ := fs.Glob(root, pattern) // the patterns are well formed
		for _, name := range names {
			if b, err := fs.ReadFile(root, name); err == nil {
				told = append(told, name+": "+strings.Join(strings.Fields(string(b)), " "))
			}
		}
	}
	for _, name := range provider.Choosers() {
		if v := env(name); v != "" {
			told = append(told, name+"="+v)
		}
	}
	return strings.Join(told, "; ")
}
