import { mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { createDisposables, startRestBackend, type RestAnswer } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { importOpenApi, type OpenApiOptions } from '@vinyasa/rest-connector'
import { downloadDocument } from '../src/commands/download-document.ts'

type DownloadOptions = NonNullable<OpenApiOptions['download']>

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

/** A server of these files, and an empty folder. */
async function serve(files: Readonly<Record<string, string | RestAnswer>>) {
  const backend = cleanup.use(
    await startRestBackend(({ url }) => {
      const given = files[decodeURIComponent(url.pathname)]
      if (given === undefined) return { status: 404 }
      return typeof given === 'string' ? { body: given } : given
    }),
  )
  const directory = await mkdtemp(join(tmpdir(), 'vinyasa-download-'))
  cleanup.use(() => rm(directory, { recursive: true, force: true }))
  const get = (path: string, limits?: DownloadOptions) =>
    downloadDocument(backend.url + path, directory, limits)
  const kept = async () =>
    (await readdir(directory, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => relative(directory, join(entry.parentPath, entry.name)))
      .toSorted()
  return { backend, directory, get, kept }
}

const root = (refs: readonly string[]): string =>
  stringify({
    openapi: '3.0.3',
    info: { title: 't', version: '1' },
    paths: Object.fromEntries(refs.map(($ref, index) => [`/p${index}`, { $ref }])),
  })
const pathItem = (schema: object): string =>
  JSON.stringify({ get: { responses: { 200: { content: { 'application/json': { schema } } } } } })

describe('downloadDocument', () => {
  it('keeps the files that a document refers to, as they lie to each other, and they can be read', async () => {
    const { directory, get, kept } = await serve({
      '/api/v1/openapi.yaml': root([
        'paths/pets.json?v=2',
        '../shared/users.json#/get',
        'https://other.example/x.yaml#/a',
      ]),
      '/api/v1/paths/pets.json': pathItem({ $ref: '../../shared/pet schema.yaml#/Pet' }),
      '/api/shared/pet schema.yaml':
        "Pet: {type: object, properties: {id: {type: string}, owner: {$ref: 'user.yml'}}}",
      '/api/shared/user.yml':
        'type: object\nproperties:\n  pet:\n    $ref: "../v1/openapi.yaml#/components/schemas/None"\n  name: {type: string}',
      '/api/shared/users.json': JSON.stringify({ get: { responses: {} } }),
    })
    const { files, folder, missing } = await get('/api/v1/openapi.yaml?token=secret')
    expect(await kept()).toEqual([
      'openapi/openapi/shared/pet schema.yaml',
      'openapi/openapi/shared/user.yml',
      'openapi/openapi/shared/users.json',
      'openapi/openapi/v1/openapi.yaml',
      'openapi/openapi/v1/paths/pets.json',
    ])
    expect(files[0] ?? '').toBe('openapi/openapi/v1/openapi.yaml')
    expect(files.toSorted()).toEqual(await kept())
    expect(missing).toEqual([
      'https://other.example/x.yaml: files from https://other.example are not allowed; add this origin to download.origins',
    ])
    const { types } = await importOpenApi(join(directory, files[0] ?? ''), {
      env: {},
      download: { origins: [join(directory, folder)] },
    })
    expect(types).toMatchObject({
      Pet: { fields: { owner: { type: 'User' } } },
      User: { fields: { name: {} } },
    })
  })

  it('leaves out what cannot be had, and tells it', async () => {
    const { directory, get, kept } = await serve({
      '/openapi.json': root(['gone.yaml', 'there.yaml']),
      '/there.yaml': 'a: 1',
    })
    const { missing, remove } = await get('/openapi.json')
    expect(await kept()).toEqual(['openapi/openapi/openapi.json', 'openapi/openapi/there.yaml'])
    expect(missing).toEqual([expect.stringMatching(/\/gone\.yaml: .*404/)])
    await remove()
    expect(await readdir(directory)).toEqual([])
  })

  it('takes nothing of another server, where a file leads to one', async () => {
    const other = await serve({ '/x.yaml': 'secret: 1' })
    const { get, kept } = await serve({
      '/openapi.yaml': root(['moved.yaml']),
      '/moved.yaml': { status: 302, headers: { location: `${other.backend.url}/x.yaml` } },
    })
    expect((await get('/openapi.yaml')).missing).toEqual([expect.stringContaining('another server')])
    expect(await kept()).toEqual(['openapi/openapi/openapi.yaml'])
  })

  it('never leaves its folder, nor writes a hidden file, whatever the references are', async () => {
    const piece = fc.constantFrom(
      '..',
      '.',
      '%2e%2e',
      '..%2f..%2fx',
      '%2e',
      '.git',
      'a',
      'b.yaml',
      '%00',
      'c%5cd',
      '',
      '/',
      '//evil',
      'file:',
      '%',
      'x:y',
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(piece, { minLength: 1, maxLength: 5 }), { maxLength: 4 }),
        async (paths) => {
          const refs = paths.map((pieces) => pieces.join('/'))
          const folder = await mkdtemp(join(tmpdir(), 'vinyasa-download-'))
          const inside = join(folder, 'inside')
          await mkdir(inside)
          const backend = await startRestBackend(({ url }) => ({
            body: url.pathname === '/a/b/openapi.yaml' ? root(refs) : 'a: 1',
          }))
          await downloadDocument(`${backend.url}/a/b/openapi.yaml`, inside).catch(() => undefined)
          await backend.stop()
          expect(await readdir(folder)).toEqual(['inside'])
          const all = await readdir(inside, { recursive: true })
          expect(all.filter((name) => /(^|\/)\./.test(name))).toEqual([])
          await rm(folder, { recursive: true })
        },
      ),
      { numRuns: 60, interruptAfterTimeLimit: 15_000 },
    )
  })

  it.each<[string, DownloadOptions, string]>([
    ['more files', { maxFiles: 10 }, 'limit of 10 files'],
    ['more bytes', { maxBytes: 3000 }, 'limit of 3000 bytes'],
  ])('refuses %s than it may take, and leaves nothing', async (_, limits, message) => {
    const names = Array.from({ length: 20 }, (_one, index) => `f${index}.yaml`)
    const { get, kept } = await serve({
      '/openapi.yaml': root(names),
      ...Object.fromEntries(names.map((name) => [`/${name}`, `a: ${'x'.repeat(200)}`])),
    })
    await expect(get('/openapi.yaml', limits)).rejects.toThrow(message)
    expect(await kept()).toEqual([])
  })

  it('keeps a document without an extension with the files beside it', async () => {
    const { get, kept } = await serve({
      '/v3/api-docs': JSON.stringify({ openapi: '3.0.3', paths: { '/p': { $ref: 'schemas/p.yaml' } } }),
      '/v3/schemas/p.yaml': 'a: 1',
    })
    expect(await get('/v3/api-docs')).toMatchObject({ name: 'api_docs', missing: [] })
    expect(await kept()).toEqual(['openapi/api_docs/api_docs.json', 'openapi/api_docs/schemas/p.yaml'])
  })

  it('writes into no folder that exists, and leaves it as it is', async () => {
    const { get, kept, directory } = await serve({ '/pets.yaml': root(['c.yaml']), '/c.yaml': 'a: 1' })
    await mkdir(join(directory, 'openapi/pets'), { recursive: true })
    await writeFile(join(directory, 'openapi/pets/c.yaml'), 'mine')
    await expect(get('/pets.yaml')).rejects.toThrow('openapi/pets exists already')
    expect(await kept()).toEqual(['openapi/pets/c.yaml'])
    expect(await readFile(join(directory, 'openapi/pets/c.yaml'), 'utf8')).toBe('mine')
    await rm(join(directory, 'openapi'), { recursive: true })
    await symlink(tmpdir(), join(directory, 'openapi'))
    await expect(get('/pets.yaml')).rejects.toThrow('is a symbolic link')
  })

  it('removes what it wrote if a file cannot be written', async () => {
    const name = `${'x'.repeat(300)}.yaml`
    const { get, directory } = await serve({ '/pets.yaml': root([name]), [`/${name}`]: 'a: 1' })
    await expect(get('/pets.yaml')).rejects.toThrow('ENAMETOOLONG')
    expect(await readdir(directory)).toEqual([])
  })
})
