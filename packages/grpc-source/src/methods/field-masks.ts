import type { DescMessage } from '@bufbuild/protobuf'
import {
  getNamedType,
  isObjectType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type SelectionSetNode,
} from 'graphql'
import { collectFields } from '@vinyasa/documents'
import { memberIn, ownNameOf } from '@vinyasa/source-kit'
import type { FieldShape, MessageShape, Shapes } from '../contract/shapes.ts'

/** The request field that takes a mask, if there is one. */
export function maskField(shapes: Shapes, request: DescMessage): FieldShape | undefined {
  return shapes
    .message(request)
    .fields.find(
      ({ desc, value }) =>
        (desc.name === 'read_mask' || desc.name === 'field_mask') &&
        value.kind === 'wellKnown' &&
        value.type === 'google.protobuf.FieldMask',
    )
}

/** Fragments in fragments multiply paths. Of more than these the whole message is less than their mask. */
const MAX_FIELDS = 1_000

/**
 * The paths of a field's selection, relative to `message`. Undefined, which asks for everything, where another source
 * resolves a selected field from parts of the message that nobody knows, or the selection is too large.
 */
export function selectionMask(
  info: GraphQLResolveInfo,
  shapes: Shapes,
  message: DescMessage,
): string[] | undefined {
  const paths = new Set<string>()
  const fragments = new Map(Object.entries(info.fragments))
  const root = info.fieldNodes.flatMap(({ selectionSet }) => selectionSet ?? [])
  let count = 0
  const isKnown = collect(root, shapes.message(message), getNamedType(info.returnType), '')
  return isKnown ? [...paths] : undefined

  function collect(
    sets: readonly SelectionSetNode[],
    shape: MessageShape,
    type: GraphQLNamedType | undefined,
    prefix: string,
  ): boolean {
    const object = isObjectType(type) ? type : undefined
    const fields = [...collectFields({ fragments }, sets).values()].flat()
    return fields.every((selection) => {
      if (++count > MAX_FIELDS) return false
      const name = selection.name.value
      if (name.startsWith('__')) return true
      const definition = object?.getFields()[name]
      const requires = definition?.extensions['requires']
      if (object && requires !== undefined) return addRequired(shape, object, requires, prefix)
      const own = definition ? ownNameOf(definition) : name
      const field = shape.fields.find((candidate) => candidate.name === own && !candidate.annotation.resolver)
      if (!field) return false
      const path = `${prefix}${field.desc.name}`
      // A mask cannot reach into lists and maps.
      if (field.value.kind !== 'message' || field.cardinality !== 'single' || !selection.selectionSet) {
        paths.add(path)
        return true
      }
      const nested = shapes.message(field.value.message)
      const below = definition && getNamedType(definition.type)
      return collect([selection.selectionSet], nested, below, `${path}.`)
    })
  }

  /** A join says which fields of its parent it reads. */
  function addRequired(
    shape: MessageShape,
    type: GraphQLObjectType,
    required: unknown,
    prefix: string,
  ): boolean {
    if (!Array.isArray(required)) return false
    return required.every((wanted) => {
      const own = memberIn(type, String(wanted))
      const field = shape.fields.find((candidate) => candidate.name === own)
      if (field) paths.add(`${prefix}${field.desc.name}`)
      return field !== undefined
    })
  }
}
