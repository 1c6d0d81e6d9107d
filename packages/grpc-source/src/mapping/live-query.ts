import type { LiveQueryAnnotation } from '../contract/annotations.ts'

/** What stands in a field's `extensions.liveQuery`: what the method says. What it leaves out is derived where it is used. */
export function toLiveQueryExtension({
  triggers,
  volatility,
  ...rest
}: LiveQueryAnnotation): LiveQueryAnnotation {
  return {
    ...rest,
    ...(volatility === undefined ? {} : { volatility }),
    ...(triggers?.length ? { triggers } : {}),
  }
}
