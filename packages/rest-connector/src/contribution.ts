import type { OnPlan } from '@vinyasa/source-kit'
import type { GraphQLFieldResolver } from 'graphql'
import type { Call } from './call.ts'
import type { CompiledEndpoint } from './endpoint.ts'
import { atPlace, RestConfigError } from './errors.ts'
import {
  parseTypeReference,
  type FieldDefinition,
  type FieldDefinitions,
  type TypeReference,
} from './fields.ts'
import { joinField } from './join.ts'
import { fieldResolver, rootResolver } from './resolvers.ts'

/** A field that a connector adds to a type. `Query` and `Mutation` stand for the server's root types. */
export interface ContributedField {
  readonly parent: string
  readonly name: string
  readonly type: TypeReference
  readonly description: string | undefined
  readonly args: ReadonlyMap<string, TypeReference>
  readonly resolve: GraphQLFieldResolver<unknown, unknown> | undefined
  readonly extensions: Readonly<Record<string, unknown>>
  /** Fields of the parent that the resolver reads. */
  readonly requires?: readonly string[] | undefined
}

/** All that a connector adds to a schema, as data. */
export interface Contribution {
  /** Tells this connector's fields from another's, wherever they are found again. */
  readonly id: string
  readonly connector: string
  readonly fields: readonly ContributedField[]
  /** Object types that the connector defines, with their descriptions. */
  readonly types: ReadonlyMap<string, string | undefined>
  /** Is told of plans. */
  readonly onPlan: OnPlan | undefined
}

export interface ContributeOptions {
  /** Lets plans do without the resolvers of these fields: what they give is JSON as it came. */
  readonly isPlannable: boolean
  readonly onPlan: OnPlan | undefined
}

export function contribute(
  connector: string,
  endpoints: readonly CompiledEndpoint[],
  calls: ReadonlyMap<string, Call>,
  { isPlannable, onPlan }: ContributeOptions,
): Contribution {
  const id = crypto.randomUUID()
  const fields = new Map<string, ContributedField>()
  const types = new Map<string, string | undefined>()

  function add(field: ContributedField): void {
    const key = `${field.parent}.${field.name}`
    const known = fields.get(key)
    if (!known) {
      fields.set(key, field)
      return
    }
    if (known.type.text !== field.type.text || known.extensions['restKey'] !== field.extensions['restKey'])
      throw new RestConfigError(
        `field ${key} is declared as ${known.type.text} by ${String(known.extensions['origin'])} ` +
          `and as ${field.type.text} by ${String(field.extensions['origin'])}`,
      )
  }

  function addType(
    typeName: string,
    definitions: FieldDefinitions,
    origin: string,
    description?: string,
  ): void {
    if (!types.has(typeName) || description !== undefined) types.set(typeName, description)
    for (const [name, definition] of Object.entries(definitions)) {
      const full: FieldDefinition = typeof definition === 'string' ? { type: definition } : definition
      const { type: text, description: about, key = name, fields: nested } = full
      const type = atPlace(`field "${typeName}.${name}"`, () => parseTypeReference(text))
      add({
        parent: typeName,
        name,
        type,
        description: about,
        args: new Map(),
        resolve: fieldResolver(typeName, name, key, type),
        extensions: { origin, source: id, restKey: key },
      })
      if (nested) addType(type.name, nested, origin)
    }
  }

  for (const endpoint of endpoints) {
    const { declared, name, method } = endpoint
    const { description, responseSchema, live, rootField = true, on = [] } = declared
    const origin = `rest connector "${connector}": ${method} ${declared.path} (endpoint ${name})`
    const call = calls.get(name)
    if (!call) throw new RestConfigError(`endpoint "${name}" cannot be called`)
    atPlace(`endpoint "${name}"`, () => {
      if (rootField)
        add({
          parent: endpoint.isMutation ? 'Mutation' : 'Query',
          name,
          type: endpoint.returnType,
          description,
          args: endpoint.args,
          resolve: rootResolver(endpoint, call, isPlannable),
          extensions: { origin, source: id, ...(live && { liveQuery: live }) },
        })
      for (const join of [on].flat()) {
        const field = joinField(endpoint, call, join, isPlannable)
        add({ ...field, extensions: { origin, source: id, requires: field.requires } })
      }
      if (responseSchema)
        addType(responseSchema.typeName, responseSchema.fields, origin, responseSchema.description)
    })
  }
  return { id, connector, fields: [...fields.values()], types, onPlan }
}
