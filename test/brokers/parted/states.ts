import type { Network } from '@vinyasa/test-kit'

/** A gateway's network to the broker, and the other gateway's. */
export interface Networks {
  /** Of the gateway that is asked for mutations. */
  readonly writer: Network
  /** Of the one that is asked for what they changed. */
  readonly reader: Network
}

/** What may become of the way between gateways and their broker. */
export interface State {
  readonly name: string
  readonly begin: (networks: Networks) => void
  /** Whether the mutation's answer may wait for everybody, so that nobody reads anything older than it. */
  readonly isInTouch?: boolean
}

const both =
  (change: (network: Network) => void): State['begin'] =>
  ({ writer, reader }) => {
    change(writer)
    change(reader)
  }

export const STATES: readonly State[] = [
  { name: 'in touch', begin: () => {}, isInTouch: true },
  { name: 'in touch, 10 ms away', begin: both((network) => network.delay(10)), isInTouch: true },
  { name: 'slow, 100 ms each way', begin: both((network) => network.delay(100)) },
  { name: 'the writer is cut off', begin: ({ writer }) => writer.cut() },
  { name: 'the writer hears nothing', begin: ({ writer }) => writer.stall() },
  { name: 'the writer’s connections are half open', begin: ({ writer }) => writer.halfOpen() },
  { name: 'the reader is cut off', begin: ({ reader }) => reader.cut() },
  { name: 'the reader hears nothing', begin: ({ reader }) => reader.stall() },
  { name: 'the reader’s connections are half open', begin: ({ reader }) => reader.halfOpen() },
  { name: 'both are cut off', begin: both((network) => network.cut()) },
  { name: 'both hear nothing', begin: both((network) => network.stall()) },
]
