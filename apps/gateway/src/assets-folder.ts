/** Where this package keeps its assets: beside `src` and `dist`, so this file stays at the top of either. */
export const ASSETS_FOLDER: URL = new URL('../assets/', import.meta.url)
