import { filled, type Note } from '../migration.ts'
import { type GatewayCode, inBrackets, lineAt, serverAt, withoutComments } from './code.ts'

const MIDDLEWARE =
  'middleware cannot be converted; list the headers that it forwards in forwardHeaders, and write the rest as a plugin'

/** Reads a `main.go`: which services it registers, where they are, and where it listens itself. */
export function readGoCode(code: string): GatewayCode {
  const text = withoutComments(code)
  const notes: Note[] = []
  const note = (at: number, what: string): void => void notes.push({ line: lineAt(text, at), text: what })
  const connections = connectionsIn(text)
  const services = new Set<string>()
  const endpoints = new Map<string, string>()
  for (const match of text.matchAll(/\bRegister(\w+?)Graphql(?:Handler)?\(/g)) {
    const [, service = ''] = match
    services.add(service)
    const [, connection = 'nil'] = inBrackets(text, match.index + match[0].length - 1).split(',')
    if (connection.trim() === 'nil') continue
    const address = connections.get(connection.trim())
    if (address === undefined)
      note(
        match.index,
        `${service}: found no literal address of the service in the code; set the address in endpoint or endpoints`,
      )
    else endpoints.set(service, address)
  }
  for (const match of text.matchAll(/\.NewServeMux\(|\.Use\(/g)) {
    const given = inBrackets(text, match.index + match[0].length - 1).trim()
    const others = given.replaceAll(/\b\w+\.Cors\(\)\s*,?/g, '').trim()
    if (others !== given) note(match.index, 'Cors(): list the allowed origins in graphql.cors')
    if (others !== '' && /runtime|mux/i.test(text.slice(match.index - 20, match.index)))
      note(match.index, `${others.replaceAll(/\s+/g, ' ').slice(0, 60)}: ${MIDDLEWARE}`)
  }
  for (const match of text.matchAll(/\.ErrorHandler\s*=/g))
    note(
      match.index,
      'ErrorHandler: code cannot be converted; the gateway logs errors, and any other error handling needs a plugin',
    )
  const [, listens] = /\bListenAndServe(?:TLS)?\(\s*"([^"]*)"/.exec(text) ?? []
  const [, path] = /\.Handle(?:Func)?\(\s*"([^"]*)"\s*,\s*\w*mux/i.exec(text) ?? []
  return {
    services: services.size === 0 ? undefined : services,
    endpoints,
    forwarded: [],
    settings: filled({
      server: listens === undefined ? undefined : serverAt(listens),
      graphql: filled({ path: path === '/graphql' ? undefined : path }),
    }),
    notes,
  }
}

/** `conn, err := grpc.Dial("users:50051", …)`: addresses by their variables. */
function connectionsIn(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const match of text.matchAll(/(\w+)\s*,\s*\w+\s*:?=\s*grpc\.(?:Dial|DialContext|NewClient)\(/g)) {
    const given = inBrackets(text, match.index + match[0].length - 1)
    const [, address] = /^\s*(?:\w+(?:\.\w+\(\))?\s*,\s*)?"([^"]*)"/.exec(given) ?? []
    if (address !== undefined)
      found.set(match[1] as string, /TLS|Cert/.test(given) ? `https://${address}` : address)
  }
  return found
}
