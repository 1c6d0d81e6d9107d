import type { DescMessage, DescMethod } from '@bufbuild/protobuf'
import { groupBy, type NamedSource } from '@vinyasa/source-kit'
import { shortName } from './graphql-names.ts'
import type { TypeNames } from './names.ts'

/**
 * Statements of a proto (`triggers`, `depends_on`) and of settings name messages by their short names, whatever the schema calls
 * them. Returns what those of one method mean: the message of its own package where there is one, else each of that name.
 */
export function createTypesMeant(
  messages: Iterable<DescMessage>,
  names: TypeNames,
): (method: DescMethod) => NamedSource['typesMeant'] {
  const all = [...messages]
  const byShortName = groupBy(all, shortName)
  return (method) => (stated) => {
    const called = byShortName.get(stated) ?? []
    const own = called.filter(({ file }) => file.proto.package === method.parent.file.proto.package)
    const meant = new Set((own.length > 0 ? own : called).map((message) => names.of(message)))
    // The short name may be that of another message, which nobody means.
    const isOthers = meant.size > 0 && all.some((message) => names.of(message) === stated)
    return isOthers ? [...meant] : [...new Set([...meant, stated])]
  }
}
