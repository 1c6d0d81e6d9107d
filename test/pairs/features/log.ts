import { constant } from 'fast-check'
import type { Feature } from '../feature.ts'
import type { Run } from '../run.ts'

interface Line {
  readonly msg?: string
  readonly id?: string
  readonly path?: string
  readonly status?: number
}

function* observeJson({ lines, sent, path }: Run): Generator<string> {
  const logged = new Map<string, Line[]>()
  for (const text of lines.filter((line) => line.startsWith('{'))) {
    const line = JSON.parse(text) as Line
    if (line.msg !== 'request' || line.path !== path || line.id === undefined) continue
    logged.set(line.id, [...(logged.get(line.id) ?? []), line])
  }
  for (const { id, status, operations } of sent) {
    const found = logged.get(id) ?? []
    const name = operations[0]?.operation.name
    if (found.length !== 1) yield `lines of one request in the log: ${found.length} of ${id}, ${name}`
    else if (found[0]?.status !== status)
      yield `another status in the log: ${found[0]?.status}, not ${status}`
  }
}

export const log: Feature = {
  name: 'log',
  settings: ['log'],
  values: [
    {
      name: 'silent',
      config: () => constant({ log: { level: 'silent' } }),
      *observe({ lines, row }) {
        // The first process of several has a log of its own, and so has a package manager.
        if (lines.length > 0 && row['workers'] === '1' && row['launcher'] === 'node')
          yield `a silent log has lines: ${lines[0]}`
      },
    },
    {
      name: 'json',
      config: () => constant({ log: { level: 'info', format: 'json' } }),
      observe: observeJson,
    },
    {
      name: 'pretty',
      config: () => constant({ log: { level: 'info', format: 'pretty' } }),
      *observe({ lines, sent }) {
        for (const { id } of sent) {
          const times = lines.filter((line) => line.split(/[^\w-]/).includes(id)).length
          if (times < 1) yield `a request has no lines in the log: ${id}`
        }
      },
    },
  ],
}
