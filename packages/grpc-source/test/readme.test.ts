import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '@vinyasa/test-kit'
import { expect, it } from 'vitest'
import { backend, disposables } from './harness.ts'
import { USERS_PROTO } from './users-proto.ts'

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

it("the README's example serves the proto beside it", async () => {
  const example = /```ts\n([\s\S]*?)```/.exec(README)?.[1] ?? ''
  expect(example.trim().split('\n').length).toBeLessThanOrEqual(15)
  const { address } = await backend(
    { 'users.proto': USERS_PROTO },
    { 'demo.users.v1.UserService/GetUser': ({ id }) => ({ id, name: 'Ada' }) },
  )
  const folder = mkdtempSync(join(tmpdir(), 'grpc-readme-'))
  disposables().use(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'users.proto'), USERS_PROTO)
  const port = await freePort()
  const script = example
    .replace("'localhost:50051'", `'${address}'`)
    .replace("['users.proto']", JSON.stringify([join(folder, 'users.proto')]))
    .replace('listen(4000)', `listen(${port}, () => console.log('ready'))`)
  // In the package, so that its imports resolve as a user's would.
  const file = fileURLToPath(new URL(`.readme-example-${process.pid}.ts`, import.meta.url))
  writeFileSync(file, script)
  disposables().use(() => rmSync(file))
  await import(/* @vite-ignore */ file)
  const response = await fetch(`http://127.0.0.1:${port}/graphql?query={user(id:"1"){name}}`)
  expect(await response.json()).toEqual({ data: { user: { name: 'Ada' } } })
})

it('the options table names every option', () => {
  const options = readFileSync(new URL('../src/options.ts', import.meta.url), 'utf8')
  const [, table = ''] = /## Options([\s\S]*?)## proto/.exec(README) ?? []
  const documented = new Set([...table.matchAll(/`(\w+)`/g)].map(([, name]) => name))
  const interfaces = ['DescriptorOptions', 'MappingInput', 'GrpcSourceOptions'].map((name) => {
    const start = options.search(new RegExp(`export interface ${name}\\b`))
    return options.slice(start, options.indexOf('\n}', start))
  })
  const names = [...interfaces.join('\n').matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, name]) => name)
  expect(names.length).toBeGreaterThan(30)
  expect(names.filter((name) => !documented.has(name))).toEqual([])
})
