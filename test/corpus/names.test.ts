import { fileURLToPath } from 'node:url'
import { createDisposables, startRestBackend } from '@vinyasa/test-kit'
import { isObjectType, validateSchema } from 'graphql'
import { afterAll, expect, it } from 'vitest'
import type { GatewayConfig } from '../../apps/gateway/src/config/types.ts'
import { createGateway, type Gateway } from '../../apps/gateway/src/gateway.ts'
import { createLogger } from '../../apps/gateway/src/logging/logger.ts'
import { ask } from '../../apps/gateway/test/support/gateway.ts'
import { openApiFiles } from './openapi-files.ts'

// Sources of strangers under other names, in one gateway: types that both have stand beside each other.

const cleanup = createDisposables(afterAll)
const fileOf = (api: string): string => openApiFiles.find((one) => one.api === api)?.file ?? ''
const protos = fileURLToPath(new URL('node_modules/google-proto-files', import.meta.url))

async function start(config: GatewayConfig): Promise<Gateway> {
  const gateway = await createGateway(config, {
    baseDirectory: '.',
    logger: await createLogger({ level: 'silent' }),
  })
  cleanup.use(gateway)
  expect(validateSchema(gateway.schema)).toEqual([])
  return gateway
}

it('Stripe, DigitalOcean and Pub/Sub, renamed, hidden in part, extended and asked', async () => {
  const rest = cleanup.use(
    await startRestBackend(({ url, method }) => ({
      json: url.pathname.includes('customers')
        ? { id: 'cus_1', object: 'customer', email: 'a@example.com', created: 1, livemode: true, method }
        : { account: { uuid: 'u', email: 'do@example.com', status: 'active' } },
    })),
  )
  const gateway = await start({
    rest: {
      stripe: {
        baseUrl: rest.url,
        openapi: { file: fileOf('Stripe'), security: false },
        prefix: 'stripe',
        rename: { Customer: 'Payer', 'Customer.email': 'mail', 'Query.getCustomersCustomer': 'payer' },
        hide: ['Mutation.*', '!Mutation.postCustomers', 'Customer.livemode', 'Query.getReporting*'],
      },
      ocean: {
        baseUrl: rest.url,
        openapi: { file: fileOf('DigitalOcean'), security: false },
        prefix: 'ocean_',
      },
    },
    grpc: {
      pubsub: {
        protoFiles: ['google/pubsub/v1/pubsub.proto'],
        includePaths: [protos],
        endpoint: '127.0.0.1:1',
        expose: 'all',
        prefix: { types: 'PubSub_' },
        rename: { 'Query.get*': 'pubsub_get*', Topic: 'Channel' },
        hide: ['Mutation.delete*'],
      },
    },
    typeDefs: `
      extend type Payer { droplets: Int!, channel: Channel }
      type Report { payer: Payer, account: Ocean_AccountGet }
      extend type Query { report: Report }`,
    resolvers: {
      Payer: { droplets: ({ mail }) => mail.length },
      Query: { report: () => ({ payer: { id: 'p', email: 'x' } }) },
    },
  })
  const { schema } = gateway
  const types = Object.values(schema.getTypeMap()).filter(
    (type) => isObjectType(type) && !type.name.startsWith('__'),
  )
  const foreign = types.filter(
    ({ name }) =>
      !/^(Stripe|Ocean_|PubSub_|Query$|Mutation$|Subscription$|Payer$|Channel$|Report$)/.test(name),
  )
  expect(foreign.map(({ name }) => name)).toEqual([])
  expect(types.length).toBeGreaterThan(500)
  expect(
    Object.keys(schema.getMutationType()?.getFields() ?? {}).filter((name) => /^stripe|^delete/.test(name)),
  ).toEqual(['stripePostCustomers'])
  const { data, errors } = await ask(
    gateway,
    '{ payer(customer: "cus_1") { __typename ... on Payer { id mail droplets } } report { payer { id mail droplets } } }',
  )
  expect(errors).toBeUndefined()
  expect(data).toEqual({
    payer: { __typename: 'Payer', id: 'cus_1', mail: 'a@example.com', droplets: 13 },
    report: { payer: { id: 'p', mail: 'x', droplets: 1 } },
  })
  expect(rest.requests.map(({ rawUrl }) => rawUrl)).toEqual(['/v1/customers/cus_1'])
  expect((await ask(gateway, '{ payer(customer: "c") { ... on Payer { livemode } } }')).errors).toHaveLength(
    1,
  )
})

it('two documents with types of one name stand together without a word, and by a prefix of one of them', async () => {
  const openapi = { file: fileOf('DigitalOcean'), security: false } as const
  const twice = await start({
    rest: {
      one: { baseUrl: 'http://127.0.0.1:1', openapi },
      two: { baseUrl: 'http://127.0.0.1:1', openapi, prefix: 'two' },
    },
  })
  const own = Object.keys(twice.schema.getTypeMap()).filter((name) => twice.schema.getType(`Two${name}`))
  expect(own).toContain('AccountGet')
  expect(own.length).toBeGreaterThan(100)
})
