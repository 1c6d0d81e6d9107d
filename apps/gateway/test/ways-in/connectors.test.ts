import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startRestBackend, type RestHandler } from '@vinyasa/test-kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { emptyFolder } from '../support/folder.ts'
import { post } from '../support/gateway.ts'

const order = (id: string) => ({
  id,
  amounts: { total: 12.5, currency: 'EUR' },
  status: 'OPEN',
  placed_at: '2029-01-01',
  customer_id: 'c7',
  items: [{ sku: 's1', qty: 2, unit: { price: 6.25 } }],
  shipping: { address: { city: 'Bonn' } },
  parcels: [{ code: 'P1' }, { code: 'P2' }],
})

const orders: RestHandler = ({ method, url, json }) => {
  const path = url.pathname.replace('/v1', '')
  const id = path.split('/')[2] ?? ''
  if (path === '/orders/stats') return { json: { data: { count: 42 } } }
  if (path.endsWith('/notes')) return { json: { notes: [`about ${id}`] } }
  if (path === '/labels' && method === 'POST') return { json: { name: `${json().name} ${json().hue}` } }
  if (path === '/labels') return { json: [{ name: 'urgent', hue: 'r' }] }
  if (method === 'POST') return { json: { ...order('o9'), customer_id: json().customerId } }
  if (method === 'PATCH') return { json: { id, status: json().status, note: json().meta.note } }
  return { json: id === '' ? { results: [order('o1'), order('o2')] } : order(id) }
}

const people: RestHandler = ({ url }) => ({
  json: {
    person_id: url.pathname.split('/')[2],
    full_name: 'Ann Lee',
    address: { 'street-name': 'Hill 1', city: 'Bonn' },
  },
})

/** The operations of the subgraph's clients, as they were. */
const OPERATIONS = {
  list: '{ orders(status: OPEN) { id total currency status placedAt city tracking charge { amount { value currency } due } lines { sku quantity price product { sku } } customer { id name address { street } } } }',
  one: '{ order(id: "o5") { id total currency notes customer { name orders(first: 2) { id } } } }',
  customer: '{ customer(id: "c1") { id name address { street city } } }',
  count: '{ orderCount }',
  byIds: '{ byIds(ids: ["o1", "o2"]) { id status } }',
  labels: '{ labels { name } }',
  weather: '{ weather(city: "Bonn") { degrees text } }',
  place:
    'mutation { placeOrder(input: { customerId: "c3", lines: [{ sku: "s1" }] }) { id status customer { id name } } }',
  status: 'mutation { setStatus(id: "o1", status: SENT, note: "soon") { id status } }',
  import: 'mutation { import(order: { customer: "c4", sum: 3.5 }) { id status } }',
  label: 'mutation { addLabel(name: "late", color: "blue") { name } }',
  color: '{ labels { color } }',
  secret: '{ secret }',
}

describe('init --from a subgraph of Apollo connectors', () => {
  it('writes a config that serves the operations of its clients, and says line by line what it cannot', async () => {
    const backends = await Promise.all(
      [orders, people, () => ({ json: { main: { temp: 3.5 }, list: [{ text: 'clear' }] } })].map((one) =>
        startRestBackend(one),
      ),
    )
    for (const one of backends) onTestFinished(() => one.stop())
    const folder = await emptyFolder()
    folder.environment['API_KEY'] = 'k2'
    const old = await readFile(new URL('old/orders.graphql', import.meta.url), 'utf8')
    const here = backends.reduce(
      (text, { port }, index) => text.replaceAll(`localhost:320${index}`, `localhost:${port}`),
      old,
    )
    await writeFile(join(folder.directory, 'orders.graphql'), here)
    expect([await folder.command('init', '--from', 'orders.graphql'), folder.err]).toEqual([0, []])
    expect(folder.out.filter((line) => /^(skipped|clients|breaking|dangerous|wrong)/.test(line)))
      .toMatchInlineSnapshot(`
        [
          "skipped  orders.graphql:5: @source(name: "orders"): header x-caller: the client header user-agent can only be forwarded under its own name; set x-caller in an interceptor in a TypeScript config",
          "skipped  orders.graphql:80: Label.color: selection: "->match(['r','red'],['g','green'])" has no equivalent; write a resolver in a TypeScript config",
          "skipped  orders.graphql:96: Query.secret: {$context.user} has no equivalent; write a resolver in a TypeScript config",
          "skipped  orders.graphql:129: Order: @key is not converted, because clients query this gateway directly; set federation to remain a subgraph of a router",
          "skipped  orders.graphql:210: LineInput.quantity: default values of input fields are not supported; clients that rely on the default must send the value",
          "clients  2 breaking, 1 dangerous",
          "breaking Field 'color' was removed from object type 'Label'",
          "breaking Field 'secret' was removed from object type 'Query'",
          "dangerous Input field 'LineInput.quantity' default value changed from '1' to 'undefined'",
        ]
      `)
    const config = await readFile(join(folder.directory, 'gateway.config.yaml'), 'utf8')
    await expect(config.replaceAll(/localhost([:_])\d+/g, 'localhost$11')).toMatchFileSnapshot(
      'written/orders.config.yaml.snap',
    )
    expect(await folder.command('check', '--against', 'orders.graphql')).toBe(1)
    const endpoint = await folder.start()
    const answers: Record<string, any> = {}
    for (const [name, query] of Object.entries(OPERATIONS))
      answers[name] = await (await post(endpoint, { query }, { authorization: 'Bearer me' })).json()
    await expect(JSON.stringify(answers, null, 2)).toMatchFileSnapshot('written/orders.answers.json.snap')
    // Those whose fields were named above.
    expect(Object.keys(answers).filter((name) => answers[name].errors)).toEqual(['color', 'secret'])
    const [first] = backends
    expect(first?.requests.map(({ method, rawUrl }) => `${method} ${rawUrl}`)).toMatchInlineSnapshot(`
      [
        "HEAD /v1",
        "GET /v1/orders?status=OPEN&limit=10",
        "GET /v1/orders/o5",
        "GET /v1/orders?customer=c7&first=2",
        "GET /v1/orders/o5/notes",
        "GET /v1/orders/stats",
        "GET /v1/orders?ids=o1,o2",
        "GET /v1/labels",
        "POST /v1/orders",
        "PATCH /v1/orders/o1",
        "POST /v1/orders",
        "POST /v1/labels",
      ]
    `)
    expect(first?.requests.find(({ body }) => body.includes('c4'))?.json()).toEqual({
      customerId: 'c4',
      total: 3.5,
    })
    expect(first?.requests.at(-1)?.headers).toMatchObject({ authorization: 'Bearer me', 'x-api-key': 'k2' })
    expect(backends[1]?.requests.at(-1)?.headers).not.toHaveProperty('authorization')
  }, 120_000)
})
