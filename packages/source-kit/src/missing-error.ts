import { isObjectType, type GraphQLSchema } from 'graphql'
import { nearestNames } from '@vinyasa/base'
import { hiddenOf } from './own/names.ts'
import type { Pending } from './schema/add-fields.ts'
import { SchemaConflictError } from './schema/source.ts'

/** The most fields of a type that an error lists. */
const MAX_LISTED = 20

/** For a field that waits for what nothing has brought: what that is, and what its parent has. */
export function missingError(schema: GraphQLSchema, { field, missing }: Pending): SchemaConflictError {
  const { parent, name, origin } = field
  const wanted = missing.split('.')[1]
  const hint = wanted === undefined ? '' : hintFor(parent, wanted, keyNames(schema, parent))
  return new SchemaConflictError(
    `field ${parent}.${name} of ${origin} needs ${missing}, which is not defined; ` +
      `${hint}declare ${missing}, or add the source that defines it`,
    [origin],
  )
}

function hintFor(parent: string, wanted: string, known: readonly string[]): string {
  if (known.length === 0) return ''
  const [near] = nearestNames(wanted, known, 1)
  const listed = known.slice(0, MAX_LISTED).join(', ') + (known.length > MAX_LISTED ? ', …' : '')
  return `the fields of ${parent} are ${listed}; use one of them${near === undefined ? '' : ` (did you mean "${near}"?)`}, `
}

/** The fields that a join to a type may read. */
function keyNames(schema: GraphQLSchema, parent: string): readonly string[] {
  const type = schema.getType(parent)
  if (!isObjectType(type)) return []
  const types = [type, ...hiddenOf(type.extensions)]
  return types.flatMap((one) => Object.keys(one.getFields())).toSorted()
}
