import * as fc from 'fast-check'
import { connectRawWebSocket } from '@vinyasa/test-kit'
import { describe, expect, it } from 'vitest'
import { limitJson, limitValue } from '../src/limits/json-limits.ts'
import type { GraphqlConfig } from '../src/http/http-types.ts'
import type { PresetName } from '../src/presets.ts'
import { post, startGateway, type RunningGateway } from './support/gateway.ts'

const members = (value: unknown): readonly unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value) : []
const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...members(value).map(depthOf)) : 0
const itemsOf = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? Math.max(1, members(value).length) + members(value).reduce<number>((sum, one) => sum + itemsOf(one), 0)
    : 0

it('values are as deep, and hold as much, as their JSON; 0 items are no limit', () => {
  const outer = fc.integer({ min: 90, max: 100 })
  const limit = fc.integer({ min: 0, max: 120 })
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), outer, limit, (inner, levels, maxBodyItems) => {
      let value: unknown = inner
      for (let level = 0; level < levels; level++) value = [value]
      const bytes = Buffer.from(JSON.stringify(value))
      const passes = (run: () => void): boolean => {
        try {
          run()
          return true
        } catch {
          return false
        }
      }
      const isWithin = depthOf(value) <= 100 && itemsOf(value) <= (maxBodyItems || Infinity)
      expect(passes(() => limitValue(value, { maxBodyItems }))).toBe(isWithin)
      expect(passes(() => limitJson(bytes, { maxBodyItems }))).toBe(isWithin)
    }),
    { numRuns: 500 },
  )
})

it('a file is one member, however many bytes of it are in memory', () => {
  const bytes = new Uint8Array(1_000)
  const file = new File([bytes], 'cover.png')
  const limits = { maxBodyDepth: 3, maxBodyItems: 5 }
  for (const given of [
    bytes,
    Buffer.from(bytes),
    bytes.buffer,
    file,
    Object.assign(file, { chunks: [bytes] }),
  ])
    expect(() => limitValue({ file: given }, limits)).not.toThrow()
})

function start(preset: PresetName, graphql: GraphqlConfig = {}): Promise<RunningGateway> {
  return startGateway({
    preset,
    graphql,
    typeDefs: 'scalar JSON enum Color { RED } type Query { echo(v: JSON, color: Color): JSON }',
    resolvers: { Query: { echo: (_: unknown, { v }: { v: unknown }) => v } },
  })
}

const ECHO = 'query ($v: JSON) { echo(v: $v) }'
const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`

describe.each<PresetName>(['development', 'production'])('deep variables, %s preset', (preset) => {
  it.each([101, 10_000])('%i levels: 400, by every way in', async (levels) => {
    const { endpoint, server } = await start(preset)
    const csrf = { 'x-graphql-csrf': '1' }
    const body = `{"query":${JSON.stringify(ECHO)},"variables":{"v":${nested(levels)}}}`
    const form = new FormData()
    form.set('operations', body)
    form.set('map', '{}')
    const url = new URL(endpoint)
    url.searchParams.set('query', ECHO)
    url.searchParams.set('variables', `{"v":${nested(Math.min(levels, 1500))}}`)
    const answers = [
      await fetch(endpoint, { method: 'POST', body, headers: { 'content-type': 'application/json' } }),
      await fetch(endpoint, { method: 'POST', body: form, headers: csrf }),
      await fetch(url, { headers: csrf }),
    ]
    for (const answer of answers) {
      expect(answer.status).toBe(400)
      expect(await answer.json()).toMatchObject({
        errors: [{ extensions: { code: 'DOCUMENT_LIMIT_EXCEEDED' } }],
      })
    }
    expect((await fetch(`${server.url}/health/live`)).ok).toBe(true)
  })

  it('99 levels of a value are echoed', async () => {
    const { endpoint } = await start(preset)
    const body = `{"query":${JSON.stringify(ECHO)},"variables":{"v":${nested(98)}}}`
    const answer = await fetch(endpoint, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    })
    expect(await answer.text()).toBe(`{"data":{"echo":${nested(98)}}}`)
  })
})

it.each([undefined, {}])(
  'more items than allowed are refused in parts too, with uploads %o',
  async (uploads) => {
    const { endpoint } = await start('production', { uploads })
    const send = async (items: number): Promise<Response> => {
      const form = new FormData()
      form.set(
        'operations',
        JSON.stringify({ query: ECHO, variables: { v: Array.from({ length: items }, () => 1) } }),
      )
      form.set('map', '{}')
      return fetch(endpoint, { method: 'POST', body: form, headers: { 'x-graphql-csrf': '1' } })
    }
    expect((await send(49_999)).status).toBe(200)
    const refused = await send(50_000)
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({
      errors: [{ extensions: { code: 'DOCUMENT_LIMIT_EXCEEDED' } }],
    })
  },
)

const MEGABYTE = 1_040_000
/** What a client may fill a megabyte with. */
const LARGE: Readonly<Record<string, string>> = {
  'spaces between members': `{"query":"{ echo }"${' '.repeat(MEGABYTE)}}`,
  'spaces in the document': JSON.stringify({ query: `{ echo ${' '.repeat(MEGABYTE)}}` }),
  'one name': JSON.stringify({ query: `{ ${'a'.repeat(MEGABYTE)} }` }),
  'one alias': JSON.stringify({ query: `{ ${'a'.repeat(MEGABYTE)}: echo }` }),
  'one text for an enum': JSON.stringify({ query: `{ echo(color: "${'a'.repeat(MEGABYTE)}") }` }),
  'one text out of place': JSON.stringify({ query: `{ echo "${'a'.repeat(MEGABYTE)}" }` }),
  'one list as the body': `[${'1,'.repeat(MEGABYTE / 2)}1]`,
  'one list as a variable': `{"query":"query ($v: Color) { echo(color: $v) }","variables":{"v":[${'1,'.repeat(MEGABYTE / 2)}1]}}`,
  'one text as a variable': JSON.stringify({
    query: 'query ($v: Color) { echo(color: $v) }',
    variables: { v: 'a'.repeat(MEGABYTE) },
  }),
  'one parameter': JSON.stringify({ query: '{ echo }', ['a'.repeat(MEGABYTE)]: 1 }),
}

it.each(Object.entries(LARGE))('a megabyte of %s comes back to nobody', async (_what, body) => {
  const { endpoint } = await start('production')
  const answer = await fetch(endpoint, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  })
  expect(answer.status).toBeLessThan(500)
  expect((await answer.text()).length).toBeLessThan(3_000)
})

it('a name of a thousand characters is one', async () => {
  const { endpoint } = await start('production')
  const name = 'a'.repeat(1000)
  const answer = await post(endpoint, { query: `{ ${name}: echo(v: 1) }` })
  expect(await answer.json()).toEqual({ data: { [name]: 1 } })
})

it('deep variables over a WebSocket end the operation and nothing else', async () => {
  const { server } = await start('production')
  const url = `${server.url.replace('http', 'ws')}/graphql/live`
  const socket = await connectRawWebSocket(url, { protocol: 'graphql-transport-ws' })
  socket.sendJson({ type: 'connection_init' })
  await socket.nextJson()
  socket.send(
    `{"id":"1","type":"subscribe","payload":{"query":${JSON.stringify(ECHO)},"variables":{"v":${nested(10_000)}}}}`,
  )
  expect(await socket.nextJson()).toMatchObject({ id: '1', type: expect.stringMatching(/error|next/) })
})
