import type { EnvelopeHeader, EnvelopeOptions } from '../declare/envelope-options.ts'
import { fieldNames, camel, pascal } from './names.ts'
import { isChosen } from './links.ts'
import { asNode, asText, type Node, type OpenApiDocument } from './openapi-document.ts'
import { filterOf, type OperationFilter, type ReadOperation } from './operations.ts'
import { partsOfSuccesses } from './answers.ts'
import type { SchemaTypes } from './types/schema-types.ts'
import type { TypeNames } from './types/type-names.ts'

/** The parts of a response that become fields, in addition to its body. */
export interface EnvelopeSelection {
  /**
   * Adds documented response headers as fields: all, or the named headers. Fields of operations with documented headers return
   * an object with `body` and `headers`. Default false.
   */
  readonly headers?: boolean | readonly string[] | undefined
  /**
   * Adds the document's `links`, all or the named links, as fields that call the linked operation. Fields of operations with
   * links return an object with `body` and the links. Default false.
   */
  readonly links?: boolean | readonly string[] | undefined
  /**
   * Adds a field `next` that follows the `Link` header with `rel="next"`. `true` selects GET operations that document the
   * header; other values select operations as in `include`. Default false.
   */
  readonly nextPage?: boolean | OperationFilter | undefined
}

/** Returns the envelope of an operation, or undefined if the options select nothing of it. */
export type EnvelopeOf = (operation: ReadOperation, name: string) => EnvelopeOptions | undefined

/** Scalars to which a header value can be converted. */
const PLAIN = /^\[?(Int|Float|Boolean|String|Long|DateTime|Date|UUID|URI|EmailAddress)\]?$/

export function createEnvelopes(
  { headers = false, links = false, nextPage = false }: EnvelopeSelection,
  document: OpenApiDocument,
  types: SchemaTypes,
  names: TypeNames,
): EnvelopeOf {
  const wanted = typeof headers === 'boolean' ? headers : headers.map((header) => header.toLowerCase())
  const isPaged = typeof nextPage === 'boolean' ? undefined : filterOf(nextPage)

  function documented(operation: ReadOperation): ReadonlyMap<string, Node> {
    const all = partsOfSuccesses(operation.node, 'headers', document)
    // OpenAPI ignores a Content-Type in `headers` of the Response Object.
    return new Map(all.filter(([name]) => name.toLowerCase() !== 'content-type' && pascal(name) !== ''))
  }

  function headerOf(header: string, node: Node, place: string, owner: string): EnvelopeHeader {
    const schema =
      node['schema'] ?? Object.values(asNode(node['content'])).map((one) => asNode(one)['schema'])[0]
    const isPlain = !['enum', 'properties', 'oneOf', 'anyOf'].some((key) => key in document.resolve(schema))
    const own = { name: `${owner}${pascal(header)}`, key: `${place}/header ${header}` }
    const type = isPlain ? types.typeOf(schema, own, false) : 'String'
    const description = asText(node['description'])?.trim()
    return { header, ...(PLAIN.test(type) && { type }), ...(description && { description }) }
  }

  return (operation, name) => {
    const known = documented(operation)
    const chosen = [...known].filter(([header]) => isChosen(wanted, header.toLowerCase()))
    const isLinked = [...known.keys()].some((header) => header.toLowerCase() === 'link')
    const next = operation.method === 'GET' && (isPaged ? isPaged(operation) : nextPage === true && isLinked)
    const hasLinks = partsOfSuccesses(operation.node, 'links', document).some(([link]) =>
      isChosen(links, link),
    )
    if (chosen.length === 0 && !next && !hasLinks) return undefined
    const typeName = names.claim(`${pascal(name)}Reply`, `envelope ${operation.place}`)
    names.claim(`${typeName}Headers`, `headers ${operation.place}`)
    const fields = fieldNames(chosen.map(([header]) => camel(header.toLowerCase())))
    return {
      typeName,
      ...(next && { next }),
      ...(chosen.length > 0 && {
        headers: Object.fromEntries(
          chosen.map(([header, node]) => [
            fields.get(camel(header.toLowerCase())) as string,
            headerOf(header, node, operation.place, typeName),
          ]),
        ),
      }),
      // Linked operations are resolved after all operations were imported.
      ...(hasLinks && { links: {} }),
    }
  }
}
