package proxy

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"example.com/byhand/internal/observe/observer"
)

// Received events and sent writes are logged, with the change, its writer and its cause.
func TestLog(t *testing.T) {
	const configMaps, status = "/api/v1/namespaces/default/configmaps", one + "/status"
	const a = some + "/a"
	const owner, manager = `,"ownerReferences":[{"kind":"Widget","name":"w","uid":"uid-w"}]`, `,"managedFields":[{"manager":"kubectl","time":"2026-01-01T00:00:00Z","fieldsV1":{}}]`
	annotations := fmt.Sprintf(`,"annotations":{"short":"yes","long":%q}`, strings.Repeat("x", mostAnnotation+1))
	child := func(version int, text string) string {
		return thing("c", "default", version, fmt.Sprintf(`,"data":{"text":%q}`, text), owner)
	}
	ready := thing("w", "default", 5, `,"spec":{"size":3},"status":{"ready":true}`, annotations)
	const listed = `{"metadata":{"annotations":{"k8s.io/initial-events-end":"true"}}}`
	s := play(t, Options{}, func(s *script) {
		event, end := s.watches(0, some+"?watch=1&sendInitialEvents=true")
		owned, _ := s.watches(0, configMaps+"?watch=1")
		event(1, "ADDED", thing("a", "default", 1, "", ""))
		event(1, "ADDED", thing("w", "default", 1, "", ""))
		event(2, "BOOKMARK", listed)
		s.sends(90, "POST", configMaps, child(0, "old"), 201, child(2, "old"))
		event(100, "MODIFIED", thing("w", "default", 3, `,"spec":{"size":3}`, manager+annotations))
		s.sends(105, "PUT", status, ready, 200, ready)
		event(110, "MODIFIED", ready) // The line of the write shows this change.
		s.sends(115, "PUT", configMaps+"/c", child(2, "new"), 200, child(4, "new"))
		owned(118, "ADDED", child(2, "old"))
		s.sends(120, "PUT", configMaps+"/c", child(4, "new"), 200, child(6, "newer"))
		s.sends(204, "PUT", status, ready, 200, ready)
		// A write after a failure is a retry, and an event after a write does not cause it.
		event(300, "MODIFIED", thing("a", "default", 6, `,"spec":{"size":2}`, manager))
		s.sends(301, "PUT", a, `{}`, 409, conflict)
		s.sends(310, "PUT", a, `{}`, 200, thing("a", "default", 7, `,"spec":{"size":3}`, ""))
		event(380, "ADDED", thing("b", "default", 1, "", ""))
		s.sends(390, "PUT", a, `{}`, 200, thing("a", "default", 8, `,"spec":{"size":4}`, ""))
		go s.sends(400, "PUT", a, `{}`, 403, `{"message":"exceeded quota"}`)
		event(401, "MODIFIED", thing("a", "default", 9, `,"spec":{"size":5}`, strings.Replace(manager, "00Z", "01Z", 1)))
		s.wait(402)
		synctest.Wait()
		// The event of an owned object is a cause, too. A writer is named only if managedFields
		// changed.
		owned(451, "MODIFIED", thing("c", "default", 12, `,"data":{"text":"other"}`, owner+manager))
		s.sends(452, "PUT", status, ready, 200, thing("w", "default", 13, `,"spec":{"size":3}`, annotations))
		owned(460, "MODIFIED", thing("c", "default", 14, `,"data":{"text":"other"}`, owner+manager+`,"deletionTimestamp":"2026-01-01T00:00:00Z"`))
		s.sends(465, "DELETE", configMaps+"/c", "", 200, `{"kind":"Status","details":{"uid":"uid-c"}}`)
		owned(467, "DELETED", child(15, ""))
		event(510, "DELETED", widget(15, ""))
		event(511, "ERROR", `{"kind":"Status","code":410,"message":"too old"}`)
		end(512)
		event, _ = s.watches(600, some+"?watch=1&sendInitialEvents=true")
		event(601, "ADDED", thing("a", "default", 11, `,"spec":{"size":1}`, ""))
		event(602, "BOOKMARK", listed)
	})
	want := `watches  widgets.example.com in default
watches  configmaps in default
listed   2 widgets.example.com in default
sent     POST /api/v1/namespaces/default/configmaps → 201  (because Widget default/w was added, 89ms before)
changed  Widget default/w: metadata.annotations.short none → "yes", spec.size none → 3 (by kubectl)
sent     PUT STATUS → 200: status.ready none → true  (because Widget default/w was changed, 5ms before)
sent     PUT /api/v1/namespaces/default/configmaps/c → 200: data.text "old" → "new"  (because Widget default/w was changed, 15ms before)
sent     PUT /api/v1/namespaces/default/configmaps/c → 200: data.text "new" → "newer"  (because of its own write: Widget default/c was added, 2ms before)
sent     PUT STATUS → 200: nothing changed  (because of its own write: Widget default/c was added, 86ms before)
changed  Widget default/a: spec.size none → 2 (by kubectl)
sent     PUT A → 409: the object has been modified  (because Widget default/a was changed, 1ms before)
sent     PUT A → 200: spec.size 2 → 3  (again, 9ms after 409 Conflict)
added    Widget default/b
sent     PUT A → 200: spec.size 3 → 4  (no cause seen: a timer, or a resync?)
changed  Widget default/a: spec.size 4 → 5 (by kubectl)
sent     PUT A → 403: exceeded quota  (no cause seen: a timer, or a resync?)
changed  Widget default/c: data.text "newer" → "other" (by kubectl)
sent     PUT STATUS → 200: status.ready true → none  (because Widget default/c was changed, 1ms before)
changed  Widget default/c: metadata.deletionTimestamp none → "2026-01-01T00:00:00Z"
sent     DELETE /api/v1/namespaces/default/configmaps/c → 200  (because Widget default/c was changed, 5ms before)
finding  no-op-write: PUT STATUS → 200: nothing changed  (because of its own write: Widget default/c was added, 86ms before)
deleted  Widget default/w
refused  watch of widgets.example.com in default: too old
watches  widgets.example.com in default
changed  Widget default/a: spec.size 5 → 1
listed   1 widgets.example.com in default
finding  1 × no-op-write (UPDATE widgets.example.com/status: 1): a write that changed nothing. Compare the desired object with the cached one before you write, and treat fields that the API server sets by default as equal. See controller/foo/status.go: updateStatus
summary  configmaps: 4 writes (0 % changed nothing), 0 lists, 0 GETs, 0 conflicts
summary  widgets.example.com: 7 writes (14 % changed nothing), 0 lists, 0 GETs, 1 conflicts
`
	if diff := cmp.Diff(strings.NewReplacer("STATUS", status, " A ", " "+a+" ").Replace(want), s.log()); diff != "" {
		t.Errorf("the log (-want +got):\n%s", diff)
	}
}

// The data of a Secret and the token of a ServiceAccount are not logged, kept, recorded or reported.
func TestSecrets(t *testing.T) {
	var record, report bytes.Buffer
	const secrets, accounts = "/api/v1/namespaces/default/secrets", "/api/v1/namespaces/default/serviceaccounts"
	secret := func(version int) string {
		return thing("a", "default", version, fmt.Sprintf(`,"data":{"key":"marked%d"},"stringData":{"other":"marked"}`, version), `,"annotations":{"last-applied":"marked"}`)
	}
	s := play(t, Options{}, func(s *script) {
		s.Print(observer.JSON, &record)
		event, _ := s.watches(0, secrets+"?watch=1")
		s.sends(1, "POST", secrets, secret(0), 201, secret(1))
		event(3, "ADDED", secret(1))
		s.sends(4, "PUT", secrets+"/a", secret(1), 200, secret(2))
		event(6, "MODIFIED", secret(3))
		s.sends(7, "PUT", secrets+"/a", secret(1), 409, `{"reason":"Conflict","message":"marked"}`)
		event, _ = s.watches(8, accounts+"?watch=1")
		event(9, "ADDED", thing("a", "default", 1, "", ""))
		s.sends(10, "POST", accounts+"/a/token", `{}`, 201, thing("a", "default", 0, `,"status":{"token":"marked"}`, ""))
		event(12, "MODIFIED", thing("a", "default", 2, "", ""))
	})
	if err := s.Report(&report); err != nil || !strings.Contains(record.String(), "secrets/a") || !strings.Contains(report.String(), "own-conflict") {
		t.Errorf("the record or the report is not whole: %v\n%s\n%s", err, &record, &report)
	}
	kept := string(s.world.known("secrets", "default/a").fields) + string(s.world.known("serviceaccounts", "default/a").fields)
	for _, text := range []string{s.log(), kept, record.String(), report.String()} {
		if strings.Contains(text, "marked") {
			t.Errorf("a secret is told, kept, recorded or reported:\n%s", text)
		}
	}
}
