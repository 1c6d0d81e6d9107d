/** The only message of a call whose sending is not over before `release` is called. */
export interface HeldRequest extends AsyncIterable<Uint8Array> {
  release(): void
}

/**
 * For servers that take the end of the requests for the end of the client's interest: that comes when the subscription
 * ends.
 */
export function holdRequest(request: Uint8Array): HeldRequest {
  let isSent = false
  let release: () => void = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const end = async (): Promise<IteratorResult<Uint8Array>> => {
    await released
    return { done: true, value: undefined }
  }
  return {
    release,
    [Symbol.asyncIterator]: () => ({
      next() {
        if (isSent) return end()
        isSent = true
        return Promise.resolve({ done: false, value: request })
      },
      return() {
        release()
        return end()
      },
    }),
  }
}
