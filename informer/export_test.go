package informer

// LogProgress lets a test use a shorter period than WaitForSync's.
var LogProgress = logProgress
