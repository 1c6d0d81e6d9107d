import { foreignMarks, verdictOf } from './judge.ts'
import type { Detour } from './known.ts'
import { CALLER_HEADERS } from './library.ts'
import type { Run, Sent, Violation } from './run.ts'

const short = (value: unknown): string => JSON.stringify(value ?? null).slice(0, 400)

/** What must hold of every run, whatever is on. */
export function judgeRun(run: Run): readonly Violation[] {
  return [
    ...answers(run),
    ...sharedCaches(run),
    ...backends(run),
    ...ending(run),
    ...start(run),
    ...known(run),
    ...run.said.map(({ feature, what }) => ({ rule: `${feature}: while it ran`, what })),
    ...run.drawn.flatMap(({ feature, value, piece }) =>
      [...(value.observe?.(run, piece) ?? [])].map((what) => ({
        rule: `${feature.name}: ${what.replace(/[:\d].*$/s, '')}`,
        what: `${feature.name}=${value.name}: ${what}`,
      })),
    ),
  ]
}

/** 1 to 3: answers are those of plain graphql-js, nobody sees another's, none is older than an answered mutation. */
function answers(run: Run): Violation[] {
  return [...run.sent, ...run.sentElsewhere].flatMap((sent) =>
    sent.isProbe
      ? []
      : sent.operations.flatMap((asked) => {
          const verdict = verdictOf(asked, sent, run)
          if (verdict === 'right') return []
          const expected = run.reference.answer(asked.operation, sent.user, run.states[asked.to] ?? NOTHING)
          return {
            rule: `answers: ${verdict}`,
            what:
              `${sent.user.name} asked${run.sentElsewhere.includes(sent) ? ' the second gateway' : ''} by ${sent.way}, ${asked.operation.name} ${short(asked.operation.variables)}: ` +
              `${verdict}, ${short(asked.answer)}; expected ${short(expected)} (${sent.answerHeaders.get('x-cache') ?? 'no cache'}, ${sent.status})`,
          }
        }),
  )
}

const NOTHING = { books: [], authors: [] }

/** 2: what a shared cache may keep of one answer, it may give to no one whom it does not fit. */
function sharedCaches(run: Run): Violation[] {
  const { sent, drawn } = run
  const kept = sent.filter(({ target, status }) => target !== undefined && status === 200).filter(isShared)
  return kept.flatMap((one) => {
    const names = (one.answerHeaders.get('vary') ?? '').split(',').map((name) => name.trim().toLowerCase())
    const isSameByVary = (other: Sent): boolean =>
      names.every((name) => name === '' || one.headers[name] === other.headers[name])
    return sent
      .filter((other) => other.target === one.target && other.user !== one.user && isSameByVary(other))
      .flatMap((other) => {
        const [asked] = one.operations
        if (!asked) return []
        const marks = foreignMarks(asked.answer, other.user, drawn)
        // Who is answered too may be given the same, or it is not theirs: what was computed for them alone is missing in it.
        const isAnswered = other.operations[0]?.answer.data !== undefined
        const isTheirs = !isAnswered || verdictOf(asked, { ...one, user: other.user }, run) === 'right'
        if (marks.length === 0 && isTheirs) return []
        const said = `${one.answerHeaders.get('cache-control')}, Vary: ${one.answerHeaders.get('vary')}`
        return {
          rule: 'shared cache',
          what: `a shared cache may give the answer to ${one.user.name} to ${other.user.name}: ${marks.join(' ') || 'what is theirs is missing'} (${said})`,
        }
      })
      .slice(0, 1)
  })
}

/** Whether a cache on the way may keep it (RFC 9111). */
function isShared({ answerHeaders, headers }: Sent): boolean {
  const control = (answerHeaders.get('cache-control') ?? '').toLowerCase()
  if (control === '' || /no-store|private/.test(control) || answerHeaders.get('vary') === '*') return false
  return headers['authorization'] === undefined || /public|s-maxage/.test(control)
}

/** 5: backends got each forwarded header once, as the one had it who asked, and no other. */
function backends({ grpcCalls, restRequests, reference, sent, sentElsewhere }: Run): Violation[] {
  const users = new Set([...sent, ...sentElsewhere].map(({ user }) => user))
  const shown = (kind: 'grpc' | 'rest'): Set<string> =>
    new Set(
      [...users].map((user) =>
        JSON.stringify(CALLER_HEADERS.map((name) => reference.seen(user, kind)(name) ?? null)),
      ),
    )
  const [ofGrpc, ofRest] = [shown('grpc'), shown('rest')]
  const found: Violation[] = []
  for (const { metadata, method } of grpcCalls) {
    if (!method.startsWith('library.')) continue
    const got = CALLER_HEADERS.map((name) => metadata[name]?.map(String) ?? [])
    const twice = Object.entries(metadata).find(
      ([name, values]) => values.length > 1 && name !== 'user-agent',
    )
    if (twice)
      found.push({ rule: 'backends: a header twice', what: `${method}: ${twice[0]}: ${short(twice[1])}` })
    else if (!ofGrpc.has(JSON.stringify(got.map(([value]) => value ?? null))))
      found.push({ rule: 'backends: headers of nobody', what: `${method}: ${short(got)}` })
  }
  for (const { rawHeaders, method, rawUrl, headers } of restRequests) {
    const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase())
    const twice = names.find((name, index) => names.indexOf(name) !== index)
    const got = CALLER_HEADERS.map((name) => headers[name]?.toString() ?? null)
    if (twice !== undefined)
      found.push({ rule: 'backends: a header twice', what: `${method} ${rawUrl}: ${twice}` })
    // Nothing is forwarded to a source that `forward` does not name.
    else if (method !== 'HEAD' && !rawUrl.startsWith('/forms/') && !ofRest.has(JSON.stringify(got)))
      found.push({ rule: 'backends: headers of nobody', what: `${method} ${rawUrl}: ${short(got)}` })
  }
  return found
}

const ENDS_WITHIN_MS = 5_000

/** 6: after SIGTERM what is under way is answered, the process ends, and its port is free. */
function* ending({ ending, row }: Run): Generator<Violation> {
  const { code, signal, ms, isListening, isLeft, underWay } = ending
  // A package manager that gets a signal ends by it.
  if (code !== 0 && row['launcher'] === 'node')
    yield { rule: 'end: code', what: `the process ended with ${code ?? signal}` }
  if (ms > ENDS_WITHIN_MS) yield { rule: 'end: late', what: `the process took ${ms} ms to end` }
  if (isLeft) yield { rule: 'end: left', what: 'a process of the gateway lives on' }
  if (isListening) yield { rule: 'end: port', what: 'the port is still taken' }
  if (!underWay?.data)
    yield { rule: 'end: under way', what: `what was under way was answered ${short(underWay)}` }
}

/** 7: `check` and the start say nothing against a config of which all holds. */
function* start({ check, linesAtStart, lines, row }: Run): Generator<Violation> {
  if (check && check.code !== 0)
    yield { rule: 'check', what: `check ended with ${check.code}: ${check.output}` }
  // On a busy machine a Redis that is there may not answer in time, which is said, and is no matter of the config.
  // What a pretty log says more of a thing stands on lines of its own.
  const said = linesAtStart.join('\n').split(/\n(?=[[{])/)
  const warning = said.find(
    (line) =>
      /"level":[456]0|WARN|ERROR/.test(line) &&
      !line.includes('Command timed out') &&
      !(row['resolvers'] === 'undeclared' && line.includes('are not cached because the request headers')),
  )
  if (warning !== undefined) yield { rule: 'start: warning', what: warning.slice(0, 500) }
  const fatal = lines.find((line) => /unhandled rejection|uncaught|"level":60/i.test(line))
  if (fatal !== undefined) yield { rule: 'logged', what: fatal.slice(0, 500) }
}

/** 8: what was asked before is not parsed and validated again, and takes the prepared path. */
function* known({ known, drawn, row }: Run): Generator<Violation> {
  const detours = new Set<Detour>(drawn.flatMap(({ value }) => value.enters ?? []))
  for (const { way, what, times, entered } of known) {
    if (what === 'literals' && detours.has('literals')) continue
    for (const phase of ['parse', 'validate'] as const)
      if (entered[phase] > 0 && !detours.has(phase))
        yield {
          rule: `known: ${phase}`,
          what: `known ${what} by ${way} entered ${phase}: ${entered[phase]} of ${times} times`,
        }
    // Yoga reads no id in the target of a GET, so that the prepared path does not know what is asked; and of workers one may
    // be asked by the hash each time, and the other one get the text.
    const isAside = way === 'id by get' || (way === 'apq' && row['workers'] !== '1')
    if (entered.prepared < times && !isAside && !detours.has('ordinary'))
      yield {
        rule: 'known: prepared path',
        what: `known ${what} by ${way} took the prepared path: ${entered.prepared} of ${times} times`,
      }
  }
}
