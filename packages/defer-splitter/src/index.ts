// Public API for users.
export { useDeferSplitter } from './plugin.ts'
export { type DeferPreset, deferPresets, type DeferSplitterOptions } from './options.ts'

// Public API for integrators.
export { mergeParts } from './parts.ts'
