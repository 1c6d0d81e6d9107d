import type { Model } from './model.ts'

/** The model of a source, which reloads replace. */
export interface CurrentModel {
  readonly model: Model
  /** Paths of the files that it was read from; after a reload that failed, of those that were read last. */
  readonly files: readonly string[]
  /** Calls back after each reload; the returned function ends it. A listener that throws has the reload undone. */
  onChange(listener: () => void): () => void
  reload(): Promise<void>
  close(): void
}

/** Reads the model for the first time. `read` adds to the set whatever files it reads; `onRead` is told of them. */
export async function openModel(
  read: (files: Set<string>) => Promise<Model>,
  onRead: (files: ReadonlySet<string>) => void,
): Promise<CurrentModel> {
  const listeners = new Set<() => void>()
  let paths: readonly string[] = []

  async function load(): Promise<Model> {
    const files = new Set<string>()
    const loaded = await read(files)
    paths = [...files]
    onRead(files)
    return loaded
  }

  let model = await load()
  return {
    get model() {
      return model
    },
    get files() {
      return paths
    },
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    async reload() {
      const before = model
      model = await load()
      try {
        for (const listener of listeners) listener()
      } catch (error) {
        model = before
        throw error
      }
    },
    close: () => listeners.clear(),
  }
}
