import type { DescMethod } from '@bufbuild/protobuf'

/**
 * The methods without `graphql.schema` that become fields. `annotated`: no methods. `all`: methods of services that the named
 * files define. A list: methods that match a pattern, in any file.
 */
export type Expose = 'annotated' | 'all' | readonly string[]

/** Returns whether a method is included or excluded, or undefined if no rule applies. */
export type Exposure = (method: DescMethod) => boolean | undefined

/**
 * Patterns are full names of services or methods, and `*` matches any string: `shop.v1.*`. A pattern with `!` excludes
 * methods, including annotated ones. The last matching pattern wins. If all patterns exclude, they apply to the methods of
 * `all`.
 */
export function createExposure(expose: Expose, isOwn: (method: DescMethod) => boolean): Exposure {
  if (expose === 'annotated') return () => undefined
  if (expose === 'all') return (method) => isOwn(method) || undefined
  const rules = expose.map((pattern) => {
    const isWanted = !pattern.startsWith('!')
    return { isWanted, fits: toRegExp(isWanted ? pattern : pattern.slice(1)) }
  })
  const isOnlyWithout = rules.every(({ isWanted }) => !isWanted)
  return (method) => {
    const names = [method.parent.typeName, `${method.parent.typeName}.${method.name}`]
    const last = rules.findLast(({ fits }) => names.some((name) => fits.test(name)))
    if (last) return last.isWanted
    return (isOnlyWithout && isOwn(method)) || undefined
  }
}

function toRegExp(pattern: string): RegExp {
  const parts = pattern.replace('/', '.').split('*')
  return new RegExp(`^${parts.map((part) => part.replace(/[.$+?^(){}|[\]\\]/g, '\\$&')).join('.*')}$`)
}
