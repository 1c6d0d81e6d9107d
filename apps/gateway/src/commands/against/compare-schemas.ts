import { type Change, CriticalityLevel, diff } from '@graphql-inspector/core'
import { bareType } from './coordinates-of.ts'
import { buildSchema, type GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql'

/** Something that a client of the older schema may notice. */
export interface Finding {
  /** `breaking`: operations that were valid are not, or values are others; `dangerous`: some clients may be surprised. */
  readonly level: 'breaking' | 'dangerous'
  readonly message: string
  /** `Type.field.argument`, or what there is of it. */
  readonly path: string
  /** The type that was there before, of a change of types. */
  readonly oldType: string | undefined
  /** The rule of GraphQL Inspector that found it. */
  readonly rule: string
  /** The type, or the default, before and now, with its marks, where that has changed. */
  readonly was: string | undefined
  readonly is: string | undefined
}

/** Compares two schemas by the rules of GraphQL Inspector: breaking changes first. */
export async function compareSchemas(
  before: GraphQLSchema,
  after: GraphQLSchema,
): Promise<readonly Finding[]> {
  const changes = await diff(asPrinted(before), asPrinted(after))
  const found = changes.filter(isNoticed).map(toFinding)
  return found.toSorted((a, b) => a.level.localeCompare(b.level))
}

/** As SDL says it: both alike, whatever they were made of. */
function asPrinted(schema: GraphQLSchema): GraphQLSchema {
  return buildSchema(printSchema(lexicographicSortSchema(schema)), { assumeValid: true })
}

/** Uses of directives in the SDL are no part of what clients send or get. */
function isNoticed({ type, criticality }: Change): boolean {
  return criticality.level !== CriticalityLevel.NonBreaking && !String(type).startsWith('DIRECTIVE_USAGE')
}

function toFinding({ criticality, message, path = '', meta, type }: Change): Finding {
  const of = meta as Readonly<Record<string, string | undefined>>
  const oldType = of['oldFieldType'] ?? of['oldArgumentType'] ?? of['oldInputFieldType']
  const newType = of['newFieldType'] ?? of['newArgumentType'] ?? of['newInputFieldType']
  return {
    level: criticality.level === CriticalityLevel.Breaking ? 'breaking' : 'dangerous',
    message,
    path,
    oldType: oldType && bareType(oldType),
    rule: type,
    was: oldType ?? of['oldDefaultValue'],
    is: newType ?? of['newDefaultValue'],
  }
}
