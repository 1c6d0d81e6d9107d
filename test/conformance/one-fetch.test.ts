import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { sourceFilesUnder } from '@vinyasa/test-kit'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The files that can request something over HTTP by the platform, each with the reason. */
const MAY: Readonly<Record<string, string>> = {
  'packages/core/src/http/bounded-fetch.ts': 'It bounds bytes, time and redirects.',
  'packages/rest-connector/src/http/client/fetch-client.ts':
    'It is the transport of backend calls where there is no Node, with bounds of its own.',
  'packages/rest-connector/src/http/client/undici-client.ts': 'It is the transport of backend calls in Node.',
}

/** Calls and references, but no methods, and no local functions of that name. */
const FETCHES =
  /(?<![.\w'`"-])fetch\((?!until\b|request: Request)|(?:globalThis|window|self)\.fetch\b(?! \| undefined)|\bnode:https?'\)|(?:https?|http2)\.(?:get|request)\(|\bimport\('undici'\)|\bfrom 'undici'/

function findIn(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => !/^\s*(\*|\/\/|\/\*)|^import type /.test(line) && FETCHES.test(line))
}

describe('every request goes through one function, with bounds of bytes, time and redirects', () => {
  it.each([
    ['const { body } = await fetch(url)', true],
    ['  return fetch(url, { signal })', true],
    ['load = (url) => fetch(url)', true],
    ['const { fetch = globalThis.fetch } = options', true],
    ["const { get } = await import('node:https')", true],
    ['https.get(url, done)', true],
    ['await boundedFetch(url, bounds)', false],
    ['fetch: async (request) => yoga.fetch(request),', false],
    ['  readonly fetch?: typeof globalThis.fetch | undefined', false],
  ])('%s: %s', (line, is) => expect(findIn(line)).toEqual(is ? [line] : []))

  it('that of the base', () => {
    const files = ['packages', 'apps/gateway'].flatMap((folder) => sourceFilesUnder(root, folder))
    expect(files.length).toBeGreaterThan(300)
    const found = files
      .filter((file) => !(file in MAY) && !file.endsWith('.d.ts'))
      .flatMap((file) =>
        findIn(readFileSync(`${root}/${file}`, 'utf8')).map((line) => `${file}: ${line.trim()}`),
      )
    expect(found).toEqual([])
    for (const file of Object.keys(MAY))
      expect(findIn(readFileSync(`${root}/${file}`, 'utf8'))).not.toEqual([])
  })
})
