/** The other end of a channel between two processes: what is sent comes whole and in order, or not at all any more. */
export interface Peer {
  on(event: 'message', listener: (message: unknown) => void): unknown
  on(event: 'disconnect', listener: () => void): unknown
  isConnected(): boolean
  send(message: object, callback: (error: Error | null) => void): unknown
}

/** What a message is about. Processes of one command line talk here: the mark is enough to know a message by. */
interface Marked {
  readonly vinyasa: string
}

/** Hears the messages of one mark. */
export function listen<Message extends Marked>(
  peer: { on(event: 'message', listener: (message: unknown) => void): unknown },
  mark: Message['vinyasa'],
  hear: (message: Message) => void,
): void {
  peer.on('message', (message) => {
    if ((message as Partial<Marked> | null)?.vinyasa === mark) hear(message as Message)
  })
}

export function send<Message extends Marked>(peer: Peer, message: Message): void {
  if (!peer.isConnected()) return
  // A process that ends just now hears nothing, and its end says so: without a callback it would be an uncaught error.
  peer.send(message, () => {})
}
