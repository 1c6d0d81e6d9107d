import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

it('known documents take the bytes that they may, or somewhat less', async () => {
  const file = fileURLToPath(new URL('support/document-bytes.ts', import.meta.url))
  const flags = ['--expose-gc', '--import', 'jiti/register']
  const cwd = fileURLToPath(new URL('..', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, file], { cwd })
  const shares = Object.entries(JSON.parse(stdout) as Record<string, number>)
  expect(shares).toHaveLength(6)
  expect(shares.filter(([, share]) => !(share > 0.4 && share < 1.25))).toEqual([])
}, 120_000)
