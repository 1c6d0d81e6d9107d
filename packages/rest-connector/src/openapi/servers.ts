import { RestConfigError } from '../errors.ts'
import { asList, asNode, asText, type Node } from './openapi-document.ts'

/** Selects the address of an API from its document. */
export interface ServerOptions {
  /** The server of the document, by index from 0, name, description or URL. Default: the first. */
  readonly server?: number | string | undefined
  /** Values of server variables. The environment is not read. Default: the document's. */
  readonly variables?: Readonly<Record<string, string>> | undefined
}

export interface ServerPlace extends ServerOptions {
  /** The URL of the document. Servers can be relative to it. */
  readonly documentUrl?: string | undefined
}

/** Returns the address of the selected server, or undefined if the node has no servers. */
export function serverUrlOf(node: Node, place: ServerPlace): string | undefined {
  const servers = asList(node['servers']).map(asNode)
  if (servers.length === 0) return undefined
  return urlOf(chosen(servers, place.server), place)
}

function chosen(servers: readonly Node[], wanted: number | string | undefined): Node {
  const byName = (server: Node): boolean =>
    ['name', 'description', 'url'].some((key) => asText(server[key]) === wanted)
  const found =
    wanted === undefined ? servers[0] : typeof wanted === 'number' ? servers[wanted] : servers.find(byName)
  if (found) return found
  const known = servers.map((server, index) => `${index} (${asText(server['url'])})`).join(', ')
  throw new RestConfigError(`the document has no server ${JSON.stringify(wanted)}; its servers are ${known}`)
}

function urlOf(server: Node, { variables = {}, documentUrl }: ServerPlace): string {
  const declared = asNode(server['variables'])
  const url = (asText(server['url']) ?? '/').replace(/\{([^{}]+)\}/g, (_, name: string) => {
    const { default: fallback, enum: values } = asNode(declared[name])
    const own = Object.hasOwn(variables, name) ? variables[name] : undefined
    const value = own ?? asText(fallback)
    if (value === undefined)
      throw new RestConfigError(`the server variable "${name}" has no value; set "${name}" in variables`)
    const allowed = asList(values)
    if (allowed.length > 0 && !allowed.includes(value))
      throw new RestConfigError(
        `the server variable "${name}" is "${value}"; expected one of ${allowed.join(', ')}`,
      )
    return value
  })
  // An empty reference would be the document itself. The API is in its folder.
  const relative = url === '' ? '.' : url
  if (URL.canParse(relative, documentUrl))
    return new URL(relative, documentUrl).href.replace(/(?<!\/)\/+$/, '')
  if (documentUrl !== undefined || /^[a-z][a-z0-9+.-]*:/i.test(url))
    throw new RestConfigError(`the server "${url}" is not a valid URL; set baseUrl to the URL of the server`)
  throw new RestConfigError(
    `the server "${url}" is a relative URL, but the URL of the document is unknown; set baseUrl to the URL of the server`,
  )
}
