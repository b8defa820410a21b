//go:build !slow

package slow

// Asked says that tests that take long are to run.
const Asked = false
