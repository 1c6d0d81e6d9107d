type Json = Record<string, any>

/** Merges the parts of either incremental format into one result's data. */
export function mergeDeferred(parts: readonly Json[]): unknown {
  const data: Json = { ...parts[0]?.['data'] }
  const places = new Map<string, readonly (string | number)[]>()
  for (const part of parts) {
    for (const { id, path } of part['pending'] ?? []) places.set(id, path)
    for (const { id, path = places.get(id) ?? [], subPath = [], data: fields } of part['incremental'] ?? []) {
      const place = [...path, ...subPath].reduce<any>((value, segment) => value[segment], data)
      mergeInto(place, fields)
    }
  }
  return data
}

/** Lists of one field are of equal length: they are the same list. */
function mergeInto(target: Json, fields: Json): void {
  for (const [key, value] of Object.entries(fields)) {
    const before: unknown = target[key]
    if (typeof before === 'object' && before !== null && typeof value === 'object' && value !== null)
      mergeInto(before, value as Json)
    else target[key] = value
  }
}
