package main

import "encoding/binary"

const (
	// A message begins with its size (4 bytes). Then follow, in a request, API key (2), version (2) and correlation id
	// (4); in an answer the correlation id.
	requestHeader = 12
	answerHeader  = 8
	// Kafka takes requests of up to 100 MiB. The first bytes of TLS, HTTP or a four-letter word are larger as a size.
	largestMessage = 1 << 28
	highestKey     = 1 << 14
	highestVersion = 1 << 7

	saslHandshake = 17
)

// A framer finds where the messages of a stream begin.
type framer struct {
	need int    // bytes of a header
	head []byte // those of the present header that have come; its reader sets it to nil
	rest int    // bytes of the present message that are still to come, once its header is complete
}

// next takes bytes up to the end of a header, of a message, or of the data, whichever comes first. It returns how many,
// and whether head can be judged: it is complete, or has a size that no message has.
func (f *framer) next(data []byte) (taken int, known bool) {
	if f.rest > 0 {
		taken = min(f.rest, len(data))
		f.rest -= taken
		return taken, false
	}
	taken = min(f.need-len(f.head), len(data))
	f.head = append(f.head, data[:taken]...)
	if len(f.head) >= 4 && !f.plausible() {
		return taken, true
	}
	if len(f.head) < f.need {
		return taken, false
	}
	f.rest = int(f.size()) + 4 - f.need
	return taken, true
}

func (f *framer) size() int32 { return int32(binary.BigEndian.Uint32(f.head)) }

// plausible tells whether the size, the first 4 bytes, can be one.
func (f *framer) plausible() bool { return int(f.size()) >= f.need-4 && f.size() <= largestMessage }

// A request is what the header of one says.
type request struct {
	key, version int16
	correlation  int32
}

func requestOf(head []byte) request {
	return request{
		key:         int16(binary.BigEndian.Uint16(head[4:])),
		version:     int16(binary.BigEndian.Uint16(head[6:])),
		correlation: int32(binary.BigEndian.Uint32(head[8:])),
	}
}

func (r request) plausible() bool {
	return r.key >= 0 && r.key < highestKey && r.version >= 0 && r.version < highestVersion
}

func correlationOf(head []byte) int32 { return int32(binary.BigEndian.Uint32(head[4:])) }
