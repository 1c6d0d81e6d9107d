import type { DescMethod } from '@bufbuild/protobuf'

/**
 * Which methods without `graphql.schema` are fields too. `annotated`: none. `all`: those of the named files' own
 * services. A list: those that a pattern names, whatever file has them.
 */
export type Expose = 'annotated' | 'all' | readonly string[]

/** Whether a method is wanted, not wanted, or not spoken of. */
export type Exposure = (method: DescMethod) => boolean | undefined

/**
 * Patterns are full names of services or methods, in which `*` stands for any text: `shop.v1.*`. With `!` in front a
 * pattern leaves out, annotated methods too. Of several that fit, the last one counts; of patterns that all leave out,
 * the rest is what `all` gives.
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
