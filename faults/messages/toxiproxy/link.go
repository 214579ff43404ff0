package main

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// What becomes of a message.
const (
	pass  = ""
	lose  = "lose"  // it and all that follows it on its stream of the connection
	end   = "end"   // the same, and the connection ends at once
	hold  = "hold"  // it waits, and all that follows it waits behind it
	twice = "twice" // it arrives twice; the first of the two answers is dropped
	drop  = "drop"  // it alone; of answers to a request that was sent twice
)

const (
	ofRequest = "request"
	ofAnswer  = "answer"
)

// A rule says which messages of a link have which fate: of those that match, all after the first Skip, Count of them.
type rule struct {
	Key     int16  `json:"api_key"`
	Version *int16 `json:"version"` // nil: any
	Part    string `json:"part"`
	Fate    string `json:"fate"`
	Skip    int    `json:"skip"`
	Count   int    `json:"count"`
	HoldMs  int    `json:"hold_ms"` // 0: until the rule is released

	released chan struct{}
	counts   *counts
}

func (r *rule) check() error {
	switch {
	case r.Part != ofRequest && r.Part != ofAnswer:
		return fmt.Errorf("a message is a %s or an %s, and not %q", ofRequest, ofAnswer, r.Part)
	case r.Fate == twice && r.Part == ofRequest, r.Fate == lose, r.Fate == end, r.Fate == hold:
		return nil
	}
	return fmt.Errorf("no %s can have the fate %q", r.Part, r.Fate)
}

// lost counts a message that ends or breaks its connection. The caller has the lock.
func (r *rule) lost() {
	r.counts.Lost++
	if r.Fate == lose {
		r.counts.Broken++
	}
}

// counts are of one rule, and go on after its release.
type counts struct {
	Passing     map[int16]int `json:"passing"`     // requests that came, by API key
	Matched     int           `json:"matched"`     // those that are of the API and version
	Lost        int           `json:"lost"`        // messages that will never arrive
	Held        int           `json:"held"`        // messages that had to wait
	Delivered   int           `json:"delivered"`   // held messages that were passed on
	Undelivered int           `json:"undelivered"` // held messages whose connection the other side had ended
	Repeated    int           `json:"repeated"`    // requests that were passed on twice
	Dropped     int           `json:"dropped"`     // answers to the first of two
	Broken      int           `json:"broken"`      // connections that are open, and from which messages were lost
}

// A link is one proxy: what its toxic of requests and its toxic of answers share.
type link struct {
	mu     sync.Mutex
	rule   *rule
	counts *counts // of the rule, or of the last one
	// unread counts the connections, open ones and others, whose messages could not be separated.
	unread int
	// unpaired are connections whose answers have no toxic yet. A proxy accepts one connection after the other, and starts
	// its requests before its answers.
	unpaired []*connection
}

var links sync.Map // *link by the name of its proxy

func linkOf(name string) *link {
	found, _ := links.LoadOrStore(name, &link{counts: new(counts)})
	return found.(*link)
}

// set replaces the rule, and releases the one before.
func (l *link) set(next *rule) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rule != nil {
		close(l.rule.released)
	}
	l.rule = next
	if next != nil {
		next.released = make(chan struct{})
		next.counts = &counts{Passing: map[int16]int{}}
		l.counts = next.counts
	}
}

func (l *link) add(n int, to *int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*to += n
}

// choose returns the rule if this request is one that it chooses. The caller has the lock.
func (l *link) choose(asked request) *rule {
	if l.rule == nil {
		return nil
	}
	l.counts.Passing[asked.key]++
	if asked.key != l.rule.Key || l.rule.Version != nil && *l.rule.Version != asked.version {
		return nil
	}
	l.counts.Matched++
	if n := l.counts.Matched - l.rule.Skip; n < 1 || n > l.rule.Count {
		return nil
	}
	return l.rule
}

func (l *link) state() ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return json.Marshal(map[string]any{"rule": l.rule, "counts": l.counts, "unread": l.unread})
}

// A connection is what the two streams of one connection share. The lock of the link guards it.
type connection struct {
	link     *link
	asked    []expected      // requests on their way, in order: a server answers in the order of requests
	repeated int             // answers that are to be dropped
	unread   atomic.Bool     // its messages cannot be separated, so all bytes pass
	over     map[string]bool // the parts whose sender ended the connection
}

type expected struct {
	correlation int32
	rule        *rule // of the fate of its answer; nil if it passes
	repeated    bool  // the same request follows once more by that rule, and its answer is the one to pass
}

// mostExpected bounds the requests that are remembered. Some are never answered: a producer may ask for none (acks=0).
const mostExpected = 1 << 16

func (c *connection) expect(more ...expected) {
	c.asked = append(c.asked, more...)
	if len(c.asked) > mostExpected {
		c.asked = append([]expected(nil), c.asked[mostExpected/2:]...)
	}
}

// answered returns what was expected of this answer, and forgets the requests before it, which have none.
func (c *connection) answered(correlation int32) (expected, bool) {
	for i, request := range c.asked {
		if request.correlation == correlation {
			c.asked = c.asked[i+1:]
			return request, true
		}
	}
	return expected{}, false
}

// fateOfRequest decides on a request. A part of it may have been passed on: then it passes.
func (c *connection) fateOfRequest(f *framer, begun bool) (string, *rule) {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	if !f.plausible() {
		return c.giveUp()
	}
	asked := requestOf(f.head)
	// What follows a handshake of version 0 are tokens of SASL, without a header.
	if !asked.plausible() || asked.key == saslHandshake && asked.version == 0 {
		return c.giveUp()
	}
	chosen, expects := c.link.choose(asked), expected{correlation: asked.correlation}
	switch {
	case chosen == nil || begun:
		c.expect(expects)
		return pass, nil
	case chosen.Part == ofAnswer:
		expects.rule = chosen
		c.expect(expects)
		return pass, nil
	case chosen.Fate == twice:
		c.repeated++
		c.expect(expected{correlation: asked.correlation, rule: chosen, repeated: true}, expects)
	case chosen.Fate == hold:
		chosen.counts.Held++
		c.expect(expects)
	default:
		chosen.lost()
	}
	return chosen.Fate, chosen
}

func (c *connection) fateOfAnswer(f *framer, begun bool) (string, *rule) {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	if !f.plausible() {
		return c.giveUp()
	}
	answered, known := c.answered(correlationOf(f.head))
	switch {
	case !known:
		return c.giveUp()
	case begun:
		return pass, nil
	case answered.repeated:
		c.repeated--
		answered.rule.counts.Dropped++
		return drop, nil
	case answered.rule == nil || answered.rule != c.link.rule:
		return pass, nil
	case answered.rule.Fate == hold:
		answered.rule.counts.Held++
	default:
		answered.rule.lost()
	}
	return answered.rule.Fate, answered.rule
}

// giveUp lets all bytes of the connection pass from now on. The caller has the lock.
func (c *connection) giveUp() (string, *rule) {
	if !c.unread.Swap(true) {
		c.link.unread++
	}
	return pass, nil
}

// decides tells whether anything but passing is possible, for which a header has to be kept until it is complete.
func (c *connection) decides() bool {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	return !c.unread.Load() && (c.link.rule != nil || c.repeated > 0)
}

// ended notes that the sender of requests, or of answers, has ended the connection.
func (c *connection) ended(part string) {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	c.over[part] = true
}

// letGo counts a held message as delivered, or not if its receiver is gone.
func (c *connection) letGo(part string, by *rule) {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	receiver := map[string]string{ofRequest: ofAnswer, ofAnswer: ofRequest}[part]
	if c.over[receiver] {
		by.counts.Undelivered++
	} else {
		by.counts.Delivered++
	}
}

// due returns when a message that is held from now on is let go, if no release comes first.
func (r *rule) due() time.Time {
	if r.HoldMs == 0 {
		return time.Now().Add(forever)
	}
	return time.Now().Add(time.Duration(r.HoldMs) * time.Millisecond)
}

// forever is longer than any run.
const forever = 10000 * time.Hour
