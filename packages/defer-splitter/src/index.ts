// For users.
export { useDeferSplitter } from './plugin.ts'
export { type DeferPreset, deferPresets, type DeferSplitterOptions, type DeferStrategy } from './options.ts'

// For integrators.
export {
  type DeferPatch,
  type InitialPart,
  type LaterPart,
  mergeParts,
  type Patch,
  type StreamPatch,
} from './parts.ts'
