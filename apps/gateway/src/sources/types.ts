import type { GrpcSourceOptions } from '@vinyasa/grpc-source'
import type { OpenApiOptions, RestConnectorOptions } from '@vinyasa/rest-connector'

interface Readiness {
  /**
   * Whether `/health/ready` returns 503 while the backend is down. The gateway still serves its other sources. Default
   * false.
   */
  readonly required?: boolean | undefined
}

/** A gRPC backend: the options of `createGrpcSource`. Paths are relative to the config file. */
export interface GrpcSourceConfig
  extends
    Omit<
      GrpcSourceOptions,
      'name' | 'bus' | 'clock' | 'random' | 'logger' | 'watch' | 'federation' | 'observe' | 'onPlan'
    >,
    Readiness {}

/** The OpenAPI document of a REST backend: the options of `importOpenApi`. */
export interface OpenApiConfig extends Omit<OpenApiOptions, 'source' | 'taken' | 'baseUrl' | 'env'> {
  /**
   * Path of the document, in JSON or YAML. Files that it references are read too. Exactly one of `file` and `url` is
   * required.
   */
  readonly file?: string | undefined
  /**
   * URL from which the document is downloaded at each start and reload, within the limits of `download`. If the
   * download fails, the gateway does not start.
   */
  readonly url?: string | undefined
}

/** A REST backend: the options of `createRestConnector`. */
export interface RestSourceConfig
  extends
    Omit<
      RestConnectorOptions,
      | 'baseUrl'
      | 'endpoints'
      | 'typeNames'
      | 'bus'
      | 'clock'
      | 'random'
      | 'env'
      | 'logger'
      | 'observe'
      | 'onPlan'
    >,
    Readiness {
  /** URL of the API. It is optional with `openapi` if the document contains a server. */
  readonly baseUrl?: string | undefined
  /** The endpoints of the API. They are optional with `openapi`. */
  readonly endpoints?: RestConnectorOptions['endpoints'] | undefined
  /**
   * An OpenAPI 3 or Swagger 2 document, or its path or URL. Its operations become endpoints, before the endpoints of
   * `endpoints`. Operations that cannot be served are skipped and logged. If the config, a gRPC source or an earlier
   * REST source uses a name already, the name gets the prefix of this source (`shopGetPet`, `ShopPet`), which is logged
   * too.
   */
  readonly openapi?: string | OpenApiConfig | undefined
  /**
   * Path of a GET request that returns 2xx while the API is healthy. `check` and `/status` use it, and `/health/ready`
   * uses it if the source is `required`. `false` sends no request, and the API counts as healthy. Default: any response
   * to a HEAD request of `baseUrl`.
   */
  readonly healthPath?: string | false | undefined
}

/** The options of one source, by section of the config. */
export interface SourceOptions {
  /** gRPC backends by name. */
  readonly grpc: GrpcSourceConfig
  /** REST backends by name. */
  readonly rest: RestSourceConfig
}

/** The sections of the config about backends. */
export type SourceSections = {
  readonly [Section in keyof SourceOptions]?: Readonly<Record<string, SourceOptions[Section]>> | undefined
}
