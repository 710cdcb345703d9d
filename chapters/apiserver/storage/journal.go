package storage

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// record is a line of the journal: what was written, or without an object that it is gone.
// When the journal is made anew it begins with a line that has only the revision, and a line
// without a revision for each object.
type record struct {
	Revision int64 `json:"revision,omitempty"`
	Key
	Object json.RawMessage `json:"object,omitempty"`
}

// journal is a file that is only appended to, a line for each write. A line is on the disk
// before the write is answered, so nothing that was answered is lost when the process is
// killed, or the machine.
type journal struct {
	directory, file *os.File
	size            int
	// broken is why no more can be written: half a line may be at the end of the file.
	// The next start finds out.
	broken error
}

// openJournal hands what is in the journal to replay, the oldest first. Two processes with
// one journal would each destroy what the other has written: the second one gets an error.
func openJournal(dir string, replay func(record) error) (*journal, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	directory, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	j := &journal{directory: directory}
	if err = syscall.Flock(int(directory.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		err = fmt.Errorf("another process uses %s: %w", dir, err)
	} else {
		err = j.read(replay)
	}
	if err != nil {
		_ = j.close()
	}
	return j, err
}

func (j *journal) name() string { return filepath.Join(j.directory.Name(), "journal") }

// read reads the file and cuts off a last line that has no end: its writer was killed, and
// the write was not answered.
func (j *journal) read(replay func(record) error) (err error) {
	if j.file, err = os.OpenFile(j.name(), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600); err != nil {
		return err
	}
	for decoder := json.NewDecoder(j.file); ; {
		var r record
		err := decoder.Decode(&r)
		switch {
		case errors.Is(err, io.EOF):
			// The name of a new file is on the disk when its directory is.
			return errors.Join(j.file.Sync(), j.directory.Sync())
		case errors.Is(err, io.ErrUnexpectedEOF):
			return errors.Join(j.file.Truncate(int64(j.size)), j.file.Sync(), j.directory.Sync())
		case err == nil:
			err = replay(r)
		}
		if err != nil {
			return fmt.Errorf("%s is damaged after byte %d: %w (restore it from a backup, or cut it off there: what follows is lost)", j.name(), j.size, err)
		}
		j.size = int(decoder.InputOffset()) + len("\n")
	}
}

func encode(o Object) json.RawMessage {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err) // What was decoded from JSON can be encoded.
	}
	return text
}

// append returns when the records are on the disk.
func (j *journal) append(records ...record) error {
	if j.broken != nil {
		return j.broken
	}
	out := bufio.NewWriter(j.file)
	var err error
	for _, r := range records {
		line, failed := json.Marshal(r)
		n, _ := out.Write(append(line, '\n'))
		j.size += n
		err = errors.Join(err, failed)
	}
	if err := errors.Join(err, out.Flush(), j.file.Sync()); err != nil {
		// Half a line may be there, and a whole one after it would be damage.
		j.broken = fmt.Errorf("the journal cannot be written; restart the server when it can: %w", err)
	}
	return j.broken
}

// rewrite puts a journal of these records in the place of the old one. A kill on the way leaves
// one of the two.
func (j *journal) rewrite(records []record) error {
	file, err := os.OpenFile(j.name()+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	old := j.file
	j.file, j.size = file, 0
	if old != nil {
		_ = old.Close()
	}
	err = j.append(records...)
	if err == nil {
		// The name is on the disk when the directory is.
		err = errors.Join(os.Rename(j.name()+".new", j.name()), j.directory.Sync())
	}
	j.broken = err
	return err
}

// close ends the lock, too.
func (j *journal) close() error {
	var err error
	if j.file != nil {
		err = j.file.Close()
	}
	return errors.Join(err, j.directory.Close())
}
