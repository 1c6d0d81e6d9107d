import { expect } from 'vitest'
import type { Init, InteropClient, Metadata } from './interop-client.ts'
import type { Feature } from './interop-servers.ts'

/** What a case runs with. */
export interface CaseWorld {
  readonly client: InteropClient
  /** Sends compressed messages. */
  readonly compressing: InteropClient
  /** Its connection is counted. */
  readonly relayed: InteropClient
  /** What the server has sent to `relayed` so far. */
  bytesReceived(): number
}

/** One of gRPC's interop cases: https://github.com/grpc/grpc/blob/master/doc/interop-test-descriptions.md */
export interface InteropCase {
  readonly name: string
  readonly needs?: Feature
  run(world: CaseWorld): Promise<void>
}

const payload = (size: number): Init => ({ body: new Uint8Array(size) })
const outputs = (...sizes: number[]): Init => ({ responseParameters: sizes.map((size) => ({ size })) })
const SIZES = [31_415, 9, 2_653, 58_979]
const LARGE = { responseSize: 314_159, payload: payload(271_828) }
const TEXT = 'test status message'
const SPECIAL = '\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n'
const ECHOED = [
  ['x-grpc-test-echo-initial', 'test_initial_metadata_value'],
  ['x-grpc-test-echo-trailing-bin', new Uint8Array([0xab, 0xab, 0xab])],
] as const

async function sizesOf(replies: AsyncIterable<Readonly<Record<string, any>>>): Promise<number[]> {
  const sizes: number[] = []
  for await (const { payload: body } of replies) sizes.push(body.body.length)
  return sizes
}

const isZeros = (bytes: Uint8Array, size: number): boolean =>
  bytes.length === size && bytes.every((byte) => byte === 0)

/** A list of requests that a case adds to while the call runs. */
function openRequests() {
  const waiting: Init[] = []
  let isOver = false
  let wake = (): void => {}
  async function* requests(): AsyncGenerator<Init> {
    for (;;) {
      const next = waiting.shift()
      if (next) yield next
      else if (isOver) return
      else await new Promise<void>((resolve) => (wake = resolve))
    }
  }
  return {
    requests: requests(),
    send(request: Init) {
      waiting.push(request)
      wake()
    },
    end() {
      isOver = true
      wake()
    },
  }
}

export const interopCases: readonly InteropCase[] = [
  {
    name: 'empty_unary',
    async run({ client }) {
      expect(await client.unary('EmptyCall', {})).toMatchObject({ $typeName: 'grpc.testing.Empty' })
    },
  },
  {
    name: 'large_unary',
    async run({ client }) {
      const reply = await client.unary('UnaryCall', LARGE)
      expect(isZeros(reply['payload'].body, 314_159)).toBe(true)
    },
  },
  {
    name: 'client_compressed_unary',
    needs: 'compressed requests',
    async run({ client, compressing }) {
      const expecting = (value: boolean): Init => ({ ...LARGE, expectCompressed: { value } })
      await expect(client.unary('UnaryCall', expecting(true))).rejects.toMatchObject({
        status: 'INVALID_ARGUMENT',
      })
      for (const [by, value] of [
        [compressing, true],
        [client, false],
      ] as const) {
        expect((await by.unary('UnaryCall', expecting(value)))['payload'].body).toHaveLength(314_159)
      }
    },
  },
  {
    name: 'server_compressed_unary',
    needs: 'compressed replies',
    async run({ relayed, bytesReceived }) {
      for (const value of [true, false]) {
        const before = bytesReceived()
        const reply = await relayed.unary('UnaryCall', { ...LARGE, responseCompressed: { value } })
        expect(isZeros(reply['payload'].body, 314_159)).toBe(true)
        expect(bytesReceived() - before < 10_000).toBe(value)
      }
    },
  },
  {
    name: 'client_streaming',
    async run({ client }) {
      const requests = [27_182, 8, 1_828, 45_904].map((size) => ({ payload: payload(size) }))
      const { value } = await client.stream('StreamingInputCall', requests).next()
      expect(value).toMatchObject({ aggregatedPayloadSize: 74_922 })
    },
  },
  {
    name: 'client_compressed_streaming',
    needs: 'compressed requests',
    async run({ client, compressing }) {
      const expecting = (value: boolean): Init[] =>
        [27_182, 45_904].map((size) => ({ payload: payload(size), expectCompressed: { value } }))
      const probe = client.stream('StreamingInputCall', expecting(true)).next()
      await expect(probe).rejects.toMatchObject({ status: 'INVALID_ARGUMENT' })
      const { value } = await compressing.stream('StreamingInputCall', expecting(true)).next()
      expect(value).toMatchObject({ aggregatedPayloadSize: 73_086 })
    },
  },
  {
    name: 'server_streaming',
    async run({ client }) {
      expect(await sizesOf(client.stream('StreamingOutputCall', [outputs(...SIZES)]))).toEqual(SIZES)
    },
  },
  {
    name: 'server_compressed_streaming',
    needs: 'compressed replies',
    async run({ relayed, bytesReceived }) {
      const before = bytesReceived()
      const responseParameters = [
        { compressed: { value: true }, size: 31_415 },
        { compressed: { value: false }, size: 92_653 },
      ]
      expect(await sizesOf(relayed.stream('StreamingOutputCall', [{ responseParameters }]))).toEqual([
        31_415, 92_653,
      ])
      const bytes = bytesReceived() - before
      expect([bytes > 92_653, bytes < 100_000]).toEqual([true, true])
    },
  },
  {
    name: 'ping_pong',
    async run({ client }) {
      const { requests, send, end } = openRequests()
      const replies = client.stream('FullDuplexCall', requests)
      for (const [index, size] of [27_182, 8, 1_828, 45_904].entries()) {
        send({ ...outputs(SIZES[index] ?? 0), payload: payload(size) })
        const { value } = await replies.next()
        expect(value?.['payload'].body).toHaveLength(SIZES[index] ?? 0)
      }
      end()
      expect(await replies.next()).toMatchObject({ done: true })
    },
  },
  {
    name: 'empty_stream',
    async run({ client }) {
      expect(await sizesOf(client.stream('FullDuplexCall', []))).toEqual([])
    },
  },
  {
    name: 'custom_metadata',
    async run({ client }) {
      const check = ({ headers, trailers }: Metadata): void => {
        expect(headers).toContainEqual(['x-grpc-test-echo-initial', 'test_initial_metadata_value'])
        const bytes = trailers.find(([name]) => name === 'x-grpc-test-echo-trailing-bin')?.[1]
        expect(Buffer.from(bytes as Uint8Array).toString('hex')).toBe('ababab')
      }
      check((await client.unary('UnaryCall', LARGE, { metadata: ECHOED })).metadata)
      const stream = client.stream('FullDuplexCall', [{ ...outputs(314_159), payload: payload(271_828) }], {
        metadata: ECHOED,
      })
      expect(await sizesOf(stream)).toEqual([314_159])
      check(stream.metadata)
    },
  },
  {
    name: 'status_code_and_message',
    async run({ client }) {
      const expected = { status: 'UNKNOWN', message: TEXT }
      const request = { responseStatus: { code: 2, message: TEXT } }
      await expect(client.unary('UnaryCall', request)).rejects.toMatchObject(expected)
      await expect(sizesOf(client.stream('FullDuplexCall', [request]))).rejects.toMatchObject(expected)
    },
  },
  {
    name: 'special_status_message',
    async run({ client }) {
      await expect(
        client.unary('UnaryCall', { responseStatus: { code: 2, message: SPECIAL } }),
      ).rejects.toMatchObject({ status: 'UNKNOWN', message: SPECIAL })
    },
  },
  {
    name: 'unimplemented_method',
    async run({ client }) {
      await expect(client.unary('UnimplementedCall', {})).rejects.toMatchObject({ status: 'UNIMPLEMENTED' })
    },
  },
  {
    name: 'unimplemented_service',
    async run({ client }) {
      const service = 'grpc.testing.UnimplementedService'
      await expect(client.unary('UnimplementedCall', {}, { service })).rejects.toMatchObject({
        status: 'UNIMPLEMENTED',
      })
    },
  },
  {
    name: 'cancel_after_begin',
    async run({ client }) {
      const { requests } = openRequests()
      const abort = new AbortController()
      const reply = client.stream('StreamingInputCall', requests, { signal: abort.signal }).next()
      abort.abort()
      await expect(reply).rejects.toMatchObject({ status: 'CANCELLED' })
    },
  },
  {
    name: 'cancel_after_first_response',
    async run({ client }) {
      const { requests, send } = openRequests()
      const abort = new AbortController()
      const replies = client.stream('FullDuplexCall', requests, { signal: abort.signal })
      send({ ...outputs(31_415), payload: payload(27_182) })
      expect((await replies.next()).value?.['payload'].body).toHaveLength(31_415)
      abort.abort()
      await expect(replies.next()).rejects.toMatchObject({ status: 'CANCELLED' })
    },
  },
  {
    name: 'timeout_on_sleeping_server',
    async run({ client }) {
      const { requests, send } = openRequests()
      const replies = client.stream('FullDuplexCall', requests, { timeoutMs: 1 })
      send({ payload: payload(27_182) })
      await expect(replies.next()).rejects.toMatchObject({ status: 'DEADLINE_EXCEEDED' })
    },
  },
  {
    name: 'concurrent_large_unary',
    async run({ client }) {
      // The server in Ruby has 30 threads.
      const replies = await Promise.all(Array.from({ length: 20 }, () => client.unary('UnaryCall', LARGE)))
      expect(replies.every((reply) => reply['payload'].body.length === 314_159)).toBe(true)
    },
  },
]
