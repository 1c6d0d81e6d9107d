import type {
  DescEnum,
  DescEnumValue,
  DescField,
  DescFile,
  DescMessage,
  DescMethod,
} from '@bufbuild/protobuf'
import { keyed } from '@vinyasa/core'

type Commented = DescMessage | DescField | DescEnum | DescEnumValue | DescMethod

/** Reads the comments that stand beside declarations in the protos. */
export interface Comments {
  of(desc: Commented): string | undefined
}

export function createComments(): Comments {
  const commentsOf = keyed(
    ({ proto }: DescFile) =>
      new Map(
        (proto.sourceCodeInfo?.location ?? []).map((location) => [
          location.path.join('.'),
          clean(location.leadingComments || location.trailingComments),
        ]),
      ),
  )

  return {
    of(desc) {
      const file =
        desc.kind === 'field' || desc.kind === 'rpc' || desc.kind === 'enum_value'
          ? desc.parent.file
          : desc.file
      return commentsOf(file).get(pathOf(desc).join('.')) || undefined
    },
  }
}

/** The declaration's place in its file descriptor, as source code info numbers it. */
function pathOf(desc: Commented): number[] {
  switch (desc.kind) {
    case 'message':
      return desc.parent
        ? [...pathOf(desc.parent), 3, desc.parent.proto.nestedType.indexOf(desc.proto)]
        : [4, desc.file.proto.messageType.indexOf(desc.proto)]
    case 'enum':
      return desc.parent
        ? [...pathOf(desc.parent), 4, desc.parent.proto.enumType.indexOf(desc.proto)]
        : [5, desc.file.proto.enumType.indexOf(desc.proto)]
    case 'field':
      return [...pathOf(desc.parent), 2, desc.parent.proto.field.indexOf(desc.proto)]
    case 'enum_value':
      return [...pathOf(desc.parent), 2, desc.parent.proto.value.indexOf(desc.proto)]
    case 'rpc':
      return [
        6,
        desc.parent.file.proto.service.indexOf(desc.parent.proto),
        2,
        desc.parent.proto.method.indexOf(desc.proto),
      ]
  }
}

/** Without the second star of `/**`, and without what all lines are indented by. */
function clean(comment: string): string {
  const lines = comment
    .replace(/^\*+/, (stars) => ' '.repeat(stars.length - 1))
    .split('\n')
    .map((line) => line.trimEnd())
  const indents = lines.filter((line) => line !== '').map((line) => line.search(/\S/))
  const indent = Math.min(...indents)
  return lines
    .map((line) => line.slice(indent))
    .join('\n')
    .trim()
}
