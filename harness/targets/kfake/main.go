// Command kfake runs the brokers of kfake, a Kafka in memory or on disk that clients are tested with, in one process.
//
//	kfake [-data FOLDER] 'LISTEN=ADVERTISED LISTEN=ADVERTISED ...'
//
// One pair of addresses for each broker, whose ids count from 0. It ends on SIGTERM, with exit code 0.
package main

import (
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/twmb/franz-go/pkg/kfake"
)

// elsewhere listens at one address and tells clients another one, at which a proxy listens.
type elsewhere struct {
	net.Listener
	advertised net.Addr
}

func (l elsewhere) Addr() net.Addr { return l.advertised }

func main() {
	data := flag.String("data", "", "the `folder` of logs and metadata; without it all is in memory")
	flag.Parse()
	if err := run(*data, strings.Fields(strings.Join(flag.Args(), " "))); err != nil {
		fmt.Fprintln(os.Stderr, "kfake: error:", err)
		os.Exit(1)
	}
}

func run(data string, brokers []string) error {
	if len(brokers) == 0 {
		return fmt.Errorf("name LISTEN=ADVERTISED of each broker")
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	next := 0
	listen := func(network, _ string) (net.Listener, error) {
		own, told, _ := strings.Cut(brokers[next], "=")
		next++
		advertised, err := net.ResolveTCPAddr(network, told)
		if err != nil {
			return nil, err
		}
		listener, err := net.Listen(network, own)
		if err != nil {
			return nil, err
		}
		return elsewhere{listener, advertised}, nil
	}
	options := []kfake.Opt{
		kfake.NumBrokers(len(brokers)),
		kfake.ListenFn(listen),
		kfake.DefaultNumPartitions(1),
		kfake.WithLogger(kfake.BasicLogger(os.Stdout, kfake.LogLevelInfo)),
	}
	if data != "" {
		options = append(options, kfake.DataDir(data))
	}
	cluster, err := kfake.NewCluster(options...)
	if err != nil {
		return err
	}
	<-ended
	cluster.Close()
	return nil
}
