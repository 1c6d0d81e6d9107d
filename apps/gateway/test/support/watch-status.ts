import { onTestFinished } from 'vitest'

/** What the status page is told, each time it changes, until the test ends. */
export async function watchStatus(url: string): Promise<{ next(): Promise<any> }> {
  const leaving = new AbortController()
  onTestFinished(() => leaving.abort())
  const { body } = await fetch(`${url}/status/live`, { signal: leaving.signal })
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  return {
    async next() {
      while (!text.includes('\n\n')) text += (await reader.read()).value
      const [event = '', ...rest] = text.split('\n\n')
      text = rest.join('\n\n')
      return JSON.parse(event.replace(/^data: /, ''))
    },
  }
}
