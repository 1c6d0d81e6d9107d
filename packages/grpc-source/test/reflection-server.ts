import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import {
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  type FileDescriptorProto,
} from '@bufbuild/protobuf/wkt'
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js'
import { compileProtoText } from '../src/descriptors/proto-text.ts'

export interface ReflectionServer {
  readonly address: string
  /** `x-token` of each stream. */
  readonly tokens: readonly string[]
  /** Names of files sent, in order. */
  readonly sent: readonly string[]
  close(): void
}

/** The descriptor set of proto texts. */
export async function descriptorSetOf(protoText: Readonly<Record<string, string>>): Promise<Uint8Array> {
  const { registry } = await compileProtoText({ protoText, onFile() {}, onLeftOut() {} })
  const file = [...registry.files].map(({ proto }) => proto)
  return toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file }))
}

interface Listening {
  /** Default: a free port. */
  readonly listenAt?: string
  /** Default: plaintext. */
  readonly credentials?: ServerCredentials
}

/**
 * A server that only describes itself, from a descriptor set, with the options and comments it holds. `find` answers
 * in its place for the names that it knows: a file, or null for none.
 */
export async function startReflectionServer(
  descriptorSet: Uint8Array,
  version: 'v1' | 'v1alpha',
  find: (wanted: string) => FileDescriptorProto | null | undefined = () => undefined,
  { listenAt = '127.0.0.1:0', credentials = ServerCredentials.createInsecure() }: Listening = {},
): Promise<ReflectionServer> {
  const { file: files } = fromBinary(FileDescriptorSetSchema, descriptorSet)
  const tokens: string[] = []
  const sent: string[] = []
  const services = files.flatMap((file) => file.service.map(({ name }) => `${file.package}.${name}`))

  function answer(request: Uint8Array): Uint8Array {
    const reader = new BinaryReader(request)
    const writer = new BinaryWriter()
    const [field] = reader.tag()
    const wanted = reader.string()
    if (field === 7) {
      writer.tag(6, WireType.LengthDelimited).fork()
      for (const name of services)
        writer.tag(1, WireType.LengthDelimited).fork().tag(1, WireType.LengthDelimited).string(name).join()
      return writer.join().finish()
    }
    const given = find(wanted)
    const file =
      given === undefined
        ? files.find((candidate) =>
            field === 3
              ? candidate.name === wanted
              : candidate.service.some(({ name }) => `${candidate.package}.${name}` === wanted),
          )
        : given
    if (!file) {
      return writer
        .tag(7, WireType.LengthDelimited)
        .fork()
        .tag(1, WireType.Varint)
        .int32(5)
        .tag(2, WireType.LengthDelimited)
        .string(`not found: ${wanted}`)
        .join()
        .finish()
    }
    sent.push(file.name)
    const bytes = toBinary(FileDescriptorProtoSchema, create(FileDescriptorProtoSchema, file))
    return writer
      .tag(4, WireType.LengthDelimited)
      .fork()
      .tag(1, WireType.LengthDelimited)
      .bytes(bytes)
      .join()
      .finish()
  }

  const asIs = (bytes: Uint8Array): Buffer => Buffer.from(bytes)
  const server = new Server()
  server.addService(
    {
      info: {
        path: `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
        requestStream: true,
        responseStream: true,
        requestSerialize: asIs,
        requestDeserialize: asIs,
        responseSerialize: asIs,
        responseDeserialize: asIs,
      },
    },
    {
      info(call: ServerDuplexStream<Uint8Array, Uint8Array>) {
        tokens.push(...call.metadata.get('x-token').map(String))
        call.on('data', (request: Uint8Array) => call.write(answer(request)))
        call.on('end', () => call.end())
        call.on('error', () => {})
      },
    },
  )
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(listenAt, credentials, (error, bound) => (error ? reject(error) : resolve(bound)))
  })
  return { address: `127.0.0.1:${port}`, tokens, sent, close: () => server.forceShutdown() }
}
