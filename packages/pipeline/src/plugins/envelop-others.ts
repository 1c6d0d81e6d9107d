import { envelop, type Plugin } from 'graphql-yoga'
import type { Enveloped, Hook } from '../yoga.ts'
import { isBehaviour } from './read-plugins.ts'

/**
 * Envelop's parsing and validation, with the hooks of plugins without a behaviour: other people's and Yoga's own, its
 * memos of documents among them. What has been through the hooks of all plugins needs no more.
 */
export function envelopOthers(
  plugins: readonly unknown[],
): (context: object) => Pick<Enveloped, 'parse' | 'validate'> {
  const members = plugins.map((plugin) => Object(plugin) as Readonly<Record<string, Hook>>)
  const others = members.filter(({ behaviour }) => !isBehaviour(behaviour))
  const getEnveloped = envelop({
    plugins: others.map(({ onParse, onValidate }) => ({ onParse, onValidate }) as Plugin),
  })
  return (context) => getEnveloped(context) as unknown as Enveloped
}
