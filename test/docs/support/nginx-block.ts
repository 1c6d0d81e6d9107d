import { findNginx, followLiveFrames, startNginx } from '@vinyasa/test-kit'
import { expect } from 'vitest'
import type { Story } from './story.ts'

/** The block stands in front of the gateway, and a live query over WebSocket and one over SSE go through it. */
export async function checkNginx(code: string, story: Story): Promise<void> {
  if (findNginx() === undefined && !process.env['CI']) {
    process.stderr.write('SKIPPED: nginx is not installed, so the page about it was not tested\n')
    return
  }
  const [, http = '', location = ''] =
    /^(.*?)server \{.*?location \/ \{(.*?)\n {2}\}/s.exec(story.placed(code)) ?? []
  if (!story.isServing) await story.start()
  await using nginx = await startNginx({ http, location })
  const address = `127.0.0.1:${nginx.port}/graphql`
  const query = 'query @live { listUsers { users { name } } }'

  const seen: unknown[] = []
  const leave = new AbortController()
  await followLiveFrames(`ws://${address}/live`, {
    query,
    onUpdate(update) {
      seen.push(update)
      leave.abort()
    },
    signal: leave.signal,
  })
  expect(seen).toHaveLength(1)

  const stop = new AbortController()
  const response = await fetch(`http://${address}?query=${encodeURIComponent(query)}`, {
    headers: { accept: 'text/event-stream' },
    signal: AbortSignal.any([stop.signal, AbortSignal.timeout(5000)]),
  })
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString()
    if (text.includes('"data"')) break
  }
  stop.abort()
  expect(text).toContain('Ada')
}
