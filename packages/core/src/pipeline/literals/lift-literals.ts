import { validateInOneWalk } from '../../documents/index.ts'
import {
  type ASTNode,
  BREAK,
  type DocumentNode,
  getOperationAST,
  type GraphQLInputType,
  type GraphQLSchema,
  Kind,
  parseType,
  print,
  TypeInfo,
  type VariableDefinitionNode,
  type VariableNode,
  visit,
  visitWithTypeInfo,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  GraphQLString,
  getNullableType,
} from 'graphql'
import type { PreparedDocument } from '../operation.ts'
import type { Literal, ScannedText } from './scan-literals.ts'

/** Converts a literal to the value of a variable. Returns `undefined` if the literal is invalid for the type. */
type ReadLiteral = (literal: Literal) => string | number | undefined

const INTEGER = /^-?\d+$/
const MAX_INT = 2_147_483_647

/**
 * Readers of the built-in scalars. They treat a literal and the value of a variable equally. Custom scalars
 * can treat them differently.
 */
const READERS = new Map<unknown, ReadLiteral>([
  [GraphQLString, ({ kind, raw }) => (kind === 'string' ? raw : undefined)],
  // A number becomes a string without losing digits.
  [GraphQLID, ({ kind, raw }) => (kind === 'string' || INTEGER.test(raw) ? raw : undefined)],
  [
    GraphQLInt,
    ({ kind, raw }) => {
      const value = Number(raw)
      // `-0` is a different number than `0`.
      return kind === 'number' && INTEGER.test(raw) && Math.abs(value) <= MAX_INT && !Object.is(value, -0)
        ? value
        : undefined
    },
  ],
  [
    GraphQLFloat,
    ({ kind, raw }) => {
      const value = Number(raw)
      return kind === 'number' && Number.isFinite(value) && !Object.is(value, -0) ? value : undefined
    },
  ],
])

/** Returns the reader of a type. Returns `undefined` for types whose literals are not replaced. */
function readerOf(type: GraphQLInputType | null | undefined): ReadLiteral | undefined {
  return type ? READERS.get(getNullableType(type)) : undefined
}

/** Decides what happens to one literal of a shape. */
type Place =
  /** The literal becomes the value of a variable. */
  | { readonly name: string; readonly read: ReadLiteral }
  /** The literal stays. Documents share the shape only if they have the same literal. */
  | { readonly raw: string }

/** Operation whose literals are replaced by variables, shared by all documents of one shape. */
export interface LiftedOperation {
  readonly prepared: PreparedDocument
  /** Equivalent document with variables. */
  readonly query: string
  /** Text of the original document. The locations of the nodes refer to it. */
  readonly text: string
  readonly places: readonly Place[]
}

const PREFIX = 'lifted_'

/**
 * Replaces literals of a valid document by variables if that does not change the result. It replaces literals
 * of built-in scalars in the arguments of fields, including lists and objects. Literals in directives and
 * default values are not replaced. Returns `undefined` if no literal can be replaced, or if the document
 * would be invalid with other values.
 */
export function liftLiterals(
  text: string,
  { literals }: ScannedText,
  schema: GraphQLSchema,
  document: DocumentNode,
): LiftedOperation | undefined {
  if (!isLiftable(document)) return undefined
  const byStart = new Map(literals.map((literal) => [literal.start, literal]))
  const lifted = new Map<Literal, { readonly name: string; readonly read: ReadLiteral }>()
  const added: VariableDefinitionNode[] = []
  const info = new TypeInfo(schema)

  function lift(node: ASTNode & { readonly value: string }): VariableNode | undefined {
    const type = info.getInputType() as GraphQLInputType | null | undefined
    const read = readerOf(type)
    const literal = byStart.get(node.loc?.start ?? -1)
    if (!read || literal?.raw !== node.value || read(literal) === undefined) return undefined
    const name = `${PREFIX}${lifted.size}`
    const variable: VariableNode = {
      kind: Kind.VARIABLE,
      name: { kind: Kind.NAME, value: name },
      ...(node.loc && { loc: node.loc }),
    }
    lifted.set(literal, { name, read })
    added.push({
      kind: Kind.VARIABLE_DEFINITION,
      variable,
      type: parseType(String(type), { noLocation: true }),
    })
    return variable
  }

  const fields = visit(
    document,
    visitWithTypeInfo(info, {
      VariableDefinition: () => false,
      Directive: () => false,
      StringValue: lift,
      IntValue: lift,
      FloatValue: lift,
    }),
  )
  if (lifted.size === 0) return undefined
  const variables: DocumentNode = {
    ...fields,
    definitions: fields.definitions.map((definition) =>
      definition.kind === Kind.OPERATION_DEFINITION
        ? { ...definition, variableDefinitions: [...(definition.variableDefinitions ?? []), ...added] }
        : definition,
    ),
  }
  if (validateInOneWalk(schema, variables).length > 0) return undefined
  const definition = getOperationAST(variables)
  if (!definition) return undefined
  return {
    prepared: { schema, document: variables, definition, operationName: undefined },
    query: print(variables),
    text,
    places: literals.map((literal) => lifted.get(literal) ?? { raw: literal.raw }),
  }
}

/** Returns whether the document has exactly one operation and no variable whose name has the prefix `lifted_`. */
function isLiftable(document: DocumentNode): boolean {
  const operations = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION)
  let isFree = operations.length === 1 && document.loc !== undefined
  visit(document, {
    Variable({ name }) {
      if (!name.value.startsWith(PREFIX)) return undefined
      isFree = false
      return BREAK
    },
  })
  return isFree
}

/**
 * Returns the values of a document's literals as variables. Returns `undefined` if the document does not
 * match the lifted operation.
 */
export function liftedValues(
  { places }: LiftedOperation,
  { literals }: ScannedText,
): Record<string, string | number> | undefined {
  const values: Record<string, string | number> = {}
  for (const [index, literal] of literals.entries()) {
    const place = places[index] as Place
    if ('raw' in place) {
      if (place.raw !== literal.raw) return undefined
      continue
    }
    const value = place.read(literal)
    if (value === undefined) return undefined
    values[place.name] = value
  }
  return values
}
