import { describe, expect, it } from 'vitest'
import { definitionOf } from '../../apps/gateway/src/config/definition.ts'
import { grpcSource } from '../../apps/gateway/src/sources/grpc/schema.ts'
import { restSource } from '../../apps/gateway/src/sources/rest/schema.ts'

/** What sources of both kinds can be told, by its one word; and the words that would say the same a second time. */
const WORDS: Readonly<Record<string, RegExp>> = {
  liveQuery: /^live(?!Query$)/,
  timeoutMs: /deadline|^(?:requestT|callT|t)imeout$/i,
  forwardHeaders: /^(?:forward(?!Headers$)|propagat|passHeaders|requestHeaders)/,
  retry: /^(?:retries|retrying|retryOptions|retryPolicy)$/,
  maxRetries: /^(?:max|attempts|maxAttempts|retryCount)$/,
  maxResponseItems: /^max(?:Reply|Answer|Result)/,
  entityId: /^(?:id|key|entityId)Field$|^(?:id|entityKey)$/,
  maxBatchSize: /^(?:maxSize|batchSize|size|maxKeys)$/,
}

/** The names of all settings of a schema, at any depth; those of maps are data. */
function namesIn(schema: unknown, seen: Set<string> = new Set()): ReadonlySet<string> {
  const { shape = {}, valueType, element, options = [] } = definitionOf(schema) ?? {}
  for (const inner of [valueType, element, ...options]) if (inner) namesIn(inner, seen)
  for (const [name, member] of Object.entries(shape)) {
    // A schema that refers to itself has the same names each time.
    const isNew = !seen.has(name)
    seen.add(name)
    if (isNew || name !== 'fields') namesIn(member, seen)
  }
  return seen
}

/** The names of the settings at a path; `*` is any member of a map. */
function namesAt(schema: unknown, ...path: readonly string[]): readonly string[] {
  let current = definitionOf(schema)
  for (const part of path) current = definitionOf(part === '*' ? current?.valueType : current?.shape?.[part])
  return Object.keys(current?.shape ?? {})
}

describe.each([
  ['gRPC', namesIn(grpcSource)],
  ['REST', namesIn(restSource)],
])('the settings of a %s source', (_kind, names) => {
  it.each(Object.entries(WORDS))('say %s, and nothing else for it', (word, others) => {
    expect([...names]).toContain(word)
    expect([...names].filter((name) => others.test(name))).toEqual([])
  })
})

it('all that sources of both kinds are told stands in the same place', () => {
  const both = namesAt(grpcSource).filter((name) => namesAt(restSource).includes(name))
  expect(both).toEqual(expect.arrayContaining(['timeoutMs', 'forwardHeaders', 'retry', 'maxResponseItems']))
})

it.each([[['retry']], [['methods', '*', 'retry']]])(
  'the members of gRPC %j are those of REST retry',
  (path) => {
    const names = namesAt(grpcSource, ...path)
    expect(names).toContain('maxRetries')
    expect(namesAt(restSource, 'retry')).toEqual(expect.arrayContaining([...names]))
  },
)
