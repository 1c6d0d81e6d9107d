/** One command of a block of shell. */
export interface Command {
  /** Variables before it: `NAME=value command`. */
  readonly environment: Readonly<Record<string, string>>
  readonly words: readonly string[]
  readonly text: string
}

/** The commands of a block, one after the other, without comments; those of `a && b` and `a &` for themselves. */
export function commandsOf(block: string): Command[] {
  const lines = block.replaceAll(/\\\n\s*/g, ' ').split('\n')
  const texts = lines
    .filter((line) => !/^\s*(#|$)/.test(line))
    .flatMap((line) => line.replace(/\s+# .*$/, '').split(/ && | &$/))
  return texts.filter((text) => text !== '').map((text) => commandOf(text.trim()))
}

function commandOf(text: string): Command {
  const words = (text.match(/(?:[^\s'"]|'[^']*'|"(?:[^"\\]|\\.)*")+/g) ?? []).map((word) =>
    word.replaceAll(/'([^']*)'|"((?:[^"\\]|\\.)*)"/g, (_, one?: string, two?: string) => one ?? two ?? ''),
  )
  const environment: Record<string, string> = {}
  while (/^\w+=/.test(words[0] ?? '')) {
    const [, name = '', value = ''] = /^(\w+)=(.*)$/s.exec(words.shift() ?? '') ?? []
    environment[name] = value
  }
  return { environment, words, text }
}

/** Commands that need a registry, a container engine or a cluster, or a test of their own. They are printed by the test, and not run. */
const ELSEWHERE: readonly RegExp[] = [
  /^npm (init|install|pkg) /,
  /^docker (build|run) /,
  /^kubectl (apply|create|rollout) /,
  /^helm (install|upgrade) /,
  /^(rover|router|npx hive-gateway) /,
  /^redis-server\b/,
  /^alias /,
  // Programs of the client pages run in the folder of the gateway.
  /^(mkdir|cd) client$/,
  /^npx -y pnpm@/,
  // cdc.test.ts does, with servers of its own.
  /^node follow-/,
]

export function isElsewhere({ text }: Command): boolean {
  return ELSEWHERE.some((pattern) => pattern.test(text))
}
