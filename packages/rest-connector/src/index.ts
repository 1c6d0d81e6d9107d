export { createRestConnector, type RestConnector } from './connector.ts'
export { useRestConnector, type RestConnectorPlugin } from './plugin.ts'
export {
  field,
  type FieldBuilder,
  type FieldDefinition,
  type FieldDefinitions,
  type FieldKinds,
} from './fields.ts'
export { retryPresets, type RetryOptions } from './retry-policy.ts'
export { RestConfigError, type RestErrorCode } from './errors.ts'
export type {
  HttpMethod,
  InvalidationTemplate,
  LiveOptions,
  NameValues,
  QueryArrayFormat,
  ResponseSchema,
  RestConnectorOptions,
  RestEndpoint,
} from './options.ts'
export type { CallScope } from './call.ts'
export type { Clock } from './clock.ts'
