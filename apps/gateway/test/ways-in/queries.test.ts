import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startRestBackend } from '@vinyasa/test-kit'
import { expect, it, onTestFinished } from 'vitest'
import { emptyFolder } from '../support/folder.ts'
import { post } from '../support/gateway.ts'

const SEARCH = '?a%20b=c%20d&e=f+g&x=100%&flag&at=a%2Bb'

const olds: Readonly<Record<string, readonly [file: string, (url: string, search: string) => string]>> = {
  Tailcall: [
    'old.graphql',
    (url, search) => `type Query { thing: JSON @http(url: "${url}/thing${search}") } scalar JSON`,
  ],
  connectors: [
    'old.graphql',
    (url, search) => `
      extend schema @link(url: "https://specs.apollo.dev/connect/v0.2", import: ["@connect", "@source"])
        @source(name: "s", http: { baseURL: "${url}" })
      type Query { thing: Thing @connect(source: "s", http: { GET: "/thing${search}" }, selection: "id") }
      type Thing { id: ID }
    `,
  ],
  Mesh: [
    '.meshrc.yaml',
    (url, search) => `
sources:
  - name: s
    handler:
      jsonSchema:
        endpoint: ${url}
        operations:
          - { type: Query, field: thing, path: '/thing${search}', method: GET }
`,
  ],
}

it.each(Object.keys(olds))('%s: what stands in the query of a URL is sent as it was', async (kind) => {
  const backend = await startRestBackend(() => ({ json: { id: '1' } }))
  onTestFinished(() => backend.stop())
  const [file, old] = olds[kind] as (typeof olds)[string]
  const folder = await emptyFolder()
  await writeFile(join(folder.directory, file), old(backend.url, SEARCH))
  expect([await folder.command('init', '--from', file), folder.err]).toEqual([0, []])
  const query = kind === 'connectors' ? '{ thing { id } }' : '{ thing }'
  expect(await (await post(await folder.start(), { query })).json()).not.toHaveProperty('errors')
  const { searchParams: sent } = backend.requests.at(-1)?.url ?? new URL('http://none')
  expect([...sent]).toEqual([...new URL(`${backend.url}/thing${SEARCH}`).searchParams])
})

it.each(Object.keys(olds))('%s: a brace in it, which would be a variable, is said', async (kind) => {
  const [file, old] = olds[kind] as (typeof olds)[string]
  const folder = await emptyFolder()
  await writeFile(join(folder.directory, file), old('http://localhost:1', '?x=%7Ba%7D'))
  await folder.command('init', '--from', file)
  expect([...folder.out, ...folder.err].join('\n')).toContain(
    'encoded braces in the query of a URL (%7Ba%7D) are not supported; remove them',
  )
})
