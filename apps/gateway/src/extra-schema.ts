import { makeExecutableSchema } from '@graphql-tools/schema'
import type { GraphQLSchema } from 'graphql'
import { missingAccessDirectives, noteAccessDirectives } from './access/rules/directives.ts'
import type { GatewayConfig } from './config/types.ts'

/** The schema of the config's own `typeDefs` and `resolvers`. */
export function extraSchema({ typeDefs = [], resolvers }: GatewayConfig): GraphQLSchema {
  const sdl = [typeDefs].flat()
  const schema = makeExecutableSchema({
    typeDefs: [...sdl, ...missingAccessDirectives(sdl)],
    ...(resolvers && { resolvers }),
  })
  noteAccessDirectives(schema)
  return schema
}
