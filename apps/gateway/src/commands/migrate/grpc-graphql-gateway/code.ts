import type { Note } from '../migration.ts'

/** What the code that starts an old gateway says in so many words: it is read, not run. */
export interface GatewayCode {
  /** Names of the services that it serves, in full or their last part; undefined: all. */
  readonly services: ReadonlySet<string> | undefined
  /** Addresses by such a name. */
  readonly endpoints: ReadonlyMap<string, string>
  /** Headers of clients that are sent on. */
  readonly forwarded: readonly string[]
  /** Sections of the config. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly notes: readonly Note[]
}

export const NO_CODE: GatewayCode = {
  services: undefined,
  endpoints: new Map(),
  forwarded: [],
  settings: {},
  notes: [],
}

/** Where a server listens, as `host:port` says it: without a host everywhere. */
export function serverAt(address: string): { readonly host: string; readonly port: number } | undefined {
  const [, host = '', port = ''] = /^(?:http:\/\/)?(.*):(\d+)$/.exec(address) ?? []
  return port === '' ? undefined : { host: host === '' ? '0.0.0.0' : host, port: Number(port) }
}

/** The text without comments, each line where it was. */
export function withoutComments(text: string): string {
  const stringsAndComments = /"(?:\\.|[^"\\\n])*"|`[^`]*`|\/\*[^]*?\*\/|\/\/[^\n]*/g
  return text.replace(stringsAndComments, (found) =>
    found.startsWith('/') ? found.replaceAll(/[^\n]/g, ' ') : found,
  )
}

export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}

/** What stands between an opening bracket and the one that closes it. */
export function inBrackets(text: string, open: number): string {
  let depth = 0
  for (let at = open; at < text.length; at++) {
    if (/[([{]/.test(text[at] as string)) depth++
    if (/[)\]}]/.test(text[at] as string) && --depth === 0) return text.slice(open + 1, at)
  }
  return text.slice(open + 1)
}
