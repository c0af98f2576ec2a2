package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"hurray.dev/go/hurray"
)

// patience is how long a neighbour is waited for. Whoever is next may have to start first; nobody waits for ever.
const patience = 120 * time.Second

// errArguments is the error of a command line that means nothing.
var errArguments = errors.New("unknown arguments")

// transport says where tensors come from and go to: the socket of a channel, or nil for standard input and output.
type transport struct {
	channelIn, channelOut *int
}

func transportOf(arguments []string) (transport, error) {
	var joined transport
	for ; len(arguments) != 0; arguments = arguments[2:] {
		target := map[string]**int{"--channel-in": &joined.channelIn, "--channel-out": &joined.channelOut}[arguments[0]]
		if target == nil || *target != nil || len(arguments) < 2 {
			return transport{}, fmt.Errorf("%w: %q", errArguments, arguments)
		}
		fd, err := strconv.ParseUint(arguments[1], 10, 31)
		if err != nil {
			return transport{}, fmt.Errorf("%w: %w", errArguments, err)
		}
		*target = new(int)
		**target = int(fd)
	}
	return joined, nil
}

// input is where tensors come from; io.EOF of next is their end. count adds what is known of it to the report.
type input interface {
	next() (*hurray.Tensor, error)
	count(total *totalLine) error
	Close() error
}

// output is where tensors go to. finish ends them, and adds what is known of it to the report.
type output interface {
	put(tensor *hurray.Tensor) error
	finish(total *totalLine) error
	Close() error
}

func (t transport) input() (input, error) {
	if t.channelIn != nil {
		channel, err := hurray.ChannelFromFD(*t.channelIn, nil)
		return channelEnd{channel}, err
	}
	reader, err := hurray.NewReader(os.Stdin, nil)
	return pipeInput{reader}, err
}

func (t transport) output() (output, error) {
	if t.channelOut != nil {
		channel, err := hurray.ChannelFromFD(*t.channelOut, nil)
		return channelEnd{channel}, err
	}
	writer, err := hurray.NewWriter(os.Stdout)
	return pipeOutput{writer}, err
}

type pipeInput struct{ *hurray.Reader }

func (p pipeInput) next() (*hurray.Tensor, error) { return p.Next() }
func (p pipeInput) count(*totalLine) error        { return nil }

type pipeOutput struct{ *hurray.Writer }

func (p pipeOutput) put(tensor *hurray.Tensor) error { return p.Write(tensor) }
func (p pipeOutput) finish(*totalLine) error         { return nil }

// channelEnd is the one end or the other: a channel is both.
type channelEnd struct{ *hurray.Channel }

func patient() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), patience)
}

func (c channelEnd) next() (*hurray.Tensor, error) {
	ctx, cancel := patient()
	defer cancel()
	return c.Receive(ctx)
}

func (c channelEnd) count(total *totalLine) error {
	info, err := c.Info()
	total.ReceivedBytes = &info.ReceivedBytes
	return err
}

func (c channelEnd) put(tensor *hurray.Tensor) error {
	ctx, cancel := patient()
	defer cancel()
	return c.Send(ctx, tensor)
}

func (c channelEnd) finish(total *totalLine) error {
	ctx, cancel := patient()
	defer cancel()
	if err := c.Finish(ctx); err != nil {
		return err
	}
	info, err := c.Info()
	total.PassedBytes, total.CopiedBytes = &info.PassedBytes, &info.CopiedBytes
	return err
}
