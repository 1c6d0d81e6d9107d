import { isRecord } from '@vinyasa/core'
import { LineCounter, parseDocument } from 'yaml'
import { withoutVariables } from '../../../config/file/environment.ts'
import type { Values } from '../migration.ts'

export type Path = readonly (string | number)[]

interface Source {
  readonly name: string
  readonly kind: string
  /** Undefined: a handler of a kind that is not read. */
  readonly handler: Values | undefined
  readonly transforms: readonly unknown[]
  readonly path: Path
}

const READ: ReadonlySet<string> = new Set(['grpc', 'openapi', 'newOpenapi', 'jsonSchema'])

/** A `.meshrc.yaml`, and where its parts stand. */
export class MeshYaml {
  readonly data: Values
  readonly sources: readonly Source[]
  readonly #document: ReturnType<typeof parseDocument>
  readonly #lines = new LineCounter()

  constructor(text: string) {
    this.#document = parseDocument(text, { lineCounter: this.#lines, merge: true })
    const data: unknown = this.#document.errors.length > 0 ? undefined : this.#document.toJS()
    this.data = isRecord(data) ? data : {}
    this.sources = listOf(this.data['sources']).map((source, index): Source => {
      const handlers = isRecord(source['handler']) ? Object.entries(source['handler']) : []
      const [kind = 'none', handler] = handlers[0] ?? []
      return {
        name: String(source['name']),
        kind,
        handler: READ.has(kind) ? withVariables(isRecord(handler) ? handler : {}) : undefined,
        transforms: Array.isArray(source['transforms']) ? source['transforms'] : [],
        path: ['sources', index],
      }
    })
  }

  /** The line of what stands at a path, or of the nearest around it. */
  lineOf(path: Path): number | undefined {
    for (let length = path.length; length > 0; length -= 1) {
      const node: unknown = this.#document.getIn(path.slice(0, length), true)
      const [begin] = (node as { readonly range?: readonly number[] } | undefined)?.range ?? []
      if (begin !== undefined) return this.#lines.linePos(begin).line
    }
    return undefined
  }
}

/** `{env.NAME}` is `${NAME}` here. */
function withVariables(handler: Values): Values {
  const text = withoutVariables(JSON.stringify(handler)).replaceAll(/\{env\.(\w+)\}/g, '${$1}')
  return JSON.parse(text) as Values
}

/**
 * Headers that are the same for every call, and those of the client's that are sent on: `{context.headers['x-id']}`. What is
 * neither is told to `note`.
 */
export function headersOf(
  given: unknown,
  note: (text: string) => void,
): { readonly headers: Record<string, string>; readonly forwarded: readonly string[] } {
  const headers: Record<string, string> = {}
  const forwarded: string[] = []
  for (const [name, value] of Object.entries(isRecord(given) ? given : {})) {
    // gRPC: the way through the context.
    const isWay =
      Array.isArray(value) && value[0] === 'context' && value[1] === 'headers' && value.length === 3
    const text = isWay
      ? `{context.headers.${String(value[2])}}`
      : Array.isArray(value)
        ? `{${value.join('.')}}`
        : String(value)
    const sent = /^\{context\.headers(?:\.([\w-]+)|\[['"]([\w-]+)['"]\])\}$/.exec(text)
    const header = sent?.[1] ?? sent?.[2]
    if (header?.toLowerCase() === name.toLowerCase()) forwarded.push(name.toLowerCase())
    else if (/(?<!\$)\{/.test(text))
      note(
        `header ${name}: only fixed values and the client header of the same name can be converted; set other values in a TypeScript config`,
      )
    else headers[name] = text
  }
  return { headers, forwarded }
}

export function listOf(value: unknown): readonly Values[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}
