/** What neighbours saw for a while. */
export interface Seen {
  readonly p99Ms: number
  /** How late the machine itself was: the same of a process that nobody attacks. */
  readonly machineMs: number
  readonly residentMb: number
  readonly asked: number
  readonly failed: number
}

/** An attack, with what was seen before, meanwhile, and ten seconds after it. */
export interface Round {
  readonly quiet: Seen
  readonly meanwhile: Seen
  readonly after: Seen
  /** How much of the processor time that the process wanted during attack and after it was given. */
  readonly share: number
}

/** Below it the machine's own noise is larger than what is asked. */
const LEAST_P99_MS = 10
const MOST_MORE_MB = 150
/** With less of a processor an attack that costs little is one that costs all there is. */
const LEAST_SHARE = 0.5

/** Whether its times say something. */
export const isJudged = ({ share }: Round): boolean => share >= LEAST_SHARE

/** In words, what of the last of these rounds was over its bound. */
export function boundsBroken(round: Round, rounds: readonly Round[]): string[] {
  const { meanwhile, after } = round
  const { p99Ms, residentMb: quietMb } = quietest(rounds)
  const broken: string[] = []
  const hold = (what: string, seen: number, bound: number): void => {
    if (!(seen < bound)) broken.push(`${what} ${seen.toFixed(0)}, not under ${bound.toFixed(0)}`)
  }
  hold('MB more', meanwhile.residentMb - quietMb, MOST_MORE_MB)
  hold('MB more afterwards', after.residentMb - quietMb, MOST_MORE_MB)
  if (!isJudged(round)) return broken
  hold("others' p99 in ms", meanwhile.p99Ms, 10 * Math.max(p99Ms, meanwhile.machineMs, LEAST_P99_MS / 2))
  hold("others' p99 afterwards", after.p99Ms, 3 * Math.max(p99Ms, after.machineMs, LEAST_P99_MS))
  return broken
}

export function quietest(rounds: readonly Round[]): Pick<Seen, 'p99Ms' | 'residentMb'> {
  return {
    p99Ms: Math.min(...rounds.map(({ quiet }) => quiet.p99Ms)),
    residentMb: Math.min(...rounds.map(({ quiet }) => quiet.residentMb)),
  }
}
