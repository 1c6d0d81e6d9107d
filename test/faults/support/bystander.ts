import { request, Agent } from 'node:http'
import { fileURLToPath } from 'node:url'
import { spawnProcess } from '@vinyasa/test-kit'

/** A process beside the one that is watched. Nobody attacks it. */
export interface Bystander {
  /** One request, on a connection that is kept. */
  ask(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** How long its answers take is how late the machine, and the process that asks, are. */
export async function startBystander(): Promise<Bystander> {
  const process_ = await spawnProcess({
    command: process.execPath,
    args: [fileURLToPath(new URL('./bystander.mjs', import.meta.url))],
    ready: /bystander: (\S+)/,
  })
  const url = process_.ready?.[1] ?? ''
  const agent = new Agent({ keepAlive: true })
  return {
    ask: () =>
      new Promise((resolve, reject) => {
        const sent = request(url, { agent }, (response) => {
          response.resume().once('end', resolve).once('error', reject)
        })
        sent.once('error', reject).end()
      }),
    async [Symbol.asyncDispose]() {
      agent.destroy()
      await process_[Symbol.asyncDispose]()
    },
  }
}
