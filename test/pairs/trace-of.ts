import { createHash } from 'node:crypto'

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The trace that a client begins with a request of this id (W3C Trace Context). */
export const traceOf = (id: string): string => digest(id).slice(0, 32)

/** The client's own span in it. */
export const parentOf = (id: string): string => digest(id).slice(32, 48)
