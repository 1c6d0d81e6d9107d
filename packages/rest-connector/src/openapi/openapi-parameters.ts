import type { RestEndpoint } from '../declare/endpoint-options.ts'
import type { HttpMethod } from '../http/http-method.ts'
import { asList, asNode, asText, type Node } from './openapi-document.ts'
import { toFieldName } from './openapi-names.ts'
import { argumentType, type TypeSettings } from './openapi-types.ts'

/** How an operation takes its input. */
export interface Parameters {
  readonly endpoint: Pick<
    RestEndpoint,
    'path' | 'args' | 'queryParams' | 'queryArrayFormat' | 'headers' | 'bodyTemplate'
  >
  /** Why the operation cannot be called; absent when it can. */
  readonly skip?: string | undefined
}

/** OpenAPI 3 §4.8.12: header parameters of these names are ignored. */
const IGNORED_HEADERS: ReadonlySet<string> = new Set(['accept', 'content-type', 'authorization'])

export function parametersOf(
  method: HttpMethod,
  path: string,
  pathItem: Node,
  operation: Node,
  settings: TypeSettings,
): Parameters {
  const state = new Collected(method, path)
  // The operation's own parameters replace those of its path.
  const all = new Map<string, Node>()
  for (const one of [...asList(pathItem['parameters']), ...asList(operation['parameters'])]) {
    const parameter = settings.document.resolve(one)
    all.set(`${asText(parameter['in'])} ${asText(parameter['name'])}`, parameter)
  }
  for (const parameter of all.values()) state.parameter(parameter, settings)
  const body = settings.document.resolve(asNode(operation['requestBody']))
  if (Object.keys(body).length > 0) state.body(body, settings)
  return state.result()
}

class Collected {
  readonly #method: HttpMethod
  #path: string
  readonly #args: Record<string, string> = {}
  readonly #queryParams: Record<string, string> = {}
  readonly #headers: Record<string, string> = {}
  readonly #arrayFormats = new Set<'repeat' | 'comma'>()
  #bodyTemplate: string | undefined
  #skip: string | undefined

  constructor(method: HttpMethod, path: string) {
    this.#method = method
    this.#path = path
  }

  parameter(parameter: Node, settings: TypeSettings): void {
    const name = asText(parameter['name']) ?? ''
    const isRequired = parameter['required'] === true
    const type = argumentType(parameter['schema'], settings)
    switch (parameter['in']) {
      case 'path': {
        const arg = this.#add(name, type, true)
        this.#path = this.#path.split(`{${name}}`).join(`{${arg}}`)
        return
      }
      case 'query': {
        const style = asText(parameter['style']) ?? 'form'
        if (type === 'JSON' || style === 'deepObject') return this.#leaveOut(name, 'object', isRequired)
        if (type.startsWith('[')) this.#arrayFormats.add(parameter['explode'] === false ? 'comma' : 'repeat')
        this.#queryParams[name] = `{${this.#add(name, type, isRequired)}}`
        return
      }
      case 'header':
        if (IGNORED_HEADERS.has(name.toLowerCase())) return
        if (type === 'JSON' || type.startsWith('[')) return this.#leaveOut(name, 'header list', isRequired)
        this.#headers[name] = `{${this.#add(name, type, isRequired)}}`
        return
      default:
        this.#leaveOut(name, String(parameter['in']), isRequired)
    }
  }

  body(body: Node, settings: TypeSettings): void {
    const content = Object.entries(asNode(body['content']))
    const isRequired = body['required'] === true
    if (this.#method === 'GET') {
      this.#skip = 'a GET request has no body'
      return
    }
    if (content.some(([type]) => /^application\/(?:.+\+)?json\b/.test(type))) {
      this.#bodyTemplate = `{${this.#add('body', 'JSON', isRequired)}}`
      return
    }
    const [, form] = content.find(([type]) => type.startsWith('application/x-www-form-urlencoded')) ?? []
    if (form === undefined) {
      this.#leaveOut('body', content.map(([type]) => type).join(', '), true)
      return
    }
    const schema = settings.document.resolve(asNode(asNode(form)['schema']))
    const required = asList(schema['required'])
    const pairs = Object.entries(asNode(schema['properties'])).map(([name, property]) => {
      const arg = this.#add(name, argumentType(property, settings), required.includes(name))
      return `${encodeURIComponent(name)}={${arg}}`
    })
    this.#headers['content-type'] = 'application/x-www-form-urlencoded'
    this.#bodyTemplate = pairs.join('&')
  }

  result(): Parameters {
    const [format] = this.#arrayFormats
    const skip =
      this.#skip ?? (this.#arrayFormats.size > 1 ? 'lists in the query are written in two ways' : undefined)
    return {
      endpoint: {
        path: this.#path,
        args: this.#args,
        queryParams: this.#queryParams,
        headers: this.#headers,
        ...(format && { queryArrayFormat: format }),
        // Without one in the document there is none on the wire.
        ...(this.#method !== 'GET' && { bodyTemplate: this.#bodyTemplate ?? false }),
      },
      ...(skip !== undefined && { skip }),
    }
  }

  #add(name: string, type: string, isRequired: boolean): string {
    const base = toFieldName(name)
    let arg = base
    for (let n = 2; Object.hasOwn(this.#args, arg); n++) arg = `${base}${n}`
    this.#args[arg] = isRequired ? `${type}!` : type
    return arg
  }

  #leaveOut(name: string, what: string, isRequired: boolean): void {
    if (isRequired) this.#skip = `its required parameter "${name}" (${what}) cannot be sent`
  }
}
