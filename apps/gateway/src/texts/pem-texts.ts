import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { createSecureContext } from 'node:tls'
import { messageOf, mistakeAt } from '../errors.ts'

export interface PemTexts {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

type Given = { readonly [Name in keyof PemTexts]?: string | Uint8Array | undefined }

/** What each of them is, in PEM. */
const KINDS = { ca: 'CERTIFICATE', cert: 'CERTIFICATE', key: 'PRIVATE KEY' } as const

/**
 * The PEM texts of the setting at `path`, of which each is a file or the text itself, also in bytes; an empty one is none.
 * Throws `ConfigError` for what is neither, and for a key that is not the certificate's.
 */
export async function readPemTexts(
  path: readonly PropertyKey[],
  given: Given,
  baseDirectory: string,
): Promise<PemTexts> {
  const read = (['ca', 'cert', 'key'] as const).map(async (name) => {
    const one = given[name] ?? ''
    return one.length === 0 ? [] : [[name, await readPem([...path, name], one, name, baseDirectory)] as const]
  })
  const texts: PemTexts = Object.fromEntries((await Promise.all(read)).flat())
  const { cert, key } = texts
  if ((cert === undefined) !== (key === undefined)) {
    const [there, missing] = cert === undefined ? ['key', 'cert'] : ['cert', 'key']
    throw mistakeAt(
      [...path, there],
      `cert and key must be set together; set ${missing} too, or remove ${there}`,
    )
  }
  try {
    if (cert !== undefined) createSecureContext({ cert, key })
  } catch (error) {
    throw mistakeAt(
      [...path, 'key'],
      `cert and key cannot be used together (${messageOf(error)}); set a certificate and its private key, without a passphrase`,
      { cause: error },
    )
  }
  return texts
}

async function readPem(
  path: readonly PropertyKey[],
  given: string | Uint8Array,
  name: keyof typeof KINDS,
  baseDirectory: string,
): Promise<string> {
  const isFile = typeof given === 'string' && !given.includes('-----BEGIN')
  const text = !isFile
    ? Buffer.from(given as string).toString()
    : await readFile(resolve(baseDirectory, given), 'utf8').catch((cause: unknown) => {
        throw mistakeAt(
          path,
          `cannot read "${given}" (${messageOf(cause)}); expected the path of a PEM file, relative to the config, or PEM text`,
          { cause },
        )
      })
  const kind = KINDS[name]
  if (new RegExp(`-----BEGIN [A-Z0-9 ]*${kind}-----`).test(text)) return text
  throw mistakeAt(
    path,
    `${isFile ? `"${given}"` : 'the text'} contains no ${kind.toLowerCase()}; expected PEM with a line such as "-----BEGIN ${kind}-----"`,
  )
}
