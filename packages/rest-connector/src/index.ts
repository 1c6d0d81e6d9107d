export type { LiveOptions } from '@vinyasa/base'
export { createRestConnector, type RestConnector } from './connector.ts'
export { useRestConnector } from './plugin.ts'
export {
  field,
  type FieldBuilder,
  type FieldDefinition,
  type FieldDefinitions,
  type FieldKinds,
} from './declare/fields.ts'
export { retryPresets, type RetryOptions } from './retry/retry-policy.ts'
export {
  apiKey,
  bearer,
  type ApiKeyOptions,
  type EnvironmentOptions,
  type SecretSource,
} from './interceptors/credentials.ts'
export { setHeaders, type HeaderSource, type HeaderValues } from './interceptors/set-headers.ts'
export { oauth2ClientCredentials, type OAuth2Options } from './interceptors/oauth2.ts'
export { importOpenApi } from './openapi/import-openapi.ts'
export type { OpenApiImport, OpenApiOptions } from './openapi/openapi-options.ts'
export { downloadOpenApi, type OpenApiFiles } from './openapi/files/download-openapi.ts'
export type { DownloadOptions } from './openapi/files/download.ts'
export type { SecuritySource, SecurityVariable } from './openapi/security.ts'
export type { EnvelopeSelection } from './openapi/envelopes.ts'
export type { ServerOptions } from './openapi/servers.ts'
export { describeFinding, type OpenApiFinding } from './openapi/findings.ts'
export type { OpenApiOperation, OperationFilter } from './openapi/operations.ts'
export type { ArgumentDefinition } from './declare/arguments.ts'
export type {
  EntryDefinition,
  EnumDefinition,
  EnumValueDefinition,
  InputDefinition,
  InputEntryDefinition,
  InterfaceDefinition,
  MemberDefinition,
  MemberSigns,
  ObjectDefinition,
  ScalarDefinition,
  TypeDefinition,
  TypeDefinitions,
  UnionDefinition,
} from './declare/type-definitions.ts'
export { RestConfigError, type RestErrorCode } from './errors.ts'
export type { RestConnectorOptions } from './options.ts'
export type {
  InvalidationTemplate,
  JoinBatch,
  JoinOptions,
  ResponseSchema,
  RestEndpoint,
} from './declare/endpoint-options.ts'
export type { EnvelopeHeader, EnvelopeLink, EnvelopeOptions, LinkValue } from './declare/envelope-options.ts'
export type { BodyOptions, EncodingOptions } from './bodies/body-options.ts'
export type { ParameterOptions, ParameterPlace, ParameterStyle } from './parameters/parameter-options.ts'
export type { HttpMethod } from './http/http-method.ts'

// For integrators.
export type { RestResponse } from './http/attempt.ts'
export type { BreakerOptions, BreakerState } from './retry/breaker.ts'
export type { CallScope } from './call/call.ts'
export type {
  CallInfo,
  OutgoingRequest,
  ReadsHeaders,
  RequestInterceptor,
} from './interceptors/interceptor.ts'
export type { LogBodiesOptions, Logger } from './call/log-bodies.ts'
export type { AttemptOutcome, ObserveAttempt } from './call/observe.ts'
export type { NameValues, QueryArrayFormat } from './templates/query-template.ts'
export type { Clock } from '@vinyasa/base'
export type { PlanEvent } from '@vinyasa/source-kit'
export type { RetryBudgetOptions } from './retry/retry-budget.ts'
export type { RestConnectorStats } from './call/stats.ts'
export type { ResponseTransformer, TransformableResponse, TransformInfo } from './call/transformer.ts'
