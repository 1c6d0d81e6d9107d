import { deepStrictEqual } from 'node:assert'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { ServiceDefinition } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { createGrpcSource, useGrpcSource } from '@vinyasa/grpc-source'
import { parse, type ExecutionResult } from 'graphql'
import { createYoga, type Plugin } from 'graphql-yoga'
import { fields, products } from './contenders/catalog.ts'
import { spreadOf, writeSection } from './src/index.ts'

// From a reply's bytes to the answer's, in one process and without sockets: what plans take the place of.
const { values } = parseArgs({
  options: {
    rounds: { type: 'string' },
    smoke: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})
const rounds = Number(values.rounds ?? (values.smoke ? 3 : 9))
/** Items that one measurement works through, whatever the size of a reply. */
const itemsARound = values.smoke ? 20_000 : 50_000
const SIZES = [10, 100, 1_000, 10_000]
const TOLERANCE = 0.25

const protoFile = fileURLToPath(new URL('contenders/catalog.proto', import.meta.url))
const service = loadSync(protoFile)['bench.v1.CatalogService'] as ServiceDefinition
const replies = new Map(
  SIZES.map((size) => [size, service['ListProducts']!.responseSerialize({ items: products(size) })]),
)
let reply: Buffer = Buffer.alloc(0)

async function createExecutor(plans: boolean): Promise<(query: string) => Promise<Buffer>> {
  const source = await createGrpcSource({
    name: 'catalog',
    protoFiles: [protoFile],
    endpoint: 'localhost:1',
    plans,
    methods: { 'bench.v1.CatalogService.ListProducts': { schema: { type: 'QUERY', name: 'products' } } },
    transport: () => ({
      unary: () => Promise.resolve(reply),
      stream() {
        throw new Error('nothing streams here')
      },
      close() {},
    }),
  })
  const yoga = createYoga({ plugins: [useGrpcSource(source) as Plugin], logging: false })
  const documents = new Map<string, ReturnType<typeof parse>>()
  return async (query) => {
    const document = documents.get(query) ?? parse(query)
    documents.set(query, document)
    const { schema, execute, contextFactory } = yoga.getEnveloped({})
    const result = (await execute({
      schema,
      document,
      contextValue: await contextFactory(),
    })) as ExecutionResult & {
      stringify?: (result: unknown) => unknown
    }
    return Buffer.from((result.stringify ?? JSON.stringify)(result) as string)
  }
}

const executors = { plan: await createExecutor(true), ordinary: await createExecutor(false) }
const queries = {
  '10 fields': `{ products { items { ${fields} } } }`,
  '3 fields': '{ products { items { id price stock } } }',
}

async function microsAnItem(
  execute: (query: string) => Promise<Buffer>,
  query: string,
  size: number,
): Promise<number> {
  reply = replies.get(size) as Buffer
  const times = itemsARound / size
  const before = process.cpuUsage()
  for (let time = 0; time < times; time++) await execute(query)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / itemsARound
}

async function measureAll(query: string, samples: ReadonlyMap<string, number[]>): Promise<void> {
  for (const size of SIZES) {
    for (const [way, execute] of Object.entries(executors))
      samples.get(`${way} ${size}`)?.push(await microsAnItem(execute, query, size))
  }
}

console.log(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}`)
let missed = 0
const lines: string[] = []
for (const [name, query] of Object.entries(queries)) {
  const samples = new Map<string, number[]>()
  for (const size of SIZES) {
    reply = replies.get(size) as Buffer
    deepStrictEqual(await executors.plan(query), await executors.ordinary(query))
    for (const [way, execute] of Object.entries(executors)) {
      samples.set(`${way} ${size}`, [])
      // Warms up.
      await microsAnItem(execute, query, size)
    }
  }
  for (let round = 0; round < rounds; round++) await measureAll(query, samples)
  const median = (way: string, size: number): number => spreadOf(samples.get(`${way} ${size}`) ?? []).median
  lines.push(
    `| ${name} | ${SIZES.join(' | ')} |`,
    '| --- | --- | --- | --- | --- |',
    ...['ordinary', 'plan'].map(
      (way) =>
        `| ${way}, CPU µs an item | ${SIZES.map((size) => median(way, size).toFixed(2)).join(' | ')} |`,
    ),
    `| plan × ordinary | ${SIZES.map((size) => (median('plan', size) / median('ordinary', size)).toFixed(2)).join(' | ')} |`,
  )
  // What a request costs whatever it brings is not the items': it is told apart by the smallest size. The least of the
  // rounds is the one that others on the machine disturbed least.
  const [smallest = 0, ...larger] = SIZES.map(
    (size) => spreadOf(samples.get(`plan ${size}`) ?? []).min * size,
  )
  const slopes = larger.map(
    (micros, index) => (micros - smallest) / ((SIZES[index + 1] ?? 0) - (SIZES[0] ?? 0)),
  )
  const middle = spreadOf(slopes).median
  const isLinear = slopes.every((slope) => Math.abs(slope / middle - 1) <= TOLERANCE)
  if (!isLinear) missed++
  lines.push(
    '',
    `Items beyond the first ten cost ${slopes.map((slope) => slope.toFixed(2)).join(', ')} µs each at ${SIZES.slice(1).join(', ')}: ${isLinear ? 'within' : '**not within**'} ±25 %.`,
    '',
  )
}
console.log(lines.join('\n'))
if (values.write) {
  await writeSection(
    new URL('RESULTS.md', import.meta.url),
    'plans',
    `## Plans: from a reply's bytes to the answer's\n\n${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}. \`pnpm bench:plans --write\`, medians of ${rounds} rounds, no sockets.\n\n${lines.join('\n')}`,
  )
}
if (!values.smoke && missed > 0) process.exitCode = 1
