import type { Random } from '../plans/random.ts'
import { camel, groupName, printProto } from './print-proto.ts'
import {
  INTEGERS,
  LONGS,
  SCALARS,
  WELL_KNOWN,
  type Form,
  type Presence,
  type RequestField,
  type Syntax,
} from './request-fields.ts'

export interface RequestProto {
  readonly text: string
  readonly messages: ReadonlyMap<string, readonly RequestField[]>
}

/** A value as a client gives it, and as the strict parser's own library builds it. */
export interface RequestValue {
  readonly args: Readonly<Record<string, unknown>>
  readonly init: Readonly<Record<string, unknown>>
}

const NO_OWN = [...WELL_KNOWN, 'Nothing']

/** A service whose request has fields of every kind of presence, in messages of every depth. */
export function randomRequestProto(random: Random, syntax: Syntax, packageName: string): RequestProto {
  const names = random.times(2, 4, (index) => `M${index}`)
  const messages = new Map(names.map((name, index) => [name, fieldsOf(names, index)]))
  const isByDefault = {
    implicit: random.chance(0.3),
    delimited: random.chance(0.3),
    expanded: random.chance(0.3),
  }
  return { text: printProto(syntax, packageName, messages, isByDefault), messages }

  function fieldsOf(all: readonly string[], own: number): readonly RequestField[] {
    let number = 0
    return random.times(2, 8, (index): RequestField => {
      number += random.chance(0.1) ? 20 : 1
      const drawn = random.pick<Form>(['single', 'single', 'single', 'list', 'map', 'group', 'groups', 'arm'])
      const presence = random.pick(presencesOf(syntax, drawn))
      const isGroup = drawn === 'group' || drawn === 'groups'
      // A required message holds no message like the one that holds it: nobody could give it.
      const others = presence === 'required' || isGroup ? all.slice(own + 1) : all
      const kind = random.int(10)
      const isOfMessage = isGroup || (kind >= 6 && kind < 9)
      const type = isOfMessage
        ? random.pick(
            isGroup && syntax !== 'proto2' ? [...others, ...NO_OWN] : others.length > 0 ? others : NO_OWN,
          )
        : kind === 9
          ? random.pick(NO_OWN)
          : random.pick(SCALARS.filter((one) => one !== 'Odd' || isOddAllowed(syntax, drawn, presence)))
      const isScalar = SCALARS.includes(type)
      const isNoGroup = isGroup && syntax === 'proto3'
      return {
        name: `f_${String.fromCharCode(97 + index)}`,
        number,
        type,
        form: isNoGroup ? (drawn === 'groups' ? 'list' : 'single') : drawn,
        presence: !isScalar && presence === 'implicit' ? 'explicit' : presence,
        key: random.pick(['string', 'int32', 'int64', 'bool']),
        hasDefault: isScalar && presence !== 'implicit' && syntax !== 'proto3' && random.chance(0.3),
        isPacked: random.chance(0.5),
      }
    })
  }
}

function presencesOf(syntax: Syntax, form: Form): readonly Presence[] {
  if (form !== 'single' && form !== 'group') return ['explicit']
  if (syntax === 'proto2') return ['explicit', 'required']
  if (syntax === 'proto3') return ['implicit', 'explicit']
  return form === 'group' ? ['explicit', 'required'] : ['implicit', 'explicit', 'required']
}

/** An enum that is closed, and begins with another value than zero, stands in files and places that allow it. */
function isOddAllowed(syntax: Syntax, form: Form, presence: Presence): boolean {
  return syntax !== 'proto3' && form !== 'map' && presence !== 'implicit'
}

/**
 * A request in which what may be zero mostly is. GraphQL takes the fields of a oneof inside its own argument alone, and
 * 64-bit integers as text alone; JSON has no -0.
 */
export function randomRequest(
  random: Random,
  { messages }: RequestProto,
  syntax: Syntax,
  byGraphql: boolean,
): RequestValue {
  return messageValue('M0', 0)

  function messageValue(type: string, depth: number): RequestValue {
    const args: Record<string, unknown> = {}
    const init: Record<string, unknown> = {}
    for (const field of messages.get(type) ?? []) {
      const { name, form, presence } = field
      const isGroup = syntax === 'proto2' && (form === 'group' || form === 'groups')
      const key = camel(isGroup ? groupName(type, name).toLowerCase() : name)
      const oneof = `of${camel(`_${name}`)}`
      const isLeftOut = random.chance(0.3) || (messages.has(field.type) && depth > 2)
      if (presence !== 'required' && isLeftOut) {
        const isNull = random.chance(0.3)
        if (isNull && form === 'arm') args[byGraphql ? oneof : key] = null
        else if (isNull) args[key] = null
        continue
      }
      const [arg, own] = fieldValue(field, depth)
      if (form === 'arm') {
        if (byGraphql || random.chance(0.5)) args[oneof] = { [key]: arg }
        else args[key] = arg
        init[oneof] = { case: key, value: own }
        continue
      }
      args[key] = arg
      init[key] = own
    }
    return { args, init }
  }

  function fieldValue({ form, type, key }: RequestField, depth: number): readonly [unknown, unknown] {
    const isWrapped = syntax === 'proto2' && (form === 'group' || form === 'groups')
    // A group is a message of its own, which holds the other one.
    const item = (): readonly [unknown, unknown] => {
      const isOwn = isWrapped || form === 'single' || form === 'group'
      const [arg, own] = isOwn ? single(type, depth) : boxed(type, depth)
      return isWrapped
        ? [
            { in: arg, n: 0 },
            { in: own, n: 0 },
          ]
        : [arg, own]
    }
    if (form === 'list' || form === 'groups') {
      const items = random.times(0, 3, item)
      return [items.map(([arg]) => arg), items.map(([, own]) => own)]
    }
    if (form === 'map') {
      const keys = [...new Set(random.times(0, 3, () => mapKey(key)))]
      const entries = keys.map((one) => [one, item()] as const)
      const keyGiven = (one: string): unknown =>
        key === 'bool' ? one === 'true' : key === 'int32' ? Number(one) : one
      return [
        entries.map(([one, [arg]]) => ({ key: keyGiven(one), value: arg })),
        Object.fromEntries(entries.map(([one, [, own]]) => [one, own])),
      ]
    }
    return item()
  }

  /** The strict library takes wrappers as their values only in fields of their own. */
  function boxed(type: string, depth: number): readonly [unknown, unknown] {
    const [arg, own] = single(type, depth)
    return [arg, type.endsWith('Value') ? { value: own } : own]
  }

  function mapKey(type: string): string {
    if (type === 'bool') return random.pick(['true', 'false'])
    return random.pick(type === 'string' ? ['', 'a'] : ['0', '7'])
  }

  function single(type: string, depth: number): readonly [unknown, unknown] {
    if (messages.has(type)) {
      const { args, init } = messageValue(type, depth + 1)
      return [args, init]
    }
    return leafValue(random, type, byGraphql)
  }
}

function leafValue(random: Random, type: string, byGraphql: boolean): readonly [unknown, unknown] {
  const isZero = random.chance(0.6)
  if (INTEGERS.includes(type)) return isZero ? [0, 0] : [7, 7]
  if (LONGS.includes(type))
    return isZero
      ? [byGraphql ? '0' : random.pick<unknown>(['0', 0]), 0n]
      : ['9007199254740993', 9_007_199_254_740_993n]
  switch (type) {
    case 'double':
    case 'float': {
      const value = isZero ? 0 : byGraphql ? 1.5 : random.pick([-0, 1.5])
      return [value, value]
    }
    case 'bool':
    case 'BoolValue':
      return [!isZero, !isZero]
    case 'string':
      return isZero ? ['', ''] : ['é', 'é']
    case 'Kind':
      return isZero
        ? ['ZERO', 0]
        : random.pick([
            ['ONE', 1],
            ['MINUS', -1],
          ] as const)
    case 'Odd':
      return isZero ? ['NIL', 0] : ['FIVE', 5]
    case 'Nothing':
      return [true, {}]
    case 'Timestamp':
      return isZero ? ['1970-01-01T00:00:00Z', {}] : ['1970-01-01T00:00:05Z', { seconds: 5n }]
    case 'Duration':
      return isZero ? ['0s', {}] : ['1.5s', { seconds: 1n, nanos: 500_000_000 }]
    case 'Int32Value':
      return isZero ? [0, 0] : [7, 7]
    case 'Int64Value':
      return isZero ? ['0', 0n] : ['7', 7n]
    case 'StringValue':
      return isZero ? ['', ''] : ['a', 'a']
    default:
      return isZero ? ['', new Uint8Array()] : ['AAE=', Uint8Array.of(0, 1)]
  }
}
