// A server of Go whose methods have the annotations of grpc-gateway, and which describes itself.
package main

import (
	"context"
	"fmt"
	"net"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"

	pb "shelves/v1"
)

type server struct {
	pb.UnimplementedShelvesServer
	lock  sync.Mutex
	books map[string]*pb.Book
}

func (s *server) ShowBook(_ context.Context, asked *pb.BookName) (*pb.Book, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	book := s.books[asked.Name]
	if book == nil {
		return nil, status.Errorf(codes.NotFound, "no book %q", asked.Name)
	}
	return book, nil
}

func (s *server) WriteBook(_ context.Context, book *pb.Book) (*pb.Book, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.books[book.Name] = book
	return book, nil
}

func (s *server) ReadPages(asked *pb.BookName, stream pb.Shelves_ReadPagesServer) error {
	book, err := s.ShowBook(stream.Context(), asked)
	if err != nil {
		return err
	}
	for index, text := range book.Pages {
		if err := stream.Send(&pb.Page{Number: int32(index), Text: text}); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	serving := grpc.NewServer()
	pb.RegisterShelvesServer(serving, &server{books: map[string]*pb.Book{}})
	reflection.Register(serving)
	fmt.Printf("port %d\n", listener.Addr().(*net.TCPAddr).Port)
	panic(serving.Serve(listener))
}
