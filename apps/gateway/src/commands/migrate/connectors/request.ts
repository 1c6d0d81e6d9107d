import type { FieldDefinitionNode } from 'graphql'
import { withoutVariables } from '../../../config/file/environment.ts'
import { queryOf, type RestCall, take, type Taken } from '../rest-draft.ts'
import { Unsaid, type Values } from '../migration.ts'
import type { OldDirective, OldDocument } from '../old-document.ts'
import { parseSelection, type Selected } from './selection.ts'

export interface SourceSettings {
  readonly baseUrl: string
  readonly defaultHeaders: Readonly<Record<string, string>>
  readonly forwardHeaders: readonly string[]
}

/** The request of a connector, and what of it was left out. */
export interface ConnectRequest extends Pick<
  RestCall,
  'body' | 'headers' | 'method' | 'path' | 'query' | 'queryArrayFormat' | 'taken'
> {
  readonly source: string
  readonly settings: Record<string, unknown>
  readonly forwarded: readonly string[]
  /** Of an argument that is the body: the names on the wire by its fields. */
  readonly input: ReadonlyMap<string, string> | undefined
  readonly notes: readonly string[]
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** The sources of a subgraph by their names. */
export function readSources(old: OldDocument): ReadonlyMap<string, SourceSettings> {
  const found = new Map<string, SourceSettings>()
  for (const { name, args, line } of old.schemaDirectives()) {
    if (name !== 'source') continue
    const http = (args['http'] ?? {}) as Values
    const source = String(args['name'])
    const { headers, forwarded, notes } = headersOf(http['headers'])
    for (const note of notes) old.note(line, `@source(name: "${source}"): ${note}`)
    for (const option of ['path', 'queryParams'])
      if (http[option] !== undefined)
        old.note(
          line,
          `@source(name: "${source}"): ${option} has no equivalent; ${option === 'path' ? 'add the path to baseURL' : 'set it in each @connect'}`,
        )
    if (args['errors'] !== undefined || args['isSuccess'] !== undefined)
      old.note(
        line,
        `@source(name: "${source}"): errors and isSuccess have no equivalent; the gateway derives errors from the HTTP status`,
      )
    found.set(source, {
      baseUrl: literals(String(http['baseURL'])).replace(/\/$/, ''),
      defaultHeaders: headers,
      forwardHeaders: forwarded,
    })
  }
  return found
}

/** Reads what a `@connect` asks for. Throws {@link Unsaid}. */
export function readRequest(
  field: FieldDefinitionNode,
  { args }: OldDirective,
  sources: ReadonlyMap<string, SourceSettings>,
  name: string,
): ConnectRequest {
  const http = (args['http'] ?? {}) as Values
  const method = METHODS.find((one) => http[one] !== undefined)
  if (method === undefined) throw new Unsaid('@connect has no HTTP method with a URL, such as GET: "/users"')
  if (http['path'] !== undefined)
    throw new Unsaid(`http.path has no equivalent; add the path to the URL of ${method}`)
  const taken: Taken = { args: new Set(), parents: new Map() }
  const speech: Speech = {
    taken,
    args: new Set((field.arguments ?? []).map((one) => one.name.value)),
    isJoined: false,
  }
  const template = toTemplate(String(http[method]), speech)
  const source = sources.get(String(args['source']))
  const [, server = '', rest = template] = source ? [] : (/^(https?:\/\/[^/]+)(.*)$/s.exec(template) ?? [])
  if (!source && server === '')
    throw new Unsaid(
      `"${template}" is not a complete URL; set source to the name of a @source, or write a URL with http:// or https://`,
    )
  const [path = '', search = ''] = rest.split(/\?(.*)/s)
  const own = headersOf(http['headers'])
  return {
    source: (source ? String(args['source']) : `${name}_${server.replace(/^\w+:\/\//, '')}`).replaceAll(
      /\W/g,
      '_',
    ),
    settings: { baseUrl: source?.baseUrl ?? server, defaultHeaders: source?.defaultHeaders },
    forwarded: [...(source?.forwardHeaders ?? []), ...own.forwarded],
    method,
    path: path.startsWith('/') ? path : `/${path}`,
    query: [...queryOf(search), ...paramsOf(http['queryParams'], speech)],
    queryArrayFormat: speech.isJoined ? 'comma' : undefined,
    headers: own.headers,
    ...bodyOf(http['body'], speech, isForm({ ...source?.defaultHeaders, ...own.headers })),
    taken,
    notes: own.notes,
  }
}

interface Speech {
  readonly taken: Taken
  readonly args: ReadonlySet<string>
  /** Whether a list is written with commas. */
  isJoined: boolean
}

/** `{$args.id}` is `{id}`, `{$this.id}` an argument that is taken from the parent. Throws {@link Unsaid}. */
function toTemplate(text: string, speech: Speech): string {
  return literals(text).replaceAll(/(?<!\$)\{([^{}]*)\}/g, (_, expression: string) => {
    const [, variable = '', name = '', more = '', method = ''] =
      /^\s*\$(args|this)\.(\w+)((?:\.\w+)*)\s*(->.*)?\s*$/.exec(expression) ?? []
    if (variable === '')
      throw new Unsaid(`{${expression}} has no equivalent; write a resolver in a TypeScript config`)
    if (more !== '')
      throw new Unsaid(
        `{${expression}}: templates can use an argument or a field of the parent, but not a nested field; write a resolver in a TypeScript config`,
      )
    const isJoined = /^->\s*joinNotNull\(\s*["'],["']\s*\)\s*$/.test(method)
    if (method !== '' && !isJoined)
      throw new Unsaid(
        `{${expression}}: only the method ->joinNotNull(",") has an equivalent; write a resolver in a TypeScript config`,
      )
    speech.isJoined ||= isJoined
    return `{${take(variable === 'args', name, speech)}}`
  })
}

/** What is the same for every call: variables of the router's are those of the environment here. */
function literals(text: string): string {
  return withoutVariables(text).replaceAll(
    /\{\s*\$(?:env|config)\.(\w+)\s*\}/g,
    (_, name: string) => `\${${toVariable(name)}}`,
  )
}

function toVariable(name: string): string {
  return name.replaceAll(/([a-z\d])([A-Z])/g, '$1_$2').toUpperCase()
}

function headersOf(given: unknown): {
  headers: Record<string, string>
  forwarded: string[]
  notes: string[]
} {
  const found = { headers: {} as Record<string, string>, forwarded: [] as string[], notes: [] as string[] }
  for (const { name, from, value } of Array.isArray(given) ? (given as readonly Values[]) : []) {
    const header = String(name)
    const text = literals(String(value ?? ''))
    const sent = from ?? /^\{\s*\$request\.headers\.['"]?([\w-]+)['"]?->first\s*\}$/.exec(text)?.[1]
    if (typeof sent === 'string' && sent.toLowerCase() === header.toLowerCase())
      found.forwarded.push(sent.toLowerCase())
    else if (typeof sent === 'string')
      found.notes.push(
        `header ${header}: the client header ${sent} can only be forwarded under its own name; set ${header} in an interceptor in a TypeScript config`,
      )
    else if (/(?<!\$)\{/.test(text))
      found.notes.push(
        `header ${header}: the value ${text} has no equivalent; set the header in an interceptor in a TypeScript config`,
      )
    else found.headers[header] = text
  }
  return found
}

function paramsOf(given: unknown, speech: Speech): readonly (readonly [string, string])[] {
  if (typeof given !== 'string') return []
  return entriesOf(parseSelection(given), speech).map(([name, value]) => {
    if (typeof value === 'object')
      throw new Unsaid(`queryParams: ${name} is an object; query parameters can only be single values`)
    return [name, value] as const
  })
}

type Entry = readonly [name: string, template: string | readonly Entry[]]

/** Throws {@link Unsaid}. */
function bodyOf(given: unknown, speech: Speech, asForm: boolean): Pick<ConnectRequest, 'body' | 'input'> {
  if (typeof given !== 'string' || given.trim() === '') return { body: undefined, input: undefined }
  const selected = parseSelection(literalObject(given))
  const whole = wholeInput(selected)
  if (whole) {
    speech.taken.args.add(whole.arg)
    return { body: { arg: whole.arg, ...(asForm && { contentType: FORM }) }, input: whole.keys }
  }
  const entries = entriesOf(selected, speech)
  return { body: { template: asForm ? formOf(entries, '').join('&') : jsonOf(entries) }, input: undefined }
}

/** `$args.input`, `$args.input { a b: c }` and `a: $args.input.a b: $args.input.c` are one argument. */
function wholeInput(
  selected: readonly Selected[],
): { readonly arg: string; readonly keys: ReadonlyMap<string, string> | undefined } | undefined {
  const [only] = selected
  const arg = only?.path?.[0]
  if (arg === undefined || only?.variable !== 'args') return undefined
  if (
    selected.length === 1 &&
    only.path?.length === 1 &&
    only.name === undefined &&
    only.unsaid === undefined
  ) {
    if (!only.fields) return { arg, keys: undefined }
    const isPlain = only.fields.every(
      ({ name, path, fields, unsaid }) =>
        name !== undefined && path?.length === 1 && !fields && unsaid === undefined,
    )
    return isPlain
      ? { arg, keys: new Map(only.fields.map(({ name = '', path = [] }) => [path[0] ?? '', name])) }
      : undefined
  }
  const isOfOne = selected.every(
    ({ name, path, variable, fields, unsaid }) =>
      name !== undefined &&
      variable === 'args' &&
      path?.[0] === arg &&
      path.length === 2 &&
      !fields &&
      unsaid === undefined,
  )
  return isOfOne
    ? { arg, keys: new Map(selected.map(({ name = '', path = [] }) => [path[1] ?? '', name])) }
    : undefined
}

const FORM = 'application/x-www-form-urlencoded'

function isForm(headers: Readonly<Record<string, string>>): boolean {
  return Object.entries(headers).some(
    ([name, value]) => /^content-type$/i.test(name) && value.startsWith(FORM),
  )
}

/** `meta[note]={note}` for what is in an object. */
function formOf(entries: readonly Entry[], within: string): readonly string[] {
  return entries.flatMap(([name, value]) => {
    const key = within === '' ? name : `${within}[${name}]`
    return typeof value === 'string' ? [`${encodeURIComponent(key)}=${value}`] : formOf(value, key)
  })
}

/** `$({ a: $args.a })` is the same as `a: $args.a`. */
function literalObject(text: string): string {
  return /^\s*\$\(\s*\{(.*)\}\s*\)\s*$/s.exec(text)?.[1] ?? text
}

function jsonOf(entries: readonly Entry[]): string {
  const members = entries.map(
    ([name, value]) => `${JSON.stringify(name)}: ${typeof value === 'string' ? value : jsonOf(value)}`,
  )
  return `{ ${members.join(', ')} }`
}

function notComplete(variable: string, path: readonly string[]): Unsaid {
  const value = `$${[variable, ...path].join('.')}`
  return new Unsaid(
    `${value} in body or queryParams cannot be converted; expected a name and exactly one argument or field of the parent (no nested field), such as id: $args.id`,
  )
}

/** What is sent: names, and arguments or values of the parent. Throws {@link Unsaid}. */
function entriesOf(selected: readonly Selected[], speech: Speech): readonly Entry[] {
  return selected.flatMap(({ name, path = [], variable, fields, unsaid }): readonly Entry[] => {
    if (unsaid !== undefined)
      throw new Unsaid(
        `"${unsaid}" in body or queryParams has no equivalent; write a resolver in a TypeScript config`,
      )
    if (variable === undefined && fields && name !== undefined) return [[name, entriesOf(fields, speech)]]
    if (variable !== 'args' && variable !== 'this')
      throw new Unsaid(
        `"${name ?? path.join('.')}" in body or queryParams cannot be converted, because its value does not come from $args or $this; write a resolver in a TypeScript config`,
      )
    if (fields && path.length === 0 && name === undefined)
      return fields.map((one): Entry => {
        const [source = '', ...more] = one.path ?? []
        if (more.length > 0 || one.fields || one.unsaid !== undefined || one.name === undefined)
          throw notComplete(variable, one.path ?? [])
        return [one.name, `{${take(variable === 'args', source, speech)}}`]
      })
    const [source, ...more] = path
    if (source === undefined || more.length > 0 || fields || name === undefined)
      throw notComplete(variable, path)
    return [[name, `{${take(variable === 'args', source, speech)}}`]]
  })
}
