import { constant, constantFrom, record } from 'fast-check'
import type { Piece } from '../config-file.ts'
import type { Feature, Session } from '../feature.ts'
import { WATCHED } from '../operations.ts'
import { type User, USERS } from '../users.ts'

/** A backend changes by itself and says so: from then on nobody sees what was before. */
async function announce(session: Session, piece: Piece): Promise<void> {
  const { invalidate } = piece as { invalidate: { secret: string } }
  await session.ask(USERS[0] as User, WATCHED)
  session.rename('1', 'changed by the backend')
  const events = [{ entityType: 'Book', operation: 'update', entityId: '1' }]
  const tell = (given: string): Promise<Response> =>
    fetch(`${session.url}/invalidate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-invalidate-secret': given },
      body: JSON.stringify(events),
    })
  const refused = await tell('not the secret, of sixteen characters')
  if (refused.status < 400) session.violate(`a wrong secret is taken: ${refused.status}`)
  const { ok, status } = await tell(invalidate.secret)
  if (!ok) session.violate(`what a backend announces is refused: ${status}`)
  session.settle()
  for (const user of USERS) await session.ask(user, WATCHED)
}

export const invalidate: Feature = {
  name: 'invalidate',
  settings: ['invalidate'],
  values: [
    { name: 'off' },
    {
      name: 'on',
      config: () =>
        record({
          invalidate: record({
            secret: constantFrom('sixteen characters', 'a longer secret of the backends'),
          }),
        }),
      during: async (session, piece) => () => announce(session, piece),
    },
  ],
}

const PAGE = '/status'

export const status: Feature = {
  name: 'status',
  settings: ['status'],
  values: [
    {
      name: 'off',
      config: () => constant({ status: false }),
      during:
        async ({ url, violate }) =>
        async () => {
          const { status } = await fetch(`${url}${PAGE}`)
          if (status !== 404) violate(`the page is off and answers: ${status}`)
        },
    },
    {
      name: 'on',
      config: () => constant({ status: true }),
      during:
        async ({ url, violate, headers }) =>
        async () => {
          const response = await fetch(`${url}${PAGE}`, { headers: { ...headers, accept: 'text/html' } })
          const text = await response.text()
          if (response.status !== 200) violate(`the page answers with another status: ${response.status}`)
          // Anyone may look at it.
          const mark = /&lt;(authorization|x-tenant)=|Bearer /.exec(text)?.[0]
          if (mark !== undefined) violate(`the page shows who asked: ${mark}`)
        },
    },
  ],
}
