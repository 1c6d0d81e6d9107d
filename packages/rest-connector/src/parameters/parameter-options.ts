/**
 * The format of a value: the styles of the OpenAPI specification ("Style Values"), and `tabDelimited` for the
 * `collectionFormat` `tsv` of Swagger 2.
 */
export type ParameterStyle =
  | 'matrix'
  | 'label'
  | 'simple'
  | 'form'
  | 'spaceDelimited'
  | 'pipeDelimited'
  | 'tabDelimited'
  | 'deepObject'
  | 'cookie'

export type ParameterPlace = 'path' | 'query' | 'header' | 'cookie'

export interface StyleOptions {
  /**
   * The style of the value. Default `form` in query, cookie and form, `simple` in path and header. `deepObject` writes nested
   * objects and lists in brackets (`a[b][c]=1`, `a[]=1`, `a[0][b]=1`). Other styles write nested objects as JSON.
   */
  readonly style?: ParameterStyle | undefined
  /** Writes lists and objects as several parts. Default: true for `form`, `cookie` and `deepObject`. */
  readonly explode?: boolean | undefined
  /**
   * Does not encode `: / ? @ ! $ ' ( ) * , ; =` in a query or form, unless they could be read as separators. Default false.
   */
  readonly allowReserved?: boolean | undefined
}

/** A parameter of an endpoint, as in the OpenAPI specification ("Parameter Object"). */
export interface ParameterOptions extends StyleOptions {
  /** The name in the request. A path parameter has the name in the braces of `path`. */
  readonly name: string
  /** The part of the request that contains the parameter. */
  readonly in: ParameterPlace
  /** The argument with the value. The parameter is omitted if the argument is absent or null. Default: `name`. */
  readonly arg?: string | undefined
  /** A media type. The value is serialized as this type instead of with a style, for example as JSON. */
  readonly content?: string | undefined
}
