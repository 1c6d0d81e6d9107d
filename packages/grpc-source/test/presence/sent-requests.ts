import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  create,
  createFileRegistry,
  equals,
  fromBinary,
  toBinary,
  type FileRegistry,
  type Message,
} from '@bufbuild/protobuf'
import { FileDescriptorSetSchema, type FileDescriptorSet } from '@bufbuild/protobuf/wkt'
import { createDisposables } from '@vinyasa/test-kit'
import { startBytesServer } from '../bytes-server.ts'
import { createGrpcSource } from '../../src/index.ts'
import { run, yogaWith } from '../harness.ts'
import { createRandom } from '../plans/random.ts'
import { randomRequest, randomRequestProto, type RequestProto } from './random-requests.ts'
import { SYNTAXES, type Syntax } from './request-fields.ts'

const PER_PROTO = 20

/** A request as the source sent it, and the message that it was to be. */
export interface SentRequest {
  readonly type: string
  readonly syntax: Syntax
  readonly args: Readonly<Record<string, unknown>>
  readonly meant: Message
  readonly sent: Uint8Array
}

export interface SentRequests {
  readonly set: FileDescriptorSet
  readonly registry: FileRegistry
  readonly requests: readonly SentRequest[]
}

/** Requests of random arguments for random protos, every second of them by way of GraphQL. */
export async function sendRandomRequests(count: number, seed: number): Promise<SentRequests> {
  const random = createRandom(seed)
  const protos = Array.from({ length: Math.ceil(count / PER_PROTO) }, (_, index) => {
    const syntax = SYNTAXES[index % SYNTAXES.length] as Syntax
    const packageName = `p${index}`
    return { syntax, packageName, proto: randomRequestProto(random, syntax, packageName) }
  })
  const set = compile(protos)
  const registry = createFileRegistry(set)
  const requests: SentRequest[] = []
  for (const { syntax, packageName, proto } of protos) {
    const type = `${packageName}.M0`
    const message = registry.getMessage(type)
    if (!message) throw new Error(`${packageName} has no M0`)
    const sender = await startSender(packageName, proto)
    for (let index = 0; index < PER_PROTO; index++) {
      const byGraphql = index % 2 === 1
      const { args, init } = randomRequest(random, proto, syntax, byGraphql)
      const sent = await (byGraphql ? sender.ask(args) : sender.call(args))
      requests.push({ type, syntax, args, meant: create(message, init), sent })
    }
    await sender.close()
  }
  return { set, registry, requests }
}

/** What @bufbuild/protobuf reads otherwise than it was meant, the shortest first. */
export function differencesToBufbuild({ registry, requests }: SentRequests): readonly unknown[] {
  return requests
    .flatMap(({ type, syntax, args, meant, sent }) => {
      const message = registry.getMessage(type)!
      try {
        const parsed = fromBinary(message, sent)
        // It refuses a message without its required fields where it writes one.
        const written = toBinary(message, parsed)
        if (!equals(message, parsed, meant, { unknown: true, registry })) throw new Error('it is another one')
        if (written.length !== sent.length) throw new Error('it holds more than the message')
        return []
      } catch (error) {
        return [[syntax, String(error), args, Buffer.from(sent).toString('hex')]]
      }
    })
    .toSorted((a, b) => JSON.stringify(a).length - JSON.stringify(b).length)
}

/** The descriptors as buf reads them, not as the source does. */
function compile(protos: readonly { packageName: string; proto: RequestProto }[]): FileDescriptorSet {
  const folder = mkdtempSync(join(tmpdir(), 'vinyasa-presence-'))
  try {
    for (const { packageName, proto } of protos)
      writeFileSync(join(folder, `${packageName}.proto`), proto.text)
    const out = join(folder, 'set.binpb')
    const buf = join(createRequire(import.meta.url).resolve('@bufbuild/buf/package.json'), '..', 'bin', 'buf')
    const args = ['build', folder, '-o', out, '--config', '{"version":"v2"}']
    execFileSync(process.execPath, [buf, ...args], { stdio: 'pipe' })
    return fromBinary(FileDescriptorSetSchema, readFileSync(out))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function startSender(packageName: string, { text }: RequestProto) {
  const opened = createDisposables()
  const server = opened.use(await startBytesServer(`/${packageName}.S/Get`, () => new Uint8Array()))
  const protoText = { 'p.proto': text }
  const options = { name: 'test', logger: { warn() {}, error() {} }, expose: 'all' } as const
  const grpc = opened.use(await createGrpcSource({ ...options, endpoint: server.address, protoText }))
  const field = grpc.schema.getQueryType()?.getFields()['get']
  const declared = field?.args.map(({ name, type }) => `$${name}: ${type}`).join(', ')
  const passed = field?.args.map(({ name }) => `${name}: $${name}`).join(', ')
  const yoga = yogaWith(grpc)
  const last = (before: number): Uint8Array => {
    if (server.requests.length !== before + 1) throw new Error('nothing was sent')
    return server.requests.at(-1) as Uint8Array
  }
  return {
    async call(args: Readonly<Record<string, unknown>>): Promise<Uint8Array> {
      const before = server.requests.length
      await grpc.call(`${packageName}.S.Get`, args)
      return last(before)
    },
    async ask(variables: Readonly<Record<string, unknown>>): Promise<Uint8Array> {
      const before = server.requests.length
      const { errors } = await run(yoga, `query (${declared}) { get(${passed}) { n } }`, { variables })
      if (errors) throw new Error(JSON.stringify([errors, variables]) + text)
      return last(before)
    },
    close: () => opened.dispose(),
  }
}
