import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { startGrpcBackend, type GrpcBackend } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run } from '../src/cli.ts'
import type { CommandContext } from '../src/commands/context.ts'

let backend: GrpcBackend

beforeAll(async () => {
  backend = await startGrpcBackend({ protos: 'syntax = "proto3"; package any; message M {}', handlers: {} })
})
afterAll(() => backend.stop())

/** Runs a command in a folder; what it printed, and its exit code. */
async function command(directory: string, ...args: string[]): Promise<{ code: number; lines: string[] }> {
  const lines: string[] = []
  const context: CommandContext = {
    directory,
    environment: {},
    shutdown: new AbortController().signal,
    reload: new EventTarget(),
    print: (text) => lines.push(text),
    printError: (text) => lines.push(text),
  }
  return { code: await run(args, context), lines }
}

/** A tree of protos as teams lay them out: roots of their own, packages as folders, shared names, several services. */
interface Layout {
  readonly roots: readonly string[]
  readonly buf: 'none' | 'work' | 'modules' | 'plain'
  readonly packages: readonly { readonly name: string; readonly root: number; readonly services: number }[]
  readonly start: number
}

const layouts: fc.Arbitrary<Layout> = fc.record({
  roots: fc.uniqueArray(fc.constantFrom('proto', 'api/protos', 'third_party/apis', '.', 'src/main/proto'), {
    minLength: 1,
    maxLength: 3,
  }),
  buf: fc.constantFrom('none', 'work', 'modules', 'plain'),
  packages: fc.uniqueArray(
    fc.record({
      name: fc.constantFrom('shop.v1', 'shop.v2', 'users.v1', 'common', 'acme.billing.v1'),
      root: fc.nat(2),
      services: fc.integer({ min: 1, max: 2 }),
    }),
    { selector: ({ name }) => name, minLength: 1, maxLength: 4 },
  ),
  start: fc.nat(3),
})

function write(directory: string, path: string, text: string): void {
  const file = join(directory, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

/** Writes the tree; the path of the file to begin with. Each package imports all that come after it. */
function writeLayout(directory: string, { roots, buf, packages, start }: Layout): string {
  const rootOf = (index: number): string => roots[index % roots.length] ?? '.'
  const files = packages.map(({ name, root, services }) => ({
    name,
    services,
    importPath: `${name.replaceAll('.', '/')}/service.proto`,
    path: join(rootOf(root), `${name.replaceAll('.', '/')}/service.proto`),
  }))
  for (const [index, file] of files.entries()) {
    const others = files.slice(index + 1)
    write(
      directory,
      file.path,
      `syntax = "proto3";
      package ${file.name};
      import "google/protobuf/empty.proto";
      import "gogoproto/gogo.proto"; // nobody has it, and only options need it
      ${others.map(({ importPath }) => `import "${importPath}";`).join('\n')}
      message Item { string id = 1; ${others.map(({ name }, at) => `${name}.Item other${at} = ${at + 2};`).join(' ')} }
      ${Array.from(
        { length: file.services },
        (_, at) =>
          `service Service${at} { rpc Get(Item) returns (Item); rpc Reset(google.protobuf.Empty) returns (google.protobuf.Empty); }`,
      ).join('\n')}`,
    )
  }
  if (buf === 'work')
    write(directory, 'buf.work.yaml', `version: v1\ndirectories: ${JSON.stringify(roots)}\n`)
  if (buf === 'modules')
    write(
      directory,
      'buf.yaml',
      `version: v2\nmodules: ${JSON.stringify([null, 7, ...roots.map((path) => ({ path })), {}])}\n`,
    )
  if (buf === 'plain') for (const root of roots) write(directory, join(root, 'buf.yaml'), 'version: v1\n')
  return files[start % files.length]?.path ?? ''
}

describe('vinyasa init writes a config that check passes', () => {
  it('for protos in any ordinary layout', { timeout: 180_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(layouts, async (layout) => {
        const directory = mkdtempSync(join(tmpdir(), 'vinyasa-layout-'))
        try {
          const file = writeLayout(directory, layout)
          const init = await command(directory, 'init', file, '--endpoint', backend.address)
          expect(init).toMatchObject({ code: 0 })
          const check = await command(directory, 'check')
          expect(check).toMatchObject({ code: 0 })
          const config = readFileSync(join(directory, 'gateway.config.yaml'), 'utf8')
          const { services } = layout.packages[layout.start % layout.packages.length] ?? { services: 0 }
          expect(config.match(/^# query /gm)).toHaveLength(services)
          expect(config.match(/^# mutation /gm)).toHaveLength(services)
        } finally {
          rmSync(directory, { recursive: true, force: true })
        }
      }),
      { numRuns: 15 },
    )
  })
})
