import { createDisposables } from '@vinyasa/test-kit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { END_STREAM, fields, headers, reply, startRawGrpc, type RawGrpc } from './hostile/raw-grpc.ts'
import { startGateway, type RunningGateway } from './support/gateway.ts'
import { besideNeighbours, type Neighbours } from './support/neighbours.ts'

const PROTO = `syntax = "proto3"; package h;
service Users {
  rpc GetUser(GetUserRequest) returns (User);
  rpc FindUser(FindUserRequest) returns (User);
}
message GetUserRequest { int32 turn = 1; }
message FindUserRequest { string text = 2; }
message User { string name = 1; }`

const disposables = createDisposables(afterAll)
let grpc: RawGrpc
let gateway: RunningGateway
let neighbours: Neighbours
let turn = 0

/** A length-delimited field of number 1 to 15. */
const text = (number: number, value: string): Buffer =>
  Buffer.concat([Buffer.of((number << 3) | 2, value.length), Buffer.from(value)])

beforeAll(async () => {
  grpc = disposables.use(
    await startRawGrpc({
      onRequest(socket, stream, message) {
        // FindUserRequest repeats its text in an error message, as many a validation does.
        const isFind = message[0] === 0x12
        const written = isFind ? message.toString('latin1', message.indexOf(0x61)) : ''
        const trailers = fields([
          [':status', '200'],
          ['content-type', 'application/grpc'],
          ['grpc-status', '3'],
          ['grpc-message', `nobody is called ${written}`],
        ])
        if (isFind) socket.write(headers(END_STREAM, stream, trailers))
        else socket.write(Buffer.concat(reply(stream, text(1, 'Ada'))))
      },
    }),
  )
  gateway = disposables.use(
    await startGateway({
      args: ['--preset', 'production'],
      untilReady: false,
      config: {
        grpc: {
          users: {
            endpoint: grpc.address,
            protoText: { 'h.proto': PROTO },
            methods: {
              'h.Users.GetUser': { schema: { name: 'user' } },
              'h.Users.FindUser': { schema: { name: 'find' } },
            },
          },
        },
      },
    }),
  )
  neighbours = {
    pid: gateway.process.pid,
    async ask() {
      const { data } = await gateway.query('query ($turn: Int) { user(turn: $turn) { name } }', {
        turn: turn++,
      })
      return data?.user?.name === 'Ada'
    },
  }
})

it('arguments of 64 to 900 kB that a backend repeats in its error message', async () => {
  const before = grpc.connections
  const answers = new Set<string>()
  let longest = 0
  const attacker = async (signal: AbortSignal): Promise<void> => {
    for (const size of [64_000, 66_000, 100_000, 140_000, 300_000, 900_000]) {
      if (signal.aborted) return
      const { errors } = await gateway.query('query ($text: String) { find(text: $text) { name } }', {
        text: 'a'.repeat(size),
      })
      answers.add(`${errors[0]?.extensions?.code}`)
      longest = Math.max(longest, JSON.stringify(errors).length)
    }
  }
  await besideNeighbours(neighbours, {
    area: 'gRPC',
    fault: 'arguments of 64 to 900 kB that come back in `grpc-message`',
    async run(signal) {
      while (!signal.aborted) await attacker(signal)
    },
  })
  expect([...answers].toSorted()).toEqual(['BAD_USER_INPUT', 'INTERNAL_SERVER_ERROR'])
  expect(longest).toBeLessThan(3_000)
  expect(grpc.connections).toBeLessThanOrEqual(before + 1)
})
