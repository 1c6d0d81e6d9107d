import { boundedFetch } from '@vinyasa/core'
import { hash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, extname, join, resolve } from 'node:path'
import { z } from 'zod'
import type { PersistedDocumentsConfig } from '../access-types.ts'
import { mistakeAt, reasonOf } from '../../errors.ts'

/** Texts of documents by their ids. */
export type RegisteredDocuments = ReadonlyMap<string, string>

const TIMEOUT_MS = 10_000
const MAX_BYTES = 64 * 1024 * 1024

/**
 * Reads documents as tools write them: a manifest of Apollo, one of Relay or graphql-codegen (ids with texts), in a file
 * or at an address, or a folder of `.graphql` files, each known by its name and by the SHA-256 of its text. Throws
 * `ConfigError`.
 */
export async function loadDocuments(
  from: PersistedDocumentsConfig['from'],
  baseDirectory: string,
): Promise<RegisteredDocuments> {
  const documents = new Map<string, string>()
  for (const [index, place] of [from].flat().entries()) {
    const path = ['persistedDocuments', 'from', ...(Array.isArray(from) ? [index] : [])]
    for (const [id, text] of await readDocuments(place, baseDirectory, path)) {
      if ((documents.get(id) ?? text) !== text)
        throw mistakeAt(
          path,
          `${shown(place)} contains a document with the id "${id}", but a different document already has this id; rename or remove one of the two`,
        )
      documents.set(id, text)
    }
  }
  return documents
}

/** Whether a place that documents come from is no file or folder. */
export function isAddress(place: string): boolean {
  return /^https?:\/\//i.test(place)
}

async function readDocuments(
  place: string,
  baseDirectory: string,
  setting: readonly PropertyKey[],
): Promise<readonly (readonly [string, string])[]> {
  try {
    if (isAddress(place)) return readManifest(await download(place))
    const path = resolve(baseDirectory, place)
    if ((await stat(path)).isDirectory()) return await readFolder(path)
    return readManifest(await readFile(path, 'utf8'))
  } catch (error) {
    const isLate = (error as Error).name === 'TimeoutError'
    const reason = isLate ? `no response within ${TIMEOUT_MS} ms` : reasonOf(error)
    throw mistakeAt(setting, `${shown(place)}: ${reason}`, { cause: error })
  }
}

/** Without what an address may hold that is secret. */
function shown(place: string): string {
  return isAddress(place) ? place.replace(/\/\/[^/?#]*@/, '//').replace(/[?#].*/s, '') : place
}

async function download(address: string): Promise<string> {
  if (!URL.canParse(address))
    throw new Error('expected a valid URL such as https://store.example/manifest.json')
  const { username, password } = new URL(address)
  if (username !== '' || password !== '')
    throw new Error('a user name and password in the URL are not supported; remove them')
  const { ok, status, bytes } = await boundedFetch(address, {
    accept: 'application/json',
    maxBytes: MAX_BYTES,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  if (!ok) throw new Error(`expected a manifest, got HTTP status ${status}`)
  return bytes.toString()
}

async function readFolder(path: string): Promise<[string, string][]> {
  const names = (await readdir(path, { recursive: true }))
    .filter((name) => /\.(graphql|gql)$/.test(name))
    .sort()
  const documents = names.map(async (name): Promise<[string, string][]> => {
    const text = withoutMark(await readFile(join(path, name), 'utf8'))
    return [basename(name, extname(name)), hash('sha256', text)].map((id) => [id, text])
  })
  return (await Promise.all(documents)).flat()
}

const ofApollo = z.object({
  format: z.literal('apollo-persisted-query-manifest'),
  operations: z.array(z.object({ id: z.string(), body: z.string() })),
})
const idsWithTexts = z.record(z.string(), z.string())

function readManifest(text: string): [string, string][] {
  const manifest: unknown = JSON.parse(withoutMark(text))
  const apollo = ofApollo.safeParse(manifest).data
  if (apollo) return apollo.operations.map(({ id, body }) => [id, body])
  const plain = idsWithTexts.safeParse(manifest).data
  if (plain) return Object.entries(plain)
  throw new Error(
    'expected an Apollo manifest, or a JSON object that maps ids to documents (the format of Relay and graphql-codegen)',
  )
}

/** Editors of Windows put one before a text. */
function withoutMark(text: string): string {
  return text.replace(/^\ufeff/, '')
}
