import type { Source } from '@vinyasa/source-kit'
import { Kind, type DocumentNode } from 'graphql'
import type { IResolvers } from '@graphql-tools/utils'
import { extendWith } from './extend-schema.ts'

/** The config's `typeDefs` and `resolvers` as a source that adds to what all others have. */
export function typeDefsSource(
  typeDefs: DocumentNode | undefined,
  resolvers: IResolvers | undefined,
): readonly Source[] {
  if (!typeDefs && !resolvers) return []
  const document = typeDefs ?? { kind: Kind.DOCUMENT, definitions: [] }
  return [{ id: 'typeDefs', fields: [], extend: (schema) => extendWith(schema, document, resolvers) }]
}
