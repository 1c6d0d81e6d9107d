import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { constant } from 'fast-check'
import { Code } from '../config-file.ts'
import type { Feature, Value } from '../feature.ts'

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

const timesOf = (folder: string): number => {
  try {
    return readFileSync(join(folder, 'hooks'), 'utf8').length
  } catch {
    return 0
  }
}

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
      *observe({ sent }) {
        for (const { operations, way, answerHeaders } of sent) {
          for (const { answer, operation } of operations)
            if (answer.data && way !== 'multipart' && answer.extensions?.['house'] !== 'mine')
              yield `extensions of a plugin are missing: ${operation.name} by ${way}, ${answerHeaders.get('x-cache')}`
        }
      },
    },
  ],
}
