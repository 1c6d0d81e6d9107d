import { writeFile, readFile } from 'node:fs/promises'
import { join, resolve, basename, dirname, extname } from 'node:path'
import { Document, isMap, isScalar, visit } from 'yaml'
import { loadConfig } from '../../config/file/load-config.ts'
import { ConfigError, messageOf } from '../../errors.ts'
import { commentOf } from '../../texts/escapes.ts'
import { describeUntried, type Mended } from '../against/mend.ts'
import { withSettings } from '../against/settings.ts'
import type { CommandContext } from '../context.ts'
import { schemaOf } from '../load.ts'
import type { Migration } from './migration.ts'
import { existsSync, statSync } from 'node:fs'
import { type DocumentNode, parse, visit as visitNodes } from 'graphql'

/** `vinyasa init --from`: writes the config that an old one of another gateway stands for, and says what it does not say. */
export async function initFrom(file: string, context: CommandContext): Promise<void> {
  const { directory } = context
  const migration = await readOldConfig(resolve(directory, file), file, directory)
  const { from, config, notes } = migration
  if (config['rest'] === undefined && config['grpc'] === undefined)
    throw new ConfigError(
      [`--from ${file}: found no field that can be converted`, ...notes.map(({ text }) => text)].join('; '),
    )
  const target = join(directory, 'gateway.config.yaml')
  const left = notes
    .toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0))
    .map(({ line, text, file: of = file }) => `${of}${line === undefined ? '' : `:${line}`}: ${text}`)
  const head = [`Converted from ${file}, a config of ${from}.`, ...left]
  await writeFile(target, toYaml(config, head), { flag: 'wx' })
  const compared = await compare(migration, context).catch((error: unknown) => {
    if (error instanceof ConfigError) return error
    throw error
  })
  if (compared !== undefined && !(compared instanceof ConfigError)) {
    const settings = compared.mends.map(({ setting }) => setting)
    if (settings.length > 0) await writeFile(target, toYaml(withSettings(config, settings), head))
  }
  context.print(`wrote    ${target}`)
  for (const line of left) context.print(`skipped  ${line}`)
  for (const line of describe(compared)) context.print(line)
  context.print('next     vinyasa check    connects to the backends and reports problems')
  context.print('         vinyasa start    serves it')
}

/** What clients of the old schema would notice, and the names that they keep; undefined: nobody says what they know. */
async function compare({ schema }: Migration, context: CommandContext): Promise<Mended | undefined> {
  if (!schema) return undefined
  const { directory, environment } = context
  const { config, baseDirectory } = await loadConfig({ file: 'gateway.config.yaml', directory, environment })
  const { findMends } = await import('../against/mend.ts')
  return findMends(schema, await schemaOf(config, baseDirectory), config, (changed) =>
    schemaOf(changed, baseDirectory),
  )
}

function describe(compared: Mended | ConfigError | undefined): readonly string[] {
  if (compared === undefined) return []
  if (compared instanceof ConfigError)
    return [
      ...messageOf(compared)
        .split('\n')
        .map((line) => `wrong    ${line}`),
      '         fix these problems, then run vinyasa check --against old.graphql to compare with the schema of the old gateway',
    ]
  const { left } = compared
  const breaking = left.filter(({ level }) => level === 'breaking').length
  return [
    `clients  ${breaking} breaking, ${left.length - breaking} dangerous`,
    ...left.map(({ level, message }) => `${level} ${message}`),
    ...describeUntried(compared),
  ]
}

/** YAML with short maps on one line, below a comment. */
function toYaml(config: object, head: readonly string[]): string {
  const document = new Document(config)
  visit(document, {
    Map(_, node) {
      const isShort = node.items.every(
        ({ value }) => isScalar(value) || (isMap(value) && value.items.length === 0),
      )
      if (isShort && node.items.length > 0 && JSON.stringify(node).length < 90) node.flow = true
    },
  })
  return commentOf(head) + document.toString({ lineWidth: 0 })
}

const READ =
  "expected Tailcall's SDL (with @http, @grpc), an Apollo subgraph schema with connectors (@connect), Mesh's .meshrc.yaml, or the folder, main.go, main.rs or annotated .proto of a grpc-graphql-gateway project"

/** Reads an old configuration, whatever of those that are known it is. Throws {@link ConfigError}. */
async function readOldConfig(file: string, shown: string, directory: string): Promise<Migration> {
  const refuse = (what: string, cause?: unknown): never => {
    throw new ConfigError(`--from ${shown}: ${what}; ${READ}`, { cause })
  }
  const isFolder = statSync(file, { throwIfNoEntry: false })?.isDirectory() === true
  if (isFolder || (existsSync(file) && /^\.(go|rs|proto)$/.test(extname(file)))) {
    const { findProject } = await import('./grpc-graphql-gateway/find-project.ts')
    const project = await findProject(file, directory)
    if (!project)
      return refuse(
        'found no .proto file with the option (graphql.schema), or the given Go or Rust file does not start a gateway',
      )
    return (await import('./grpc-graphql-gateway/read-project.ts')).readProject(project, directory)
  }
  const text = await readFile(file, 'utf8').catch((error: unknown) => refuse(messageOf(error), error))
  if (/^\.[cm]?[jt]sx?$/.test(extname(file)))
    throw new ConfigError(
      `--from ${shown}: init does not run JavaScript or TypeScript code; convert the file by hand (for GraphQL Mesh, see docs/migrating/mesh.md)`,
    )
  const name = nameFrom(file)
  if (/\.(ya?ml|json)$/.test(file)) {
    const { readMesh } = await import('./mesh/read-mesh.ts')
    return (
      (await readMesh(text, dirname(file), await builtSchema(file))) ??
      refuse('found no source with a handler grpc, openapi or jsonSchema in the file')
    )
  }
  let document: DocumentNode
  try {
    document = parse(text)
  } catch (error) {
    return refuse(messageOf(error), error)
  }
  const used = directivesIn(document)
  if (used.has('connect')) {
    const { Connectors } = await import('./connectors/read-connectors.ts')
    return new Connectors(document, name).read()
  }
  if (used.has('http') || used.has('grpc')) {
    const { Tailcall } = await import('./tailcall/read-tailcall.ts')
    return new Tailcall(document, name).read()
  }
  return refuse('the SDL contains no directive @connect, @http or @grpc')
}

/** The schema that `mesh build` writes, if it is there. */
async function builtSchema(file: string): Promise<DocumentNode | undefined> {
  const built = join(dirname(file), '.mesh/schema.graphql')
  const text = await readFile(built, 'utf8').catch(() => undefined)
  return text === undefined ? undefined : parse(text)
}

function nameFrom(file: string): string {
  const name = basename(file).replace(/^\.*/, '').replace(/\..*$/, '').replaceAll(/\W/g, '_')
  return /^[a-z]/i.test(name) ? name : 'api'
}

function directivesIn(document: DocumentNode): ReadonlySet<string> {
  const used = new Set<string>()
  visitNodes(document, { Directive: ({ name }) => void used.add(name.value) })
  return used
}
