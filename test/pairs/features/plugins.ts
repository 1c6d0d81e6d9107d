import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { constant } from 'fast-check'
import { pathToFileURL } from 'node:url'
import { repository } from '../../e2e/support/demo.ts'
import { Code } from '../config-file.ts'
import type { Feature, Value } from '../feature.ts'
import { idOf, knownTexts } from '../operations.ts'
import type { Answer } from '../run.ts'

/** A plugin that writes a letter into a file whenever it is called, and does nothing else. */
const hook = (name: string): NonNullable<Value['config']> => {
  return ({ folder }) => {
    const file = JSON.stringify(join(folder, 'hooks'))
    const write = `(await import('node:fs')).appendFileSync(${file}, '.')`
    return constant({
      plugins: [new Code(`Object.assign({ ${name}: async () => { ${write} } }, { readsHeaders: [] })`)],
    })
  }
}

const textOf = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '')
const timesOf = (folder: string): number => textOf(join(folder, 'hooks')).length
const linesOf = (file: string): readonly string[] =>
  textOf(file)
    .split('\n')
    .filter((line) => line !== '')

const WRAPPER = new URL('../instruments/wrapper.mjs', import.meta.url).href

/** One of Yoga's own plugins, as a config takes it from its package. */
function yogas(name: string, call: string): Code {
  const address = pathToFileURL(repository(`test/node_modules/@graphql-yoga/${name}/esm/index.js`)).href
  return new Code(`Object.assign((await import(${JSON.stringify(address)})).${call}, { readsHeaders: [] })`)
}

/** What is asked by hashes is theirs to know. */
const fitsTheirs: NonNullable<Value['fits']> = ({ apq = 'off', documents = 'off' }) =>
  apq === 'off' && documents === 'off'

export const plugin: Feature = {
  name: 'plugin',
  settings: ['plugins'],
  values: [
    { name: 'off' },
    {
      name: 'onResponse',
      config: hook('onResponse'),
      *observe({ folder, sent }) {
        // Probes of readiness and scrapes are requests too.
        const times = timesOf(folder)
        if (times < sent.length)
          yield `onResponse was called too seldom: ${times} times for ${sent.length} requests`
      },
    },
    {
      name: 'onExecute',
      // It may look at the values in documents.
      enters: ['literals'],
      config: hook('onExecute'),
      *observe({ folder, sent }) {
        const answered = sent.flatMap(({ operations }) => operations).filter(({ answer }) => answer.data)
        const times = timesOf(folder)
        if (times < answered.length)
          yield `onExecute was called too seldom: ${times} times for ${answered.length}`
      },
    },
    {
      name: 'extensions',
      enters: ['literals'],
      config: () =>
        constant({
          plugins: [
            new Code(`Object.assign({
      onExecute: () => ({
        onExecuteDone({ result, setResult }) {
          const add = (one) => ({ ...one, extensions: { ...one.extensions, house: 'mine' } })
          if (result && !(Symbol.asyncIterator in result)) setResult(add(result))
        },
      }),
    }, { readsHeaders: [] })`),
          ],
        }),
      *observe({ sent, kept }) {
        for (const { extensions } of (kept.get('live') ?? []) as readonly Answer[])
          if (extensions?.['house'] !== 'mine')
            yield `extensions of a plugin are missing in a live update: ${JSON.stringify(extensions)}`
        for (const { operations, way, answerHeaders } of sent) {
          for (const { answer, operation } of operations)
            if (answer.data && way !== 'multipart' && answer.extensions?.['house'] !== 'mine')
              yield `extensions of a plugin are missing: ${operation.name} by ${way}, ${answerHeaders.get('x-cache')}`
        }
      },
    },
    {
      name: "Yoga's apq",
      // It leaves the hash beside the text that it puts in.
      enters: ['ordinary'],
      fits: fitsTheirs,
      ways: ['apq'],
      config: () => constant({ plugins: [yogas('plugin-apq', 'useAPQ()')] }),
    },
    {
      name: "Yoga's documents",
      enters: ['literals', 'ordinary'],
      fits: fitsTheirs,
      ways: ['hash'],
      config: ({ kinds }) => {
        const texts = Object.fromEntries(knownTexts(kinds).map((text) => [idOf(text), text]))
        const call = `usePersistedOperations({ allowArbitraryOperations: true, getPersistedOperation: (hash) => (${JSON.stringify(texts)})[hash] ?? null })`
        return constant({ plugins: [yogas('plugin-persisted-operations', call)] })
      },
    },
    {
      name: 'wraps resolvers',
      config: ({ folder }) => {
        const file = JSON.stringify(join(folder, 'wrapped'))
        return constant({
          plugins: [new Code(`(await import(${JSON.stringify(WRAPPER)})).useWrapper(${file})`)],
        })
      },
      *observe({ folder }) {
        const lines = linesOf(join(folder, 'wrapped'))
        const twice = lines.filter((line) => line === 'twice').length
        if (lines.length === 0) yield 'no resolver is wrapped'
        if (twice > 0) yield `resolvers are wrapped twice: ${twice} calls of ${lines.length}`
      },
    },
  ],
}
