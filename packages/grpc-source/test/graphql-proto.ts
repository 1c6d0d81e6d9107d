import { readFileSync } from 'node:fs'

/** The options file that the package ships. */
export const GRAPHQL_PROTO: string = readFileSync(new URL('../proto/graphql.proto', import.meta.url), 'utf8')
