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
	"slices"
	"strconv"
	"syscall"
)

// record is a line of the journal: what was written, or without an object that it is gone.
// One without a resource is a beginning: the lines after it are all that is known of that
// time and earlier.
type record struct {
	Revision  int64           `json:"revision"`
	Resource  string          `json:"resource,omitempty"`
	Namespace string          `json:"namespace,omitempty"`
	Name      string          `json:"name,omitempty"`
	Object    json.RawMessage `json:"object,omitempty"`
}

// journal is a file that is only appended to: a line for each write, the checksum first. A
// line is on the disk before the write is answered, so nothing that was answered is lost
// when the process is killed, or the machine.
type journal struct {
	name  string
	file  *os.File
	lock  *os.File
	lines int
	// broken is why no more can be written: nobody knows what is at the end of the file.
	// The next start finds out.
	broken error
}

// openJournal hands what is in the journal to replay, the oldest first. Two processes with
// one journal would each destroy what the other has written: the second one gets an error.
func openJournal(dir string, replay func(event)) (*journal, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = lock.Close()
		return nil, fmt.Errorf("another process uses %s: %w", dir, err)
	}
	j := &journal{name: filepath.Join(dir, "journal"), lock: lock}
	if err := j.open(replay); err != nil {
		_ = j.close()
		return nil, err
	}
	return j, nil
}

// open reads the file and cuts off a last line that has no end: its writer was killed, and
// nobody got an answer.
func (j *journal) open(replay func(event)) (err error) {
	if j.file, err = os.OpenFile(j.name, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600); err != nil {
		return err
	}
	// The name of a new file is on the disk when its directory is.
	if err := syncDirectory(filepath.Dir(j.name)); err != nil {
		return err
	}
	var size, revision int64
	for reader := bufio.NewReader(j.file); ; j.lines++ {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return errors.Join(j.file.Truncate(size), j.file.Sync())
		}
		if err != nil {
			return err
		}
		event, err := parseLine(line)
		isBeginning := event.key == (key{})
		if err == nil && (event.revision < revision || event.revision == revision && !isBeginning) {
			err = fmt.Errorf("revision %d comes after %d", event.revision, revision)
		}
		if err != nil {
			return fmt.Errorf("%s is damaged in line %d: %w (restore the file from a backup, or remove this line and all after it: what they say is lost)", j.name, j.lines+1, err)
		}
		replay(event)
		size, revision = size+int64(len(line)), event.revision
	}
}

func parseLine(line []byte) (event, error) {
	sum, text, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
	if want := fmt.Sprintf("%08x", crc32.ChecksumIEEE(text)); string(sum) != want {
		return event{}, fmt.Errorf("its checksum is %.8q, and must be %s", sum, want)
	}
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		return event{}, err
	}
	e := event{revision: r.Revision, key: key{r.Resource, r.Namespace, r.Name}}
	if r.Object == nil {
		return e, nil
	}
	kind := kindOf(r.Resource)
	if kind == nil {
		return event{}, fmt.Errorf("there is no resource %q", r.Resource)
	}
	stored, err := scheme.New(kind.gvk(hub))
	if err != nil {
		return event{}, err
	}
	e.after = stored.(object)
	return e, json.Unmarshal(r.Object, e.after)
}

func formatLine(event event) (line []byte, err error) {
	r := record{Revision: event.revision, Resource: event.key.resource, Namespace: event.key.namespace, Name: event.key.name}
	if event.after != nil {
		if r.Object, err = json.Marshal(event.after); err != nil {
			return nil, err
		}
	}
	text, err := json.Marshal(r)
	return fmt.Appendf(nil, "%08x %s\n", crc32.ChecksumIEEE(text), text), err
}

// append returns when the event is on the disk.
func (j *journal) append(event event) error {
	if j.broken != nil {
		return j.broken
	}
	line, err := formatLine(event)
	if err != nil {
		return err
	}
	if _, err = j.file.Write(line); err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		// Half a line may be there, and a whole one after it would be damage.
		j.broken = fmt.Errorf("the journal cannot be written; restart the server when it can: %w", err)
	}
	j.lines++
	return j.broken
}

// isLong reports whether most lines say what is over.
func (j *journal) isLong(objects int) bool { return j.lines > 2*objects+10*maxEvents }

// compact writes a journal that begins at a revision, with these objects, in the place of
// the old one. Whoever is killed on the way leaves one of the two.
func (j *journal) compact(revision int64, objects map[key]object) error {
	var content bytes.Buffer
	// The oldest first, as everywhere in a journal; the beginning says where it ends.
	var events []event
	for key, object := range objects {
		at, err := strconv.ParseInt(object.GetResourceVersion(), 10, 64)
		if err != nil {
			return err
		}
		events = append(events, event{revision: at, key: key, after: object})
	}
	slices.SortFunc(events, func(a, b event) int { return int(a.revision - b.revision) })
	for _, event := range append(events, event{revision: revision}) {
		line, err := formatLine(event)
		if err != nil {
			return err
		}
		content.Write(line)
	}
	if err := writeFile(j.name+".new", content.Bytes()); err != nil {
		return err
	}
	if err := errors.Join(os.Rename(j.name+".new", j.name), syncDirectory(filepath.Dir(j.name))); err != nil {
		return err
	}
	_ = j.file.Close()
	j.lines = len(events) + 1
	j.file, j.broken = os.OpenFile(j.name, os.O_RDWR|os.O_APPEND, 0o600)
	return j.broken
}

// writeFile returns when the content is on the disk.
func writeFile(name string, content []byte) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Sync(), file.Close())
}

func syncDirectory(name string) error {
	directory, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(directory.Sync(), directory.Close())
}

// close ends the lock, too.
func (j *journal) close() error {
	var err error
	if j.file != nil {
		err = j.file.Close()
	}
	return errors.Join(err, j.lock.Close())
}
