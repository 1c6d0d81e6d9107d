import type { Hook } from './yoga-internals.ts'

/**
 * Whether a hook is one of Yoga's own, by parts of its code, as nothing else tells it apart. One that is minified, or
 * of another version, does not look like it and is then an ordinary hook: right, and slower.
 */
export function isYogasOwn(hook: Hook, ...parts: readonly string[]): boolean {
  const code = Function.prototype.toString.call(hook)
  return parts.every((part) => code.includes(part))
}
