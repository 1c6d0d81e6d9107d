import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitUntil } from '@vinyasa/test-kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startChild } from '../src/child.ts'

function start(program: string) {
  const folder = mkdtempSync(join(tmpdir(), 'demo-runner-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const script = join(folder, 'program.cjs')
  writeFileSync(script, program)
  const lines: string[] = []
  const child = startChild({
    name: 'x',
    script,
    env: { GIVEN: 'here' },
    ready: /up at (\S+)/,
    print: (line) => lines.push(line),
  })
  return { child, lines }
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('startChild', () => {
  it('gives the address of the ready line and prefixes all output', async () => {
    const { child, lines } = start(`console.log('up at ' + process.env.GIVEN); setInterval(() => {}, 1e6)`)
    expect(await child.address).toBe('here')
    expect(lines).toEqual(['x | up at here'])
    await child.stop(5_000)
    expect(await child.ended).toBe('was ended by SIGTERM')
  })

  it('tells how a program ended before it was ready', async () => {
    const { child } = start('process.exit(7)')
    await expect(child.address).rejects.toThrow('x exited with code 7')
  })

  it('ends a program that ignores SIGTERM, with the programs it started', async () => {
    const { child } = start(`
      process.on('SIGTERM', () => {})
      const { pid } = require('node:child_process').spawn('sleep', ['60'])
      console.log('up at ' + pid)
      setInterval(() => {}, 1e6)`)
    const grandchild = Number(await child.address)
    expect(isAlive(grandchild)).toBe(true)
    await child.stop(100)
    expect(await child.ended).toBe('was ended by SIGKILL')
    await waitUntil(() => !isAlive(grandchild))
  })
})
