import { connectRawWebSocket } from '@vinyasa/test-kit'
import { expect, it, onTestFinished } from 'vitest'
import { createLogger } from '../src/logging/logger.ts'
import { startGateway } from './support/gateway.ts'

const CONDITIONS = [
  '@skip(if: true)',
  '@include(if: false)',
  '@skip(if: $yes)',
  '@include(if: $no)',
  '@skip(if: $default)',
]

/** The same field at the root, left out in every place where a condition can stand. */
const SHAPES: readonly ((field: string, condition: string, on: string) => string)[] = [
  (field, condition) => `{ ${field.replace('{', `${condition} {`)} }`,
  (field, condition, on) => `{ ... on ${on} ${condition} { ${field} } }`,
  (field, condition) => `{ ... ${condition} { ${field} } }`,
  (field, condition, on) => `{ ...F ${condition} } fragment F on ${on} { ${field} }`,
  (field, condition, on) =>
    `{ ...F } fragment F on ${on} { ...G ${condition} } fragment G on ${on} { ${field} }`,
  (field, condition) =>
    `{ a: ${field.replace('{', `${condition} {`)} a: ${field.replace('{', `${condition} {`)} }`,
  (_field, condition) => `{ __typename ${condition} }`,
  (field, condition) => `{ ${field.replace('id', `id ${condition}`)} }`,
]

const ROOTS = [
  ['query', 'Query'],
  ['query Live', 'Query', '@live'],
  ['mutation', 'Mutation'],
  ['subscription', 'Subscription'],
] as const

function* documents(): Generator<string> {
  for (const [kind, on, live = ''] of ROOTS)
    for (const shape of SHAPES)
      for (const condition of CONDITIONS) {
        const name = kind.includes(' ') ? kind : `${kind} Op`
        const variables = condition.includes('$default')
          ? '($default: Boolean! = true)'
          : condition.includes('$yes')
            ? '($yes: Boolean!)'
            : condition.includes('$no')
              ? '($no: Boolean)'
              : ''
        yield `${name}${variables} ${live} ${shape('item { id }', condition, on)}`
      }
}

/** Others that reach what executes, or what subscribes, in an odd form. */
const OTHERS = [
  'fragment F on Query { __typename }',
  'query A { __typename } query B { __typename }',
  'subscription A { item { id } } subscription B { item { id } }',
  'subscription { __typename }',
  'subscription { __schema { types { name } } }',
  'subscription { ...F } fragment F on Subscription { ...F }',
  'subscription($no: Boolean!) { item @include(if: $no) { id } other: item @skip(if: $no) { id } }',
  'subscription($no: Boolean!) { ...F @include(if: $no) ...G } fragment F on Subscription { item { id } } fragment G on Subscription { a: item @include(if: $no) { id } }',
  'subscription { ... @defer { item { id } } }',
  'subscription { ... @defer(if: false) { item @skip(if: true) { id } } }',
  'subscription @live { item { id } }',
  'mutation @live { item { id } }',
  'query @live(if: false) { item { id } }',
  'query @live { ... @defer { item { id } } }',
  'subscription { nope }',
  'subscription { item }',
  'subscription { item @skip { id } }',
  'subscription { item @skip(if: null) { id } }',
  'subscription { item @skip(if: $none) { id } }',
  'subscription($bad: Nope) { item @skip(if: $bad) { id } }',
  'subscription($yes: Boolean!) @skip(if: $yes) { item { id } }',
]

it('no document whose fields are left out is an error of the server, over HTTP, a stream and a socket', async () => {
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  const logger = await createLogger({ level: 'error', destination })
  const item = () => ({ id: 1 })
  const { endpoint } = await startGateway(
    {
      typeDefs:
        'type Item { id: ID } type Query { item: Item } type Mutation { item: Item } type Subscription { item: Item }',
      resolvers: {
        Query: { item },
        Mutation: { item },
        Subscription: {
          item: {
            async *subscribe() {
              yield { item: item() }
            },
          },
        },
      },
      liveQuery: { fields: { item: { enabled: true } } },
    },
    { logger },
  )
  const socket = await connectRawWebSocket(endpoint)
  onTestFinished(() => socket[Symbol.asyncDispose]())
  socket.sendJson({ type: 'connection_init' })
  await socket.nextJson()
  const variables = { yes: true, no: false }
  const wrong: unknown[] = []
  let sent = 0
  for (const query of [...documents(), ...OTHERS]) {
    for (const accept of ['application/json', 'text/event-stream', 'multipart/mixed', '*/*']) {
      const controller = new AbortController()
      const response = await fetch(endpoint, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept },
        body: JSON.stringify({ query, variables }),
        signal: controller.signal,
      })
      if (response.status >= 500)
        wrong.push([query, accept, response.status, (await response.text()).slice(0, 200)])
      controller.abort()
    }
    const id = `op-${sent++}`
    socket.sendJson({ id, type: 'subscribe', payload: { query, variables } })
    let message: { readonly id?: string } = {}
    while (message.id !== id) message = (await socket.nextJson()) as typeof message
    if (JSON.stringify(message).includes('Unexpected')) wrong.push([query, 'socket', message])
    socket.sendJson({ id, type: 'complete' })
  }
  expect(wrong.slice(0, 5)).toEqual([])
  expect(lines.slice(0, 5)).toEqual([])
  expect(sent).toBe(160 + OTHERS.length)
})
