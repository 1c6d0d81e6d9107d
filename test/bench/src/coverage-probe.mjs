// Loaded before a program by `house.ts`. Reports which functions of the project's files ran between two messages.
import { Session } from 'node:inspector/promises'
import { register } from 'node:module'

register('./strip-types.mjs', import.meta.url)

const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

process.on('message', async (message) => {
  if (message !== 'code that ran') return
  // Taking the coverage sets its counters to zero.
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const ran = result.flatMap(({ url, functions }) => {
    const file = url.match(/packages\/[^/]+\/src\/.*$/)?.[0]
    // The function at offset 0 is the module itself.
    const count = functions.filter(({ ranges: [range] }) => range.startOffset > 0 && range.count > 0).length
    return file && count > 0 ? [{ file, functions: count }] : []
  })
  process.send({ codeThatRan: ran })
})
