import { createInvalidationBus } from '@vinyasa/invalidation'
import { createDisposables, startRestBackend } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import type { GraphQLObjectType, GraphQLSchema } from 'graphql'
import { createYoga, type Plugin } from 'graphql-yoga'
import { afterEach, expect, it } from 'vitest'
import { createRestConnector, useRestConnector, type FieldDefinitions } from '../src/index.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

/** A chain of entities inside each other, each declared by an endpoint of its own. */
function endpointsOf(depth: number) {
  return Array.from({ length: depth }, (_, index) => {
    const fields: FieldDefinitions = {
      id: 'id!',
      count: 'int',
      ...(index + 1 < depth && { next: `T${index + 1}` }),
    }
    return { name: `t${index}`, path: `/t${index}`, responseSchema: { typeName: `T${index}`, fields } }
  })
}

const chain = (from: number, depth: number): object => ({
  id: '1',
  count: 1,
  ...(from + 1 < depth && { next: chain(from + 1, depth) }),
})

it('a kept response is forgotten with every type in it, however deep, and with what the server states of its fields', async () => {
  const cases = fc.record({
    depth: fc.integer({ min: 1, max: 4 }),
    changed: fc.nat(4),
    stated: fc.option(fc.nat(3), { nil: undefined }),
    plans: fc.boolean(),
    isByCode: fc.boolean(),
  })
  const property = fc.asyncProperty(cases, async ({ depth, changed, stated, plans, isByCode }) => {
    const backend = cleanup.use(await startRestBackend(() => ({ json: chain(0, depth) })))
    const bus = createInvalidationBus()
    const connector = cleanup.use(
      createRestConnector('c', {
        baseUrl: backend.url,
        cacheSize: 10,
        bus,
        plans,
        endpoints: endpointsOf(depth),
      }),
    )
    const states: Plugin = {
      onSchemaChange({ schema }) {
        const type = (schema as GraphQLSchema).getType(`T${stated}`) as GraphQLObjectType | undefined
        const field = type?.getFields()['count']
        if (field) field.extensions = { ...field.extensions, dependsOn: ['Elsewhere'] }
      },
    }
    const yoga = createYoga({ plugins: [useRestConnector(connector), states], logging: false })
    const read = async (): Promise<number> => {
      if (isByCode) await connector.execute('t0')
      else await yoga.fetch('http://yoga/graphql?query={t0{id}}')
      return backend.requests.length
    }
    expect([await read(), await read()]).toEqual([1, 1])
    await bus.publish([{ entityType: `T${changed}`, operation: 'update' }])
    const afterChange = changed < depth ? 2 : 1
    expect(await read()).toBe(afterChange)
    await bus.publish([{ entityType: 'Elsewhere', operation: 'update' }])
    expect(await read()).toBe(afterChange + (stated !== undefined && stated < depth ? 1 : 0))
  })
  await fc.assert(property, { numRuns: 40 })
})
