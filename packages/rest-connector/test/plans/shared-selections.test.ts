import { createDisposables, startRestBackend } from '@vinyasa/test-kit'
import { createYoga, type Plugin } from 'graphql-yoga'
import { afterAll, expect, it } from 'vitest'
import { createRestConnector, useRestConnector } from '../../src/index.ts'

const cleanup = createDisposables()
afterAll(() => cleanup.dispose())

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

// The two fields have one selection below `place`, and so one plan of it.
it('waits for a join that another field of the operation has asked for', async () => {
  const backend = cleanup.use(
    await startRestBackend(async ({ url }) => {
      if (url.pathname === '/cities') {
        await pause(150)
        return { json: url.searchParams.getAll('ids').map((id) => ({ id, name: `city ${id}` })) }
      }
      if (url.pathname === '/items/2') await pause(60)
      return { json: { id: url.pathname.slice(7), place: { cityId: '7' } } }
    }),
  )
  const outcomes: string[] = []
  const connector = cleanup.use(
    createRestConnector('c', {
      baseUrl: backend.url,
      noRetry: true,
      onPlan: ({ outcome }) => void outcomes.push(outcome),
      types: { Place: { kind: 'object', fields: { cityId: { type: 'ID' } } } },
      endpoints: [
        {
          name: 'item',
          path: '/items/{id}',
          args: { id: 'ID!' },
          responseSchema: { typeName: 'Item', fields: { id: 'id!', place: 'Place' } },
        },
        {
          name: 'cities',
          path: '/cities',
          args: { ids: '[ID!]!' },
          queryParams: { ids: '{ids}' },
          returnType: '[City!]',
          rootField: false,
          responseSchema: { typeName: 'City', fields: { id: 'id!', name: 'string' } },
          on: { type: 'Place', field: 'city', args: { ids: '{cityId}' }, batch: { key: 'id' } },
        },
      ],
    }),
  )
  const yoga = createYoga({ plugins: [useRestConnector(connector) as Plugin], logging: false })
  const query = `{ a: item(id: "1") { ...I } b: item(id: "2") { ...I } } fragment I on Item { place { city { name } } }`
  const response = await yoga.fetch('http://yoga/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  })
  const item = { place: { city: { name: 'city 7' } } }
  expect(await response.json()).toEqual({ data: { a: item, b: item } })
  expect(outcomes).toEqual(['planned'])
})
