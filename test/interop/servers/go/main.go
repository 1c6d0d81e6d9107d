// The server of gRPC's interop cases on grpc-go. Compressed replies answer compressed requests.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	pb "grpc/testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	_ "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

const (
	echoInitial  = "x-grpc-test-echo-initial"
	echoTrailing = "x-grpc-test-echo-trailing-bin"
)

type server struct {
	pb.UnimplementedTestServiceServer
}

func payload(size int32) *pb.Payload {
	return &pb.Payload{Body: make([]byte, size)}
}

func asked(s *pb.EchoStatus) error {
	if s == nil || s.Code == 0 {
		return nil
	}
	return status.Error(codes.Code(s.Code), s.Message)
}

func echoed(ctx context.Context) (initial, trailing metadata.MD) {
	got, _ := metadata.FromIncomingContext(ctx)
	initial, trailing = metadata.MD{}, metadata.MD{}
	if values := got.Get(echoInitial); len(values) > 0 {
		initial.Set(echoInitial, values[0])
	}
	if values := got.Get(echoTrailing); len(values) > 0 {
		trailing.Set(echoTrailing, values[0])
	}
	return initial, trailing
}

func (server) EmptyCall(context.Context, *pb.Empty) (*pb.Empty, error) {
	return &pb.Empty{}, nil
}

func (server) UnaryCall(ctx context.Context, request *pb.SimpleRequest) (*pb.SimpleResponse, error) {
	initial, trailing := echoed(ctx)
	grpc.SetHeader(ctx, initial)
	grpc.SetTrailer(ctx, trailing)
	if err := asked(request.ResponseStatus); err != nil {
		return nil, err
	}
	return &pb.SimpleResponse{Payload: payload(request.ResponseSize)}, nil
}

func (server) StreamingOutputCall(request *pb.StreamingOutputCallRequest, stream pb.TestService_StreamingOutputCallServer) error {
	for _, one := range request.ResponseParameters {
		time.Sleep(time.Duration(one.IntervalUs) * time.Microsecond)
		if err := stream.Send(&pb.StreamingOutputCallResponse{Payload: payload(one.Size)}); err != nil {
			return err
		}
	}
	return nil
}

func (server) StreamingInputCall(stream pb.TestService_StreamingInputCallServer) error {
	var sum int32
	for {
		request, err := stream.Recv()
		if err == io.EOF {
			return stream.SendAndClose(&pb.StreamingInputCallResponse{AggregatedPayloadSize: sum})
		}
		if err != nil {
			return err
		}
		sum += int32(len(request.Payload.GetBody()))
	}
}

func (server) FullDuplexCall(stream pb.TestService_FullDuplexCallServer) error {
	initial, trailing := echoed(stream.Context())
	stream.SetHeader(initial)
	stream.SetTrailer(trailing)
	for {
		request, err := stream.Recv()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := asked(request.ResponseStatus); err != nil {
			return err
		}
		for _, one := range request.ResponseParameters {
			time.Sleep(time.Duration(one.IntervalUs) * time.Microsecond)
			if err := stream.Send(&pb.StreamingOutputCallResponse{Payload: payload(one.Size)}); err != nil {
				return err
			}
		}
	}
}

// Arguments: none, or the paths of a certificate and its key.
func main() {
	var options []grpc.ServerOption
	if len(os.Args) > 2 {
		tls, err := credentials.NewServerTLSFromFile(os.Args[1], os.Args[2])
		if err != nil {
			panic(err)
		}
		options = append(options, grpc.Creds(tls))
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	serving := grpc.NewServer(options...)
	pb.RegisterTestServiceServer(serving, &server{})
	fmt.Printf("port %d\n", listener.Addr().(*net.TCPAddr).Port)
	panic(serving.Serve(listener))
}
