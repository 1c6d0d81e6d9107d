import { create, type Message } from '@bufbuild/protobuf'
import { SourceCodeInfo_LocationSchema, type SourceCodeInfo_Location } from '@bufbuild/protobuf/wkt'
import type { WrittenOption } from './option-text.ts'
import type { TokenReader } from './token-reader.ts'
import type { Token } from './tokens.ts'

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
  resolve(fullName: string, isEnum: boolean): void
}

/** The state that the parts of one file's parser share. */
export interface ParseContext {
  readonly file: string
  readonly syntax: string
  readonly tokens: TokenReader
  readonly references: TypeReference[]
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

export function keepOptions(context: ParseContext, options: UninterpretedOptions): void {
  if (options.entries.length > 0) context.options.push(options)
}
