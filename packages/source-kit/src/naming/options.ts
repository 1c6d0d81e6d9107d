import type { Finding } from '@vinyasa/core'

/** Prefixes of names. They are added unchanged. */
export interface NamePrefix {
  /** Prefix of type names. Scalars are not prefixed. Default: nothing. */
  readonly types?: string | undefined
  /** Prefix of root field names. Default: nothing. */
  readonly fields?: string | undefined
}

/** Renames or hides types and fields of a source for clients. */
export interface SourceNames {
  /**
   * Prefix of type names (`shop` gives `ShopOrder`) and root fields (`shopGetOrder`). An object adds separate prefixes
   * unchanged (`{ types: 'Shop_', fields: 'shop_' }`). Scalars are not prefixed. Default: nothing.
   */
  readonly prefix?: string | NamePrefix | undefined
  /**
   * New names by schema coordinate, without the prefix: types (`User`), fields and enum values (`User.name`, `Role.ADMIN`),
   * and arguments (`Query.user(id:)`). Coordinates use the source's own names. `*` matches any part of a name, and inserts
   * it in the new name: `{ '*Dto': '*' }`. Complete names override patterns. `Long` and `UInt32` can become `Int`, and
   * `Bytes` can become `String`. A value that does not fit 32 bits is then an error at its path. Default: none.
   */
  readonly rename?: Readonly<Record<string, string>> | undefined
  /**
   * Hides parts of the source from clients, by schema coordinate:
   * `['User.email', 'Mutation.*', '!Mutation.createUser']`. `!` makes an exception. Fields of a hidden type are hidden, and a
   * hidden argument uses its default. A hidden field can still be the key of a join. Default: nothing.
   */
  readonly hide?: readonly string[] | undefined
}

/** Reports invalid names. Each finding describes a problem and its fix. */
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
