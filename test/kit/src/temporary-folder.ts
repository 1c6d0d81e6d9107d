import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

type OnEnd = (remove: () => Promise<void>) => void

/**
 * Creates an empty folder and removes it at the end of the test. For the end of a file, pass `afterAll` as `onEnd`, but not
 * inside a hook: there, pass the `use` of disposables that the suite created.
 */
export async function temporaryFolder(name: string, onEnd: OnEnd = onTestFinished): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `vinyasa-${name}-`))
  onEnd(() => rm(folder, { recursive: true, force: true }))
  return folder
}
