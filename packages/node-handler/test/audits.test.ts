import { serverAudits } from 'graphql-http'
import { describe, expect, it } from 'vitest'
import { openDoors } from './doors.ts'

describe.each(['yoga', 'thin'] as const)('graphql-http audits through the door "%s"', (door) => {
  const audits = serverAudits({ url: () => currentUrl, fetchFn: fetch })
  let currentUrl = ''

  it('are 61', () => {
    expect(audits).toHaveLength(61)
  })

  it.each(audits.map((audit) => [audit.id, audit.name, audit] as const))(
    '%s: %s',
    async (_id, _name, audit) => {
      const doors = await openDoors()
      currentUrl = `${doors[door]}/graphql`
      const result = await audit.fn()
      expect(result.status === 'ok' ? 'ok' : `${result.status}: ${result.reason}`).toBe('ok')
    },
  )
})
