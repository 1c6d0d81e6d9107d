import { makeExecutableSchema } from '@graphql-tools/schema'
import { survivingShare } from '@vinyasa/test-kit'
import { parse } from 'graphql'
import { expect, it } from 'vitest'
import { createDocumentCache } from '../src/document/document-cache.ts'
import { withIncrementalDirectives } from '../src/document/directives.ts'
import { executeStreaming } from '../src/execution/execute-streaming.ts'
import type { PartStream } from '../src/execution/part-stream.ts'
import { resolveOptions } from '../src/options.ts'
import { createDeferShortWay, type ShortCall } from '../src/short-way.ts'
import { parseMultipartAccept } from '../src/wire/accept.ts'

const options = resolveOptions()
const documents = createDocumentCache()
const document = parse('{ now ... @defer { late } }')
const schema = withIncrementalDirectives(
  makeExecutableSchema({
    typeDefs: 'type Query { now: Boolean late: Boolean }',
    // Reads the information, which is made where it is asked for.
    resolvers: { Query: { now: (_parent, _args, _context, info: object) => 'signal' in info } },
  }),
)
const headers = new Headers({ accept: 'multipart/mixed' })
const short = createDeferShortWay({
  options,
  documents,
  named: parseMultipartAccept,
  jsonTypeOf: () => 'application/json',
  maskError: (error) => error,
  onStream: () => {},
  split: (_call, result) => result,
})
short.learn(document)

/** The context of an operation leads to what it holds. */
const left: Readonly<Record<string, (contextValue: object) => unknown>> = {
  'an execution': (contextValue) =>
    (
      executeStreaming({ schema, document, contextValue }, options, documents.of(document)) as PartStream
    ).return?.(),
  'what the short way has begun': (context) => {
    const request = { headers } as Request
    const call: ShortCall = { operation: { document }, params: {}, request, context }
    const execute = (): unknown => call.executor?.({ schema, document, contextValue: context }) as unknown
    void (short.part.execute(call, execute) as PartStream).return?.()
  },
}

it.each(Object.entries(left))('%s does not outlive a small collection', (_, leave) => {
  expect(survivingShare((much) => leave({ much }))).toBeLessThan(0.3)
})
