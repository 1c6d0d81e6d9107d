import type { SourceSections } from './types.ts'

/** What a part of the schema stands for in the source that it comes from. */
export type Element =
  | {
      readonly section: 'grpc'
      readonly source: string
      /** A method, or a message. */
      readonly name: string
      /** A field of the message. */
      readonly field: string | undefined
    }
  | {
      readonly section: 'rest'
      readonly source: string
      /** As an OpenAPI document knows it: `GET /pets/{id}`. */
      readonly operation: string
      /** The endpoint that the config declares, or the document's import. */
      readonly endpoint: string
    }

interface Made {
  readonly extensions: Readonly<Record<string, unknown>>
}

/** Where sources say that a field or type comes from: the same words that stand in errors about names. */
export function elementOf(made: Made | null | undefined): Element | undefined {
  return elementAt(String(made?.extensions['origin'] ?? ''))
}

/** Where the config has what comes from there; undefined: it cannot be told. */
export function pathOfOrigin(
  origin: string,
  { rest = {} }: SourceSections,
): readonly PropertyKey[] | undefined {
  const element = elementAt(origin)
  if (element?.section !== 'rest') return element && [element.section, element.source]
  const { source, endpoint } = element
  const index = rest[source]?.endpoints?.findIndex(({ name }) => name === endpoint) ?? -1
  return ['rest', source, ...(index < 0 ? ['openapi'] : ['endpoints', index])]
}

/** Where an entry of sources declares a type or one of its fields by hand. */
export function pathOfDeclared(
  type: string,
  field: string | undefined,
  { rest = {} }: SourceSections,
): readonly PropertyKey[] | undefined {
  const declares = Object.entries(rest).find(([, { types = {} }]) => Object.hasOwn(types, type))
  return declares && ['rest', declares[0], 'types', type, ...(field === undefined ? [] : ['fields', field])]
}

function elementAt(origin: string): Element | undefined {
  const ofGrpc = /^grpc source "(.*)": (\S+) \([^)]*\)(?: field (\S+))?$/.exec(origin)
  if (ofGrpc) {
    const [, source = '', name = '', field] = ofGrpc
    return { section: 'grpc', source, name, field }
  }
  const ofRest = /^rest connector "(.*)": (\S+ \S+) \(endpoint (\S+)\)$/.exec(origin)
  if (!ofRest) return undefined
  const [, source = '', operation = '', endpoint = ''] = ofRest
  return { section: 'rest', source, operation, endpoint }
}
