// The Toxiproxy of the harness: the server of the package, with two toxics more on every proxy, which know the messages
// of Kafka. They are there from the beginning of each connection, since later no message could be separated from the next.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
)

// version says which release this is built of, and what it has more than that one.
const version = "2.12.0+messages"

func main() {
	toxiproxy.Version = version
	host := flag.String("host", "localhost", "host for the API to listen on")
	port := flag.String("port", "8474", "port for the API to listen on")
	config := flag.String("config", "", "JSON file of proxies to open at the start")
	asked := flag.Bool("version", false, "print the version")
	flag.Parse()
	if *asked {
		fmt.Printf("toxiproxy-server version %s\n", version)
		return
	}
	logger := newLogger()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), logger)
	if *config != "" {
		server.PopulateConfig(*config)
		equip(server)
	}
	api := &http.Server{Addr: net.JoinHostPort(*host, *port), Handler: equipping(server), ReadHeaderTimeout: time.Minute}
	if err := api.ListenAndServe(); err != nil {
		logger.Fatal().Err(err).Msg("The API ended")
	}
}

// newLogger returns a logger that writes what the package's own server writes, of the level in LOG_LEVEL.
func newLogger() zerolog.Logger {
	zerolog.TimestampFunc = func() time.Time { return time.Now().UTC() }
	logger := zerolog.New(os.Stdout).With().Timestamp().Logger()
	if level, err := zerolog.ParseLevel(os.Getenv("LOG_LEVEL")); err == nil && level != zerolog.NoLevel {
		logger = logger.Level(level)
	}
	return logger
}

// equipping adds the toxics to proxies before the next request of the same connection is answered.
func equipping(server *toxiproxy.ApiServer) http.Handler {
	routes := server.Routes()
	return http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		routes.ServeHTTP(answer, request)
		if request.Method == http.MethodPost && (request.URL.Path == "/populate" || request.URL.Path == "/proxies") {
			equip(server)
		}
	})
}

func equip(server *toxiproxy.ApiServer) {
	for name, proxy := range server.Collection.Proxies() {
		for _, toxic := range []string{requestsToxic, answersToxic} {
			if proxy.Toxics.GetToxic(toxic) != nil {
				continue
			}
			body, _ := json.Marshal(map[string]any{
				"name": toxic, "type": toxic, "stream": streams[toxic], "attributes": map[string]string{"link": name},
			})
			if _, err := proxy.Toxics.AddToxicJson(strings.NewReader(string(body))); err != nil {
				server.Logger.Err(err).Str("proxy", name).Msg("The toxics of messages could not be added")
			}
		}
	}
}
