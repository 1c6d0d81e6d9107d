import { create, toBinary } from '@bufbuild/protobuf'
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  type FileDescriptorProto,
} from '@bufbuild/protobuf/wkt'
import * as fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createGrpcSource, type GrpcSource } from '../src/index.ts'
import { startReflectionServer, type ReflectionServer } from './reflection-server.ts'

type Find = (wanted: string) => FileDescriptorProto | null | undefined

/** A file with services of one method each, and as many other messages as asked for. */
function file(index: number, services: number, messages = 0, dependency: string[] = []): FileDescriptorProto {
  const id = {
    name: 'id',
    jsonName: 'id',
    number: 1,
    label: FieldDescriptorProto_Label.OPTIONAL,
    type: FieldDescriptorProto_Type.STRING,
  }
  return create(FileDescriptorProtoSchema, {
    name: `f${index}.proto`,
    package: `p${index}`,
    syntax: 'proto3',
    dependency,
    messageType: ['Thing', ...Array.from({ length: messages }, (_, at) => `Unused${at}`)].map((name) => ({
      name,
      field: [id],
    })),
    service: Array.from({ length: services }, (_, at) => ({
      name: `Service${at}`,
      method: [
        { name: `GetThing${index}x${at}`, inputType: `.p${index}.Thing`, outputType: `.p${index}.Thing` },
      ],
    })),
  })
}

async function serve(files: readonly FileDescriptorProto[], find?: Find): Promise<ReflectionServer> {
  const set = toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: [...files] }))
  const server = await startReflectionServer(set, 'v1', find)
  onTestFinished(() => server.close())
  return server
}

async function reflect(
  { address }: ReflectionServer,
  warnings: string[] = [],
): Promise<{ source: GrpcSource; queries: string[] }> {
  const source = await createGrpcSource({
    name: 'reflected',
    endpoint: address,
    // Ten thousand files take their time on a busy machine.
    reflection: { timeoutMs: 60_000 },
    expose: 'all',
    logger: { warn: (message) => void warnings.push(String(message)), error() {} },
  })
  onTestFinished(() => source.close())
  return { source, queries: Object.keys(source.schema.getQueryType()?.getFields() ?? {}) }
}

describe('a server’s reflection', () => {
  it('a large file with many services comes once, whatever else there is', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 6 }),
        async (counts) => {
          const files = counts.map((services, index) => file(index, services, 100))
          const server = await serve(files)
          const { queries } = await reflect(server)
          expect(queries.length).toBe(counts.reduce((sum, count) => sum + count, 0))
          // Asked for in rounds of 16, of which one may hold the first of its services more than once.
          for (const { name } of files)
            expect(server.sent.filter((one) => one === name).length).toBeLessThanOrEqual(16)
          expect(server.sent.filter((one) => one === 'f0.proto')).toHaveLength(1)
        },
      ),
      { numRuns: 10 },
    )
  })

  it('a service that is listed and not described is left out and told', async () => {
    const warnings: string[] = []
    const server = await serve([file(0, 2), file(1, 1)], (wanted) =>
      wanted === 'p0.Service1' || wanted === 'p1.Service0' ? null : undefined,
    )
    // In the file of the first, so it is described all the same.
    const { queries } = await reflect(server, warnings)
    expect(queries).toEqual(
      ['thing0x0', 'thing0x1'].map((name) => expect.stringMatching(new RegExp(name, 'i'))),
    )
    expect(warnings.join('\n')).toMatch(
      /the service p1\.Service0, .* did not return the descriptor of the service \(not found: p1\.Service0\); the service is skipped/,
    )
  })

  it.each<[string, Find, RegExp]>([
    ['describes none of its services', () => null, /p0\.Service0, .*not found/],
    [
      'lacks an import',
      (wanted) => (wanted === 'other.proto' ? null : undefined),
      /the imported file "other\.proto" \(not found/,
    ],
    [
      'sends another file for an import',
      (wanted) => (wanted === 'other.proto' ? file(1, 0) : undefined),
      /the server did not return the imported file "other\.proto"\)/,
    ],
    [
      'imports without end',
      (wanted) => {
        const index = wanted === 'other.proto' ? 1 : Number(/^f(\d+)\.proto$/.exec(wanted)?.[1] ?? Number.NaN)
        if (Number.isNaN(index)) return undefined
        return create(FileDescriptorProtoSchema, {
          name: wanted,
          syntax: 'proto3',
          dependency: Array.from({ length: 10 }, (_, at) => `f${index * 10 + at}.proto`),
        })
      },
      /exceed \d+ bytes or 10000 files/,
    ],
  ])('a server that %s: an error that says so', async (_what, find, message) => {
    const server = await serve([file(0, 1, 0, ['other.proto'])], find)
    await expect(reflect(server)).rejects.toThrow(message)
  })
})
