import type { DescService, FileRegistry } from '@bufbuild/protobuf'
import { GrpcSourceError } from '../errors.ts'
import type { DescriptorOptions } from '../options.ts'
import type { Transport } from '@vinyasa/grpc-transport'
import { importsOf, readDescriptorSet } from './descriptor-set.ts'
import { compileProtoText } from './proto-text.ts'
import { reflectDescriptors } from './reflection.ts'
import { createDescriptorRegistry } from './registry.ts'
import { readTsProtoMetadata } from './ts-proto/ts-proto.ts'

/** Descriptors, and which services are meant: files bring along those of their imports. */
export interface LoadedDescriptors {
  readonly registry: FileRegistry
  readonly isOwn: (service: DescService) => boolean
}

/** Reads descriptors from whichever input the options name. */
export async function loadDescriptors(
  options: DescriptorOptions,
  main: () => Transport | undefined,
  endpoint: string,
  onFile: (path: string) => void,
  onLeftOut: (message: string) => void,
): Promise<LoadedDescriptors> {
  const { protoFiles, protoText, includePaths, descriptorSet, reflection, protoMetadata } = options
  const inputs = {
    protoFiles: protoFiles !== undefined || protoText !== undefined,
    descriptorSet: descriptorSet !== undefined,
    reflection: reflection !== undefined && reflection !== false,
    protoMetadata: protoMetadata !== undefined,
  }
  const named = Object.entries(inputs).flatMap(([name, isGiven]) => (isGiven ? [name] : []))
  if (named.length !== 1) {
    const found = named.length === 0 ? 'none of them is set' : `${named.join(' and ')} are set`
    throw new GrpcSourceError(
      'GRPC_SOURCE_OPTIONS',
      `descriptors come from exactly one of protoFiles (or protoText), descriptorSet, reflection, protoMetadata; ${found}`,
    )
  }
  if (typeof descriptorSet === 'string') onFile(descriptorSet)
  if (descriptorSet !== undefined) {
    const set = await readDescriptorSet(descriptorSet)
    const imported = importsOf(set)
    return {
      registry: createDescriptorRegistry(set),
      isOwn: ({ file }) => !imported.has(file.proto.name),
    }
  }
  if (inputs.protoFiles) {
    const input = { protoFiles, protoText, includePaths, onFile, onLeftOut }
    const { registry, named: ownFiles } = await compileProtoText(input)
    return { registry, isOwn: ({ file }) => ownFiles.has(file.proto.name) }
  }
  if (protoMetadata !== undefined) {
    const { set, named: ownFiles } = readTsProtoMetadata(protoMetadata)
    return { registry: createDescriptorRegistry(set), isOwn: ({ file }) => ownFiles.has(file.proto.name) }
  }
  const transport = main()
  if (!transport)
    throw new GrpcSourceError('GRPC_SOURCE_OPTIONS', 'reflection needs an endpoint to ask; set endpoint')
  const asked = reflection === true || !reflection ? {} : reflection
  const { set, services } = await reflectDescriptors(transport, endpoint, asked, onLeftOut)
  return { registry: createDescriptorRegistry(set), isOwn: ({ typeName }) => services.has(typeName) }
}
