import { stat, readdir, readFile } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { foldersBelow } from '../../proto-roots.ts'
import { isAnnotated } from './protos.ts'

/** Files that are looked at in a project. */
const MAX_FILES = 5_000

/** What an old project consists of. */
export interface Project {
  readonly language: 'go' | 'rust'
  /** The code that starts the gateway; undefined: none was found. */
  readonly code: { readonly file: string; readonly text: string } | undefined
  /** Annotated protos, with their texts. */
  readonly protos: ReadonlyMap<string, string>
  /** Field names are in camelCase, as the plugin of protoc is told. */
  readonly isCamel: boolean
}

/** Finds the project that a folder, a proto, or the code of a gateway belongs to; undefined: it is none. */
export async function findProject(path: string, directory: string): Promise<Project | undefined> {
  const isFolder = (await stat(path)).isDirectory()
  const files = await filesBelow(isFolder ? path : directory)
  if (!isFolder && !files.includes(path)) files.push(path)
  const texts = new Map<string, string>()
  for (const file of files.slice(0, MAX_FILES))
    if (/\.(proto|go|rs|mk|sh|ya?ml)$|^(Makefile|Taskfile)$/.test(basename(file)))
      texts.set(file, await readFile(file, 'utf8').catch(() => ''))
  const of = (...extensions: string[]): [string, string][] =>
    [...texts].filter(([file]) => extensions.includes(extname(file)))
  const protos = of('.proto').filter(
    ([file, text]) =>
      isAnnotated(text) && !/extend\s+google\.protobuf\.MethodOptions/.test(text) && isMeant(file),
  )
  const codes = of('.go', '.rs').filter(
    ([file, text]) => (file === path || !file.endsWith('.graphql.go')) && isGatewayCode(text),
  )
  const code = codes.find(([file]) => file === path) ?? (extname(path) === '.proto' ? undefined : codes[0])
  const [first] = protos
  if (!first || (!code && !isFolder && extname(path) !== '.proto')) return undefined
  const isGo = code ? extname(code[0]) === '.go' : /\bgo_package\b/.test(first[1])
  return {
    language: isGo ? 'go' : 'rust',
    code: code && { file: code[0], text: code[1] },
    protos: new Map(protos),
    isCamel: [...texts].some(
      ([file, text]) => !/\.(go|rs|proto)$/.test(file) && /graphql[^]*field_camel/.test(text),
    ),
  }

  /** A proto that is given stands for itself. */
  function isMeant(file: string): boolean {
    return extname(path) !== '.proto' || file === path
  }
}

function isGatewayCode(text: string): boolean {
  return /\bRegister\w+Graphql(Handler)?\(/.test(text)
    ? /grpc-graphql-gateway\/runtime/.test(text) && /ServeMux/.test(text)
    : /\bGateway::builder\(\)/.test(text) && /grpc_graphql_gateway/.test(text)
}

async function filesBelow(directory: string): Promise<string[]> {
  const files: string[] = []
  for (const folder of await foldersBelow(directory))
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => []))
      if (entry.isFile()) files.push(join(folder, entry.name))
  return files
}
