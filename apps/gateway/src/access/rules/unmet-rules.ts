import type { GraphQLSchema } from 'graphql'
import { definitionsIn } from '../../coordinates.ts'
import type { AccessRule, AccessSections } from '../access-types.ts'
import { refusalOf, toRequirement } from './requirement.ts'

/** Limit of the places that a note lists. */
const MAX_LISTED = 10

/**
 * Returns a note on rules that refuse everybody, since nobody is ever known to ask; none if tokens or plugins
 * may say who asks. Keeping fields from everybody may be meant, so that it is no mistake.
 */
export function noteUnmetRules(
  schema: GraphQLSchema,
  {
    auth,
    access = {},
    plugins = [],
  }: Pick<AccessSections, 'auth' | 'access'> & { readonly plugins?: readonly object[] | undefined },
): string[] {
  // Code may say who asks too.
  if (auth || plugins.length > 0) return []
  const { fields = {}, policies = {} } = access
  const mayHold = (name: string): boolean => typeof policies[name] === 'function'
  const inSchema = [...definitionsIn(schema)].map(
    ([coordinate, { extensions }]) => [coordinate, extensions['access'] as AccessRule | undefined] as const,
  )
  const unmet = [...Object.entries(fields), ...inSchema].filter(([, rule]) => {
    const requirement = rule && toRequirement(rule)
    return requirement && refusalOf([requirement], undefined, mayHold)
  })
  const places = [...new Set(unmet.map(([coordinate]) => coordinate))]
  if (places.length === 0) return []
  const more = places.length - MAX_LISTED
  const listed = places.slice(0, MAX_LISTED).join(', ') + (more > 0 ? ` and ${more} more` : '')
  return [
    `access to ${listed} is always refused because the rules require an authenticated caller, but auth.jwt is not set; set auth.jwt, or add a plugin that sets context.auth`,
  ]
}
