/** A field that an RPC resolves from fields of its parent. */
export interface JoinOptions {
  /** The GraphQL type that gets the field, of this or any other source. */
  readonly type: string
  /** The new field's name. */
  readonly field: string
  /** `package.Service.Method` that gives one value for one parent. Not needed with `batch`. */
  readonly method?: string | undefined
  /** Request fields (GraphQL names) and the parent's fields that fill them, for example `{ id: 'authorId' }`. */
  readonly request?: Readonly<Record<string, string>> | undefined
  /** The response field that is the value. Default: the method's `response.pluck`, else the whole response. */
  readonly pluck?: string | undefined
  /** One RPC for all parents of an execution. */
  readonly batch?: BatchOptions | undefined
  /** The field is non-null. Default false; a missing key is null. */
  readonly required?: boolean | undefined
  /** The field's description in the schema. */
  readonly description?: string | undefined
}

export interface BatchOptions {
  /** `package.Service.Method` that takes many keys. */
  readonly method: string
  /**
   * The repeated request field that takes the keys (GraphQL name). Where it holds messages, a path to the field of them
   * that takes the key: `ids.id`.
   */
  readonly keys: string
  /** The parent's field that holds the key. Default: the only field in `request`. */
  readonly parentKey?: string | undefined
  /** The repeated response field that holds the items. */
  readonly items: string
  /** The item's field that equals the key. Default `id`. */
  readonly itemKey?: string | undefined
  /** All items of a key, as a list, in place of the one. Default false. */
  readonly many?: boolean | undefined
  /** Keys in one RPC. Default: no limit. */
  readonly maxBatchSize?: number | undefined
}
