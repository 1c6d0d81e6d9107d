/** A field that an RPC resolves from fields of its parent. */
export interface JoinOptions {
  /** The GraphQL type to which the field is added. It can belong to another source. */
  readonly type: string
  /** The new field's name. */
  readonly field: string
  /** `package.Service.Method` that returns one value for one parent. Not needed with `batch`. */
  readonly method?: string | undefined
  /** Binds request fields (GraphQL names) to fields of the parent, for example `{ id: 'authorId' }`. */
  readonly request?: Readonly<Record<string, string>> | undefined
  /** The response field with the value. Default: the method's `response.pluck`, otherwise the complete response. */
  readonly pluck?: string | undefined
  /** Loads all parents of an execution with one RPC. */
  readonly batch?: BatchOptions | undefined
  /** Makes the field non-null. Default false; a missing key is null. */
  readonly required?: boolean | undefined
  /** The field's description in the schema. */
  readonly description?: string | undefined
}

export interface BatchOptions {
  /** `package.Service.Method` that accepts many keys. */
  readonly method: string
  /**
   * The repeated request field for the keys (GraphQL name). If it contains messages, a path to their key field: `ids.id`.
   */
  readonly keys: string
  /** The parent's field with the key. Default: the only field in `request`. */
  readonly parentKey?: string | undefined
  /** The repeated response field with the items. */
  readonly items: string
  /** The item's field that equals the key. Default `id`. */
  readonly itemKey?: string | undefined
  /** Returns all items of a key as a list instead of one item. Default false. */
  readonly many?: boolean | undefined
  /** Maximum keys in one RPC. Default: no limit. */
  readonly maxBatchSize?: number | undefined
}
