import type { RestEndpoint, TypeDefinitions } from '@vinyasa/rest-connector'
import { z } from 'zod'
import {
  count,
  functionValue,
  headerName,
  liveOptions,
  milliseconds,
  nameValues,
  sourceNames,
  textValues,
  typeNames,
  type OptionsOf,
} from '../../option-values.ts'
import type { OpenApiConfig, RestSourceConfig } from '../types.ts'

const description = z.string().optional()

const members = z.record(
  z.string(),
  z.strictObject({
    type: z.string(),
    key: z.string().optional(),
    default: z.null().optional(),
    besides: z.array(z.string()).optional(),
    deprecated: z.string().optional(),
    description,
  }),
)

const signs = z.strictObject({
  required: z.array(z.string()).optional(),
  constants: z.record(z.string(), z.array(z.unknown())).optional(),
})

const discriminator = z
  .strictObject({ key: z.string(), types: z.record(z.string(), z.string()), rest: z.string().optional() })
  .optional()

const enumValue = z.strictObject({
  value: z.union([z.string(), z.number(), z.boolean()]),
  deprecated: z.string().optional(),
  description,
})

/** The `types` of an entry of the config's `rest`. */
const typeDefinitions: z.ZodType<TypeDefinitions> = z.record(
  z.string(),
  z.discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('object'),
      fields: members,
      interfaces: z.array(z.string()).optional(),
      description,
    }),
    z.strictObject({
      kind: z.literal('union'),
      members: z.record(z.string(), signs),
      discriminator,
      description,
    }),
    z.strictObject({
      kind: z.literal('interface'),
      fields: members,
      members: z.record(z.string(), signs),
      discriminator,
      description,
    }),
    z.strictObject({ kind: z.literal('enum'), values: z.record(z.string(), enumValue), description }),
    z.strictObject({
      kind: z.literal('scalar'),
      pattern: z.string().optional(),
      specifiedBy: z.string().optional(),
      description,
    }),
    z.strictObject({ kind: z.literal('entry'), value: z.string(), description }),
    z.strictObject({
      kind: z.literal('input'),
      fields: members,
      isOneOf: z.boolean().optional(),
      description,
    }),
    z.strictObject({ kind: z.literal('input entry'), value: z.string(), description }),
  ]),
)

type Given<Option extends keyof RestEndpoint> = NonNullable<RestEndpoint[Option]>

const retry = z.strictObject({
  maxRetries: count.optional(),
  initialBackoffMs: milliseconds.optional(),
  maxBackoffMs: milliseconds.optional(),
  multiplier: z.number().min(1).optional(),
  retryStatuses: z.array(z.number().int().min(100).max(599)).optional(),
})

const join = z.strictObject({
  type: z.string(),
  field: z.string(),
  args: textValues,
  batch: z
    .strictObject({ key: z.string(), many: z.boolean().optional(), maxBatchSize: count.min(1).optional() })
    .optional(),
  description: z.string().optional(),
})

const invalidation = z.strictObject({
  entityType: z.string(),
  operation: z.string(),
  entityId: z.string().optional(),
})

/** Fields hold fields in place, so this schema refers to itself. */
const field: z.ZodType = z.lazy(() => fieldOrType)

const fieldOrType = z.union([
  z.string(),
  z.strictObject({
    type: z.string(),
    description: z.string().optional(),
    key: z.string().optional(),
    fields: z.record(z.string(), field).optional(),
  }),
])

const argument = z.strictObject({
  type: z.string(),
  description: z.string().optional(),
  default: z.unknown().optional(),
  deprecated: z.string().optional(),
}) satisfies z.ZodType<Exclude<Given<'args'>[string], string>>
const style = z.enum([
  'matrix',
  'label',
  'simple',
  'form',
  'spaceDelimited',
  'pipeDelimited',
  'tabDelimited',
  'deepObject',
  'cookie',
])

const parameter = z.strictObject({
  name: z.string(),
  in: z.enum(['path', 'query', 'header', 'cookie']),
  arg: z.string().optional(),
  style: style.optional(),
  explode: z.boolean().optional(),
  allowReserved: z.boolean().optional(),
  content: z.string().optional(),
} satisfies OptionsOf<Given<'parameters'>[number]>)

const encoding = z.strictObject({
  style: style.optional(),
  explode: z.boolean().optional(),
  allowReserved: z.boolean().optional(),
  contentType: z.string().optional(),
} satisfies OptionsOf<NonNullable<Given<'body'>['encoding']>[string]>)

const body = z.strictObject({
  arg: z.string().optional(),
  contentType: z.string().optional(),
  isBase64: z.boolean().optional(),
  encoding: z.record(z.string(), encoding).optional(),
} satisfies OptionsOf<Given<'body'>>)

const linkParts = [
  z.strictObject({ body: z.string() }),
  z.strictObject({ header: z.string() }),
  z.strictObject({ arg: z.string(), path: z.string().optional() }),
  z.strictObject({ exchange: z.enum(['url', 'status']) }),
  z.strictObject({ value: z.unknown() }),
] as const

const linkValue = z.union([
  ...linkParts,
  z.strictObject({ text: z.array(z.union([z.string(), ...linkParts])) }),
])

const envelope = z.strictObject({
  typeName: z.string().optional(),
  headers: z
    .union([
      z.array(z.string()),
      z.record(
        z.string(),
        z.strictObject({
          header: z.string(),
          type: z.string().optional(),
          description: z.string().optional(),
        }),
      ),
    ])
    .optional(),
  next: z.boolean().optional(),
  links: z
    .record(
      z.string(),
      z.strictObject({
        endpoint: z.string(),
        args: z.record(z.string(), linkValue),
        description: z.string().optional(),
      }),
    )
    .optional(),
} satisfies OptionsOf<Given<'envelope'>>)

const endpoint = z.strictObject({
  name: z.string(),
  path: z.string(),
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).optional(),
  headers: nameValues.optional(),
  accept: z.string().optional(),
  queryParams: nameValues.optional(),
  queryArrayFormat: z.enum(['repeat', 'comma', 'brackets']).optional(),
  bodyTemplate: z.union([z.string(), z.literal(false)]).optional(),
  baseUrl: z.string().optional(),
  parameters: z.array(parameter).optional(),
  body: body.optional(),
  responsePath: z.string().optional(),
  timeoutMs: milliseconds.optional(),
  description: z.string().optional(),
  returnType: z.string().optional(),
  listOfOne: z.array(z.string()).optional(),
  responseSchema: z
    .strictObject({
      typeName: z.string(),
      fields: z.record(z.string(), field),
      description: z.string().optional(),
    })
    .optional(),
  answer: z.enum(['json', 'text', 'binary', 'none']).optional(),
  envelope: envelope.optional(),
  asQuery: z.boolean().optional(),
  deprecated: z.string().optional(),
  args: z.record(z.string(), z.union([z.string(), argument])).optional(),
  on: z.union([join, z.array(join)]).optional(),
  rootField: z.boolean().optional(),
  invalidates: z.union([z.literal(false), z.array(invalidation)]).optional(),
  changes: typeNames.optional(),
  dependsOn: typeNames.optional(),
  liveQuery: liveOptions.optional(),
} satisfies OptionsOf<RestEndpoint>) as z.ZodType<RestEndpoint>

const operations = z.union([z.array(z.string()), functionValue()])
const names = z.union([z.boolean(), z.array(z.string())])

const download = z.strictObject({
  headers: textValues.optional(),
  origins: z.array(z.string()).optional(),
  maxBytes: count.optional(),
  maxFiles: count.optional(),
  timeoutMs: milliseconds.optional(),
} satisfies OptionsOf<NonNullable<OpenApiConfig['download']>>)

const openapi = z
  .strictObject({
    file: z.string().optional(),
    url: z
      .string()
      .refine((url) => /^https?:\/\//i.test(url) && URL.canParse(url), {
        error: 'expected an http or https URL',
      })
      .optional(),
    include: operations.optional(),
    exclude: operations.optional(),
    tags: z.array(z.string()).optional(),
    rename: textValues.optional(),
    integers: z.enum(['auto', 'int', 'long']).optional(),
    trustRequired: names.optional(),
    asQuery: operations.optional(),
    headers: names.optional(),
    links: names.optional(),
    nextPage: z.union([z.boolean(), operations]).optional(),
    server: z.union([z.number().int().nonnegative(), z.string()]).optional(),
    variables: textValues.optional(),
    security: z.union([z.enum(['env', 'forward']), z.literal(false)]).optional(),
    documentUrl: z.string().optional(),
    download: download.optional(),
  } satisfies OptionsOf<OpenApiConfig>)
  .refine(({ file, url }) => (file === undefined) !== (url === undefined), {
    error: 'expected either file or url',
  }) as z.ZodType<OpenApiConfig>

/** One entry of the config's `rest`. */
export const restSource: z.ZodType<RestSourceConfig> = z.strictObject({
  baseUrl: z.string().optional(),
  endpoints: z.array(endpoint).optional(),
  types: typeDefinitions.optional(),
  ...sourceNames,
  openapi: z.union([z.string(), openapi]).optional(),
  healthPath: z.union([z.string(), z.literal(false)]).optional(),
  required: z.boolean().optional(),
  timeoutMs: milliseconds.optional(),
  totalTimeoutMs: milliseconds.optional(),
  defaultHeaders: nameValues.optional(),
  forwardHeaders: z.array(headerName).optional(),
  retry: retry.optional(),
  noRetry: z.boolean().optional(),
  breaker: z
    .union([
      z.boolean(),
      z.strictObject({
        threshold: z.number().gt(0).lt(1).optional(),
        halfOpenAfterMs: milliseconds.optional(),
      }),
    ])
    .optional(),
  cacheSize: count.optional(),
  cacheMaxBytes: count.optional(),
  cacheTtlMs: milliseconds.optional(),
  limitsResponseCache: z.boolean().optional(),
  interceptors: z.array(functionValue()).optional(),
  allowOriginChange: z.boolean().optional(),
  transformer: functionValue().optional(),
  logBodies: z
    .union([
      z.boolean(),
      z.strictObject({ redact: z.array(z.string()).optional(), force: z.boolean().optional() }),
    ])
    .optional(),
  exposeErrors: z.boolean().optional(),
  int64: z.enum(['string', 'number-when-safe']).optional(),
  maxResponseBytes: count.optional(),
  maxResponseItems: count.optional(),
  maxRequestsPerOperation: count.optional(),
  maxConnections: count.min(1).optional(),
  maxConnectionAgeMs: milliseconds.optional(),
  plans: z.boolean().optional(),
} satisfies OptionsOf<RestSourceConfig>) as z.ZodType<RestSourceConfig>
