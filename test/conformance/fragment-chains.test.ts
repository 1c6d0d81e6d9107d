import { type DeferSplitterOptions, useDeferSplitter } from '@vinyasa/defer-splitter'
import { createGrpcSource, useGrpcSource } from '@vinyasa/grpc-source'
import { createDependencies, describeOperationVariesBy } from '@vinyasa/invalidation'
import { useLiveQuery } from '@vinyasa/live-query'
import { useResponseCache } from '@vinyasa/response-cache'
import { createRestConnector, useRestConnector } from '@vinyasa/rest-connector'
import { createDisposables, startRestBackend } from '@vinyasa/test-kit'
import { buildSchema, type DocumentNode, getOperationAST, type NameNode, parse, visit } from 'graphql'
import { createYoga, type Plugin } from 'graphql-yoga'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compileCost } from '../../apps/gateway/src/cost/compile-cost.ts'
import { createCostModel } from '../../apps/gateway/src/cost/cost-model.ts'
import { measureOperation } from '../../apps/gateway/src/limits/measure-operation.ts'
import { countFields } from '../../apps/gateway/src/rate-limit/count-fields.ts'
import { createEntityFinder } from '../../packages/live-query/src/triggers/identifiers.ts'
import { profileDocument } from '../../packages/response-cache/src/document/document-profile.ts'

// A document of a kilobyte can select millions of fields: each fragment selects two fields with the next fragment below.
// Whatever is worked out of a document reads its names so often as is fit for its text, or gives up.

/** Names that are read of one document, at most. */
const MOST = 100_000
const LINKS = 24

/** The document, counting how often its names are read. Far beyond the bound reading fails, so that a test ends. */
function counted(document: DocumentNode, reads: { count: number }): DocumentNode {
  visit(document, {
    Name(node: NameNode) {
      const { value } = node
      Object.defineProperty(node, 'value', {
        enumerable: true,
        get() {
          if (++reads.count > 3 * MOST) throw new Error('The document is read without end')
          return value
        },
      })
    },
  })
  return document
}

interface Shape {
  readonly on: string
  /** What a link selects; `next`: spreads the next one. */
  readonly link: (next: (directive?: string) => string, layer: number) => string
}

const two =
  (one: string, other: string, directive = '') =>
  (next: Shape['link'] extends (next: infer Next, layer: number) => string ? Next : never): string =>
    `${one} { ${next(directive)} } ${other} { ${next(directive)} }`

const SHAPES: Readonly<Record<string, Shape>> = {
  'two fields': { on: 'Node', link: two('left', 'right') },
  'two names of a field': { on: 'Node', link: two('a: left', 'b: left') },
  'two deferred': { on: 'Node', link: (next) => `id ${two('left', 'right', '@defer')(next)}` },
  'two deferred, unless': { on: 'Node', link: two('left', 'right', '@defer(if: false)') },
  'deferred in deferred': { on: 'Node', link: (next) => `id ${next('@defer')} left { ${next()} }` },
  'objects with many fields': {
    on: 'Node',
    link: (next) =>
      `${Array.from({ length: 50 }, (_, at) => `i${at}: id`).join(' ')} ${two('left', 'right')(next)}`,
  },
  'fields that merge': {
    on: 'Node',
    link: (next, layer) => `left { ${next()} } right { ${next()} } left { ...G${layer} }`,
  },
  'objects of REST': { on: 'Thing', link: two('left', 'right') },
  'joins of both': { on: 'Node', link: (next) => `thing { ${two('node', 'other: node')(next)} }` },
}

const MASKED = Array.from({ length: 16 }, (_, at) => `m${at}: masked(id: "1") { ...F1 }`).join(' ')
const FIELDS: Readonly<Record<string, string>> = {
  Node: 'node(id: "1") { ...F1 }',
  Thing: 'thing { ...F1 }',
}

function chain({ on, link }: Shape, links: number, field = FIELDS[on], directive = ''): string {
  const fragments: string[] = []
  for (let layer = 1; layer <= links; layer++) {
    const next = (given = ''): string => (layer === links ? 'id' : `...F${layer + 1} ${given}`)
    fragments.push(`fragment F${layer} on ${on} { ${link(next, layer)} }`)
  }
  // What merges with the layers, and is another path through them for each of these.
  const text = fragments.join('\n')
  const others = [...text.matchAll(/\.\.\.G(\d+)/g)].map(([, layer]) => {
    const below = Number(layer) + 1
    return `fragment G${layer} on ${on} { a${layer}: id ${below <= links ? `left { ...G${below} } right { ...G${below} }` : ''} }`
  })
  return `query Q ${directive} { ${field} }\n${text}\n${others.join('\n')}`
}

const PROTO = `syntax = "proto3"; package p; import "google/protobuf/field_mask.proto";
service Nodes { rpc GetNode(Id) returns (Node); rpc Masked(Mask) returns (Node); rpc Batch(Ids) returns (NodeList); rpc Change(Id) returns (Node); }
message Id { string id = 1; }
message Ids { repeated string ids = 1; }
message Mask { string id = 1; google.protobuf.FieldMask read_mask = 2; }
message Node { string id = 1; Node left = 2; Node right = 3; }
message NodeList { repeated Node nodes = 1; }`

const cleanup = createDisposables(afterAll)
let sources: readonly object[] = []

beforeAll(async () => {
  const rest = cleanup.use(
    await startRestBackend(({ url }) => ({ json: url.pathname === '/thing' ? { id: '1' } : [] })),
  )
  const transport = () => ({
    unary: async ({ path }: { readonly path: string }) =>
      Buffer.from(path.endsWith('Batch') ? [10, 3, 10, 1, 49] : [10, 1, 49]),
    stream: () => expect.unreachable('nothing streams'),
    close() {},
  })
  const grpc = cleanup.use(
    await createGrpcSource({
      name: 'nodes',
      protoText: { 'nodes.proto': PROTO },
      endpoint: 'localhost:1',
      transport,
      expose: 'all',
      fieldMasks: true,
      methods: {
        'p.Nodes.GetNode': { schema: { name: 'node', type: 'QUERY' } },
        'p.Nodes.Masked': { schema: { name: 'masked', type: 'QUERY' } },
        'p.Nodes.Change': { schema: { name: 'change', type: 'MUTATION' } },
      },
      joins: [
        {
          type: 'Thing',
          field: 'node',
          batch: { method: 'p.Nodes.Batch', keys: 'ids', items: 'nodes', parentKey: 'id' },
        },
      ],
      logger: { warn() {}, error() {} },
    }),
  )
  const shop = cleanup.use(
    createRestConnector('shop', {
      baseUrl: rest.url,
      endpoints: [
        {
          name: 'thing',
          path: '/thing',
          returnType: 'Thing',
          responseSchema: { typeName: 'Thing', fields: { id: 'id!', left: 'Thing', right: 'Thing' } },
        },
        {
          name: 'things',
          path: '/things',
          args: { ids: '[ID!]!' },
          queryParams: { ids: '{ids}' },
          returnType: '[Thing]',
          rootField: false,
          on: { type: 'Node', field: 'thing', args: { ids: '{id}' }, batch: { key: 'id' } },
        },
      ],
    }),
  )
  sources = [useGrpcSource(grpc), useRestConnector(shop)]
})

/** Names that are read from the end of validation until the answer is there. */
async function readsOf(
  query: string,
  plugins: readonly object[],
  accept = 'application/json',
): Promise<number> {
  const reads = { count: 0 }
  const counting: Plugin = {
    onParse:
      () =>
      ({ result, replaceParseResult }) => {
        if (result && !(result instanceof Error)) replaceParseResult(counted(result, reads))
      },
    onValidate: () => () => void (reads.count = 0),
  }
  const yoga = createYoga({
    logging: false,
    maskedErrors: false,
    plugins: [...plugins, ...sources, counting] as Plugin[],
  })
  const response = await yoga.fetch('http://yoga/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept },
    body: JSON.stringify({ query }),
  })
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true })
    if (accept === 'text/event-stream' && text.includes('"data"')) break
  }
  expect(text).toContain('"data"')
  expect(text).not.toContain('"errors"')
  return reads.count
}

/** It refuses nothing, so that all is seen. */
const defers = (strategy?: DeferSplitterOptions['strategy']): object =>
  useDeferSplitter({ maxDeferredFragments: 1e9, strategy })

describe.each(Object.entries(SHAPES))('a chain of fragments, %s', (name, shape) => {
  const ways: Readonly<Record<string, () => Promise<number>>> = {
    'is planned, or executed': () => readsOf(chain(shape, LINKS), [defers()]),
    'is cached by entity': () =>
      readsOf(chain(shape, LINKS), [useResponseCache({ strategy: 'entities' }), defers()]),
    'is asked for with masks': () => readsOf(chain(shape, LINKS, MASKED), [defers()]),
    'changes entities of a cache': () =>
      readsOf(chain(shape, LINKS, 'change(id: "1") { ...F1 }').replace('query', 'mutation'), [
        useResponseCache({ strategy: 'entities' }),
        defers(),
      ]),
    'is live': () =>
      readsOf(
        chain(shape, LINKS, undefined, '@live').replaceAll(/@defer(\(.*?\))?/g, ''),
        [useLiveQuery({ defaults: { enabled: true } })],
        'text/event-stream',
      ),
    'is deferred': () =>
      readsOf(
        chain(shape, LINKS),
        [defers('streaming')],
        'multipart/mixed;deferSpec=20220824, application/json',
      ),
    'is split': () =>
      readsOf(chain(shape, LINKS), [defers('eager')], 'multipart/mixed;deferSpec=20220824, application/json'),
  }
  const isOfNodes = shape.on === 'Node'
  const mine = Object.entries(ways).filter(
    ([way]) =>
      (isOfNodes || !/mask|changes/.test(way)) && (!/deferred|split/.test(way) || name.includes('deferred')),
  )
  it.each(mine)('%s within bounds', async (_way, reads) => {
    expect(await reads()).toBeLessThan(MOST)
  })
})

const schema = buildSchema(`
  type Query { node(id: ID): Node thing: Thing }
  type Mutation { node(id: ID): Node thing: Thing }
  type Node { id: ID left: Node right: Node thing: Thing }
  type Thing { id: ID left: Thing right: Thing node: Node }
`)

const WALKS: Readonly<Record<string, (document: DocumentNode) => unknown>> = {
  'depth of limits': (document) => measureOperation(document, { maxDepth: 1_000 }),
  'the cost of types': (document) => compileCost(schema, document, 'Q', createCostModel({})),
  'fields of a rate limit': (document) => countFields(schema, document, 'Q', new Set(['Node.left'])),
  'who asks': (document) => describeOperationVariesBy(schema, document),
  'dependencies of an operation': (document) => createDependencies(schema).ofOperation(document),
  'the profile of a cache': (document) => profileDocument(schema, document, 'Q', { idFields: ['id'] }),
  'entities of an answer': (document) =>
    profileDocument(schema, document, 'Q', { idFields: ['id'] })?.entities.tagsOf({ node: { id: '1' } }, {}),
  'entities of a change': (document) =>
    profileDocument(schema, document, 'Q', { idFields: ['id'] })?.changedIn({ node: { id: '1' } }),
  'entities of a live query': (document) =>
    createEntityFinder(schema, document, getOperationAST(document)!, createDependencies(schema)).entitiesIn({
      node: { id: '1' },
    }),
}

describe.each(Object.entries(WALKS))('%s', (_walk, walk) => {
  it.each(Object.entries(SHAPES))('reads a chain, %s, within bounds', (_name, shape) => {
    const reads = { count: 0 }
    const document = counted(parse(chain(shape, LINKS), { noLocation: true }), reads)
    walk(document)
    expect(reads.count).toBeLessThan(MOST)
  })
})
