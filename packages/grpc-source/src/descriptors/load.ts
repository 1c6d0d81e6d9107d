import type { Abortable } from '@vinyasa/core'
import type { DescFile, DescService, FileRegistry } from '@bufbuild/protobuf'
import { optionError } from '../errors.ts'
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
  /** All files; of those that are named, the first comes first. */
  readonly files: readonly DescFile[]
}

/** Reads descriptors from whichever input the options name. */
export async function loadDescriptors(
  options: DescriptorOptions,
  main: () => Transport<Abortable> | undefined,
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
    const inUse = named.map((name) => (protoFiles ? name : name.replace('protoFiles', 'protoText')))
    const found = inUse.length === 0 ? 'no descriptors are configured' : `${inUse.join(' and ')} are set`
    throw optionError(
      [],
      `${found}; set exactly one of protoFiles (or protoText), descriptorSet, reflection and protoMetadata`,
    )
  }
  if (typeof descriptorSet === 'string') onFile(descriptorSet)
  if (descriptorSet !== undefined) {
    const set = await readDescriptorSet(descriptorSet)
    const imported = importsOf(set)
    // What others import comes behind them, as where files are named.
    const needed = new Set(set.file.flatMap(({ dependency }) => dependency))
    const roots = set.file.map(({ name }) => name).filter((name) => !needed.has(name))
    return ordered(createDescriptorRegistry(set), roots, ({ file }) => !imported.has(file.proto.name))
  }
  if (inputs.protoFiles) {
    const input = { protoFiles, protoText, includePaths, onFile, onLeftOut }
    const { registry, named: ownFiles } = await compileProtoText(input)
    return ordered(registry, ownFiles, ({ file }) => ownFiles.has(file.proto.name))
  }
  if (protoMetadata !== undefined) {
    const { set, named: ownFiles } = readTsProtoMetadata(protoMetadata)
    return ordered(createDescriptorRegistry(set), ownFiles, ({ file }) => ownFiles.has(file.proto.name))
  }
  const transport = main()
  if (!transport) {
    throw optionError(
      ['reflection'],
      'reflection is set, but endpoint is not; set endpoint to the address of the server',
    )
  }
  const asked = reflection === true || !reflection ? {} : reflection
  const { set, services } = await reflectDescriptors(transport, endpoint, asked, onLeftOut)
  const registry = createDescriptorRegistry(set)
  const own = [...services].flatMap((service) => registry.getService(service)?.file.proto.name ?? [])
  return ordered(registry, own, ({ typeName }) => services.has(typeName))
}

/**
 * Puts the files into the order in which they are named, and each before what it imports: a file that is named behind all
 * others changes the order of none of them.
 */
function ordered(
  registry: FileRegistry,
  named: Iterable<string>,
  isOwn: LoadedDescriptors['isOwn'],
): LoadedDescriptors {
  const files = new Set<DescFile>()
  const add = (file: DescFile | undefined): void => {
    if (!file || files.has(file)) return
    files.add(file)
    file.dependencies.forEach(add)
  }
  for (const name of named) add(registry.getFile(name))
  for (const file of registry.files) add(file)
  return { registry, isOwn, files: [...files] }
}
