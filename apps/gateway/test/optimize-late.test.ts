import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { optimizeLate, THRESHOLDS } from '../src/v8/optimize-late.ts'

describe('optimizeLate', () => {
  it.each([
    ['20.20.2', 'interrupt-budget', 67_584],
    ['22.23.3', 'invocation-count-for-turbofan', 3000],
  ])('lets Node %s compile eight times as late, until the gateway serves', (version, flag, usual) => {
    const flags: string[] = []
    const optimizeAsUsual = optimizeLate(version, (set) => flags.push(set))
    expect(flags).toEqual([`--${flag}=${usual * 8}`])
    optimizeAsUsual()
    expect(flags).toEqual([`--${flag}=${usual * 8}`, `--${flag}=${usual}`])
  })

  it.each(['24.21.0', '25.0.0', '2.0.0'])('leaves V8 of Node %s alone', (version) => {
    const flags: string[] = []
    optimizeLate(version, (set) => flags.push(set))()
    expect(flags).toEqual([])
  })

  const known = Object.entries(THRESHOLDS).filter(([major]) => process.version.startsWith(`v${major}.`))
  it.each(known)('goes back to what V8 of Node %s does by itself', (_, { flag, usual }) => {
    const options = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' })
    expect(options).toMatch(new RegExp(`default: --${flag}=${usual}$`, 'm'))
  })
})
