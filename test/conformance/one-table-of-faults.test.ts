import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { sourceFilesUnder } from '@vinyasa/test-kit'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Whoever lists statuses, or kinds of failures, decides by itself what is a fault of an upstream. */
const DECIDES =
  /\bstatus\w* *(?:>=?|===|!==) *[45]\d\d\b|\[(?:[45]\d\d, *)+[45]\d\d\]|[[(][45]\d\d, *['"{A-Z]|^\s*[45]\d\d: |instanceof DeadlineExceeded \|\|/m

const MAY: Readonly<Record<string, string>> = {
  'packages/rest-connector/src/retry/faults.ts': 'It is the table.',
  'packages/grpc-transport/src/grpc/status.ts':
    'gRPC has a table of its own for answers of proxies, which become gRPC statuses.',
}

/** Whoever calls upstreams. */
const CALLERS =
  /^packages\/(?:source-kit|grpc-transport|grpc-source|rest-connector)\/|^apps\/gateway\/src\/sources\//

describe('what is the fault of an upstream stands in one table', () => {
  it.each([
    ['if (error instanceof BadStatus) return error.status >= 500', true],
    ['return [500, 502, 503, 504].includes(error.status)', true],
    ['const UNCLEAR: ReadonlySet<number> = new Set([408, 499])', true],
    ["  [503, 'SERVICE_UNAVAILABLE'],", true],
    ["  429: 'RATE_LIMITED',", true],
    ['(error instanceof DeadlineExceeded || isNetworkError(error)) && IDEMPOTENT.has(method)', true],
    ['return faultOf(error).isCounted', false],
    ['return refuseUpgrade(stream, 503)', false],
    ['const MAX_NESTING = 500', false],
  ])('%s: %s', (line, decides) => expect(DECIDES.test(line)).toBe(decides))

  it('for whoever asks', () => {
    const found = ['packages', 'apps']
      .flatMap((folder) => sourceFilesUnder(root, folder))
      .filter((file) => CALLERS.test(file))
      .filter((file) => DECIDES.test(readFileSync(`${root}/${file}`, 'utf8')))
    expect(found.filter((file) => !(file in MAY))).toEqual([])
    expect(Object.keys(MAY).filter((file) => !found.includes(file))).toEqual([])
  })
})
