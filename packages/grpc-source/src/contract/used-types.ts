import type { DescEnum, DescMessage } from '@bufbuild/protobuf'
import { capitalize } from './graphql-names.ts'
import type { ExposedMethod } from './methods.ts'
import type { FieldShape, OneofShape, Shapes } from './shapes.ts'

/** A type that a schema needs names for, and what it is there; a request that is not wrapped is its arguments. */
export type UsedType =
  | { readonly as: 'output' | 'input' | 'arguments'; readonly desc: DescMessage }
  | { readonly as: 'enum'; readonly desc: DescEnum }

export interface UsedTypes {
  readonly outputs: ReadonlySet<DescMessage>
  /** The types of the first method come first: a method behind it changes nothing about them. */
  readonly inOrder: readonly UsedType[]
}

/** A method's part in the schema. */
interface UsedMethod {
  readonly desc: { readonly input: DescMessage; readonly output: DescMessage }
  readonly wrapRequest: string | undefined
}

/** Walks from methods through all fields. */
export function findUsedTypes(methods: Iterable<UsedMethod>, { wellKnown }: Shapes): UsedTypes {
  const inOrder: UsedType[] = []
  const outputs = new Set<DescMessage>()
  const found = { output: outputs, input: new Set<DescMessage>(), arguments: new Set<DescMessage>() }
  const enums = new Set<DescEnum>()

  function add(desc: DescMessage, as: 'output' | 'input' | 'arguments'): void {
    // A message without fields is a Boolean, and those with a form of their own are scalars.
    if (wellKnown(desc) || desc.fields.length === 0 || found[as].has(desc)) return
    found[as].add(desc)
    inOrder.push({ as, desc })
  }

  function addEnum(desc: DescEnum): void {
    if (enums.has(desc)) return
    enums.add(desc)
    inOrder.push({ as: 'enum', desc })
  }

  let next = 0
  for (const { desc, wrapRequest } of methods) {
    add(desc.output, 'output')
    add(desc.input, wrapRequest === undefined ? 'arguments' : 'input')
    for (; next < inOrder.length; next++) {
      const used = inOrder[next] as UsedType
      if (used.as === 'enum') continue
      for (const field of used.desc.fields) {
        if (field.enum) addEnum(field.enum)
        if (field.message) add(field.message, used.as === 'output' ? 'output' : 'input')
      }
    }
  }
  return { outputs, inOrder }
}

/** The methods of services that return the message; if there are none, those of its package; otherwise all. */
export function nearestMethods(
  parent: DescMessage,
  named: readonly ExposedMethod[],
  shapes: Shapes,
): readonly ExposedMethod[] {
  if (named.length < 2) return named
  const own = named.filter(({ desc }) => {
    const methods = desc.parent.methods.map((one) => ({ desc: one, wrapRequest: undefined }))
    return findUsedTypes(methods, shapes).outputs.has(parent)
  })
  const near = own.length > 0 ? own : named
  const inPackage = near.filter(({ desc }) => desc.parent.file.proto.package === parent.file.proto.package)
  return inPackage.length > 0 ? inPackage : near
}

/** A type that is made for a part of a message. */
export interface Part {
  readonly of: DescMessage
  /** Tells it from all other types. */
  readonly key: string
  /** Stands behind the message's name. */
  readonly name: string
}

/** The entries of a map. */
export function entryOf({ desc, name }: FieldShape, way: 'output' | 'input'): Part {
  const isInput = way === 'input'
  const key = `${isInput ? 'input ' : ''}entry ${desc.toString()}`
  return { of: desc.parent, key, name: `${capitalize(name)}${isInput ? 'EntryInput' : 'Entry'}` }
}

/** The arms of a oneof, of which a client gives one. */
export function choiceOf({ desc, name }: OneofShape): Part {
  const key = `oneof ${desc.parent.typeName}.${desc.name}`
  return { of: desc.parent, key, name: `${capitalize(name)}Input` }
}

/** The arms of a oneof, of which an answer has one. */
export function unionOf({ desc, name }: OneofShape): Part {
  return { of: desc.parent, key: `union ${desc.parent.typeName}.${desc.name}`, name: capitalize(name) }
}

/** An arm that is no message, as an object with a value. */
export function armOf({ desc, name }: FieldShape): Part {
  return { of: desc.parent, key: `arm ${desc.parent.typeName}.${desc.name}`, name: capitalize(name) }
}

/** Whether an arm of a union is an object of its own: message arms are members themselves, each once. */
export function isWrapped(arm: FieldShape, { fields }: OneofShape, shapes: Shapes): boolean {
  const message = messageOf(arm)
  if (!message || !shapes.message(message).fields.some(({ inOutput }) => inOutput)) return true
  return fields.some((other) => other !== arm && messageOf(other) === message)
}

function messageOf({ value }: FieldShape): DescMessage | undefined {
  return value.kind === 'message' ? value.message : undefined
}

/** All parts of a message that are types, where it is used so. */
export function partsOf({ as, desc }: UsedType, shapes: Shapes): readonly Part[] {
  if (as === 'enum') return []
  const { fields, oneofs } = shapes.message(desc)
  const { maps, oneofs: form } = shapes.options
  const way = as === 'output' ? 'output' : 'input'
  const entries = fields.filter(
    ({ cardinality, inOutput, inInput }) =>
      cardinality === 'map' && maps !== 'json' && (way === 'output' ? inOutput : inInput),
  )
  return [...entries.map((field) => entryOf(field, way)), ...oneofs.flatMap((oneof) => partsOfOneof(oneof))]

  function partsOfOneof(oneof: OneofShape): readonly Part[] {
    if (way === 'input') return [choiceOf(oneof)]
    if (form !== 'union') return []
    const arms = oneof.fields.filter((arm) => arm.inOutput && isWrapped(arm, oneof, shapes))
    return [...arms.map(armOf), unionOf(oneof)]
  }
}
