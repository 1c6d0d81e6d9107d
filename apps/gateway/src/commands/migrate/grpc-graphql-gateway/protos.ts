import { inBrackets, lineAt, withoutComments } from './code.ts'

/** What the text of an annotated proto says that a schema of it does not. */
export interface ProtoText {
  readonly path: string
  readonly package: string
  readonly goPackage: string | undefined
  readonly services: readonly ProtoService[]
  /** Fields of wrapper types, which were objects with a value: `Message`s are told apart by their lines. */
  readonly wrappers: readonly ProtoField[]
  /** Fields that an RPC resolves. */
  readonly resolved: readonly ProtoField[]
}

export interface ProtoField {
  readonly name: string
  readonly line: number
}

export interface ProtoService {
  /** In full. */
  readonly name: string
  readonly host: string | undefined
  readonly isInsecure: boolean
  readonly methods: readonly ProtoMethod[]
}

export interface ProtoMethod {
  readonly name: string
  readonly type: 'QUERY' | 'MUTATION' | 'RESOLVER' | 'SUBSCRIPTION'
  /** The one argument that takes the request. */
  readonly wrapsRequest: boolean
}

export function isAnnotated(text: string): boolean {
  return /\(\s*graphql\.(schema|service)\s*\)/.test(withoutComments(text))
}

export function readProtoText(path: string, given: string): ProtoText {
  const text = withoutComments(given)
  const packageName = /(?<=^|;)\s*package\s+([\w.]+)\s*;/m.exec(text)?.[1] ?? ''
  const fields = (pattern: RegExp): ProtoField[] =>
    [...text.matchAll(pattern)].map(({ 1: name = '', index }) => ({ name, line: lineAt(text, index) }))
  return {
    path,
    package: packageName,
    goPackage: /\boption\s+go_package\s*=\s*"([^"]*)"/.exec(text)?.[1],
    services: blocksOf(text, 'service').map(([name, body]) =>
      serviceOf(packageName === '' ? name : `${packageName}.${name}`, body),
    ),
    wrappers: fields(/google\.protobuf\.\w+Value\s+(\w+)\s*=/g),
    resolved: fields(/(\w+)\s*=\s*\d+\s*\[[^\]]*\bresolver\b[^\]]*\]/g),
  }
}

function serviceOf(name: string, body: string): ProtoService {
  const option = optionIn(body, 'service')
  return {
    name,
    host: /\bhost\s*:\s*"([^"]*)"/.exec(option)?.[1],
    isInsecure: /\binsecure\s*:\s*true\b/.test(option),
    methods: blocksOf(body, 'rpc').flatMap(([method, text]) => {
      const schema = optionIn(text, 'schema')
      if (schema === '') return []
      const type = (/\btype\s*:\s*(\w+)/.exec(schema)?.[1] ?? 'QUERY') as ProtoMethod['type']
      return [{ name: method, type, wrapsRequest: /\brequest\s*:?\s*\{[^}]*\bname\s*:/.test(schema) }]
    }),
  }
}

/** `service Name { … }` or `rpc Name(In) returns (Out) { … }`: names and what is between the braces. */
function blocksOf(text: string, word: 'service' | 'rpc'): readonly (readonly [string, string])[] {
  return [...text.matchAll(new RegExp(`\\b${word}\\s+(\\w+)\\s*([^{};]*)\\{`, 'g'))].map((match) => [
    match[1] as string,
    inBrackets(text, match.index + match[0].length - 1),
  ])
}

function optionIn(body: string, name: string): string {
  const match = new RegExp(`\\boption\\s*\\(\\s*graphql\\.${name}\\s*\\)[^{;]*([{;])`).exec(body)
  if (!match) return ''
  const at = match.index + match[0].length - 1
  // `option (graphql.schema).name = "users";` has no braces.
  return match[1] === '{' ? `{${inBrackets(body, at)}}` : match[0].replaceAll('=', ':')
}
