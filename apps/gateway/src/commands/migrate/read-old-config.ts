import { existsSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { type DocumentNode, parse, visit } from 'graphql'
import { ConfigError, messageOf } from '../../errors.ts'
import type { Migration } from './migration.ts'

const READ =
  "expected Tailcall's SDL (with @http, @grpc), an Apollo subgraph schema with connectors (@connect), Mesh's .meshrc.yaml, or the folder, main.go, main.rs or annotated .proto of a grpc-graphql-gateway project"

/** Reads an old configuration, whatever of those that are known it is. Throws {@link ConfigError}. */
export async function readOldConfig(file: string, shown: string, directory: string): Promise<Migration> {
  const refuse = (what: string, cause?: unknown): never => {
    throw new ConfigError(`--from ${shown}: ${what}; ${READ}`, { cause })
  }
  const isFolder = statSync(file, { throwIfNoEntry: false })?.isDirectory() === true
  if (isFolder || (existsSync(file) && /^\.(go|rs|proto)$/.test(extname(file)))) {
    const { findProject } = await import('./grpc-graphql-gateway/find-project.ts')
    const project = await findProject(file, directory)
    if (!project)
      return refuse(
        'found no .proto file with the option (graphql.schema), or no Go or Rust code that starts a gateway',
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
  if (used.has('connect'))
    return (await import('./connectors/read-connectors.ts')).readConnectors(document, name)
  if (used.has('http') || used.has('grpc'))
    return (await import('./tailcall/read-tailcall.ts')).readTailcall(document, name)
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
  visit(document, { Directive: ({ name }) => void used.add(name.value) })
  return used
}
