export { createRestConnector, type RestConnector } from './connector.ts'
export { useRestConnector } from './plugin.ts'
export {
  field,
  type FieldBuilder,
  type FieldDefinition,
  type FieldDefinitions,
  type FieldKinds,
} from './fields.ts'
export { retryPresets, type RetryOptions } from './retry-policy.ts'
export {
  apiKey,
  bearer,
  type ApiKeyOptions,
  type EnvironmentOptions,
  type SecretSource,
} from './credentials.ts'
export { oauth2ClientCredentials, type OAuth2Options } from './oauth2.ts'
export { endpointsFromOpenApi, type OpenApiOperation, type OpenApiOptions } from './openapi.ts'
export { RestConfigError, type RestErrorCode } from './errors.ts'
export type { RestConnectorOptions } from './options.ts'
export type {
  InvalidationTemplate,
  JoinBatch,
  JoinOptions,
  LiveOptions,
  ResponseSchema,
  RestEndpoint,
} from './endpoint-options.ts'
export type { HttpMethod } from './http-method.ts'

// For integrators.
export type { RestResponse } from './attempt.ts'
export type { BreakerOptions, BreakerState } from './breaker.ts'
export type { CallScope } from './call.ts'
export type { Clock } from './clock.ts'
export type { CallInfo, OutgoingRequest, ReadsHeaders, RequestInterceptor } from './interceptor.ts'
export type { LogBodiesOptions, Logger } from './log-bodies.ts'
export type { AttemptOutcome, ObserveAttempt } from './observe.ts'
export type { NameValues, QueryArrayFormat } from './query-template.ts'
export type { PlanEvent } from '@vinyasa/source-kit'
export type { RetryBudgetOptions } from './retry-budget.ts'
export type { RestConnectorStats } from './stats.ts'
export type { ResponseTransformer, TransformableResponse, TransformInfo } from './transformer.ts'
