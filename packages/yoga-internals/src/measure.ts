/**
 * About how many bytes a value is as JSON, and at least as many as it has characters. Gives up where it is more than
 * `most`: then what it gives is more, too.
 */
export function measureJson(value: unknown, most: number): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 4
  let bytes = 2
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && bytes <= most; index++)
      bytes += 1 + measureJson(value[index], most - bytes)
    return bytes
  }
  for (const key in value) {
    bytes += key.length + 4 + measureJson((value as Readonly<Record<string, unknown>>)[key], most - bytes)
    if (bytes > most) break
  }
  return bytes
}
