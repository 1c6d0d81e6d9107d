import { createDisposables, startRestBackend } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { afterEach, expect, it } from 'vitest'
import { createRestConnector, importOpenApi, type RestEndpoint } from '../src/index.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

const place = fc.constantFrom('path', 'query', 'header', 'body')
const writing = fc.constantFrom('POST' as const, 'PUT' as const, 'PATCH' as const)
type Place = 'path' | 'query' | 'header' | 'body'

async function serve(endpoints: readonly RestEndpoint[]) {
  const backend = cleanup.use(await startRestBackend(() => ({ json: {} })))
  const connector = cleanup.use(createRestConnector('c', { baseUrl: backend.url, endpoints }))
  return { backend, connector }
}

function argsOf(places: readonly Place[]): Record<string, string> {
  return Object.fromEntries(places.map((_, index) => [`a${index}`, `secret${index}`]))
}

it('sends each argument of an endpoint without a template in one place', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(place, { maxLength: 6 }), writing, async (given, method) => {
      const places = given as Place[]
      const at = (wanted: Place): string[] =>
        places.flatMap((one, index) => (one === wanted ? [`a${index}`] : []))
      const { backend, connector } = await serve([
        {
          name: 'x',
          method,
          path: `/x${at('path')
            .map((name) => `/{${name}}`)
            .join('')}`,
          queryParams: Object.fromEntries(at('query').map((name) => [name, `{${name}}`])),
          headers: Object.fromEntries(at('header').map((name) => [`x-${name}`, `{${name}}`])),
          args: Object.fromEntries(at('body').map((name) => [name, 'String'])),
        },
      ])
      const args = argsOf(places)
      await connector.execute('x', args)
      const expected = Object.fromEntries(at('body').map((name) => [name, args[name]]))
      expect(backend.requests[0]?.json()).toEqual(expected)
      await cleanup.dispose()
    }),
    { numRuns: 30 },
  )
})

it('sends no body where an OpenAPI document has none', async () => {
  const anyMethod = fc.constantFrom('post', 'put', 'patch', 'delete')
  const parameters = fc.array(fc.constantFrom('path', 'query', 'header'), { maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(parameters, anyMethod, async (given, method) => {
      const places = given as Place[]
      const path = `/x${places.map((one, index) => (one === 'path' ? `/{a${index}}` : '')).join('')}`
      const schema = { type: 'string' }
      const { endpoints } = await importOpenApi({
        openapi: '3.0.3',
        info: { title: 't', version: '1' },
        paths: {
          [path]: {
            [method]: {
              operationId: 'x',
              parameters: places.map((one, n) => ({ name: `a${n}`, in: one, required: true, schema })),
              responses: { 200: { description: 'ok' } },
            },
          },
        },
      })
      const { backend, connector } = await serve(endpoints)
      await connector.execute('x', argsOf(places))
      expect(String(backend.requests[0]?.body)).toBe('')
      expect(backend.requests[0]?.headers['content-type']).toBeUndefined()
      await cleanup.dispose()
    }),
    { numRuns: 30 },
  )
})

it('sends the body of a DELETE, and leaves a GET with a body out by name', async () => {
  const content = { 'application/json': { schema: { type: 'object' } } }
  const operation = {
    requestBody: { required: true, content },
    responses: { 204: { description: 'none' } },
  }
  const { endpoints, findings } = await importOpenApi({
    openapi: '3.0.3',
    info: { title: 't', version: '1' },
    paths: {
      '/x': { delete: { operationId: 'remove', ...operation }, get: { operationId: 'find', ...operation } },
    },
  })
  expect(findings).toMatchObject([
    {
      place: '#/paths/~1x/get',
      message: 'GET /x is skipped: a request body is not supported in a GET operation',
    },
  ])
  const { backend, connector } = await serve(endpoints)
  await connector.execute('remove', { input: { ids: [1] } })
  expect(backend.requests[0]?.method).toBe('DELETE')
  expect(backend.requests[0]?.json()).toEqual({ ids: [1] })
})
