import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { createSecureContext } from 'node:tls'
import { messageOf, mistakeAt } from '../errors.ts'

export interface TlsTexts {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

type Given = { readonly [Name in keyof TlsTexts]?: TlsTexts[Name] | undefined }

/** What each of them is, in PEM. */
const KINDS = { ca: 'CERTIFICATE', cert: 'CERTIFICATE', key: 'PRIVATE KEY' } as const

/**
 * The PEM texts of the setting at `path`, of which each is a file or the text itself; an empty one is none. Throws
 * `ConfigError` for what is neither, and for a key that is not the certificate's.
 */
export async function readTlsFiles(
  path: readonly PropertyKey[],
  given: Given,
  baseDirectory: string,
): Promise<TlsTexts> {
  const names = (['ca', 'cert', 'key'] as const).filter((name) => (given[name] ?? '') !== '')
  const read = names.map(async (name) => [
    name,
    await readPem([...path, name], given[name] ?? '', name, baseDirectory),
  ])
  const texts = Object.fromEntries(await Promise.all(read)) as TlsTexts
  const { cert, key } = texts
  if ((cert === undefined) !== (key === undefined)) {
    const [there, missing] = cert === undefined ? ['key', 'cert'] : ['cert', 'key']
    throw mistakeAt([...path, there], `cert and key stand together; set ${missing}, too, or leave this out`)
  }
  try {
    createSecureContext({ cert, key })
  } catch (error) {
    throw mistakeAt(
      [...path, 'key'],
      `this key and cert cannot be used together (${messageOf(error)}); give the key of that certificate, without a passphrase`,
      { cause: error },
    )
  }
  return texts
}

async function readPem(
  path: readonly PropertyKey[],
  given: string,
  name: keyof typeof KINDS,
  baseDirectory: string,
): Promise<string> {
  const isText = given.includes('-----BEGIN')
  const text = isText
    ? given
    : await readFile(resolve(baseDirectory, given), 'utf8').catch((cause: unknown) => {
        throw mistakeAt(
          path,
          `cannot read "${given}" (${reasonOf(cause)}); expected a PEM file, relative to the config, or its text`,
          { cause },
        )
      })
  const kind = KINDS[name]
  if (new RegExp(`-----BEGIN [A-Z ]*${kind}-----`).test(text)) return text
  throw mistakeAt(
    path,
    `${isText ? 'the text' : `"${given}"`} holds no ${kind.toLowerCase()}; expected PEM, with the line "-----BEGIN ${kind}-----"`,
  )
}

function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException
  const known: Readonly<Record<string, string>> = {
    ENOENT: 'no such file',
    EISDIR: 'it is a folder',
    EACCES: 'this user may not read it',
  }
  return known[code ?? ''] ?? messageOf(error)
}
