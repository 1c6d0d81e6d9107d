import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFileRegistry, fromBinary } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { describe, expect, it, onTestFinished } from 'vitest'
import { compileProtoText } from '../../src/descriptors/proto-text.ts'
import { ACCEPTED, NEWER } from './accepted.ts'

const hasProtoc = spawnSync('protoc', ['--version']).status === 0

describe.each(Object.entries(ACCEPTED))('.proto text that protoc compiles: %s', (kind, all) => {
  it.each(all)('$what', async ({ text, beside, has = () => null }) => {
    const { registry } = await compileProtoText({ protoText: { 'm.proto': text, ...beside } })
    expect(registry.getFile('m.proto')).toBeDefined()
    expect(has(registry)).toBeDefined()
  })

  it.runIf(hasProtoc && kind !== NEWER).each(all)('to the same: $what', async ({ text, beside, has }) => {
    const folder = mkdtempSync(join(tmpdir(), 'vinyasa-accepted-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const protoText = { 'm.proto': text, ...beside }
    for (const [name, content] of Object.entries(protoText)) writeFileSync(join(folder, name), content)
    const out = join(folder, 'out')
    execFileSync('protoc', ['-I', folder, '--include_imports', '--descriptor_set_out', out, 'm.proto'], {
      stdio: 'pipe',
    })
    const theirs = createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(out)))
    const { registry: ours } = await compileProtoText({ protoText })
    expect([...ours].map(String)).toEqual([...theirs].map(String))
    expect(has?.(ours)).toEqual(has?.(theirs))
  })
})
