import type { GrpcSourceOptions } from '@vinyasa/grpc-source'
import type { OpenApiOptions, RestConnectorOptions } from '@vinyasa/rest-connector'

interface Readiness {
  /** Whether `/health/ready` answers 503 while the backend is down. Default false: the gateway serves its other sources. */
  readonly required?: boolean | undefined
}

/** One gRPC backend: the options of `createGrpcSource`; paths are relative to the config file. */
export interface GrpcSourceConfig
  extends
    Omit<
      GrpcSourceOptions,
      'name' | 'bus' | 'clock' | 'random' | 'logger' | 'watch' | 'federation' | 'observe' | 'onPlan'
    >,
    Readiness {}

/** The document of a REST backend, and what becomes of it: the options of `importOpenApi`. */
export interface OpenApiConfig extends Omit<OpenApiOptions, 'source' | 'taken' | 'baseUrl' | 'env'> {
  /** Path of the document, JSON or YAML; others that it refers to are read too. Either this or `url`. */
  readonly file?: string | undefined
  /**
   * Address that the document is downloaded from at each start and reload, within the bounds of `download`.
   * If it cannot be had, the gateway does not start. Either this or `file`.
   */
  readonly url?: string | undefined
}

/** One REST backend: the options of `createRestConnector`. */
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
  /** May be left out beside `openapi`, whose document names a server. */
  readonly baseUrl?: string | undefined
  /** May be left out beside `openapi`. */
  readonly endpoints?: RestConnectorOptions['endpoints'] | undefined
  /**
   * An OpenAPI 3 or Swagger 2 document, or its path or URL: its operations become endpoints, before those of `endpoints`. What
   * cannot be served is left out and noted. A name that the config declares itself, a gRPC source has, or a REST source
   * before this one, gets this source's before it (`shopGetPet`, `ShopPet`), which is noted.
   */
  readonly openapi?: string | OpenApiConfig | undefined
  /**
   * A GET path that answers 2xx while the API is well, for `check`, `/status` and, if it is `required`, `/health/ready`. Default:
   * any response to a HEAD of `baseUrl`; `false`: no request is made, and the API counts as well.
   */
  readonly healthPath?: string | false | undefined
}

/** The kinds of sources by their sections of the config, each with the options of one source. */
export interface SourceOptions {
  /** gRPC backends by name. */
  readonly grpc: GrpcSourceConfig
  /** REST backends by name. */
  readonly rest: RestSourceConfig
}

/** The sections of the config that name backends. */
export type SourceSections = {
  readonly [Section in keyof SourceOptions]?: Readonly<Record<string, SourceOptions[Section]>> | undefined
}
