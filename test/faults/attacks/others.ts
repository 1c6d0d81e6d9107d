import { request, Agent } from 'node:http'

/** Clients that do nothing but ask what they know the answer of. */
export interface Others {
  /** Whether one request was answered as the model says. */
  ask(): Promise<boolean>
  /** What was answered instead, or why nothing was. */
  readonly wrong: readonly string[]
}

const QUERY = 'query ($id: String!) { user(id: $id) { id name } getProduct(id: "1") { id name price } }'
const USERS = 50
/** Long, as a machine may be busy: who measures times has bounds of their own. */
const PATIENCE_MS = 30_000

/**
 * Reads the model while all is quiet: every answer later must be the same, byte for byte. Every seventh request comes on
 * a connection of its own.
 */
export async function meetOthers(url: string): Promise<Others> {
  const kept = new Agent({ keepAlive: true })
  const model = new Map<string, string>()
  const wrong: string[] = []
  for (let user = 1; user <= USERS; user++) {
    const text = await answer(url, String(user), kept)
    if (!text.startsWith(`200 {"data":{"user":{"id":"${user}"`)) throw new Error(`unexpected: ${text}`)
    model.set(String(user), text)
  }
  let asked = 0
  return {
    wrong,
    async ask() {
      const id = String((asked % USERS) + 1)
      const agent = asked++ % 7 === 0 ? false : kept
      const text = await answer(url, id, agent).catch(String)
      if (text === model.get(id)) return true
      wrong.push(text.slice(0, 300))
      return false
    },
  }
}

function answer(url: string, id: string, agent: Agent | false): Promise<string> {
  const body = JSON.stringify({ query: QUERY, variables: { id } })
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  return new Promise((resolve, reject) => {
    const sent = request(
      `${url}/graphql`,
      { method: 'POST', headers, agent, timeout: PATIENCE_MS },
      (response) => {
        let text = `${response.statusCode} `
        response.setEncoding('utf8').on('data', (part: string) => (text += part))
        response.once('end', () => resolve(text)).once('error', reject)
      },
    )
    sent
      .once('timeout', () => sent.destroy(new Error(`no answer in ${PATIENCE_MS} ms`)))
      .once('error', reject)
    sent.end(body)
  })
}
