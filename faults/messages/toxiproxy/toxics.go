package main

import (
	"encoding/json"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

const (
	requestsToxic = "message-requests"
	answersToxic  = "message-answers"
)

var streams = map[string]string{requestsToxic: "upstream", answersToxic: "downstream"}

func init() {
	toxics.Register(requestsToxic, new(requests))
	toxics.Register(answersToxic, new(answers))
}

// requests is the toxic of the stream to the server. Its attributes are the rule of the link, which an update sets
// ("rule": null releases it), and what was done by it: counts.
type requests struct{ link *link }

// answers is the toxic of the stream from the server. It does what the rule of the link says of answers.
type answers struct{ link *link }

type attributes struct {
	Link string          `json:"link"`
	Rule json.RawMessage `json:"rule"`
}

func (t *requests) UnmarshalJSON(data []byte) error {
	var given attributes
	if err := json.Unmarshal(data, &given); err != nil {
		return err
	}
	if given.Link != "" {
		t.link = linkOf(given.Link)
	}
	if given.Rule == nil {
		return nil
	}
	var next *rule
	if err := json.Unmarshal(given.Rule, &next); err != nil {
		return err
	}
	if next != nil {
		if err := next.check(); err != nil {
			return err
		}
	}
	t.link.set(next)
	return nil
}

func (t *answers) UnmarshalJSON(data []byte) error {
	var given attributes
	if err := json.Unmarshal(data, &given); err != nil {
		return err
	}
	if given.Link != "" {
		t.link = linkOf(given.Link)
	}
	return nil
}

func (t *requests) MarshalJSON() ([]byte, error) { return t.link.state() }
func (t *answers) MarshalJSON() ([]byte, error)  { return []byte("{}"), nil }

func (t *requests) NewState() any {
	c := &connection{link: t.link, over: map[string]bool{}}
	t.link.mu.Lock()
	defer t.link.mu.Unlock()
	t.link.unpaired = append(t.link.unpaired, c)
	return &half{connection: c, part: ofRequest, framer: framer{need: requestHeader}, fate: c.fateOfRequest}
}

func (t *answers) NewState() any {
	t.link.mu.Lock()
	defer t.link.mu.Unlock()
	c := &connection{link: t.link, over: map[string]bool{}}
	if len(t.link.unpaired) > 0 {
		c, t.link.unpaired = t.link.unpaired[0], t.link.unpaired[1:]
	} else {
		c.giveUp()
	}
	return &half{connection: c, part: ofAnswer, framer: framer{need: answerHeader}, fate: c.fateOfAnswer}
}

func (t *requests) Pipe(stub *toxics.ToxicStub) { stub.State.(*half).pipe(stub) }
func (t *answers) Pipe(stub *toxics.ToxicStub)  { stub.State.(*half).pipe(stub) }

// half is one stream of a connection. It outlives the interrupts by which Toxiproxy changes the chain of toxics.
type half struct {
	*connection
	part   string
	framer framer
	fate   func(f *framer, begun bool) (string, *rule)

	input  []byte // received, and not looked at yet
	output []byte // what is to be passed on next
	shown  int    // bytes of the present header that were passed on before it was complete
	skips  bool   // the rest of the present message is dropped
	copied []byte // what has come of a message that is to be sent twice
	twice  *rule  // the present message is to be sent twice
	held   *rule  // the message of the present header waits
	due    time.Time
	lost   *rule // all that comes is lost
}

// pipe passes bytes on until the stream ends, or Toxiproxy interrupts it.
func (h *half) pipe(stub *toxics.ToxicStub) {
	for {
		switch {
		case h.held != nil:
			if !h.wait(stub) {
				return
			}
		case h.lost != nil:
			h.swallow(stub)
			return
		case len(h.input) > 0:
			if h.look(); h.lost != nil && h.lost.Fate == end {
				h.flush(stub)
				h.close(stub)
				return
			}
			h.flush(stub)
		default:
			select {
			case <-stub.Interrupt:
				return
			case chunk := <-stub.Input:
				if chunk == nil {
					h.pass(h.hidden())
					h.flush(stub)
					h.ended(h.part)
					stub.Close()
					return
				}
				h.input = chunk.Data
			}
		}
	}
}

// look moves bytes from input to output, up to the next message that waits or is lost.
func (h *half) look() {
	for len(h.input) > 0 && h.held == nil && h.lost == nil {
		if h.unread.Load() {
			h.pass(h.hidden())
			h.pass(h.input)
			h.input, h.framer.head, h.shown = nil, nil, 0
			return
		}
		inside := h.framer.rest > 0
		taken, known := h.framer.next(h.input)
		data := h.input[:taken]
		h.input = h.input[taken:]
		switch {
		case inside:
			h.body(data)
		case known:
			h.begin(data)
		case !h.decides():
			h.pass(h.hiddenIn(data))
			h.shown = len(h.framer.head)
		}
	}
}

// hidden returns what came of a header, and was not passed on.
func (h *half) hidden() []byte { return h.framer.head[h.shown:] }

// hiddenIn returns the same, of the received data itself where that is all.
func (h *half) hiddenIn(data []byte) []byte {
	if hidden := h.hidden(); len(hidden) != len(data) {
		return hidden
	}
	return data
}

// pass adds to the output. What lies one behind the other in the received data is not copied.
func (h *half) pass(data []byte) {
	end := len(h.output)
	switch {
	case len(data) == 0:
	case end == 0:
		h.output = data
	case end+len(data) <= cap(h.output) && &h.output[:end+1][end] == &data[0]:
		h.output = h.output[:end+len(data)]
	default:
		h.output = append(h.output[:end:end], data...)
	}
}

// begin decides on the message whose header is complete with data.
func (h *half) begin(data []byte) {
	fate, by := h.fate(&h.framer, h.shown > 0)
	head := h.hiddenIn(data)
	h.shown, h.skips = 0, fate == drop
	if fate != hold {
		h.framer.head = nil
	}
	switch fate {
	case pass:
		h.pass(head)
	case hold:
		h.held, h.due = by, by.due()
	case lose, end:
		h.lost = by
	case twice:
		h.twice, h.copied = by, append(h.copied, head...)
		h.repeatIfWhole()
	}
}

func (h *half) body(data []byte) {
	switch {
	case h.twice != nil:
		h.copied = append(h.copied, data...)
		h.repeatIfWhole()
	case !h.skips:
		h.pass(data)
	}
}

func (h *half) repeatIfWhole() {
	if h.framer.rest > 0 {
		return
	}
	h.pass(append(h.copied, h.copied...))
	h.link.add(1, &h.twice.counts.Repeated)
	h.copied, h.twice = nil, nil
}

// wait blocks until the held message may go. It returns false if it was interrupted, true once the message goes.
func (h *half) wait(stub *toxics.ToxicStub) bool {
	timer := time.NewTimer(time.Until(h.due))
	defer timer.Stop()
	select {
	case <-stub.Interrupt:
		return false
	case <-timer.C:
	case <-h.held.released:
	}
	h.letGo(h.part, h.held)
	h.pass(h.framer.head)
	h.held, h.framer.head = nil, nil
	h.flush(stub)
	return true
}

// swallow loses all that comes until the sender ends the connection, or the rule is released, which ends it.
func (h *half) swallow(stub *toxics.ToxicStub) {
	for {
		select {
		case <-stub.Interrupt:
			return
		case chunk := <-stub.Input:
			if chunk != nil {
				continue
			}
			h.ended(h.part)
			stub.Close()
		case <-h.lost.released:
			h.close(stub)
		}
		h.link.add(-1, &h.lost.counts.Broken)
		return
	}
}

// close ends the connection, though its sender may go on: what it still sends is lost.
func (h *half) close(stub *toxics.ToxicStub) {
	stub.Close()
	go func(input <-chan *stream.StreamChunk) {
		for range input {
		}
	}(stub.Input)
}

func (h *half) flush(stub *toxics.ToxicStub) {
	if len(h.output) > 0 {
		stub.Output <- &stream.StreamChunk{Data: h.output, Timestamp: time.Now()}
		h.output = nil
	}
}

// Cleanup passes on what a toxic that is removed still has.
func (t *requests) Cleanup(stub *toxics.ToxicStub) { stub.State.(*half).leave(stub) }
func (t *answers) Cleanup(stub *toxics.ToxicStub)  { stub.State.(*half).leave(stub) }

func (h *half) leave(stub *toxics.ToxicStub) {
	if h.lost != nil {
		h.close(stub)
		h.link.add(-1, &h.lost.counts.Broken)
		return
	}
	for _, part := range [][]byte{h.copied, h.hidden(), h.input} {
		h.pass(part)
	}
	h.flush(stub)
}
