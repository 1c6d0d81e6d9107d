import { describe, expect, it } from 'vitest'
import { createRestConnector, describeFinding, importOpenApi } from '../../src/index.ts'

const ok = { 200: { description: 'ok', content: { 'application/json': { schema: { type: 'string' } } } } }
const documentOf = (paths: object, more: object = {}): object => ({
  openapi: '3.1.0',
  info: { title: 't', version: '1' },
  paths,
  ...more,
})

describe('what a document has and a schema cannot is a finding', () => {
  it('each callback of an operation, and each webhook', async () => {
    const sent = { post: { responses: ok } }
    const paths = {
      '/jobs': {
        get: {
          operationId: 'jobs',
          responses: ok,
          callbacks: { done: { '{$request.body#/url}': sent }, failed: {} },
        },
      },
    }
    const { findings } = await importOpenApi(documentOf(paths, { webhooks: { pinged: sent, 'a/b': sent } }))
    expect(findings.map(describeFinding)).toEqual([
      expect.stringMatching(
        /^#\/paths\/~1jobs\/get\/callbacks\/done: the callback done is skipped, .*; receive it/,
      ),
      expect.stringMatching(/^#\/paths\/~1jobs\/get\/callbacks\/failed: the callback failed is skipped/),
      expect.stringMatching(/^#\/webhooks\/pinged: the webhook pinged is skipped, .*; receive it/),
      expect.stringMatching(/^#\/webhooks\/a~1b: the webhook a\/b is skipped/),
    ])
  })

  it('a chain of five thousand types is read', async () => {
    const schemas = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, index) => [
        `T${index}`,
        {
          type: 'object',
          properties: { id: { type: 'string' }, next: { $ref: `#/components/schemas/T${index + 1}` } },
        },
      ]),
    )
    const document = documentOf(
      {
        '/x': {
          get: {
            operationId: 'x',
            responses: {
              200: {
                description: 'ok',
                content: { 'application/json': { schema: { $ref: '#/components/schemas/T0' } } },
              },
            },
          },
        },
      },
      { components: { schemas: { ...schemas, T5000: { type: 'string' } } } },
    )
    const { findings, endpoints, types } = await importOpenApi(document)
    expect(findings).toEqual([])
    expect(endpoints).toHaveLength(1)
    expect(Object.keys(types)).toHaveLength(5_000)
    expect(createRestConnector('deep', { baseUrl: 'http://127.0.0.1:1', endpoints, types })).toBeDefined()
  })
})
