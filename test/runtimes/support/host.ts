import type { Disposables } from '@vinyasa/test-kit'
import type { Plugin } from './plugins.ts'

export interface Start {
  /** The folder where everything is installed. */
  readonly installed: string
  readonly plugin: Plugin
  /** The plugin's example, TypeScript; undefined: the host's own example as it stands. */
  readonly code: string | undefined
  readonly disposables: Disposables
}

/** Something that runs JavaScript, or serves it. */
export interface Host {
  readonly name: string
  /** Serves the example and gives the URL of its GraphQL endpoint. Rejects with what was written when it ends. */
  start(start: Start): Promise<string>
  /** What is slow and serves all plugins: called once, with all that `start` will be called with. */
  prepare?(starts: readonly Start[]): Promise<void>
  /** The folder in `examples/` that the host is. */
  readonly example?: string
  /** WebSockets reach the example. */
  readonly sockets?: boolean
  /** Plugins that cannot work there, with the sentence that they say at start, and their README says. */
  readonly refuses?: Readonly<Record<string, string>>
  /** Plugins that are no use there, and of which the README says so. */
  readonly without?: Readonly<Record<string, string>>
}
