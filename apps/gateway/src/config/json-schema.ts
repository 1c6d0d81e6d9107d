import { z } from 'zod'
import { definitionOf } from './definition.ts'
import { otherNames } from './file/specification-names.ts'
import { gatewayConfig } from './schema.ts'

/** A node of JSON Schema, draft 2020-12. */
export interface JsonSchema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly additionalProperties?: JsonSchema | boolean
  readonly [keyword: string]: unknown
}

/** `${NAME}` and `${NAME:-default}` become numbers and booleans where these are expected. */
const FROM_ENVIRONMENT: JsonSchema = { type: 'string', pattern: '\\$\\{[A-Za-z_]' }

/** Seconds as a number, or a text with its unit. */
const DURATION: JsonSchema = { anyOf: [{ type: 'number' }, { type: 'string' }] }

/**
 * Returns a JSON schema of configs in YAML and JSON, for editors: the settings under their own names and
 * those of the specification. Settings that only code can hold, such as functions, are left out.
 */
export function configJsonSchema(): JsonSchema {
  const made = z.toJSONSchema(gatewayConfig, {
    io: 'input',
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      if (definitionOf(zodSchema)?.type === 'custom') Object.assign(jsonSchema, { not: {} })
    },
  }) as JsonSchema
  const { $schema, ...root } = forFiles(made)
  return {
    $schema,
    title: 'Vinyasa gateway config',
    ...root,
    patternProperties: { '^x-': {} },
    properties: {
      $schema: { type: 'string' },
      extends: {
        description: 'Files that this config extends. Objects are merged; other values are replaced.',
        anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
      },
      ...root.properties,
    },
  }
}

/** Returns the part of a schema that data can say, with the ways in which files may say it. */
function forFiles(schema: JsonSchema): JsonSchema {
  const { properties, required = [], items, additionalProperties, $defs, oneOf, ...rest } = schema
  // A variable may stand in the place of what tells alternatives apart.
  const { anyOf = oneOf, ...own } = rest
  const definitions = Object.entries(($defs ?? {}) as Readonly<Record<string, JsonSchema>>)
  const mapped: JsonSchema = {
    ...own,
    ...($defs !== undefined && {
      $defs: Object.fromEntries(definitions.map(([name, one]) => [name, forFiles(one)])),
    }),
    ...(items && { items: forFiles(items) }),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: forFiles(additionalProperties) }
      : additionalProperties !== undefined && { additionalProperties }),
    ...(anyOf && { anyOf: anyOf.filter(isData).map(forFiles) }),
    ...(properties && settings(properties, required)),
  }
  const isScalar =
    mapped.enum !== undefined ||
    mapped.const !== undefined ||
    /^(number|integer|boolean)$/.test(mapped.type ?? '')
  return isScalar ? { anyOf: [mapped, FROM_ENVIRONMENT] } : mapped
}

/** Each setting under both of its names; one that is needed, under either. */
function settings(
  properties: NonNullable<JsonSchema['properties']>,
  required: readonly string[],
): JsonSchema {
  const named: Record<string, JsonSchema> = {}
  for (const [name, property] of Object.entries(properties)) {
    if (!isData(property)) continue
    named[name] = forFiles(property)
    for (const { name: other, isDuration } of otherNames(name)) {
      if (Object.hasOwn(properties, other)) continue
      named[other] = { ...(isDuration ? DURATION : forFiles(property)), doNotSuggest: true }
    }
  }
  const single = required.filter((name) => otherNames(name).length === 0)
  const either = required.filter((name) => otherNames(name).length > 0)
  return {
    properties: named,
    ...(single.length > 0 && { required: single }),
    ...(either.length > 0 && {
      allOf: either.map((name) => ({
        anyOf: [name, ...otherNames(name).map((other) => other.name)].map((one) => ({ required: [one] })),
      })),
    }),
  }
}

function isData({ not, items, oneOf, anyOf = oneOf }: JsonSchema): boolean {
  if (anyOf) return anyOf.some(isData)
  return not === undefined && (items === undefined || isData(items))
}
