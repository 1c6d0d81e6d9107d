import type { Finding } from '@vinyasa/base'

/** The prefixes of names, put before them as they are written. */
export interface NamePrefix {
  /** Before the names of types; scalars keep theirs. Default: nothing. */
  readonly types?: string | undefined
  /** Before the names of root fields. Default: nothing. */
  readonly fields?: string | undefined
}

/** The names that clients have for the types and fields of a source. */
export interface SourceNames {
  /**
   * Put before the names of types (`shop` gives `ShopOrder`) and root fields (`shopGetOrder`); as an object, before either
   * as it is written (`{ types: 'Shop_', fields: 'shop_' }`). Scalars keep their names. Default: nothing.
   */
  readonly prefix?: string | NamePrefix | undefined
  /**
   * Names of your own, without the prefix, by schema coordinate, in the source's own names: of types (`User`), fields and
   * enum values (`User.name`, `Role.ADMIN`), and arguments (`Query.user(id:)`). `*` stands for any part of a name, in the
   * new name for the same part: `{ '*Dto': '*' }`. What is named in full counts before what is not. `Long` and `UInt32` may be
   * `Int`, and `Bytes` `String`: values are those of GraphQL's own scalars then, and one that does not fit 32 bits is an error
   * at its place. Default: none.
   */
  readonly rename?: Readonly<Record<string, string>> | undefined
  /**
   * The parts of the source that clients do not see, by such coordinates:
   * `['User.email', 'Mutation.*', '!Mutation.createUser']`, where `!` keeps what others would take. Fields of
   * a hidden type are hidden, and an argument's default holds. A hidden field can still be the key of a join.
   * Default: nothing.
   */
  readonly hide?: readonly string[] | undefined
}

/** Names that cannot be given: each finding says what is wrong and how to mend it. */
export class SourceNamesError extends Error {
  override readonly name = 'SourceNamesError'
  readonly code = 'SOURCE_NAMES'
  readonly findings: readonly Finding[]

  constructor(findings: readonly Finding[]) {
    const messages = findings.map(({ message }) => message)
    super(messages.length === 1 ? messages[0] : ['', ...messages].join('\n  - '))
    this.findings = findings
  }
}
