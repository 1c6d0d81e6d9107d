import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { waitUntil, temporaryFolder } from '@vinyasa/test-kit'
import { expect, it, onTestFinished } from 'vitest'
import { run } from '../src/cli.ts'
import type { GatewayConfig } from '../src/config/types.ts'
import { openGateway } from './support/gateway.ts'

type Shop = NonNullable<GatewayConfig['rest']>[string]

const shop = (types: Shop['types'], endpoint: object = {}): Pick<GatewayConfig, 'rest'> => ({
  rest: {
    shop: {
      baseUrl: 'http://127.0.0.1:1',
      healthPath: false,
      types,
      endpoints: [{ name: 'thing', path: '/thing', returnType: 'Thing', ...endpoint } as never],
    },
  },
})

const own = (typeDefs: string): Pick<GatewayConfig, 'typeDefs'> => ({ typeDefs })
const name = { type: 'String' }

const INVALID: readonly (readonly [string, Pick<GatewayConfig, 'rest' | 'typeDefs'>, RegExp])[] = [
  [
    'an input type as the type of a field, in types of a REST source',
    shop({
      Thing: { kind: 'object', fields: { name, filter: { type: 'Filter' } } },
      Filter: { kind: 'input', fields: { name } },
    }),
    /^rest\.shop\.types\.Thing\.fields\.filter: .*Thing\.filter must be Output Type/,
  ],
  [
    'an input type as the type of an endpoint',
    shop({ Thing: { kind: 'input', fields: { name } } }),
    /^rest\.shop\.endpoints\[0\]: .*Query\.thing must be Output Type|^rest\.shop/,
  ],
  [
    'an object type as the type of an argument',
    shop(
      { Thing: { kind: 'object', fields: { name } } },
      { path: '/thing/{thing}', args: { thing: 'Thing' } },
    ),
    /^rest\.shop\.endpoints\[0\]: .*Query\.thing\(thing:\) must be Input Type/,
  ],
  [
    'an object without a field of its interface',
    shop({
      Node: { kind: 'interface', fields: { id: { type: 'ID' } }, members: { Thing: {} } },
      Thing: { kind: 'object', fields: { name }, interfaces: ['Node'] },
    }),
    /^rest\.shop\.types\.Node\.fields\.id: .*Interface field Node\.id expected but Thing does not provide it/,
  ],
  [
    'a field of an object that is not of the type of its interface',
    shop({
      Node: { kind: 'interface', fields: { name: { type: 'Int' } }, members: { Thing: {} } },
      Thing: { kind: 'object', fields: { name }, interfaces: ['Node'] },
    }),
    /^rest\.shop\.types\.Node\.fields\.name: .*expects type Int but Thing\.name is type String/,
  ],
  [
    'a name that is kept for introspection',
    shop({ Thing: { kind: 'object', fields: { __name: name } } }),
    /"__name" must not begin with "__"/,
  ],
  [
    'an input type as the type of a field, in typeDefs',
    own('input F { a: Int } type Query { f: F }'),
    /^typeDefs:1:\d+: .*Query\.f must be Output Type/,
  ],
  [
    'an object type as the type of an argument, in typeDefs',
    own('type T { a: Int } type Query { f(t: T): T }'),
    /^typeDefs:1:\d+: .*must be Input Type/,
  ],
  [
    'an object without a field of its interface, in typeDefs beside a source',
    {
      ...shop({ Thing: { kind: 'object', fields: { name } } }),
      typeDefs: 'interface I { a: Int } type T implements I { b: Int } extend type Query { t: T }',
    },
    /^typeDefs:1:\d+: Interface field I\.a expected but T does not provide it/,
  ],
]

it.each(INVALID)('%s stops the start, with its place in the config', async (_, config, message) => {
  await expect(openGateway(config)).rejects.toMatchObject({
    code: 'CONFIG_ERROR',
    message: expect.stringMatching(message),
  })
})

async function folderWith(config: object): Promise<string> {
  const directory = await temporaryFolder('invalid')
  await writeFile(join(directory, 'gateway.config.json'), JSON.stringify(config))
  return directory
}

function command(args: readonly string[], directory: string) {
  const out: string[] = []
  const shutdown = new AbortController()
  const reload = new EventTarget()
  const ended = run([...args], {
    directory,
    environment: {},
    shutdown: shutdown.signal,
    reload,
    print: (text) => void out.push(text),
    printError: (text) => void out.push(text),
  })
  return { out, shutdown, reload, ended }
}

it.each(INVALID.slice(0, 4))('%s: `check` fails', async (_, config, message) => {
  const { out, ended } = command(['check'], await folderWith(config))
  expect(await ended).not.toBe(0)
  expect(out.join('\n').replace(/^.*?gateway\.config\.json(?::\d+:\d+)?: /gm, '')).toMatch(
    new RegExp(message.source, 'm'),
  )
})

it('a reload with an invalid schema is refused, and the gateway goes on with the old one', async () => {
  const valid = shop({ Thing: { kind: 'object', fields: { name } } })
  const directory = await folderWith({ ...valid, server: { host: '127.0.0.1' } })
  const { createServer } = await import('node:net')
  const probe = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => probe.once('listening', resolve))
  const { port } = probe.address() as { readonly port: number }
  await new Promise((resolve) => probe.close(resolve))
  const { shutdown, reload, ended } = command(['start', '--port', String(port)], directory)
  onTestFinished(async () => {
    shutdown.abort()
    await ended
  })
  const typeName = async (): Promise<unknown> => {
    const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"query":"{ __type(name: \\"Query\\") { fields { name } } }"}',
    })
    return response.json()
  }
  const before = await waitUntil(() => typeName().catch(() => undefined), { awaited: 'the start' })
  expect(before).toMatchObject({ data: { __type: { fields: [{ name: 'thing' }] } } })
  await writeFile(join(directory, 'gateway.config.json'), JSON.stringify(INVALID[0]?.[1]))
  reload.dispatchEvent(new Event('reload'))
  const until = performance.now() + 1000
  while (performance.now() < until) expect(await typeName()).toEqual(before)
})
