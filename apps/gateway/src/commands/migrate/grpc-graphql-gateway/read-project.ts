import { relative } from 'node:path'
import { type GraphQLSchema, isObjectType } from 'graphql'
import { grpcSchemaOf, nameOf } from '../../init-grpc.ts'
import { findProtoRoots } from '../../proto-roots.ts'
import { ConfigError, messageOf } from '../../../errors.ts'
import { knownMessages } from '../known-messages.ts'
import { filled, type Migration, type Note } from '../migration.ts'
import { type GatewayCode, NO_CODE } from './code.ts'
import { type Dialect, goDialect, goPackageName, RUST } from './dialects.ts'
import type { Project } from './find-project.ts'
import { readGoCode } from './go-code.ts'
import { oldSchemaOf } from './old-schema.ts'
import { type ProtoService, type ProtoText, readProtoText } from './protos.ts'
import { readRustCode } from './rust-code.ts'

/** Reads a project of the Go and Rust gateways of these annotations. Throws {@link ConfigError} where its protos cannot be read. */
export async function readProject(project: Project, directory: string): Promise<Migration> {
  const { language, code } = project
  const read = !code ? NO_CODE : language === 'go' ? readGoCode(code.text) : readRustCode(code.text)
  const all = [...project.protos].map(([path, text]) => readProtoText(path, text))
  const isServed = ({ name }: ProtoService): boolean => named(read.services, name)
  const served = all.filter(({ services }) => services.some(isServed))
  const protos = served.length > 0 ? served : all
  const left = protos.flatMap(({ services }) => services.filter((service) => !isServed(service)))
  const dialect = language === 'go' ? goDialect(goPackages(all)) : RUST
  const given = filled({
    ...(await filesOf(protos, directory)),
    ...endpointsOf(
      protos.flatMap(({ services }) => services.filter(isServed)),
      read,
      language,
    ),
    fieldNames: project.isCamel ? undefined : 'proto',
    int64: language === 'go' ? 'number-when-safe' : undefined,
    methods: methodsOf(protos, left, language),
  })
  const source = nameOf(relative(directory, protos[0]?.path ?? 'api'))
  const bare = await schemaOf(source, given, directory)
  const draft = filled({ ...given, typeNames: knownMessages(bare, (message) => message) })
  const schema = draft['typeNames'] ? await schemaOf(source, draft, directory) : bare
  const hasBytes = language === 'rust' && schema.getType('Bytes') !== undefined
  const asOld = hasBytes ? await schemaOf(source, { ...draft, uploads: true }, directory) : schema
  const old = oldSchemaOf(asOld, dialect)
  return {
    from: dialect.product,
    config: filled({
      ...read.settings,
      grpc: {
        [source]: {
          ...draft,
          ...(asOld.getType('Upload') ? { uploads: true } : {}),
          ...namesFor(asOld, old.names, dialect),
          // By default some are.
          forwardHeaders: read.forwarded,
        },
      },
    }),
    notes: [
      ...read.notes.map((note) => ({ ...note, file: code && relative(directory, code.file) })),
      ...protos.flatMap((proto) => notesOn(proto, language, relative(directory, proto.path))),
    ],
    schema: old.schema,
  }
}

/** Whether a list names a service, in full or by its last part; undefined: it names all. */
function named(names: ReadonlySet<string> | undefined, service: string): boolean {
  return names === undefined || names.has(service) || names.has(service.replace(/^.*\./, ''))
}

function goPackages(protos: readonly ProtoText[]): ReadonlyMap<string, string> {
  return new Map(
    protos.map(({ package: name, goPackage }) => [
      name,
      goPackage === undefined ? name : goPackageName(goPackage),
    ]),
  )
}

async function filesOf(protos: readonly ProtoText[], directory: string): Promise<Record<string, unknown>> {
  const roots = await Promise.all(protos.map(({ path }) => findProtoRoots(path, directory)))
  return {
    protoFiles: protos.map(({ path }) => relative(directory, path)),
    includePaths: [...new Set(roots.flatMap(({ includePaths }) => includePaths))],
  }
}

/** One address for all services, or one for each, as the code says it, else the annotation. */
function endpointsOf(
  services: readonly ProtoService[],
  { endpoints }: GatewayCode,
  language: Project['language'],
): Record<string, unknown> {
  const addresses = new Map<string, string>()
  for (const { name, host, isInsecure } of services) {
    const given = endpoints.get(name) ?? endpoints.get(name.replace(/^.*\./, ''))
    const isPlain = isInsecure || language === 'go'
    const annotated = host === undefined ? 'localhost:50051' : isPlain ? host : asTls(host)
    addresses.set(name, (given ?? annotated).replace(/^http:\/\//, '').replace(/\/$/, ''))
  }
  const [one, ...others] = new Set(addresses.values())
  return others.length === 0 ? { endpoint: one } : { endpoints: Object.fromEntries(addresses) }
}

function asTls(host: string): string {
  return /^https?:\/\//.test(host) ? host : `https://${host}`
}

/** What a method is besides what its annotation says here. */
function methodsOf(
  protos: readonly ProtoText[],
  left: readonly ProtoService[],
  language: Project['language'],
): Record<string, object> {
  const methods: Record<string, object> = {}
  for (const service of protos.flatMap(({ services }) => services))
    for (const { name, type, wrapsRequest } of service.methods) {
      const id = `${service.name}.${name}`
      if (left.includes(service)) methods[id] = { schema: false }
      else if (language === 'rust' && type === 'RESOLVER') methods[id] = { schema: { type: 'QUERY' } }
      else if (language === 'go' && type !== 'MUTATION' && wrapsRequest)
        methods[id] = { schema: { request: { name: '' } } }
      else if (language === 'go' && type === 'SUBSCRIPTION') methods[id] = { schema: false }
    }
  return methods
}

async function schemaOf(
  name: string,
  draft: Record<string, unknown>,
  directory: string,
): Promise<GraphQLSchema> {
  return grpcSchemaOf({ ...draft, name, federation: false }, directory).catch((error: unknown) => {
    const files = draft['protoFiles'] as string[]
    const mend =
      files.length > 1
        ? `\nif the files belong to several gateways, pass one of the files: --from ${files[0]}`
        : ''
    throw new ConfigError(`--from: ${messageOf(error)}${mend}`, { cause: error })
  })
}

/** The names that clients know: a prefix where most types have one, and each other type by itself. */
function namesFor(
  schema: GraphQLSchema,
  names: ReadonlyMap<string, string>,
  { scalars }: Dialect,
): Record<string, unknown> {
  const counts = new Map<string, number>()
  for (const [own, old] of names)
    if (old.endsWith(own) && isObjectType(schema.getType(own))) {
      const prefix = old.slice(0, -own.length)
      counts.set(prefix, (counts.get(prefix) ?? 0) + 1)
    }
  const [[prefix] = ['']] = [...counts].toSorted(([, a], [, b]) => b - a)
  const integers = Object.entries(scalars).filter(
    ([own, old]) => /^(Long|UInt32|Bytes)$/.test(own) && schema.getType(own) && old !== own,
  )
  const others = [...names].filter(([own, old]) => old !== prefix + own)
  return filled({
    prefix: prefix === '' ? undefined : { types: prefix },
    rename: Object.fromEntries([...integers, ...others]),
  })
}

function notesOn(
  { services, wrappers, resolved }: ProtoText,
  language: Project['language'],
  file: string,
): readonly Note[] {
  const plain = services.filter(
    ({ host, isInsecure }) => host !== undefined && !isInsecure && !/^https?:/.test(host),
  )
  return [
    ...plain.map(({ name }) => ({
      line: undefined,
      text:
        language === 'go'
          ? `${name}: the annotation does not show whether the server uses TLS; if the server uses TLS, endpoint must start with https://`
          : `${name}: insecure is not set in the annotation, so the gateway uses TLS unless the code contains an address without https://; if the server does not use TLS, remove https:// from endpoint`,
    })),
    ...wrappers.map(({ name, line }) => ({
      line,
      text: `${name}: the field is now a value or null; before, it was an object with the field value`,
    })),
    ...resolved.map(({ name, line }) => ({
      line,
      text:
        language === 'go'
          ? `${name}: clients can no longer send the arguments that the parent object provides`
          : `${name}: the gateway now loads this field with the method in its resolver annotation`,
    })),
  ].map((note) => ({ ...note, file }))
}
