package main

import (
	"context"
	"log"
	"net/http"

	"example.com/cinema/gen/cinema"
	"example.com/cinema/gen/people"
	"github.com/ysugimoto/grpc-graphql-gateway/runtime"
	"google.golang.org/grpc"
)

// Every request has an id from here on.
func requestId(ctx context.Context, w http.ResponseWriter, r *http.Request) (context.Context, error) {
	return context.WithValue(ctx, "id", r.Header.Get("X-Request-Id")), nil
}

func main() {
	mux := runtime.NewServeMux(runtime.Cors())
	mux.Use(requestId)

	conn, err := grpc.Dial("localhost:50080", grpc.WithInsecure())
	if err != nil {
		log.Fatalln(err)
	}
	defer conn.Close()
	if err := cinema.RegisterCinemaGraphqlHandler(mux, conn); err != nil {
		log.Fatalln(err)
	}
	// It says itself where it is.
	if err := people.RegisterPeopleGraphql(mux); err != nil {
		log.Fatalln(err)
	}
	http.Handle("/graphql", mux)
	log.Fatalln(http.ListenAndServe(":8888", nil))
}
