import { describe, expect, it } from 'vitest'
import { openApiFiles } from './openapi-files.ts'
import { tryDocument } from './prism/trial.ts'

/** JSON, forms, files, a document of a bundler, many operations. Where Prism takes minutes to read one it is not here. */
const ALL = ['Asana', 'Box', 'DigitalOcean', 'NetBox', 'Twilio']
const SMOKE = ['OpenAI', 'Spotify']

// PRISM: how many operations in all; without it a few, of small documents.
const wanted = Number(process.env['PRISM'] ?? 0)
const seed = Number(process.env['SEED'] ?? 1)
const apis = wanted > 0 ? ALL : SMOKE
const operations = wanted > 0 ? Math.ceil(wanted / apis.length) : 20

describe.each(openApiFiles.filter(({ api }) => apis.includes(api)))('Prism as $api', ({ api, file }) => {
  it('refuses nothing that is sent, and all that keeps its schema is read', async () => {
    const { faults, excused, brokenMocks } = await tryDocument({ file, seed, operations })
    const told = [...excused, ...brokenMocks].map(([operation, reason]) => `  ${operation}: ${reason}`)
    // oxlint-disable-next-line no-console -- the figures of RESULTS.md
    console.log([`${api}: ${operations} operations, ${faults.length} faults`, ...told].join('\n'))
    expect(faults).toEqual([])
  })
})
