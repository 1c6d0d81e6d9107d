import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it, onTestFinished } from 'vitest'
import type { GatewayConfig } from '../src/config/types.ts'
import type { Gateway } from '../src/gateway.ts'
import { fetchFrom, openGateway } from './support/gateway.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const BYTES = 8 * 1024 * 1024
const FIELDS = ['id', 'name', 'brand', 'price', 'stock']
const ANSWER = JSON.stringify({ id: '7', name: 'x', brand: 'y', price: 1, stock: 2 })

/** The gateway keeps nothing but documents. */
async function config(): Promise<GatewayConfig> {
  const backend = createServer((_, response) =>
    response.setHeader('content-type', 'application/json').end(ANSWER),
  ).listen(0, '127.0.0.1')
  await new Promise((resolve) => backend.once('listening', resolve))
  onTestFinished(() => void backend.close())
  const fields = { id: 'id!', name: 'string', brand: 'string', price: 'int', stock: 'int' }
  return {
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
            responseSchema: { typeName: 'Item', fields },
          },
        ],
      },
    },
    responseCache: { maxBytes: 0 },
    cost: { max: 1_000_000 },
  } as GatewayConfig
}

const aliased = (n: number): string => FIELDS.map((name) => `${name}_${n}: ${name}`).join(' ')
const ten = Array.from({ length: 10 }, (_, at) => `i${at}: item(id: "${at}") {\n  ${FIELDS.join('\n  ')}\n}`)

/** Documents, and how many of them are more than the room holds. */
const kinds: readonly (readonly [string, number, (n: number) => string])[] = [
  ['one field', 1_200, (n) => `{ a${n}: __typename }`],
  [
    'an object whose fields have aliases',
    700,
    (n) => `query ($id: ID = 7) { item(id: $id) { ${aliased(n)} } }`,
  ],
  ['ten objects', 200, (n) => `query Q${n} { ${ten.join('\n')} }`],
  ['mostly comment', 500, (n) => `{ a${n}: __typename } # ${'x'.repeat(5_000)}`],
  ['fields that are not there', 1_200, (n) => `{ item(id: 7) { no_such_${n} } }`],
  ['no document', 2_500, (n) => `{ item(id: 7) { ${n} } }`],
]

it.each(kinds)(
  '%s: documents take the bytes that they may, or somewhat less',
  async (_, count, make) => {
    let number = 0
    const send = async (gateway: Gateway, count: number): Promise<void> => {
      for (const last = number + count; number < last; number++)
        await (await fetchFrom(gateway, make(number))).text()
    }
    const given = await config()
    // What runs often takes memory too, once.
    await send(await openGateway({ ...given, graphql: { documentCacheMaxBytes: 0 } }), 300)
    const gateway = await openGateway({ ...given, graphql: { documentCacheMaxBytes: BYTES } })
    await send(gateway, 1)
    collect()
    const before = process.memoryUsage().heapUsed
    await send(gateway, count)
    collect()
    const share = (process.memoryUsage().heapUsed - before) / BYTES
    expect(share).toBeLessThan(1.25)
    expect(share).toBeGreaterThan(0.4)
  },
  60_000,
)
