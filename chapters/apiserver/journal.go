package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// record is a line of the journal: what was written, or without an object that it is gone. A
// line without a name is a snapshot, of everything that was stored then.
type record struct {
	Revision int64 `json:"revision"`
	key
	Object   json.RawMessage `json:"object,omitempty"`
	Snapshot []record        `json:"snapshot,omitempty"`
}

// journal is a file that is only appended to: a line for each write, the checksum first. A
// line is on the disk before the write is answered, so nothing that was answered is lost
// when the process is killed, or the machine.
type journal struct {
	directory, file *os.File
	name            string
	lines           int
	// broken is why no more can be written: nobody knows what is at the end of the file.
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
	j := &journal{directory: directory, name: filepath.Join(dir, "journal")}
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

// read reads the file and cuts off a last line that has no end: its writer was killed, and
// nobody got an answer.
func (j *journal) read(replay func(record) error) (err error) {
	if j.file, err = os.OpenFile(j.name, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600); err != nil {
		return err
	}
	var size, revision int64
	for reader := bufio.NewReader(j.file); ; j.lines++ {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			// The name of a new file is on the disk when its directory is.
			return errors.Join(j.file.Truncate(size), j.file.Sync(), j.directory.Sync())
		}
		if err != nil {
			return err
		}
		r, err := parseLine(line)
		if err == nil && r.Revision <= revision {
			err = fmt.Errorf("revision %d comes after %d", r.Revision, revision)
		}
		if err == nil {
			err = replay(r)
		}
		if err != nil {
			return fmt.Errorf("%s is damaged in line %d: %w (restore the file from a backup, or remove this line and all after it: what they say is lost)", j.name, j.lines+1, err)
		}
		size, revision = size+int64(len(line)), r.Revision
	}
}

func parseLine(line []byte) (r record, err error) {
	sum, text, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
	if want := checksum(text); string(sum) != want {
		return r, fmt.Errorf("its checksum is %.8q, and must be %s", sum, want)
	}
	return r, json.Unmarshal(text, &r)
}

func checksum(text []byte) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE(text)) }

func newRecord(revision int64, key key, o object) (r record, err error) {
	r = record{Revision: revision, key: key}
	if o != nil {
		r.Object, err = json.Marshal(o)
	}
	return r, err
}

// object returns what was stored, nil if it was removed.
func (r record) object() (object, error) {
	if r.Object == nil {
		return nil, nil
	}
	stored, _, err := strict.Decode(r.Object, nil, nil)
	if err != nil {
		return nil, err
	}
	return stored.(object), nil
}

// append returns when the record is on the disk.
func (j *journal) append(r record) error {
	if j.broken != nil {
		return j.broken
	}
	if err := writeLine(j.file, r); err != nil {
		// Half a line may be there, and a whole one after it would be damage.
		j.broken = fmt.Errorf("the journal cannot be written; restart the server when it can: %w", err)
	}
	j.lines++
	return j.broken
}

// writeLine returns when the line is on the disk.
func writeLine(file *os.File, r record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(file, "%s %s\n", checksum(text), text); err != nil {
		return err
	}
	return file.Sync()
}

// isLong reports whether most lines say what is over.
func (j *journal) isLong(objects int) bool { return j.lines > 2*objects+10*maxEvents }

// compact puts a journal in the place of the old one that begins with a snapshot. Whoever is
// killed on the way leaves one of the two.
func (j *journal) compact(revision int64, objects map[key]object) error {
	j.lines = 1 // Also if it fails: try again when there are many more.
	snapshot := record{Revision: revision}
	for key, object := range objects {
		r, err := newRecord(0, key, object)
		if err != nil {
			return err
		}
		snapshot.Snapshot = append(snapshot.Snapshot, r)
	}
	file, err := os.OpenFile(j.name+".new", os.O_CREATE|os.O_TRUNC|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if err = writeLine(file, snapshot); err == nil {
		err = os.Rename(j.name+".new", j.name)
	}
	if err != nil {
		_ = file.Close()
		return err
	}
	_ = j.file.Close()
	j.file = file
	// If this fails, the old file may come back with the machine, without what is written now.
	j.broken = j.directory.Sync()
	return j.broken
}

// close ends the lock, too.
func (j *journal) close() error {
	var err error
	if j.file != nil {
		err = j.file.Close()
	}
	return errors.Join(err, j.directory.Close())
}
