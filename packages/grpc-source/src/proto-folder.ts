/** Where this package keeps its `.proto` files: beside `src` and `dist`, so this file stays at the top of either. */
export const PROTO_FOLDER: URL = new URL('../proto/', import.meta.url)
