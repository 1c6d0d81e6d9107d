import type { DescEnum, DescField, DescMessage } from '@bufbuild/protobuf'
import { isWellKnown } from './well-known.ts'

/** The types that a schema needs names for. */
export interface UsedTypes {
  readonly outputs: ReadonlySet<DescMessage>
  readonly inputs: ReadonlySet<DescMessage>
  readonly enums: ReadonlySet<DescEnum>
}

/** A method's part in the schema. */
interface UsedMethod {
  readonly desc: { readonly input: DescMessage; readonly output: DescMessage }
  readonly wrapRequest: string | undefined
}

/** Walks from methods through all fields. A request is its arguments, so its own type counts only when it is wrapped. */
export function findUsedTypes(methods: Iterable<UsedMethod>): UsedTypes {
  const outputs = new Set<DescMessage>()
  const inputs = new Set<DescMessage>()
  const enums = new Set<DescEnum>()
  const pending: (readonly [DescMessage, Set<DescMessage>])[] = []

  function add(message: DescMessage | undefined, found: Set<DescMessage>): void {
    // A message without fields is a Boolean, and those with a form of their own are scalars.
    if (!message || isWellKnown(message.typeName) || message.fields.length === 0) return
    if (found.has(message)) return
    found.add(message)
    pending.push([message, found])
  }

  function addField(field: DescField, found: Set<DescMessage>): void {
    if (field.enum) enums.add(field.enum)
    add(field.message, found)
  }

  for (const { desc, wrapRequest } of methods) {
    add(desc.output, outputs)
    if (wrapRequest !== undefined) add(desc.input, inputs)
    else for (const field of desc.input.fields) addField(field, inputs)
  }
  for (let next = pending.pop(); next; next = pending.pop()) {
    const [message, found] = next
    for (const field of message.fields) addField(field, found)
  }
  return { outputs, inputs, enums }
}
