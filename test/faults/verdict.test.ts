import { expect, it } from 'vitest'
import { boundsBroken, type Round, type Seen } from './support/verdict.ts'

const calm: Seen = { p99Ms: 4, machineMs: 1, residentMb: 100, asked: 400, failed: 0 }
const round = (meanwhile: Partial<Seen>, rest: Partial<Round> = {}): Round => ({
  quiet: calm,
  meanwhile: { ...calm, ...meanwhile },
  after: calm,
  share: 0.9,
  ...rest,
})
const broken = (...rounds: readonly Round[]): string[] => boundsBroken(rounds.at(-1)!, rounds)

it.each<[string, Round, string[]]>([
  ['nothing', round({}), []],
  ['a p99 of nine times the quiet one', round({ p99Ms: 45 }), []],
  ['a p99 of twelve times', round({ p99Ms: 60 }), ["others' p99 in ms 60, not under 50"]],
  ['the same where the machine itself was as late', round({ p99Ms: 60, machineMs: 7 }), []],
  [
    'ten times what the machine was late',
    round({ p99Ms: 80, machineMs: 7 }),
    ["others' p99 in ms 80, not under 70"],
  ],
  ['the same without half of a processor', round({ p99Ms: 6_000 }, { share: 0.4 }), []],
  [
    'memory, with however little of a processor',
    round({ residentMb: 251 }, { share: 0.1 }),
    ['MB more 151, not under 150'],
  ],
  [
    'a process that stays slow and large',
    round({}, { after: { ...calm, p99Ms: 31, residentMb: 260 } }),
    ['MB more afterwards 160, not under 150', "others' p99 afterwards 31, not under 30"],
  ],
  ['times that are none', round({ p99Ms: Number.NaN }), ["others' p99 in ms NaN, not under 50"]],
])('%s', (_, seen, expected) => {
  expect(broken(seen)).toEqual(expected)
})

it('what a round leaves behind excuses nothing in the next', () => {
  const slow = { ...calm, p99Ms: 40, residentMb: 200 }
  const second = round({ p99Ms: 60, residentMb: 260 }, { quiet: slow, after: calm })
  expect(broken(second)).toEqual([])
  expect(broken(round({}), second)).toEqual([
    'MB more 160, not under 150',
    "others' p99 in ms 60, not under 50",
  ])
})
