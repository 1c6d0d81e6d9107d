import { constantFrom, record } from 'fast-check'
import type { Content, Piece } from '../config-file.ts'
import type { Feature, Session, Value } from '../feature.ts'
import { ASKED_BY_CODE } from '../operations.ts'

const OWN_PAGE = 'https://shop.example'
const AS_A_BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const TITLE = 'A question of the house'

/** What a browser asks before a page of an origin may send JSON, and what it is told. */
async function preflight({ fetch }: Session, origin: string): Promise<Headers> {
  const { headers } = await fetch({
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    },
  })
  return headers
}

/** Whether a browser that opens the endpoint sees GraphiQL. */
async function hasPage({ fetch, headers }: Session): Promise<boolean> {
  const { text } = await fetch({ headers: { ...headers, accept: AS_A_BROWSER } })
  return /<html/i.test(text)
}

const visit: NonNullable<Value['during']> = async (session, piece) => {
  const { origins } = (piece as { graphql: { cors: { origins: readonly string[] } } }).graphql.cors
  const isAny = origins.includes('*')
  for (const origin of [OWN_PAGE, `${OWN_PAGE}.evil`]) {
    const told = await preflight(session, origin)
    const allowed = told.get('access-control-allow-origin')
    const isAllowed = allowed === origin || allowed === '*'
    if (isAllowed !== (isAny || origins.includes(origin)))
      session.violate(`a page of another origin is told ${allowed}: ${origin}`)
    if (isAny && told.has('access-control-allow-credentials'))
      session.violate(`any page may ask in the name of its visitors: ${origin}`)
  }
  if (!(await hasPage(session))) session.violate('the endpoint shows no page')
  return undefined
}

/** A page of another site asks in the name of its visitor, by what browsers send without asking. */
const attack: NonNullable<Value['during']> = async (session) => {
  const { fetch, violate } = session
  const simple = await fetch({
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: '{"query":"{ __typename }"}',
  })
  if (simple.status < 400) violate(`what a page may send without asking is answered: ${simple.status}`)
  if (await hasPage(session)) violate('GraphiQL is off and there')
  const asked = await fetch({
    method: 'POST',
    headers: { ...session.headers, 'content-type': 'application/json' },
    body: '{"query":"{ __schema { queryType { name } } }"}',
  })
  if (asked.text.includes('queryType":{')) violate('the schema is told')
  return undefined
}

export const endpoint: Feature = {
  name: 'endpoint',
  settings: ['graphql', 'server'],
  values: [
    { name: 'usual' },
    {
      name: 'elsewhere',
      config: () =>
        record({
          graphql: record({
            path: constantFrom('/api', '/v1/graph-ql', '/graphql'),
            graphiql: constantFrom(true),
            introspection: constantFrom(true, false),
            maskedErrors: constantFrom(true, false),
            csrfPrevention: constantFrom(false),
            examples: constantFrom<Content>([{ query: `# ${TITLE}\n{ __typename }`, variables: '{}' }]),
            cors: constantFrom<Piece>(
              { origins: [OWN_PAGE], credentials: true, maxAgeSeconds: 60 },
              { origins: ['*'], exposedHeaders: ['x-cache'] },
            ),
          }),
          server: record({ readinessPath: constantFrom('/ready', '/graphql/ready') }),
        }),
      during: visit,
    },
    {
      name: 'shut',
      config: () =>
        record({
          graphql: record({
            graphiql: constantFrom(false),
            introspection: constantFrom(false),
            csrfPrevention: constantFrom(true),
          }),
        }),
      headers: ASKED_BY_CODE,
      during: attack,
    },
  ],
}
