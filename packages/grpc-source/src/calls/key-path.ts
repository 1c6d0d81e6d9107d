import type { DescMessage } from '@bufbuild/protobuf'
import { fieldNames, fieldOf } from '../contract/find-field.ts'
import type { FieldShape, Shapes } from '../contract/shapes.ts'
import type { ToBatchRequest } from '../json/message-plan.ts'

/**
 * Compiles `batch.keys`: `ids`, a repeated field that takes the keys, or `ids.id`, a path through exactly one such
 * field, to what takes the key in each of its messages. A text says what is wrong with the path.
 */
export function compileKeyPath(shapes: Shapes, input: DescMessage, path: string): ToBatchRequest | string {
  const refuse = (problem: string): string => `batch.keys ${problem}`
  const fields: FieldShape[] = []
  let message: DescMessage | undefined = input
  for (const name of path.split('.')) {
    if (!message)
      return refuse(
        `is "${path}", but ${lastOf(fields).desc.parent.typeName}.${lastOf(fields).name} has no field that can hold a key; end the path before "${name}"`,
      )
    const field = fieldOf(shapes, message, name)
    if (!field)
      return refuse(
        `is "${path}", but ${message.typeName} has no field "${name}"; ${fieldNames(shapes, message)}`,
      )
    fields.push(field)
    message = field.value.kind === 'message' && field.cardinality !== 'map' ? field.value.message : undefined
  }
  const lists = fields.filter(({ cardinality }) => cardinality !== 'single')
  if (lists.length > 1)
    return refuse(
      `is "${path}", but ${lists.map(({ name }) => name).join(' and ')} are lists or maps; the path must contain exactly one list and no map`,
    )
  const [list] = lists
  if (list?.cardinality !== 'list')
    return refuse(
      `is "${path}", but the path must contain a repeated field of ${input.typeName}; ${fieldNames(shapes, input)}`,
    )
  if (message)
    return refuse(
      `is "${path}", ${lastOf(fields) === list ? 'a list of' : 'which has the type'} ${message.typeName}; end the path at the field that holds the key (${suggestions(shapes, message, path) || 'the message has no such field'})`,
    )
  const place = fields.indexOf(list)
  const [around, within] = [fields.slice(0, place + 1), fields.slice(place + 1)]
  return (keys) =>
    wrap(
      around,
      keys.map((key) => wrap(within, key)),
    ) as Readonly<Record<string, unknown>>
}

function wrap(fields: readonly FieldShape[], value: unknown): unknown {
  return fields.reduceRight<unknown>((inner, { name }) => ({ [name]: inner }), value)
}

function lastOf(fields: readonly FieldShape[]): FieldShape {
  return fields.at(-1) as FieldShape
}

/** The paths on to the single values of a message, through the messages in it. */
function suggestions(
  shapes: Shapes,
  message: DescMessage,
  path: string,
  above: readonly DescMessage[] = [],
): string {
  const below = [...above, message]
  const single = shapes.message(message).fields.filter(({ cardinality }) => cardinality === 'single')
  return single
    .flatMap(({ name, value }) => {
      if (value.kind !== 'message') return [`${path}.${name}`]
      return below.includes(value.message) ? [] : suggestions(shapes, value.message, `${path}.${name}`, below)
    })
    .join(' or ')
}
