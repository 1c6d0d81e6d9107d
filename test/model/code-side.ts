import { createHmac } from 'node:crypto'
import type { CodePlan, SchemaPlan, UserHeaders } from './plan.ts'

type Context = {
  readonly request: Request
  readonly sources: Readonly<Record<string, Readonly<Record<string, (...args: unknown[]) => unknown>>>>
  readonly auth?: { readonly claims: { readonly sub?: string } } | undefined
}
type Resolver = (root: unknown, args: unknown, context: Context) => unknown

/** Fields that code answers by who asks; each shows what it has read, as backends do. */
export interface CodeSide {
  readonly typeDefs: string
  readonly resolvers: Readonly<Record<string, Readonly<Record<string, Resolver>>>>
}

export function createCodeSide({ code }: Pick<SchemaPlan, 'code'>): CodeSide | undefined {
  if (code.length === 0) return undefined
  const methods = code.filter(({ isMethod }) => isMethod)
  return {
    typeDefs: [
      `type Query { ${code.map(({ name, isMethod }) => `${name}: ${isMethod ? 'Coded' : 'String'}`).join(' ')} }`,
      ...(methods.length > 0 ? ['type Coded { text: String }'] : []),
    ].join('\n'),
    resolvers: {
      Query: Object.fromEntries(
        code.map((plan) => {
          const resolve = resolverOf(plan)
          const method: Resolver = () => ({
            text: (_: unknown, context: Context) => resolve(null, {}, context),
          })
          return [plan.name, plan.isMethod ? method : resolve]
        }),
      ),
    },
  }
}

function resolverOf({ reads, header, call }: CodePlan): Resolver {
  switch (reads) {
    case 'header':
      return (_root, _args, { request }) => `<${header}=${request.headers.get(header) ?? ''}>`
    case 'claims':
      return (_root, _args, { auth }) => `<sub=${auth?.claims.sub ?? ''}>`
    case 'source':
    case 'source alone':
      return async (_root, _args, context) => {
        const scope = { context: reads === 'source' ? context : null }
        const { zoo, farm } = context.sources
        const found =
          call.source === 'grpc'
            ? await zoo!['call']!(`model.Zoo.${call.method}`, {}, scope)
            : await farm!['execute']!(call.method, {}, scope)
        return JSON.stringify(found)
      }
  }
}

/** The secret that tokens of the model are signed with; there is nothing behind it. */
export const TOKEN_SECRET = 'a secret of the model, of thirty-two bytes or more'
export const TOKEN_ISSUER = 'https://model.example'
const NEVER = 4_102_444_800

/** A token (RFC 7519) that says who somebody is. */
export function tokenOf(sub: string): string {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const body = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ iss: TOKEN_ISSUER, aud: 'model', sub, exp: NEVER })}`
  return `${body}.${createHmac('sha256', TOKEN_SECRET).update(body).digest('base64url')}`
}

/** The subject of a user's token; undefined where the header holds none. */
export function subOf(authorization: string | null | undefined): string | undefined {
  const claims = authorization?.split('.')[1]
  if (claims === undefined) return undefined
  return (JSON.parse(Buffer.from(claims, 'base64url').toString()) as { readonly sub?: string }).sub
}

/** The context of a server without the gateway's authentication: it believes the token. */
export function believingContext(
  sources: Context['sources'],
): (given: { readonly request?: Request }) => Omit<Context, 'request'> {
  return ({ request }) => {
    const sub = subOf(request?.headers.get('authorization'))
    return { sources, ...(sub !== undefined && { auth: { claims: { sub } } }) }
  }
}

/** What a mark may show of a user by code. */
export const claimMarks = ({ authorization }: UserHeaders): Readonly<Record<string, string | undefined>> => ({
  sub: subOf(authorization) ?? '',
})
