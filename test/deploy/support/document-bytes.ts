// A process in which nothing else takes memory prints, for each kind of text by name, what share of its bytes a room of
// documents takes once more of them have come than it holds.
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import type * as gatewayPackage from '../../../apps/gateway/src/index.ts'

type Gateway = gatewayPackage.Gateway
const gatewayFolder = new URL('../../../apps/gateway/', import.meta.url)
const built = new URL('dist/index.js', gatewayFolder).href
const { createGateway } = (await import(built)) as typeof gatewayPackage
const pino = createRequire(new URL('package.json', gatewayFolder))('pino')
const logger = pino({ level: 'silent' })

const { gc } = globalThis
if (!gc) throw new Error('node takes --expose-gc')

/** What weak references have held until the end of a turn is collected too. */
async function heapUsed(): Promise<number> {
  for (let round = 0; round < 2; round++) {
    await new Promise((resolve) => setImmediate(resolve))
    gc?.()
  }
  return process.memoryUsage().heapUsed
}

const BYTES = 4 * 1024 * 1024
const FIELDS = ['id', 'name', 'brand', 'price', 'stock']
const ANSWER = JSON.stringify({ id: '7', name: 'x', brand: 'y', price: 1, stock: 2 })

const aliased = (n: number): string => FIELDS.map((name) => `${name}_${n}: ${name}`).join(' ')
const ten = Array.from({ length: 10 }, (_, at) => `i${at}: item(id: "${at}") {\n  ${FIELDS.join('\n  ')}\n}`)

/** Texts, and how many of them are more than the room holds. */
const KINDS: Readonly<Record<string, readonly [number, (n: number) => string]>> = {
  'one field': [600, (n) => `{ a${n}: __typename }`],
  'an object whose fields have aliases': [
    350,
    (n) => `query ($id: ID = 7) { item(id: $id) { ${aliased(n)} } }`,
  ],
  'ten objects': [100, (n) => `query Q${n} { ${ten.join('\n')} }`],
  'mostly comment': [250, (n) => `{ a${n}: __typename } # ${'x'.repeat(5_000)}`],
  'fields that are not there': [600, (n) => `{ item(id: 7) { no_such_${n} } }`],
  'no document': [1_250, (n) => `{ item(id: 7) { ${n} } }`],
}

const backend = createServer((_, response) =>
  response.setHeader('content-type', 'application/json').end(ANSWER),
).listen(0, '127.0.0.1')
await new Promise((resolve) => backend.once('listening', resolve))

/** The gateway keeps nothing but documents. */
const config: gatewayPackage.GatewayConfig = {
  rest: {
    items: {
      baseUrl: `http://127.0.0.1:${(backend.address() as AddressInfo).port}`,
      cacheSize: 0,
      healthPath: false,
      endpoints: [
        {
          name: 'item',
          path: '/{id}',
          args: { id: 'ID!' },
          responseSchema: {
            typeName: 'Item',
            fields: { id: 'id!', name: 'string', brand: 'string', price: 'int', stock: 'int' },
          },
        },
      ],
    },
  },
  responseCache: { maxBytes: 0 },
  cost: { max: 1_000_000 },
}
const open = (documentCacheMaxBytes: number): Promise<Gateway> =>
  createGateway({ ...config, graphql: { documentCacheMaxBytes } }, { baseDirectory: '/', logger })

let number = 0

async function send(gateway: Gateway, count: number, make: (n: number) => string): Promise<void> {
  for (const last = number + count; number < last; number++) {
    const body = JSON.stringify({ query: make(number) })
    const headers = { 'content-type': 'application/json' }
    const response = await gateway.fetch(
      new Request('http://gateway/graphql', { method: 'POST', headers, body }),
    )
    await response.text()
  }
}

const shares: Record<string, number> = {}
for (const [name, [count, make]] of Object.entries(KINDS)) {
  // What runs often takes memory too, once.
  const warm = await open(0)
  await send(warm, 300, make)
  const gateway = await open(BYTES)
  await send(gateway, 1, make)
  const before = await heapUsed()
  await send(gateway, count, make)
  shares[name] = ((await heapUsed()) - before) / BYTES
  await Promise.all([warm.close(), gateway.close()])
}
backend.close()
process.stdout.write(JSON.stringify(shares))
