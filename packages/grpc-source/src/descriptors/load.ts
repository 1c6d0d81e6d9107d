import type { FileRegistry } from '@bufbuild/protobuf'
import { GrpcSourceError } from '../errors.ts'
import type { DescriptorOptions } from '../options.ts'
import type { Transport } from '../runtime/transport.ts'
import { readDescriptorSet } from './descriptor-set.ts'
import { compileProtoText } from './proto-text.ts'
import { reflectDescriptors } from './reflection.ts'
import { createDescriptorRegistry } from './registry.ts'
import { readTsProtoMetadata } from './ts-proto.ts'

/** Reads descriptors from whichever input the options name. */
export async function loadDescriptors(
  options: DescriptorOptions,
  main: () => Transport | undefined,
  endpoint: string,
  onFile: (path: string) => void,
  onMissingImport: (message: string) => void,
): Promise<FileRegistry> {
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
  if (descriptorSet !== undefined) return createDescriptorRegistry(await readDescriptorSet(descriptorSet))
  if (inputs.protoFiles)
    return compileProtoText({ protoFiles, protoText, includePaths, onFile, onMissingImport })
  if (protoMetadata !== undefined) return createDescriptorRegistry(readTsProtoMetadata(protoMetadata))
  const transport = main()
  if (!transport)
    throw new GrpcSourceError('GRPC_SOURCE_OPTIONS', 'reflection needs an endpoint to ask; set endpoint')
  return createDescriptorRegistry(
    await reflectDescriptors(transport, endpoint, reflection === true || !reflection ? {} : reflection),
  )
}
