package trace

// ring keeps the newest steps within two bounds.
type ring struct {
	most      int
	mostBytes int64
	steps     []*Step // from first on, in a circle once it is full
	first     int
	count     int
	bytes     int64
}

func (r *ring) add(step *Step) {
	r.bytes += size(step)
	for r.count > 0 && (r.count == r.most || r.bytes > r.mostBytes) {
		r.bytes -= size(r.steps[r.first])
		r.steps[r.first] = nil
		r.first = (r.first + 1) % len(r.steps)
		r.count--
	}
	if r.count == len(r.steps) && r.count < r.most {
		r.grow()
	}
	r.steps[(r.first+r.count)%len(r.steps)] = step
	r.count++
}

// grow doubles the circle, up to its bound.
func (r *ring) grow() {
	steps := make([]*Step, min(max(2*r.count, 64), r.most))
	copy(steps, r.all())
	r.steps, r.first = steps, 0
}

func (r *ring) all() []*Step {
	all := make([]*Step, r.count)
	for i := range all {
		all[i] = r.steps[(r.first+i)%len(r.steps)]
	}
	return all
}

// stepBytes is about what a step takes besides the texts in it.
const stepBytes = 400

func size(step *Step) int64 {
	bytes := stepBytes + len(step.Key) + len(step.Foo) + len(step.Text) + len(step.Cause) + len(step.Object)
	if request := step.Request; request != nil {
		bytes += stepBytes/4 + len(request.Path) + len(request.Query) + len(request.Body) + len(request.Reply)
	}
	return int64(bytes)
}
