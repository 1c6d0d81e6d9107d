import { isAsyncIterable, type OpenStreams } from '@vinyasa/base'
import type { Plugin } from 'graphql-yoga'

/** Adds each subscription that is sent, whatever it came by, to the streams that end when the gateway stops. */
export function useOpenStreams(streams: OpenStreams): Plugin {
  return {
    onSubscribe: () => ({
      onSubscribeResult({ result, setResult }) {
        if (isAsyncIterable(result)) setResult(streams.add(result[Symbol.asyncIterator]()) as never)
      },
    }),
  }
}
