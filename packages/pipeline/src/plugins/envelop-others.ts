import type { DocumentNode, GraphQLSchema } from 'graphql'
import { envelop, type Plugin } from 'graphql-yoga'
import { yogasPlugins } from '@vinyasa/yoga-internals'
import type { Enveloped, Hook } from '../yoga.ts'
import { isBehaviour } from './others.ts'

/**
 * Envelop's parsing and validation, with the hooks of plugins without a behaviour: other people's and Yoga's own, its
 * memos of documents among them. What has been through the hooks of all plugins needs no more.
 */
export function envelopOthers(
  plugins: readonly unknown[],
): (context: object) => Pick<Enveloped, 'parse' | 'validate'> {
  const { documentCache } = yogasPlugins(plugins)
  const members = plugins.map((plugin) => Object(plugin) as Readonly<Record<string, Hook | undefined>>)
  const others = members.filter(({ behaviour }) => !isBehaviour(behaviour))
  const getEnveloped = envelop({
    plugins: others.map((plugin) => {
      const { onParse, onValidate } = plugin
      return {
        onParse,
        onValidate: onValidate && plugin === documentCache ? onceValid(onValidate) : onValidate,
      } as Plugin
    }),
  })
  return (context) => getEnveloped(context) as unknown as Enveloped
}

interface Validation {
  readonly params: {
    readonly schema: GraphQLSchema
    readonly documentAST: DocumentNode
    readonly rules?: readonly unknown[]
  }
  setResult(errors: readonly unknown[]): void
}

interface Validated {
  readonly result: readonly unknown[]
}

/** Yoga's memo of validations is asked by the names of all rules, and only where these rules did not find a document valid before. */
function onceValid(onValidate: Hook): Hook {
  const valid = new WeakMap<DocumentNode, Required<Pick<Validation['params'], 'schema' | 'rules'>>>()
  return (payload) => {
    const { params, setResult } = payload as Validation
    const { schema, documentAST, rules = [] } = params
    const before = valid.get(documentAST)
    if (before?.schema === schema && isSame(before.rules, rules)) return setResult([])
    const note = (errors: readonly unknown[]): void => {
      if (errors.length === 0) valid.set(documentAST, { schema, rules: [...rules] })
    }
    const set = (errors: readonly unknown[]): void => {
      note(errors)
      setResult(errors)
    }
    const after = onValidate({ ...payload, setResult: set }) as ((done: Validated) => unknown) | undefined
    return (
      after &&
      ((done: Validated) => {
        note(done.result)
        return after(done)
      })
    )
  }
}

function isSame(some: readonly unknown[], others: readonly unknown[]): boolean {
  return some.length === others.length && some.every((rule, index) => rule === others[index])
}
