import { configureGlobal } from 'fast-check'

// Property tests draw the same cases in every run, so that a result depends on the change alone. `pnpm test:seeds` draws new ones.
configureGlobal({ seed: Number(process.env['SEED'] ?? 1) })
