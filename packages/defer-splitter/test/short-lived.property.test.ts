import { makeExecutableSchema } from '@graphql-tools/schema'
import { survivingShare } from '@vinyasa/test-kit'
import type { Operation } from '@vinyasa/core/pipeline'
import { type OperationDefinitionNode, parse } from 'graphql'
import { expect, it } from 'vitest'
import { createDocumentCache } from '../src/document/document.ts'
import { withIncrementalDirectives } from '../src/document/directives.ts'
import { executeStreaming } from '../src/execution/streaming-run.ts'
import type { PartStream } from '../src/execution/part-stream.ts'
import { resolveOptions } from '../src/options.ts'
import { createDeferBehaviour } from '../src/plugin.ts'
import { Deliveries } from '../src/wire/accept.ts'

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
const { behaviour } = createDeferBehaviour({
  endpoint: () => '/graphql',
  options,
  documents,
  deliveries: new Deliveries(options),
  maskError: (error) => error,
  schema: () => schema,
})
const [definition] = document.definitions as readonly [OperationDefinitionNode]

/** The context of an operation leads to what it holds. */
const left: Readonly<Record<string, (contextValue: object) => unknown>> = {
  'an execution': (contextValue) =>
    (
      executeStreaming({ schema, document, contextValue }, options, documents(document)) as PartStream
    ).return?.(),
  'what the behaviour has begun': (context) => {
    const request = { headers } as Request
    const operation = {
      prepared: { schema, document, definition, operationName: undefined },
      params: { query: '' },
      request,
      context: context as Record<string, unknown>,
      sameBytes: undefined,
      isObserved: false,
      progress: { wasExecuted: false, isFinal: false, isRefused: false },
      executor: undefined,
    }
    const execute = ({ executor }: Operation): unknown =>
      executor?.({ schema, document, contextValue: context }, () => undefined)
    const parts = behaviour.execute?.(operation, execute) as PartStream | undefined
    void parts?.return?.()
  },
}

it.each(Object.entries(left))('%s does not outlive a small collection', (_, leave) => {
  expect(survivingShare((much) => leave({ much }))).toBeLessThan(0.3)
})
