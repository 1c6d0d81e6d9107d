import type { Random } from '@vinyasa/test-kit'

export interface Target {
  /** `http://127.0.0.1:<port>` of the gateway. */
  readonly url: string
  readonly host: string
  readonly port: number
}

export interface AttackRun {
  readonly target: Target
  readonly random: Random
  /** Ends the attack; whatever it opened is closed by then, or when its promise resolves. */
  readonly signal: AbortSignal
}

/** One thing that a client, or a backend, can do to the others. */
export interface Attack {
  readonly name: string
  /** Goes on until its signal ends it. */
  run(run: AttackRun): Promise<void>
}
