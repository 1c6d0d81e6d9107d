/**
 * How a value is written: the styles of the OpenAPI specification ("Style Values"), and `tabDelimited`, which is the
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
   * Default `form` in query, cookie and form, `simple` in path and header. In deepObject members of members, and lists, are
   * written in brackets (`a[b][c]=1`, `a[]=1`, `a[0][b]=1`); in other styles an object inside an object or a list is JSON.
   */
  readonly style?: ParameterStyle | undefined
  /** Lists and objects as several parts. Default: true for `form`, `cookie` and `deepObject`. */
  readonly explode?: boolean | undefined
  /**
   * In a query or form: leaves `: / ? @ ! $ ' ( ) * , ; =` as they are wherever they cannot be taken for separators.
   * Default false.
   */
  readonly allowReserved?: boolean | undefined
}

/** One parameter of an endpoint, in the words of the OpenAPI specification ("Parameter Object"). */
export interface ParameterOptions extends StyleOptions {
  /** Its name on the wire; of a path parameter the name in the braces of `path`. */
  readonly name: string
  /** The part of the request that it stands in. */
  readonly in: ParameterPlace
  /** The argument that holds its value. Default: `name`. One that is absent or null is left out. */
  readonly arg?: string | undefined
  /** A media type: the value is one text of it, JSON for JSON's, instead of in a style. */
  readonly content?: string | undefined
}
