import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { sourceFilesUnder } from '@vinyasa/test-kit'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Who may read the platform's time, and start its timers, without `@vinyasa/core`. */
const MAY: Readonly<Record<string, string>> = {
  'packages/core/src/time/clock.ts': 'It is the clock.',
  'packages/core/src/time/turns.ts': 'It measures how long the event loop was busy.',
  'apps/demo-runner/': 'It starts processes of the demo.',
  'apps/demo-shop/': 'It stands for a service of somebody else.',
  'apps/demo-users/': 'It stands for a service of somebody else.',
}

/** Not methods of other things, as `clock.setTimeout` and `socket.setTimeout` are. */
const OF_THE_PLATFORM =
  /(?<![.\w])setTimeout\s*[(,]|\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b|\bhrtime\b|timers\/promises|\bclock = Date\b/

function findIn(text: string): string[] {
  return text.split('\n').filter((line) => !/^\s*(\*|\/\/|\/\*)/.test(line) && findsTime(line))
}

function findsTime(line: string): boolean {
  return OF_THE_PLATFORM.test(line.replace(/import \{ setImmediate \} from 'node:timers\/promises'/, ''))
}

describe('there is one clock', () => {
  it.each([
    ['const at = Date.now()', true],
    ['now = () => performance.now()', true],
    ['clock = Date }', true],
    ['timer = setTimeout(end, 5)', true],
    ["import { setImmediate, setTimeout } from 'node:timers/promises'", true],
    ['const date = new Date()', true],
    ['clock.setTimeout(end, 5)', false],
    ['socket.setTimeout(0)', false],
    ['currentDate: new Date(clock.wallNow())', false],
    ["import { setImmediate } from 'node:timers/promises'", false],
  ])('%s: %s', (line, isTime) => expect(findIn(line)).toEqual(isTime ? [line] : []))

  it.each(['packages', 'apps'])('%s read the time by it alone', (folder) => {
    const files = sourceFilesUnder(root, folder)
    expect(files.length).toBeGreaterThan(20)
    const found = files
      .filter((file) => !Object.keys(MAY).some((place) => file.startsWith(place)) && !file.includes('/gen/'))
      .flatMap((file) =>
        findIn(readFileSync(`${root}/${file}`, 'utf8')).map((line) => `${file}: ${line.trim()}`),
      )
    expect(found).toEqual([])
  })
})
