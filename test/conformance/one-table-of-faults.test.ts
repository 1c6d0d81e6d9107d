import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { STATUS_NAMES } from '@vinyasa/grpc-transport'
import { sourceFilesUnder } from '@vinyasa/test-kit'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Whoever lists statuses, or kinds of failures, decides by itself what is a fault of an upstream. */
const DECIDES =
  /\bstatus\w* *(?:>=?|===|!==) *[45]\d\d\b|\[(?:[45]\d\d, *)+(?:[45]\d\d\]|\.\.\.)|[[(][45]\d\d, *['"{A-Z]|^\s*[45]\d\d: |instanceof DeadlineExceeded \|\|/m

const MAY: Readonly<Record<string, string>> = {
  'packages/rest-connector/src/retry/faults.ts': 'It is the table.',
  'packages/grpc-transport/src/grpc/status.ts':
    'gRPC has a table of its own for answers of proxies, which become gRPC statuses.',
}

/** Whoever lists gRPC statuses, or asks for one, decides by itself what it means. */
const NAMES = STATUS_NAMES.filter((name) => name !== 'OK' && name !== 'CANCELLED').join('|')
const DECIDES_OF_GRPC = new RegExp(
  `^\\s*(?:${NAMES}): |'(?:${NAMES})',\\s*'(?:${NAMES})'|\\b(?:status|reason|code)\\w* *[!=]== *'(?:${NAMES})'`,
  'm',
)

const MAY_OF_GRPC: Readonly<Record<string, string>> = {
  'packages/grpc-source/src/runtime/faults.ts': 'It is the table.',
  'packages/grpc-transport/src/status.ts': 'It has their numbers.',
  'packages/grpc-source/src/descriptors/reflection.ts':
    'A server that does not implement one version of reflection is asked for the other.',
}

/** Whoever calls upstreams. */
const CALLERS =
  /^packages\/(?:source-kit|grpc-transport|grpc-source|rest-connector)\/|^apps\/gateway\/src\/sources\//

const GRPC_CALLERS = /^packages\/grpc-|^apps\/gateway\/src\/sources\//

describe('what is the fault of an upstream stands in one table', () => {
  it.each([
    ['if (error instanceof BadStatus) return error.status >= 500', true],
    ['return [500, 502, 503, 504].includes(error.status)', true],
    ["retryStatuses: [425, ...statusesRepeated('any')],", true],
    ['const UNCLEAR: ReadonlySet<number> = new Set([408, 499])', true],
    ["  [503, 'SERVICE_UNAVAILABLE'],", true],
    ["  429: 'RATE_LIMITED',", true],
    ['(error instanceof DeadlineExceeded || isNetworkError(error)) && IDEMPOTENT.has(method)', true],
    ['return faultOf(error).isCounted', false],
    ['return refuseUpgrade(stream, 503)', false],
    ['const MAX_NESTING = 500', false],
  ])('%s: %s', (line, decides) => expect(DECIDES.test(line)).toBe(decides))

  it.each([
    ["  UNAVAILABLE: 'SERVICE_UNAVAILABLE',", true],
    ["new Set(['UNIMPLEMENTED', 'UNAUTHENTICATED'])", true],
    ["return error.status === 'UNAVAILABLE'", true],
    ["throw new GrpcCallError('UNAVAILABLE', 'it is away')", false],
    ["watched.end('INTERNAL', true)", false],
    ["[ErrorCode.REFUSED_STREAM]: ['UNAVAILABLE', 'the server refused the call'],", false],
    ['return FAULTS[status].isRetried', false],
  ])('%s: %s, of gRPC', (line, decides) => expect(DECIDES_OF_GRPC.test(line)).toBe(decides))

  it.each([
    ['for whoever asks of HTTP statuses', CALLERS, DECIDES, MAY],
    ['for whoever asks of gRPC statuses', GRPC_CALLERS, DECIDES_OF_GRPC, MAY_OF_GRPC],
  ])('%s', (_, callers, decides, may) => {
    const found = ['packages', 'apps']
      .flatMap((folder) => sourceFilesUnder(root, folder))
      .filter((file) => callers.test(file))
      .filter((file) => decides.test(readFileSync(`${root}/${file}`, 'utf8')))
    expect(found.filter((file) => !(file in may))).toEqual([])
    expect(Object.keys(may).filter((file) => !found.includes(file))).toEqual([])
  })
})
