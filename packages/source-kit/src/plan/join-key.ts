/** Whether a member of a parent can be the key of a join: an empty text is none, as gRPC backends write it for "nothing". */
export function isJoinKey(value: unknown): boolean {
  return value !== null && value !== undefined && value !== ''
}
