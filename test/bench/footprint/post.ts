import { request, type Agent } from 'node:http'

/** Sends JSON, and resolves with the text of the answer. */
export function post(url: string, body: object, agent: Agent): Promise<string> {
  const bytes = Buffer.from(JSON.stringify(body))
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': bytes.length }
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve(text))
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(bytes)
  })
}
