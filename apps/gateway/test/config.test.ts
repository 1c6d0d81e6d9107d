import { describe, expect, it } from 'vitest'
import { substituteEnvironment } from '../src/config/environment.ts'
import { parseConfig } from '../src/config/schema.ts'
import { toCamelCaseNames } from '../src/config/specification-names.ts'

describe('substituteEnvironment', () => {
  const environment = { TOKEN: 'secret', EMPTY: '' }
  it.each([
    ['a variable', 'Bearer ${TOKEN}', 'Bearer secret'],
    ['an empty variable is set', '[${EMPTY}]', '[]'],
    ['a default', '${PORT:-4000}', '4000'],
    ['an escaped one', '$${TOKEN}', '${TOKEN}'],
    ['no variable', 'cost: $5', 'cost: $5'],
  ])('%s', (_, text, expected) => {
    expect(substituteEnvironment({ a: [text] }, environment)).toEqual({ a: [expected] })
  })

  it('names the path and the variable that is not set', () => {
    expect(() => substituteEnvironment({ rest: { shop: { headers: ['${NOPE}'] } } }, environment)).toThrow(
      'rest.shop.headers[0]: the environment variable NOPE is not set',
    )
  })
})

describe('toCamelCaseNames', () => {
  it('takes the names of the specification', () => {
    expect(
      toCamelCaseNames({
        base_url: 'x',
        retry: { max_retries: 3, initial_backoff: '100ms' },
        timeout: '30s',
      }),
    ).toEqual({
      baseUrl: 'x',
      retry: { maxRetries: 3, initialBackoffMs: 100 },
      timeoutMs: 30_000,
    })
  })

  it('leaves names that belong to the user alone', () => {
    expect(toCamelCaseNames({ headers: { x_api_key: 'a' }, args: { user_id: 'ID!' } })).toEqual({
      headers: { x_api_key: 'a' },
      args: { user_id: 'ID!' },
    })
  })
})

describe('parseConfig', () => {
  it.each([
    ['an unknown setting', { sever: {} }, 'sever: unknown setting; did you mean server?'],
    [
      'an unknown nested setting',
      { server: { prot: 1 } },
      'server.prot: unknown setting; did you mean port?',
    ],
    ['a wrong type', { server: { port: '4000' } }, 'server.port: expected number, received string'],
    [
      'a number out of range',
      { server: { port: 99_999 } },
      'server.port: Too big: expected number to be <=65535',
    ],
    [
      'a wrong choice',
      { preset: 'prod' },
      'preset: Invalid option: expected one of "development"|"production"',
    ],
    ['no object at all', undefined, 'config: expected object, received undefined'],
  ])('%s', (_, config, message) => {
    expect(() => parseConfig(config)).toThrow(message)
  })
})
