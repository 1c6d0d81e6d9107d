type Path = readonly (string | number)[]

/** A client's view: what came over the wire, merged. Written apart from the sources, to judge them. */
export interface Merged {
  data: any
  errors: any[]
  /** The fragments that failed as a whole. */
  failed: { path: Path; errors: any[] }[]
}

/** `incremental: [{ data, path, label, errors }]`. */
export function mergePatchesFormat(parts: readonly any[]): Merged {
  const merged = start(parts)
  for (const part of parts.slice(1)) {
    for (const patch of part.incremental ?? []) {
      merged.errors.push(...(patch.errors ?? []))
      if (patch.data === null) merged.failed.push(patch)
      else mergeAt(merged, patch.path, patch.data)
    }
  }
  return merged
}

/** `pending`, `incremental: [{ id, subPath, data }]`, `completed`. Throws when the ids do not add up. */
export function mergePendingFormat(parts: readonly any[]): Merged {
  const merged = start(parts)
  const open = new Map<string, { path: Path }>()
  const used = new Set<string>()
  for (const part of parts) {
    for (const { id, path } of part.pending ?? []) {
      if (used.has(id)) throw new Error(`id ${id} was announced twice`)
      used.add(id)
      open.set(id, { path })
    }
    for (const { id, subPath = [], data, errors = [] } of part.incremental ?? []) {
      const pending = open.get(id)
      if (!pending) throw new Error(`id ${id} was not announced`)
      merged.errors.push(...errors)
      mergeAt(merged, [...pending.path, ...subPath], data)
    }
    for (const { id, errors } of part.completed ?? []) {
      const pending = open.get(id)
      if (!pending) throw new Error(`id ${id} was completed before it was announced`)
      if (errors) merged.failed.push({ path: pending.path, errors })
      merged.errors.push(...(errors ?? []))
      open.delete(id)
    }
  }
  if (open.size > 0) throw new Error(`never completed: ${[...open.keys()].join()}`)
  return merged
}

function start(parts: readonly any[]): Merged {
  for (const [index, part] of parts.entries()) {
    const isLast = index === parts.length - 1
    if ((part.hasNext ?? false) === isLast) throw new Error(`part ${index} has the wrong hasNext`)
    if ('incremental' in part && index === 0) throw new Error('incremental in the first part')
  }
  return { data: structuredClone(parts[0].data), errors: [...(parts[0].errors ?? [])], failed: [] }
}

function placeOf(merged: Merged, path: Path): any {
  return path.reduce<any>((place, segment) => place?.[segment], merged.data)
}

function mergeAt(merged: Merged, path: Path, data: any): void {
  const place = placeOf(merged, path)
  if (place === null || typeof place !== 'object')
    throw new Error(`there is no object at ${JSON.stringify(path)}`)
  deepMerge(place, data)
}

function deepMerge(target: any, source: any): void {
  for (const [key, value] of Object.entries<any>(source)) {
    const before = target[key]
    if (isObject(before) && isObject(value) && Array.isArray(before) === Array.isArray(value))
      deepMerge(before, value)
    else target[key] = structuredClone(value)
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}
