import type { DescMessage } from '@bufbuild/protobuf'
import {
  getNamedType,
  isObjectType,
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
  const isKnown = collect(root, shapes.message(message), getNamedType(info.returnType).name, '')
  return isKnown ? [...paths] : undefined

  function collect(
    sets: readonly SelectionSetNode[],
    shape: MessageShape,
    typeName: string,
    prefix: string,
  ): boolean {
    const fields = [...collectFields({ fragments }, sets).values()].flat()
    return fields.every((selection) => {
      if (++count > MAX_FIELDS) return false
      const name = selection.name.value
      if (name.startsWith('__')) return true
      const definition = typeNamed(typeName)?.getFields()[name]
      if (definition?.extensions['requires'] !== undefined) return addRequired(shape, typeName, name, prefix)
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
      return collect([selection.selectionSet], nested, typeNameOf(typeName, name), `${path}.`)
    })
  }

  /** A join says which fields of its parent it reads. */
  function addRequired(shape: MessageShape, typeName: string, name: string, prefix: string): boolean {
    const type = typeNamed(typeName)
    const required = type?.getFields()[name]?.extensions['requires']
    if (!type || !Array.isArray(required)) return false
    return required.every((wanted) => {
      const own = memberIn(type, String(wanted))
      const field = shape.fields.find((candidate) => candidate.name === own)
      if (field) paths.add(`${prefix}${field.desc.name}`)
      return field !== undefined
    })
  }

  function typeNameOf(parent: string, name: string): string {
    const field = typeNamed(parent)?.getFields()[name]
    return field ? getNamedType(field.type).name : parent
  }

  function typeNamed(name: string): GraphQLObjectType | undefined {
    const type = info.schema.getType(name)
    return isObjectType(type) ? type : undefined
  }
}
