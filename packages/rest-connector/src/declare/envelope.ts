import { atPlace, RestConfigError } from '../errors.ts'
import type { RestResponse } from '../http/attempt.ts'
import { nextPageOf } from '../http/link-header.ts'
import type { HttpMethod } from '../http/http-method.ts'
import type { Home } from '../http/transport.ts'
import { isHeaderName } from '../templates/header-template.ts'
import { compileResponsePath } from '../templates/response-path.ts'
import { argOf, type Args } from '../templates/template.ts'
import type { EnvelopeHeader, EnvelopeLink, EnvelopeOptions, LinkValue } from './envelope-options.ts'
import { parseTypeReference, type FieldDefinitions, type TypeReference } from './fields.ts'

/** The call and the response that an answer came with. */
export interface Surroundings {
  readonly args: Args
  readonly response: RestResponse
  /** The URL that was asked. */
  readonly url: URL
  /** The server that was asked. */
  readonly home: Home
}

/** The object that an endpoint's field is, with `body` and what is around it. */
export interface Envelope {
  readonly type: TypeReference
  /** The fields that are read off the object, by its types. */
  readonly fields: Readonly<Record<string, FieldDefinitions>>
  readonly hasNext: boolean
  readonly links: ReadonlyMap<string, CompiledLink>
  put(body: unknown, surroundings: Surroundings): object
}

export interface CompiledLink extends Pick<EnvelopeLink, 'endpoint' | 'description'> {
  readonly args: ReadonlyMap<string, (envelope: object) => unknown>
}

/** An envelope holds its body and headers as JSON; all else that it came with is known here. */
const surroundingsOf = new WeakMap<object, Surroundings & { readonly compiled: Envelope }>()

/** Returns what put a response into this object: endpoints may share the type of their envelopes. */
export function compiledOf(envelope: object): Envelope | undefined {
  return surroundingsOf.get(envelope)?.compiled
}

/** The URL of the next page; undefined: this is the last. @throws Error where it is none that may be followed */
export function nextOf(envelope: object): string | undefined {
  const known = surroundingsOf.get(envelope)
  return known && nextPageOf(known.response.headers['link'], known.url, known.home)
}

export function argsOf(envelope: object): Args {
  return surroundingsOf.get(envelope)?.args ?? {}
}

export function compileEnvelope(
  name: string,
  method: HttpMethod,
  bodyType: TypeReference,
  options: EnvelopeOptions,
): Envelope {
  const { typeName = `${name.charAt(0).toUpperCase()}${name.slice(1)}Reply`, headers = {} } = options
  const { next = false, links = {} } = options
  if (next && method !== 'GET')
    throw new RestConfigError('envelope.next is only supported for GET; remove it', {
      path: ['envelope', 'next'],
    })
  const named = (header: string): [string, EnvelopeHeader] => [camelCase(header), { header }]
  const readers = Object.entries(
    Array.isArray(headers) ? Object.fromEntries(headers.map(named)) : headers,
  ).map(([field, definition]) => {
    const compile = () => compileHeader(field, definition)
    return atPlace(['envelope', 'headers', field], compile, `envelope.headers.${field}`)
  })
  for (const link of Object.keys(links))
    if (['body', 'headers', 'next'].includes(link))
      throw new RestConfigError(
        `envelope.links.${link}: the field names body, headers and next are reserved; choose another name`,
        { path: ['envelope', 'links', link] },
      )
  const headersType = `${typeName}Headers`
  const compiled: Envelope = {
    type: parseTypeReference(bodyType.isNonNull ? `${typeName}!` : typeName),
    fields: {
      [typeName]: {
        body: { type: bodyType.text },
        ...(readers.length > 0 && { headers: { type: `${headersType}!` } }),
      },
      ...(readers.length > 0 && {
        [headersType]: Object.fromEntries(
          readers.map(({ field, type, description }) => [field, { type, description }]),
        ),
      }),
    },
    hasNext: next,
    links: new Map(
      Object.entries(links).map(([field, link]) => [
        field,
        atPlace(['envelope', 'links', field], () => compileLink(link), `envelope.links.${field}`),
      ]),
    ),
    put(body, surroundings) {
      const envelope = {
        body,
        ...(readers.length > 0 && {
          headers: Object.fromEntries(
            readers.map(({ field, read }) => [field, read(surroundings.response.headers)]),
          ),
        }),
      }
      surroundingsOf.set(envelope, { ...surroundings, compiled })
      return envelope
    },
  }
  return compiled
}

/** `X-Total-Count` becomes `xTotalCount`. */
function camelCase(header: string): string {
  return header
    .toLowerCase()
    .replaceAll(/(?<![^a-z0-9])[^a-z0-9]+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

function compileHeader(field: string, { header, type: text = 'String', description }: EnvelopeHeader) {
  const type = parseTypeReference(text)
  if (type.isNonNull)
    throw new RestConfigError(`"${text}" is non-null, but a header can be absent; remove the "!"`)
  if (!isHeaderName(header)) throw new RestConfigError(`"${header}" is not a valid header name`)
  const key = header.toLowerCase()
  return {
    field,
    type: type.text,
    description: description ?? `The response header \`${header}\`.`,
    read: (headers: RestResponse['headers']) => readHeader(headers[key], type),
  }
}

function readHeader(given: string | string[] | undefined, { isList, name }: TypeReference): unknown {
  if (given === undefined) return null
  if (!isList) return parseValue([given].flat().join(', '), name)
  const values = Array.isArray(given) ? given : given.split(',')
  return values.map((value) => parseValue(value.trim(), name))
}

/** A header's text as the JSON value that it stands for; what is none is left for the type to refuse. */
function parseValue(text: string, typeName: string): unknown {
  switch (typeName) {
    case 'Int':
    case 'Float':
      return /^[+-]?\d+(\.\d+)?$/.test(text) ? Number(text) : text
    case 'Boolean':
      return text === 'true' ? true : text === 'false' ? false : text
    default:
      return text
  }
}

function compileLink({ endpoint, args, description }: EnvelopeLink): CompiledLink {
  return {
    endpoint,
    description,
    args: new Map(
      Object.entries(args).map(([arg, value]) => [
        arg,
        atPlace(['args', arg], () => compileValue(value), `args.${arg}`),
      ]),
    ),
  }
}

function compileValue(value: LinkValue): (envelope: object) => unknown {
  if ('body' in value) {
    const extract = compileResponsePath(value.body)
    return (envelope) => extract((envelope as { readonly body: unknown }).body)
  }
  if ('header' in value) {
    const key = value.header.toLowerCase()
    return (envelope) => {
      const given = surroundingsOf.get(envelope)?.response.headers[key]
      return given === undefined ? null : [given].flat().join(', ')
    }
  }
  if ('arg' in value) {
    const { arg, path } = value
    const extract = path === undefined ? (given: unknown) => given : compileResponsePath(path)
    return (envelope) => extract(argOf(argsOf(envelope), arg) ?? null)
  }
  if ('exchange' in value) {
    const isUrl = value.exchange === 'url'
    return (envelope) => {
      const known = surroundingsOf.get(envelope)
      return (isUrl ? known?.url.href : known?.response.status) ?? null
    }
  }
  if ('text' in value)
    return joined(value.text.map((part) => (typeof part === 'string' ? () => part : compileValue(part))))
  return () => value.value
}

function joined(parts: readonly ((envelope: object) => unknown)[]): (envelope: object) => unknown {
  return (envelope) => {
    const values = parts.map((part) => part(envelope) ?? null)
    // An object is no text.
    return values.some((one) => typeof one === 'object') ? null : values.join('')
  }
}
