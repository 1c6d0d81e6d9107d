import { type GraphQLSchema, isInputObjectType, isObjectType } from 'graphql'
import type { GatewayConfig } from '../../config/types.ts'
import { isRootName, ROOT_NAMES } from '../../coordinates.ts'
import type { Finding } from './compare-schemas.ts'
import { lettersOf } from './counterparts.ts'
import type { Setting } from './settings.ts'

/** What is known where a setting for a finding is looked for. */
export interface View {
  readonly before: GraphQLSchema
  readonly after: GraphQLSchema
  /** With the settings that are taken already. */
  readonly config: GatewayConfig
}

/** Settings that belong together. */
export type Candidate = readonly Setting[]

/** The names of fields that objects and inputs of this name have. */
export function fieldNamesOf(schema: GraphQLSchema, name: string): readonly string[] {
  const type = schema.getType(name)
  return isObjectType(type) || isInputObjectType(type) ? Object.keys(type.getFields()) : []
}

/** A root field that is on another operation now, under its old name or one that reads alike. */
export function movedFrom(
  { rule, path }: Finding,
  { after }: View,
):
  | { readonly operation: string; readonly name: string; readonly now: readonly [string, string] }
  | undefined {
  const [operation = '', name = ''] = path.split('.')
  if (rule !== 'FIELD_REMOVED' || !isRootName(operation)) return undefined
  const found = Object.values(ROOT_NAMES).flatMap((other) =>
    other === operation
      ? []
      : fieldNamesOf(after, other)
          .filter((field) => lettersOf(field) === lettersOf(name))
          .map((field) => [other, field] as const),
  )
  const [now] = found
  return now && found.length === 1 ? { operation, name, now } : undefined
}
