package observer

import "sort"

// past keeps the newest steps within two bounds.
type past struct {
	most      int
	mostBytes int64
	steps     []*Step
	bytes     int64
}

func (p *past) add(step *Step) {
	p.steps, p.bytes = append(p.steps, step), p.bytes+size(step)
	for len(p.steps) > 1 && (len(p.steps) > p.most || p.bytes > p.mostBytes) {
		p.bytes -= size(p.steps[0])
		p.steps = p.steps[1:]
	}
}

// after returns the steps with a higher number. What is added later does not change it.
func (p *past) after(seq int64) []*Step {
	from := sort.Search(len(p.steps), func(i int) bool { return p.steps[i].Seq > seq })
	return p.steps[from:len(p.steps):len(p.steps)]
}

// stepBytes is about what a step takes besides the texts in it.
const stepBytes = 400

func size(step *Step) int64 {
	bytes := stepBytes + len(step.Key) + len(step.For) + len(step.Text) + len(step.Cause) + len(step.Object)
	if request := step.Request; request != nil {
		bytes += stepBytes/4 + len(request.Path) + len(request.Query) + len(request.Body) + len(request.Reply)
	}
	return int64(bytes)
}
