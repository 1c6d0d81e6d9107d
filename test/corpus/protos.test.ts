import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fromBinary, toBinary } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema, type DescriptorProto } from '@bufbuild/protobuf/wkt'
import { createGrpcSource, type GrpcSource, type GrpcSourceOptions } from '@vinyasa/grpc-source'
import { lexicographicSortSchema, parse, print, printSchema, validateSchema, visit } from 'graphql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startReflectionServer } from '../../packages/grpc-source/test/reflection-server.ts'
import { readCorpora, sample, type ProtoCorpus } from './proto-files.ts'

/** `CORPUS=all` reads every file; and compares half of them with what protoc makes of them; otherwise a half, and a fortieth. */
const isWhole = process.env['CORPUS'] === 'all'
const READ_STEP = isWhole ? 1 : 2
const COMPARE_STEP = isWhole ? 2 : 40

const corpora = readCorpora()
let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vinyasa-corpus-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function open(options: Partial<GrpcSourceOptions>): Promise<GrpcSource> {
  return createGrpcSource({
    name: 'corpus',
    endpoint: 'localhost:1',
    expose: 'all',
    logger: { warn() {}, error() {} },
    ...options,
  })
}

describe.each(corpora)('protos of $name', ({ name, includePaths, services }) => {
  it('give a valid schema as they are', async () => {
    const failures: string[] = []
    const files = sample(services, name === 'google-proto-files' ? READ_STEP : 1)
    const began = performance.now()
    for (const file of files) {
      const failure = await whyNot(file, includePaths)
      if (failure !== undefined) failures.push(`${file}: ${failure}`)
    }
    const seconds = ((performance.now() - began) / 1000).toFixed(1)
    // oxlint-disable-next-line no-console -- the figures of RESULTS.md
    console.log(
      `${name}: ${files.length} files with services, ${files.length - failures.length} valid, ${seconds} s`,
    )
    expect(failures).toEqual([])
    expect(files.length).toBeGreaterThan(0)
  })
})

async function whyNot(file: string, includePaths: readonly string[]): Promise<string | undefined> {
  try {
    const grpc = await open({ protoFiles: [file], includePaths })
    // A server adds what only it can know: whether any source has a query.
    const error = validateSchema(grpc.schema).find(({ message }) => !message.startsWith('Query root type'))
    await grpc.close()
    return error?.message
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

describe('a descriptor set of protoc, stripped of what it need not hold, gives what the text gives', () => {
  // protoc refuses the imports of etcd3's, which begin with "./".
  const read = corpora.filter(({ name }) => name !== 'etcd3')
  const pairs = read.flatMap((corpus) =>
    sample(withMethods(corpus), corpus.name === 'google-proto-files' ? COMPARE_STEP : 4).map((file) => ({
      corpus,
      file,
    })),
  )

  it(`${pairs.length} files`, async () => {
    const different: string[] = []
    for (const { corpus, file } of pairs) {
      const text = await open({ protoFiles: [file], includePaths: corpus.includePaths })
      // A set of protoc does not tell which of its files were named.
      const own = servicesIn(corpus, file)
      const set = await open({ descriptorSet: stripped(compile(corpus, file)), expose: own })
      if (printSchema(set.schema) !== printSchema(text.schema)) different.push(file)
      await Promise.all([text.close(), set.close()])
    }
    expect(different).toEqual([])
  })

  it('a server’s reflection too', async () => {
    const different: string[] = []
    for (const { corpus, file } of pairs) {
      const failure = await whyNotReflected(corpus, file)
      if (failure !== undefined) different.push(`${file}: ${failure}`)
    }
    expect(different).toEqual([])
  })
})

/** Servers keep no comments, and do not tell in which order their files were written. */
function sortedWithoutComments({ schema }: GrpcSource): string {
  const document = parse(printSchema(lexicographicSortSchema(schema)))
  return print(
    visit(document, {
      enter: (node) => ('description' in node ? { ...node, description: undefined } : undefined),
    }),
  )
}

function withoutSourceInfo(bytes: Uint8Array): Uint8Array {
  const set = fromBinary(FileDescriptorSetSchema, bytes)
  for (const file of set.file) delete file.sourceCodeInfo
  return toBinary(FileDescriptorSetSchema, set)
}

async function whyNotReflected(corpus: ProtoCorpus, file: string): Promise<string | undefined> {
  const text = await open({ protoFiles: [file], includePaths: corpus.includePaths })
  const server = await startReflectionServer(withoutSourceInfo(stripped(compile(corpus, file))), 'v1')
  try {
    const reflected = await open({
      endpoint: server.address,
      reflection: {},
      expose: servicesIn(corpus, file),
    })
    const isEqual = sortedWithoutComments(reflected) === sortedWithoutComments(text)
    await reflected.close()
    return isEqual ? undefined : 'another schema'
  } catch (error) {
    return String(error)
  } finally {
    await text.close()
    server.close()
  }
}

it('2,300 types from text in at most twice the time of their descriptor set', { retry: 2 }, async () => {
  const corpus = corpora.find(({ name }) => name === 'google-proto-files')!
  const files = ['cloud/compute/v1/compute', 'container/v1/cluster_service', 'privacy/dlp/v2/dlp'].map(
    (file) => `google/${file}.proto`,
  )
  const bytes = compile(corpus, ...files)
  const expose = files.flatMap((file) => servicesIn(corpus, file))
  const text = (): Promise<GrpcSource> => open({ protoFiles: files, includePaths: corpus.includePaths })
  const set = (): Promise<GrpcSource> => open({ descriptorSet: bytes, expose })
  const times: Record<'text' | 'set', number[]> = { text: [], set: [] }
  let types = 0
  for (let round = 0; round < 5; round++) {
    for (const [kind, start] of [
      ['text', text],
      ['set', set],
    ] as const) {
      const before = process.cpuUsage()
      const grpc = await start()
      types = Object.keys(grpc.schema.getTypeMap()).length
      await grpc.close()
      const { user, system } = process.cpuUsage(before)
      times[kind].push((user + system) / 1000)
    }
  }
  const median = (list: readonly number[]): number => list.toSorted((a, b) => a - b)[2]!
  // oxlint-disable-next-line no-console -- the figures of RESULTS.md
  console.log(
    `${types} types: text ${median(times.text).toFixed(0)} ms, set ${median(times.set).toFixed(0)} ms`,
  )
  expect(types).toBeGreaterThan(2_300)
  expect(median(times.text)).toBeLessThan(2 * median(times.set))
})

/** What protoc makes of a file and its imports, comments included. */
function compile({ includePaths }: ProtoCorpus, ...files: readonly string[]): Uint8Array {
  const out = join(folder, 'set.binpb')
  execFileSync(
    'protoc',
    [
      ...includePaths.map((path) => `-I${path}`),
      '--include_imports',
      '--include_source_info',
      `--descriptor_set_out=${out}`,
      ...files,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  return readFileSync(out)
}

/** As C++ reflection and embedded descriptors are: without JSON names. Those that an author chose cannot be restored. */
function stripped(bytes: Uint8Array): Uint8Array {
  const set = fromBinary(FileDescriptorSetSchema, bytes)
  const strip = (message: DescriptorProto): void => {
    for (const field of message.field) {
      const usual = field.name.replace(/_+(.?)/g, (_, next: string) => next.toUpperCase())
      if (field.jsonName === usual) field.jsonName = ''
    }
    message.nestedType.forEach(strip)
  }
  for (const { messageType } of set.file) messageType.forEach(strip)
  return toBinary(FileDescriptorSetSchema, set)
}

/** The full names of the services that a file defines. */
function servicesIn({ includePaths }: ProtoCorpus, file: string): string[] {
  const text =
    includePaths.map((path) => readIfThere(join(path, file))).find((found) => found !== undefined) ?? ''
  const packageName = /^package\s+([\w.]+)\s*;/m.exec(text)?.[1]
  return [...text.matchAll(/^service\s+(\w+)\s*\{/gm)].map(([, service]) =>
    packageName === undefined ? `${service}` : `${packageName}.${service}`,
  )
}

/** Those that have something to compare. */
function withMethods(corpus: ProtoCorpus): readonly string[] {
  return corpus.services.filter((file) =>
    corpus.includePaths.some((path) => /^\s+rpc\s/m.test(readIfThere(join(path, file)) ?? '')),
  )
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
