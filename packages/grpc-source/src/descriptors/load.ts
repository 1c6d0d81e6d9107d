import type { FileRegistry } from '@bufbuild/protobuf'
import { GrpcSourceError } from '../errors.ts'
import type { DescriptorOptions } from '../options.ts'
import type { Transport } from '../runtime/transport.ts'
import { readDescriptorSet } from './descriptor-set.ts'
import { compileProtoText } from './proto-text.ts'
import { createDescriptorRegistry } from './registry.ts'

/** Reads descriptors from whichever input the options name. */
export async function loadDescriptors(
  options: DescriptorOptions,
  main: () => Transport | undefined,
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
  if (descriptorSet !== undefined) return createDescriptorRegistry(await readDescriptorSet(descriptorSet))
  if (inputs.protoFiles)
    return createDescriptorRegistry(await compileProtoText({ protoFiles, protoText, includePaths }))
  void main
  throw new GrpcSourceError('GRPC_SOURCE_OPTIONS', `${named[0]} is not supported`)
}
