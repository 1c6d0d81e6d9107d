import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createGrpcSource, GrpcSourceError } from '../../src/index.ts'
import { NEWER, REFUSED, type Refused } from './refused.ts'

const hasProtoc = spawnSync('protoc', ['--version']).status === 0

describe.each(Object.entries(REFUSED))('.proto text that protoc refuses: %s', (kind, all) => {
  it.each(all)('$what', async (refused) => {
    const error = await refusal(refused)
    expect(error.code).toBe('GRPC_SOURCE_DESCRIPTORS')
    const { line, column } = placeOf(refused.text)
    expect(error.message).toContain(`m.proto is not a valid .proto file: line ${line}, column ${column}: `)
    expect(error.message).toContain(refused.says)
  })

  it.runIf(kind === NEWER).each(all)('buf refuses it too: $what', (refused) => {
    const folder = folderOf(refused)
    const buf = join(createRequire(import.meta.url).resolve('@bufbuild/buf/package.json'), '../bin/buf')
    const args = ['build', folder, '--path', join(folder, 'm.proto'), '--config', '{"version":"v2"}']
    const { status, stderr } = spawnSync(process.execPath, [buf, ...args], { encoding: 'utf8' })
    expect([status, stderr]).toEqual([100, expect.stringContaining('m.proto:')])
  })

  it.runIf(hasProtoc && kind !== NEWER).each(all)('protoc refuses it too: $what', (refused) => {
    const folder = folderOf(refused)
    const compile = (): Buffer =>
      execFileSync('protoc', ['-I', folder, '--descriptor_set_out', join(folder, 'out'), 'm.proto'], {
        stdio: 'pipe',
      })
    expect(compile).toThrow('m.proto:')
  })
})

it('all faults of all files are told at once, in the order of their places', async () => {
  const error = await refusal({
    what: '',
    says: '',
    text: 'syntax = "proto3";\nimport "b.proto";\nmessage A { string b = 1; int32 a = 1; }\nenum E { ONE = 1; }\n',
    beside: { 'b.proto': 'syntax = "proto3";\nmessage B { reserved 1; int32 a = 1; }' },
  })
  expect(error.message.split('\n')).toEqual([
    'm.proto is not a valid .proto file (2 errors):',
    expect.stringContaining('- line 3, column 37: A.a has the number 1'),
    expect.stringContaining('- line 4, column 10: the first value of E'),
    expect.stringContaining('b.proto is not a valid .proto file: line 2, column 35: B.a has the number 1'),
  ])
  expect(error.findings.map(({ file }) => file)).toEqual(['m.proto', 'm.proto', 'b.proto'])
})

function folderOf(refused: Refused): string {
  const folder = mkdtempSync(join(tmpdir(), 'vinyasa-refused-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(filesOf(refused))) writeFileSync(join(folder, name), text)
  return folder
}

function filesOf({ text, beside }: Refused): Record<string, string> {
  return { ...beside, 'm.proto': text.replace('▲', '') }
}

function placeOf(text: string): { readonly line: number; readonly column: number } {
  const before = text.slice(0, text.indexOf('▲'))
  return { line: before.split('\n').length, column: before.length - before.lastIndexOf('\n') }
}

async function refusal(refused: Refused): Promise<GrpcSourceError> {
  const { 'm.proto': text = '', ...beside } = filesOf(refused)
  const start = createGrpcSource({
    name: 'test',
    protoText: { 'm.proto': text, ...beside },
    endpoint: 'localhost:1',
    logger: { warn() {}, error() {} },
  })
  const error = await start.then(
    (grpc) => grpc.close(),
    (cause: unknown) => cause,
  )
  if (!(error instanceof GrpcSourceError)) throw new Error(`expected a refusal, got ${String(error)}`)
  return error
}
