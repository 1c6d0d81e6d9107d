import {
  createFileRegistry,
  type DescFile,
  type FileRegistry,
  fromBinary,
  toBinary,
} from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { type Server, type ServerDuplexStream, status } from '@grpc/grpc-js'
import {
  ServerReflectionService,
  type ServerReflectionRequest,
  type ServerReflectionResponse,
} from './gen/grpc/reflection/v1/reflection.ts'

type Answer = NonNullable<ServerReflectionResponse['messageResponse']>

/**
 * Serves the descriptors just as the compiler made them: custom options and comments included,
 * which descriptors rebuilt from a loaded proto have lost. Both versions of the protocol.
 */
export function addReflection(server: Server, descriptorSet: Uint8Array): void {
  const answer = createReflection(descriptorSet)
  const { serverReflectionInfo } = ServerReflectionService
  const path = '/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo'
  const implementation = {
    serverReflectionInfo(call: ServerDuplexStream<ServerReflectionRequest, ServerReflectionResponse>) {
      call.on('data', (request: ServerReflectionRequest) => {
        call.write({ validHost: request.host, originalRequest: request, messageResponse: answer(request) })
      })
      call.on('end', () => call.end())
    },
  }
  server.addService(ServerReflectionService, implementation)
  server.addService({ serverReflectionInfo: { ...serverReflectionInfo, path } }, implementation)
}

function createReflection(descriptorSet: Uint8Array): (request: ServerReflectionRequest) => Answer {
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, descriptorSet))

  return ({ messageRequest: request }) => {
    switch (request?.$case) {
      case 'listServices': {
        const services = [...registry].filter((type) => type.kind === 'service')
        const value = { service: services.map(({ typeName }) => ({ name: typeName })) }
        return { $case: 'listServicesResponse', value }
      }
      case 'fileByFilename':
        return files(registry.getFile(request.value), request.value)
      case 'fileContainingSymbol':
        return files(fileOfSymbol(registry, request.value), request.value)
      case 'fileContainingExtension': {
        const { containingType, extensionNumber } = request.value
        const extension = extensionsOf(registry, containingType).find(
          ({ number }) => number === extensionNumber,
        )
        return files(extension?.file, `extension ${extensionNumber} of ${containingType}`)
      }
      case 'allExtensionNumbersOfType': {
        const extensionNumber = extensionsOf(registry, request.value).map(({ number }) => number)
        return {
          $case: 'allExtensionNumbersResponse',
          value: { baseTypeName: request.value, extensionNumber },
        }
      }
      default:
        return failure(status.INVALID_ARGUMENT, 'The request asks for nothing')
    }
  }
}

/** The file and all that it imports, each once. */
function files(file: DescFile | undefined, wanted: string): Answer {
  if (!file) return failure(status.NOT_FOUND, `Not found: ${wanted}`)
  const found = new Set<DescFile>()
  const add = (next: DescFile): void => {
    if (found.has(next)) return
    found.add(next)
    for (const dependency of next.dependencies) add(dependency)
  }
  add(file)
  const fileDescriptorProto = [...found].map(({ proto }) =>
    Buffer.from(toBinary(FileDescriptorProtoSchema, proto)),
  )
  return { $case: 'fileDescriptorResponse', value: { fileDescriptorProto } }
}

/** A symbol is a type, or a method, field or value within one. */
function fileOfSymbol(registry: FileRegistry, symbol: string): DescFile | undefined {
  const type = registry.get(symbol) ?? registry.get(symbol.slice(0, symbol.lastIndexOf('.')))
  return type?.file
}

function extensionsOf(registry: FileRegistry, typeName: string): { number: number; file: DescFile }[] {
  return [...registry].flatMap((type) =>
    type.kind === 'extension' && type.extendee.typeName === typeName ? [type] : [],
  )
}

function failure(errorCode: status, errorMessage: string): Answer {
  return { $case: 'errorResponse', value: { errorCode, errorMessage } }
}
