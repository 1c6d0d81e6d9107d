import {
  concatAST,
  GraphQLError,
  Kind,
  parse,
  type DefinitionNode,
  type DocumentNode,
  type GraphQLDirective,
} from 'graphql'
import { ACCESS_DIRECTIVES } from '../access/rules/directives.ts'
import { costDirectives } from '../cost/directives.ts'
import type { OwnCodeSections } from '../dependencies/own-code-types.ts'
import { isRootName } from '../coordinates.ts'
import { ConfigError, mistakeAt } from '../errors.ts'
import { findingsIn, TypeDefsText } from '../texts/type-defs-text.ts'
import { withFederationDirectives } from '../federation/directives.ts'
import type { FederationSections } from '../federation/types.ts'

/** The sections of the config that decide what its `typeDefs` are. */
export type TypeDefsSections = FederationSections & Pick<OwnCodeSections, 'typeDefs'>

/** The config's `typeDefs` as one document; undefined where it has none. @throws ConfigError with every syntax error */
export function parseTypeDefs({ typeDefs, federation = false }: TypeDefsSections): DocumentNode | undefined {
  if (typeDefs === undefined) return undefined
  const texts = [typeDefs].flat()
  const mistakes: GraphQLError[] = []
  const documents = texts.flatMap((text, index) => {
    const path = typeof typeDefs === 'string' ? ['typeDefs'] : ['typeDefs', index]
    try {
      return isEmpty(text) ? [] : [parse(new TypeDefsText(text, path))]
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error
      if (/^[\w./\\-]+\.(?:graphqls?|gql)$/.test(text.trim()))
        throw mistakeAt(
          path,
          `"${text.trim()}" is a file name; expected type definitions, written after "typeDefs: |" in a YAML config or read with readFileSync in a .ts config`,
          { cause: error },
        )
      mistakes.push(error)
      return []
    }
  })
  if (mistakes.length > 0) throw new ConfigError(findingsIn(mistakes))
  const document = concatAST([...documents, ...missingDirectives(texts.join('\n'))])
  return federation === false ? document : withFederationDirectives(document)
}

/** Definitions of the directives of access and cost that SDL uses and does not define itself. */
function missingDirectives(sdl: string): readonly DocumentNode[] {
  return Object.entries({ ...ACCESS_DIRECTIVES, ...costDirectives(sdl) })
    .filter(
      ([name]) => new RegExp(`@${name}\\b`).test(sdl) && !new RegExp(`directive\\s+@${name}\\b`).test(sdl),
    )
    .map(([, definition]) => parse(definition))
}

/** Names of root fields and of types that are no objects, which `typeDefs` give. */
export function namesOfTypeDefs(config: TypeDefsSections): readonly string[] {
  return (parseTypeDefs(config)?.definitions ?? []).flatMap(namesOf)
}

function namesOf(definition: DefinitionNode): readonly string[] {
  switch (definition.kind) {
    case Kind.OBJECT_TYPE_DEFINITION:
    case Kind.OBJECT_TYPE_EXTENSION:
      return isRootName(definition.name.value) ? (definition.fields ?? []).map(({ name }) => name.value) : []
    case Kind.ENUM_TYPE_DEFINITION:
    case Kind.INPUT_OBJECT_TYPE_DEFINITION:
    case Kind.INTERFACE_TYPE_DEFINITION:
    case Kind.SCALAR_TYPE_DEFINITION:
    case Kind.UNION_TYPE_DEFINITION:
      return [definition.name.value]
    default:
      return []
  }
}

/** Directives that `typeDefs` do not define themselves. */
export function undefinedIn(
  typeDefs: DocumentNode | undefined,
  directives: readonly GraphQLDirective[],
): readonly GraphQLDirective[] {
  const defined = new Set(
    typeDefs?.definitions.flatMap((one) => (one.kind === Kind.DIRECTIVE_DEFINITION ? one.name.value : [])),
  )
  return directives.filter(({ name }) => !defined.has(name))
}

function isEmpty(text: string): boolean {
  return text.replaceAll(/#.*/g, '').trim() === ''
}
