/** The only message of a call whose sending is not over before `release` is called. */
export interface HeldRequest extends AsyncIterable<Uint8Array> {
  release(): void
}

/**
 * For servers that take the end of the requests for the end of the client's interest: that comes when the subscription
 * ends.
 */
export function holdRequest(request: Uint8Array): HeldRequest {
  let release = (): void => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  async function* requests(): AsyncIterable<Uint8Array> {
    yield request
    await released
  }
  return Object.assign(requests(), { release })
}
