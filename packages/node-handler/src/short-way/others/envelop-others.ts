import { envelop, type Plugin } from 'graphql-yoga'
import type { Enveloped, Hook, ServerContext } from '../../yoga/yoga-5.ts'
import type { ShortWayPart } from '../part.ts'

/**
 * Envelop's parsing and validation, with the hooks of plugins that have no part: other people's and Yoga's own, its
 * memos of documents among them. What has been through the hooks of all plugins needs no more.
 */
export function envelopOthers(
  plugins: readonly unknown[],
): (context: ServerContext) => Pick<Enveloped, 'parse' | 'validate'> {
  const members = plugins.map((plugin) => Object(plugin) as Readonly<Record<string, Hook>>)
  const others = members.filter(({ shortWay }) => !isPart(shortWay))
  const getEnveloped = envelop({
    plugins: others.map(({ onParse, onValidate }) => ({ onParse, onValidate }) as Plugin),
  })
  return (context) => getEnveloped(context) as unknown as Enveloped
}

function isPart(value: unknown): value is ShortWayPart {
  return typeof value === 'object' && value !== null
}
