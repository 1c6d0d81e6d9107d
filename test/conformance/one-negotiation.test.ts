import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { sourceFilesUnder } from '@vinyasa/test-kit'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Whoever looks into an Accept header by itself forgets the qualities, or the case of letters. */
const READS_BY_ITSELF = /\baccept(?:'\))?\??\.(?:includes|split|startsWith|match|indexOf)\(/i

const MAY: Readonly<Record<string, string>> = {
  'packages/core/src/accept.ts': 'It is the one that reads it.',
  'packages/defer-splitter/src/wire/accept.ts':
    'Which of the two JSON types is written, of clients that were found to take JSON.',
  'packages/node-handler/src/create-node-handler.ts': 'Sends requests for pages to Yoga, unread.',
}

describe('Accept is read in one place', () => {
  it.each([
    ["headers.get('accept')?.includes('text/event-stream')", true],
    ["accept.split(',')", true],
    ['parseAccept(accept)', false],
  ])('%s: %s', (line, reads) => expect(READS_BY_ITSELF.test(line)).toBe(reads))

  it('by whoever asks', () => {
    const found = ['packages', 'apps']
      .flatMap((folder) => sourceFilesUnder(root, folder))
      .filter((file) => !(file in MAY) && READS_BY_ITSELF.test(readFileSync(`${root}/${file}`, 'utf8')))
    expect(found).toEqual([])
  })
})
