import { getRootTypes } from '@graphql-tools/utils'
import { createOperationMemo } from '@vinyasa/core/documents'
import { selectOperation } from '@vinyasa/invalidation'
import {
  getNamedType,
  isAbstractType,
  isInterfaceType,
  isObjectType,
  type DocumentNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
} from 'graphql'
import type { AccessConfig, AccessRule } from '../access-types.ts'
import type { Refused } from '../errors.ts'
import { type Identity, oncePerToken } from '../../context/identity.ts'
import { refusalOf, toRequirement, type Policies, type Requirement } from './requirement.ts'

/** A field of an object type with something before it, as an operation may reach it. */
export interface GuardedField {
  /** `Type.field` */
  readonly coordinate: string
  readonly requirements: readonly Requirement[]
  readonly isRoot: boolean
}

/** Refused fields of an operation by coordinate, each with its error code. */
export type Refusals = ReadonlyMap<string, Refused>

/** The guarded fields that an operation may execute, skipped fields included. */
export interface GuardedFields {
  readonly fields: readonly GuardedField[]
  /** Whether the decision depends on the token only, so that it can be kept with the token. */
  readonly isPerToken: boolean
}

/** The rules for who may have which fields of one schema. */
export interface AccessRules {
  /** All fields that have something before them. */
  readonly guarded: ReadonlySet<string>
  inOperation(document: DocumentNode, operationName?: string | null): GuardedFields
  /** Which of the fields who asks may not have. */
  refusals(guarded: GuardedFields, identity: Identity | undefined): Refusals
}

const NOTHING: Refusals = new Map()
const NO_FIELDS: GuardedFields = { fields: [], isPerToken: true }
/** Number of operations whose decisions are kept with one token. */
const DECISIONS_PER_TOKEN = 16

/**
 * The rules of the config, and those that stand in the schema as `extensions.access`. All that concern a field must
 * hold: its own, those of its type and of the type that it gives, and those of the interfaces that it comes from.
 */
export function createAccessRules(
  schema: GraphQLSchema,
  fields: AccessConfig['fields'] = {},
  policies: Policies,
): AccessRules {
  const guarded = new Map<string, GuardedField>()
  const roots = getRootTypes(schema)
  const inOperations = createOperationMemo<GuardedFields>()
  const decisionsOf = oncePerToken(() => new Map<GuardedFields, Refusals>())

  function rulesOf(coordinate: string, { extensions }: Pick<GraphQLNamedType, 'extensions'>): AccessRule[] {
    const own = Object.hasOwn(fields, coordinate) ? fields[coordinate] : undefined
    return [own, extensions['access'] as AccessRule | undefined].filter((rule) => rule !== undefined)
  }

  function rulesOfField(type: GraphQLNamedType, field: GraphQLField<unknown, unknown>): AccessRule[] {
    const rules = [...rulesOf(`${type.name}.${field.name}`, field), ...rulesOf(type.name, type)]
    if (!isObjectType(type) && !isInterfaceType(type)) return rules
    for (const parent of type.getInterfaces()) {
      rules.push(...rulesOf(parent.name, parent))
      const inherited = parent.getFields()[field.name]
      if (inherited) rules.push(...rulesOf(`${parent.name}.${field.name}`, inherited))
    }
    return rules
  }

  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue
    for (const field of Object.values(type.getFields())) {
      const given = getNamedType(field.type)
      const rules = [...rulesOfField(type, field), ...rulesOf(given.name, given)]
      const requirements = rules.flatMap((rule) => toRequirement(rule) ?? [])
      if (requirements.length === 0) continue
      const coordinate = `${type.name}.${field.name}`
      guarded.set(coordinate, { coordinate, requirements, isRoot: roots.has(type) })
    }
  }

  function find(document: DocumentNode, operationName: string | null | undefined): GuardedFields {
    const selected = selectOperation(schema, document, operationName)?.fields ?? []
    const found = new Set<GuardedField>()
    for (const { parent, definitions } of selected) {
      for (const { typeName, field } of definitions) {
        // A field selected on an interface is that of each object type behind it.
        if (isAbstractType(parent) && typeName === parent.name) continue
        const one = guarded.get(`${typeName}.${field.name}`)
        if (one) found.add(one)
      }
    }
    const fields = [...found]
    const names = fields.flatMap(({ requirements }) => requirements.map((one) => one.policies ?? [])).flat(2)
    return { fields, isPerToken: names.every((name) => policies.comparesClaims(name)) }
  }

  function decide({ fields }: GuardedFields, identity: Identity | undefined): Refusals {
    let refused: Map<string, Refused> | undefined
    for (const { coordinate, requirements } of fields) {
      const code = refusalOf(requirements, identity, policies.holds)
      if (code) (refused ??= new Map()).set(coordinate, code)
    }
    return refused ?? NOTHING
  }

  return {
    guarded: new Set(guarded.keys()),
    inOperation(document, operationName) {
      if (guarded.size === 0) return NO_FIELDS
      return inOperations({ schema, document, operationName }, () => find(document, operationName))
    },
    refusals(touched, identity) {
      if (!identity || !touched.isPerToken) return decide(touched, identity)
      const decisions = decisionsOf(identity)
      const kept = decisions.get(touched)
      if (kept) return kept
      const decision = decide(touched, identity)
      decisions.set(touched, decision)
      const [oldest] = decisions.keys()
      if (decisions.size > DECISIONS_PER_TOKEN && oldest) decisions.delete(oldest)
      return decision
    },
  }
}
