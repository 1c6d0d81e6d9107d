import {
  asOwn,
  fieldOf,
  fieldsBelow,
  NotPlannable,
  ownIsTypeOf,
  prepareJoin,
  type SelectionScope,
  type Variables,
  prepareArguments,
  serializedKey,
  tellerOf,
  writtenType,
  FallBack,
  type markTeller,
} from '@vinyasa/source-kit'
import {
  getNullableType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type FieldNode,
  type GraphQLAbstractType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLNamedType,
  GraphQLBoolean,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  GraphQLString,
  isEnumType,
  isSpecifiedScalarType,
  type GraphQLLeafType,
} from 'graphql'
import { entriesOf, isEntry } from './entries.ts'
import {
  hasJoins,
  keyText,
  type KeyedShare,
  type ObjectPlan,
  type PlannedJoin,
  type Read,
  type Write,
  type WritePieces,
  type Writing,
  type WrittenText,
} from './object-plan.ts'
import { responseMember, type ResponseMember } from '../declare/members.ts'
import { marks, type PlannableJoin } from './planned-field.ts'
import { stringifySlices, isRecord } from '@vinyasa/core'
import type { Args } from '../templates/template.ts'

/** Characters of a list that are written at once. */
const PIECE_LENGTH = 4_096

function nullOf(isRequired: boolean): string {
  if (isRequired) throw new FallBack('a non-null field or list item is null or missing')
  return 'null'
}

/** One entry of an object in the answer: the brace or the comma with the key, and the value. */
interface Member {
  readonly head: string
  readonly read: Read
  readonly write: Write
  readonly pieces: WritePieces | undefined
}

function* listPieces(write: Write, given: unknown, writing: Writing): Generator<string> {
  let text = '['
  for (const [index, item] of arrayOf(given).entries()) {
    text += index === 0 ? write(item, writing) : `,${write(item, writing)}`
    if (text.length < PIECE_LENGTH) continue
    writing.hold(text.length)
    yield text
    text = ''
  }
  yield `${text}]`
}

function* objectPieces(
  parts: readonly Member[],
  tail: string,
  given: unknown,
  writing: Writing,
): Generator<string> {
  const parent = objectOf(given)
  writing.objects++
  for (const { head, read, write, pieces } of parts) {
    if (pieces) {
      yield head
      yield* pieces(read(parent), writing)
    } else yield head + write(read(parent), writing)
  }
  yield tail
}

function arrayOf(given: unknown): readonly unknown[] {
  if (!Array.isArray(given))
    throw new FallBack('the backend sent a value that is not a list for a field of a list type')
  return given as readonly unknown[]
}

function objectOf(given: unknown): Readonly<Record<string, unknown>> {
  if (isRecord(given)) return given
  throw new FallBack('the backend sent a value that is not an object for a field that returns an object type')
}

function writeList(write: Write, value: unknown, writing: Writing): string {
  const given = arrayOf(value)
  let json = '['
  for (let index = 0; index < given.length; index++) {
    json += index === 0 ? write(given[index], writing) : `,${write(given[index], writing)}`
    if (json.length > PIECE_LENGTH) writing.hold(json.length)
  }
  return `${json}]`
}

function objectWriter(parts: readonly Member[], tail: string): Write {
  return (given, writing) => {
    const parent = objectOf(given)
    writing.objects++
    let json = ''
    for (const { head, read, write } of parts) json += head + write(read(parent), writing)
    return json + tail
  }
}

/** The JSON text of a value that is not null. @throws FallBack */
type WriteLeaf = (value: unknown) => string

// Control characters, quotes, backslashes and surrogates; a lone surrogate is escaped in JSON.
const ESCAPED = /[\u0000-\u001f"\\\ud800-\udfff]/ // oxlint-disable-line no-control-regex

function quote(text: string): string {
  return ESCAPED.test(text) ? JSON.stringify(text) : `"${text}"`
}

function fallBack(type: GraphQLLeafType): never {
  throw new FallBack(`the backend sent a value that is not of type ${type.name}`)
}

/** Values of the kind that is declared are written here; others are for the type to convert, or to refuse. */
function leafWriter(type: GraphQLLeafType, isScalar: boolean): WriteLeaf {
  switch (type) {
    case GraphQLString:
      return (value) => (typeof value === 'string' ? quote(value) : fallBack(type))
    case GraphQLID:
      return (value) =>
        typeof value === 'string'
          ? quote(value)
          : Number.isInteger(value)
            ? `"${String(value)}"`
            : fallBack(type)
    case GraphQLInt:
      return (value) => (typeof value === 'number' && (value | 0) === value ? `${value}` : fallBack(type))
    case GraphQLFloat:
      return (value) => (typeof value === 'number' && Number.isFinite(value) ? `${value}` : fallBack(type))
    case GraphQLBoolean:
      return (value) => (value === true ? 'true' : value === false ? 'false' : fallBack(type))
    default:
      return (value) => {
        if (isScalar && typeof value === 'object') return fallBack(type)
        return converted(type, value, JSON.stringify)
      }
  }
}

/** A value that its type has converted, as `write` writes it. */
function converted<Written>(
  type: GraphQLLeafType,
  value: unknown,
  write: (output: unknown) => Written | undefined,
): Written {
  let written: Written | undefined
  try {
    const output: unknown = type.serialize(value)
    if (output !== null && output !== undefined) written = write(output)
  } catch {
    // Ordinary execution words it.
  }
  return written ?? fallBack(type)
}

/** The pieces of what a scalar of any content holds; undefined for other types. */
function leafPieces(type: GraphQLLeafType, isScalar: boolean): WritePieces | undefined {
  if (isScalar || isEnumType(type) || isSpecifiedScalarType(type)) return undefined
  return (value) => converted(type, value, stringifySlices)
}

/** Object types below interfaces and unions that one plan may hold. */
const MAX_MEMBERS = 200

/** A selection on values of several object types, by what each of them selects. */
function abstractPlan(
  tell: Parameters<typeof markTeller>[1],
  members: ReadonlyMap<string, ObjectPlan>,
): ObjectPlan {
  function planOf(value: unknown): ObjectPlan {
    const plan = members.get(tell(value) ?? '')
    if (!plan) throw new FallBack('the backend sent an object whose GraphQL type cannot be determined')
    return plan
  }
  const only =
    (name: string): Read =>
    (value) =>
      tell(value) === name ? value : undefined
  return {
    below: [...members].flatMap(([name, plan]) =>
      hasJoins(plan) ? [{ kind: 'member' as const, read: only(name), plan }] : [],
    ),
    write: (value, writing) => planOf(value).write(value, writing),
    pieces: [...members.values()].some(({ pieces }) => pieces)
      ? (value, writing) => {
          const { pieces, write } = planOf(value)
          return pieces ? pieces(value, writing) : [write(value, writing)]
        }
      : undefined,
  }
}

/** How a value of some type is written, and the selection inside it when it is an object or a list of them. */
export interface ValuePlan {
  readonly write: Write
  /** Undefined where it has no lists. */
  readonly pieces: WritePieces | undefined
  readonly object: ObjectPlan | undefined
}

export interface JoinedPlan extends Pick<PlannedJoin, 'join' | 'argumentsOf' | 'plan'> {
  readonly write: Write
}

/** Compiles selections of one operation. @throws NotPlannable */
export class ValueCompiler {
  readonly #scope: SelectionScope
  /**
   * A field of an interface is selected on each of its types: what is below it is planned once, so that nested interfaces do
   * not multiply.
   */
  readonly #plans = new Map<GraphQLNamedType, { nodes: readonly FieldNode[]; plan: ObjectPlan }[]>()
  #members = 0

  constructor(scope: SelectionScope) {
    this.#scope = scope
  }

  value(type: GraphQLOutputType, nodes: readonly FieldNode[], isScalar: boolean): ValuePlan {
    const { write, pieces, object } = this.#present(getNullableType(type), nodes, isScalar)
    const isRequired = isNonNullType(type)
    return {
      object,
      pieces:
        pieces &&
        ((given, writing) =>
          given === null || given === undefined ? [nullOf(isRequired)] : pieces(given, writing)),
      write(given, writing) {
        return given === null || given === undefined ? nullOf(isRequired) : write(given, writing)
      },
    }
  }

  /** The plan of what a join brings for a key. */
  joined(
    field: GraphQLField<unknown, unknown>,
    nodes: readonly FieldNode[],
    join: PlannableJoin,
  ): JoinedPlan {
    const { write, object: plan } = this.value(writtenType(field), nodes, false)
    if (!plan)
      throw new NotPlannable(
        `the join ${field.name} returns ${String(field.type)} instead of objects, so graphql-js must execute the operation`,
      )
    const args = field.args.filter(({ name }) => name !== join.arg)
    return { join, argumentsOf: compileArguments({ ...field, args }, nodes[0] as FieldNode), plan, write }
  }

  #present(type: GraphQLOutputType, nodes: readonly FieldNode[], isScalar: boolean): ValuePlan {
    if (isListType(type)) return this.#list(type.ofType as GraphQLOutputType, nodes, isScalar)
    if (isLeafType(type))
      return { object: undefined, write: leafWriter(type, isScalar), pieces: leafPieces(type, isScalar) }
    const plan = this.#composite(type, nodes)
    return { object: plan, write: plan.write, pieces: plan.pieces }
  }

  #composite(type: GraphQLObjectType | GraphQLAbstractType, nodes: readonly FieldNode[]): ObjectPlan {
    const found = this.#plans
      .get(type)
      ?.find((one) => one.nodes.length === nodes.length && one.nodes.every((node, at) => node === nodes[at]))
    if (found) return found.plan
    const plan = isObjectType(type) ? this.#object(type, nodes) : this.#abstract(type, nodes)
    this.#plans.set(type, [...(this.#plans.get(type) ?? []), { nodes, plan }])
    return plan
  }

  #list(itemType: GraphQLOutputType, nodes: readonly FieldNode[], isScalar: boolean): ValuePlan {
    const { object, write } = this.value(itemType, nodes, isScalar)
    const isMap = isEntry(itemType)
    // Joins are loaded for the values as they came.
    if (isMap && object && hasJoins(object))
      throw new NotPlannable(
        `a join is selected inside ${String(itemType)}, an entry of a JSON object, so graphql-js must execute the operation`,
      )
    return {
      object: isMap ? undefined : object,
      write: (given, writing) => writeList(write, isMap ? entriesOf(given) : given, writing),
      pieces: (given, writing) => listPieces(write, isMap ? entriesOf(given) : given, writing),
    }
  }

  #abstract(type: GraphQLAbstractType, nodes: readonly FieldNode[]): ObjectPlan {
    const tell = tellerOf(type)
    if (!tell)
      throw new NotPlannable(
        `the type ${type.name} does not use the resolveType function of its source, so graphql-js must execute the operation`,
      )
    const members = this.#scope.schema.getPossibleTypes(type)
    this.#members += members.length
    if (this.#members > MAX_MEMBERS)
      throw new NotPlannable(
        `the interfaces and unions in the operation have more than ${MAX_MEMBERS} object types`,
      )
    return abstractPlan(tell, new Map(members.map((one) => [one.name, this.#object(one, nodes)])))
  }

  #object(type: GraphQLObjectType, nodes: readonly FieldNode[]): ObjectPlan {
    if (ownIsTypeOf(type))
      throw new NotPlannable(
        `the type ${type.name} has an isTypeOf function, so graphql-js must execute the operation`,
      )
    const below: Below[] = []
    const parts: Member[] = []
    let head = '{'
    for (const [key, fieldNodes] of fieldsBelow(this.#scope, type, nodes)) {
      head += `${JSON.stringify(key)}:`
      const name = fieldNodes[0]?.name.value as string
      if (name === '__typename') {
        head += `${JSON.stringify(type.name)},`
        continue
      }
      const field = type.getFields()[name]
      if (!field) throw new NotPlannable(`${type.name} has no field ${name}`)
      const { loads, read, write, pieces } = this.#field(type, field, key, fieldNodes)
      if (loads) below.push(loads)
      parts.push({ head, read, write, pieces })
      head = ','
    }
    const tail = `${head.replace(/,$/, '')}}`
    return {
      below,
      write: objectWriter(parts, tail),
      pieces: parts.some(({ pieces }) => pieces)
        ? (given, writing) => objectPieces(parts, tail, given, writing)
        : undefined,
    }
  }

  #field(
    type: GraphQLObjectType,
    field: GraphQLField<unknown, unknown>,
    key: string,
    nodes: readonly FieldNode[],
  ): Omit<Member, 'head'> & { readonly loads: Below | undefined } {
    const mark = marks.of(field)
    if (mark?.kind === 'join') {
      const { write, ...joined } = this.joined(field, nodes, mark)
      const loads: PlannedJoin = { ...joined, kind: 'join', key: keyReader(type, field, mark.parentField) }
      return { loads, read: itself, write: joinWriter(loads, write), pieces: undefined }
    }
    const shared = prepareJoin({ key, field, nodes }, this.#scope)
    if (shared) {
      const loads: KeyedShare = { kind: 'share', shared, key: keyReader(type, field, shared.parentKey) }
      return { loads, read: itself, write: shareWriter(loads), pieces: undefined }
    }
    const { read, isScalar } = memberOf(type, field)
    const { object, write, pieces } = this.value(writtenType(field), nodes, isScalar)
    const loads = object && hasJoins(object) ? { kind: 'member' as const, read, plan: object } : undefined
    return { loads, read, write, pieces }
  }
}

type Below = ObjectPlan['below'][number]

/** Returns what gives the arguments of a field. It throws FallBack where one is wrong, which graphql-js then reports. */
export function compileArguments(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
): (variables: Variables) => Args {
  const argumentsOf = prepareArguments(field, node)
  return (variables) => {
    try {
      return argumentsOf(variables)
    } catch {
      throw new FallBack('an argument is invalid')
    }
  }
}

const itself: Read = (parent) => parent

function joinWriter(planned: PlannedJoin, write: Write): Write {
  const { join, key } = planned
  return (parent, writing) => {
    const own = key(parent as Readonly<Record<string, unknown>>)
    if (own === null) return write(join.many ? [] : null, writing)
    const { items, texts } = writing.joined.of(planned)
    // Many parents have the same item.
    const known = texts.get(String(own))
    if (known) return again(known, writing)
    const { objects } = writing
    const found = items(String(own))
    const text = write(join.many ? found : found[0], writing)
    writing.hold(text.length)
    texts.set(String(own), { text, objects: writing.objects - objects })
    return text
  }
}

/** How the resolver of a joined field reads its key off a parent. @throws NotPlannable */
function keyReader(
  type: GraphQLObjectType,
  { name }: GraphQLField<unknown, unknown>,
  parentKey: string,
): PlannedJoin['key'] {
  const own = fieldOf(type, parentKey)
  if (!own)
    throw new NotPlannable(
      `the join ${type.name}.${name} needs the field ${type.name}.${parentKey}, which does not exist`,
    )
  const leaf: unknown = getNullableType(asOwn(own).type)
  if (!isLeafType(leaf))
    throw new NotPlannable(`${type.name}.${own.name} is the key of a join but not a scalar or an enum`)
  const { read } = memberOf(type, own)
  return (parent) => serializedKey(leaf, read(parent))
}

function shareWriter({ shared, key }: KeyedShare): Write {
  return (parent, writing) => {
    const found = { shared, key: keyText(key(parent as Readonly<Record<string, unknown>>)) }
    const { objects } = writing.joined.shared.sizeOf(found)
    return again({ text: writing.joined.shared.jsonOf(found), objects }, writing)
  }
}

/** Gives text that was written before. */
function again({ text, objects }: WrittenText, writing: Writing): string {
  writing.objects += objects
  writing.hold(text.length)
  return text
}

/** How ordinary execution reads a field off its parent. @throws NotPlannable */
function memberOf(type: GraphQLObjectType, field: GraphQLField<unknown, unknown>): ResponseMember {
  const member = responseMember(field)
  if (!member || field.args.length > 0) throw new NotPlannable(`${type.name}.${field.name} has a resolver`)
  return member
}
