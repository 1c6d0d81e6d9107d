import type { DescMessage } from '@bufbuild/protobuf'
import { getNamedType, isObjectType, Kind, type GraphQLResolveInfo, type SelectionSetNode } from 'graphql'
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

/**
 * The paths of a field's selection, relative to `message`. Undefined, which asks for everything, where another source
 * resolves a selected field from parts of the message that nobody knows.
 */
export function selectionMask(
  info: GraphQLResolveInfo,
  shapes: Shapes,
  message: DescMessage,
): string[] | undefined {
  const paths = new Set<string>()
  const isKnown = info.fieldNodes.every(({ selectionSet }) => {
    const type = getNamedType(info.returnType)
    return !selectionSet || collect(selectionSet, shapes.message(message), type.name, '')
  })
  return isKnown ? [...paths] : undefined

  function collect(
    selections: SelectionSetNode,
    shape: MessageShape,
    typeName: string,
    prefix: string,
  ): boolean {
    return selections.selections.every((selection) => {
      if (selection.kind === Kind.INLINE_FRAGMENT)
        return collect(selection.selectionSet, shape, typeName, prefix)
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const fragment = info.fragments[selection.name.value]
        return fragment !== undefined && collect(fragment.selectionSet, shape, typeName, prefix)
      }
      const name = selection.name.value
      if (name.startsWith('__')) return true
      const field = shape.fields.find(
        (candidate) => candidate.name === name && !candidate.annotation.resolver,
      )
      if (!field) return addRequired(shape, typeName, name, prefix)
      const path = `${prefix}${field.desc.name}`
      // A mask cannot reach into lists and maps.
      if (field.value.kind !== 'message' || field.cardinality !== 'single' || !selection.selectionSet) {
        paths.add(path)
        return true
      }
      const nested = shapes.message(field.value.message)
      return collect(selection.selectionSet, nested, typeNameOf(typeName, name), `${path}.`)
    })
  }

  /** A join says which fields of its parent it reads. */
  function addRequired(shape: MessageShape, typeName: string, name: string, prefix: string): boolean {
    const type = info.schema.getType(typeName)
    const required = isObjectType(type) ? type.getFields()[name]?.extensions['requires'] : undefined
    if (!Array.isArray(required)) return false
    return required.every((wanted) => {
      const field = shape.fields.find((candidate) => candidate.name === wanted)
      if (field) paths.add(`${prefix}${field.desc.name}`)
      return field !== undefined
    })
  }

  function typeNameOf(parent: string, name: string): string {
    const type = info.schema.getType(parent)
    const field = isObjectType(type) ? type.getFields()[name] : undefined
    return field ? getNamedType(field.type).name : parent
  }
}
