import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { ConfigError, messageOf } from '../../errors.ts'

/** Texts of documents by their ids. */
export type RegisteredDocuments = ReadonlyMap<string, string>

/**
 * Reads documents as tools write them: a manifest of Apollo, one of Relay or graphql-codegen (ids with texts), or a
 * folder of `.graphql` files, each known by its name and by the SHA-256 of its text. Throws {@link ConfigError}.
 */
export async function loadDocuments(paths: readonly string[]): Promise<RegisteredDocuments> {
  const documents = new Map<string, string>()
  for (const path of paths) {
    for (const [id, text] of await readDocuments(path)) {
      if ((documents.get(id) ?? text) !== text)
        throw new ConfigError(`persistedDocuments: ${path} has another document for the id "${id}"`)
      documents.set(id, text)
    }
  }
  return documents
}

async function readDocuments(path: string): Promise<readonly (readonly [string, string])[]> {
  try {
    if ((await stat(path)).isDirectory()) return await readFolder(path)
    return readManifest(JSON.parse(await readFile(path, 'utf8')) as unknown)
  } catch (error) {
    throw new ConfigError(`persistedDocuments: ${path}: ${messageOf(error)}`, { cause: error })
  }
}

async function readFolder(path: string): Promise<[string, string][]> {
  const names = (await readdir(path, { recursive: true }))
    .filter((name) => /\.(graphql|gql)$/.test(name))
    .sort()
  const texts = await Promise.all(names.map((name) => readFile(join(path, name), 'utf8')))
  return texts.flatMap((text, index) => {
    const name = names[index] ?? ''
    return [
      [basename(name, extname(name)), text],
      [createHash('sha256').update(text).digest('hex'), text],
    ]
  })
}

function readManifest(manifest: unknown): [string, string][] {
  const { format, operations } = Object(manifest) as {
    readonly format?: unknown
    readonly operations?: unknown
  }
  const entries: (readonly unknown[])[] =
    format === 'apollo-persisted-query-manifest' && Array.isArray(operations)
      ? operations.map((operation: unknown) => {
          const { id, body } = Object(operation) as { readonly id?: unknown; readonly body?: unknown }
          return [id, body]
        })
      : Object.entries(Object(manifest) as object)
  return entries.map(([id, text]) => {
    if (typeof id === 'string' && typeof text === 'string') return [id, text]
    throw new Error(
      'expected a manifest of Apollo, or ids with the texts of documents, as Relay and graphql-codegen write',
    )
  })
}
