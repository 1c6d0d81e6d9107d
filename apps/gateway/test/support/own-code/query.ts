/** A resolver for a config that takes it by `import * as Query`. */
export const mine = (
  _root: unknown,
  _args: unknown,
  { auth }: { readonly auth?: { readonly claims: { readonly sub: string } } },
): string => auth?.claims.sub ?? 'nobody'
