import type { DescMessage } from '@bufbuild/protobuf'
import type { FieldShape, Shapes } from './shapes.ts'

/** Returns the field that has a name, in GraphQL or in the proto. */
export function fieldOf(shapes: Shapes, message: DescMessage, name: string): FieldShape | undefined {
  return shapes.message(message).fields.find((field) => field.name === name || field.desc.name === name)
}

/** Says what fields a message has. */
export function fieldNames(shapes: Shapes, message: DescMessage): string {
  const names = shapes.message(message).fields.map(({ name }) => name)
  return names.length === 0 ? 'the message has no fields' : `its fields are ${names.join(', ')}`
}
