import type { LiveQueryAnnotation } from '../contract/annotations.ts'

/** Returns a field's `extensions.liveQuery`: what the method says. The rest is derived where it is used. */
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
