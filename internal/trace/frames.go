package trace

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// frameLimit is the longest event that is read. etcd stores no object that long.
const frameLimit = 8 << 20

// frames takes a stream apart into events.
type frames struct {
	// binary events have their length before them, as four bytes; others end with
	// their line.
	binary  bool
	buffer  bytes.Buffer
	stopped bool
}

func (f *frames) write(p []byte, each func(frame []byte)) {
	if f.stopped {
		return
	}
	f.buffer.Write(p)
	for {
		before, length, complete := f.next()
		if !complete {
			break
		}
		f.buffer.Next(before)
		each(f.buffer.Next(length))
	}
	if f.buffer.Len() > frameLimit {
		f.stopped, f.buffer = true, bytes.Buffer{}
	}
}

// next returns how many bytes stand before the first event and how many it has.
func (f *frames) next() (before, length int, complete bool) {
	waiting := f.buffer.Bytes()
	if !f.binary {
		end := bytes.IndexByte(waiting, '\n')
		return 0, end + 1, end >= 0
	}
	if len(waiting) < 4 {
		return 0, 0, false
	}
	length = int(binary.BigEndian.Uint32(waiting))
	return 4, length, len(waiting)-4 >= length
}

// watched is the part of a watch event that is shown.
type watched struct {
	Type   string
	Object struct {
		Metadata struct {
			Name, Namespace, ResourceVersion string
			Annotations                      map[string]string
			OwnerReferences                  []metav1.OwnerReference
		}
		Message string
	}
}

// foo returns the key of the Foo that controls the object, or "".
func (w *watched) foo() string {
	metadata := &w.Object.Metadata
	return fooOfOwner(metadata.Namespace, metav1.GetControllerOfNoCopy(&metav1.ObjectMeta{OwnerReferences: metadata.OwnerReferences}))
}

// parse reads an event that came as JSON or as protobuf.
func parse(frame []byte, protobuf bool) (w watched, err error) {
	if !protobuf {
		err = json.Unmarshal(frame, &w)
		return w, err
	}
	var event metav1.WatchEvent
	if err := event.Unmarshal(frame); err != nil {
		return w, err
	}
	w.Type = event.Type
	// Four bytes say that it is protobuf.
	var object runtime.Unknown
	if len(event.Object.Raw) < 4 {
		return w, fmt.Errorf("%d bytes", len(event.Object.Raw))
	}
	if err := object.Unmarshal(event.Object.Raw[4:]); err != nil {
		return w, err
	}
	if object.Kind == "Status" {
		var status metav1.Status
		err = status.Unmarshal(object.Raw)
		w.Object.Message = status.Message
		return w, err
	}
	// The metadata has the same number in every kind.
	var partial metav1.PartialObjectMetadata
	err = partial.Unmarshal(object.Raw)
	metadata := &w.Object.Metadata
	metadata.Name, metadata.Namespace, metadata.ResourceVersion = partial.Name, partial.Namespace, partial.ResourceVersion
	metadata.Annotations, metadata.OwnerReferences = partial.Annotations, partial.OwnerReferences
	return w, err
}
