import type { PlanEvent } from '@vinyasa/source-kit'
import { printSchema } from 'graphql'
import { describe, expect, it } from 'vitest'
import { backend, run, source, yogaWith } from './harness.ts'

const PROTO = `
syntax = "proto3"; package k; import "graphql.proto";
import "google/protobuf/timestamp.proto"; import "google/protobuf/duration.proto"; import "google/protobuf/wrappers.proto";
service S {
  rpc Get(All) returns (All) { option (graphql.schema) = { name: "get" request { name: "input" } }; }
  rpc Flat(google.protobuf.Timestamp) returns (google.protobuf.Timestamp) { option (graphql.schema).name = "flat"; }
  rpc Pluck(All) returns (All) { option (graphql.schema) = { name: "at" response { pluck: "at" } }; }
}
message All {
  google.protobuf.Timestamp at = 1; repeated google.protobuf.Timestamp times = 2; map<string, google.protobuf.Timestamp> named = 3;
  oneof one { google.protobuf.Timestamp later = 4; string text = 5; } google.protobuf.Duration wait = 6;
  google.protobuf.StringValue note = 7; google.protobuf.Timestamp none = 8;
}`

const TYPES = {
  'google.protobuf.Timestamp': 'Timestamp',
  'google.protobuf.StringValue': 'StringValue',
}

const AT = { seconds: 1_700_000_000, nanos: 5 }
/** Milliseconds as seconds: no time that a DateTime could be. */
const FAR = { seconds: 1_700_000_000_000, nanos: 0 }
const INPUT = {
  at: AT,
  times: [AT, FAR],
  named: [{ key: 'a', value: AT }],
  one: { later: FAR },
  wait: '1.500s',
  note: { value: 'n' },
}
const QUERY = `query ($input: AllInput, $seconds: Long) {
  get(input: $input) {
    at { seconds nanos } times { seconds } named { key value { seconds nanos } } later { seconds } text wait note { value } none { seconds }
  }
  flat(seconds: $seconds, nanos: 7) { seconds nanos }
  at(at: { seconds: 3, nanos: 4 }) { nanos }
}`

async function asked(plans: boolean): Promise<{
  readonly answer: any
  readonly outcomes: readonly string[]
  readonly received: readonly any[]
  readonly sdl: string
}> {
  const echo = (request: object): object => request
  const server = await backend({ 'k.proto': PROTO }, { 'k.S/Get': echo, 'k.S/Flat': echo, 'k.S/Pluck': echo })
  const events: PlanEvent[] = []
  const grpc = await source({
    protoText: { 'k.proto': PROTO },
    endpoint: server.address,
    int64: 'number-when-safe',
    typeNames: TYPES,
    plans,
    onPlan: (event) => events.push(event),
  })
  const answer = await run(yogaWith(grpc), QUERY, {
    variables: { input: INPUT, seconds: '9007199254740993' },
  })
  return {
    answer,
    outcomes: events.map(({ outcome }) => outcome),
    received: server.calls.map(({ request }) => request),
    sdl: printSchema(grpc.schema),
  }
}

describe('a well-known type that typeNames gives a name is a message like any other', () => {
  it.each([
    [true, ['planned']],
    [false, []],
  ])('in answers and in arguments, plans %s', async (plans, expected) => {
    const { answer, outcomes, received, sdl } = await asked(plans)
    expect(answer).toEqual({
      data: {
        get: {
          at: AT,
          times: [{ seconds: AT.seconds }, { seconds: FAR.seconds }],
          named: [{ key: 'a', value: AT }],
          later: { seconds: FAR.seconds },
          text: null,
          wait: '1.500s',
          note: { value: 'n' },
          none: null,
        },
        flat: { seconds: '9007199254740993', nanos: 7 },
        at: { nanos: 4 },
      },
    })
    expect(outcomes).toEqual(expected)
    expect(received.find(({ times }) => times?.length > 0)).toMatchObject({
      at: { seconds: String(AT.seconds), nanos: 5 },
      note: { value: 'n' },
    })
    expect(sdl).toContain('type Timestamp {\n')
    expect(sdl).toContain('input TimestampInput {\n')
    expect(sdl).toContain('scalar Duration')
    expect(sdl).not.toContain('DateTime')
  })
})
