import {
  executeSync,
  getNamedType,
  isAbstractType,
  isInterfaceType,
  isObjectType,
  parse,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type GraphQLError,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
} from 'graphql'
import type { AccessWorld, User } from './world.ts'

export interface Expected {
  readonly data: unknown
  /** Code by path, sorted. */
  readonly errors: readonly string[]
}

type Rules = AccessWorld['rules']

/** What the gateway should answer: each field is asked about when it is its turn, by what the rules say in words. */
export function expectedAnswer(
  { schema, root, rules, refuse }: AccessWorld,
  user: User,
  query: string,
): Expected {
  const mayHave = mayHaveIn(rules, user)
  const code = user.isKnown ? 'FORBIDDEN' : 'UNAUTHENTICATED'
  const document = parse(query)
  if (refuse === 'operation' && mayReachRefused({ schema, rules }, user, query))
    return { data: undefined, errors: [`${code} `] }
  const { data, errors = [] } = executeSync({
    schema,
    document,
    rootValue: root,
    typeResolver: (value) => (value as { readonly __typename: string }).__typename,
    fieldResolver(source, args, _, { parentType, fieldName }) {
      const field = parentType.getFields()[fieldName]
      if (field && !mayHave(parentType, field)) throw new Error('refused')
      if (fieldName === 'whoami') return { header: user.isKnown ? user.name : null }
      const value: unknown = (source as Record<string, unknown>)[fieldName]
      return typeof value === 'function' ? (value as (args: object) => unknown)(args) : value
    },
  })
  const pathOf = ({ path = [] }: GraphQLError): string => `${code} ${path.join('.')}`
  return { data: JSON.parse(JSON.stringify(data)) as unknown, errors: errors.map(pathOf).sort() }
}

function mayHaveIn(rules: Rules, user: User) {
  return (type: GraphQLNamedType, field: GraphQLField<unknown, unknown>): boolean =>
    coordinatesOf(type, field).every((coordinate) => holds(rules[coordinate], user))
}

/** Whether the document has a refused field anywhere, whether it is skipped, or of a type that does not come. */
export function mayReachRefused(
  { schema, rules }: Pick<AccessWorld, 'schema' | 'rules'>,
  user: User,
  query: string,
): boolean {
  const mayHave = mayHaveIn(rules, user)
  return selectedFields(schema, query).some(([type, field]) => !mayHave(type, field))
}

/** Where rules may stand that concern a field. */
function coordinatesOf(type: GraphQLNamedType, field: GraphQLField<unknown, unknown>): string[] {
  const owners = isObjectType(type) ? [type, ...type.getInterfaces()] : [type]
  return [getNamedType(field.type).name, ...owners.flatMap(({ name }) => [name, `${name}.${field.name}`])]
}

function holds(rule: Rules[string] | undefined, { isKnown, scopes, roles }: User): boolean {
  if (!rule) return true
  if ((rule.authenticated || rule.scopes) && !isKnown) return false
  const has = (lists: typeof rule.scopes, held: readonly string[]): boolean =>
    !lists || (lists as readonly string[][]).some((all) => all.every((one) => held.includes(one)))
  return has(rule.scopes, scopes) && has(rule.policies, roles)
}

/** Fields of object types that a document may reach. */
function selectedFields(
  schema: GraphQLSchema,
  query: string,
): (readonly [GraphQLNamedType, GraphQLField<unknown, unknown>])[] {
  const found: (readonly [GraphQLNamedType, GraphQLField<unknown, unknown>])[] = []
  const info = new TypeInfo(schema)
  visit(
    parse(query),
    visitWithTypeInfo(info, {
      Field({ name }) {
        const type = info.getParentType()
        const types = isAbstractType(type) ? schema.getPossibleTypes(type) : [type]
        for (const one of types) {
          if (!isObjectType(one) && !isInterfaceType(one)) continue
          const field = one.getFields()[name.value]
          if (field) found.push([one, field])
        }
      },
    }),
  )
  return found
}
