import { ReadableStream } from 'node:stream/web'
import { backgroundClock, sleep } from '@vinyasa/base'
import type { Plugin } from 'graphql-yoga'
import { rememberBriefly } from '../http/probes.ts'
import { readStatusPage } from './page.ts'

const PAGE = '/status'
const LIVE = '/status/live'
/** Figures are compared this often while somebody looks, and read for all who look together. */
const INTERVAL_MS = 1000

/** Serves the status page, and the events that feed it: the figures, each time that they have changed. */
export function useStatusPage(readFigures: () => Promise<object>): Plugin {
  const { html, headers } = readStatusPage()
  const read = rememberBriefly(async () => JSON.stringify(await readFigures()), INTERVAL_MS / 2)

  async function* events(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const encoder = new TextEncoder()
    for (let last = ''; !signal.aborted; await sleep(backgroundClock, INTERVAL_MS, signal)) {
      const figures = await read()
      if (figures !== last) yield encoder.encode(`data: ${figures}\n\n`)
      last = figures
    }
  }

  return {
    onRequest({ request, url, fetchAPI: { Response }, endResponse }) {
      const { pathname } = url
      if (pathname !== PAGE && pathname !== LIVE) return
      const isRead = request.method === 'GET' || (request.method === 'HEAD' && pathname === PAGE)
      if (!isRead)
        endResponse(
          new Response(null, { status: 405, headers: { allow: pathname === PAGE ? 'GET, HEAD' : 'GET' } }),
        )
      else if (pathname === PAGE) endResponse(new Response(html, { headers }))
      // Its own pages only, of which browsers say no origin: another site's learns nothing of this gateway.
      else if (request.headers.has('origin')) endResponse(new Response(null, { status: 403 }))
      else {
        const stream = ReadableStream.from(events(request.signal))
        const own = { 'content-type': 'text/event-stream', 'cache-control': 'no-store' }
        endResponse(new Response(stream as unknown as BodyInit, { headers: own }))
      }
    },
  }
}
