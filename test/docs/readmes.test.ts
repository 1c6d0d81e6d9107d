import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type CodeBlock, codeBlocks } from '@vinyasa/test-kit'
import { expect, it, onTestFinished } from 'vitest'
import { INTEGRATION, PLUGINS } from '../../docs/src/repository.ts'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const SCHEMA = `
import { createSchema } from 'graphql-yoga'
const schema = createSchema({ typeDefs: 'type Query { hello: String }' })
`

/**
 * Blocks that a test of their package runs, by the number of the block. The first example is run on every runtime too, by
 * test/runtimes.
 */
const RUN_BY_PACKAGE: Readonly<Record<string, readonly number[]>> = {
  'grpc-source': [0, 1],
  'rest-connector': [1, 2, 3],
  'live-query': [0],
  'defer-splitter': [0, 1],
  'response-cache': [0],
  'node-handler': [0],
  invalidation: [1],
  'source-kit': [0, 1],
  'grpc-transport': [0],
}

/** What stands around the others, which are parts of programs; by their first lines. */
const PREAMBLES: Readonly<Record<string, { readonly before: string; readonly after?: string }>> = {
  "grpc-source: const options: Pick<GrpcSourceOptions, 'onPlan'> = {": {
    before: `import type { GrpcSourceOptions } from '@vinyasa/grpc-source'\n`,
  },
  'grpc-source: joins: [': {
    before: `import type { GrpcSourceOptions } from '@vinyasa/grpc-source'\nexport const options: Pick<GrpcSourceOptions, 'joins'> = {\n`,
    after: '}',
  },
  'rest-connector: const books = {': {
    before: `import { createRestConnector } from '@vinyasa/rest-connector'\n`,
    after: `createRestConnector('books', {
      baseUrl: 'http://localhost',
      types: { Book: { kind: 'object', fields: { id: { type: 'ID' } } } },
      endpoints: [books, { name: 'getShelf', path: '/shelves/{id}' }],
    })`,
  },
  "rest-connector: const { findings, variables, ...api } = await importOpenApi('petstore.yaml', {": {
    before: `import { createRestConnector, importOpenApi } from '@vinyasa/rest-connector'\n`,
  },
  "response-cache: useResponseCache({ varyHeaders: ['Authorization', 'X-Tenant'] }) // part of the key, and of Vary":
    { before: `import { useResponseCache } from '@vinyasa/response-cache'\n` },
  "node-handler: import { createNodeHandler, usePipeline } from '@vinyasa/node-handler'": {
    before: `import { createYoga } from 'graphql-yoga'\n${SCHEMA}const plugins: [] = []\n`,
  },
  "node-handler: import { createYoga } from 'graphql-yoga'": { before: SCHEMA },
}

interface Part extends CodeBlock {
  readonly name: string
}

const blocks = [...PLUGINS, ...INTEGRATION].flatMap((name) => {
  const readme = readFileSync(new URL(`../../packages/${name}/README.md`, import.meta.url), 'utf8')
  return codeBlocks(readme)
    .filter(({ language }) => language !== '')
    .map((block, index) => ({ ...block, name, index, key: `${name}: ${block.code.split('\n', 1)[0]}` }))
})

it('every block of TypeScript in the READMEs is run here, or by its package', () => {
  const left = blocks.filter(
    ({ name, index, key, language }) =>
      language === 'ts' && RUN_BY_PACKAGE[name]?.includes(index) !== true && !(key in PREAMBLES),
  )
  expect(left.map(({ key }) => key)).toEqual([])
  expect(Object.keys(PREAMBLES).filter((key) => !blocks.some((block) => block.key === key))).toEqual([])
})

it.each(blocks.filter(({ key }) => key in PREAMBLES))('$key runs', async ({ key, code }) => {
  const { before = '', after = '' } = PREAMBLES[key] ?? {}
  const folder = mkdtempSync(join(HERE, '.page-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'petstore.yaml'), PETS)
  const text = code.replace("'petstore.yaml'", JSON.stringify(join(folder, 'petstore.yaml')))
  writeFileSync(join(folder, 'example.ts'), `${before}${text}${after}\nexport {}\n`)
  await expect(import(/* @vite-ignore */ join(folder, 'example.ts'))).resolves.toBeDefined()
})

it.each(blocks.filter(({ language }) => language === 'sh' || language === 'js'))(
  '$key names packages and paths that there are',
  ({ code }: Part) => {
    const require = createRequire(import.meta.url)
    const imports = [...code.matchAll(/from '([^']+)'/g)].map(([, specifier = '']) => specifier)
    const installs = [...code.matchAll(/npm install (.+)/g)].flatMap(([, names = '']) => names.split(' '))
    const names = [...imports, ...installs].map((name) => name.replace(/(?<=.)@[\d.]+$/, ''))
    for (const name of names) expect(() => require.resolve(`${name}/package.json`)).not.toThrow()
    const urls = [...code.matchAll(/localhost:4000(\/[\w/]*)/g)].map(([, path]) => path)
    expect(names.length + urls.length).toBeGreaterThan(0)
    for (const path of urls) expect(['/graphql', '/graphql/live', '/graphql/defer']).toContain(path)
  },
)

const PETS = `openapi: 3.0.3
info: { title: Pets, version: '1' }
paths: { /pets: { get: { operationId: listPets, responses: { 200: { description: ok } } } } }
`
