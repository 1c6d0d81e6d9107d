import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { loadConfig } from '../src/config/file/load-config.ts'
import { parseConfig } from '../src/config/file/parse-config.ts'
import { anyConfig } from './support/any-config.ts'

const folder = mkdtempSync(join(tmpdir(), 'config-formats-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function loaded(name: string, text: string): Promise<unknown> {
  const file = join(folder, name)
  writeFileSync(file, text)
  return (await loadConfig({ file, directory: folder, environment: {} })).config
}

describe('a config', () => {
  it('is the same in TypeScript, JSON and YAML, under its own names and those of the specification', async () => {
    await fc.assert(
      fc.asyncProperty(anyConfig, async ({ own, specified }) => {
        expect(await loaded('c.json', JSON.stringify(own))).toEqual(own)
        expect(await loaded('c.yaml', stringify(own, { aliasDuplicateObjects: false }))).toEqual(own)
        expect(await loaded('c.ts', `export default ${JSON.stringify(own)}`)).toEqual(own)
        expect(await loaded('s.json', JSON.stringify(specified))).toEqual(own)
        expect(await loaded('s.yaml', stringify(specified))).toEqual(own)
      }),
      { numRuns: 60 },
    )
  }, 60_000)

  it("takes the specification's own words and durations, and leaves the user's keys alone", () => {
    const userKeys = { per_page: '{per_page}', query_param: 'x', timeout: '5' }
    const shop = {
      base_url: 'http://x',
      timeout: '30s',
      retry: { max_retries: 3, initial_backoff: '100ms', max_backoff: 2 },
      default_header: userKeys,
      endpoints: [{ name: 'a', path: '/', header: userKeys, query_param: userKeys }],
    }
    expect(parseConfig({ rest: { shop_api: shop } })).toEqual({
      rest: {
        shop_api: {
          baseUrl: 'http://x',
          timeoutMs: 30_000,
          retry: { maxRetries: 3, initialBackoffMs: 100, maxBackoffMs: 2000 },
          defaultHeaders: userKeys,
          endpoints: [{ name: 'a', path: '/', headers: userKeys, queryParams: userKeys }],
        },
      },
    })
  })
})
