import { GraphQLError, Lexer, Source, TokenKind } from 'graphql'

/**
 * Returns errors with the positions in the document that the client sent. Each token of this document
 * corresponds to one token of the lifted document.
 */
export function errorsIn(errors: readonly unknown[], sent: string, liftedText: string): readonly unknown[] {
  const [from, to] = [startsOf(liftedText), startsOf(sent)]
  const source = new Source(sent)
  return errors.map((error) => {
    if (!(error instanceof GraphQLError) || error.source?.body !== liftedText) return error
    const positions = error.positions?.map((position) => to[from.indexOf(position)] ?? 0)
    const { message, path, originalError, extensions, stack } = error
    const moved = new GraphQLError(message, { source, positions, path, originalError, extensions })
    return Object.defineProperty(moved, 'stack', { value: stack, writable: true, configurable: true })
  })
}

/** Lists the positions at which the tokens of a document begin. */
function startsOf(text: string): number[] {
  const lexer = new Lexer(new Source(text))
  const starts: number[] = []
  for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance())
    starts.push(token.start)
  return starts
}
