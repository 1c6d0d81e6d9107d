import type { Token } from '../text/tokens.ts'

/** Told of what protobuf's rules refuse, and of how to mend it. */
export type Report = (at: Token | undefined, message: string) => void
