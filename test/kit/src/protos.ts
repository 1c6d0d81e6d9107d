import protobuf from 'protobufjs'

/** Proto texts by the name that imports use, for example `shop/users.proto`. */
export type ProtoFiles = Readonly<Record<string, string>>

/** Parses proto texts that may import each other and Google's well-known files. Nothing is read from disk. */
export async function parseProtos(protos: string | ProtoFiles): Promise<protobuf.Root> {
  const files = new Map(Object.entries(typeof protos === 'string' ? { 'main.proto': protos } : protos))
  const root = new protobuf.Root()
  root.resolvePath = (_origin, target) => target
  root.fetch = (name, callback) => {
    const text = files.get(name)
    const error = text === undefined ? new Error(`No text for the imported file ${name}`) : null
    // The library's types leave out that the error is null on success. Answered later, because a file
    // that is there at once would end the loading before the next one is asked for.
    queueMicrotask(() => callback(error as Error, text))
  }
  await root.load([...files.keys()])
  root.resolveAll()
  return root
}
