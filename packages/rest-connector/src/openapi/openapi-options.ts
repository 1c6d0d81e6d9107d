import type { RestEndpoint } from '../declare/endpoint-options.ts'
import type { TypeDefinitions } from '../declare/type-definitions.ts'
import type { EnvelopeSelection } from './envelopes.ts'
import type { DownloadOptions } from './files/download.ts'
import type { OpenApiFinding } from './findings.ts'
import type { OperationFilter, Selection } from './operations.ts'
import type { DocumentSecurity, SecuritySource } from './security.ts'
import type { ServerOptions } from './servers.ts'
import type { IntegerTyping } from './types/leaves/scalars.ts'

export interface OpenApiOptions extends Selection, ServerOptions, EnvelopeSelection {
  /**
   * Names of your own: of fields by operation id or `GET /path`, of types by the schema's name in the document. Default:
   * none.
   */
  readonly rename?: Readonly<Record<string, string>> | undefined
  /**
   * The type of an `integer` without a format. Default `auto`: `Int` where its bounds fit 32 bits, else
   * `Long`, whose digits nobody loses. An integer that has the format `int64`, or does not fit, is always
   * `Long`.
   */
  readonly integers?: IntegerTyping | undefined
  /**
   * True: required properties become non-null, or those of these types and fields (`Pet`, `Pet.name`). Default false:
   * where an upstream does not keep what its document says, a field is null and its object survives. Enums are never
   * non-null.
   */
  readonly trustRequired?: boolean | readonly string[] | undefined
  /** Operations that only read although they are no GET, named as in `include`: they become queries. Default: none. */
  readonly asQuery?: OperationFilter | undefined
  /**
   * Names of fields and types that others have. An own one among them gets `source` before it, which is a finding, and
   * all others stay as they are. Default: none.
   */
  readonly taken?: Iterable<string> | undefined
  /**
   * The name of the API: where its own names do not suffice, and in the names of environment variables.
   * Default `api`.
   */
  readonly source?: string | undefined
  /**
   * The source of credentials for the document's `securitySchemes`. Default `env`: `SHOP_API_KEY` for `shop`.
   */
  readonly security?: SecuritySource | undefined
  /**
   * The URL that the document came from, for servers that are relative to it, and for `$ref`s that name that
   * server or its root: the files that are kept of it lie as they lay there. Default: the URL that the
   * document is given by, else unknown.
   */
  readonly documentUrl?: string | undefined
  /** How a document that is given by its URL, and files of other servers, are had. Default: see each. */
  readonly download?: DownloadOptions | undefined
  /** The API's address, instead of the document's servers; those of operations and paths on another origin are not asked. */
  readonly baseUrl?: string | undefined
  /** Default `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
}

/** The result of an import. All but findings, variables and files are options of `createRestConnector`. */
export interface OpenApiImport extends Pick<
  DocumentSecurity,
  'interceptors' | 'forwardHeaders' | 'variables'
> {
  /**
   * The document server's address; undefined where there is none, or it is no address, as the findings tell.
   */
  readonly baseUrl: string | undefined
  readonly endpoints: readonly RestEndpoint[]
  readonly types: TypeDefinitions
  /** Types by the names of their schemas in the document, where these are others. */
  readonly typeNames: Readonly<Record<string, string>>
  /** The parts that are left out, or taken otherwise than they are written. */
  readonly findings: readonly OpenApiFinding[]
  /** Paths of the document and of the files that it refers to; none where it was given as an object. */
  readonly files: readonly string[]
}
