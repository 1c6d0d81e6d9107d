import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fromBinary, toJson } from '@bufbuild/protobuf'
import {
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  type FileDescriptorProto,
} from '@bufbuild/protobuf/wkt'
import * as fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { compileProtoText } from '../../../packages/grpc-source/src/descriptors/proto-text.ts'
import { type AnyFiles, anyFiles } from './any-proto.ts'

// `.proto` text is what protoc makes of it, or refused where protoc refuses it.

const hasProtoc = spawnSync('protoc', ['--version']).status === 0
const folder = mkdtempSync(join(tmpdir(), 'vinyasa-proto-text-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

type Compiled = Readonly<Record<string, unknown>> | 'refused'

/** Options that a source reads, which keeps the others as text. */
const READ = new Set(['packed', 'deprecated', 'mapEntry', 'messageSetWireFormat'])

/** Comments and places are another test's. */
function plain(file: FileDescriptorProto): unknown {
  return JSON.parse(JSON.stringify(toJson(FileDescriptorProtoSchema, file)), function (name, value: unknown) {
    // protoc puts the messages that maps stand for behind all others.
    if (name === 'nestedType')
      return (value as { name: string }[]).toSorted((a, b) => (a.name < b.name ? -1 : 1))
    if (name === 'proto3Optional' && value === false) return undefined
    if (name === 'sourceCodeInfo' || name === 'jsonName' || (name === 'syntax' && value !== 'proto3'))
      return undefined
    if (name !== 'options') return value
    const read = Object.entries(value as object).filter(([option]) => READ.has(option))
    return read.length > 0 ? Object.fromEntries(read) : undefined
  })
}

function compiledByProtoc(files: AnyFiles): Compiled {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const out = join(folder, 'out')
  const { status } = spawnSync('protoc', ['-I', folder, '--descriptor_set_out', out, ...Object.keys(files)])
  if (status !== 0) return 'refused'
  const { file } = fromBinary(FileDescriptorSetSchema, readFileSync(out))
  return Object.fromEntries(file.map((one) => [one.name, plain(one)]))
}

async function compiledHere(files: AnyFiles): Promise<Compiled> {
  try {
    const { registry } = await compileProtoText({ protoText: files })
    return Object.fromEntries(
      Object.keys(files).map((name) => [
        name,
        plain((registry.getFile(name) as { proto: FileDescriptorProto }).proto),
      ]),
    )
  } catch (error) {
    if (!String(error).includes('valid .proto file')) throw error
    return 'refused'
  }
}

describe.runIf(hasProtoc || Boolean(process.env['CI']))('.proto text of chance', () => {
  it('is compiled as protoc compiles it, or refused by both', async () => {
    let accepted = 0
    await fc.assert(
      fc.asyncProperty(anyFiles, async (files) => {
        const theirs = compiledByProtoc(files)
        if (theirs !== 'refused') accepted++
        expect(await compiledHere(files)).toEqual(theirs)
      }),
      { numRuns: 300, seed: 1 },
    )
    expect(accepted).toBeGreaterThan(30)
  })
})
