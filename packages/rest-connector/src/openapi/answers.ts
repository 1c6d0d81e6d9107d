import type { RestEndpoint } from '../declare/endpoint-options.ts'
import { asNode, asText, type Node, type OpenApiDocument } from './openapi-document.ts'
import type { SchemaTypes } from './types/schema-types.ts'
import type { Place } from './types/type-names.ts'

interface Answer {
  readonly kind: 'json' | 'text' | 'binary'
  readonly schema: unknown
}

/** What an operation's field gives: what its successes have as bodies. */
export function answerOf(
  operation: Node,
  place: Place,
  document: OpenApiDocument,
  types: SchemaTypes,
): Pick<RestEndpoint, 'returnType' | 'answer'> {
  const answers = successesOf(operation, document).flatMap((response) => answersIn(response, document))
  const [first] = answers
  if (first === undefined) return { returnType: 'Boolean', answer: 'none' }
  if (answers.some(({ kind }) => kind !== first.kind)) return { returnType: 'JSON' }
  if (first.kind !== 'json') return { returnType: 'String', answer: first.kind }
  const schemas = distinct(answers.map(({ schema }) => schema))
  if (schemas.some((schema) => schema === undefined)) return { returnType: 'JSON' }
  const [only] = schemas
  return { returnType: schemas.length === 1 ? types.output(only, place) : types.union(schemas, place) }
}

/** The responses that are successes, in the order of their statuses. */
export function successesOf(operation: Node, document: OpenApiDocument): readonly Node[] {
  const responses = Object.entries(document.resolve(operation['responses']))
  const stated = responses
    .filter(([status]) => /^2(?:\d\d|XX)$/i.test(status))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  const successes = stated.length > 0 ? stated : responses.filter(([status]) => status === 'default')
  return successes.map(([, response]) => document.resolve(response))
}

/** The body of a response, in the media type that is read best. */
function answersIn(response: Node, document: OpenApiDocument): readonly Answer[] {
  const content = Object.entries(document.resolve(response['content']))
  const json = content.find(([type]) => /[/+]json\b/i.test(type)) ?? content.find(([type]) => type === '*/*')
  if (json) return [{ kind: 'json', schema: document.resolve(json[1])['schema'] }]
  if (content.some(([type]) => type.startsWith('text/'))) return [{ kind: 'text', schema: undefined }]
  return content.length === 0 ? [] : [{ kind: 'binary', schema: undefined }]
}

/** Schemas that are not the same reference or object. */
function distinct(schemas: readonly unknown[]): readonly unknown[] {
  return [...new Map(schemas.map((schema) => [asText(asNode(schema)['$ref']) ?? schema, schema])).values()]
}
