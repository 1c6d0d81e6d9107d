// Loaded before a program, by `house.ts`: says which of the project's files ran between two messages.
import { Session } from 'node:inspector/promises'
import { register } from 'node:module'

register('./strip-types.mjs', import.meta.url)

const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

process.on('message', async (message) => {
  if (message !== 'files that ran') return
  // Taking the coverage sets its counters to zero.
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const ran = result.filter(({ functions }) =>
    functions.some(({ functionName, ranges }) => functionName !== '' && ranges[0].count > 0),
  )
  const own = ran.map(({ url }) => url.match(/packages\/[^/]+\/src\/.*$/)?.[0]).filter(Boolean)
  process.send({ filesThatRan: own.sort() })
})
