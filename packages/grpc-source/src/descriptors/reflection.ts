import {
  create,
  fromBinary,
  fromJson,
  toBinary,
  toJson,
  type DescMessage,
  type FileRegistry,
  type JsonObject,
} from '@bufbuild/protobuf'
import {
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  type FileDescriptorProto,
  type FileDescriptorSet,
} from '@bufbuild/protobuf/wkt'
import { GrpcSourceError } from '../errors.ts'
import type { ReflectionOptions } from '../options.ts'
import { toEntries } from '../runtime/metadata.ts'
import { GrpcCallError, type Transport } from '@vinyasa/grpc-transport'
import { wellKnownFile } from './shipped/bundled.ts'
import { compileProtoText } from './proto-text.ts'

const SERVICES = ['grpc.reflection.v1.ServerReflection', 'grpc.reflection.v1alpha.ServerReflection']

interface ReflectionAnswer {
  readonly fileDescriptorResponse?: { readonly fileDescriptorProto?: readonly string[] }
  readonly listServicesResponse?: { readonly service?: readonly { readonly name?: string }[] }
  readonly errorResponse?: { readonly errorCode?: number; readonly errorMessage?: string }
}

/** Asks a server for the descriptors of its services, with everything they import. */
export async function reflectDescriptors(
  transport: Transport,
  endpoint: string,
  options: ReflectionOptions,
): Promise<{ readonly set: FileDescriptorSet; readonly services: ReadonlySet<string> }> {
  const ask = await createAsker(transport, options)
  try {
    const services = await serviceNames(ask, options.services)
    const files = new Map<string, FileDescriptorProto>()
    addFiles(files, await ask(services.map((service) => ({ fileContainingSymbol: service }))))
    for (;;) {
      const missing = missingImports(files)
      if (missing.length === 0) break
      addFiles(files, await ask(missing.map((name) => ({ fileByFilename: name }))))
    }
    const set = create(FileDescriptorSetSchema, { file: [...files.values()] })
    return { set, services: new Set(services) }
  } catch (cause) {
    if (cause instanceof GrpcSourceError) throw cause
    const reason = cause instanceof GrpcCallError ? `${cause.status}: ${cause.message}` : String(cause)
    throw new GrpcSourceError(
      'GRPC_SOURCE_REFLECTION',
      `reflection: the server at ${endpoint} did not describe itself (${reason}); start it, turn its reflection service on, or give protoFiles or a descriptorSet`,
      { cause },
    )
  }
}

type Ask = (requests: readonly JsonObject[]) => Promise<ReflectionAnswer[]>

/** Speaks v1, and v1alpha to servers that know only that. */
async function createAsker(
  transport: Transport,
  { metadata = {}, timeoutMs = 5_000 }: ReflectionOptions,
): Promise<Ask> {
  const { registry } = await compileProtoText({ protoFiles: ['grpc/reflection/v1/reflection.proto'] })
  const request = messageOf(registry, 'ServerReflectionRequest')
  const response = messageOf(registry, 'ServerReflectionResponse')
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
      answers.push(toJson(response, fromBinary(response, bytes)) as ReflectionAnswer)
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
  const listed = (answer?.listServicesResponse?.service ?? []).flatMap(({ name }) => name ?? [])
  if (!wanted) return listed.filter((name) => !/^grpc\.(reflection|health|channelz)\./.test(name))
  const unknown = wanted.find((name) => !listed.includes(name))
  if (unknown === undefined) return [...wanted]
  throw new GrpcSourceError(
    'GRPC_SOURCE_REFLECTION',
    `reflection.services names "${unknown}", which the server does not list; it has ${listed.join(', ')}`,
  )
}

function addFiles(files: Map<string, FileDescriptorProto>, answers: readonly ReflectionAnswer[]): void {
  for (const { errorResponse, fileDescriptorResponse } of answers) {
    if (errorResponse) throw new Error(errorResponse.errorMessage || `error ${errorResponse.errorCode}`)
    for (const bytes of fileDescriptorResponse?.fileDescriptorProto ?? []) {
      const file = fromBinary(FileDescriptorProtoSchema, Buffer.from(bytes, 'base64'))
      files.set(file.name, file)
    }
  }
}

/** Some servers do not send Google's own files. */
function missingImports(files: ReadonlyMap<string, FileDescriptorProto>): string[] {
  const imported = new Set([...files.values()].flatMap(({ dependency }) => dependency))
  return [...imported].filter((name) => !files.has(name) && !wellKnownFile(name))
}

function messageOf(registry: FileRegistry, name: string): DescMessage {
  const message = registry.getMessage(`grpc.reflection.v1.${name}`)
  if (!message) throw new Error(`${name} is not part of this package's protos`)
  return message
}
