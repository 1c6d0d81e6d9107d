import { readFileSync } from 'node:fs'
import { createRestConnector, importOpenApi } from '@vinyasa/rest-connector'
import { validateSchema } from 'graphql'
import { describe, expect, it } from 'vitest'
import { openApiFiles } from './openapi-files.ts'

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/** The operations of a document that may become fields. */
function operationsIn(file: string): number {
  const { paths = {} } = JSON.parse(readFileSync(file, 'utf8')) as { paths?: Record<string, object> }
  return Object.values(paths).flatMap((item) => METHODS.filter((method) => method in item)).length
}

describe.each(openApiFiles)('the OpenAPI document of $api', ({ api, file }) => {
  it('gives a valid schema, and every operation a field or a finding', async () => {
    const began = performance.now()
    const { endpoints, types, findings } = await importOpenApi(file)
    const connector = createRestConnector('corpus', { baseUrl: 'http://127.0.0.1:1', endpoints, types })
    const errors = validateSchema(connector.schema).map(({ message }) => message)
    const seconds = ((performance.now() - began) / 1000).toFixed(1)
    await connector.close()
    const operations = operationsIn(file)
    // oxlint-disable-next-line no-console -- the figures of RESULTS.md
    console.log(`${api}: ${operations} operations, ${endpoints.length} imported, ${seconds} s`)
    expect(errors).toEqual([])
    const left = findings.filter(({ message }) => message.includes(' is skipped: '))
    expect(endpoints.length + left.length).toBeGreaterThanOrEqual(operations)
    // What is left out is the exception.
    expect(endpoints.length).toBeGreaterThan(operations * 0.9)
  })
})
