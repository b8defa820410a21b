package process

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// tie keeps Ctrl-C in a console from the program.
func tie(c *exec.Cmd) {
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.SysProcAttr.CreationFlags |= windows.CREATE_NEW_PROCESS_GROUP
}

func widen(*os.File) {}

// kin is a job object that holds a program and what it starts. The system ends all of them when the last handle of the
// job is closed, and so when this program ends.
type kin windows.Handle

func adopt(c *exec.Cmd) (_ kin, err error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, windows.CloseHandle(job))
		}
	}()
	var limit windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limit.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if _, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limit)), uint32(unsafe.Sizeof(limit))); err != nil {
		return 0, err
	}
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(c.Process.Pid))
	if err != nil {
		return 0, err
	}
	err = windows.AssignProcessToJobObject(job, h)
	_ = windows.CloseHandle(h) // the job has the process
	return kin(job), err
}

// end kills all that are in the job.
func (k kin) end() error { return windows.TerminateJobObject(windows.Handle(k), 1) }

func (k kin) release() error { return windows.CloseHandle(windows.Handle(k)) }

// Signal is empty: the exit code says it.
func (p *Process) Signal() string { return "" }
