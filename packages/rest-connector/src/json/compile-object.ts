import {
  fieldOf,
  fieldsBelow,
  NotPlannable,
  ownIsTypeOf,
  prepareJoin,
  type SelectionScope,
  serializedKey,
  tellerOf,
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
} from 'graphql'
import { abstractPlan } from './abstract-plan.ts'
import { compileArguments } from './compile-arguments.ts'
import { entriesOf, isEntry } from './entries.ts'
import { leafPieces, leafWriter } from './leaf-writers.ts'
import { KnownPlans } from './known-plans.ts'
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
import { responseMember } from '../declare/members.ts'
import { markOf, type PlannableJoin } from './planned-field.ts'
import { listPieces, nullOf, objectPieces, objectWriter, writeList, type Member } from './write-value.ts'

/** How a value of some type is written, and the selection inside it when it is an object or a list of them. */
export interface ValuePlan {
  readonly write: Write
  /** Undefined where it has no lists. */
  readonly pieces: WritePieces | undefined
  readonly object: ObjectPlan | undefined
}

/** Compiles selections of one operation. @throws NotPlannable */
export interface ValueCompiler {
  value(type: GraphQLOutputType, nodes: readonly FieldNode[], isScalar: boolean): ValuePlan
  /** What a join brings for a key. */
  joined(field: GraphQLField<unknown, unknown>, nodes: readonly FieldNode[], join: PlannableJoin): JoinedPlan
}

export interface JoinedPlan extends Pick<PlannedJoin, 'join' | 'argumentsOf' | 'plan'> {
  readonly write: Write
}

export function createValueCompiler(scope: SelectionScope): ValueCompiler {
  const known = new KnownPlans()

  function value(type: GraphQLOutputType, nodes: readonly FieldNode[], isScalar: boolean): ValuePlan {
    const { write, pieces, object } = present(getNullableType(type), nodes, isScalar)
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

  function present(type: GraphQLOutputType, nodes: readonly FieldNode[], isScalar: boolean): ValuePlan {
    if (isListType(type)) {
      const itemType = type.ofType as GraphQLOutputType
      const item = value(itemType, nodes, isScalar)
      if (!isEntry(itemType))
        return {
          object: item.object,
          write: (given, writing) => writeList(item.write, given, writing),
          pieces: (given, writing) => listPieces(item.write, given, writing),
        }
      // Joins are loaded for the values as they came.
      if (item.object && hasJoins(item.object))
        throw new NotPlannable('a join below the entries of an object')
      return {
        object: undefined,
        write: (given, writing) => writeList(item.write, entriesOf(given), writing),
        pieces: (given, writing) => listPieces(item.write, entriesOf(given), writing),
      }
    }
    if (isLeafType(type))
      return { object: undefined, write: leafWriter(type, isScalar), pieces: leafPieces(type, isScalar) }
    const plan = known.get(type, nodes, () =>
      isObjectType(type) ? object(type, nodes) : abstract(type as GraphQLAbstractType, nodes),
    )
    return { object: plan, write: plan.write, pieces: plan.pieces }
  }

  function abstract(type: GraphQLAbstractType, nodes: readonly FieldNode[]): ObjectPlan {
    const tell = tellerOf(type)
    if (!tell) throw new NotPlannable(`${type.name} has a resolveType`)
    const members = scope.schema.getPossibleTypes(type)
    known.countMembers(members.length)
    return abstractPlan(tell, new Map(members.map((member) => [member.name, object(member, nodes)])))
  }

  function object(type: GraphQLObjectType, nodes: readonly FieldNode[]): ObjectPlan {
    if (ownIsTypeOf(type)) throw new NotPlannable(`the type ${type.name} has an isTypeOf`)
    const below: ObjectPlan['below'][number][] = []
    const parts: Member[] = []
    let head = '{'
    for (const [key, fieldNodes] of fieldsBelow(scope, type, nodes)) {
      head += `${JSON.stringify(key)}:`
      const name = fieldNodes[0]?.name.value as string
      if (name === '__typename') {
        head += `${JSON.stringify(type.name)},`
        continue
      }
      const field = type.getFields()[name]
      if (!field) throw new NotPlannable(`${type.name} has no field ${name}`)
      const mark = markOf(field)
      const share = mark?.kind === 'join' ? undefined : prepareJoin({ key, field, nodes: fieldNodes }, scope)
      if (mark?.kind === 'join') {
        const planned = keyed(type, field, joined(field, fieldNodes, mark))
        below.push(planned.join)
        parts.push({ head, read: (parent) => parent, write: planned.write, pieces: undefined })
      } else if (share) {
        const key = keyReader(type, field, share.parentKey)
        const planned = { kind: 'share' as const, shared: share, key }
        below.push(planned)
        parts.push({ head, read: (parent) => parent, write: shareWriter(planned), pieces: undefined })
      } else {
        const { read, isScalar } = memberOf(type, field)
        const plan = value(field.type, fieldNodes, isScalar)
        if (plan.object && hasJoins(plan.object)) below.push({ kind: 'member', read, plan: plan.object })
        parts.push({ head, read, write: plan.write, pieces: plan.pieces })
      }
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

  function joined(
    field: GraphQLField<unknown, unknown>,
    nodes: readonly FieldNode[],
    join: PlannableJoin,
  ): JoinedPlan {
    const { write, object: plan } = value(field.type, nodes, false)
    if (!plan) throw new NotPlannable(`${field.name} is joined as ${String(field.type)}`)
    return {
      join,
      argumentsOf: compileArguments(
        { ...field, args: field.args.filter(({ name }) => name !== join.arg) },
        nodes[0] as FieldNode,
      ),
      plan,
      write,
    }
  }

  function keyed(
    type: GraphQLObjectType,
    field: GraphQLField<unknown, unknown>,
    { write, ...below }: JoinedPlan,
  ): { readonly join: PlannedJoin; readonly write: Write } {
    const { join } = below
    const key = keyReader(type, field, join.parentField)
    const planned: PlannedJoin = { ...below, kind: 'join', key }
    return {
      join: planned,
      write(parent, writing) {
        const own = key(parent as Readonly<Record<string, unknown>>)
        if (own === null) return write(join.many ? [] : null, writing)
        const { items, texts } = writing.of(planned)
        // Many parents have the same item.
        const known = texts.get(String(own))
        if (known) return again(known, writing)
        const { objects } = writing
        const found = items(String(own))
        const text = write(join.many ? found : found[0], writing)
        writing.hold(text.length)
        texts.set(String(own), { text, objects: writing.objects - objects })
        return text
      },
    }
  }

  return { value, joined }
}

/** How the resolver of a joined field reads its key off a parent. @throws NotPlannable */
function keyReader(
  type: GraphQLObjectType,
  { name }: GraphQLField<unknown, unknown>,
  parentKey: string,
): PlannedJoin['key'] {
  const own = fieldOf(type, parentKey)
  if (!own) throw new NotPlannable(`${type.name}.${name} is joined by no field of its parent`)
  const leaf: unknown = getNullableType(own.type)
  if (!isLeafType(leaf)) throw new NotPlannable(`${type.name}.${own.name} is no key`)
  const { read } = memberOf(type, own)
  return (parent) => serializedKey(leaf, read(parent))
}

function shareWriter({ shared, key }: KeyedShare): Write {
  return (parent, writing) => {
    const found = keyText(key(parent as Readonly<Record<string, unknown>>))
    return again(writing.shared.valueOf({ shared, key: found }), writing)
  }
}

/** Text that was written before. */
function again({ text, objects }: WrittenText, writing: Writing): string {
  writing.objects += objects
  writing.hold(text.length)
  return text
}

/** How ordinary execution reads a field off its parent. @throws NotPlannable */
function memberOf(
  type: GraphQLObjectType,
  field: GraphQLField<unknown, unknown>,
): { readonly read: Read; readonly isScalar: boolean } {
  const member = responseMember(field)
  if (!member || field.args.length > 0) throw new NotPlannable(`${type.name}.${field.name} has a resolver`)
  const { key, isScalar } = member
  return {
    isScalar,
    read:
      key in Object.prototype
        ? (parent) => (Object.hasOwn(parent, key) ? parent[key] : null)
        : (parent) => parent[key],
  }
}
