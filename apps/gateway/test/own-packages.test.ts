import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { spawnProcess } from '@vinyasa/test-kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadConfig } from '../src/config/file/load-config.ts'
import { post } from './support/gateway.ts'

// The built program in a folder that knows no package, as in an image or with npx.
const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const GRAPHQL_17 = fileURLToPath(new URL('../../../node_modules/graphql-17', import.meta.url))

async function folderOf(files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'vinyasa-own-packages-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  return folder
}

const CONFIG = `
  import { defineConfig } from '@vinyasa/gateway'
  import { GraphQLError } from 'graphql'
  import { valueFromASTUntyped } from 'graphql/utilities'
  import { createGraphQLError } from 'graphql-yoga'
  import { code } from './parts/code'
  export default defineConfig({
    log: { format: 'json' },
    server: { port: 0 },
    typeDefs: 'type Query { mine: Int, yogas: Int }',
    resolvers: {
      Query: {
        mine: () => { throw new GraphQLError(typeof valueFromASTUntyped, { extensions: { code } }) },
        yogas: () => { throw createGraphQLError('seen', { extensions: { code } }) },
      },
    },
  })`

describe('a config of code outside of any package', () => {
  it.each(['gateway.config.ts', 'gateway.config.mjs'])(
    '%s imports the gateway, graphql and Yoga, and its errors are known, with graphql 17 beside it too',
    async (name) => {
      const folder = await folderOf({
        [name]: name.endsWith('.ts') ? CONFIG : CONFIG.replace('./parts/code', './parts/code.ts'),
        'parts/code.ts': `export const code: string = 'FORBIDDEN'`,
      })
      for (const isBeside of [false, true]) {
        if (isBeside) {
          await mkdir(join(folder, 'node_modules'))
          await symlink(GRAPHQL_17, join(folder, 'node_modules/graphql'))
        }
        const gateway = await spawnProcess({
          command: process.execPath,
          args: [MAIN, 'start'],
          cwd: folder,
          ready: /"url":"([^"]+)".*"msg":"gateway ready"/,
          readyTimeoutMs: 60_000,
        })
        onTestFinished(() => gateway[Symbol.asyncDispose]())
        const answer = await post(gateway.ready?.[1] ?? '', { query: '{ mine yogas }' })
        expect(await answer.json()).toMatchObject({
          errors: [
            { message: 'function', extensions: { code: 'FORBIDDEN' } },
            { message: 'seen', extensions: { code: 'FORBIDDEN' } },
          ],
        })
      }
    },
    120_000,
  )

  it('is refused with a plugin that brings another graphql, which is named with its version', async () => {
    const folder = await folderOf({
      'gateway.config.ts': `import plugin from 'a-plugin'\nexport default { plugins: [plugin] }`,
      'node_modules/a-plugin/package.json':
        '{ "name": "a-plugin", "type": "module", "exports": "./index.js", "peerDependencies": { "graphql": "*" } }',
      'node_modules/a-plugin/index.js': 'export default {}',
    })
    const load = (): Promise<unknown> => loadConfig({ directory: folder, environment: {} })
    await expect(load()).resolves.toBeDefined()
    await symlink(GRAPHQL_17, join(folder, 'node_modules/graphql'))
    await expect(load()).rejects.toThrow(
      /gateway\.config\.ts: a-plugin uses graphql 17\.\S+ from .*, but the gateway uses graphql 1\S+ from .*; both must use the same copy of graphql/,
    )
  })

  it('says all files that it is made of', async () => {
    const folder = await folderOf({
      'gateway.config.ts': `import { a } from './a'\nexport * from "./b.js"\nimport fs from 'node:fs'\nexport default { typeDefs: a }`,
      'a.ts': `import c from './deep/c.json'\nexport const a = c.sdl // and './a'`,
      'b.js': 'export const b = 1',
      'deep/c.json': '{ "sdl": "type Query { a: Int }" }',
    })
    const { files } = await loadConfig({ directory: folder, environment: {} })
    const names = files.map((file) => file.slice(folder.length + 1))
    expect(names.toSorted()).toEqual(['a.ts', 'b.js', 'deep/c.json', 'gateway.config.ts'])
  })
})
