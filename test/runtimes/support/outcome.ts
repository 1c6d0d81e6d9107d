import type { Disposables } from '@vinyasa/test-kit'
import type { Host } from './hosts.ts'
import type { Backends, Plugin } from './plugins.ts'

/** What became of a plugin's example on a host: `answers`, or why it did not start. */
export async function outcomeOf(
  host: Host,
  plugin: Plugin,
  where: { readonly installed: string; readonly backends: Backends; readonly disposables: Disposables },
): Promise<string> {
  const { installed, backends, disposables } = where
  let url: string
  try {
    url = await host.start({ installed, plugin, code: plugin.code(backends), disposables })
  } catch (error) {
    return String(error)
  }
  await plugin.answers(url)
  if (host.sockets) await plugin.answersOverSocket?.(url)
  return 'answers'
}
