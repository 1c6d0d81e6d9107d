import { describe, expect, it } from 'vitest'
import { parseConfig } from '../src/config/file/parse-config.ts'

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
    [
      'a value of no kind that is allowed',
      { liveQuery: true, defer: true },
      'defer: expected false, or one of "default"|"production"|"development"|"disabled", or object, received boolean',
    ],
    [
      'a setting given twice',
      { rest: { s: { baseUrl: 'x', base_url: 'y' } } },
      'rest.s.base_url: unknown setting',
    ],
    [
      'a setting in other letters, which is needed in its own',
      { rest: { shop: { baseURL: 'http://shop' } } },
      'rest.shop.baseURL: unknown setting; did you mean baseUrl?',
    ],
    [
      'another word for a setting',
      { grpc: { s: { retries: {} } } },
      'grpc.s.retries: unknown setting; did you mean retry?',
    ],
    [
      'a Redis in two places',
      { redis: { url: 'redis://a', cluster: ['b'] } },
      'redis: expected exactly one of url, sentinels and cluster',
    ],
    [
      'sentinels without the name of their master',
      { redis: { sentinels: ['a'] } },
      'redis: sentinels and name must be set together',
    ],
    ...[{ url: 'redis://a' }, { cluster: ['a'] }].flatMap((redis) =>
      ['sentinelUsername', 'sentinelPassword'].map((name): [string, unknown, string] => [
        `a ${name} beside ${Object.keys(redis)[0]}`,
        { redis: { ...redis, [name]: 'me' } },
        'redis: sentinelUsername and sentinelPassword require sentinels',
      ]),
    ),
    ['a database of a cluster', { redis: { cluster: ['a'], db: 1 } }, 'redis.db: a Redis cluster has only'],
    ['no object at all', undefined, 'config: expected object, received undefined'],
    [
      'a missing value of several types',
      { auth: { jwt: { issuers: [{ issuer: 'https://login.example' }] } } },
      'auth.jwt.issuers[0].audience: expected string, or array, received undefined',
    ],
  ])('%s', (_, config, message) => {
    expect(() => parseConfig(config)).toThrow(message)
  })
})

it('takes the address of a description for editors', () => {
  const own = { preset: 'production' }
  expect(parseConfig({ $schema: 'https://example.com/vinyasa.json', ...own })).toEqual(own)
})
