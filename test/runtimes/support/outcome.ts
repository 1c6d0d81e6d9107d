import type { Host, Start } from './host.ts'

/** What became of a plugin's example on a host: `answers`, or why it did not start. */
export async function outcomeOf(host: Host, start: Start): Promise<string> {
  let url: string
  try {
    url = await host.start(start)
  } catch (error) {
    return String(error)
  }
  await start.plugin.answers(url)
  if (host.sockets) await start.plugin.answersOverSocket?.(url)
  return 'answers'
}
