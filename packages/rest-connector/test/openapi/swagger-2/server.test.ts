import { expect, it } from 'vitest'
import { importOpenApi } from '../../../src/index.ts'

const paths = { '/x': { get: { operationId: 'x', responses: { 204: { description: 'done' } } } } }

it.each([
  [{ host: 'api.example.com', basePath: 'v1' }, 'https://api.example.com/v1'],
  [{ host: 'api.example.com', basePath: '/v1' }, 'https://api.example.com/v1'],
  [
    { host: 'api.example.com:8443', basePath: '.evil.example/v1' },
    'https://api.example.com:8443/.evil.example/v1',
  ],
  [{ host: 'api.example.com', basePath: '@evil.example' }, 'https://api.example.com/@evil.example'],
  [{ host: 'api.example.com', basePath: '//evil.example' }, 'https://api.example.com/evil.example'],
  [{ host: 'api.example.com', basePath: '' }, 'https://api.example.com'],
  [{ host: 'api.example.com', basePath: '/' }, 'https://api.example.com'],
  [{ host: 'api.example.com' }, 'https://api.example.com'],
  [{ host: 'https://api.example.com', basePath: '/v1' }, 'https://api.example.com/v1'],
  [{ host: 'HTTP://api.example.com' }, 'https://api.example.com'],
  [{ basePath: 'v1' }, 'https://docs.example/v1'],
  [{ basePath: '/v1' }, 'https://docs.example/v1'],
  [{ basePath: '//evil.example/v1' }, 'https://docs.example/evil.example/v1'],
  [{ basePath: 'https://api.example.com/v1/' }, 'https://api.example.com/v1'],
  [{ basePath: '' }, 'https://docs.example'],
])('the server of %j is asked at %s', async (server, expected) => {
  const document = { swagger: '2.0', schemes: ['https'], ...server, paths }
  const documentUrl = 'https://docs.example/a/swagger.json'
  const { baseUrl, findings } = await importOpenApi(document, { env: {}, documentUrl })
  expect([baseUrl, findings]).toEqual([expected, []])
})
