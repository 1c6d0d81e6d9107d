import type { RestEndpoint } from '../declare/endpoint-options.ts'
import { asNode, asText, type Followed, type Node, type OpenApiDocument } from './openapi-document.ts'
import type { SchemaTypes } from './types/schema-types.ts'
import { sharedPlace, type Place } from './types/type-names.ts'
import { isTextual, mediaTypeOf } from '../templates/body-template.ts'

const MEDIA_TYPE = /^[\w!#$&^.+*-]+\/[\w!#$&^.+*-]+(?:\s*;\s*[\w-]+=(?:[\w.:+-]+|"[^"\r\n{}]*"))*$/

interface Answer {
  readonly kind: 'json' | 'text' | 'binary'
  /** The media types of its kind, as the document writes them. */
  readonly mediaTypes: readonly string[]
  readonly schema: unknown
  /** The reference that names the response. */
  readonly ref: string | undefined
}

/** Describes what an operation's field gives: the bodies of its successes. */
export function answerOf(
  operation: Node,
  place: Place,
  document: OpenApiDocument,
  types: SchemaTypes,
): Pick<RestEndpoint, 'returnType' | 'listOfOne' | 'answer' | 'accept'> {
  const answers = successesOf(operation, document).flatMap((response) => answersIn(response, document))
  const [first] = answers
  if (first === undefined) return { returnType: 'Boolean', answer: 'none' }
  if (answers.some(({ kind }) => kind !== first.kind)) return { returnType: 'JSON' }
  const accept = acceptOf(answers)
  if (first.kind !== 'json') return { returnType: 'String', answer: first.kind, ...accept }
  const schemas = distinct(answers.map(({ schema }) => schema))
  if (schemas.some((schema) => schema === undefined)) return { returnType: 'JSON' }
  const [only] = schemas
  if (schemas.length > 1) return { returnType: types.typeOf({ oneOf: schemas }, place, false), ...accept }
  const listOfOne = types.requiredOfItems(only)
  return {
    returnType: types.typeOf(only, sharedPlace(first.ref, place), false),
    ...(listOfOne.length > 0 && { listOfOne }),
    ...accept,
  }
}

/** The responses that are successes, in the order of their statuses. */
function successesOf(operation: Node, document: OpenApiDocument): readonly Followed[] {
  const responses = Object.entries(document.resolve(operation['responses']))
  const stated = responses
    .filter(([status]) => /^2(?:\d\d|XX)$/i.test(status))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  const successes = stated.length > 0 ? stated : responses.filter(([status]) => status === 'default')
  return successes.map(([, response]) => document.follow(response))
}

/** Headers or links of the successes, by name. */
export function partsOfSuccesses(
  operation: Node,
  section: 'headers' | 'links',
  document: OpenApiDocument,
): readonly (readonly [string, Node])[] {
  return successesOf(operation, document).flatMap(({ node }) =>
    Object.entries(document.resolve(node[section])).map(
      ([name, node]) => [name, document.resolve(node)] as const,
    ),
  )
}

/** The body of a response, in the media types that are read best. */
function answersIn({ node, ref }: Followed, document: OpenApiDocument): readonly Answer[] {
  const given = Object.entries(document.resolve(node['content']))
  // A body that may be anything comes last.
  const content = given.toSorted(([a], [b]) => Number(a === '*/*') - Number(b === '*/*'))
  for (const kind of ['json', 'text', 'binary'] as const) {
    const [first, ...others] = content.filter(([name]) => kindOf(name) === kind)
    if (!first) continue
    const schema = kind === 'json' ? document.resolve(first[1])['schema'] : undefined
    // JSON is JSON under each of its names; other bodies are whichever the API prefers.
    const mediaTypes = [first, ...(kind === 'json' ? [] : others)].map(([name]) => name)
    return [{ kind, mediaTypes, schema, ref }]
  }
  return []
}

function kindOf(given: string): Answer['kind'] {
  // Some write `+json` behind a parameter.
  if (given === '*/*' || /[/+]json(?![\w.-])/i.test(given)) return 'json'
  return isTextual(mediaTypeOf(given)) ? 'text' : 'binary'
}

/** Asks for what the field gives, where that is not what is asked for anyway. */
function acceptOf(answers: readonly Answer[]): Pick<RestEndpoint, 'accept'> {
  const mediaTypes = [...new Set(answers.flatMap((answer) => answer.mediaTypes))]
  const isUsual = mediaTypes.some((given) => ['application/json', '*/*'].includes(mediaTypeOf(given)))
  const areTypes = mediaTypes.every((given) => MEDIA_TYPE.test(given))
  return isUsual || !areTypes ? {} : { accept: [...mediaTypes, '*/*;q=0.5'].join(', ') }
}

/** Schemas that are not the same reference or object. */
function distinct(schemas: readonly unknown[]): readonly unknown[] {
  return [...new Map(schemas.map((schema) => [asText(asNode(schema)['$ref']) ?? schema, schema])).values()]
}
