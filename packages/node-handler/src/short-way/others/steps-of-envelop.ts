import { envelop, type Plugin } from 'graphql-yoga'
import type { Enveloped, Hook, ServerContext } from '../../yoga/yoga-5.ts'
import type { ShortWayPart } from '../part.ts'

/** Of Envelop's own steps, those before the execution. */
export type Preparing = Pick<Enveloped, 'parse' | 'validate' | 'contextFactory'>

/**
 * Envelop's steps before the execution, with the hooks of plugins that have no part: other people's and Yoga's own, its
 * memos of documents among them. What has been through the hooks of all plugins needs no more.
 */
export function envelopOthers(plugins: readonly unknown[]): (context: ServerContext) => Preparing {
  const members = plugins.map((plugin) => Object(plugin) as Readonly<Record<string, Hook>>)
  const others = members.filter(({ shortWay }) => !isPart(shortWay))
  const getEnveloped = envelop({
    plugins: others.map(
      ({ onParse, onValidate, onContextBuilding }) => ({ onParse, onValidate, onContextBuilding }) as Plugin,
    ),
  })
  return (context) => getEnveloped(context) as unknown as Preparing
}

function isPart(value: unknown): value is ShortWayPart {
  return typeof value === 'object' && value !== null
}
