import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { run } from '../../apps/gateway/src/cli.ts'

const page = readFileSync(new URL('../../docs/gateway/commands.md', import.meta.url), 'utf8')

async function help(...args: string[]): Promise<string> {
  const out: string[] = []
  const print = (text: string): void => void out.push(text)
  const shutdown = new AbortController().signal
  await run([...args, '--help'], {
    directory: '/',
    environment: {},
    shutdown,
    reload: new EventTarget(),
    print,
    printError: print,
  })
  return out.join('\n')
}

const optionsIn = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, option = '']) => option.trim()).toSorted()

it('has a section for each command, with its options and none more', async () => {
  const commands = optionsIn(await help(), /^ {2}([a-z-]+) /gm).filter((name) => name !== 'help')
  const sections = new Map(
    page
      .split(/^## /m)
      .slice(1)
      .map((text) => [text.slice(0, text.indexOf('\n')), text]),
  )
  expect([...sections.keys()].toSorted()).toEqual(commands)
  for (const [name, text] of sections) {
    const options = optionsIn(await help(name), /^ {2}(-[^ ].*?) {2}/gm).filter(
      (one) => !one.includes('--help'),
    )
    expect(optionsIn(text, /^\| `(-[^`]+)`/gm)).toEqual(options)
  }
})
