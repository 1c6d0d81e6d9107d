import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import autocannon from 'autocannon'
import type { BenchRequest } from './types.ts'

const run = promisify(execFile)

export interface LoadOptions {
  readonly seconds: number
  readonly connections: number
}

export interface LoadResult {
  readonly requests: number
  /** Connections that failed. */
  readonly errors: number
  /** Answers with a status that is none of success. */
  readonly refusals: number
  readonly requestsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/** Sends one request over and over, each time with its next number. */
export interface LoadGenerator {
  readonly name: string
  send(origin: string, request: BenchRequest, options: LoadOptions): Promise<LoadResult>
}

const REPORT = `
done = function(summary, latency)
  local e = summary.errors
  io.write(string.format('RESULT {"requests":%d,"errors":%d,"refusals":%d,"micros":%d,"p50":%d,"p99":%d}\\n', summary.requests,
    e.connect + e.read + e.write + e.timeout, e.status, summary.duration, latency:percentile(50), latency:percentile(99)))
end
`

function luaString(text: string): string {
  const bytes = [...Buffer.from(text)].map((byte) => `\\${byte.toString().padStart(3, '0')}`)
  return `"${bytes.join('')}"`
}

const NUMBER = '{n}'

/** The body of the request with this number. */
export function bodyOf({ body }: BenchRequest, number: number): string {
  return body.replaceAll(NUMBER, String(number))
}

/** The path of the request with this number. */
export function pathOf({ path }: BenchRequest, number: number): string {
  return path.replaceAll(NUMBER, String(number))
}

/** The headers of a request, its content type among them. */
export function headersOf({ method, headers }: BenchRequest): Readonly<Record<string, string>> {
  return method === 'GET' ? { ...headers } : { 'content-type': 'application/json', ...headers }
}

function luaScript(request: BenchRequest): string {
  const { method = 'POST', path, body, numbers } = request
  const lines = Object.entries(headersOf(request)).map(
    ([name, value]) => `wrk.headers[${luaString(name)}] = ${luaString(value)}`,
  )
  lines.unshift(`wrk.method = ${luaString(method)}`)
  const text = method === 'GET' ? path : body
  if (!text.includes(NUMBER)) {
    if (method === 'POST') lines.push(`wrk.body = ${luaString(body)}`)
    return [...lines, REPORT].join('\n')
  }
  const next = numbers === undefined ? 'n + 1' : `n % ${numbers} + 1`
  const parts = text.split(NUMBER).map(luaString).join(' .. n .. ')
  // A round does not begin where others did: what comes once, or seldom, does so in all rounds together.
  const first = Math.floor(Math.random() * (numbers ?? 1e9))
  return [
    ...lines,
    `local n = ${first}`,
    `function request() n = ${next} return wrk.format(nil, ${method === 'GET' ? parts : `nil, nil, ${parts}`}) end`,
    REPORT,
  ].join('\n')
}

/** wrk, in C: it takes the least from a server that it shares a machine with. */
const wrk: LoadGenerator = {
  name: 'wrk',
  async send(origin, request, { seconds, connections }) {
    const folder = await mkdtemp(join(tmpdir(), 'vinyasa-bench-'))
    try {
      const script = join(folder, 'request.lua')
      await writeFile(script, luaScript(request))
      const { stdout } = await run('wrk', [
        '-t1',
        `-c${connections}`,
        `-d${seconds}s`,
        '-s',
        script,
        `${origin}${pathOf(request, 1)}`,
      ])
      const found = /RESULT (\{.*\})/.exec(stdout)?.[1]
      if (!found) throw new Error(`wrk printed no result:\n${stdout}`)
      const result = JSON.parse(found) as Record<
        'requests' | 'errors' | 'refusals' | 'micros' | 'p50' | 'p99',
        number
      >
      return {
        requests: result.requests,
        errors: result.errors,
        refusals: result.refusals,
        requestsPerSecond: result.requests / (result.micros / 1e6),
        p50Ms: result.p50 / 1000,
        p99Ms: result.p99 / 1000,
      }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
}

/** autocannon, from the registry: for machines without wrk. */
const cannon: LoadGenerator = {
  name: 'autocannon',
  async send(origin, request, { seconds, connections }) {
    let number = Math.floor(Math.random() * (request.numbers ?? 1e9))
    const nextBody = (): string => {
      number = request.numbers === undefined ? number + 1 : (number % request.numbers) + 1
      return bodyOf(request, number)
    }
    const result = await autocannon({
      url: `${origin}${pathOf(request, 1)}`,
      method: request.method ?? 'POST',
      ...(request.method !== 'GET' && request.body.includes(NUMBER)
        ? { requests: [{ setupRequest: (given) => ({ ...given, body: nextBody() }) }] }
        : request.method !== 'GET' && { body: request.body }),
      headers: headersOf(request),
      duration: seconds,
      connections,
    })
    return {
      requests: result.requests.total,
      errors: result.errors,
      refusals: result.non2xx,
      requestsPerSecond: result.requests.average,
      p50Ms: result.latency.p50,
      p99Ms: result.latency.p99,
    }
  },
}

export async function findLoadGenerator(): Promise<LoadGenerator> {
  const answered = await run('wrk', ['-v']).then(
    () => true,
    // It prints its version and exits with 1.
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  )
  return answered ? wrk : cannon
}
