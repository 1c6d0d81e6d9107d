import type { Attack } from './attack.ts'
import { clients } from './clients.ts'

/** A client of the gateway asks a hostile backend, again and again; `how` tells the backend what to do. */
function backend(name: string, source: 'hostileGrpc' | 'hostileRest', how: string): Attack {
  const selected = source === 'hostileGrpc' ? ' { items { name } }' : ''
  return {
    name,
    run: (run) =>
      clients(4, run, async () => {
        const query = `query ($seed: Int!) { ${source}(how: "${how}", seed: $seed)${selected} }`
        const body = JSON.stringify({ query, variables: { seed: run.random.below(2 ** 31) } })
        const headers = { 'content-type': 'application/json' }
        const signal = AbortSignal.any([run.signal, AbortSignal.timeout(2_000)])
        const answer = fetch(`${run.target.url}/graphql`, { method: 'POST', headers, body, signal })
        await answer.then((response) => response.arrayBuffer()).catch(() => {})
      }),
  }
}

/** What backends do to a gateway, each for as long as it is asked. */
export const backendAttacks: readonly Attack[] = [
  backend('a gRPC backend sends frames of any kind', 'hostileGrpc', 'frames'),
  backend('a gRPC backend sends messages of any bytes', 'hostileGrpc', 'bytes'),
  backend('a gRPC backend sends a million empty items', 'hostileGrpc', 'empty'),
  backend('a gRPC backend sends ten thousand items', 'hostileGrpc', 'list'),
  backend('a gRPC backend sends an error message of 300 kB', 'hostileGrpc', 'message'),
  backend('a REST backend answers with anything', 'hostileRest', 'anything'),
  backend('a REST backend sends 4 MB of brackets', 'hostileRest', 'brackets'),
  backend('a REST backend sends ten thousand items', 'hostileRest', 'list'),
]
