import type { RestEndpoint } from '../declare/endpoint-options.ts'
import type { TypeDefinitions } from '../declare/type-definitions.ts'
import type { EnvelopeSelection } from './envelopes.ts'
import type { DownloadOptions } from './files/download.ts'
import type { OpenApiFinding } from './findings.ts'
import type { OperationFilter, Selection } from './operations.ts'
import type { DocumentSecurity, SecuritySource } from './security.ts'
import type { ServerOptions } from './servers.ts'
import type { IntegerTyping } from './types/scalars.ts'

export interface OpenApiOptions extends Selection, ServerOptions, EnvelopeSelection {
  /**
   * Custom names of fields, by operation id or `GET /path`, and of types, by schema name. Default: none.
   */
  readonly rename?: Readonly<Record<string, string>> | undefined
  /**
   * The type of an `integer` without a format. `auto`: `Int` if its bounds fit 32 bits, otherwise `Long`, which keeps all
   * digits. An integer with the format `int64`, or with larger bounds, is always `Long`. Default `auto`.
   */
  readonly integers?: IntegerTyping | undefined
  /**
   * Makes required properties non-null, or only those of the listed types and fields (`Pet`, `Pet.name`). Default false; a
   * missing property is then null, and its object stays in the response. Enums are never non-null.
   */
  readonly trustRequired?: boolean | readonly string[] | undefined
  /** Operations with other methods than GET that only read, selected as in `include`. They become queries. Default: none. */
  readonly asQuery?: OperationFilter | undefined
  /**
   * Names of fields and types that other sources use. Only conflicting names get the prefix `source`, and a finding reports
   * them. Default: none.
   */
  readonly taken?: Iterable<string> | undefined
  /**
   * The name of the API. It is a prefix of conflicting names and of environment variables. Default `api`.
   */
  readonly source?: string | undefined
  /**
   * The source of credentials for the document's `securitySchemes`. Default `env`: `SHOP_API_KEY` for `shop`.
   */
  readonly security?: SecuritySource | undefined
  /**
   * The URL of the document. Relative servers are resolved against it. `$ref`s to its server, or to its root, resolve to
   * files next to the document. Default: the URL that you import, otherwise unknown.
   */
  readonly documentUrl?: string | undefined
  /** Settings for downloading the document and files of other servers. */
  readonly download?: DownloadOptions | undefined
  /**
   * The address of the API. If it is set, servers of paths and operations on another origin are not called. Default: the
   * document's server.
   */
  readonly baseUrl?: string | undefined
  /** Environment variables. Default `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
}

/** The result of an import. All properties except findings, variables and files are options of `createRestConnector`. */
export interface OpenApiImport extends Pick<
  DocumentSecurity,
  'interceptors' | 'forwardHeaders' | 'variables'
> {
  /**
   * The address of the document's server. It is undefined if the server is missing or invalid, and a finding reports it.
   */
  readonly baseUrl: string | undefined
  readonly endpoints: readonly RestEndpoint[]
  readonly types: TypeDefinitions
  /** Types by schema name, if the names differ. */
  readonly typeNames: Readonly<Record<string, string>>
  /** The parts that are omitted or changed. */
  readonly findings: readonly OpenApiFinding[]
  /** Paths of the document and of the files that it refers to. The list is empty for documents that are objects. */
  readonly files: readonly string[]
}
