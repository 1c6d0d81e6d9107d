import { create, type Message } from '@bufbuild/protobuf'
import {
  SourceCodeInfo_LocationSchema,
  type Edition,
  type SourceCodeInfo_Location,
} from '@bufbuild/protobuf/wkt'
import type { WrittenOption } from './option-text.ts'
import type { TokenReader } from './token-reader.ts'
import { ProtoSyntaxError, type Token } from './tokens.ts'

/** The elements that options can stand on; `file` for `google.protobuf.FileOptions`, and so on. */
export type OptionTarget =
  | 'file'
  | 'message'
  | 'field'
  | 'oneof'
  | 'enum'
  | 'enumValue'
  | 'service'
  | 'method'

/** Options as written on one element, to be interpreted once every extension is known. */
export interface UninterpretedOptions {
  readonly target: { options?: Message | undefined }
  readonly kind: OptionTarget
  readonly scope: string
  readonly element: string
  readonly entries: readonly WrittenOption[]
}

/** A type's name that waits until all files are read. */
export interface TypeReference {
  readonly file: string
  readonly scope: string
  readonly element: string
  readonly name: string
  readonly at: Token
  /** Fields have enums too; methods and `extend` have messages alone. */
  readonly wants: 'message' | 'type'
  resolve(fullName: string, isEnum: boolean): void
}

/** Where the parts of a declaration stand, for errors that are found once the whole file is read. */
export interface Place {
  readonly name: Token
  /** The number of a field, an extension or a value of an enum. */
  readonly number?: Token
  readonly type?: Token
  /** The options in the brackets of a field, `default` and `json_name` too. */
  readonly brackets?: readonly WrittenOption[]
}

/** The state that the parts of one file's parser share. */
export interface ParseContext {
  readonly file: string
  readonly syntax: string
  /** Unknown where a syntax is written. */
  readonly edition: Edition
  readonly tokens: TokenReader
  readonly references: TypeReference[]
  /** By the descriptor of the declaration; ranges have theirs too. */
  readonly places: Map<object, Place>
  readonly options: UninterpretedOptions[]
  readonly locations: SourceCodeInfo_Location[]
}

export function inScope(scope: string, name: string): string {
  return scope === '' ? name : `${scope}.${name}`
}

/** Keeps the comments of a declaration that begins and whose head ends at these tokens. */
export function keepComments(context: ParseContext, path: readonly number[], from: Token, to: Token): void {
  if (from.leading === '' && to.trailing === '') return
  context.locations.push(
    create(SourceCodeInfo_LocationSchema, {
      path: [...path],
      span: [from.line - 1, from.column - 1, to.column],
      leadingComments: from.leading,
      trailingComments: to.trailing,
    }),
  )
}

/** Options that are lists, so that each may stand several times. */
const LISTS: ReadonlySet<string> = new Set(['edition_defaults', 'targets', 'uninterpreted_option'])

/** @throws ProtoSyntaxError if a built-in option stands twice on one element */
function refuseTwice(entries: readonly WrittenOption[]): void {
  const seen = new Set<string>()
  for (const { name, at } of entries) {
    const [first] = name
    if (!first || first.isExtension || name.length > 1 || LISTS.has(first.name)) continue
    if (seen.has(first.name))
      throw new ProtoSyntaxError(at, `the option ${first.name} is set twice; remove the second setting`)
    seen.add(first.name)
  }
}

export function keepOptions(context: ParseContext, options: UninterpretedOptions): void {
  refuseTwice(options.entries)
  if (options.entries.length > 0) context.options.push(options)
}
