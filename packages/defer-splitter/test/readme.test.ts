import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { createDisposables, requestMultipart } from '@vinyasa/test-kit'
import { createSchema, createYoga } from 'graphql-yoga'
import { expect, it, onTestFinished } from 'vitest'
import { resolveOptions } from '../src/options.ts'
import * as publicSurface from '../src/index.ts'
import { listen } from './support/listen.ts'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
const { useDeferSplitter } = publicSurface

it('the example runs and answers as it says', async () => {
  const [, example = ''] = /```ts\n(.*?)```/s.exec(readme) ?? []
  let listener: RequestListener | undefined
  const createServer = (given: RequestListener) => {
    listener = given
    return { listen: () => undefined }
  }
  // The imports are handed in; the rest is the text of the README.
  const code = example.replaceAll(/^import .*$/gm, '')
  new Function('createServer', 'createSchema', 'createYoga', 'useDeferSplitter', code)(
    createServer,
    createSchema,
    createYoga,
    useDeferSplitter,
  )
  if (!listener) throw new Error('the example does not listen')
  const url = await listen(listener, createDisposables(onTestFinished))
  const [, query = ''] = /-d '(.*)'/.exec(readme) ?? []
  const response = await requestMultipart(`${url}/defer`, { body: JSON.parse(query) })
  const parts = await response.allParts()
  const [, , shown = ''] = /```\n(---\n.*?)```/s.exec(readme)?.[1]?.match(/()(.*)/s) ?? []
  const bodies = shown.split('\n').filter((line) => line.startsWith('{'))
  expect(parts.map(({ text }) => text)).toEqual(bodies)
  expect((parts[1]?.at ?? 0) - (parts[0]?.at ?? 0)).toBeGreaterThan(300)
})

it('names every option and its default', () => {
  const { clock: _, maxPatches, ...defaults } = resolveOptions()
  expect(readme).toContain(`than ${maxPatches.toLocaleString('fr').replace(/\s/u, ' ')} patches`)
  const rows = readme.split('\n').map((line) => line.replaceAll(' ', ''))
  const missing = Object.entries(defaults).filter(([name, value]) => {
    const shown = typeof value === 'number' ? `${value}|` : ''
    return !rows.some((row) => row.startsWith(`|\`${name}\`|${shown}`))
  })
  expect(missing).toEqual([])
})
