import type { InvalidationEvent } from '@vinyasa/invalidation'
import { expect, it } from 'vitest'
import type { Gateway } from '../src/gateway.ts'
import { fetchFrom, openGateway } from './support/gateway.ts'

const typeDefs = `
  type Fox { id: ID! name: String! }
  type FoxPayload { id: ID! fox: Fox }
  type Done { ok: Boolean! }
  type Query { fox: Fox }
  type Mutation { rename: Fox pay: FoxPayload reset: Done fail: Fox }`
const fox = { id: '1', name: 'Reynard' }

async function start(events: InvalidationEvent[]): Promise<Gateway> {
  const gateway = await openGateway({
    typeDefs,
    resolvers: {
      Query: { fox: () => fox },
      Mutation: {
        rename: () => fox,
        pay: () => ({ id: 'p', fox }),
        reset: () => ({ ok: true }),
        fail: () => {
          throw new Error('after the commit')
        },
      },
    },
  })
  gateway.bus.subscribe((published) => void events.push(...published))
  return gateway
}

const any = (entityType: string): InvalidationEvent => ({ entityType, operation: '*' })

it.each([
  ['the entity that it returns', 'mutation { rename { id } }', [any('Fox')]],
  ['what a payload holds, whatever was selected', 'mutation { pay { id } }', [any('FoxPayload'), any('Fox')]],
  ['everything where no entity is reached', 'mutation { reset { ok } }', [any('*')]],
  ['a mutation that failed', 'mutation { fail { id } }', [any('Fox')]],
  ['each of several, once', 'mutation { rename { id } fail { id } }', [any('Fox')]],
  ['nothing for a query', '{ fox { id } }', []],
])('announces %s, before the answer', async (_, query, expected) => {
  const events: InvalidationEvent[] = []
  const gateway = await start(events)
  const response = await fetchFrom(gateway, query)
  const seen = [...events]
  await response.text()
  expect(seen.toSorted((a, b) => a.entityType.localeCompare(b.entityType))).toEqual(
    [...expected].toSorted((a, b) => a.entityType.localeCompare(b.entityType)),
  )
})
