// For users.
export { useDeferSplitter } from './plugin.ts'
export { type DeferPreset, deferPresets, type DeferSplitterOptions } from './options.ts'

// For integrators.
export { mergeParts } from './parts.ts'
