import type { Abortable } from '@vinyasa/core'
import {
  create,
  fromBinary,
  fromJson,
  toBinary,
  type DescMessage,
  type FileRegistry,
  type JsonObject,
  type Message,
} from '@bufbuild/protobuf'
import {
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  type FileDescriptorProto,
  type FileDescriptorSet,
} from '@bufbuild/protobuf/wkt'
import { GrpcSourceError, reasonOf } from '../errors.ts'
import type { ReflectionOptions } from '../options.ts'
import { toEntries } from '../runtime/metadata.ts'
import { GrpcCallError, type Transport } from '@vinyasa/grpc-transport'
import { wellKnownFile } from './shipped/bundled.ts'
import { compileProtoText } from './proto-text.ts'

const SERVICES = ['grpc.reflection.v1.ServerReflection', 'grpc.reflection.v1alpha.ServerReflection']

/** The most that a server may send to describe itself. */
const MAX_BYTES = 64 * 1024 * 1024
const MAX_FILES = 10_000

/** Services asked for at once: those of one file bring it each. */
const SERVICES_AT_ONCE = 16

/** The fields of `ServerReflectionResponse` that are read. */
interface ReflectionAnswer {
  readonly fileDescriptorResponse?: { readonly fileDescriptorProto: readonly Uint8Array[] }
  readonly listServicesResponse?: { readonly service: readonly { readonly name: string }[] }
  readonly errorResponse?: { readonly errorCode: number; readonly errorMessage: string }
}

export interface ReflectedDescriptors {
  readonly set: FileDescriptorSet
  readonly services: ReadonlySet<string>
}

/**
 * Asks a server for the descriptors of its services, with everything they import. A service that it lists and cannot
 * describe is left out, as long as there are others.
 */
export async function reflectDescriptors(
  transport: Transport<Abortable>,
  endpoint: string,
  options: ReflectionOptions,
  onLeftOut: (message: string) => void,
): Promise<ReflectedDescriptors> {
  try {
    const ask = await createRequester(transport, options)
    const names = await serviceNames(ask, options.services)
    const files = new ReflectedFiles()
    const left = await addServices(files, ask, names, onLeftOut)
    await addImports(files, ask)
    const set = create(FileDescriptorSetSchema, { file: files.all() })
    return { set, services: left }
  } catch (cause) {
    if (cause instanceof GrpcSourceError) throw cause
    const reason = (cause instanceof GrpcCallError ? `${cause.status}: ` : '') + reasonOf(cause)
    throw new GrpcSourceError(
      'GRPC_SOURCE_REFLECTION',
      `reflection could not load the descriptors from the server at ${endpoint} (${reason}); start the server, enable its reflection service, or set protoFiles or descriptorSet instead of reflection`,
      { cause },
    )
  }
}

class ReflectedFiles {
  readonly #files = new Map<string, FileDescriptorProto>()
  readonly #services = new Set<string>()
  #bytes = 0

  /** Why the server gave no file, if it did not. */
  add(answer: ReflectionAnswer | undefined): string | undefined {
    if (!answer) return 'the reflection stream ended without a response'
    const { errorResponse, fileDescriptorResponse } = answer
    if (errorResponse) return errorResponse.errorMessage || `error ${errorResponse.errorCode}`
    for (const bytes of fileDescriptorResponse?.fileDescriptorProto ?? []) {
      this.#bytes += bytes.length
      if (this.#bytes > MAX_BYTES || this.#files.size >= MAX_FILES)
        throw new GrpcSourceError(
          'GRPC_SOURCE_REFLECTION',
          `the descriptors that the server returns by reflection exceed ${MAX_BYTES} bytes or ${MAX_FILES} files; list only the services that you need in reflection.services`,
        )
      const file = fromBinary(FileDescriptorProtoSchema, bytes)
      if (this.#files.has(file.name)) continue
      this.#files.set(file.name, file)
      for (const { name } of file.service) this.#services.add(file.package ? `${file.package}.${name}` : name)
    }
    return undefined
  }

  hasService(name: string): boolean {
    return this.#services.has(name)
  }

  /** Some servers do not send Google's own files. */
  missingImports(): string[] {
    const imported = new Set(this.all().flatMap(({ dependency }) => dependency))
    return [...imported].filter((name) => !this.#files.has(name) && !wellKnownFile(name))
  }

  all(): FileDescriptorProto[] {
    return [...this.#files.values()]
  }
}

/** The services that the server could describe. */
async function addServices(
  files: ReflectedFiles,
  ask: Ask,
  names: readonly string[],
  onLeftOut: (message: string) => void,
): Promise<Set<string>> {
  const described = new Set(names)
  const leftOut: string[] = []
  // The first alone: it is often in one file with all others.
  for (let at = 0, size = 1; at < names.length; at += size, size = SERVICES_AT_ONCE) {
    const wanted = names.slice(at, at + size).filter((name) => !files.hasService(name))
    const answers = await ask(wanted.map((name) => ({ fileContainingSymbol: name })))
    for (const [index, name] of wanted.entries()) {
      const reason = files.add(answers[index])
      if (files.hasService(name)) continue
      described.delete(name)
      leftOut.push(
        `the server lists the service ${name}, but did not return the descriptor of the service (${reason ?? 'the returned files do not define the service'})`,
      )
    }
  }
  if (described.size === 0 && names.length > 0) throw new Error(leftOut.join('; '))
  for (const message of leftOut) onLeftOut(`${message}; the service is skipped`)
  return described
}

async function addImports(files: ReflectedFiles, ask: Ask): Promise<void> {
  for (let missing = files.missingImports(); missing.length > 0; missing = files.missingImports()) {
    const answers = await ask(missing.map((name) => ({ fileByFilename: name })))
    for (const [index, name] of missing.entries()) {
      const reason = files.add(answers[index])
      if (reason !== undefined)
        throw new Error(`the server did not return the imported file "${name}" (${reason})`)
    }
    const still = files.missingImports().find((name) => missing.includes(name))
    if (still !== undefined) throw new Error(`the server did not return the imported file "${still}"`)
  }
}

type Ask = (requests: readonly JsonObject[]) => Promise<ReflectionAnswer[]>

/** Speaks v1, and v1alpha to servers that know only that. */
async function createRequester(
  transport: Transport<Abortable>,
  { metadata = {}, timeoutMs = 5_000 }: ReflectionOptions,
): Promise<Ask> {
  const { registry } = await compileProtoText({ protoFiles: ['grpc/reflection/v1/reflection.proto'] })
  const request = descriptorOf(registry, 'ServerReflectionRequest')
  const response = descriptorOf(registry, 'ServerReflectionResponse')
  const entries = toEntries(metadata)
  let service: string | undefined

  async function exchange(name: string, requests: readonly JsonObject[]): Promise<ReflectionAnswer[]> {
    const path = `/${name}/ServerReflectionInfo`
    const answers: ReflectionAnswer[] = []
    const encoded = requests.map((json) => toBinary(request, fromJson(request, json)))
    for await (const bytes of transport.stream(
      { path, metadata: entries, timeoutMs, signal: undefined },
      encoded,
    )) {
      answers.push(fromBinary(response, bytes) as Message & ReflectionAnswer)
    }
    return answers
  }

  return async (requests) => {
    if (requests.length === 0) return []
    if (service !== undefined) return exchange(service, requests)
    let refusal: unknown
    for (const name of SERVICES) {
      try {
        const answers = await exchange(name, requests)
        service = name
        return answers
      } catch (error) {
        if (!(error instanceof GrpcCallError) || error.status !== 'UNIMPLEMENTED') throw error
        refusal = error
      }
    }
    throw refusal
  }
}

async function serviceNames(ask: Ask, wanted: readonly string[] | undefined): Promise<string[]> {
  const [answer] = await ask([{ listServices: '' }])
  if (answer?.errorResponse) throw new Error(answer.errorResponse.errorMessage)
  const listed = (answer?.listServicesResponse?.service ?? []).map(({ name }) => name)
  // Servers list them in any order, and names go by it.
  if (!wanted) return listed.filter((name) => !/^grpc\.(reflection|health|channelz)\./.test(name)).toSorted()
  const unknown = wanted.find((name) => !listed.includes(name))
  if (unknown === undefined) return [...wanted]
  throw new GrpcSourceError(
    'GRPC_SOURCE_REFLECTION',
    `reflection.services contains "${unknown}", which is not among the services that the server lists (${listed.join(', ') || 'none'}); correct or remove the name`,
  )
}

function descriptorOf(registry: FileRegistry, name: string): DescMessage {
  const message = registry.getMessage(`grpc.reflection.v1.${name}`)
  if (!message)
    throw new Error(
      `the installed package @vinyasa/grpc-source does not contain grpc.reflection.v1.${name}; install the package again`,
    )
  return message
}
