import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { spawnProcess } from '@vinyasa/test-kit'
import { expect, it, onTestFinished } from 'vitest'

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url))

const OPENAPI = (path: string): string =>
  JSON.stringify({
    openapi: '3.0.0',
    info: { title: 'a', version: '1' },
    servers: [{ url: 'http://127.0.0.1:1' }],
    paths: { [path]: { $ref: `./paths/item.json` } },
  })
const ITEM = (id: string): string =>
  JSON.stringify({ get: { operationId: id, responses: { 200: { description: 'ok' } } } })
const PROTO = (name: string): string => `syntax = "proto3"; package shop; message ${name} { string id = 1; }`

it('--watch: whatever a config is made of reloads it, whenever it came to be a part of it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'vinyasa-watched-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const write = async (name: string, text: string): Promise<void> => {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  const config = (imports: string): string => `
    import { level } from './parts/level'
    ${imports}
    export default {
      log: { format: 'json' }, server: { port: 0 }, typeDefs: 'type Query { level: Int }',
      resolvers: { Query: { level: () => level } },
      rest: { shop: { openapi: 'shop.json' } },
      grpc: { users: { protoFiles: ['protos/users.proto'], endpoint: '127.0.0.1:1', expose: 'all' } },
    }`
  await write('gateway.config.ts', config(''))
  await write('parts/level.ts', 'export const level = 1')
  await write('parts/late.ts', 'export const late = 1')
  await write('shop.json', OPENAPI('/a'))
  await write('paths/item.json', ITEM('first'))
  await write('protos/common.proto', PROTO('Id'))
  await write(
    'protos/users.proto',
    `syntax = "proto3"; package users; import "common.proto";
     service Users { rpc Get(shop.Id) returns (shop.Id); }`,
  )
  const gateway = await spawnProcess({
    command: process.execPath,
    args: [MAIN, 'start', '--watch'],
    cwd: folder,
    ready: /"url":"([^"]+)".*"msg":"gateway ready"/,
    readyTimeoutMs: 60_000,
  })
  onTestFinished(() => gateway[Symbol.asyncDispose]())
  const outcomes = (): number =>
    gateway.lines.filter((line) => /"msg":"(?:reloaded|reload failed)/.test(line)).length

  const changes: readonly (readonly [file: string, text: string])[] = [
    ['parts/level.ts', 'export const level = 2'],
    ['shop.json', OPENAPI('/b')],
    ['paths/item.json', ITEM('second')],
    ['protos/common.proto', `${PROTO('Id')} message More {}`],
    ['gateway.config.ts', config(`import './parts/late'`)],
    ['parts/late.ts', 'export const late ='],
    ['parts/late.ts', 'export const late = 2'],
  ]
  for (const [index, [file, text]] of changes.entries()) {
    await write(file, text)
    await expect.poll(outcomes, { timeout: 40_000, message: file }).toBe(index + 1)
  }
  expect(gateway.lines.filter((line) => line.includes('reload failed'))).toHaveLength(1)
}, 180_000)
