package informer

// LogProgress is for a test that does not want to wait for WaitForSync's period.
var LogProgress = logProgress
