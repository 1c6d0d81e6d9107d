import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { TlsFilesConfig } from './broker-types.ts'
import { ConfigError } from '../errors.ts'

export interface TlsTexts {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

/** The PEM texts of a setting, of which each is a file or the text itself. Throws {@link ConfigError} for others. */
export async function readTlsFiles(
  setting: string,
  { ca, cert, key }: Pick<TlsFilesConfig, 'ca' | 'cert' | 'key'>,
  baseDirectory: string,
): Promise<TlsTexts> {
  const read = Object.entries({ ca, cert, key }).map(async ([name, given]) => {
    if (given === undefined || given.includes('-----BEGIN')) return [name, given] as const
    try {
      return [name, await readFile(resolve(baseDirectory, given), 'utf8')] as const
    } catch (cause) {
      throw new ConfigError(`${setting}.${name}: cannot read "${given}"; expected a PEM file, or its text`, {
        cause,
      })
    }
  })
  return Object.fromEntries((await Promise.all(read)).filter(([, text]) => text !== undefined))
}
