import type { DescMessage, DescMethod } from '@bufbuild/protobuf'
import { groupBy, type Meant } from '@vinyasa/source-kit'
import { shortName, type TypeNames } from './names.ts'

/**
 * Statements of a proto (`triggers`, `depends_on`) and of settings name messages by their short names, whatever the schema calls
 * them. Returns what those of one method mean: the message of its own package where there is one, else each of that name.
 */
export function createTypesMeant(
  messages: Iterable<DescMessage>,
  names: TypeNames,
): (method: DescMethod) => Meant {
  const byShortName = groupBy([...messages], shortName)
  return (method) => (stated) => {
    const all = byShortName.get(stated) ?? []
    const own = all.filter(({ file }) => file.proto.package === method.parent.file.proto.package)
    return [...new Set([...(own.length > 0 ? own : all).map((message) => names.of(message)), stated])]
  }
}
